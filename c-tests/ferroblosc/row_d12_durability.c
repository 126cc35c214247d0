/* Durable changes and checksums, enabled by the I/O backend of a super-chunk; detection of
 * damage. */

#include <blosc2.h>
#include <ferroblosc.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"

#define ITEMS 1000
#define CHUNKS 4

static int32_t items[ITEMS];

/* Creates a super-chunk at a path with this backend. */
static void make(char *urlpath, bool contiguous, uint8_t id) {
  blosc2_io io = {.id = id, .name = "", .params = NULL};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *schunk;
  int i, n;

  cparams.typesize = sizeof items[0];
  storage.contiguous = contiguous;
  storage.urlpath = urlpath;
  storage.cparams = &cparams;
  storage.io = &io;
  blosc2_remove_urlpath(urlpath);
  schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  if (schunk == NULL)
    return;
  for (n = 0; n < CHUNKS; n++) {
    for (i = 0; i < ITEMS; i++)
      items[i] = i * (n + 1);
    CHECK(blosc2_schunk_append_buffer(schunk, items, sizeof items) == n + 1);
  }
  CHECK(blosc2_schunk_free(schunk) == 0);
}

static long size_of(const char *path) {
  FILE *file = fopen(path, "rb");
  long size;

  if (file == NULL)
    return -1;
  fseek(file, 0, SEEK_END);
  size = ftell(file);
  fclose(file);
  return size;
}

/* Changes a byte of a file. */
static void flip(const char *path, long at) {
  FILE *file = fopen(path, "rb+");
  int byte;

  CHECK(file != NULL);
  if (file == NULL)
    return;
  fseek(file, at, SEEK_SET);
  byte = fgetc(file);
  fseek(file, at, SEEK_SET);
  fputc(byte ^ 1, file);
  fclose(file);
}

/* Writes a frame in memory to the path of a file that a reader has open. */
static void replace(void) {
  char old[8] = "";
  blosc2_io io = {.id = FERROBLOSC_IO_DURABLE, .name = "", .params = NULL};
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *schunk;
  FILE *file = fopen("replaced.b2frame", "wb");

  CHECK(file != NULL && fputs("old", file) >= 0 && fclose(file) == 0);
  file = fopen("replaced.b2frame", "rb");
  storage.contiguous = true;
  storage.io = &io;
  schunk = blosc2_schunk_new(&storage);
  CHECK(file != NULL && schunk != NULL);
  CHECK(blosc2_schunk_append_buffer(schunk, items, sizeof items) == 1);
  CHECK(blosc2_schunk_to_file(schunk, "replaced.b2frame") == size_of("replaced.b2frame"));
  CHECK(size_of("replaced.b2frame.b2tmp") == -1);
  CHECK(blosc2_schunk_free(schunk) == 0);
  /* The old file is unchanged, although it has no name any more. */
  CHECK(fread(old, 1, sizeof old, file) == 3 && strcmp(old, "old") == 0);
  fclose(file);
  schunk = blosc2_schunk_open("replaced.b2frame");
  CHECK(schunk != NULL && schunk->nchunks == 1);
  blosc2_schunk_free(schunk);
}

