/*
 * Every function of blosc.h: results and error codes.
 */

#include "../check.h"
#include <blosc.h>
#include <stdint.h>
#include <string.h>

enum { SIZE = 641091, CAPACITY = SIZE + BLOSC_MAX_OVERHEAD };

static uint8_t data[SIZE], chunk[CAPACITY], back[SIZE];

static const char *const names[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
static const char *const libraries[] = {"BloscLZ", "LZ4", "LZ4", "Snappy", "Zlib", "Zstd"};
static const int libcodes[] = {0, 1, 1, 2, 3, 4};

static void everything_round_trips(void) {
  static const size_t typesizes[] = {1, 2, 4, 7, 8, 16, 17, 255, 256};
  size_t codec, which, nbytes, cbytes, blocksize;
  int shuffle;

  for (codec = 0; codec < 6; codec++) {
    CHECK_IS(blosc_set_compressor(names[codec]), codec);
    CHECK(strcmp(blosc_get_compressor(), names[codec]) == 0);
    for (which = 0; which < sizeof typesizes / sizeof *typesizes; which++) {
      for (shuffle = 0; shuffle <= 2; shuffle++) {
        int size = blosc_compress(3, shuffle, typesizes[which], SIZE, data, chunk, CAPACITY);
        CHECK(size > 0 && size <= CAPACITY);
        blosc_cbuffer_sizes(chunk, &nbytes, &cbytes, &blocksize);
        CHECK_IS(nbytes, SIZE);
        CHECK_IS(cbytes, size);
        CHECK_IS(blosc_cbuffer_validate(chunk, cbytes, &nbytes), 0);
        CHECK(strcmp(blosc_cbuffer_complib(chunk), libraries[codec]) == 0);
        memset(back, 0, SIZE);
        CHECK_IS(blosc_decompress(chunk, back, SIZE), SIZE);
        CHECK(memcmp(back, data, SIZE) == 0);

        CHECK_IS(blosc_compress_ctx(3, shuffle, typesizes[which], SIZE, data, chunk, CAPACITY,
                                    names[codec], 0, 2), size);
        memset(back, 0, SIZE);
        CHECK_IS(blosc_decompress_ctx(chunk, back, SIZE, 2), SIZE);
        CHECK(memcmp(back, data, SIZE) == 0);
      }
    }
  }
}

static void items_are_read(void) {
  int32_t numbers[25], items[25];
  int i;

  for (i = 0; i < 25; i++) numbers[i] = i;
  CHECK_IS(blosc_compress_ctx(5, 1, 4, 100, numbers, chunk, CAPACITY, "lz4", 0, 1), 116);
  CHECK_IS(blosc_getitem(chunk, 2, 5, items), 20);
  for (i = 0; i < 5; i++) CHECK_IS(items[i], i + 2);
  CHECK_IS(blosc_getitem(chunk, 25, 0, items), 0);
  CHECK_IS(blosc_getitem(chunk, 0, 0, NULL), 0);
  CHECK_IS(blosc_getitem(chunk, 20, 6, items), -1);
  CHECK_IS(blosc_getitem(chunk, -1, 2, items), -1);
  /* Row L7 */
  CHECK_IS(blosc_getitem(chunk, 5, -2, items), -1);
  CHECK_IS(blosc_getitem(chunk, 1 << 30, 1, items), -1);
}

static void empty_buffers_can_be_compressed(void) {
  CHECK_IS(blosc_compress_ctx(5, 1, 4, 0, NULL, chunk, 16, "blosclz", 0, 1), 16);
  CHECK_IS(blosc_decompress_ctx(chunk, NULL, 0, 1), 0);
  CHECK_IS(blosc_decompress(chunk, NULL, 0), 0);
}

static void destinations_may_be_too_small(void) {
  size_t i;

  for (i = 0; i < SIZE; i++) back[i] = (uint8_t)(i * i * 2654435761u >> 13);
  CHECK_IS(blosc_compress_ctx(5, 1, 4, 100000, back, chunk, 100016, "lz4", 0, 1), 100016);
  CHECK_IS(blosc_compress_ctx(5, 1, 4, 100000, back, chunk, 100015, "lz4", 0, 1), 0);
  CHECK_IS(blosc_compress_ctx(5, 1, 4, 100000, back, chunk, 15, "lz4", 0, 1), 0);
  CHECK_IS(blosc_compress_ctx(5, 1, 4, 100000, back, chunk, 0, "lz4", 0, 1), 0);
  CHECK_IS(blosc_compress(5, 1, 4, (size_t)BLOSC_MAX_BUFFERSIZE + 1, back, chunk, CAPACITY), 0);
  /* Row L2: a destination larger than a chunk can use. */
  CHECK(blosc_compress(5, 1, 4, 1000, data, chunk, (size_t)-1) > 0);
  CHECK_IS(blosc_decompress(chunk, back, 999), -1);
  CHECK_IS(blosc_decompress(chunk, back, 1000), 1000);
}

static void parameters_may_be_wrong(void) {
  CHECK_IS(blosc_compress(10, 1, 4, 1000, data, chunk, CAPACITY), -10);
  CHECK_IS(blosc_compress(-1, 1, 4, 1000, data, chunk, CAPACITY), -10);
  CHECK_IS(blosc_compress(5, 3, 4, 1000, data, chunk, CAPACITY), -10);
  /* Row L1 */
  CHECK_IS(blosc_compress(5, 1, 0, 1000, data, chunk, CAPACITY), -10);
  CHECK_IS(blosc_compress_ctx(5, 1, 4, 1000, data, chunk, CAPACITY, "LZ4", 0, 1), -5);
  CHECK_IS(blosc_compress_ctx(5, 1, 4, 1000, data, chunk, CAPACITY, "", 0, 1), -5);
  /* Row L10 */
  CHECK(blosc_compress_ctx(5, 1, 4, 1000, data, chunk, CAPACITY, "lz4", 0, 0) > 0);
  CHECK_IS(blosc_compress_ctx(5, 1, 4, SIZE, data, chunk, CAPACITY, "lz4", 65536, 0), -1);
  CHECK_IS(blosc_compress_ctx(5, 1, 4, SIZE, data, chunk, CAPACITY, "lz4", 65536, 257), -1);
  CHECK(blosc_compress_ctx(5, 1, 4, SIZE, data, chunk, CAPACITY, "lz4", 65536, 256) > 0);
  CHECK_IS(blosc_set_nthreads(300), 1);
  CHECK_IS(blosc_get_nthreads(), 300);
  CHECK_IS(blosc_decompress(chunk, back, SIZE), -1);
  CHECK_IS(blosc_set_nthreads(1), 300);
}

/* Row L5 */
static void pointers_may_be_null(void) {
  size_t number = 7;

  CHECK_IS(blosc_compress(5, 1, 4, 1000, NULL, chunk, CAPACITY), -1);
  CHECK_IS(blosc_compress(5, 1, 4, 1000, data, NULL, CAPACITY), -1);
  CHECK_IS(blosc_compress_ctx(5, 1, 4, 1000, data, chunk, CAPACITY, NULL, 0, 1), -5);
  CHECK_IS(blosc_compress_ctx(5, 1, 4, 1000, NULL, chunk, CAPACITY, "lz4", 0, 1), -1);
  CHECK(blosc_compress(5, 1, 4, 1000, data, chunk, CAPACITY) > 0);
  CHECK_IS(blosc_decompress(NULL, back, SIZE), -1);
  CHECK_IS(blosc_decompress(chunk, NULL, SIZE), -1);
  CHECK_IS(blosc_decompress_ctx(NULL, back, SIZE, 1), -1);
  CHECK_IS(blosc_getitem(NULL, 0, 1, back), -1);
  CHECK_IS(blosc_getitem(chunk, 0, 1, NULL), -1);
  CHECK_IS(blosc_cbuffer_validate(NULL, 100, &number), -1);
  CHECK_IS(number, 0);
  number = 7;
  CHECK_IS(blosc_cbuffer_validate(chunk, 15, &number), -1);
  CHECK_IS(number, 0);
  blosc_cbuffer_sizes(NULL, &number, NULL, NULL);
  CHECK_IS(number, 0);
  CHECK(blosc_cbuffer_complib(NULL) == NULL);
  CHECK_IS(blosc_compname_to_compcode(NULL), -1);
  CHECK_IS(blosc_get_complib_info(NULL, NULL, NULL), -1);
  CHECK_IS(blosc_get_complib_info("lz4", NULL, NULL), 1);
}

static void names_have_numbers(void) {
  const char *name;
  char *library, *version;
  int code;

  CHECK(strcmp(blosc_get_version_string(), BLOSC_VERSION_STRING) == 0);
  CHECK(strcmp(blosc_list_compressors(), "blosclz,lz4,lz4hc,snappy,zlib,zstd") == 0);
  for (code = 0; code < 6; code++) {
    CHECK_IS(blosc_compcode_to_compname(code, &name), code);
    CHECK(strcmp(name, names[code]) == 0);
    CHECK_IS(blosc_compname_to_compcode(names[code]), code);
    CHECK_IS(blosc_get_complib_info(names[code], &library, &version), libcodes[code]);
    CHECK(strcmp(library, libraries[code]) == 0);
    CHECK(strlen(version) > 0);
    free(library);
    free(version);
  }
  CHECK_IS(blosc_compcode_to_compname(6, &name), -1);
  CHECK(name == NULL);
  CHECK_IS(blosc_compname_to_compcode("ndlz"), -1);
  CHECK_IS(blosc_get_complib_info("unknown", &library, &version), -1);
  CHECK(library == NULL && version == NULL);
}

/* Rows L8, L9 */
static void settings_persist(void) {
  CHECK_IS(blosc_set_compressor("unknown"), -1);
  CHECK(blosc_get_compressor() == NULL);
  CHECK_IS(blosc_compress(5, 1, 4, 1000, data, chunk, CAPACITY), -5);
  CHECK_IS(blosc_set_compressor("zstd"), 5);
#if SIZE_MAX > UINT32_MAX
  blosc_set_blocksize((size_t)1 << 32);
  CHECK_IS(blosc_get_blocksize(), BLOSC_MAX_BLOCKSIZE);
#endif
  blosc_set_blocksize(4096);
  CHECK_IS(blosc_set_nthreads(3), 1);

  blosc_destroy();
  CHECK_IS(blosc_free_resources(), -1);
  blosc_destroy();
  blosc_init();
  blosc_init();
  CHECK_IS(blosc_free_resources(), 0);
  CHECK(strcmp(blosc_get_compressor(), "zstd") == 0);
  CHECK_IS(blosc_get_blocksize(), 4096);
  CHECK_IS(blosc_get_nthreads(), 3);
  CHECK(blosc_compress(5, 0, 4, SIZE, data, chunk, CAPACITY) > 0);
  CHECK_IS(blosc_decompress(chunk, back, SIZE), SIZE);
  CHECK(memcmp(back, data, SIZE) == 0);
  blosc_set_blocksize(0);
  blosc_set_nthreads(1);
}

/* Row L12, and the conditions under which blocks are split. */
static void block_sizes_are_as_documented(void) {
  static const struct {
    const char *codec;
    int flags[5];
  } modes[] = {
    {"lz4", {0, 0x21, 0x31, 0x31, 0x21}},
    {"zstd", {0, 0x81, 0x91, 0x91, 0x91}},
    {"blosclz", {0, 0x01, 0x11, 0x01, 0x01}},
  };
  size_t nbytes, cbytes, blocksize, i;
  int32_t ramp[25000];
  int mode;

  for (i = 0; i < 25000; i++) ramp[i] = (int32_t)i;
  for (i = 0; i < 3; i++) {
    for (mode = BLOSC_ALWAYS_SPLIT; mode <= BLOSC_FORWARD_COMPAT_SPLIT; mode++) {
      blosc_set_splitmode(mode);
      CHECK(blosc_compress_ctx(5, 1, 4, sizeof ramp, ramp, chunk, CAPACITY, modes[i].codec, 0, 1) > 0);
      CHECK_IS(chunk[2], modes[i].flags[mode]);
    }
  }
  CHECK(blosc_compress_ctx(5, 1, 4, SIZE, data, chunk, CAPACITY, "lz4", 4096, 1) > 0);
  blosc_cbuffer_sizes(chunk, &nbytes, &cbytes, &blocksize);
  CHECK_IS(blocksize, 65536);
}

static void headers_are_read(void) {
  static const int expected[] = {0, BLOSC_DOSHUFFLE, BLOSC_DOBITSHUFFLE};
  size_t typesize, nbytes, cbytes, blocksize;
  int shuffle, flags, version, compversion;

  for (shuffle = 0; shuffle <= 2; shuffle++) {
    CHECK(blosc_compress_ctx(5, shuffle, 4, SIZE, data, chunk, CAPACITY, "lz4", 0, 1) > 0);
    blosc_cbuffer_metainfo(chunk, &typesize, &flags);
    CHECK_IS(typesize, 4);
    CHECK_IS(flags, expected[shuffle]);
    CHECK_IS(blosc_compress_ctx(0, shuffle, 256, 100, data, chunk, CAPACITY, "lz4", 0, 1), 116);
    blosc_cbuffer_metainfo(chunk, &typesize, &flags);
    CHECK_IS(typesize, 1);
    CHECK_IS(flags, expected[shuffle] | BLOSC_MEMCPYED);
  }
  blosc_cbuffer_versions(chunk, &version, &compversion);
  CHECK_IS(version, BLOSC_VERSION_FORMAT);
  CHECK_IS(compversion, BLOSC_LZ4_VERSION_FORMAT);
  /* Outputs may be NULL. */
  blosc_cbuffer_sizes(chunk, NULL, NULL, NULL);
  blosc_cbuffer_metainfo(chunk, NULL, NULL);
  blosc_cbuffer_versions(chunk, NULL, NULL);
  CHECK_IS(blosc_cbuffer_validate(chunk, 116, NULL), 0);

  /* Only the versions of an unknown version are read. */
  chunk[0] = 9;
  blosc_cbuffer_versions(chunk, &version, NULL);
  CHECK_IS(version, 9);
  blosc_cbuffer_metainfo(chunk, &typesize, &flags);
  CHECK_IS(typesize + flags, 0);
  blosc_cbuffer_sizes(chunk, &nbytes, &cbytes, &blocksize);
  CHECK_IS(nbytes + cbytes + blocksize, 0);
  CHECK_IS(blosc_cbuffer_validate(chunk, 116, &nbytes), -1);

  typesize = 3, flags = version = compversion = 3;
  blosc_cbuffer_metainfo(NULL, &typesize, &flags);
  CHECK_IS(typesize + flags, 0);
  blosc_cbuffer_versions(NULL, &version, &compversion);
  CHECK_IS(version + compversion, 0);
}

int main(void) {
  fill_with_data(data, SIZE);
  CHECK_IS(blosc_free_resources(), -1);
  names_have_numbers();
  empty_buffers_can_be_compressed();
  everything_round_trips();
  items_are_read();
  destinations_may_be_too_small();
  parameters_may_be_wrong();
  pointers_may_be_null();
  settings_persist();
  block_sizes_are_as_documented();
  headers_are_read();
  return checks_failed();
}
