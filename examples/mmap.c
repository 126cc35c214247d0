/*
 * Reads a file through a memory mapping.
 *
 *   cc mmap.c -o mmap $(pkg-config --cflags --libs blosc2)
 *
 * A mapped file appears in the address space of the process, and the system loads its pages when
 * they are first used. Compressed chunks are then decompressed directly from the page cache,
 * without a copy. Do not map files that other processes may truncate (docs/threads.md).
 */

#include <assert.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 20, ITEMS = 50 * 1000 };

/* Ends the program if a function returned an error code. */
static void check(int64_t code) {
  if (code < 0) {
    fprintf(stderr, "%s\n", blosc2_error_string((int)code));
    exit(EXIT_FAILURE);
  }
}

/* Ends the program if a super-chunk could not be created or opened. */
static blosc2_schunk *opened(blosc2_schunk *schunk) {
  if (schunk == NULL) {
    fprintf(stderr, "cannot open the file; with BLOSC_TRACE=1 the library prints the reason\n");
    exit(EXIT_FAILURE);
  }
  return schunk;
}

int main(void) {
  static uint32_t items[ITEMS], all[CHUNKS * ITEMS];
  /* Created in the current directory, and removed at the end. */
  char *path = "example-mmap.b2frame";
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  /* The mode "r" only reads. The struct belongs to one file and must exist until it is closed. */
  blosc2_stdio_mmap parameters = BLOSC2_STDIO_MMAP_DEFAULTS;
  blosc2_io io = {BLOSC2_IO_FILESYSTEM_MMAP, "filesystem_mmap", NULL};
  blosc2_schunk *file, *mapped;
  uint8_t *chunk, *copy;
  bool is_copy, needs_free;
  int size, same_size;
  uint32_t i, nchunk;

  blosc2_init();
  /* An interrupted run may have left the file, and a new super-chunk never replaces one. */
  check(blosc2_remove_urlpath(path));

  /* Write a file with ordinary I/O. */
  cparams.typesize = sizeof(uint32_t);
  storage.cparams = &cparams;
  storage.contiguous = true;
  storage.urlpath = path;
  file = opened(blosc2_schunk_new(&storage));
  for (nchunk = 0; nchunk < CHUNKS; nchunk++) {
    for (i = 0; i < ITEMS; i++) {
      items[i] = nchunk * ITEMS + i;
    }
    check(blosc2_schunk_append_buffer(file, items, sizeof items));
  }

  io.params = &parameters;
  mapped = opened(blosc2_schunk_open_udio(path, &io));
  printf("mapped %s: %d chunks\n", path, (int)mapped->nchunks);

  /* A compressed chunk is a pointer into the mapping; with ordinary I/O it is a copy. */
  size = blosc2_schunk_get_chunk(mapped, 7, &chunk, &needs_free);
  check(size);
  assert(!needs_free);
  same_size = blosc2_schunk_get_chunk(file, 7, &copy, &is_copy);
  check(same_size);
  assert(is_copy && size == same_size && memcmp(chunk, copy, (size_t)size) == 0);
  free(copy);
  printf("chunk 7: %d bytes, borrowed from the mapping\n", size);

  /* All other functions work as with an ordinary file. */
  check(blosc2_schunk_get_slice_buffer(mapped, 0, CHUNKS * ITEMS, all));
  for (i = 0; i < CHUNKS * ITEMS; i++) {
    assert(all[i] == i);
  }
  printf("read %d items through the mapping\n", CHUNKS * ITEMS);

  blosc2_schunk_free(mapped);
  blosc2_schunk_free(file);
  check(blosc2_remove_urlpath(path));
  blosc2_destroy();
  return EXIT_SUCCESS;
}
