/*
 * Compresses with several threads, in two ways.
 *
 *   cc contexts_threads.c -o contexts_threads -pthread $(pkg-config --cflags --libs blosc2)
 *
 * A context holds parameters and working memory. Create it once and use it for many calls. A
 * context serves one call at a time.
 */

#include <assert.h>
#include <blosc2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 1000 * 1000, SIZE = ITEMS * (int)sizeof(double), ROOM = SIZE + BLOSC2_MAX_OVERHEAD };
enum { THREADS = 4, QUARTER = SIZE / THREADS };

static double data[ITEMS], restored[ITEMS];
static uint8_t first[ROOM], chunk[ROOM], chunks[THREADS][QUARTER + BLOSC2_MAX_OVERHEAD];

static blosc2_cparams parameters(int threads) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;

  cparams.compcode = BLOSC_ZSTD;
  cparams.typesize = sizeof(double);
  cparams.nthreads = (int16_t)threads;
  return cparams;
}

/* Compresses and decompresses a quarter of the data, with contexts of its own. Returns NULL on
   error. */
static void *compress_quarter(void *start) {
  ptrdiff_t item = (double *)start - data;
  uint8_t *own = chunks[item / (ITEMS / THREADS)];
  blosc2_context *compressor = blosc2_create_cctx(parameters(1));
  blosc2_context *decompressor = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  int size = blosc2_compress_ctx(compressor, start, QUARTER, own, sizeof chunks[0]);

  size = blosc2_decompress_ctx(decompressor, own, size, restored + item, QUARTER);
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
  return size == QUARTER ? start : NULL;
}

int main(void) {
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor;
  pthread_t threads[THREADS];
  void *result;
  int i, size, first_size = 0;

  for (i = 0; i < ITEMS; i++) {
    data[i] = 20.0 + (i % 1000) * 0.01;
  }
  blosc2_init();

  /* 1. One call that uses several threads: the calling thread and those of the library's pool,
     which compress different blocks of the chunk. Their number has no influence on the result. */
  for (i = 1; i <= THREADS; i *= 2) {
    compressor = blosc2_create_cctx(parameters(i));
    size = blosc2_compress_ctx(compressor, data, SIZE, chunk, ROOM);
    blosc2_free_ctx(compressor);
    if (size <= 0) {
      fprintf(stderr, "compression failed: %s\n", blosc2_error_string(size));
      return EXIT_FAILURE;
    }
    if (i == 1) {
      first_size = size;
      memcpy(first, chunk, (size_t)size);
    }
    assert(size == first_size && memcmp(first, chunk, (size_t)size) == 0);
    printf("threads: %d, %d bytes became %d\n", i, SIZE, size);
  }
  dparams.nthreads = THREADS;
  decompressor = blosc2_create_dctx(dparams);
  size = blosc2_decompress_ctx(decompressor, first, first_size, restored, SIZE);
  blosc2_free_ctx(decompressor);
  assert(size == SIZE && memcmp(data, restored, SIZE) == 0);
  printf("decompressed with %d threads: equal to the original\n", THREADS);

  /* 2. Threads of the program, each with contexts of its own. */
  memset(restored, 0, SIZE);
  for (i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, compress_quarter, data + i * (ITEMS / THREADS)) != 0) {
      fprintf(stderr, "a thread cannot be started\n");
      return EXIT_FAILURE;
    }
  }
  for (i = 0; i < THREADS; i++) {
    pthread_join(threads[i], &result);
    assert(result != NULL);
  }
  assert(memcmp(data, restored, SIZE) == 0);
  printf("%d threads of the program compressed a quarter each\n", THREADS);
  blosc2_destroy();
  return EXIT_SUCCESS;
}
