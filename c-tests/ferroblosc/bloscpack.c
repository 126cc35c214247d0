/* Bloscpack from C: every function, on files in the current directory. */

#include <bloscpack.h>
#include <ferroblosc.h>
#include <string.h>

#include "../check.h"

enum { SIZE = 1000000 };

static char data[SIZE];

static void write_file(const char *name, const void *bytes, size_t size) {
  FILE *file = fopen(name, "wb");
  CHECK(fwrite(bytes, 1, size, file) == size);
  fclose(file);
}

static int64_t file_size(const char *name) {
  FILE *file = fopen(name, "rb");
  int64_t size;
  if (file == NULL) return -1;
  fseek(file, 0, SEEK_END);
  size = ftell(file);
  fclose(file);
  return size;
}

static void bytes_are_packed_and_unpacked(const bloscpack_args *args) {
  void *packed = NULL, *back = NULL;
  char *metadata = NULL;
  int64_t size = bloscpack_pack_bytes(data, SIZE, args, &packed);

  CHECK(size > 0 && size < SIZE);
  CHECK_IS(bloscpack_unpack_bytes(packed, size, 2, &back, &metadata), SIZE);
  CHECK(memcmp(back, data, SIZE) == 0);
  CHECK(strcmp(metadata, "{\"unit\":\"K\"}") == 0);
  free(back);
  free(metadata);

  /* Unpacks without an output for the metadata, then damaged bytes. */
  back = NULL;
  CHECK_IS(bloscpack_unpack_bytes(packed, size, 1, &back, NULL), SIZE);
  free(back);
  ((char *)packed)[size - 1] ^= 1;
  back = NULL;
  CHECK_IS(bloscpack_unpack_bytes(packed, size, 1, &back, NULL), -3);
  CHECK(back == NULL);
  CHECK(strstr(bloscpack_last_error(), "Checksum mismatch detected in chunk") != NULL);
  CHECK(strcmp(ferroblosc_error_string(-3), "Invalid data") == 0);
  free(packed);

  /* Empty input. */
  size = bloscpack_pack_bytes(NULL, 0, NULL, &packed);
  CHECK_IS(size, 140);
  CHECK_IS(bloscpack_unpack_bytes(packed, size, 1, &back, &metadata), 0);
  CHECK(metadata == NULL);
  free(packed);
  free(back);
}

static void files(const bloscpack_args *args) {
  bloscpack_info info;
  char part[100], *metadata = NULL;
  void *back = NULL;
  int64_t size;

  write_file("data", data, SIZE);
  size = bloscpack_pack_file("data", "data.blp", args);
  CHECK(size > 0);
  CHECK_IS(file_size("data.blp"), size);
  CHECK_IS(bloscpack_unpack_file("data.blp", "back", 2, &metadata), SIZE);
  CHECK_IS(file_size("back"), SIZE);
  CHECK(strcmp(metadata, "{\"unit\":\"K\"}") == 0);
  free(metadata);

  CHECK_IS(bloscpack_read_range("data.blp", 123456, sizeof part, part), sizeof part);
  CHECK(memcmp(part, data + 123456, sizeof part) == 0);
  CHECK_IS(bloscpack_read_range("data.blp", SIZE, 1, part), -33);

  CHECK_IS(bloscpack_get_info("data.blp", &info, NULL), 0);
  CHECK_IS(info.nbytes, SIZE);
  CHECK_IS(info.file_size, size);
  CHECK_IS(info.chunk_size, 100000);
  CHECK_IS(info.last_chunk, 100000);
  CHECK_IS(info.nchunks, 10);
  CHECK_IS(info.max_app_chunks, 3);
  CHECK_IS(info.format_version, 3);
  CHECK_IS(info.typesize, 4);
  CHECK_IS(info.checksum, 6);
  CHECK_IS(info.offsets, 1);
  CHECK_IS(info.metadata, 1);

  CHECK_IS(bloscpack_append_bytes("data.blp", data, 1000, NULL), 1000);
  CHECK_IS(bloscpack_append_file("data.blp", "data", NULL), -20);
  CHECK(strcmp(bloscpack_last_error(), "not enough space") == 0);
  write_file("more", data, 150000);
  CHECK_IS(bloscpack_append_file("data.blp", "more", NULL), 150000);
  CHECK_IS(bloscpack_verify("data.blp", 2), 0);
  CHECK_IS(bloscpack_recover("data.blp"), 0);
  CHECK_IS(bloscpack_unpack_bytes_from_file("data.blp", 1, &back, NULL), SIZE + 151000);
  CHECK(memcmp(back, data, SIZE) == 0);
  CHECK(memcmp((char *)back + SIZE, data, 1000) == 0);
  CHECK(memcmp((char *)back + SIZE + 1000, data, 150000) == 0);
  free(back);

  CHECK(bloscpack_pack_bytes_to_file(data, 5, "five.blp", NULL) > 0);
  CHECK_IS(bloscpack_unpack_bytes_from_file("five.blp", 1, &back, &metadata), 5);
  CHECK(metadata == NULL);
  free(back);
}

