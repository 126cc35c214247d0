/*
 * Row C11 (and C39): NULL and other invalid arguments are errors, never crashes.
 */

#include "check.h"
#include <blosc2.h>
#include <stdint.h>
#include <string.h>

enum { SIZE = 4000, CAPACITY = SIZE + BLOSC2_MAX_OVERHEAD };

static const int invalid = BLOSC2_ERROR_INVALID_PARAM;

int main(void) {
  static uint8_t data[SIZE], chunk[CAPACITY], back[SIZE];
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor;
  const void *blocks[1] = {data};
  void *made[1];
  uint8_t *block;
  int32_t sizes[1] = {SIZE}, number;
  size_t big = 7;
  int size, value = 7;

  fill_with_data(data, SIZE);
  cparams.typesize = 4;
  compressor = blosc2_create_cctx(cparams);
  decompressor = blosc2_create_dctx(dparams);
  size = blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY);
  CHECK(size > 0);

  /* Contexts. */
  blosc2_free_ctx(NULL);
  CHECK_IS(blosc2_ctx_get_cparams(NULL, &cparams), invalid);
  CHECK_IS(blosc2_ctx_get_cparams(compressor, NULL), invalid);
  CHECK_IS(blosc2_ctx_get_dparams(NULL, &dparams), invalid);
  CHECK_IS(blosc2_ctx_get_dparams(decompressor, NULL), invalid);
  CHECK_IS(blosc2_compress_ctx(NULL, data, SIZE, chunk, CAPACITY), invalid);
  CHECK_IS(blosc2_compress_ctx(compressor, NULL, SIZE, chunk, CAPACITY), invalid);
  CHECK_IS(blosc2_compress_ctx(compressor, data, SIZE, NULL, CAPACITY), invalid);
  CHECK_IS(blosc2_compress_ctx(compressor, data, -1, chunk, CAPACITY), invalid);
  CHECK_IS(blosc2_compress_ctx(compressor, data, -1, chunk, 31), BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED);
  CHECK_IS(blosc2_compress_ctx(compressor, data, SIZE, chunk, -1), BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED);
  CHECK_IS(blosc2_compress_ctx(compressor, NULL, 0, chunk, CAPACITY), 32);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, 32, NULL, 0), 0);
  CHECK_IS(blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY), size);
  CHECK_IS(blosc2_decompress_ctx(NULL, chunk, size, back, SIZE), invalid);
  CHECK_IS(blosc2_decompress_ctx(decompressor, NULL, size, back, SIZE), invalid);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, size, NULL, SIZE), invalid);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, -1, back, SIZE), BLOSC2_ERROR_READ_BUFFER);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, -1), BLOSC2_ERROR_WRITE_BUFFER);
  CHECK_IS(blosc2_set_maskout(NULL, NULL, 1), invalid);
  CHECK_IS(blosc2_set_maskout(decompressor, NULL, 1), invalid);
  CHECK_IS(blosc2_getitem_ctx(NULL, chunk, size, 0, 1, back, SIZE), invalid);
  CHECK_IS(blosc2_getitem_ctx(decompressor, NULL, size, 0, 1, back, SIZE), invalid);
  CHECK_IS(blosc2_getitem_ctx(decompressor, chunk, size, 0, 1, NULL, SIZE), invalid);
  CHECK_IS(blosc2_getitem_bytes_ctx(NULL, chunk, size, 0, 4, back, SIZE), invalid);
  CHECK_IS(blosc2_getitem_bytes_ctx(decompressor, NULL, size, 0, 4, back, SIZE), invalid);
  CHECK_IS(blosc2_getitem_bytes_ctx(decompressor, chunk, size, 0, 4, NULL, SIZE), invalid);

  /* Variable-length blocks. */
  CHECK_IS(blosc2_vlcompress_ctx(NULL, blocks, sizes, 1, chunk, CAPACITY), invalid);
  CHECK_IS(blosc2_vlcompress_ctx(compressor, NULL, sizes, 1, chunk, CAPACITY), invalid);
  CHECK_IS(blosc2_vlcompress_ctx(compressor, blocks, NULL, 1, chunk, CAPACITY), invalid);
  CHECK_IS(blosc2_vlcompress_ctx(compressor, blocks, sizes, 0, chunk, CAPACITY), invalid);
  CHECK_IS(blosc2_vlcompress_ctx(compressor, blocks, sizes, -1, chunk, CAPACITY), invalid);
  CHECK_IS(blosc2_vlcompress_ctx(compressor, blocks, sizes, 1, NULL, CAPACITY), invalid);
  CHECK_IS(blosc2_vldecompress_ctx(NULL, chunk, size, made, sizes, 1), invalid);
  CHECK_IS(blosc2_vldecompress_ctx(decompressor, NULL, size, made, sizes, 1), invalid);
  CHECK_IS(blosc2_vldecompress_ctx(decompressor, chunk, size, NULL, sizes, 1), invalid);
  CHECK_IS(blosc2_vldecompress_ctx(decompressor, chunk, size, made, NULL, 1), invalid);
  CHECK_IS(blosc2_vldecompress_ctx(decompressor, chunk, size, made, sizes, 0), invalid);
  CHECK_IS(blosc2_vldecompress_block_ctx(NULL, chunk, size, 0, &block, sizes), invalid);
  CHECK_IS(blosc2_vldecompress_block_ctx(decompressor, NULL, size, 0, &block, sizes), invalid);
  CHECK_IS(blosc2_vldecompress_block_ctx(decompressor, chunk, size, 0, NULL, sizes), invalid);
  CHECK_IS(blosc2_vldecompress_block_ctx(decompressor, chunk, size, 0, &block, NULL), invalid);
  CHECK_IS(blosc2_vlchunk_get_nblocks(NULL, size, sizes), invalid);
  CHECK_IS(blosc2_vlchunk_get_nblocks(chunk, size, NULL), invalid);
  CHECK_IS(blosc2_vlchunk_get_nblocks(chunk, 31, sizes), BLOSC2_ERROR_READ_BUFFER);
  CHECK_IS(blosc2_vlchunk_get_nblocks(chunk, size, sizes), invalid);

  /* Headers. */
  number = 7;
  CHECK_IS(blosc2_cbuffer_sizes(NULL, &number, NULL, NULL), invalid);
  CHECK_IS(number, 0);
  CHECK_IS(blosc2_cbuffer_sizes(chunk, NULL, NULL, NULL), 0);
  blosc1_cbuffer_sizes(NULL, &big, NULL, NULL);
  CHECK_IS(big, 0);
  big = 7;
  CHECK_IS(blosc1_cbuffer_validate(NULL, SIZE, &big), invalid);
  CHECK_IS(big, 0);
  CHECK_IS(blosc1_cbuffer_validate(chunk, (size_t)size, NULL), 0);
  CHECK_IS(blosc1_cbuffer_validate(chunk, 15, &big), BLOSC2_ERROR_WRITE_BUFFER);
  blosc1_cbuffer_metainfo(NULL, &big, &value);
  CHECK_IS(value, 0);
  value = 7;
  blosc2_cbuffer_versions(NULL, &value, NULL);
  CHECK_IS(value, 0);
  CHECK(blosc2_cbuffer_complib(NULL) == NULL);
  CHECK_IS(blosc2_chunk_zeros(cparams, SIZE, NULL, CAPACITY), invalid);
  CHECK_IS(blosc2_chunk_nans(cparams, SIZE, NULL, CAPACITY), invalid);
  CHECK_IS(blosc2_chunk_uninit(cparams, SIZE, NULL, CAPACITY), invalid);
  CHECK_IS(blosc2_chunk_repeatval(cparams, SIZE, NULL, CAPACITY, data), invalid);
  CHECK_IS(blosc2_chunk_repeatval(cparams, SIZE, chunk, CAPACITY, NULL), invalid);

  /* Calls without context. */
  CHECK_IS(blosc2_compress(5, 1, 4, NULL, SIZE, chunk, CAPACITY), invalid);
  CHECK_IS(blosc2_compress(5, 1, 4, data, SIZE, NULL, CAPACITY), invalid);
  CHECK_IS(blosc2_compress(5, 1, 0, data, SIZE, chunk, CAPACITY), invalid);
  CHECK_IS(blosc2_compress(5, 1, -4, data, SIZE, chunk, CAPACITY), invalid);
  CHECK_IS(blosc2_compress(10, 1, 4, data, SIZE, chunk, CAPACITY), BLOSC2_ERROR_CODEC_PARAM);
  CHECK_IS(blosc2_compress(-1, 1, 4, data, SIZE, chunk, CAPACITY), BLOSC2_ERROR_CODEC_PARAM);
  CHECK_IS(blosc1_compress(5, 1, 4, SIZE, NULL, chunk, CAPACITY), invalid);
  CHECK_IS(blosc1_compress(5, 1, (size_t)1 << 31, SIZE, data, chunk, CAPACITY), invalid);
