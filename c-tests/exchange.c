/*
 * Frames and an array that one library writes and another one reads and changes: all codecs and
 * filters without parameters, in files and directories, with metalayers. "write" creates them in
 * the working directory, "read" verifies them and appends a chunk to each, and "reread" verifies
 * the result. The program works with the headers of C-Blosc2, too.
 */

#include "check.h"
#include <b2nd.h>
#include <string.h>

#define ITEMS 30000

static int32_t items[ITEMS], found[ITEMS];

static void fill(int chunk) {
  int i;
  for (i = 0; i < ITEMS; i++) {
    items[i] = i / 7 * (chunk + 1) - i % 5;
  }
}

static int holds(blosc2_schunk *schunk, int chunk) {
  fill(chunk);
  memset(found, 0, sizeof found);
  return blosc2_schunk_decompress_chunk(schunk, chunk, found, sizeof found) == (int)sizeof found &&
         memcmp(items, found, sizeof found) == 0;
}

static int append(blosc2_schunk *schunk, int chunk) {
  fill(chunk);
  return (int)blosc2_schunk_append_buffer(schunk, items, sizeof items);
}

static void frame(const char *mode, int codec, int filter, int contiguous) {
  char path[100];
  int32_t size = 0;
  uint8_t *content = NULL;
  blosc2_schunk *schunk;
  int i;

  snprintf(path, sizeof path, "%d-%d-%d", codec, filter, contiguous);
  if (strcmp(mode, "write") == 0) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    cparams.typesize = 4;
    cparams.compcode = (uint8_t)codec;
    cparams.filters[BLOSC2_MAX_FILTERS - 1] = (uint8_t)filter;
    cparams.nthreads = 2;
    storage.contiguous = contiguous != 0;
    storage.urlpath = path;
    storage.cparams = &cparams;
    schunk = blosc2_schunk_new(&storage);
    CHECK(schunk != NULL);
    if (schunk == NULL) {
      return;
    }
    CHECK_IS(append(schunk, 0), 1);
    CHECK_IS(append(schunk, 1), 2);
    CHECK(blosc2_vlmeta_add(schunk, "name", (uint8_t *)"value", 5, NULL) >= 0);
  } else {
    schunk = blosc2_schunk_open(path);
    CHECK(schunk != NULL);
    if (schunk == NULL) {
      return;
    }
    CHECK_IS(schunk->nchunks, strcmp(mode, "read") == 0 ? 2 : 3);
    for (i = 0; i < schunk->nchunks; i++) {
      CHECK(holds(schunk, i));
    }
    CHECK(blosc2_vlmeta_get(schunk, "name", &content, &size) >= 0 && size == 5 &&
          memcmp(content, "value", 5) == 0);
    free(content);
    if (strcmp(mode, "read") == 0) {
      CHECK_IS(append(schunk, 2), 3);
    }
  }
  CHECK_IS(blosc2_schunk_free(schunk), 0);
}

static void array(const char *mode) {
  int64_t shape[2] = {100, 150};
  int64_t size = 100 * 150 * 4;
  b2nd_array_t *array = NULL;

  fill(0);
  if (strcmp(mode, "write") == 0) {
    int32_t chunkshape[2] = {40, 70}, blockshape[2] = {9, 13};
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    b2nd_context_t *context;
    cparams.typesize = 4;
    storage.cparams = &cparams;
    storage.contiguous = true;
    storage.urlpath = "array.b2nd";
    context = b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, "<i4", 0, NULL, 0);
    CHECK(context != NULL);
    CHECK_IS(b2nd_from_cbuffer(context, &array, items, size), 0);
    CHECK_IS(b2nd_free_ctx(context), 0);
  } else {
    CHECK_IS(b2nd_open("array.b2nd", &array), 0);
    CHECK(array != NULL && array->ndim == 2 && strcmp(array->dtype, "<i4") == 0);
    CHECK_IS(b2nd_to_cbuffer(array, found, size), 0);
    CHECK(memcmp(items, found, (size_t)size) == 0);
  }
  CHECK_IS(b2nd_free(array), 0);
}

int main(int argc, char **argv) {
  static const int codecs[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
  static const int filters[] = {BLOSC_NOFILTER, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE};
  unsigned codec, filter;
  int contiguous;

  if (argc != 2) {
    return 2;
  }
  blosc2_init();
  for (codec = 0; codec < 5; codec++) {
    for (filter = 0; filter < 3; filter++) {
      for (contiguous = 0; contiguous < 2; contiguous++) {
        frame(argv[1], codecs[codec], filters[filter], contiguous);
      }
    }
  }
  array(argv[1]);
  blosc2_destroy();
  return checks_failed();
}
