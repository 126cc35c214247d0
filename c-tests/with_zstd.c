/*
 * A program that uses the system's zstd together with the library.
 */

#include "check.h"
#include <blosc2.h>
#include <string.h>

/* As declared in zstd.h, which may not be installed. */
size_t ZSTD_compress(void *dst, size_t capacity, const void *src, size_t size, int level);
size_t ZSTD_decompress(void *dst, size_t capacity, const void *src, size_t size);

int main(void) {
  static uint8_t data[100000], chunk[200000], back[100000];
  size_t size;

  fill_with_data(data, sizeof data);
  CHECK(blosc1_set_compressor("zstd") == BLOSC_ZSTD);
  size = (size_t)blosc2_compress(5, BLOSC_SHUFFLE, 4, data, sizeof data, chunk, sizeof chunk);
  CHECK_IS(blosc2_decompress(chunk, (int32_t)size, back, sizeof back), sizeof back);
  CHECK(memcmp(data, back, sizeof data) == 0);

  memset(back, 0, sizeof back);
  size = ZSTD_compress(chunk, sizeof chunk, data, sizeof data, 3);
  CHECK_IS(ZSTD_decompress(back, sizeof back, chunk, size), sizeof back);
  CHECK(memcmp(data, back, sizeof data) == 0);
  return checks_failed();
}
