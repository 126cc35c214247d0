/*
 * The calls without contexts, also under their old names.
 */

#define BLOSC1_COMPAT
#include "check.h"
#include <blosc2.h>
#include <string.h>

enum { SIZE = 400 * 1000, CAPACITY = SIZE + BLOSC2_MAX_OVERHEAD };

static uint8_t data[SIZE], chunk[CAPACITY], back[SIZE];

static int round_trip_with_threads(void) {
  int size = blosc2_compress(5, BLOSC_SHUFFLE, 4, data, SIZE, chunk, CAPACITY);
  memset(back, 0, SIZE);
  CHECK_IS(blosc2_decompress(chunk, size, back, SIZE), SIZE);
  CHECK(memcmp(data, back, SIZE) == 0);
  return size;
}

static void settings(void) {
  int32_t blocksize;
  int automatic;

  CHECK_IS(blosc2_get_nthreads(), 1);
  automatic = round_trip_with_threads();
  CHECK_IS(blosc2_set_nthreads(3), 1);
  CHECK_IS(blosc2_get_nthreads(), 3);
  CHECK_IS(round_trip_with_threads(), automatic);

  CHECK_IS(blosc1_get_blocksize(), 0);
  blosc1_set_blocksize(8192);
  CHECK_IS(blosc1_get_blocksize(), 8192);
  round_trip_with_threads();
  CHECK_IS(blosc2_cbuffer_sizes(chunk, NULL, NULL, &blocksize), 0);
  CHECK_IS(blocksize, 8192);
  blosc1_set_blocksize(0);

  blosc2_set_delta(1);
  round_trip_with_threads();
  CHECK(chunk[BLOSC2_CHUNK_FILTER_CODES + 4] == BLOSC_DELTA);
  blosc2_set_delta(0);
  blosc1_set_splitmode(BLOSC_NEVER_SPLIT);
  round_trip_with_threads();
  CHECK((chunk[BLOSC2_CHUNK_FLAGS] & 0x10) != 0);
  blosc1_set_splitmode(BLOSC_FORWARD_COMPAT_SPLIT);

  /* Settings persist after blosc2_destroy(). */
  blosc2_destroy();
  CHECK_IS(blosc2_get_nthreads(), 3);
  CHECK_IS(round_trip_with_threads(), automatic);
}

static void old_names(void) {
  size_t nbytes, cbytes, blocksize, typesize;
  int size, flags;
  uint8_t few[40];

  blosc_init();
  CHECK(blosc_set_compressor("lz4") == BLOSC_LZ4);
  size = blosc_compress(5, BLOSC_BITSHUFFLE, 4, SIZE, data, chunk, CAPACITY);
  CHECK(size > 0);
  CHECK_IS(blosc_decompress(chunk, back, SIZE), SIZE);
  CHECK(memcmp(data, back, SIZE) == 0);
  CHECK_IS(blosc_getitem(chunk, 100, 10, few), 40);
  CHECK(memcmp(few, data + 400, sizeof few) == 0);
  blosc_cbuffer_sizes(chunk, &nbytes, &cbytes, &blocksize);
  CHECK(nbytes == SIZE && cbytes == (size_t)size && blocksize > 0);
  CHECK_IS(blosc_cbuffer_validate(chunk, cbytes, &nbytes), 0);
  CHECK_IS(blosc_cbuffer_validate(chunk, cbytes - 1, &nbytes), BLOSC2_ERROR_INVALID_HEADER);
  CHECK_IS(nbytes, 0);
  blosc_cbuffer_metainfo(chunk, &typesize, &flags);
  CHECK_IS(typesize, 4);
  CHECK((flags & BLOSC_DOBITSHUFFLE) != 0);
  CHECK(strcmp(blosc_cbuffer_complib(chunk), BLOSC_LZ4_LIBNAME) == 0);
  CHECK_IS(BLOSC_MAX_OVERHEAD, 32);
  blosc_destroy();
}

static void environment(void) {
  int size = round_trip_with_threads();

  CHECK(setenv("BLOSC_CLEVEL", "0", 1) == 0);
  CHECK_IS(round_trip_with_threads(), CAPACITY);
  CHECK(setenv("BLOSC_CLEVEL", "4294967297", 1) == 0);
  CHECK_IS(blosc2_compress(5, 1, 4, data, SIZE, chunk, CAPACITY), BLOSC2_ERROR_CODEC_PARAM);
  CHECK(unsetenv("BLOSC_CLEVEL") == 0);
  CHECK(setenv("BLOSC_COMPRESSOR", "zstd", 1) == 0);
  round_trip_with_threads();
  CHECK(strcmp(blosc2_cbuffer_complib(chunk), BLOSC_ZSTD_LIBNAME) == 0);
  CHECK(setenv("BLOSC_COMPRESSOR", "blosclz", 1) == 0);
  round_trip_with_threads();
  CHECK(unsetenv("BLOSC_COMPRESSOR") == 0);
  CHECK(setenv("BLOSC_NOLOCK", "", 1) == 0);
  CHECK(round_trip_with_threads() > 0);
  CHECK(unsetenv("BLOSC_NOLOCK") == 0);
  CHECK(setenv("BLOSC_BLOSC1_COMPAT", "1", 1) == 0);
  CHECK(round_trip_with_threads() > 0);
  CHECK((chunk[BLOSC2_CHUNK_FLAGS] & 5) != 5);
  CHECK(unsetenv("BLOSC_BLOSC1_COMPAT") == 0);
  CHECK(setenv("BLOSC_NTHREADS", "none", 1) == 0);
  CHECK_IS(blosc2_decompress(chunk, CAPACITY, back, SIZE), BLOSC2_ERROR_INVALID_PARAM);
  CHECK(unsetenv("BLOSC_NTHREADS") == 0);
  CHECK(size > 0);
}

int main(void) {
  fill_with_data(data, SIZE);
  CHECK_IS(blosc2_free_resources(), -1);
  settings();
  CHECK_IS(blosc2_free_resources(), 0);
  round_trip_with_threads();
  old_names();
  environment();
  blosc2_init();
  blosc2_init();
  blosc2_destroy();
  blosc2_destroy();
  CHECK_IS(blosc2_free_resources(), -1);
  return checks_failed();
}
