/*
 * Arrays compressed with the library's plugins, in frames on disk. The output on stdout must
 * be equal for two libraries, and each must read the other's arrays.
 *
 *   b2nd_plugins write DIRECTORY    creates the arrays in DIRECTORY and reads them
 *   b2nd_plugins read DIRECTORY     reads arrays that another run created
 */

#include <b2nd.h>
#include <blosc2/codecs-registry.h>
#include <blosc2/filters-registry.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20, MAX_DIM = 4 };

typedef struct {
  const char *name;
  const char *dtype;
  int32_t typesize;
  int8_t ndim;
  int64_t shape[MAX_DIM];
  int32_t chunkshape[MAX_DIM];
  int32_t blockshape[MAX_DIM];
  uint8_t codec, codec_meta;
  /* The last two filters. */
  uint8_t filters[2], filters_meta[2];
  /* Whether the filters are lossy. */
  int lossy;
} test_case;

#define PLANE {97, 61}, {40, 32}, {20, 17}
#define CUBE {19, 23, 30}, {10, 12, 16}, {5, 6, 8}
#define LINE {5003}, {1200}, {301}
#define FOUR {9, 10, 7, 11}, {8, 6, 7, 8}, {4, 5, 4, 6}

static const test_case cases[] = {
  {"ndlz4", "|u1", 1, 2, PLANE, BLOSC_CODEC_NDLZ, 4, {0, 0}, {0, 0}, 0},
  {"ndlz8", "|u1", 1, 2, PLANE, BLOSC_CODEC_NDLZ, 8, {0, 0}, {0, 0}, 0},
  {"accuracy", "<f4", 4, 2, PLANE, BLOSC_CODEC_ZFP_FIXED_ACCURACY, (uint8_t)-3, {0, 0}, {0, 0}, 1},
  {"accuracy3", "<f8", 8, 3, CUBE, BLOSC_CODEC_ZFP_FIXED_ACCURACY, (uint8_t)-2, {0, 0}, {0, 0}, 1},
  {"precision", "<f8", 8, 1, LINE, BLOSC_CODEC_ZFP_FIXED_PRECISION, 20, {0, 0}, {0, 0}, 1},
  {"precision4", "<f4", 4, 4, FOUR, BLOSC_CODEC_ZFP_FIXED_PRECISION, 12, {0, 0}, {0, 0}, 1},
  {"rate", "<f4", 4, 2, PLANE, BLOSC_CODEC_ZFP_FIXED_RATE, 40, {0, 0}, {0, 0}, 1},
  {"rate3", "<f8", 8, 3, CUBE, BLOSC_CODEC_ZFP_FIXED_RATE, 25, {0, 0}, {0, 0}, 1},
  {"rate4", "<f8", 8, 4, FOUR, BLOSC_CODEC_ZFP_FIXED_RATE, 37, {0, 0}, {0, 0}, 1},
  {"ndcell", "<i4", 4, 2, PLANE, BLOSC_LZ4, 0, {0, BLOSC_FILTER_NDCELL}, {0, 4}, 0},
  {"ndcell3", "<i2", 2, 3, CUBE, BLOSC_ZSTD, 0, {BLOSC_FILTER_NDCELL, BLOSC_SHUFFLE}, {3, 0}, 0},
  {"ndmean", "<f4", 4, 2, PLANE, BLOSC_LZ4, 0, {0, BLOSC_FILTER_NDMEAN}, {0, 4}, 1},
  {"ndmean3", "<f8", 8, 3, CUBE, BLOSC_BLOSCLZ, 0, {0, BLOSC_FILTER_NDMEAN}, {0, 3}, 1},
  {"bytedelta", "<i4", 4, 2, PLANE, BLOSC_ZSTD, 0, {BLOSC_SHUFFLE, BLOSC_FILTER_BYTEDELTA}, {0, 0}, 0},
  {"bytedelta8", "<i8", 8, 1, LINE, BLOSC_LZ4, 0, {BLOSC_SHUFFLE, BLOSC_FILTER_BYTEDELTA}, {0, 0}, 0},
  {"int_trunc", "<i4", 4, 3, CUBE, BLOSC_ZSTD, 0, {BLOSC_FILTER_INT_TRUNC, BLOSC_SHUFFLE}, {29, 0}, 1},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static uint8_t *items, *found;

static uint64_t digest(const uint8_t *bytes, int64_t len) {
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  int64_t i;
  for (i = 0; i < len; i++) {
    hash = (hash ^ bytes[i]) * UINT64_C(0x100000001B3);
  }
  return hash;
}

/* Generates floats on a curve, or integers that vary little along a row. Returns the size in
 * bytes. */
static int64_t make_items(const test_case *c) {
  int64_t i, count = 1;
  int dim;
  for (dim = 0; dim < c->ndim; dim++) {
    count *= c->shape[dim];
  }
  for (i = 0; i < count; i++) {
    uint8_t *item = items + i * c->typesize;
    double curve = 100 * sin((double)i * 0.01) + (double)(i % c->shape[c->ndim - 1]);
    int64_t whole = (i / 50) % 7 * 3 + 20;
    if (c->dtype[1] != 'f') {
      memcpy(item, &whole, (size_t)c->typesize);
    } else if (c->typesize == 4) {
      float single = (float)curve;
      memcpy(item, &single, sizeof(single));
    } else {
      memcpy(item, &curve, sizeof(curve));
    }
  }
  return count * c->typesize;
}

static int write_array(const test_case *c, const char *path, bool contiguous, int64_t len) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = (char *)path, .cparams = &cparams, .dparams = &dparams};
  b2nd_context_t *ctx;
  b2nd_array_t *array = NULL;
  int code, n;
  cparams.typesize = c->typesize;
  cparams.compcode = c->codec;
  cparams.compcode_meta = c->codec_meta;
  cparams.splitmode = BLOSC_NEVER_SPLIT;
  memset(cparams.filters, 0, sizeof(cparams.filters));
  for (n = 0; n < 2; n++) {
    cparams.filters[BLOSC2_MAX_FILTERS - 2 + n] = c->filters[n];
    cparams.filters_meta[BLOSC2_MAX_FILTERS - 2 + n] = c->filters_meta[n];
  }
  ctx = b2nd_create_ctx(&storage, c->ndim, c->shape, c->chunkshape, c->blockshape, c->dtype, 0, NULL, 0);
  code = b2nd_from_cbuffer(ctx, &array, items, len);
  b2nd_free_ctx(ctx);
  if (code == 0) {
    b2nd_free(array);
  }
  return code;
}

