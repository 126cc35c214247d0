/* More super-chunks on disk than the process has descriptors, and directories that are replaced. */

#include <blosc2.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { ITEMS = 1000, CHUNKS = 2, HANDLES = 40, DESCRIPTORS = 20 };

static int32_t items[ITEMS], back[CHUNKS * ITEMS];

/* Creates a super-chunk whose items count up from `first`. */
static blosc2_schunk *create(char *path, bool contiguous, int32_t first) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *schunk;
  int i, n;

  cparams.typesize = sizeof *items;
  storage.cparams = &cparams;
  storage.contiguous = contiguous;
  storage.urlpath = path;
  schunk = blosc2_schunk_new(&storage);
  for (n = 0; schunk != NULL && n < CHUNKS; n++) {
    for (i = 0; i < ITEMS; i++) {
      items[i] = first + n * ITEMS + i;
    }
    CHECK_IS(blosc2_schunk_append_buffer(schunk, items, sizeof items), n + 1);
  }
  return schunk;
}

/* Whether a super-chunk of `create` has the expected items. */
static bool is_right(blosc2_schunk *schunk, int32_t first) {
  int i;
  if (blosc2_schunk_get_slice_buffer(schunk, 0, CHUNKS * ITEMS, back) != 0) {
    return false;
  }
  for (i = 0; i < CHUNKS * ITEMS; i++) {
    if (back[i] != first + i) {
      return false;
    }
  }
  return true;
}

static void handles_need_no_descriptors_between_calls(bool contiguous) {
  struct rlimit limit;
  blosc2_schunk *schunks[HANDLES];
  char paths[HANDLES][32];
  int i, turn;

  CHECK_IS(getrlimit(RLIMIT_NOFILE, &limit), 0);
  for (i = 0; i < HANDLES; i++) {
    /* The first reader determines how many files readers keep open: the limit is lowered after
     * it. */
    if (i == 1) {
      struct rlimit low = {DESCRIPTORS, limit.rlim_max};
      CHECK_IS(setrlimit(RLIMIT_NOFILE, &low), 0);
    }
    snprintf(paths[i], sizeof paths[i], "descriptors-%d", i);
    blosc2_remove_urlpath(paths[i]);
    schunks[i] = create(paths[i], contiguous, i);
    CHECK(schunks[i] != NULL && is_right(schunks[i], i));
  }
  for (turn = 0; turn < 2; turn++) {
    for (i = 0; i < HANDLES; i++) {
      CHECK(schunks[i] != NULL && is_right(schunks[i], i));
    }
  }
  for (i = 0; i < HANDLES; i++) {
    blosc2_schunk_free(schunks[i]);
    CHECK_IS(blosc2_remove_urlpath(paths[i]), 0);
  }
  CHECK_IS(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void a_replaced_path_is_read_again(bool contiguous) {
  char path[] = "replaced";
  blosc2_schunk *schunk, *other;
  pid_t child;

  blosc2_remove_urlpath(path);
  schunk = create(path, contiguous, 0);
  CHECK(schunk != NULL && is_right(schunk, 0));
  child = fork();
  if (child == 0) {
    blosc2_remove_urlpath(path);
    other = create(path, contiguous, 5000);
    blosc2_schunk_free(other);
    _exit(other == NULL);
  }
  CHECK(child > 0 && waitpid(child, NULL, 0) == child);
  CHECK(schunk != NULL && is_right(schunk, 5000));
  /* A change through the old handle goes to the new super-chunk. */
  CHECK_IS(blosc2_schunk_append_buffer(schunk, items, sizeof items), CHUNKS + 1);
  other = blosc2_schunk_open(path);
  CHECK(other != NULL && other->nchunks == CHUNKS + 1 && is_right(other, 5000));
  blosc2_schunk_free(other);
  blosc2_schunk_free(schunk);
  CHECK_IS(blosc2_remove_urlpath(path), 0);
}

int main(void) {
  int contiguous;
  blosc2_init();
  for (contiguous = 0; contiguous < 2; contiguous++) {
    handles_need_no_descriptors_between_calls(contiguous != 0);
    a_replaced_path_is_read_again(contiguous != 0);
  }
  blosc2_destroy();
  return checks_failed();
}