static void arrays(void) {
  /* A .npy file of 5 bytes. */
  char npy[133];

  memset(npy, ' ', 128);
  memcpy(npy, "\x93NUMPY\x01\0\x76\0{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }", 67);
  npy[127] = '\n';
  memcpy(npy + 128, "12345", 5);
  write_file("five.npy", npy, sizeof npy);
  CHECK(bloscpack_pack_npy("five.npy", "npy.blp", NULL) > 0);
  CHECK_IS(bloscpack_unpack_npy("npy.blp", "back.npy", 1), 5);
  CHECK_IS(file_size("back.npy"), sizeof npy);
  CHECK_IS(bloscpack_unpack_npy("five.blp", "none.npy", 1), -3);
  CHECK_IS(file_size("none.npy"), -1);
}

/* Checks a call that fails with `code` and sets its output to NULL. */
#define FAILS(call, code)   \
  do {                      \
    dest = &args;           \
    CHECK_IS(call, code);   \
    CHECK(dest == NULL);    \
  } while (0)

static void refusals(bloscpack_args args) {
  void *dest;
  char *text;
  bloscpack_info info;

  CHECK_IS(bloscpack_args_default(NULL), -12);
  CHECK_IS(bloscpack_pack_file("data", NULL, NULL), -12);
  CHECK_IS(bloscpack_pack_file("nope", "x", NULL), -16);
  CHECK(strstr(bloscpack_last_error(), "os error 2") != NULL);
  CHECK_IS(bloscpack_pack_file(NULL, "x", NULL), -12);
  CHECK(strcmp(bloscpack_last_error(), "the path is NULL") == 0);
  CHECK_IS(bloscpack_pack_file("data", "data", NULL), -12);
  FAILS(bloscpack_pack_bytes(NULL, 1, NULL, &dest), -12);
  CHECK_IS(bloscpack_pack_bytes(data, 1, NULL, NULL), -12);
  FAILS(bloscpack_unpack_bytes(NULL, 1, 1, &dest, NULL), -12);
  FAILS(bloscpack_unpack_bytes(data, 3, 1, &dest, NULL), -11);
  CHECK_IS(bloscpack_read_range("data.blp", 0, 1, NULL), -12);
  CHECK_IS(bloscpack_read_range("nope", 0, 0, NULL), -16);
  CHECK(bloscpack_read_range(".", 0, 0, NULL) < 0);
  CHECK(strncmp(bloscpack_last_error(), "cannot open .: ", 15) == 0);
  CHECK_IS(bloscpack_get_info(NULL, NULL, NULL), -12);
  info.nbytes = 1;
  text = (char *)&info;
  FAILS(bloscpack_unpack_bytes(data, 3, 1, &dest, &text), -11);
  CHECK(text == NULL);
  text = (char *)&info;
  FAILS(bloscpack_unpack_bytes_from_file("nope", 1, &dest, &text), -16);
  CHECK(text == NULL);
  text = (char *)&info;
  CHECK_IS(bloscpack_unpack_file("nope", "x", 1, &text), -16);
  CHECK(text == NULL);
  text = (char *)&info;
  CHECK_IS(bloscpack_get_info("nope", &info, &text), -16);
  CHECK(text == NULL && info.nbytes == 0);
  CHECK_IS(bloscpack_get_info("data.blp", NULL, NULL), 0);
  CHECK_IS(bloscpack_append_bytes("data.blp", NULL, 1, NULL), -12);
  CHECK_IS(bloscpack_recover(NULL), -12);
  CHECK_IS(bloscpack_verify("nope", 1), -16);
  args.codec = "lzo";
  FAILS(bloscpack_pack_bytes(data, 1, &args, &dest), -7);
  args.codec = NULL;
  args.checksum = "crc";
  FAILS(bloscpack_pack_bytes(data, 1, &args, &dest), -12);
  args.checksum = NULL;
  args.metadata = "{";
  FAILS(bloscpack_pack_bytes(data, 1, &args, &dest), -3);
  args.metadata = NULL;
  args.shuffle = 3;
  FAILS(bloscpack_pack_bytes(data, 1, &args, &dest), -12);
  CHECK(strcmp(bloscpack_last_error(), "Invalid parameter supplied to function") == 0);
  CHECK_IS(bloscpack_pack_file("nope", "x", NULL), -16);
  CHECK_IS(bloscpack_args_default(NULL), -12);
  CHECK(strcmp(bloscpack_last_error(), "Invalid parameter supplied to function") == 0);
  args.shuffle = 1;
  args.chunk_size = 0;
  FAILS(bloscpack_pack_bytes(data, 1, &args, &dest), -12);
}

int main(void) {
  bloscpack_args args;

  fill_with_data(data, SIZE);
  CHECK(strcmp(bloscpack_last_error(), "") == 0);
  CHECK_IS(bloscpack_args_default(&args), 0);
  CHECK_IS(args.chunk_size, 1048576);
  args.codec = "zstd";
  args.checksum = "sha256";
  args.metadata = "{\"unit\": \"K\"}";
  args.chunk_size = 100000;
  args.max_app_chunks = 3;
  args.typesize = 4;
  args.nthreads = 2;
  bytes_are_packed_and_unpacked(&args);
  files(&args);
  arrays();
  refusals(args);
  return checks_failed();
}
