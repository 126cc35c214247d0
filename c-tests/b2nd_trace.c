/*
 * Random calls on arrays with output on stdout. With the same seed, two libraries must print
 * the same and write the same files.
 *
 *   b2nd_trace write DIRECTORY SEED    creates arrays in DIRECTORY, changes them and reads them
 *   b2nd_trace read DIRECTORY SEED     reads arrays that another run created with this seed
 */

#include <b2nd.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60, MOST = 1 << 20 };

static uint64_t state;

static int below(int end) {
  state = state * UINT64_C(0x5851F42D4C957F2D) + UINT64_C(0x14057B7EF767814F);
  return (int)((state >> 33) % (uint64_t)end);
}

static uint64_t digest(const void *bytes, int64_t len) {
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  int64_t i;
  for (i = 0; i < len; i++) {
    hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001B3);
  }
  return hash;
}

static uint8_t *items, *found;

static void draw_items(int64_t len) {
  int64_t i;
  for (i = 0; i < len; i++) {
    items[i] = (uint8_t)below(50);
  }
}

static void print_result(const char *what, int code, int64_t len) {
  printf("%s %d %016" PRIx64 "\n", what, code, digest(found, len));
}

static void print_items(const char *what, b2nd_array_t *array) {
  int64_t len = array->nitems * array->sc->typesize;
  int code;
  memset(found, 0, (size_t)len);
  code = b2nd_to_cbuffer(array, found, len);
  print_result(what, code, len);
}

static void slices(b2nd_array_t *array) {
  int n, dim;
  for (n = 0; n < 3; n++) {
    int64_t start[16], stop[16], shape[16], len = array->sc->typesize;
    for (dim = 0; dim < array->ndim; dim++) {
      int extent = (int)array->shape[dim];
      start[dim] = extent > 0 ? below(extent) : 0;
      stop[dim] = extent > 0 ? start[dim] + 1 + below(extent - (int)start[dim]) : 0;
      shape[dim] = stop[dim] - start[dim];
      len *= shape[dim];
    }
    print_result("get", b2nd_get_slice_cbuffer(array, start, stop, found, shape, len), len);
    draw_items(len);
    printf("set %d\n", b2nd_set_slice_cbuffer(items, shape, len, start, stop, array));
  }
}

static void selections(b2nd_array_t *array) {
  int64_t coords[5], lists[16][3], sizes[16], *selection[16], len = array->sc->typesize;
  int n, dim;
  if (array->ndim == 0 || array->nitems == 0) {
    return;
  }
  for (n = 0; n < 5; n++) {
    coords[n] = below((int)array->nitems);
  }
  n = b2nd_get_sparse_cbuffer(array, 5, coords, found, 5 * len);
  print_result("sparse", n, 5 * len);
  for (dim = 0; dim < array->ndim; dim++) {
    sizes[dim] = 1 + below(3);
    selection[dim] = lists[dim];
    len *= sizes[dim];
    for (n = 0; n < 3; n++) {
      lists[dim][n] = below((int)array->shape[dim]);
    }
  }
  n = b2nd_get_orthogonal_selection(array, selection, sizes, found, sizes, len);
  print_result("orthogonal", n, len);
  draw_items(len);
  printf("set %d\n", b2nd_set_orthogonal_selection(array, selection, sizes, items, sizes, len));
}

static void resizes(b2nd_array_t *array) {
  int64_t shape[16];
  int dim, axis;
  for (dim = 0; dim < array->ndim; dim++) {
    shape[dim] = array->shape[dim] + below(7) - 3;
    shape[dim] = shape[dim] < 1 ? 1 : shape[dim];
  }
  printf("resize %d\n", b2nd_resize(array, shape, NULL));
  print_items("resized", array);
  if (array->ndim > 0) {
    int64_t len = array->sc->typesize;
    axis = below(array->ndim);
    for (dim = 0; dim < array->ndim; dim++) {
      len *= dim == axis ? 2 : array->shape[dim];
    }
    draw_items(len);
    /* C-Blosc2 would treat these items as a chunk. */
    if (len != array->sc->chunksize) {
      printf("append %d\n", b2nd_append(array, items, len, (int8_t)axis));
      print_items("appended", array);
    }
    printf("delete %d\n", b2nd_delete(array, (int8_t)axis, array->shape[axis] - 1, 1));
  }
}

/* Inserts whole chunks of zeros at the end or between chunks, and deletes some. */
static void whole_chunks(b2nd_array_t *array) {
  int n, dim;
  if (array->ndim == 0) {
    return;
  }
  for (n = 0; n < 4; n++) {
    int64_t shape[16], start[16];
    int axis = below(array->ndim);
    int chunk = array->chunkshape[axis], chunks = (int)(array->shape[axis] / chunk);
    for (dim = 0; dim < array->ndim; dim++) {
      shape[dim] = start[dim] = array->shape[dim];
    }
    start[axis] = (int64_t)chunk * below(chunks + 1);
    if (n % 2 == 0) {
      shape[axis] += (int64_t)chunk * (1 + below(2));
      printf("insert %d\n", b2nd_resize(array, shape, start));
    } else if (start[axis] + chunk <= array->shape[axis]) {
      printf("delete %d\n", b2nd_delete(array, (int8_t)axis, start[axis], chunk));
    }
    printf("%" PRId64 " chunks\n", array->sc->nchunks);
    print_items("then", array);
  }
}

