/*
 * Row D7: all calls work without blosc2_init(), from any thread, and in a forked child.
 */

#include "check.h"
#include <blosc2.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1000 * 1000, CAPACITY = SIZE + BLOSC2_MAX_OVERHEAD, THREADS = 4, ROUNDS = 5, FIRST_USES = 200, SMALL = 1000 };

static uint8_t data[SIZE];

/* Compresses with and without contexts, with threads; returns the number of errors. */
static int work(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor;
  uint8_t *chunk = malloc(CAPACITY), *back = malloc(SIZE);
  int round, size, bad = 0;

  cparams.typesize = 4;
  cparams.nthreads = dparams.nthreads = THREADS;
  compressor = blosc2_create_cctx(cparams);
  decompressor = blosc2_create_dctx(dparams);
  for (round = 0; round < ROUNDS; round++) {
    size = blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY);
    bad += blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE) != SIZE;
    bad += memcmp(data, back, SIZE) != 0;
    size = blosc2_compress(5, BLOSC_SHUFFLE, 4, data, SIZE, chunk, CAPACITY);
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

/* Works in a child, which is killed if it hangs. */
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

static void *use_once(void *unused) {
  uint8_t chunk[SMALL + BLOSC2_MAX_OVERHEAD];
  blosc2_compress(1, BLOSC_SHUFFLE, 4, data, SMALL, chunk, sizeof chunk);
  return unused;
}

/* Whether children can use the library if the process forks while its other threads use the
 * library for the first time. */
static int first_use_beside_a_fork(int round) {
  pthread_t threads[THREADS];
  volatile int delay = round * 100;
  int status, i;
  pid_t child;

  for (i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, use_once, NULL) != 0) {
      return 0;
    }
  }
  while (delay > 0) {
    delay--;
  }
  child = fork();
  if (child == 0) {
    alarm(20);
    use_once(NULL);
    _exit(0);
  }
  waitpid(child, &status, 0);
  for (i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void) {
  pthread_t threads[THREADS];
  int bad[THREADS] = {0}, i;

  fill_with_data(data, SIZE);
  /* Each case runs in a process that has not used the library yet. */
  for (i = 0; i < FIRST_USES; i++) {
    int status;
    pid_t child = fork();
    if (child == 0) {
      _exit(first_use_beside_a_fork(i) ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  for (i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&threads[i], NULL, work_in_thread, &bad[i]) == 0);
  }
  /* Forks while the other threads are in the middle of calls. */
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
