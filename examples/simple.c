/*
 * Compresses a million floating-point numbers, decompresses them, and reads a few items.
 *
 *   cc simple.c -o simple $(pkg-config --cflags --libs blosc2)
 */

#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 1000 * 1000, SIZE = ITEMS * (int)sizeof(double) };

int main(void) {
  double *data = malloc(SIZE), *back = malloc(SIZE), few[3];
  void *chunk = malloc(SIZE + BLOSC2_MAX_OVERHEAD);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor;
  int i, size, status;

  blosc2_init();
  printf("blosc2 %s, headers of %s\n", blosc2_get_version_string(), BLOSC2_VERSION_STRING);
  for (i = 0; i < ITEMS; i++) {
    data[i] = 20.0 + (i % 1000) * 0.01;
  }

  cparams.compcode = BLOSC_ZSTD;
  cparams.typesize = sizeof(double);
  cparams.nthreads = 2;
  compressor = blosc2_create_cctx(cparams);
  size = blosc2_compress_ctx(compressor, data, SIZE, chunk, SIZE + BLOSC2_MAX_OVERHEAD);
  if (size <= 0) {
    fprintf(stderr, "compression failed: %s\n", blosc2_error_string(size));
    return EXIT_FAILURE;
  }
  printf("%d bytes became %d: 1/%.0f\n", SIZE, size, (double)SIZE / size);

  dparams.nthreads = 2;
  decompressor = blosc2_create_dctx(dparams);
  status = blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE);
  if (status != SIZE || memcmp(data, back, SIZE) != 0) {
    fprintf(stderr, "decompression failed: %s\n", blosc2_error_string(status));
    return EXIT_FAILURE;
  }

  status = blosc2_getitem_ctx(decompressor, chunk, size, 500123, 3, few, sizeof few);
  if (status < 0) {
    fprintf(stderr, "reading items failed: %s\n", blosc2_error_string(status));
    return EXIT_FAILURE;
  }
  printf("items from 500123 on: %.2f %.2f %.2f\n", few[0], few[1], few[2]);

  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
  free(data);
  free(back);
  free(chunk);
  blosc2_destroy();
  return EXIT_SUCCESS;
}
