/*
 * Threads, children and unloading; one test per run, because each depends on how its process starts
 * or ends.
 *
 *   processes fork | threads | first-use
 *   processes dlopen LIBRARY
 */

#include "../check.h"
#include <blosc.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1000 * 1000, CAPACITY = SIZE + BLOSC_MAX_OVERHEAD, THREADS = 4 };

static uint8_t data[SIZE];

/* Compresses and decompresses with the current settings; returns the size of the chunk, or 0 if
 * the data differ. */
static int round_trip(void) {
  uint8_t *chunk = malloc(CAPACITY), *back = calloc(SIZE, 1);
  int size = blosc_compress(5, BLOSC_SHUFFLE, 4, SIZE, data, chunk, CAPACITY);

  if (size > 0 &&
      (blosc_decompress(chunk, back, SIZE) != SIZE || memcmp(back, data, SIZE) != 0)) {
    size = 0;
  }
  free(chunk);
  free(back);
  return size;
}

/* Whether a round trip in a child has this result within the time limit. */
static int child_finds(int size) {
  int status;
  pid_t child = fork();

  if (child == 0) {
    alarm(60);
    _exit(round_trip() == size ? 0 : 1);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void *at_work(void *stop) {
  while (!*(volatile int *)stop) round_trip();
  return NULL;
}

/* Row L15 */
static void children_compress(void) {
  pthread_t worker;
  int size, stop = 0, i;

  blosc_set_nthreads(THREADS);
  size = round_trip();
  CHECK(size > 0);
  CHECK(child_finds(size));
  pthread_create(&worker, NULL, at_work, &stop);
  for (i = 0; i < 5; i++) CHECK(child_finds(size));
  stop = 1;
  pthread_join(worker, NULL);
  CHECK_IS(round_trip(), size);
}

static pthread_barrier_t start;

static void *ten_times(void *expected) {
  int i;

  pthread_barrier_wait(&start);
  for (i = 0; i < 10; i++) {
    int size = round_trip();
    if (size != *(int *)expected) return (void *)1;
  }
  return NULL;
}

static void run_at_once(int *expected) {
  pthread_t threads[THREADS];
  void *failed;
  int i;

  pthread_barrier_init(&start, NULL, THREADS);
  for (i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, ten_times, expected);
  for (i = 0; i < THREADS; i++) {
    pthread_join(threads[i], &failed);
    CHECK(failed == NULL);
  }
}

static void threads_call_concurrently(void) {
  int size;

  blosc_set_nthreads(2);
  size = round_trip();
  run_at_once(&size);
}

/* Row D7. The size comes from a child, so that this process has made no call yet. */
static void the_first_calls_may_be_concurrent(void) {
  int ends[2], size = 0;

  CHECK_IS(pipe(ends), 0);
  if (fork() == 0) {
    size = round_trip();
    _exit(write(ends[1], &size, sizeof size) == sizeof size ? 0 : 1);
  }
  CHECK_IS(read(ends[0], &size, sizeof size), sizeof size);
  CHECK(size > 0);
  run_at_once(&size);
}

typedef int (*compress_function)(int, int, size_t, size_t, const void *, void *, size_t);
typedef int (*set_nthreads_function)(int);

static void the_library_can_be_unloaded(const char *path) {
  static uint8_t chunk[CAPACITY];
  compress_function compress;
  set_nthreads_function set_nthreads;
  void *library;
  int round;

  for (round = 0; round < 3; round++) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    if (library == NULL) return;
    *(void **)&compress = dlsym(library, "blosc_compress");
    *(void **)&set_nthreads = dlsym(library, "blosc_set_nthreads");
    set_nthreads(THREADS);
    CHECK(compress(5, BLOSC_SHUFFLE, 4, SIZE, data, chunk, CAPACITY) > 0);
    CHECK_IS(dlclose(library), 0);
    usleep(1000);
  }
}

int main(int argc, char **argv) {
  const char *test = argc > 1 ? argv[1] : "";

  fill_with_data(data, SIZE);
  if (strcmp(test, "fork") == 0) {
    children_compress();
  } else if (strcmp(test, "threads") == 0) {
    threads_call_concurrently();
  } else if (strcmp(test, "first-use") == 0) {
    the_first_calls_may_be_concurrent();
  } else if (strcmp(test, "dlopen") == 0 && argc > 2) {
    the_library_can_be_unloaded(argv[2]);
  } else {
    return EXIT_FAILURE;
  }
  return checks_failed();
}
