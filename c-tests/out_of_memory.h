/*
 * Runs a workload while the system has no memory.
 *
 * The malloc family of this file replaces the C library's in the whole process, for all
 * libraries. It refuses requests on demand. A program defines work(), which makes every library
 * call through the macros below, and calls run_without_memory() from main().
 *
 * Each run is a separate child process: it works with refused requests, then again with
 * memory, and must end with as many blocks in use as a run without refusals. The kinds of runs:
 *
 *   once N    request N fails
 *   from N    request N and all later ones fail; a call that failed is repeated with memory
 *   above N   all requests of more than N bytes fail; a call that failed is repeated with memory
 */

#ifndef OUT_OF_MEMORY_H
#define OUT_OF_MEMORY_H

#include "check.h"
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);
extern void *memalign(size_t alignment, size_t size);

/* The number of requests, and of refused requests. */
static long requests, refused;
/* The number of blocks in use. */
static long in_use;
/* Requests with these numbers, or above this size, are refused; a paused allocator refuses none. */
static long refuse_from = LONG_MAX, refuse_to;
static size_t refuse_above = SIZE_MAX;
static int paused;

static bool is_refused(size_t size) {
  long number = __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);

  if (__atomic_load_n(&paused, __ATOMIC_RELAXED) == 0 &&
      ((number >= refuse_from && number <= refuse_to) || size > refuse_above)) {
    __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
    errno = ENOMEM;
    return true;
  }
  return false;
}

static void *counted(void *memory) {
  if (memory != NULL) {
    __atomic_add_fetch(&in_use, 1, __ATOMIC_RELAXED);
  }
  return memory;
}

void *malloc(size_t size) { return is_refused(size) ? NULL : counted(__libc_malloc(size)); }

void *calloc(size_t n, size_t size) { return is_refused(n * size) ? NULL : counted(__libc_calloc(n, size)); }

void *realloc(void *memory, size_t size) {
  if (is_refused(size)) {
    return NULL;
  }
  return memory == NULL ? counted(__libc_malloc(size)) : __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
  return is_refused(size) ? NULL : counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *block = memalign(alignment, size);

  if (block == NULL) {
    return ENOMEM;
  }
  *memory = block;
  return 0;
}

void free(void *memory) {
  if (memory != NULL) {
    __atomic_sub_fetch(&in_use, 1, __ATOMIC_RELAXED);
    __libc_free(memory);
  }
}

/* The number of refusals after the last successful call. */
static long known_refusals;
/* The current call. */
static const char *current_call = "";

/* Records a failed call: a request must have been refused, and the code must be `expected`. */
static inline void note_failure(long long code, long long expected, int line) {
  if (refused == known_refusals) {
    checks_bad++;
    printf("line %d: %s fails with %lld although no request was refused\n", line, current_call, code);
  } else if (code != expected) {
    checks_bad++;
    printf("line %d: %s fails with %lld, not %lld\n", line, current_call, code, expected);
  }
}

static inline void note_second_failure(long long code, int line) {
  checks_bad++;
  printf("line %d: %s fails again, with %lld\n", line, current_call, code);
}

/* Makes a call whose result indicates an error if it is negative, or by `is_error`. A failed
 * call is repeated with memory, and must succeed. `unchanged` must be true after a failure. */
#define TRY_UNLESS(is_error, result, call, expected, unchanged) \
  do {                                                          \
    current_call = #call;                                       \
    (result) = (call);                                          \
    if (is_error) {                                             \
      note_failure((long long)(result), expected, __LINE__);    \
      paused++;                                                 \
      CHECK(unchanged);                                         \
      (result) = (call);                                        \
      paused--;                                                 \
      if (is_error) {                                           \
        note_second_failure((long long)(result), __LINE__);     \
      }                                                         \
    }                                                           \
    known_refusals = refused;                                   \
  } while (0)

#define TRY(call)                                          \
  do {                                                     \
    long long result_;                                     \
    TRY_UNLESS(result_ < 0, result_, call, NO_MEMORY, true); \
  } while (0)

