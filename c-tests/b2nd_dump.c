/*
 * Prints an array read from its frame: b2nd_dump FRAME ITEMS
 *
 * Prints dimensions, dtype and variable-length metalayers, and writes all items to the file
 * ITEMS. First reads the items all at once, by rows, and one by one, and compares the results.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "b2nd.h"
#include "check.h"

static int64_t row_items(const b2nd_array_t *array) {
  int64_t items = 1;
  for (int i = 1; i < array->ndim; i++) items *= array->shape[i];
  return items;
}

/* Reads `count` rows, beginning with row `first`. */
static int read_rows(const b2nd_array_t *array, int64_t first, int64_t count, uint8_t *dest) {
  int64_t start[B2ND_MAX_DIM] = {0}, stop[B2ND_MAX_DIM], shape[B2ND_MAX_DIM];
  memcpy(stop, array->shape, sizeof stop);
  start[0] = first;
  stop[0] = first + count;
  memcpy(shape, stop, sizeof shape);
  shape[0] = count;
  int64_t size = count * row_items(array) * array->sc->typesize;
  return b2nd_get_slice_cbuffer(array, start, stop, dest, shape, size);
}

static void read_all_ways(const b2nd_array_t *array, uint8_t *items, uint8_t *again) {
  int64_t len = array->shape[0], row = row_items(array) * array->sc->typesize;
  CHECK(read_rows(array, 0, len, items) == 0);
  for (int64_t first = 0, count = 1; first < len; first += count, count = count * 3 % 9973 + 5) {
    if (first + count > len) count = len - first;
    CHECK(read_rows(array, first, count, again + first * row) == 0);
  }
  CHECK(memcmp(items, again, (size_t)(len * row)) == 0);
  for (int64_t number = 0; number < array->nitems; number += array->nitems / 100 + 37) {
    int64_t start[B2ND_MAX_DIM], stop[B2ND_MAX_DIM], one[B2ND_MAX_DIM], rest = number;
    for (int i = array->ndim - 1; i >= 0; i--) {
      start[i] = rest % array->shape[i];
      stop[i] = start[i] + 1;
      one[i] = 1;
      rest /= array->shape[i];
    }
    size_t typesize = (size_t)array->sc->typesize;
    uint8_t *item = again;
    CHECK(b2nd_get_slice_cbuffer(array, start, stop, item, one, array->sc->typesize) == 0);
    CHECK(memcmp(item, items + (size_t)number * typesize, typesize) == 0);
  }
}

static void print_layers(blosc2_schunk *schunk) {
  for (int i = 0; i < schunk->nvlmetalayers; i++) {
    const char *name = schunk->vlmetalayers[i]->name;
    uint8_t *content = NULL;
    int32_t len = 0;
    CHECK(blosc2_vlmeta_get(schunk, name, &content, &len) >= 0);
    printf("%s ", name);
    for (int32_t k = 0; k < len; k++) printf("%02x", content[k]);
    printf("\n");
    free(content);
  }
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  blosc2_init();
  b2nd_array_t *array = NULL;
  CHECK(b2nd_open(argv[1], &array) == 0);
  if (array == NULL) return 1;
  printf("%d dimensions:", array->ndim);
  for (int i = 0; i < array->ndim; i++) printf(" %lld", (long long)array->shape[i]);
  printf("\n%s\n", array->dtype);
  size_t size = (size_t)(array->nitems * array->sc->typesize);
  uint8_t *items = malloc(size + 1), *again = malloc(size + 1024);
  if (array->nitems > 0) read_all_ways(array, items, again);
  print_layers(array->sc);
  FILE *file = fopen(argv[2], "wb");
  CHECK(file != NULL && fwrite(items, 1, size, file) == size && fclose(file) == 0);
  free(items);
  free(again);
  CHECK(b2nd_free(array) == 0);
  blosc2_destroy();
  return checks_failed();
}
