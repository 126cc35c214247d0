/*
 * Reads one file with many threads.
 *
 *   cc many_readers.c -o many_readers -pthread $(pkg-config --cflags --libs blosc2)
 *
 * Any number of threads may read one super-chunk or array. They run in parallel, each with working
 * memory of its own. A call that changes the super-chunk waits for the readers. docs/threads.md
 * lists the calls that read. This is a property of Ferroblosc: with other libraries, open the file
 * once in each thread.
 */

#include <assert.h>
#include <blosc2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNKS = 40, ITEMS = 20 * 1000, READERS = 8 };

static blosc2_schunk *file;

/* A thread, the first chunk that it reads, its buffer and its result. */
typedef struct reader {
  pthread_t thread;
  int first, status;
  int64_t items[ITEMS], sum;
} reader;

/* Adds the numbers of every eighth chunk. */
static void *add_chunks(void *argument) {
  reader *own = argument;
  int nchunk, i;

  for (nchunk = own->first; own->status >= 0 && nchunk < CHUNKS; nchunk += READERS) {
    own->status = blosc2_schunk_decompress_chunk(file, nchunk, own->items, sizeof own->items);
    for (i = 0; own->status >= 0 && i < ITEMS; i++) {
      own->sum += own->items[i];
    }
  }
  return NULL;
}

int main(void) {
  static int64_t items[ITEMS];
  static reader readers[READERS];
  /* Created in the current directory, and removed at the end. */
  char *path = "example-many_readers.b2frame";
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  int64_t sum = 0, count = (int64_t)CHUNKS * ITEMS;
  int nchunk, i;

  blosc2_init();
  /* An interrupted run may have left the file, and a new super-chunk never replaces one. */
  blosc2_remove_urlpath(path);
  storage.contiguous = true;
  storage.urlpath = path;
  file = blosc2_schunk_new(&storage);
  for (nchunk = 0; file != NULL && nchunk < CHUNKS; nchunk++) {
    for (i = 0; i < ITEMS; i++) {
      items[i] = (int64_t)nchunk * ITEMS + i;
    }
    blosc2_schunk_append_buffer(file, items, sizeof items);
  }
  blosc2_schunk_free(file);

  /* One handle, which all threads use. */
  file = blosc2_schunk_open(path);
  if (file == NULL || file->nchunks != CHUNKS) {
    fprintf(stderr, "cannot write %s\n", path);
    return EXIT_FAILURE;
  }
  for (i = 0; i < READERS; i++) {
    readers[i].first = i;
    if (pthread_create(&readers[i].thread, NULL, add_chunks, &readers[i]) != 0) {
      fprintf(stderr, "a thread cannot be started\n");
      return EXIT_FAILURE;
    }
  }
  for (i = 0; i < READERS; i++) {
    pthread_join(readers[i].thread, NULL);
    if (readers[i].status < 0) {
      fprintf(stderr, "%s\n", blosc2_error_string(readers[i].status));
      return EXIT_FAILURE;
    }
    printf("reader %d: the sum of its numbers is %.0f\n", i, (double)readers[i].sum);
    sum += readers[i].sum;
  }
  assert(sum == count * (count - 1) / 2);
  printf("together they read all %d numbers\n", (int)count);

  /* Free the handle after all other calls with it. */
  blosc2_schunk_free(file);
  blosc2_remove_urlpath(path);
  blosc2_destroy();
  return EXIT_SUCCESS;
}
