/*
 * The environment variables, set and unset between the calls of one process.
 *
 *   environment        all cases; prints nothing to stderr
 *   environment warn   refused calls, for their messages under BLOSC_WARN
 */

#include "../check.h"
#include <blosc.h>
#include <string.h>

enum { SIZE = 1000000, CAPACITY = SIZE + BLOSC_MAX_OVERHEAD };

static uint8_t data[SIZE], chunk[CAPACITY], other[CAPACITY];

static int compress_to(uint8_t *dest) {
  return blosc_compress(5, BLOSC_SHUFFLE, 4, SIZE, data, dest, CAPACITY);
}

/* Returns the result of a call while a variable is set. */
static int with(const char *name, const char *value) {
  int size;

  setenv(name, value, 1);
  size = compress_to(chunk);
  unsetenv(name);
  return size;
}

static size_t blocksize_of(const uint8_t *cbuffer) {
  size_t nbytes, cbytes, blocksize;

  blosc_cbuffer_sizes(cbuffer, &nbytes, &cbytes, &blocksize);
  return blocksize;
}

static void numbers_are_parsed_up_to_the_first_invalid_character(void) {
  int usual = compress_to(chunk), level3;

  CHECK(usual > 0 && usual < SIZE / 2);
  /* Row L4 */
  CHECK_IS(with("BLOSC_CLEVEL", "abc"), CAPACITY);
  CHECK_IS(with("BLOSC_CLEVEL", ""), CAPACITY);
  CHECK_IS(with("BLOSC_CLEVEL", "0"), CAPACITY);
  level3 = with("BLOSC_CLEVEL", "3");
  CHECK_IS(with("BLOSC_CLEVEL", " 3xyz"), level3);
  CHECK_IS(with("BLOSC_CLEVEL", "-3"), usual);
  CHECK_IS(with("BLOSC_CLEVEL", "12"), -10);
  /* Row L3 */
  CHECK_IS(with("BLOSC_CLEVEL", "22"), -10);
  CHECK(with("BLOSC_TYPESIZE", "22") > 0);
  CHECK_IS(chunk[3], 22);
  CHECK(with("BLOSC_TYPESIZE", "300") > 0);
  CHECK_IS(chunk[3], 1);
  CHECK_IS(with("BLOSC_TYPESIZE", "0"), usual);
  CHECK_IS(with("BLOSC_TYPESIZE", "-8"), usual);
}

static void shuffles_have_names(void) {
  CHECK(with("BLOSC_SHUFFLE", "NOSHUFFLE") > 0);
  CHECK_IS(chunk[2] & 5, 0);
  CHECK(with("BLOSC_SHUFFLE", "BITSHUFFLE") > 0);
  CHECK_IS(chunk[2] & 5, 4);
  CHECK(with("BLOSC_SHUFFLE", "bitshuffle") > 0);
  CHECK_IS(chunk[2] & 5, 1);
}

/* Row L4: these variables change the settings permanently. */
static void some_variables_change_the_settings(void) {
  CHECK(with("BLOSC_COMPRESSOR", "zlib") > 0);
  CHECK(strcmp(blosc_get_compressor(), "zlib") == 0);
  CHECK(strcmp(blosc_cbuffer_complib(chunk), "Zlib") == 0);
  /* Row L8; later variables are not read after an invalid one. */
  setenv("BLOSC_BLOCKSIZE", "1000", 1);
  CHECK_IS(with("BLOSC_COMPRESSOR", "LZ4"), -1);
  CHECK(blosc_get_compressor() == NULL);
  CHECK_IS(blosc_get_blocksize(), 0);
  unsetenv("BLOSC_BLOCKSIZE");
  CHECK_IS(compress_to(chunk), -5);
  CHECK_IS(blosc_set_compressor("lz4"), 1);

  CHECK(with("BLOSC_BLOCKSIZE", "50000") > 0);
  CHECK_IS(blosc_get_blocksize(), 50000);
  CHECK_IS(blocksize_of(chunk), 200000);
  CHECK(with("BLOSC_BLOCKSIZE", "-1") > 0);
  CHECK_IS(blosc_get_blocksize(), 50000);
  CHECK(with("BLOSC_BLOCKSIZE", "22") > 0);
  CHECK_IS(blosc_get_blocksize(), 22);
  CHECK(with("BLOSC_BLOCKSIZE", "99999999999") > 0);
  CHECK_IS(blosc_get_blocksize(), BLOSC_MAX_BLOCKSIZE);
  blosc_set_blocksize(0);

  CHECK(with("BLOSC_NTHREADS", "2") > 0);
  CHECK_IS(blosc_get_nthreads(), 2);
  CHECK(with("BLOSC_NTHREADS", "0") > 0);
  CHECK_IS(blosc_get_nthreads(), 2);
  setenv("BLOSC_NTHREADS", "3", 1);
  CHECK_IS(blosc_decompress(chunk, other, SIZE), SIZE);
  CHECK_IS(blosc_get_nthreads(), 3);
  unsetenv("BLOSC_NTHREADS");
  blosc_set_nthreads(1);

  CHECK(with("BLOSC_SPLITMODE", "NEVER") > 0);
  CHECK_IS(chunk[2], 0x31);
  CHECK(blosc_compress_ctx(5, 1, 4, SIZE, data, chunk, CAPACITY, "lz4", 0, 1) > 0);
  CHECK_IS(chunk[2], 0x31);
  CHECK_IS(with("BLOSC_SPLITMODE", "never"), -1);
  CHECK(with("BLOSC_SPLITMODE", "ALWAYS") > 0);
  CHECK_IS(chunk[2], 0x21);
  CHECK(with("BLOSC_SPLITMODE", "AUTO") > 0);
  CHECK_IS(chunk[2], 0x31);
  CHECK(with("BLOSC_SPLITMODE", "FORWARD_COMPAT") > 0);
  CHECK_IS(chunk[2], 0x21);
}

