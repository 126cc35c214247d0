/*
 * Adds a filter of the program.
 *
 *   cc user_filter.c -o user_filter $(pkg-config --cflags --libs blosc2)
 *
 * A filter transforms a block before the codec compresses it, without changing its size, and is
 * undone after decompression. A chunk stores the ids of its filters, so a program that reads the
 * chunk must register the same filter. Ids from 160 to 255 are free for programs.
 */

#include <assert.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 60 * 1000, SIZE = ITEMS * (int)sizeof(uint32_t), ROOM = SIZE + BLOSC2_MAX_OVERHEAD };
enum { DIFFERENCES = BLOSC2_USER_REGISTERED_FILTERS_START };

/* Replaces each integer by its difference to the one before it. The library calls filters in
   several threads at the same time, so they must not change shared data. The buffers may not be
   aligned, and a block may end with a part of an item: memcpy handles both. */
static int forward(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta,
                   blosc2_cparams *cparams, uint8_t id) {
  uint32_t item, last = 0, difference;
  int32_t i;

  (void)meta;    /* the parameter of the filter, from cparams.filters_meta */
  (void)cparams; /* the parameters of the context */
  (void)id;
  for (i = 0; i + 4 <= size; i += 4) {
    memcpy(&item, input + i, 4);
    difference = item - last;
    memcpy(output + i, &difference, 4);
    last = item;
  }
  memcpy(output + i, input + i, (size_t)(size - i));
  return 0; /* another value makes the compression fail */
}

static int backward(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta,
                    blosc2_dparams *dparams, uint8_t id) {
  uint32_t item = 0, difference;
  int32_t i;

  (void)meta;
  (void)dparams;
  (void)id;
  for (i = 0; i + 4 <= size; i += 4) {
    memcpy(&difference, input + i, 4);
    item += difference;
    memcpy(output + i, &item, 4);
  }
  memcpy(output + i, input + i, (size_t)(size - i));
  return 0;
}

/* Compresses the data; returns the size of the chunk, or a negative error code. */
static int compress(blosc2_cparams cparams, const void *data, void *chunk) {
  blosc2_context *compressor = blosc2_create_cctx(cparams);
  int size = blosc2_compress_ctx(compressor, data, SIZE, chunk, ROOM);

  blosc2_free_ctx(compressor);
  return size;
}

int main(void) {
  static uint32_t data[ITEMS], restored[ITEMS];
  static uint8_t chunk[ROOM];
  blosc2_filter filter = {DIFFERENCES, "example_differences", 1, forward, backward};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_context *decompressor;
  int shuffled, filtered, status;
  uint32_t i;

  /* A curve whose neighbours differ little. */
  for (i = 0; i < ITEMS; i++) {
    data[i] = i * i / 50;
  }
  blosc2_init();
  status = blosc2_register_filter(&filter);
  if (status < 0) {
    fprintf(stderr, "registration failed: %s\n", blosc2_error_string(status));
    return EXIT_FAILURE;
  }

  /* Of the six slots, the default uses the last one, for the byte shuffle. */
  cparams.typesize = sizeof(uint32_t);
  cparams.nthreads = 2;
  shuffled = compress(cparams, data, chunk);
  cparams.filters[BLOSC2_MAX_FILTERS - 2] = DIFFERENCES;
  filtered = compress(cparams, data, chunk);
  assert(filtered > 0 && filtered < shuffled);
  printf("%d bytes: shuffle alone %d, with differences before it %d\n", SIZE, shuffled, filtered);

  decompressor = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  status = blosc2_decompress_ctx(decompressor, chunk, filtered, restored, SIZE);
  assert(status == SIZE && memcmp(data, restored, SIZE) == 0);
  printf("decompression restored the data\n");

  blosc2_free_ctx(decompressor);
  blosc2_destroy();
  return EXIT_SUCCESS;
}
