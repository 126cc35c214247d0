/*
 * Reads and writes slices of a two-dimensional array.
 *
 *   cc slices.c -o slices $(pkg-config --cflags --libs blosc2)
 *
 * An array is divided into chunks, and each chunk into blocks. Both are boxes of items. A slice is
 * a box, too, from start to before stop; reading it decompresses only the blocks that it touches.
 */

#include <assert.h>
#include <b2nd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 100, COLUMNS = 50 };

/* Ends the program if a function returned an error code. */
static void check(int code) {
  if (code < 0) {
    fprintf(stderr, "%s\n", blosc2_error_string(code));
    exit(EXIT_FAILURE);
  }
}

int main(void) {
  static int32_t items[ROWS][COLUMNS];
  /* Chunks need not divide the shape: those at the border are partly used. */
  const int64_t shape[] = {ROWS, COLUMNS};
  const int32_t chunks[] = {32, 32}, blocks[] = {8, 8};
  const int32_t small_chunks[] = {10, 10}, small_blocks[] = {5, 5};
  int32_t slice[2][3], column[ROWS], around[2][5], last;
  int32_t box[2][3] = {{-1, -2, -3}, {-4, -5, -6}};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  b2nd_context_t *ctx;
  b2nd_array_t *array, *copy;
  int row, col;

  for (row = 0; row < ROWS; row++) {
    for (col = 0; col < COLUMNS; col++) {
      items[row][col] = COLUMNS * row + col;
    }
  }
  blosc2_init();
  cparams.typesize = sizeof(int32_t);
  storage.cparams = &cparams;
  /* "<i4" is NumPy's name of a little-endian 32-bit integer. It is stored for other programs. */
  ctx = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, "<i4", DTYPE_NUMPY_FORMAT, NULL, 0);
  check(b2nd_from_cbuffer(ctx, &array, items, sizeof items));
  b2nd_free_ctx(ctx);

  /* Rows 10 and 11, columns 20 to 22. The buffer has its own shape, at least that of the slice. */
  check(b2nd_get_slice_cbuffer(array, (int64_t[]){10, 20}, (int64_t[]){12, 23}, slice,
                               (int64_t[]){2, 3}, sizeof slice));
  assert(slice[0][0] == 520 && slice[0][2] == 522 && slice[1][2] == 572);
  printf("rows 10 and 11, columns 20 to 22: %d %d %d, %d %d %d\n", slice[0][0], slice[0][1],
         slice[0][2], slice[1][0], slice[1][1], slice[1][2]);

  /* A column is a slice with one index along the second dimension. */
  check(b2nd_get_slice_cbuffer(array, (int64_t[]){0, 7}, (int64_t[]){ROWS, 8}, column,
                               (int64_t[]){ROWS, 1}, sizeof column));
  for (row = 0; row < ROWS; row++) {
    assert(column[row] == items[row][7]);
  }

  /* Overwrite a box of 2 x 3 items. Each chunk that it touches is compressed again. */
  check(b2nd_set_slice_cbuffer(box, (int64_t[]){2, 3}, sizeof box, (int64_t[]){30, 31},
                               (int64_t[]){32, 34}, array));
  check(b2nd_get_slice_cbuffer(array, (int64_t[]){30, 30}, (int64_t[]){32, 35}, around,
                               (int64_t[]){2, 5}, sizeof around));
  assert(around[0][0] == 1530 && around[1][4] == 1584);
  assert(memcmp(&around[0][1], box[0], sizeof box[0]) == 0);
  assert(memcmp(&around[1][1], box[1], sizeof box[1]) == 0);
  printf("wrote a box of 2 x 3 items; its neighbours are unchanged\n");

  /* Copy a slice to a new array, with other chunks; the function sets the shape. */
  ctx = b2nd_create_ctx(&storage, 2, shape, small_chunks, small_blocks, "<i4", DTYPE_NUMPY_FORMAT,
                        NULL, 0);
  check(b2nd_get_slice(ctx, &copy, array, (int64_t[]){50, 0}, (int64_t[]){100, 25}));
  b2nd_free_ctx(ctx);
  assert(copy->shape[0] == 50 && copy->shape[1] == 25);
  check(b2nd_get_slice_cbuffer(copy, (int64_t[]){49, 24}, (int64_t[]){50, 25}, &last,
                               (int64_t[]){1, 1}, sizeof last));
  assert(last == items[99][24]);
  printf("a copy has the shape %d x %d\n", (int)copy->shape[0], (int)copy->shape[1]);

  b2nd_free(copy);
  b2nd_free(array);
  blosc2_destroy();
  return EXIT_SUCCESS;
}
