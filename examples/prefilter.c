/*
 * Changes data while they are compressed and decompressed.
 *
 *   cc prefilter.c -o prefilter $(pkg-config --cflags --libs blosc2)
 *
 * A prefilter writes each block that is compressed, usually from the block of the source. A
 * postfilter changes each block after decompression. Unlike filters they are not recorded in the
 * chunk: they belong to one context. Both avoid a pass over the data and a second buffer.
 */

#include <assert.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 100 * 1000, SIZE = ITEMS * (int)sizeof(double), ROOM = SIZE + BLOSC2_MAX_OVERHEAD };

/* Rounds positive numbers to multiples of a step: fewer digits compress better. The library calls
   this for one block at a time, from several threads. */
static int round_items(blosc2_prefilter_params *params) {
  const double step = *(const double *)params->user_data;
  const double *input = (const double *)params->input;
  double *output = (double *)params->output;
  int32_t i;

  for (i = 0; i < params->output_size / (int32_t)sizeof(double); i++) {
    output[i] = (double)(int64_t)(input[i] / step + 0.5) * step;
  }
  return 0; /* another value makes the compression fail */
}

/* Converts degrees Celsius to kelvins. params->offset is the position of the block in the chunk,
   for results that depend on it. */
static int to_kelvin(blosc2_postfilter_params *params) {
  const double *input = (const double *)params->input;
  double *output = (double *)params->output;
  int32_t i;

  for (i = 0; i < params->size / (int32_t)sizeof(double); i++) {
    output[i] = input[i] + 273.15;
  }
  return 0;
}

/* Compresses the data; returns the size of the chunk, or a negative error code. */
static int compress(blosc2_cparams cparams, const void *data, void *chunk) {
  blosc2_context *compressor = blosc2_create_cctx(cparams);
  int size = blosc2_compress_ctx(compressor, data, SIZE, chunk, ROOM);

  blosc2_free_ctx(compressor);
  return size;
}

/* Decompresses a chunk; returns the size of the data, or a negative error code. */
static int decompress(blosc2_dparams dparams, const void *chunk, int size, void *data) {
  blosc2_context *decompressor = blosc2_create_dctx(dparams);
  int status = blosc2_decompress_ctx(decompressor, chunk, size, data, SIZE);

  blosc2_free_ctx(decompressor);
  return status;
}

int main(void) {
  static double celsius[ITEMS], restored[ITEMS], kelvin[ITEMS];
  static uint8_t chunk[ROOM];
  double step = 1.0 / 64.0, difference;
  blosc2_prefilter_params preparams = {0};
  blosc2_postfilter_params postparams = {0};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  int exact, rounded, status, i;

  for (i = 0; i < ITEMS; i++) {
    celsius[i] = 20.0 + (i % 1009) * 0.00497;
  }
  blosc2_init();
  cparams.typesize = sizeof(double);
  cparams.nthreads = 2;
  exact = compress(cparams, celsius, chunk);

  /* The struct is copied; the data at user_data must exist as long as the context. The library
     sets the other fields for each call. */
  preparams.user_data = &step;
  cparams.preparams = &preparams;
  cparams.prefilter = round_items;
  rounded = compress(cparams, celsius, chunk);
  assert(rounded > 0 && rounded < exact / 2);
  printf("%d bytes: exact %d, rounded %d\n", SIZE, exact, rounded);

  /* Any decompressor reads the chunk. The differences are at most half a step. */
  status = decompress(dparams, chunk, rounded, restored);
  assert(status == SIZE);
  for (i = 0; i < ITEMS; i++) {
    difference = celsius[i] - restored[i];
    assert(difference <= step / 2 && -difference <= step / 2);
  }

  /* With the postfilter the same chunk is returned in kelvins. */
  dparams.nthreads = 2;
  dparams.postparams = &postparams;
  dparams.postfilter = to_kelvin;
  status = decompress(dparams, chunk, rounded, kelvin);
  assert(status == SIZE);
  for (i = 0; i < ITEMS; i++) {
    assert(kelvin[i] == restored[i] + 273.15);
  }
  printf("the first number: %g degrees Celsius, %g K\n", restored[0], kelvin[0]);
  blosc2_destroy();
  return EXIT_SUCCESS;
}
