/*
 * Contexts: round trips with every codec, filter and thread count return equal data; reads of
 * parts, and reads with block masks.
 */

#include "check.h"
#include <blosc2.h>
#include <string.h>

enum { ITEMS = 100 * 1000, TYPESIZE = 4, SIZE = ITEMS * TYPESIZE, CAPACITY = SIZE + BLOSC2_MAX_OVERHEAD };

static uint8_t data[SIZE], chunk[CAPACITY], back[SIZE];

/* Compresses and decompresses `size` bytes; returns the size of the chunk. */
static int round_trip_with_threads(blosc2_cparams cparams, int16_t nthreads, int32_t size) {
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor;
  int32_t nbytes, cbytes, blocksize;
  int compressed;
  uint8_t few[40];

  cparams.nthreads = nthreads;
  dparams.nthreads = nthreads;
  compressor = blosc2_create_cctx(cparams);
  decompressor = blosc2_create_dctx(dparams);
  CHECK(compressor != NULL && decompressor != NULL);

  compressed = blosc2_compress_ctx(compressor, data, size, chunk, CAPACITY);
  CHECK(compressed > 0);
  CHECK_IS(blosc2_cbuffer_sizes(chunk, &nbytes, &cbytes, &blocksize), 0);
  CHECK_IS(nbytes, size);
  CHECK_IS(cbytes, compressed);

  memset(back, 0xee, SIZE);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, compressed, back, SIZE), size);
  CHECK(memcmp(data, back, (size_t)size) == 0);
  if (size < SIZE) {
    CHECK(back[size] == 0xee);
  }
  if (size >= 4000) {
    CHECK_IS(blosc2_getitem_ctx(decompressor, chunk, compressed, 500, 10, few, sizeof few), 40);
    CHECK(memcmp(few, data + 500 * TYPESIZE, sizeof few) == 0);
    CHECK_IS(blosc2_getitem_bytes_ctx(compressor, chunk, compressed, 2000, 40, few, sizeof few), 40);
    CHECK(memcmp(few, data + 2000, sizeof few) == 0);
  }
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
  return compressed;
}

static void codecs_and_filters(void) {
  static const uint8_t codecs[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
  static const uint8_t filters[] = {BLOSC_NOFILTER, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE, BLOSC_DELTA};
  size_t codec, filter;

  for (codec = 0; codec < sizeof codecs; codec++) {
    for (filter = 0; filter < sizeof filters; filter++) {
      blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
      int alone;
      cparams.compcode = codecs[codec];
      cparams.typesize = TYPESIZE;
      cparams.filters[BLOSC2_MAX_FILTERS - 1] = filters[filter];
      alone = round_trip_with_threads(cparams, 1, SIZE);
      CHECK(alone < SIZE);
      CHECK_IS(round_trip_with_threads(cparams, 3, SIZE), alone);
    }
  }
}

static void levels_and_sizes(void) {
  static const int32_t sizes[] = {0, 1, 15, 16, 17, 31, 32, 33, 4000, 65536, SIZE - 4};
  size_t size;
  uint8_t clevel;

  for (size = 0; size < sizeof sizes / sizeof *sizes; size++) {
    for (clevel = 0; clevel <= 9; clevel++) {
      blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
      cparams.typesize = TYPESIZE;
      cparams.clevel = clevel;
      round_trip_with_threads(cparams, 2, sizes[size]);
    }
  }
}

static void masked_blocks_are_left_alone(void) {
  enum { BLOCK = 16000, BLOCKS = SIZE / BLOCK };
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor;
  bool mask[BLOCKS] = {false};
  int compressed, i;

  cparams.typesize = TYPESIZE;
  cparams.blocksize = BLOCK;
  compressor = blosc2_create_cctx(cparams);
  decompressor = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  compressed = blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY);

  mask[1] = mask[BLOCKS - 1] = true;
  CHECK_IS(blosc2_set_maskout(decompressor, mask, BLOCKS), 0);
  memset(back, 0xee, SIZE);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, compressed, back, SIZE), SIZE);
  for (i = 0; i < BLOCKS; i++) {
    if (mask[i]) {
      CHECK(back[i * BLOCK] == 0xee && back[(i + 1) * BLOCK - 1] == 0xee);
    } else {
      CHECK(memcmp(back + i * BLOCK, data + i * BLOCK, BLOCK) == 0);
    }
  }
  /* The mask applied to one call only. */
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, compressed, back, SIZE), SIZE);
  CHECK(memcmp(back, data, SIZE) == 0);
  /* A mask for another number of blocks is an error, and is discarded as well. */
  CHECK_IS(blosc2_set_maskout(decompressor, mask, 3), 0);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, compressed, back, SIZE), BLOSC2_ERROR_DATA);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, compressed, back, SIZE), SIZE);
  CHECK_IS(blosc2_set_maskout(decompressor, mask, -1), BLOSC2_ERROR_MEMORY_ALLOC);
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
}

