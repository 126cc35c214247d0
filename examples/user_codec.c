/*
 * Adds a codec of the program.
 *
 *   cc user_codec.c -o user_codec $(pkg-config --cflags --libs blosc2)
 *
 * A codec compresses the bytes of a block after the filters. A chunk stores the number of its
 * codec, so a program that reads the chunk must register the same codec. Numbers from 160 to 255
 * are free for programs.
 */

#include <assert.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1000 * 1000, ROOM = SIZE + BLOSC2_MAX_OVERHEAD, NOISE = 100 * 1000 };
enum { RUNS = BLOSC2_USER_REGISTERED_CODECS_START };

/* Stores runs of equal bytes as pairs: the length of the run and the byte. The library calls codecs
   in several threads at the same time, so they must not change shared data. */
static int encode(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len,
                  uint8_t meta, blosc2_cparams *cparams, const void *chunk) {
  int32_t i, run, size = 0;

  (void)meta; /* the parameter of the codec, from cparams.compcode_meta */
  (void)cparams;
  (void)chunk;
  for (i = 0; i < input_len; i += run) {
    for (run = 1; run < 255 && i + run < input_len && input[i + run] == input[i]; run++) {
    }
    if (size + 2 > output_len) {
      return 0; /* does not fit: the library stores the bytes uncompressed */
    }
    output[size++] = (uint8_t)run;
    output[size++] = input[i];
  }
  return size;
}

static int decode(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len,
                  uint8_t meta, blosc2_dparams *dparams, const void *chunk) {
  int32_t i, size = 0;

  (void)meta;
  (void)dparams;
  (void)chunk;
  /* The input may be damaged or hostile: check every length. */
  for (i = 0; i + 2 <= input_len; i += 2) {
    if (input[i] > output_len - size) {
      return BLOSC2_ERROR_DATA;
    }
    memset(output + size, input[i + 1], input[i]);
    size += input[i];
  }
  return i == input_len ? size : BLOSC2_ERROR_DATA;
}

int main(void) {
  static uint8_t data[SIZE], restored[SIZE], chunk[ROOM];
  /* The code, the name, an id of the library and the version of the format. */
  blosc2_codec codec = {RUNS, "example_runs", RUNS, 1, encode, decode};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor;
  uint32_t i;
  int size, status;

  blosc2_init();
  status = blosc2_register_codec(&codec);
  if (status < 0) {
    fprintf(stderr, "registration failed: %s\n", blosc2_error_string(status));
    return EXIT_FAILURE;
  }
  assert(blosc2_compname_to_compcode("example_runs") == RUNS);

  cparams.compcode = RUNS;
  cparams.typesize = 1;
  cparams.nthreads = 2;
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = BLOSC_NOFILTER; /* instead of the byte shuffle */
  compressor = blosc2_create_cctx(cparams);
  decompressor = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);

  /* A picture of black and white stripes. */
  for (i = 0; i < SIZE; i++) {
    data[i] = i / 100 % 2 == 0 ? 0 : 255;
  }
  size = blosc2_compress_ctx(compressor, data, SIZE, chunk, ROOM);
  assert(size > 0 && size < SIZE / 40);
  status = blosc2_decompress_ctx(decompressor, chunk, size, restored, SIZE);
  assert(status == SIZE && memcmp(data, restored, SIZE) == 0);
  printf("%d bytes of stripes became %d\n", SIZE, size);

  /* Bytes without runs: the codec returns 0, and the chunk is only a header longer. */
  for (i = 0; i < NOISE; i++) {
    data[i] = (uint8_t)(i * 0x9E3779B1u >> 24);
  }
  size = blosc2_compress_ctx(compressor, data, NOISE, chunk, NOISE + BLOSC2_MAX_OVERHEAD);
  assert(size > 0 && size <= NOISE + BLOSC2_MAX_OVERHEAD);
  status = blosc2_decompress_ctx(decompressor, chunk, size, restored, SIZE);
  assert(status == NOISE && memcmp(data, restored, NOISE) == 0);
  printf("%d bytes without runs became %d\n", NOISE, size);

  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
  blosc2_destroy();
  return EXIT_SUCCESS;
}
