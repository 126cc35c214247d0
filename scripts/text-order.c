/* Common uses of libblosc2, from which scripts/text-order.sh determines the functions they call.
 *
 * usage: text-order memory|files|others FOLDER
 *
 * memory: chunks, and a super-chunk that is appended to, read, sliced and has a metalayer. files:
 * super-chunks in a file and in a directory, written and opened again. others: chunks without
 * contexts, a frame in memory, an array. */
#include <b2nd.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 10000, BYTES = ITEMS * 8, CHUNKS = 10 };
static int64_t data[ITEMS], back[ITEMS];
static uint8_t chunk[BYTES + BLOSC2_MAX_OVERHEAD];

static int done(int code, const char *what) {
  if (code < 0) fprintf(stderr, "%s: %d\n", what, code);
  return code < 0;
}

static int with_chunks(void) {
  int failures = 0;
  int size = blosc2_compress(5, BLOSC_SHUFFLE, 8, data, BYTES, chunk, sizeof chunk);
  failures += done(size, "compress");
  failures += done(blosc2_decompress(chunk, size, back, BYTES), "decompress");
  failures += done(blosc2_getitem(chunk, size, 5, 10, back, BYTES), "getitem");
  failures += done(blosc1_compress(5, BLOSC_SHUFFLE, 8, BYTES, data, chunk, sizeof chunk), "compress as Blosc 1");
  failures += done(blosc1_decompress(chunk, back, BYTES), "decompress as Blosc 1");
  return failures;
}

static int with_contexts(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor;
  int failures = 0, size;

  cparams.typesize = 8;
  compressor = blosc2_create_cctx(cparams);
  decompressor = blosc2_create_dctx(dparams);
  size = blosc2_compress_ctx(compressor, data, BYTES, chunk, sizeof chunk);
  failures += done(size, "compress_ctx");
  failures += done(blosc2_decompress_ctx(decompressor, chunk, size, back, BYTES), "decompress_ctx");
  failures += done(blosc2_getitem_ctx(decompressor, chunk, size, 5, 10, back, BYTES), "getitem_ctx");
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
  return failures;
}

static int with_schunk(const char *path, bool contiguous) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_storage storage = {
      .contiguous = contiguous, .urlpath = (char *)path, .cparams = &cparams, .dparams = &dparams};
  blosc2_schunk *schunk;
  uint8_t *got;
  bool needs_free;
  int failures = 0, i;

  cparams.typesize = 8;
  if (path != NULL) blosc2_remove_urlpath(path);
  schunk = blosc2_schunk_new(&storage);
  if (schunk == NULL) return 1;
  for (i = 0; i < CHUNKS; i++) failures += done((int)blosc2_schunk_append_buffer(schunk, data, BYTES), "append");
  failures += done(blosc2_vlmeta_add(schunk, "name", (uint8_t *)"one", 3, NULL), "vlmeta_add");
  failures += done(blosc2_vlmeta_update(schunk, "name", (uint8_t *)"another", 7, NULL), "vlmeta_update");
  if (path != NULL) {
    blosc2_schunk_free(schunk);
    schunk = blosc2_schunk_open(path);
    if (schunk == NULL) return failures + 1;
  }
  for (i = 0; i < CHUNKS; i++) failures += done(blosc2_schunk_decompress_chunk(schunk, i, back, BYTES), "decompress");
  failures += done((int)blosc2_schunk_append_chunk(schunk, chunk, true), "append_chunk");
  failures += done(blosc2_schunk_get_chunk(schunk, 1, &got, &needs_free), "get_chunk");
  if (needs_free) free(got);
  failures += done(blosc2_schunk_get_lazychunk(schunk, 1, &got, &needs_free), "get_lazychunk");
  if (needs_free) free(got);
  failures += done(blosc2_schunk_get_slice_buffer(schunk, 100, 200, back), "get_slice");
  blosc2_schunk_free(schunk);
  return failures;
}

static int with_array(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = {.cparams = &cparams};
  const int64_t shape[] = {100, 100}, start[] = {10, 20}, stop[] = {20, 60}, part[] = {10, 40};
  const int32_t chunks[] = {50, 50}, blocks[] = {10, 50};
  b2nd_context_t *context;
  b2nd_array_t *array;
  int failures = 0;

  cparams.typesize = 8;
  context = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, NULL, 0, NULL, 0);
  failures += done(b2nd_from_cbuffer(context, &array, data, BYTES), "from_cbuffer");
  failures += done(b2nd_get_slice_cbuffer(array, start, stop, back, part, 400 * 8), "get_slice_cbuffer");
  b2nd_free(array);
  b2nd_free_ctx(context);
  return failures;
}

int main(int argc, char **argv) {
  char path[4096];
  int failures, i;

  if (argc != 3) return 2;
  for (i = 0; i < ITEMS; i++) data[i] = (int64_t)i * i * 77777;
  blosc2_init();
  failures = with_contexts();
  if (strcmp(argv[1], "memory") == 0) {
    failures += with_schunk(NULL, false);
  } else if (strcmp(argv[1], "files") == 0) {
    snprintf(path, sizeof path, "%s/file.b2frame", argv[2]);
    failures += with_schunk(path, true);
    snprintf(path, sizeof path, "%s/folder.b2frame", argv[2]);
    failures += with_schunk(path, false);
  } else {
    failures += with_chunks() + with_schunk(NULL, true) + with_array();
  }
  blosc2_destroy();
  return failures != 0;
}
