/*
 * A program whose functions have the names of internal functions of the library: neither may
 * replace the other.
 */

#include "check.h"
#include <blosc2.h>
#include <string.h>

#define OWN(name)             \
  int name(void);             \
  int name(void) { abort(); }

OWN(ZSTD_compressCCtx)
OWN(ZSTD_decompressDCtx)
OWN(ZSTD_createCCtx)
OWN(LZ4_compress_fast_continue)
OWN(LZ4_compress_default)
OWN(LZ4_decompress_safe)
OWN(LZ4_compress_HC)
OWN(XXH64)
OWN(deflate)
OWN(inflate)
OWN(rust_begin_unwind)
OWN(rust_eh_personality)
OWN(blosclz_compress)

int main(void) {
  static uint8_t data[100000], chunk[100032], back[100000];
  char names[100], *name;

  fill_with_data(data, sizeof data);
  strcpy(names, blosc2_list_compressors());
  for (name = strtok(names, ","); name != NULL; name = strtok(NULL, ",")) {
    int size;
    CHECK(blosc1_set_compressor(name) >= 0);
    size = blosc2_compress(9, BLOSC_SHUFFLE, 4, data, sizeof data, chunk, sizeof chunk);
    CHECK(size > 0 && size < (int)sizeof data);
    CHECK_IS(blosc2_decompress(chunk, size, back, sizeof back), sizeof back);
    CHECK(memcmp(data, back, sizeof data) == 0);
  }
  return checks_failed();
}