#if SIZE_MAX > UINT32_MAX
  CHECK_IS(blosc1_compress(5, 1, 4, ((size_t)1 << 32) + SIZE, data, chunk, CAPACITY),
           BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED);
#endif
  CHECK_IS(blosc2_compress(5, 1, 4, data, SIZE, chunk, CAPACITY), size);
  CHECK_IS(blosc2_decompress(NULL, size, back, SIZE), invalid);
  CHECK_IS(blosc2_decompress(chunk, size, NULL, SIZE), invalid);
  CHECK_IS(blosc1_decompress(NULL, back, SIZE), invalid);
  CHECK_IS(blosc1_decompress(chunk, NULL, SIZE), invalid);
  CHECK_IS(blosc2_getitem(NULL, size, 0, 1, back, SIZE), invalid);
  CHECK_IS(blosc2_getitem(chunk, size, 0, 1, NULL, SIZE), invalid);
  CHECK_IS(blosc1_getitem(NULL, 0, 1, back), invalid);
  CHECK_IS(blosc1_getitem(chunk, 0, 1, NULL), invalid);
  CHECK_IS(blosc1_getitem(chunk, 0, -1, back), invalid);
  CHECK_IS(blosc1_set_compressor(NULL), -1);
  CHECK(blosc1_get_compressor() != NULL);
  CHECK_IS(blosc2_set_nthreads(0), invalid);
  CHECK_IS(blosc2_set_nthreads(-1), invalid);

  /* Names and registration. */
  CHECK_IS(blosc2_compname_to_compcode(NULL), -1);
  CHECK_IS(blosc2_compcode_to_compname(BLOSC_LZ4, NULL), BLOSC_LZ4);
  CHECK_IS(blosc2_get_complib_info(NULL, NULL, NULL), -1);
  CHECK_IS(blosc2_get_complib_info("lz4", NULL, NULL), BLOSC_LZ4_LIB);
  CHECK_IS(blosc2_register_codec(NULL), invalid);
  CHECK_IS(blosc2_register_filter(NULL), invalid);
  CHECK_IS(blosc2_register_tuner(NULL), invalid);

  /* Raw shuffles. */
  CHECK_IS(blosc2_shuffle(4, 16, NULL, back), invalid);
  CHECK_IS(blosc2_unshuffle(4, 16, data, NULL), invalid);
  CHECK_IS(blosc2_bitshuffle(4, 16, NULL, back), invalid);
  CHECK_IS(blosc2_bitunshuffle(4, 16, data, NULL), invalid);
  CHECK_IS(blosc2_shuffle(4, 0, NULL, NULL), 0);
  blosc_set_timestamp(NULL);

  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
  return checks_failed();
}
