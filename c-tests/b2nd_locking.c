/* Several processes append to an array at the same time; row N40. */

#include "arrays.h"
#include <sys/wait.h>

enum { WRITERS = 3, BLOCKS = 15, BLOCK = 6 };

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

int main(void) {
  char command[sizeof folder + 8];
  CHECK_IS(setenv("BLOSC_LOCKING", "1", 1), 0);
  begin();
  row_n40_no_block_is_lost_or_torn(2);
  row_n40_no_block_is_lost_or_torn(3);
  /* Lock files remain when arrays are removed. */
  sprintf(command, "rm -r %s", folder);
  CHECK_IS(system(command), 0);
  return checks_failed();
}
