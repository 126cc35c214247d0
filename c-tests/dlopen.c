/*
 * A program that loads the library, compresses with threads, unloads it and continues.
 *
 *   dlopen LIBRARY
 */

#include "check.h"
#include <blosc2.h>
#include <dlfcn.h>
#include <unistd.h>

enum { SIZE = 1000 * 1000, CAPACITY = SIZE + BLOSC2_MAX_OVERHEAD };

typedef int (*compress_function)(int, int, int32_t, const void *, int32_t, void *, int32_t);
typedef int16_t (*set_nthreads_function)(int16_t);

int main(int argc, char **argv) {
  static uint8_t data[SIZE], chunk[CAPACITY];
  compress_function compress;
  set_nthreads_function set_nthreads;
  void *library;
  int round;

  fill_with_data(data, SIZE);
  for (round = 0; round < 3; round++) {
    library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL) {
      fprintf(stderr, "usage: dlopen LIBRARY (%s)\n", argc > 1 ? dlerror() : "no library");
      return EXIT_FAILURE;
    }
    *(void **)&compress = dlsym(library, "blosc2_compress");
    *(void **)&set_nthreads = dlsym(library, "blosc2_set_nthreads");
    CHECK(set_nthreads(4) > 0);
    CHECK(compress(5, BLOSC_SHUFFLE, 4, data, SIZE, chunk, CAPACITY) > 0);
    CHECK_IS(dlclose(library), 0);
    usleep(100 * 1000);
  }
  return checks_failed();
}
