/*
 * Row D7: everything works without blosc2_init, from any thread, and in a forked child.
 */

#include "check.h"
#include <blosc2.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1000 * 1000, ROOM = SIZE + BLOSC2_MAX_OVERHEAD, THREADS = 4, ROUNDS = 5 };

static uint8_t data[SIZE];

/* Compresses with and without context, with threads; gives the number of mistakes. */
static int work(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor;
  uint8_t *chunk = malloc(ROOM), *back = malloc(SIZE);
  int round, size, bad = 0;

  cparams.typesize = 4;
  cparams.nthreads = dparams.nthreads = THREADS;
  compressor = blosc2_create_cctx(cparams);
  decompressor = blosc2_create_dctx(dparams);
  for (round = 0; round < ROUNDS; round++) {
    size = blosc2_compress_ctx(compressor, data, SIZE, chunk, ROOM);
    bad += blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE) != SIZE;
    bad += memcmp(data, back, SIZE) != 0;
    size = blosc2_compress(5, BLOSC_SHUFFLE, 4, data, SIZE, chunk, ROOM);
    bad += blosc2_decompress(chunk, size, back, SIZE) != SIZE;
    bad += memcmp(data, back, SIZE) != 0;
    blosc2_set_nthreads((int16_t)(1 + round % 3));
  }
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
  free(chunk);
  free(back);
  return bad;
}

static void *work_in_thread(void *bad) {
  *(int *)bad = work();
  return NULL;
}

/* Works in a child, which is killed when it hangs. */
static void work_in_child(void) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(work() == 0 ? 0 : 1);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
  pthread_t threads[THREADS];
  int bad[THREADS] = {0}, i;

  fill_with_data(data, SIZE);
  for (i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&threads[i], NULL, work_in_thread, &bad[i]) == 0);
  }
  /* While the others are at it, in the middle of whatever they are doing. */
  for (i = 0; i < 3; i++) {
    work_in_child();
  }
  for (i = 0; i < THREADS; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_IS(bad[i], 0);
  }
  work_in_child();
  CHECK_IS(work(), 0);
  return checks_failed();
}
