/*
 * Chunks that one library writes and another one reads: all codecs and shuffles, several sizes,
 * item sizes and contents. "write" creates the file `chunks` in the working directory, "read"
 * verifies it. The program works with the headers of C-Blosc, too.
 */

#include "../check.h"
#include <blosc.h>
#include <string.h>

enum { MAX_SIZE = 70000, CAPACITY = MAX_SIZE + BLOSC_MAX_OVERHEAD };

static uint8_t data[MAX_SIZE], chunk[CAPACITY], back[MAX_SIZE];

static void fill(int content, size_t size) {
  uint32_t noise = 1;
  size_t i;

  if (content == 0) {
    fill_with_data(data, size);
    return;
  }
  for (i = 0; i < size; i++) {
    noise = noise * 1664525u + 1013904223u;
    data[i] = content == 1 ? 7 : (uint8_t)(noise >> 24);
  }
}

static void write_chunk(FILE *file, const char *codec, int shuffle, size_t typesize, size_t size,
                        int level) {
  int32_t length = blosc_compress_ctx(level, shuffle, typesize, size, data, chunk, CAPACITY, codec,
                                      0, 1 + level % 2);

  CHECK(length > 0);
  CHECK(fwrite(&length, sizeof length, 1, file) == 1);
  CHECK(fwrite(chunk, 1, (size_t)length, file) == (size_t)length);
}

static void read_chunk(FILE *file, size_t typesize, size_t size) {
  size_t nbytes = 0, nitems = size / typesize, start = nitems / 3, count = nitems / 2;
  int32_t length = 0;

  CHECK(fread(&length, sizeof length, 1, file) == 1 && length > 0 && length <= CAPACITY);
  if (length <= 0 || length > CAPACITY) {
    return;
  }
  CHECK(fread(chunk, 1, (size_t)length, file) == (size_t)length);
  CHECK_IS(blosc_cbuffer_validate(chunk, (size_t)length, &nbytes), 0);
  CHECK_IS(nbytes, size);
  memset(back, 0, size);
  CHECK_IS(blosc_decompress_ctx(chunk, back, size, 2), size);
  CHECK(memcmp(back, data, size) == 0);
  memset(back, 0, size);
  CHECK_IS(blosc_getitem(chunk, (int)start, (int)count, back), count * typesize);
  CHECK(memcmp(back, data + start * typesize, count * typesize) == 0);
}

int main(int argc, char **argv) {
  static const char *const codecs[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
  static const size_t sizes[] = {1, 128, 1000, 20000, MAX_SIZE};
  static const size_t typesizes[] = {1, 2, 4, 7, 8, 255};
  size_t codec, size, typesize;
  int shuffle, content, level = 0;
  FILE *file;

  if (argc != 2) {
    return 2;
  }
  file = fopen("chunks", strcmp(argv[1], "write") == 0 ? "wb" : "rb");
  CHECK(file != NULL);
  if (file == NULL) {
    return 1;
  }
  blosc_init();
  for (size = 0; size < sizeof sizes / sizeof *sizes; size++) {
    for (content = 0; content < 3; content++) {
      fill(content, sizes[size]);
      for (codec = 0; codec < sizeof codecs / sizeof *codecs; codec++) {
        for (typesize = 0; typesize < sizeof typesizes / sizeof *typesizes; typesize++) {
          for (shuffle = 0; shuffle <= 2; shuffle++) {
            level = level % 9 + 1;
            if (strcmp(argv[1], "write") == 0) {
              write_chunk(file, codecs[codec], shuffle, typesizes[typesize], sizes[size], level);
            } else {
              read_chunk(file, typesizes[typesize], sizes[size]);
            }
          }
        }
      }
    }
  }
  CHECK(strcmp(argv[1], "write") == 0 || fgetc(file) == EOF);
  CHECK_IS(fclose(file), 0);
  blosc_destroy();
  return checks_failed();
}