static void nolock_changes_nothing_else(void) {
  int size = compress_to(other);

  CHECK_IS(with("BLOSC_NOLOCK", ""), size);
  CHECK(memcmp(chunk, other, size) == 0);
  setenv("BLOSC_NOLOCK", "0", 1);
  CHECK_IS(blosc_decompress(chunk, other, SIZE), SIZE);
  CHECK(memcmp(other, data, SIZE) == 0);
  unsetenv("BLOSC_NOLOCK");
}

static void contexts_ignore_the_environment(void) {
  int size = blosc_compress_ctx(5, 1, 4, SIZE, data, other, CAPACITY, "lz4", 0, 1);

  setenv("BLOSC_CLEVEL", "0", 1);
  setenv("BLOSC_SHUFFLE", "NOSHUFFLE", 1);
  setenv("BLOSC_TYPESIZE", "2", 1);
  setenv("BLOSC_COMPRESSOR", "unknown", 1);
  setenv("BLOSC_BLOCKSIZE", "1000", 1);
  setenv("BLOSC_NTHREADS", "999", 1);
  setenv("BLOSC_SPLITMODE", "NEVER", 1);
  CHECK_IS(blosc_compress_ctx(5, 1, 4, SIZE, data, chunk, CAPACITY, "lz4", 0, 1), size);
  CHECK(memcmp(chunk, other, size) == 0);
  CHECK_IS(blosc_decompress_ctx(chunk, other, SIZE, 1), SIZE);
}

static void refused_calls(void) {
  compress_to(chunk);
  blosc_getitem(chunk, -1, 1, other);
  blosc_getitem(chunk, 0, SIZE, other);
  blosc_compress(10, 1, 4, SIZE, data, chunk, CAPACITY);
  blosc_compress(5, 3, 4, SIZE, data, chunk, CAPACITY);
  blosc_compress(5, 1, 0, SIZE, data, chunk, CAPACITY);
  blosc_compress(5, 1, 4, SIZE, data, chunk, 3);
  blosc_compress(5, 1, 4, (size_t)1 << 31, data, chunk, CAPACITY);
  blosc_compress_ctx(5, 1, 4, SIZE, data, chunk, CAPACITY, "unknown", 0, 1);
  blosc_compress_ctx(5, 1, 4, SIZE, data, chunk, CAPACITY, "lz4", 65536, 0);
  with("BLOSC_SPLITMODE", "nothing");
  blosc_set_splitmode(9);
  compress_to(chunk);
}

int main(int argc, char **argv) {
  (void)argv;
  fill_with_data(data, SIZE);
  if (argc > 1) {
    refused_calls();
    return EXIT_SUCCESS;
  }
  refused_calls();
  blosc_set_splitmode(BLOSC_FORWARD_COMPAT_SPLIT);
  numbers_are_parsed_up_to_the_first_invalid_character();
  shuffles_have_names();
  some_variables_change_the_settings();
  nolock_changes_nothing_else();
  contexts_ignore_the_environment();
  return checks_failed();
}
