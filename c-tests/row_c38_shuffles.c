/*
 * The exported shuffle functions; row C38: typesizes and sizes out of range.
 */

#include "check.h"
#include <blosc2.h>
#include <string.h>

typedef int32_t (*transform)(const int32_t, const int32_t, const void *, void *);

int main(void) {
  static uint8_t data[5000], there[5000], back[5000];
  const transform forward[] = {blosc2_shuffle, blosc2_bitshuffle};
  const transform backward[] = {blosc2_unshuffle, blosc2_bitunshuffle};
  const int invalid = BLOSC2_ERROR_INVALID_PARAM;
  int32_t typesize, i, j;
  size_t kind;

  fill_with_data(data, sizeof data);
  for (kind = 0; kind < 2; kind++) {
    for (typesize = 1; typesize <= 256; typesize++) {
      int32_t size = 5000 - typesize;
      CHECK_IS(forward[kind](typesize, size, data, there), size);
      CHECK_IS(backward[kind](typesize, size, there, back), size);
      CHECK(memcmp(data, back, (size_t)size) == 0);
    }
    CHECK_IS(forward[kind](0, 16, data, there), invalid);
    CHECK_IS(forward[kind](-1, 16, data, there), invalid);
    CHECK_IS(forward[kind](257, 1600, data, there), invalid);
    CHECK_IS(forward[kind](4, -1, data, there), invalid);
    CHECK_IS(forward[kind](4, 0, data, there), 0);
    CHECK_IS(backward[kind](0, 16, data, there), invalid);
    CHECK_IS(backward[kind](-1, 16, data, there), invalid);
    CHECK_IS(backward[kind](4, -1, data, there), invalid);
  }
  CHECK_IS(blosc2_unshuffle(257, 1600, data, there), invalid);
  CHECK_IS(blosc2_bitunshuffle(300, 2400, data, there), 2400);

  /* By definition, byte j of item i moves to byte i of plane j. */
  CHECK_IS(blosc2_shuffle(4, 400, data, there), 400);
  for (i = 0; i < 100; i++) {
    for (j = 0; j < 4; j++) {
      CHECK(there[j * 100 + i] == data[i * 4 + j]);
    }
  }
  return checks_failed();
}