int main(void) {
  ferroblosc_report report;
  int64_t bad[CHUNKS];
  int32_t back[ITEMS];
  blosc2_schunk *schunk;
  uint8_t *cframe;
  FILE *file;
  long size;

  blosc2_init();
  make("plain.b2frame", true, BLOSC2_IO_FILESYSTEM);
  make("durable.b2frame", true, FERROBLOSC_IO_DURABLE);
  make("checksums.b2frame", true, FERROBLOSC_IO_CHECKSUMS);
  make("both.b2frame", true, FERROBLOSC_IO_DURABLE_CHECKSUMS);
  make("directory.b2frame", false, FERROBLOSC_IO_DURABLE_CHECKSUMS);

  CHECK(ferroblosc_verify("plain.b2frame", 0, &report, NULL, 0) == 0);
  CHECK(report.nchunks == CHUNKS && report.compared == 0 && report.decompressed == CHUNKS);
  CHECK(report.fingerprint == FERROBLOSC_FINGERPRINT_NONE);
  CHECK(ferroblosc_verify("durable.b2frame", 0, &report, NULL, 0) == 0);
  CHECK(report.compared == 0 && report.fingerprint == FERROBLOSC_FINGERPRINT_NONE);
  CHECK(ferroblosc_verify("checksums.b2frame", 0, &report, NULL, 0) == 0);
  CHECK(report.compared == CHUNKS && report.decompressed == 0);
  CHECK(report.fingerprint == FERROBLOSC_FINGERPRINT_RIGHT);
  CHECK(ferroblosc_verify("both.b2frame", 0, &report, NULL, 0) == 0);
  CHECK(report.compared == CHUNKS && report.fingerprint == FERROBLOSC_FINGERPRINT_RIGHT);
  CHECK(ferroblosc_verify("directory.b2frame", 0, &report, NULL, 0) == 0);
  CHECK(report.compared == CHUNKS);
  CHECK(size_of("plain.b2frame") < size_of("checksums.b2frame"));

#ifndef _WIN32
  replace();
#endif

  /* Damage to a byte of a chunk. */
  size = size_of("directory.b2frame/00000002.chunk");
  flip("directory.b2frame/00000002.chunk", size - 1);
  bad[0] = -1;
  CHECK(ferroblosc_verify("directory.b2frame", 0, &report, bad, CHUNKS) == 1);
  CHECK(report.bad_chunks == 1 && bad[0] == 2);
  schunk = blosc2_schunk_open("directory.b2frame");
  CHECK(schunk != NULL);
  if (schunk != NULL) {
    CHECK(blosc2_schunk_decompress_chunk(schunk, 2, back, sizeof back) == BLOSC2_ERROR_DATA);
    CHECK(blosc2_schunk_decompress_chunk(schunk, 3, back, sizeof back) == sizeof back);
    CHECK(memcmp(back, items, sizeof back) == 0);
    blosc2_schunk_free(schunk);
  }

  /* Verification of a frame in a buffer. */
  size = size_of("checksums.b2frame");
  cframe = malloc((size_t)size);
  file = fopen("checksums.b2frame", "rb");
  CHECK(fread(cframe, 1, (size_t)size, file) == (size_t)size);
  fclose(file);
  CHECK(ferroblosc_verify_buffer(cframe, (size_t)size, &report, bad, CHUNKS) == 0);
  /* The first chunk follows the header of 97 bytes. */
  cframe[97 + 40] ^= 1;
  CHECK(ferroblosc_verify_buffer(cframe, (size_t)size, &report, bad, CHUNKS) == 1);
  CHECK(report.bad_chunks == 1 && bad[0] == 0);
  CHECK(ferroblosc_verify_buffer(cframe, (size_t)size, NULL, NULL, 0) == 1);
  CHECK(ferroblosc_verify_buffer(cframe, 50, NULL, NULL, 0) < 0);
  free(cframe);

  report.nchunks = 1;
  CHECK(ferroblosc_verify("nothing.b2frame", 0, &report, NULL, 0) == BLOSC2_ERROR_FILE_OPEN);
  CHECK(report.nchunks == 0);
  report.nchunks = 1;
  CHECK(ferroblosc_verify_buffer("no frame", 8, &report, NULL, 0) < 0);
  CHECK(report.nchunks == 0);
  CHECK(ferroblosc_verify(NULL, 0, NULL, NULL, 0) == BLOSC2_ERROR_INVALID_PARAM);
  CHECK(ferroblosc_verify("plain.b2frame", 0, NULL, NULL, 1) == BLOSC2_ERROR_INVALID_PARAM);
  CHECK(ferroblosc_verify("plain.b2frame", -1, NULL, NULL, 0) == BLOSC2_ERROR_INVALID_PARAM);
  blosc2_destroy();
  return checks_failed();
}
