/*
 * Stores a super-chunk by functions of the program.
 *
 *   cc custom_io.c -o custom_io $(pkg-config --cflags --libs blosc2)
 *
 * An I/O backend is a set of functions that open, read and write files. This one writes all bits
 * inverted, as a stand-in for encryption, and counts the bytes that are read. For everything else
 * it uses the functions of the built-in backend.
 */

#include <assert.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>

enum { INVERTED = BLOSC2_IO_REGISTERED, CHUNKS = 10, ITEMS = 10 * 1000 };

/* If several threads use the super-chunk, they call the functions at the same time: a counter then
   needs a lock. */
static int64_t bytes_read = 0;

/* Writes items at a position; returns the number of whole items. */
static int64_t inverted_write(const void *ptr, int64_t size, int64_t nitems, int64_t position,
                              void *stream) {
  const uint8_t *bytes = ptr;
  uint8_t part[4096];
  int64_t at, i;

  for (at = 0; at < size * nitems; at += i) {
    for (i = 0; i < (int64_t)sizeof part && at + i < size * nitems; i++) {
      part[i] = (uint8_t)~bytes[at + i];
    }
    if (blosc2_stdio_write(part, 1, i, position + at, stream) != i) {
      return at / size;
    }
  }
  return nitems;
}

/* Reads items at a position into the buffer *ptr; returns the number of whole items. */
static int64_t inverted_read(void **ptr, int64_t size, int64_t nitems, int64_t position,
                             void *stream) {
  uint8_t *bytes = *ptr;
  int64_t i, count = blosc2_stdio_read(ptr, size, nitems, position, stream);

  for (i = 0; i < size * count; i++) {
    bytes[i] = (uint8_t)~bytes[i];
  }
  bytes_read += i;
  return count;
}

/* Called with the `params` of the blosc2_io when a super-chunk is freed. There are none here. */
static int inverted_destroy(void *params) {
  (void)params;
  return 0;
}

/* Ends the program if a function returned an error code. */
static void check(int64_t code) {
  if (code < 0) {
    fprintf(stderr, "%s\n", blosc2_error_string((int)code));
    exit(EXIT_FAILURE);
  }
}

int main(void) {
  static uint32_t items[ITEMS];
  /* `true`: the library allocates the buffer that inverted_read() fills. */
  const blosc2_io_cb backend = {INVERTED,           "example_inverted",    true,
                                blosc2_stdio_open,  blosc2_stdio_close,    blosc2_stdio_size,
                                inverted_write,     inverted_read,         blosc2_stdio_truncate,
                                inverted_destroy};
  blosc2_io io = {INVERTED, "example_inverted", NULL};
  int64_t size;
  /* Created in the current directory, and removed at the end. The library checks with the file
     system that the path does not exist when it creates a super-chunk, and exists when it opens
     one: a backend that stores its data elsewhere needs an empty file at the path. */
  char *path = "example-custom_io.b2frame";
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *schunk;
  uint32_t i, nchunk, item;

  blosc2_init();
  check(blosc2_remove_urlpath(path));
  check(blosc2_register_io_cb(&backend));
  cparams.typesize = sizeof(uint32_t);
  storage.cparams = &cparams;
  storage.contiguous = true;
  storage.urlpath = path;
  storage.io = &io;
  schunk = blosc2_schunk_new(&storage);
  for (nchunk = 0; schunk != NULL && nchunk < CHUNKS; nchunk++) {
    for (i = 0; i < ITEMS; i++) {
      items[i] = nchunk * ITEMS + i;
    }
    check(blosc2_schunk_append_buffer(schunk, items, sizeof items));
  }
  blosc2_schunk_free(schunk);

  /* Without the backend the file is not a frame. */
  assert(blosc2_schunk_open(path) == NULL);

  /* Read one item: the library reads the header, the index and one block, not the whole file. */
  bytes_read = 0;
  schunk = blosc2_schunk_open_udio(path, &io);
  check(schunk != NULL ? 0 : BLOSC2_ERROR_FILE_OPEN);
  check(blosc2_schunk_get_slice_buffer(schunk, 54321, 54322, &item));
  size = blosc2_schunk_frame_len(schunk);
  assert(item == 54321 && bytes_read < size);
  printf("read one item: %d of the %d bytes of the file\n", (int)bytes_read, (int)size);

  blosc2_schunk_free(schunk);
  check(blosc2_remove_urlpath(path));
  blosc2_destroy();
  return EXIT_SUCCESS;
}