/* Draws a shape, its partitions and an item size; returns the number of dimensions. */
static int8_t draw(int64_t *shape, int32_t *chunks, int32_t *blocks, int32_t *typesize) {
  static const int most[] = {1, 60, 20, 10, 6, 4, 3};
  static const int32_t sizes[] = {1, 2, 4, 8, 12, 16};
  int8_t ndim = (int8_t)below(7), dim;
  for (dim = 0; dim < ndim; dim++) {
    shape[dim] = 1 + below(most[ndim]);
    chunks[dim] = 1 + below((int)shape[dim] + 1);
    blocks[dim] = 1 + below(chunks[dim]);
  }
  *typesize = sizes[below(6)];
  return ndim;
}

static void write_round(const char *folder, int round) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  int64_t shape[16], len;
  int32_t chunks[16], blocks[16];
  char path[1024];
  b2nd_context_t *ctx;
  b2nd_array_t *array, *copy;
  int8_t ndim = draw(shape, chunks, blocks, &cparams.typesize);
  int dim;

  cparams.clevel = (uint8_t)(5 * below(2));
  /* Rarely, because the reference starts threads in each call. */
  cparams.nthreads = (int16_t)(below(8) == 0 ? 2 : 1);
  dparams.nthreads = (int16_t)(below(8) == 0 ? 2 : 1);
  storage.cparams = &cparams;
  storage.dparams = &dparams;
  storage.contiguous = round % 2 == 1;
  sprintf(path, "%s/%d.b2nd", folder, round);
  storage.urlpath = round % 4 < 2 ? path : NULL;
  ctx = b2nd_create_ctx(&storage, ndim, shape, chunks, blocks, "|V", 0, NULL, 0);
  len = cparams.typesize;
  for (dim = 0; dim < ndim; dim++) {
    len *= shape[dim];
  }
  draw_items(len);
  if (below(4) == 0) {
    printf("full %d\n", b2nd_full(ctx, &array, items));
  } else {
    printf("new %d\n", b2nd_from_cbuffer(ctx, &array, items, len));
  }
  b2nd_free_ctx(ctx);
  print_items("all", array);
  slices(array);
  selections(array);
  resizes(array);
  whole_chunks(array);
  slices(array);
  print_items("all", array);
  if (storage.urlpath == NULL) {
    printf("save %d\n", b2nd_save(array, path));
  }
  for (dim = 0; dim < ndim; dim++) {
    chunks[dim] = 1 + chunks[dim] / 2;
    blocks[dim] = 1 + chunks[dim] / 3;
  }
  storage.urlpath = NULL;
  ctx = b2nd_create_ctx(&storage, ndim, shape, chunks, blocks, "|V", 0, NULL, 0);
  printf("copy %d\n", b2nd_copy(ctx, array, &copy));
  print_items("copied", copy);
  b2nd_free(copy);
  b2nd_free_ctx(ctx);
  /* C-Blosc2 concatenates arrays of different blocks incorrectly. */
  ctx = b2nd_create_ctx(&storage, ndim, shape, array->chunkshape, array->blockshape, "|V", 0, NULL, 0);
  printf("copy %d\n", b2nd_copy(ctx, array, &copy));
  if (ndim > 0) {
    printf("concatenate %d\n", b2nd_concatenate(NULL, copy, array, (int8_t)below(ndim), false, &copy));
    print_items("both", copy);
  }
  b2nd_free_ctx(ctx);
  b2nd_free(copy);
  b2nd_free(array);
}

static void read_round(const char *folder, int round) {
  char path[1024];
  b2nd_array_t *array;
  sprintf(path, "%s/%d.b2nd", folder, round);
  printf("open %d\n", b2nd_open(path, &array));
  print_items("all", array);
  selections(array);
  resizes(array);
  whole_chunks(array);
  slices(array);
  print_items("all", array);
  b2nd_free(array);
}

int main(int argc, char **argv) {
  int round;
  if (argc != 4) {
    return EXIT_FAILURE;
  }
  items = (uint8_t *)calloc(MOST, 1);
  found = (uint8_t *)calloc(MOST, 1);
  blosc2_init();
  for (round = 0; round < ROUNDS; round++) {
    state = strtoull(argv[3], NULL, 10) * 1000 + (uint64_t)round;
    below(2);
    printf("round %d\n", round);
    fflush(stdout);
    if (strcmp(argv[1], "write") == 0) {
      write_round(argv[2], round);
    } else {
      read_round(argv[2], round);
    }
  }
  blosc2_destroy();
  free(items);
  free(found);
  return EXIT_SUCCESS;
}
