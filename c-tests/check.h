/*
 * Macros of the C tests: CHECK prints a failed condition and continues; main returns
 * checks_failed().
 */

#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int checks_bad;

#define CHECK(condition)                                                    \
  do {                                                                      \
    if (!(condition)) {                                                     \
      checks_bad++;                                                         \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);        \
    }                                                                       \
  } while (0)

/* Compares a number with its expected value; prints both on failure. */
#define CHECK_IS(actual, expected)                                          \
  do {                                                                      \
    long long actual_ = (long long)(actual), expected_ = (long long)(expected); \
    if (actual_ != expected_) {                                             \
      checks_bad++;                                                         \
      printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #actual, actual_, expected_); \
    }                                                                       \
  } while (0)

static inline int checks_failed(void) {
  return checks_bad == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Whether long loops are shortened, for tools that run a program slowly, such as Valgrind. */
static inline int checks_are_quick(void) { return getenv("CHECK_QUICK") != NULL; }

/* Fills a buffer with a wave and a little noise: always the same bytes, compressible but not
 * trivially. */
static inline void fill_with_data(void *buffer, size_t size) {
  uint8_t *bytes = (uint8_t *)buffer;
  uint32_t noise = 12345;
  size_t i;

  for (i = 0; i < size; i++) {
    noise = noise * 1664525u + 1013904223u;
    bytes[i] = (uint8_t)(i % 4 == 0 ? noise >> 29 : (i / 64) >> (8 * (i % 4) - 8));
  }
}

#endif /* CHECK_H */
