/*
 * Stores records of different lengths in one chunk.
 *
 *   cc vlblocks.c -o vlblocks $(pkg-config --cflags --libs blosc2)
 *
 * Usually all blocks of a chunk have one length. A chunk with variable-length blocks has a block
 * for each record, such as a text or a picture, and each block can be decompressed alone.
 */

#include <assert.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 100, MOST = 1000, ROOM = RECORDS * (MOST + BLOSC2_MAX_OVERHEAD) };

/* Ends the program if a function returned an error code. */
static void check(int64_t code) {
  if (code < 0) {
    fprintf(stderr, "%s\n", blosc2_error_string((int)code));
    exit(EXIT_FAILURE);
  }
}

int main(void) {
  static char texts[RECORDS][MOST];
  static uint8_t chunk[ROOM];
  const void *records[RECORDS];
  void *restored[RECORDS];
  int32_t sizes[RECORDS], restored_sizes[RECORDS], nblocks, len, total = 0;
  uint8_t *record;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_context *compressor, *decompressor;
  blosc2_schunk *store;
  int i, k, size;

  /* Texts of 12 to 600 bytes. */
  for (i = 0; i < RECORDS; i++) {
    for (sizes[i] = 0, k = 0; k < 1 + i * 7 % 50; k++) {
      sizes[i] += sprintf(texts[i] + sizes[i], "record %03d: ", i);
    }
    records[i] = texts[i];
    total += sizes[i];
  }
  blosc2_init();
  cparams.typesize = 1;
  compressor = blosc2_create_cctx(cparams);
  decompressor = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);

  /* One chunk, one block for each record. 0 means that the chunk does not fit. */
  size = blosc2_vlcompress_ctx(compressor, records, sizes, RECORDS, chunk, ROOM);
  check(size);
  assert(size > 0 && size < total);
  check(blosc2_vlchunk_get_nblocks(chunk, size, &nblocks));
  assert(nblocks == RECORDS);
  printf("%d records of %d bytes became a chunk of %d bytes\n", RECORDS, total, size);

  /* Read all records. The library allocates a buffer for each; the caller frees them. */
  check(blosc2_vldecompress_ctx(decompressor, chunk, size, restored, restored_sizes, RECORDS));
  for (i = 0; i < RECORDS; i++) {
    assert(restored_sizes[i] == sizes[i]);
    assert(memcmp(restored[i], texts[i], (size_t)sizes[i]) == 0);
    free(restored[i]);
  }

  /* Read a single record. A block does not depend on the others. */
  check(blosc2_vldecompress_block_ctx(decompressor, chunk, size, 42, &record, &len));
  assert(len == sizes[42] && memcmp(record, texts[42], (size_t)len) == 0);
  printf("record 42 has %d bytes: %.10s ...\n", len, (char *)record);
  free(record);

  /* A super-chunk stores such chunks, with any number of records and bytes each. */
  storage.cparams = &cparams;
  store = blosc2_schunk_new(&storage);
  if (store == NULL) {
    return EXIT_FAILURE;
  }
  check(blosc2_schunk_append_chunk(store, chunk, true));
  size = blosc2_vlcompress_ctx(compressor, records, sizes, 2, chunk, ROOM);
  check(size);
  check(blosc2_schunk_append_chunk(store, chunk, true));
  check(blosc2_schunk_get_vlblock(store, 1, 1, &record, &len));
  assert(len == sizes[1] && memcmp(record, texts[1], (size_t)len) == 0);
  free(record);
  printf("a super-chunk of %d chunks returned record 1 of chunk 1\n", (int)store->nchunks);

  blosc2_schunk_free(store);
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
  blosc2_destroy();
  return EXIT_SUCCESS;
}
