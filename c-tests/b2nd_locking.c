/* Several processes change an array at the same time, with locks; row N40. */

#include "arrays.h"
#include <sys/wait.h>

enum { WRITERS = 3, BLOCKS = 15, BLOCK = 6, ROUNDS = 400 };

/* Appends blocks of one value each. */
static int append_blocks(const char *path, int writer) {
  uint8_t block[BLOCK];
  b2nd_array_t *array;
  int i, code = b2nd_open(path, &array);
  for (i = 0; code == 0 && i < BLOCKS; i++) {
    memset(block, writer * BLOCKS + i + 1, BLOCK);
    code = b2nd_append(array, block, BLOCK, 0);
  }
  return code == 0 ? b2nd_free(array) : code;
}

static void row_n40_no_block_is_lost_or_torn(int storage) {
  static const int64_t shape0[] = {0};
  static const int32_t chunks[] = {4}, blocks[] = {2};
  b2nd_context_t *ctx = context_in(storage, 1, 1, shape0, chunks, blocks);
  uint8_t items[WRITERS * BLOCKS * BLOCK], seen[WRITERS * BLOCKS + 1] = {0};
  b2nd_array_t *array = NULL;
  int i, writer, status;

  CHECK_IS(b2nd_zeros(ctx, &array), 0);
  fflush(stdout);
  for (writer = 0; writer < WRITERS; writer++) {
    if (fork() == 0) {
      _exit(append_blocks(array->sc->storage->urlpath, writer) == 0 ? 0 : 1);
    }
  }
  for (writer = 0; writer < WRITERS; writer++) {
    CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  CHECK(b2nd_refresh(array) >= 0);
  CHECK_IS(array->shape[0], (int)sizeof items);
  CHECK_IS(b2nd_to_cbuffer(array, items, sizeof items), 0);
  for (i = 0; i < WRITERS * BLOCKS; i++) {
    int value = items[BLOCK * i], j;
    CHECK(value >= 1 && value <= WRITERS * BLOCKS && !seen[value]);
    if (value <= WRITERS * BLOCKS) {
      seen[value] = 1;
    }
    for (j = 1; j < BLOCK; j++) {
      CHECK_IS(items[BLOCK * i + j], value);
    }
  }
  b2nd_free(array);
  b2nd_free_ctx(ctx);
}

/* Inserts and deletes columns, which renumbers the chunks. */
static int change_shape(b2nd_array_t *array) {
  static const int64_t narrow[] = {8, 4}, wide[] = {8, 8};
  int i, code = 0;
  for (i = 0; code == 0 && i < ROUNDS; i++) {
    code = b2nd_resize(array, i % 2 == 0 ? wide : narrow, NULL);
  }
  return code;
}

/* The first four columns of all rows always have a single value. */
static const int64_t first[] = {0, 0}, stop[] = {8, 4}, size[] = {8, 4};

static int write_columns(b2nd_array_t *array) {
  uint8_t items[32];
  int i, code = 0;
  for (i = 0; code == 0 && i < ROUNDS; i++) {
    memset(items, i % 250, sizeof items);
    code = b2nd_set_slice_cbuffer(items, size, sizeof items, first, stop, array);
  }
  return code;
}

static int select_columns(b2nd_array_t *array) {
  int64_t rows[] = {0, 1, 2, 3, 4, 5, 6, 7}, columns[] = {0, 1, 2, 3}, counts[] = {8, 4};
  int64_t *selection[] = {rows, columns};
  uint8_t items[32];
  int i, code = 0;
  for (i = 0; code == 0 && i < ROUNDS; i++) {
    memset(items, i % 250, sizeof items);
    code = b2nd_set_orthogonal_selection(array, selection, counts, items, counts, sizeof items);
  }
  return code;
}

static int read_columns(b2nd_array_t *array) {
  uint8_t items[32];
  int i, j, code = 0;
  for (i = 0; code == 0 && i < ROUNDS; i++) {
    code = b2nd_get_slice_cbuffer(array, first, stop, items, size, sizeof items);
    for (j = 1; code == 0 && j < 32; j++) {
      code = items[j] == items[0] ? 0 : 1;
    }
  }
  return code;
}

/* Within a call, shape and chunks match even if other processes change them. */
static void shapes_do_not_change_within_a_call(int storage) {
  static int (*const work[])(b2nd_array_t *) = {change_shape, write_columns, select_columns, read_columns};
  static const int64_t shape84[] = {8, 4};
  static const int32_t chunks[] = {4, 4}, blocks[] = {2, 2};
  b2nd_context_t *ctx = context_in(storage, 1, 2, shape84, chunks, blocks);
  b2nd_array_t *array = NULL;
  int i, status;

  CHECK_IS(b2nd_zeros(ctx, &array), 0);
  fflush(stdout);
  for (i = 0; i < 4; i++) {
    if (fork() == 0) {
      b2nd_array_t *own;
      int code = b2nd_open(array->sc->storage->urlpath, &own);
      _exit(code == 0 && work[i](own) == 0 ? 0 : 1 + i);
    }
  }
  for (i = 0; i < 4; i++) {
    CHECK(wait(&status) > 0 && WIFEXITED(status));
    CHECK_IS(WEXITSTATUS(status), 0);
  }
  CHECK(b2nd_refresh(array) >= 0);
  CHECK_IS(read_columns(array), 0);
  b2nd_free(array);
  b2nd_free_ctx(ctx);
}

int main(void) {
  char command[sizeof folder + 8];
  CHECK_IS(setenv("BLOSC_LOCKING", "1", 1), 0);
  begin();
  row_n40_no_block_is_lost_or_torn(2);
  row_n40_no_block_is_lost_or_torn(3);
  shapes_do_not_change_within_a_call(2);
  shapes_do_not_change_within_a_call(3);
  /* Lock files remain when arrays are removed. */
  sprintf(command, "rm -r %s", folder);
  CHECK_IS(system(command), 0);
  return checks_failed();
}
