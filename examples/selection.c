/*
 * Reads and writes scattered items of an array.
 *
 *   cc selection.c -o selection $(pkg-config --cflags --libs blosc2)
 *
 * An orthogonal selection has one list of indices for each dimension and selects all their
 * combinations, like a[np.ix_(rows, columns)] in NumPy. A sparse selection is a list of single
 * items. Both decompress each block that they need once.
 */

#include <assert.h>
#include <b2nd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 300, COLUMNS = 200 };

/* Ends the program if a function returned an error code. */
static void check(int code) {
  if (code < 0) {
    fprintf(stderr, "%s\n", blosc2_error_string(code));
    exit(EXIT_FAILURE);
  }
}

int main(void) {
  static int32_t items[ROWS][COLUMNS];
  const int64_t shape[] = {ROWS, COLUMNS};
  const int32_t chunks[] = {100, 100}, blocks[] = {20, 20};
  /* Indices may repeat and need no order. */
  int64_t rows[] = {250, 3}, columns[] = {7, 199, 7};
  int64_t *lists[] = {rows, columns}, sizes[] = {2, 3};
  const int32_t expected[2][3] = {{250007, 250199, 250007}, {3007, 3199, 3007}};
  int64_t first_rows[] = {0, 1}, hundreds[] = {0, 100};
  int64_t *targets[] = {first_rows, hundreds}, target_sizes[] = {2, 2};
  const int32_t news[2][2] = {{-1, -2}, {-3, -4}};
  int64_t points[] = {299 * COLUMNS + 199, 0, 12 * COLUMNS + 34};
  int64_t outside[] = {ROWS}, *wrong[] = {outside, columns}, wrong_sizes[] = {1, 1};
  int32_t selected[2][3], sparse[3];
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  b2nd_context_t *ctx;
  b2nd_array_t *array;
  int row, col, code;

  for (row = 0; row < ROWS; row++) {
    for (col = 0; col < COLUMNS; col++) {
      items[row][col] = 1000 * row + col;
    }
  }
  blosc2_init();
  cparams.typesize = sizeof(int32_t);
  storage.cparams = &cparams;
  ctx = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, "<i4", DTYPE_NUMPY_FORMAT, NULL, 0);
  check(b2nd_from_cbuffer(ctx, &array, items, sizeof items));
  b2nd_free_ctx(ctx);

  /* Two rows and three columns select 2 x 3 items, in the order of the lists. */
  check(b2nd_get_orthogonal_selection(array, lists, sizes, selected, sizes, sizeof selected));
  assert(memcmp(selected, expected, sizeof selected) == 0);
  printf("rows 250 and 3, columns 7, 199, 7: %d %d %d, %d %d %d\n", selected[0][0], selected[0][1],
         selected[0][2], selected[1][0], selected[1][1], selected[1][2]);

  /* Writing works in the same manner: here columns 0 and 100 of the first two rows. */
  check(b2nd_set_orthogonal_selection(array, targets, target_sizes, news, target_sizes,
                                      sizeof news));
  items[0][0] = -1;
  items[0][100] = -2;
  items[1][0] = -3;
  items[1][100] = -4;

  /* Single items by their numbers in row-major order. */
  check(b2nd_get_sparse_cbuffer(array, 3, points, sparse, sizeof sparse));
  assert(sparse[0] == items[299][199] && sparse[1] == -1 && sparse[2] == items[12][34]);
  printf("three single items: %d %d %d\n", sparse[0], sparse[1], sparse[2]);

  /* Indices are checked. */
  code = b2nd_get_orthogonal_selection(array, wrong, wrong_sizes, sparse, wrong_sizes,
                                       sizeof sparse[0]);
  assert(code == BLOSC2_ERROR_INVALID_INDEX);
  printf("row %d: %s\n", ROWS, blosc2_error_string(code));

  b2nd_free(array);
  blosc2_destroy();
  return EXIT_SUCCESS;
}
