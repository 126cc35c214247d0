/*
 * The calls of Blosc 1.x: sizes beyond 32 bits (row C10), variables with invalid values (row
 * C60), and its header (row C61).
 */

#include "check.h"
#include <blosc2.h>
#include <string.h>

enum { SIZE = 100 * 1000, CAPACITY = SIZE + BLOSC2_MAX_OVERHEAD };

static uint8_t data[SIZE], chunk[CAPACITY], back[SIZE];

static int compress(void) {
  return blosc1_compress(5, BLOSC_SHUFFLE, 4, SIZE, data, chunk, CAPACITY);
}

int main(void) {
  const size_t wrapped = (size_t)1 << 32;
  int size;

  fill_with_data(data, SIZE);
  size = compress();
  CHECK(size > 0 && size < SIZE);

  /* The reference truncates sizes to 32 bits. */
  CHECK_IS(blosc1_compress(5, 1, 4, wrapped + SIZE, data, chunk, CAPACITY),
           BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED);
  CHECK_IS(blosc1_compress(5, 1, 4, (size_t)BLOSC2_MAX_BUFFERSIZE + 1, data, chunk, CAPACITY),
           BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED);
  CHECK_IS(blosc1_compress(5, 1, wrapped + 4, SIZE, data, chunk, CAPACITY), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc1_compress(5, 1, 4, 0, data, chunk, 31), BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED);
  CHECK_IS(compress(), size);

  /* A level that is not a number counts as 0: the data are stored without compression. */
  CHECK(setenv("BLOSC_CLEVEL", "abc", 1) == 0);
  CHECK_IS(compress(), CAPACITY);
  CHECK(unsetenv("BLOSC_CLEVEL") == 0);
  CHECK_IS(compress(), size);

  /* An unknown compressor stays selected, and compression fails. */
  CHECK(setenv("BLOSC_COMPRESSOR", "nothing", 1) == 0);
  CHECK_IS(compress(), BLOSC2_ERROR_CODEC_SUPPORT);
  CHECK(unsetenv("BLOSC_COMPRESSOR") == 0);
  CHECK_IS(compress(), BLOSC2_ERROR_CODEC_SUPPORT);
  CHECK(blosc1_get_compressor() == NULL);
  CHECK_IS(blosc1_set_compressor("blosclz"), BLOSC_BLOSCLZ);
  CHECK_IS(compress(), size);

  /* The short header has the current version. */
  CHECK(setenv("BLOSC_BLOSC1_COMPAT", "", 1) == 0);
  memset(data, 0, 5000);
  size = compress();
  CHECK(unsetenv("BLOSC_BLOSC1_COMPAT") == 0);
  CHECK_IS(chunk[BLOSC2_CHUNK_VERSION], BLOSC2_VERSION_FORMAT_STABLE);
  CHECK_IS(chunk[BLOSC2_CHUNK_FLAGS] & (BLOSC_DOSHUFFLE | BLOSC_DOBITSHUFFLE), BLOSC_DOSHUFFLE);
  CHECK_IS(blosc1_decompress(chunk, back, SIZE), SIZE);
  CHECK(memcmp(data, back, SIZE) == 0);
  return checks_failed();
}
