/*
 * Functions for the C tests of arrays: the example array, 5 by 7 bytes numbered from 1, in
 * chunks of 4 by 4 and blocks of 2 by 2, in each of the four storages.
 */

#ifndef ARRAYS_H
#define ARRAYS_H

#include "check.h"
#include <b2nd.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { ITEMS = 35, STORAGES = 4 };

static const int64_t shape57[] = {5, 7};
static const int32_t chunks44[] = {4, 4};
static const int32_t blocks22[] = {2, 2};
static const int64_t origin[16];

static char folder[] = P_tmpdir "/ferroblosc-arrays-XXXXXX";
static int paths;

/* Returns the path of a new object: no file exists there. */
static inline char *new_path(void) {
  static char path[sizeof folder + 32];
  sprintf(path, "%s/%d", folder, paths++);
  return path;
}

/* Returns the path that new_path() returned last. */
static inline char *last_path(void) {
  static char path[sizeof folder + 32];
  sprintf(path, "%s/%d", folder, paths - 1);
  return path;
}

/* Returns a context for arrays of these shapes; storage is an index below STORAGES: sparse or as a
 * frame in memory, in a directory, or in a file. */
static inline b2nd_context_t *context_in(int storage, int32_t typesize, int8_t ndim, const int64_t *shape,
                                         const int32_t *chunks, const int32_t *blocks) {
  static char path[sizeof folder + 32];
  static blosc2_cparams cparams;
  blosc2_storage where = BLOSC2_STORAGE_DEFAULTS;

  cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = typesize;
  where.cparams = &cparams;
  where.contiguous = storage % 2 == 1;
  if (storage >= 2) {
    strcpy(path, new_path());
    where.urlpath = path;
  }
  return b2nd_create_ctx(&where, ndim, shape, chunks, blocks, NULL, 0, NULL, 0);
}

/* Creates the example array. */
static inline b2nd_array_t *example(int storage) {
  b2nd_context_t *ctx = context_in(storage, 1, 2, shape57, chunks44, blocks22);
  b2nd_array_t *array = NULL;
  uint8_t items[ITEMS];
  int i;

  for (i = 0; i < ITEMS; i++) {
    items[i] = (uint8_t)(i + 1);
  }
  CHECK(ctx != NULL);
  CHECK_IS(b2nd_from_cbuffer(ctx, &array, items, ITEMS), 0);
  CHECK_IS(b2nd_free_ctx(ctx), 0);
  return array;
}

/* Whether an array of bytes has this shape and these items. */
static inline bool is(b2nd_array_t *array, int8_t ndim, const int64_t *shape, const uint8_t *items) {
  uint8_t found[4096];
  int i;

  if (array->ndim != ndim || memcmp(array->shape, shape, (size_t)ndim * sizeof *shape) != 0) {
    return false;
  }
  memset(found, 0xEE, sizeof found);
  if (b2nd_to_cbuffer(array, found, array->nitems) != 0) {
    return false;
  }
  for (i = 0; i < array->nitems; i++) {
    if (found[i] != items[i]) {
      printf("item %d is %d, not %d\n", i, found[i], items[i]);
      return false;
    }
  }
  return true;
}

static inline void begin(void) {
  blosc2_init();
  CHECK(mkdtemp(folder) != NULL);
}

static inline int end(void) {
  int i;
  char path[sizeof folder + 32];

  for (i = 0; i < paths; i++) {
    sprintf(path, "%s/%d", folder, i);
    blosc2_remove_urlpath(path);
  }
  CHECK_IS(rmdir(folder), 0);
  blosc2_destroy();
  return checks_failed();
}

#endif /* ARRAYS_H */
