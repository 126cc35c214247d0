/* roundtrip write|read FILE: writes chunks of all codecs and shuffles, or reads and checks them. */
#include <blosc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1000003, ROOM = SIZE + BLOSC_MAX_OVERHEAD };
static char data[SIZE], back[SIZE], chunk[ROOM];

int main(int argc, char **argv) {
  static const char *const codecs[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
  FILE *file = fopen(argv[2], argv[1][0] == 'w' ? "wb" : "rb");
  int codec, shuffle, size, i;

  if (argc != 3 || file == NULL) return 2;
  for (i = 0; i < SIZE; i++) data[i] = (char)(i % 4 ? i >> (7 * (i % 4)) : i * i % 7);
  blosc_init();
  blosc_set_nthreads(2);
  for (codec = 0; codec < 6; codec++) {
    for (shuffle = 0; shuffle < 3; shuffle++) {
      if (argv[1][0] == 'w') {
        if (blosc_set_compressor(codecs[codec]) != codec) return 3;
        size = blosc_compress(5, shuffle, 4, SIZE, data, chunk, ROOM);
        if (size <= 0 || size > SIZE / 2) return 4;
        fwrite(&size, sizeof size, 1, file);
        fwrite(chunk, 1, size, file);
      } else {
        if (fread(&size, sizeof size, 1, file) != 1) return 5;
        if (size > ROOM || fread(chunk, 1, size, file) != (size_t)size) return 5;
        memset(back, 0, SIZE);
        if (blosc_decompress(chunk, back, SIZE) != SIZE) return 6;
        if (memcmp(back, data, SIZE) != 0) return 7;
      }
    }
  }
  fclose(file);
  blosc_destroy();
  return 0;
}