/* Returns the number of errors. */
static int read_array(const test_case *c, const char *path, const char *kind, int64_t len) {
  b2nd_array_t *array = NULL;
  int complaints = 0, dim, part;
  int code = b2nd_open(path, &array);
  printf("%s %s open %d\n", c->name, kind, code);
  if (code != 0) {
    return 1;
  }
  memset(found, 0, MOST);
  code = b2nd_to_cbuffer(array, found, len);
  printf("%s %s all %d %016" PRIx64 "\n", c->name, kind, code, digest(found, len));
  if (code != 0 || (!c->lossy && memcmp(found, items, (size_t)len) != 0)) {
    printf("%s %s differs from the written data\n", c->name, kind);
    complaints++;
  }
  for (part = 1; part < 4; part++) {
    int64_t start[MAX_DIM], stop[MAX_DIM], shape[MAX_DIM], size = c->typesize;
    for (dim = 0; dim < c->ndim; dim++) {
      start[dim] = c->shape[dim] * part / 5;
      stop[dim] = part == 3 ? start[dim] + 1 : start[dim] + c->shape[dim] / 3;
      shape[dim] = stop[dim] - start[dim];
      size *= shape[dim];
    }
    memset(found, 0, MOST);
    code = b2nd_get_slice_cbuffer(array, start, stop, found, shape, size);
    printf("%s %s part %d %016" PRIx64 "\n", c->name, kind, code, digest(found, size));
    complaints += code != 0;
  }
  b2nd_free(array);
  return complaints;
}

int main(int argc, char **argv) {
  int n, kind, complaints = 0;
  if (argc != 3) {
    return 2;
  }
  items = calloc(1, MOST);
  found = calloc(1, MOST);
  blosc2_init();
  for (n = 0; n < CASES; n++) {
    int64_t len = make_items(&cases[n]);
    for (kind = 0; kind < 2; kind++) {
      const char *name = kind == 0 ? "cframe" : "sframe";
      char path[4096];
      snprintf(path, sizeof(path), "%s/%s.%s", argv[2], cases[n].name, name);
      if (strcmp(argv[1], "write") == 0) {
        int code = write_array(&cases[n], path, kind == 0, len);
        printf("%s %s write %d\n", cases[n].name, name, code);
        complaints += code != 0;
      }
      complaints += read_array(&cases[n], path, name, len);
    }
  }
  blosc2_destroy();
  free(found);
  free(items);
  return complaints != 0;
}
