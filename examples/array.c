/*
 * Creates an array on disk, reopens it and prints a slice.
 *
 *   cc array.c -lblosc2 -o array && ./array table.b2nd
 */

#include <b2nd.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  static const int64_t shape[] = {100, 50};
  static const int32_t chunks[] = {20, 20}, blocks[] = {5, 10};
  static int32_t items[100 * 50];
  static const int64_t start[] = {18, 47}, stop[] = {22, 50}, extents[] = {4, 3};
  int32_t slice[4][3];
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  b2nd_context_t *ctx;
  b2nd_array_t *array;
  int i, code;

  if (argc != 2) {
    fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return EXIT_FAILURE;
  }
  for (i = 0; i < 100 * 50; i++) {
    items[i] = i;
  }
  blosc2_init();
  blosc2_remove_urlpath(argv[1]);
  cparams.typesize = sizeof(int32_t);
  storage.cparams = &cparams;
  storage.contiguous = true;
  storage.urlpath = argv[1];
  ctx = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, "<i4", 0, NULL, 0);
  code = b2nd_from_cbuffer(ctx, &array, items, sizeof items);
  b2nd_free_ctx(ctx);
  if (code == 0) {
    b2nd_free(array);
    code = b2nd_open(argv[1], &array);
  }
  if (code == 0) {
    code = b2nd_get_slice_cbuffer(array, start, stop, slice, extents, sizeof slice);
    b2nd_free(array);
  }
  if (code != 0) {
    fprintf(stderr, "%s\n", blosc2_error_string(code));
    return EXIT_FAILURE;
  }
  for (i = 0; i < 4; i++) {
    printf("%5d %5d %5d\n", slice[i][0], slice[i][1], slice[i][2]);
  }
  blosc2_destroy();
  return EXIT_SUCCESS;
}