/* Like TRY, and the result must be `value`. */
#define TRY_IS(call, value)                                  \
  do {                                                       \
    long long result_;                                       \
    TRY_UNLESS(result_ < 0, result_, call, NO_MEMORY, true); \
    CHECK_IS(result_, value);                                \
  } while (0)

/* Makes a call that returns a pointer, NULL for an error. */
#define TRY_NEW(pointer, call) TRY_UNLESS((pointer) == NULL, pointer, call, 0, true)

/* The workload: library calls whose results are checked. */
static void work(void);
/* Frees everything that the library caches for later calls. */
static void clean_up(void);

/* Works with refusals, then with memory; returns the blocks in use at the end. */
static long round_trip_of_work(long from, long to, size_t above) {
  long failures;

  requests = 0;
  refuse_from = from;
  refuse_to = to;
  refuse_above = above;
  work();
  refuse_from = LONG_MAX;
  refuse_above = SIZE_MAX;
  failures = refused;
  work();
  CHECK_IS(refused, failures);
  clean_up();
  return in_use;
}

/* The child of a run. A leaking call leaks in every round; the library's caches, and the C
 * library's cached stacks of ended threads, grow only a few times. */
static int child(long from, long to, size_t above) {
  enum { ROUNDS = 6 };
  long before = round_trip_of_work(from, to, above), after = 0;
  int i;

  for (i = 0; i < ROUNDS; i++) {
    after = round_trip_of_work(from, to, above);
    if (after <= before) {
      return checks_failed();
    }
    before = after;
  }
  printf("each round leaks\n");
  return EXIT_FAILURE;
}

/* Runs a child with these refusals; returns whether it passed. Stores the number of requests of
 * its last round in `made`. */
static bool run_child(long from, long to, size_t above, long *made) {
  int ends[2], status = -1;
  pid_t process;
  bool is_whole;

  fflush(stdout);
  if (pipe(ends) != 0 || (process = fork()) < 0) {
    perror("fork");
    exit(EXIT_FAILURE);
  }
  if (process == 0) {
    int result;

    alarm(60);
    refused = 0;
    result = child(from, to, above);
    fflush(stdout);
    _exit(write(ends[1], &requests, sizeof requests) == sizeof requests ? result : EXIT_FAILURE);
  }
  close(ends[1]);
  is_whole = read(ends[0], made, sizeof *made) == sizeof *made;
  close(ends[0]);
  waitpid(process, &status, 0);
  if (WIFSIGNALED(status)) {
    printf("killed by signal %d\n", WTERMSIG(status));
  }
  return is_whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Runs all kinds with the numbers from `first`, in steps of `step`. Arguments of main: [STEP
 * [FIRST [LAST]]]. */
static int run_without_memory(int argc, char **argv) {
  static const char *const kinds[] = {"once", "from"};
  static const size_t sizes[] = {0, 64, 1000, 4000, 16000, 70000};
  long step = argc > 1 ? atol(argv[1]) : 97, first = argc > 2 ? atol(argv[2]) : 1;
  long last = argc > 3 ? atol(argv[3]) : LONG_MAX, runs = 0, bad = 0, all, made, number;
  size_t i;

  setvbuf(stdout, NULL, _IOLBF, 4096);
  if (!run_child(LONG_MAX, 0, SIZE_MAX, &all)) {
    printf("fails with memory\n");
    return EXIT_FAILURE;
  }
  /* A round does everything twice, the second time with memory; the first round makes a few more
   * requests. */
  all = all / 2 + all / 20;
  for (i = 0; i < 2; i++) {
    for (number = first; number <= last && number <= all; number += step) {
      runs++;
      if (!run_child(number, i == 0 ? number : LONG_MAX, SIZE_MAX, &made)) {
        bad++;
        printf("  in run: %s %ld\n", kinds[i], number);
      }
    }
  }
  for (i = 0; i < sizeof sizes / sizeof *sizes && last == LONG_MAX; i++) {
    runs++;
    if (!run_child(LONG_MAX, 0, sizes[i], &made)) {
      bad++;
      printf("  in run: above %zu\n", sizes[i]);
    }
  }
  printf("%ld requests, %ld runs, %ld bad\n", all, runs, bad);
  return bad == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif /* OUT_OF_MEMORY_H */
