/*
 * A context that repeats its work allocates no memory.
 *
 * This program replaces malloc and related functions in the whole process to count allocations.
 * With one thread, the calls after the first two must not allocate. With two threads, the
 * scheduler determines how soon both have allocated their buffers: eventually, many consecutive
 * calls must not allocate.
 */

#include <blosc2.h>
#include <blosc2/filters-registry.h>
#include <errno.h>
#include <string.h>

#include "check.h"

#define SIZE (256 * 1024)
#define BLOCK (32 * 1024)
#define WARM 2
#define MEASURED 3
/* With two threads: the required number of consecutive rounds without allocations, and the limit
 * of rounds. */
#define QUIET 20
#define PATIENCE 2000
#define ITEMS 100

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void *memalign(size_t alignment, size_t size);

static long allocations;

static void count(void) { __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED); }

static long counted(void) { return __atomic_load_n(&allocations, __ATOMIC_RELAXED); }

void *malloc(size_t size) {
  count();
  return __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
  count();
  return __libc_calloc(n, size);
}

void *realloc(void *memory, size_t size) {
  count();
  return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  count();
  *memory = __libc_memalign(alignment, size);
  return *memory == NULL ? ENOMEM : 0;
}

/* Calls through this pointer cannot be removed by the compiler. */
static void *(*volatile allocate)(size_t) = malloc;

/* A filter pipeline: its last two filters and their parameters. */
struct pipeline {
  const char *name;
  uint8_t filters[2];
  uint8_t metas[2];
};

static const struct pipeline pipelines[] = {
    {"no filter", {BLOSC_NOFILTER, BLOSC_NOFILTER}, {0, 0}},
    {"shuffle", {BLOSC_NOFILTER, BLOSC_SHUFFLE}, {0, 0}},
    {"bitshuffle", {BLOSC_NOFILTER, BLOSC_BITSHUFFLE}, {0, 0}},
    {"delta, shuffle", {BLOSC_DELTA, BLOSC_SHUFFLE}, {0, 0}},
    {"trunc_prec, shuffle", {BLOSC_TRUNC_PREC, BLOSC_SHUFFLE}, {10, 0}},
    {"int_trunc, bitshuffle", {BLOSC_FILTER_INT_TRUNC, BLOSC_BITSHUFFLE}, {20, 0}},
    {"shuffle, bytedelta", {BLOSC_SHUFFLE, BLOSC_FILTER_BYTEDELTA}, {0, 4}},
};

static const uint8_t codecs[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};

static uint8_t data[SIZE], chunk[SIZE + BLOSC2_MAX_OVERHEAD], back[SIZE];

/* Compresses, decompresses and gets items. */
static void work(blosc2_context *compressor, blosc2_context *decompressor) {
  int size = blosc2_compress_ctx(compressor, data, SIZE, chunk, (int32_t)sizeof chunk);

  CHECK(size > 0);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE), SIZE);
  CHECK_IS(blosc2_getitem_ctx(decompressor, chunk, size, SIZE / 8, ITEMS, back, SIZE), 4 * ITEMS);
}

/* Returns the number of allocations of another round. */
static long round_of(blosc2_context *compressor, blosc2_context *decompressor) {
  long before = counted();

  work(compressor, decompressor);
  return counted() - before;
}

/* Checks that two contexts with this number of threads stop allocating. */
static void becomes_quiet(uint8_t codec, uint8_t level, const struct pipeline *pipeline, int16_t threads) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor;
  long made = 0;
  int i, quiet = 0;

  cparams.compcode = codec;
  cparams.clevel = level;
  cparams.typesize = 4;
  cparams.blocksize = BLOCK;
  cparams.nthreads = threads;
  dparams.nthreads = threads;
  memcpy(cparams.filters + 4, pipeline->filters, 2);
  memcpy(cparams.filters_meta + 4, pipeline->metas, 2);
  compressor = blosc2_create_cctx(cparams);
  decompressor = blosc2_create_dctx(dparams);
  for (i = 0; i < WARM; i++) {
    work(compressor, decompressor);
  }
  if (threads == 1) {
    for (i = 0; i < MEASURED; i++) {
      made += round_of(compressor, decompressor);
    }
  } else {
    for (i = 0; i < PATIENCE && quiet < QUIET; i++) {
      made = round_of(compressor, decompressor);
      quiet = made == 0 ? quiet + 1 : 0;
    }
    made = quiet == QUIET ? 0 : made;
    CHECK_IS(quiet, QUIET);
  }
  if (made != 0) {
    printf("codec %d, level %d, %s, %d threads: %ld allocations\n", codec, level, pipeline->name, threads, made);
    CHECK_IS(made, 0);
  }
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
}

/* The second half is noise of 32 values, which Zlib encodes with a separate encoder. */
static void fill(void) {
  uint32_t noise = 1;
  size_t i;

  fill_with_data(data, SIZE / 2);
  for (i = SIZE / 2; i < SIZE; i++) {
    noise = noise * 1664525u + 1013904223u;
    data[i] = (uint8_t)(noise >> 27);
  }
}

int main(void) {
  size_t i, j;
  uint8_t level;
  long before;

  blosc2_init();
  fill();
  before = counted();
  free(allocate(1));
  CHECK_IS(counted() - before, 1);
  for (i = 0; i < sizeof codecs; i++) {
    for (j = 0; j < sizeof pipelines / sizeof *pipelines; j++) {
      for (level = 1; level <= 9; level += 4) {
        becomes_quiet(codecs[i], level, &pipelines[j], 1);
      }
      becomes_quiet(codecs[i], 5, &pipelines[j], 2);
    }
  }
  blosc2_destroy();
  return checks_failed();
}
