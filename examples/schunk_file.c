/*
 * Stores chunks in a file, appends to it later and reads it.
 *
 *   cc schunk_file.c -o schunk_file $(pkg-config --cflags --libs blosc2)
 *
 * A super-chunk is a sequence of compressed chunks. In a file it is a frame: header, chunks, an
 * index of the chunks, and a trailer. Chunks are compressed and read one by one, so neither writing
 * nor reading needs all the data in memory.
 */

#include <assert.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 10 * 1000 };

/* The items of a chunk: consecutive integers. */
static int64_t items[ITEMS], read_items[ITEMS];

static void fill(int64_t nchunk) {
  int i;

  for (i = 0; i < ITEMS; i++) {
    items[i] = nchunk * ITEMS + i;
  }
}

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
  /* Created in the current directory, and removed at the end. */
  char *path = "example-schunk_file.b2frame";
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *file;
  int64_t nchunk, four[4];

  blosc2_init();
  /* An interrupted run may have left the file, and a new super-chunk never replaces one. */
  check(blosc2_remove_urlpath(path));

  /* The parameters for compression are stored in the file: later writers use them, too. */
  cparams.typesize = sizeof items[0];
  cparams.clevel = 7;
  storage.cparams = &cparams;
  storage.contiguous = true; /* one file; false: a directory with a file for each chunk */
  storage.urlpath = path;
  file = opened(blosc2_schunk_new(&storage));
  for (nchunk = 0; nchunk < 5; nchunk++) {
    fill(nchunk);
    check(blosc2_schunk_append_buffer(file, items, sizeof items));
  }
  printf("created %s with %d chunks\n", path, (int)file->nchunks);
  blosc2_schunk_free(file); /* frees the memory; the file stays */

  /* Open the file again and append. After each call the file is complete. */
  file = opened(blosc2_schunk_open(path));
  for (nchunk = 5; nchunk < 8; nchunk++) {
    fill(nchunk);
    check(blosc2_schunk_append_buffer(file, items, sizeof items));
  }
  blosc2_schunk_free(file);

  file = opened(blosc2_schunk_open(path));
  assert(file->nchunks == 8 && file->nbytes == 8 * (int64_t)sizeof items);
  printf("%d bytes are stored as %d\n", (int)file->nbytes, (int)file->cbytes);

  /* Read a whole chunk ... */
  check(blosc2_schunk_decompress_chunk(file, 6, read_items, sizeof read_items));
  fill(6);
  assert(memcmp(read_items, items, sizeof items) == 0);

  /* ... or a range of items, here around the border of two chunks. Only their blocks are read. */
  check(blosc2_schunk_get_slice_buffer(file, 2 * ITEMS - 2, 2 * ITEMS + 2, four));
  assert(four[0] == 19998 && four[3] == 20001);
  printf("items 19998 to 20001: %d %d %d %d\n", (int)four[0], (int)four[1], (int)four[2],
         (int)four[3]);

  blosc2_schunk_free(file);
  check(blosc2_remove_urlpath(path));
  blosc2_destroy();
  return EXIT_SUCCESS;
}
