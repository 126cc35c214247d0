/*
 * Plugin libraries: plugins codec|filter|tuner|super-chunk ID CODE. Uses the plugin with this
 * id, which is registered by name ("mine") if the id is in the user's range, and expects the
 * code (0 for success).
 */

#include "check.h"
#include <blosc2.h>
#include <string.h>

enum { HALF = 5000, SIZE = 2 * HALF, CAPACITY = SIZE + BLOSC2_MAX_OVERHEAD, FIRST_USER_ID = 160 };

static uint8_t data[SIZE], chunk[CAPACITY], back[SIZE];

/* Compresses, decompresses, and reads an item with new contexts; returns 0 or the first error. */
static int round_trip(blosc2_cparams cparams) {
  blosc2_context *cctx, *dctx;
  int size;
  cparams.typesize = 1;
  cparams.blocksize = SIZE;
  cctx = blosc2_create_cctx(cparams);
  if (cctx == NULL) {
    return BLOSC2_ERROR_FAILURE;
  }
  size = blosc2_compress_ctx(cctx, data, SIZE, chunk, CAPACITY);
  blosc2_free_ctx(cctx);
  if (size <= 0) {
    return size;
  }
  CHECK(size < SIZE);
  dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  CHECK_IS(blosc2_decompress_ctx(dctx, chunk, size, back, SIZE), SIZE);
  CHECK(memcmp(back, data, SIZE) == 0);
  blosc2_free_ctx(dctx);
  CHECK_IS(blosc2_getitem(chunk, size, 7, 1, back, 1), 1);
  CHECK_IS(back[0], data[7]);
  return 0;
}

static void codec(int id, int expected) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_codec user = {(uint8_t)id, (char *)"mine", (uint8_t)id, 1, NULL, NULL};
  if (id >= FIRST_USER_ID) {
    CHECK_IS(blosc2_register_codec(&user), 0);
  }
  cparams.compcode = (uint8_t)id;
  CHECK_IS(round_trip(cparams), expected);
}

static void filter(int id, int expected) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_filter user = {(uint8_t)id, (char *)"mine", 1, NULL, NULL};
  CHECK_IS(blosc2_register_filter(&user), 0);
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = (uint8_t)id;
  cparams.filters_meta[BLOSC2_MAX_FILTERS - 1] = 7;
  CHECK_IS(round_trip(cparams), expected);
}

static void tuner(int id, int expected) {
  static int config;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_tuner user = {NULL, NULL, NULL, NULL, NULL, 0, (char *)"mine"};
  user.id = id;
  if (id >= FIRST_USER_ID) {
    CHECK_IS(blosc2_register_tuner(&user), 0);
  }
  cparams.tuner_id = id;
  CHECK_IS(round_trip(cparams), BLOSC2_ERROR_FAILURE);
  cparams.tuner_params = &config;
  CHECK_IS(round_trip(cparams), expected);
}

static void super_chunk(int expected) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  CHECK_IS(schunk == NULL ? BLOSC2_ERROR_FAILURE : 0, expected);
  if (schunk != NULL) {
    blosc2_schunk_free(schunk);
  }
}

int main(int argc, char **argv) {
  const char *kind = argc == 4 ? argv[1] : "";
  int id = argc == 4 ? atoi(argv[2]) : 0, expected = argc == 4 ? atoi(argv[3]) : 0;
  fill_with_data(data, HALF);
  memcpy(data + HALF, data, HALF);
  if (strcmp(kind, "codec") == 0) {
    codec(id, expected);
  } else if (strcmp(kind, "filter") == 0) {
    filter(id, expected);
  } else if (strcmp(kind, "tuner") == 0) {
    tuner(id, expected);
  } else if (strcmp(kind, "super-chunk") == 0) {
    super_chunk(expected);
  } else {
    CHECK(!"a known kind of plugin");
  }
  return checks_failed();
}
