/*
 * Row D4: a program with both libraries and both headers. Settings of one library do not
 * affect the other, and each reads the other's chunks as specified.
 */

#include "../check.h"
#include <blosc.h>
#include <blosc2.h>
#include <string.h>

enum { SIZE = 100000, CAPACITY = SIZE + BLOSC2_MAX_OVERHEAD };

static uint8_t data[SIZE], chunk[CAPACITY], back[SIZE];

int main(void) {
  int size;

  CHECK_IS(BLOSC_MAX_OVERHEAD, 16);
  fill_with_data(data, SIZE);
  blosc_init();
  blosc2_init();

  CHECK_IS(blosc_set_compressor("snappy"), BLOSC_SNAPPY);
  CHECK_IS(blosc_set_nthreads(3), 1);
  blosc_set_blocksize(1000);
  CHECK_IS(blosc2_get_nthreads(), 1);
  CHECK(strcmp(blosc1_get_compressor(), "blosclz") == 0);
  CHECK_IS(blosc1_get_blocksize(), 0);
  CHECK_IS(blosc2_set_nthreads(2), 1);
  CHECK_IS(blosc1_set_compressor("zstd"), BLOSC_ZSTD);
  CHECK_IS(blosc_get_nthreads(), 3);
  CHECK(strcmp(blosc_get_compressor(), "snappy") == 0);

  size = blosc_compress(5, BLOSC_SHUFFLE, 4, SIZE, data, chunk, CAPACITY);
  CHECK(size > 0);
  CHECK_IS(blosc2_decompress(chunk, size, back, SIZE), SIZE);
  CHECK(memcmp(back, data, SIZE) == 0);

  size = blosc2_compress(5, BLOSC_SHUFFLE, 4, data, SIZE, chunk, CAPACITY);
  CHECK(size > 0);
  CHECK_IS(blosc_decompress(chunk, back, SIZE), -1);
  blosc2_destroy();
  CHECK(blosc_compress(5, BLOSC_SHUFFLE, 4, SIZE, data, chunk, CAPACITY) > 0);
  CHECK_IS(blosc_free_resources(), 0);
  blosc_destroy();
  return checks_failed();
}