static void special_chunks(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  const uint8_t value[TYPESIZE] = {1, 2, 3, 4};
  int i;

  cparams.typesize = TYPESIZE;
  memset(back, 0xee, SIZE);
  CHECK_IS(blosc2_chunk_zeros(cparams, SIZE, chunk, CAPACITY), 32);
  CHECK_IS(blosc2_decompress(chunk, 32, back, SIZE), SIZE);
  CHECK(back[0] == 0 && memcmp(back, back + 1, SIZE - 1) == 0);

  CHECK_IS(blosc2_chunk_nans(cparams, SIZE, chunk, CAPACITY), 32);
  CHECK_IS(blosc2_decompress(chunk, 32, back, SIZE), SIZE);
  for (i = 0; i < ITEMS; i++) {
    float item;
    memcpy(&item, back + i * TYPESIZE, TYPESIZE);
    CHECK(item != item);
  }

  memset(back, 0xee, SIZE);
  CHECK_IS(blosc2_chunk_uninit(cparams, SIZE, chunk, CAPACITY), 32);
  CHECK_IS(blosc2_decompress(chunk, 32, back, SIZE), SIZE);
  CHECK(back[0] == 0xee && memcmp(back, back + 1, SIZE - 1) == 0);

  CHECK_IS(blosc2_chunk_repeatval(cparams, SIZE, chunk, CAPACITY, value), 32 + TYPESIZE);
  CHECK_IS(blosc2_decompress(chunk, 32 + TYPESIZE, back, SIZE), SIZE);
  CHECK(memcmp(back, value, TYPESIZE) == 0 && memcmp(back, back + 4, SIZE - 4) == 0);

  CHECK_IS(blosc2_chunk_zeros(cparams, SIZE, chunk, 31), BLOSC2_ERROR_DATA);
  CHECK_IS(blosc2_chunk_zeros(cparams, SIZE + 1, chunk, CAPACITY), BLOSC2_ERROR_DATA);
  CHECK_IS(blosc2_chunk_repeatval(cparams, SIZE, chunk, 35, value), BLOSC2_ERROR_DATA);
  CHECK_IS(blosc2_chunk_zeros(cparams, -4, chunk, CAPACITY), BLOSC2_ERROR_INVALID_PARAM);
  cparams.typesize = 0;
  CHECK_IS(blosc2_chunk_zeros(cparams, SIZE, chunk, CAPACITY), BLOSC2_ERROR_INVALID_PARAM);
  cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.filters[0] = 20;
  CHECK_IS(blosc2_chunk_zeros(cparams, SIZE, chunk, CAPACITY), BLOSC2_ERROR_NULL_POINTER);
}

static void parameters_are_returned_unchanged(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS, seen;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS, dseen;
  blosc2_context *compressor, *decompressor;
  int marker;

  cparams.compcode = BLOSC_ZSTD;
  cparams.clevel = 7;
  cparams.typesize = 300;
  cparams.nthreads = 2;
  cparams.splitmode = BLOSC_NEVER_SPLIT;
  cparams.filters[0] = BLOSC_DELTA;
  cparams.filters_meta[0] = 20;
  cparams.codec_params = &marker;
  compressor = blosc2_create_cctx(cparams);
  memset(&seen, 0, sizeof seen);
  seen.tuner_params = &seen;
  CHECK_IS(blosc2_ctx_get_cparams(compressor, &seen), 0);
  CHECK(seen.compcode == BLOSC_ZSTD && seen.clevel == 7 && seen.typesize == 300);
  CHECK(seen.nthreads == 2 && seen.splitmode == BLOSC_NEVER_SPLIT && seen.blocksize == 0);
  CHECK(seen.filters[0] == BLOSC_DELTA && seen.filters[5] == BLOSC_SHUFFLE);
  CHECK(seen.filters_meta[0] == 20 && seen.codec_params == &marker);
  CHECK(seen.tuner_params == &seen);
  /* Compression does not change the parameters (row C2), but sets the block size (row C1). */
  CHECK(blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY) > 0);
  CHECK_IS(blosc2_ctx_get_cparams(compressor, &seen), 0);
  CHECK(seen.typesize == 300 && seen.blocksize > 0);
  /* The wrong kind of context. */
  CHECK_IS(blosc2_decompress_ctx(compressor, chunk, CAPACITY, back, SIZE), BLOSC2_ERROR_INVALID_PARAM);
  blosc2_free_ctx(compressor);

  dparams.nthreads = 4;
  decompressor = blosc2_create_dctx(dparams);
  CHECK_IS(blosc2_ctx_get_dparams(decompressor, &dseen), 0);
  CHECK(dseen.nthreads == 4 && dseen.schunk == NULL && dseen.postfilter == NULL);
  CHECK_IS(blosc2_compress_ctx(decompressor, data, SIZE, chunk, CAPACITY), BLOSC2_ERROR_INVALID_PARAM);
  blosc2_free_ctx(decompressor);
}

int main(void) {
  fill_with_data(data, SIZE);
  codecs_and_filters();
  levels_and_sizes();
  masked_blocks_are_left_alone();
  special_chunks();
  parameters_are_returned_unchanged();
  return checks_failed();
}
