/*
 * Names, codes and versions of codecs; rows C12, C13, C15, D10.
 */

#include "check.h"
#include <blosc2.h>
#include <blosc2/codecs-registry.h>
#include <string.h>

static void check_codec(const char *name, int code, int library, const char *library_name) {
  const char *found = NULL;
  char *complib = NULL, *version = NULL;

  CHECK_IS(blosc2_compname_to_compcode(name), code);
  CHECK_IS(blosc2_compcode_to_compname(code, &found), code);
  CHECK(found != NULL && strcmp(found, name) == 0);
  CHECK_IS(blosc2_get_complib_info(name, &complib, &version), library);
  CHECK(complib != NULL && strcmp(complib, library_name) == 0);
  CHECK(version != NULL && version[0] != '\0');
  free(complib);
  free(version);
}

int main(void) {
  static uint8_t data[4000], chunk[4032];
  const char *name;
  char *complib, *version;

  CHECK(strcmp(blosc2_get_version_string(), "3.3.5") == 0);
  CHECK(strcmp(blosc2_get_version_string(), BLOSC2_VERSION_STRING) == 0);
  CHECK(strcmp(blosc2_list_compressors(), "blosclz,lz4,lz4hc,zlib,zstd") == 0);

  check_codec("blosclz", BLOSC_BLOSCLZ, BLOSC_BLOSCLZ_LIB, BLOSC_BLOSCLZ_LIBNAME);
  check_codec("lz4", BLOSC_LZ4, BLOSC_LZ4_LIB, BLOSC_LZ4_LIBNAME);
  check_codec("lz4hc", BLOSC_LZ4HC, BLOSC_LZ4_LIB, BLOSC_LZ4_LIBNAME);
  check_codec("zlib", BLOSC_ZLIB, BLOSC_ZLIB_LIB, BLOSC_ZLIB_LIBNAME);
  check_codec("zstd", BLOSC_ZSTD, BLOSC_ZSTD_LIB, BLOSC_ZSTD_LIBNAME);
  /* Plugins are registered before blosc2_init(). */
  check_codec("ndlz", BLOSC_CODEC_NDLZ, BLOSC_CODEC_NDLZ, "ndlz");

  /* Unknown names and codes. */
  name = "untouched";
  CHECK_IS(blosc2_compcode_to_compname(6, &name), -1);
  CHECK(name == NULL);
  CHECK_IS(blosc2_compcode_to_compname(-1, &name), -1);
  CHECK_IS(blosc2_compcode_to_compname(256, &name), -1);
  CHECK_IS(blosc2_compname_to_compcode("LZ4"), -1);
  CHECK_IS(blosc2_compname_to_compcode("snappy"), -1);
  complib = version = (char *)"untouched";
  CHECK_IS(blosc2_get_complib_info("nothing", &complib, &version), -1);
  CHECK(complib == NULL && version == NULL);

  /* After an unknown compressor, none is selected until a known one is set. */
  CHECK(strcmp(blosc1_get_compressor(), "blosclz") == 0);
  CHECK_IS(blosc1_set_compressor("nothing"), -1);
  CHECK(blosc1_get_compressor() == NULL);
  CHECK_IS(blosc2_compress(5, 1, 4, data, sizeof data, chunk, sizeof chunk),
           BLOSC2_ERROR_CODEC_SUPPORT);
  CHECK_IS(blosc1_set_compressor("ndlz"), BLOSC2_ERROR_CODEC_SUPPORT);
  CHECK(blosc1_get_compressor() == NULL);
  CHECK_IS(blosc1_set_compressor("zstd"), BLOSC_ZSTD);
  CHECK(strcmp(blosc1_get_compressor(), "zstd") == 0);
  CHECK(blosc2_compress(5, 1, 4, data, sizeof data, chunk, sizeof chunk) > 0);
  return checks_failed();
}
