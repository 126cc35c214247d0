/*
 * The inline functions of the headers, on structs built by the test.
 */

#include "check.h"
#include <b2nd.h>
#include <string.h>

static void metalayers(void) {
  static blosc2_schunk schunk;
  blosc2_metalayer full = {(char *)"full", (uint8_t *)"abc", 3}, empty = {(char *)"empty", NULL, 0};
  blosc2_metalayer broken = {(char *)"broken", NULL, 3};
  uint8_t *content;
  int32_t size;

  schunk.metalayers[0] = &full;
  schunk.metalayers[1] = &empty;
  schunk.metalayers[2] = &broken;
  schunk.nmetalayers = 3;
  CHECK_IS(blosc2_meta_exists(&schunk, "empty"), 1);
  CHECK_IS(blosc2_meta_exists(&schunk, "none"), BLOSC2_ERROR_NOT_FOUND);
  CHECK_IS(blosc2_meta_exists(&schunk, "a name that is longer than any can be"),
           BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_meta_exists(NULL, "full"), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_meta_get(&schunk, "full", &content, &size), 0);
  CHECK(size == 3 && memcmp(content, "abc", 3) == 0 && content != full.content);
  free(content);
  CHECK_IS(blosc2_meta_get(&schunk, "empty", &content, &size), 1);
  CHECK(size == 0 && content == NULL);
  CHECK_IS(blosc2_meta_get(&schunk, "broken", &content, &size), BLOSC2_ERROR_DATA);
  CHECK_IS(blosc2_meta_get(&schunk, "none", &content, &size), BLOSC2_ERROR_NOT_FOUND);
  CHECK_IS(blosc2_meta_get(&schunk, "full", NULL, &size), BLOSC2_ERROR_INVALID_PARAM);
}

static void arrays(void) {
  static const uint8_t meta[] = {
      0x97, 0, 2,
      0x92, 0xd3, 0, 0, 0, 0, 0, 0, 0, 5, 0xd3, 0, 0, 0, 1, 0, 0, 0, 7,
      0x92, 0xd2, 0, 0, 0, 4, 0xd2, 0, 0, 1, 4,
      0x92, 0xd2, 0, 0, 0, 2, 0xd2, 0, 0, 0, 3,
      0, 0xdb, 0, 0, 0, 3, '<', 'i', '4'};
  enum { SIZE = sizeof meta, DTYPE_AT = 44 };
  int64_t shape[B2ND_MAX_DIM];
  int32_t chunkshape[B2ND_MAX_DIM], blockshape[B2ND_MAX_DIM], size;
  uint8_t copy[SIZE];
  int8_t ndim, format;
  char *dtype;

#define READ(bytes, size) \
  b2nd_deserialize_meta_inline(bytes, size, &ndim, shape, chunkshape, blockshape, &dtype, &format)
  CHECK_IS(READ(meta, SIZE), SIZE);
  CHECK(ndim == 2 && shape[0] == 5 && shape[1] == ((int64_t)1 << 32) + 7);
  CHECK(chunkshape[0] == 4 && chunkshape[1] == 260 && blockshape[0] == 2 && blockshape[1] == 3);
  CHECK(format == 0 && strcmp(dtype, "<i4") == 0);
  free(dtype);

  /* The older layout ends after the shapes; every other truncation is an error. */
  CHECK_IS(READ(meta, DTYPE_AT), DTYPE_AT);
  CHECK(dtype == NULL && format == 0);
  for (size = -1; size < SIZE; size++) {
    if (size != DTYPE_AT) {
      CHECK(READ(meta, size) < 0);
      CHECK(dtype == NULL);
    }
  }
  CHECK_IS(b2nd_deserialize_meta_inline(meta, SIZE, &ndim, shape, chunkshape, blockshape, NULL, NULL),
           DTYPE_AT);
  CHECK_IS(READ(NULL, SIZE), BLOSC2_ERROR_NULL_POINTER);
  memcpy(copy, meta, SIZE);
  copy[2] = B2ND_MAX_DIM + 1;
  CHECK(READ(copy, SIZE) < 0);
  memcpy(copy, meta, SIZE);
  memset(copy + DTYPE_AT + 2, 0xff, 4);
  CHECK(READ(copy, SIZE) < 0);
  CHECK(dtype == NULL);
}

static void numbers(void) {
  int64_t number = 0x0102030405060708;
  uint8_t bytes[8];

  swap_store(bytes, &number, 8);
  CHECK(bytes[0] == 1 && bytes[7] == 8);
  swap_store(bytes, &number, 2);
  CHECK(bytes[0] == 7 && bytes[1] == 8 && bytes[2] == 3);
  CHECK(strcmp(print_error(BLOSC2_ERROR_DATA), "Invalid data") == 0);
}

static int traced(int rc) {
  BLOSC_ERROR(rc);
  return 1;
}

static int null_checked(const void *pointer) {
  BLOSC_ERROR_NULL(pointer, BLOSC2_ERROR_NULL_POINTER);
  return 1;
}

int main(void) {
  metalayers();
  arrays();
  numbers();
  CHECK_IS(traced(BLOSC2_ERROR_DATA), BLOSC2_ERROR_DATA);
  CHECK_IS(traced(5), 1);
  CHECK_IS(null_checked(NULL), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(null_checked("something"), 1);
  return checks_failed();
}
