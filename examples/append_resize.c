/*
 * Appends rows to an array and changes its shape.
 *
 *   cc append_resize.c -o append_resize $(pkg-config --cflags --libs blosc2)
 *
 * The shape of an array may change at any time, also in a file. Growing and shrinking add or remove
 * whole chunks; no existing chunk is compressed again, except that a partly filled last chunk
 * receives the items appended to it.
 */

#include <assert.h>
#include <b2nd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 6, MOST_ROWS = 12, ROW = COLUMNS * (int)sizeof(int32_t) };

/* Ends the program if a function returned an error code. */
static void check(int code) {
  if (code < 0) {
    fprintf(stderr, "%s\n", blosc2_error_string(code));
    exit(EXIT_FAILURE);
  }
}

/* Asserts that an array has these rows, in each column below COLUMNS. */
static void expect(b2nd_array_t *array, const int32_t items[][COLUMNS], int64_t rows) {
  int32_t found[MOST_ROWS][COLUMNS];

  assert(array->shape[0] == rows && array->shape[1] == COLUMNS && rows <= MOST_ROWS);
  check(b2nd_to_cbuffer(array, found, rows * ROW));
  assert(memcmp(found, items, (size_t)(rows * ROW)) == 0);
}

int main(void) {
  static int32_t items[MOST_ROWS][COLUMNS], others[MOST_ROWS][COLUMNS];
  /* An array without rows. Chunks have 4 rows: that is the unit in which the file grows. */
  const int64_t shape[] = {0, COLUMNS};
  const int32_t chunks[] = {4, COLUMNS}, blocks[] = {2, COLUMNS};
  int32_t last[2][4];
  /* Created in the current directory, and removed at the end. */
  char *path = "example-append_resize.b2nd";
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  b2nd_context_t *ctx;
  b2nd_array_t *array;
  int row, col;

  for (row = 0; row < MOST_ROWS; row++) {
    for (col = 0; col < COLUMNS; col++) {
      items[row][col] = 10 * row + col;
      others[row][col] = 1000 + 10 * row + col;
    }
  }
  blosc2_init();
  /* An interrupted run may have left the file, and a new array never replaces one. */
  check(blosc2_remove_urlpath(path));
  cparams.typesize = sizeof(int32_t);
  storage.cparams = &cparams;
  storage.contiguous = true;
  storage.urlpath = path;
  ctx = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, "<i4", DTYPE_NUMPY_FORMAT, NULL, 0);
  check(b2nd_zeros(ctx, &array));
  b2nd_free_ctx(ctx);

  /* Append along axis 0. A call may add any number of whole rows. */
  check(b2nd_append(array, items, 4 * ROW, 0));
  check(b2nd_append(array, items + 4, 5 * ROW, 0));
  expect(array, (const int32_t(*)[COLUMNS])items, 9);
  printf("appended 4 and 5 rows: %d chunks\n", (int)array->sc->nchunks);

  /* The file is complete after each call. */
  b2nd_free(array);
  check(b2nd_open(path, &array));

  /* Grow in both dimensions. The new items are zero. */
  check(b2nd_resize(array, (int64_t[]){10, 8}, NULL));
  check(b2nd_get_slice_cbuffer(array, (int64_t[]){8, 4}, (int64_t[]){10, 8}, last,
                               (int64_t[]){2, 4}, sizeof last));
  assert(last[0][1] == items[8][5] && last[0][2] == 0 && last[1][0] == 0 && last[1][3] == 0);
  printf("resized to %d x %d\n", (int)array->shape[0], (int)array->shape[1]);

  /* Shrink: items outside the new shape are removed. */
  check(b2nd_resize(array, (int64_t[]){8, COLUMNS}, NULL));
  expect(array, (const int32_t(*)[COLUMNS])items, 8);

  /* Inside the array whole chunks can be inserted and deleted: here 4 rows before row 4, and then
     rows 0 to 3. */
  check(b2nd_insert(array, others, 4 * ROW, 0, 4));
  check(b2nd_delete(array, 0, 0, 4));
  memcpy(others[4], items[4], 4 * ROW);
  expect(array, (const int32_t(*)[COLUMNS])others, 8);
  printf("inserted and deleted 4 rows\n");

  b2nd_free(array);
  check(blosc2_remove_urlpath(path));
  blosc2_destroy();
  return EXIT_SUCCESS;
}
