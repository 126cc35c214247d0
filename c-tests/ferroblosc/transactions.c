/*
 * Transactions of super-chunks and arrays: commit, rollback, nesting, locks, and forks, which
 * Windows lacks.
 */

#include <b2nd.h>
#include <blosc2.h>
#include <ferroblosc.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/stat.h>
#include <sys/wait.h>
#endif
#include <unistd.h>

#include "../check.h"

#define ITEMS 1000

static int32_t items[ITEMS];

static void fill(int32_t first) {
  int i;

  for (i = 0; i < ITEMS; i++)
    items[i] = first + i * i;
}

static blosc2_storage storage_of(char *urlpath, bool contiguous, blosc2_io *io,
                                 blosc2_cparams *cparams) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;

  cparams->typesize = sizeof items[0];
  storage.contiguous = contiguous;
  storage.urlpath = urlpath;
  storage.cparams = cparams;
  storage.io = io;
  return storage;
}

static blosc2_io durable = {.id = FERROBLOSC_IO_DURABLE, .name = "", .params = NULL};

static blosc2_schunk *make(char *urlpath, bool contiguous) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = storage_of(urlpath, contiguous, &durable, &cparams);

  blosc2_remove_urlpath(urlpath);
  return blosc2_schunk_new(&storage);
}

static void append(blosc2_schunk *schunk, int32_t first) {
  int64_t before = schunk->nchunks;

  fill(first);
  CHECK(blosc2_schunk_append_buffer(schunk, items, sizeof items) == before + 1);
}

/* Returns the first item of a chunk, or a negative error. */
static int32_t first_of(blosc2_schunk *schunk, int64_t nchunk) {
  static int32_t dest[ITEMS];
  int size = blosc2_schunk_decompress_chunk(schunk, nchunk, dest, sizeof dest);

  return size < 0 ? size : dest[0];
}

/* Returns the number of chunks that another handle finds. */
static int64_t chunks_on_disk(const char *urlpath) {
  blosc2_schunk *schunk = blosc2_schunk_open(urlpath);
  int64_t nchunks;

  CHECK(schunk != NULL);
  if (schunk == NULL)
    return -1;
  nchunks = schunk->nchunks;
  CHECK(blosc2_schunk_free(schunk) == 0);
  return nchunks;
}

static void super_chunks(char *urlpath, bool contiguous) {
  blosc2_schunk *schunk = make(urlpath, contiguous);
  uint8_t *content;
  int32_t content_len;
  int64_t cbytes;

  CHECK(schunk != NULL);
  if (schunk == NULL)
    return;
  CHECK(ferroblosc_commit(schunk) == BLOSC2_ERROR_INVALID_PARAM);
  CHECK(ferroblosc_rollback(schunk) == BLOSC2_ERROR_INVALID_PARAM);

  CHECK(ferroblosc_begin(schunk) == 0);
  append(schunk, 1);
  append(schunk, 2);
  CHECK(blosc2_vlmeta_add(schunk, "v", (uint8_t *)"old", 3, NULL) >= 0);
  CHECK(schunk->nchunks == 2 && chunks_on_disk(urlpath) == 0);
  CHECK(ferroblosc_commit(schunk) == 0);
  CHECK(schunk->nchunks == 2 && chunks_on_disk(urlpath) == 2);
  cbytes = schunk->cbytes;

  CHECK(ferroblosc_begin(schunk) == 0);
  append(schunk, 3);
  CHECK(blosc2_schunk_delete_chunk(schunk, 0) == 2);
  CHECK(blosc2_vlmeta_update(schunk, "v", (uint8_t *)"newer", 5, NULL) >= 0);
  CHECK(first_of(schunk, 0) == 2 && first_of(schunk, 1) == 3);
  CHECK(ferroblosc_begin(schunk) == 0);
  CHECK(blosc2_schunk_delete_chunk(schunk, 0) == 1);
  CHECK(blosc2_vlmeta_delete(schunk, "v") >= 0);
  CHECK(ferroblosc_rollback(schunk) == 0);
  CHECK(schunk->nchunks == 2 && schunk->nvlmetalayers == 1);
  CHECK(first_of(schunk, 0) == 2 && first_of(schunk, 1) == 3);
  CHECK(ferroblosc_rollback(schunk) == 0);
  CHECK(schunk->nchunks == 2 && schunk->cbytes == cbytes);
  CHECK(first_of(schunk, 0) == 1 && first_of(schunk, 1) == 2);
  CHECK(blosc2_vlmeta_get(schunk, "v", &content, &content_len) >= 0);
  CHECK(content_len == 3 && memcmp(content, "old", 3) == 0);
  free(content);

  /* Freeing rolls back. */
  CHECK(ferroblosc_begin(schunk) == 0);
  append(schunk, 4);
  CHECK(blosc2_schunk_free(schunk) == 0);
  CHECK(chunks_on_disk(urlpath) == 2);
  blosc2_remove_urlpath(urlpath);
}

static void storage_without_transactions(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_io plain = BLOSC2_IO_DEFAULTS;
  char path[] = "plain.b2frame";
  int i;

  CHECK(ferroblosc_begin(NULL) == BLOSC2_ERROR_NULL_POINTER);
  CHECK(ferroblosc_commit(NULL) == BLOSC2_ERROR_NULL_POINTER);
  CHECK(ferroblosc_rollback(NULL) == BLOSC2_ERROR_NULL_POINTER);
  CHECK(ferroblosc_begin_array(NULL) == BLOSC2_ERROR_NULL_POINTER);
  CHECK(ferroblosc_commit_array(NULL) == BLOSC2_ERROR_NULL_POINTER);
  CHECK(ferroblosc_rollback_array(NULL) == BLOSC2_ERROR_NULL_POINTER);
  for (i = 0; i < 4; i++) {
    blosc2_storage storage = storage_of(i < 2 ? NULL : path, i % 2 == 0, &plain, &cparams);
    blosc2_schunk *schunk;

    blosc2_remove_urlpath(path);
    schunk = blosc2_schunk_new(&storage);
    CHECK(schunk != NULL);
    CHECK(ferroblosc_begin(schunk) == BLOSC2_ERROR_INVALID_PARAM);
    CHECK(ferroblosc_commit(schunk) == BLOSC2_ERROR_INVALID_PARAM);
    CHECK(ferroblosc_rollback(schunk) == BLOSC2_ERROR_INVALID_PARAM);
    append(schunk, 1);
    CHECK(blosc2_schunk_free(schunk) == 0);
  }
  blosc2_remove_urlpath(path);
}

static void arrays(char *urlpath, bool contiguous) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = storage_of(urlpath, contiguous, &durable, &cparams);
  int64_t shape[] = {20, 10}, larger[] = {45, 12}, start[] = {0, 0}, stop[] = {5, 5};
  int64_t box[] = {5, 5};
  int32_t chunkshape[] = {10, 10}, blockshape[] = {5, 5};
  static int32_t found[ITEMS];
  b2nd_context_t *context;
  b2nd_array_t *array;

  blosc2_remove_urlpath(urlpath);
  fill(7);
  context = b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, "<i4", 0, NULL, 0);
  CHECK(b2nd_from_cbuffer(context, &array, items, 200 * 4) == 0);
  CHECK(ferroblosc_begin_array(array) == 0);
  CHECK(b2nd_resize(array, larger, NULL) == 0);
  CHECK(array->shape[0] == 45 && array->nitems == 540);
  CHECK(b2nd_set_slice_cbuffer(items + 500, box, 100, start, stop, array) == 0);
  CHECK(ferroblosc_rollback_array(array) == 0);
  CHECK(array->shape[0] == 20 && array->shape[1] == 10 && array->nitems == 200);
  CHECK(b2nd_to_cbuffer(array, found, 800) == 0 && memcmp(found, items, 800) == 0);

  /* Begins with the super-chunk; the array reloads in its next call. */
  CHECK(ferroblosc_begin(array->sc) == 0);
  CHECK(b2nd_append(array, items + 200, 400, 0) == 0);
  CHECK(array->shape[0] == 30);
  CHECK(ferroblosc_rollback(array->sc) == 0);
  CHECK(b2nd_refresh(array) == 1 && array->shape[0] == 20);

  CHECK(ferroblosc_begin_array(array) == 0);
  CHECK(b2nd_append(array, items + 200, 400, 0) == 0);
  CHECK(b2nd_append(array, items + 300, 400, 0) == 0);
  CHECK(ferroblosc_commit_array(array) == 0);
  CHECK(array->shape[0] == 40);
  CHECK(b2nd_free(array) == 0);
  CHECK(b2nd_open(urlpath, &array) == 0);
  CHECK(b2nd_to_cbuffer(array, found, 1600) == 0 && memcmp(found, items, 1600) == 0);
  CHECK(b2nd_free(array) == 0);
  b2nd_free_ctx(context);
  blosc2_remove_urlpath(urlpath);
}

#ifndef _WIN32

/* A forked child frees its copy of a handle, which does not compact the file. */
static void a_child_frees_its_copy(char *urlpath) {
  blosc2_schunk *schunk = make(urlpath, true);
  struct stat before, after;
  int status = -1, i;
  pid_t child;

  for (i = 0; i < 4; i++) {
    append(schunk, i);
  }
  for (i = 0; i < 3; i++) {
    CHECK(blosc2_schunk_delete_chunk(schunk, 0) == 3 - i);
  }
  CHECK(stat(urlpath, &before) == 0);
  child = fork();
  if (child == 0) {
    _exit(blosc2_schunk_free(schunk) != 0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(stat(urlpath, &after) == 0 && before.st_ino == after.st_ino);
  append(schunk, 4);
  CHECK(chunks_on_disk(urlpath) == 2);
  CHECK(first_of(schunk, 0) == 3 && first_of(schunk, 1) == 4);
  CHECK(blosc2_schunk_free(schunk) == 0);
  CHECK(chunks_on_disk(urlpath) == 2);
  blosc2_remove_urlpath(urlpath);
}

/* A forked child has a copy of the handle, but not of the transaction. */
static void forks(char *urlpath, bool contiguous) {
  blosc2_schunk *schunk = make(urlpath, contiguous);
  int status = -1;
  pid_t child;

  append(schunk, 1);
  CHECK(ferroblosc_begin(schunk) == 0);
  append(schunk, 2);
  child = fork();
  if (child == 0) {
    int bad_before = checks_bad;

    fill(3);
    CHECK(blosc2_schunk_append_buffer(schunk, items, sizeof items) < 0);
    CHECK(first_of(schunk, 0) < 0);
    CHECK(ferroblosc_begin(schunk) == BLOSC2_ERROR_INVALID_PARAM);
    CHECK(ferroblosc_rollback(schunk) == 0);
    CHECK(schunk->nchunks == 1 && first_of(schunk, 0) == 1);
    CHECK(blosc2_schunk_free(schunk) == 0);
    _exit(checks_bad != bad_before);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  child = fork();
  if (child == 0) {
    /* In a child, committing fails, and freeing the handle rolls back only the child's copy. */
    int code = ferroblosc_commit(schunk);

    blosc2_schunk_free(schunk);
    _exit(code != BLOSC2_ERROR_INVALID_PARAM);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  append(schunk, 4);
  CHECK(ferroblosc_commit(schunk) == 0);
  CHECK(chunks_on_disk(urlpath) == 3);
  CHECK(first_of(schunk, 1) == 2 && first_of(schunk, 2) == 4);
  CHECK(blosc2_schunk_free(schunk) == 0);
  blosc2_remove_urlpath(urlpath);
}

#endif

static void locks(char *urlpath, bool contiguous) {
  blosc2_schunk *schunk, *other;
#ifndef _WIN32
  int ready[2], status = -1;
  pid_t child;
  char byte = 0;
#endif

  setenv("BLOSC_LOCKING", "1", 1);
  schunk = make(urlpath, contiguous);
  append(schunk, 1);
  other = blosc2_schunk_open(urlpath);
  CHECK(other != NULL);
  CHECK(ferroblosc_begin(schunk) == 0);
  append(schunk, 2);
  /* Both handles belong to this thread: waiting for the lock would be a deadlock. */
  CHECK(blosc2_schunk_append_buffer(other, items, sizeof items) == BLOSC2_ERROR_LOCK);
  CHECK(blosc2_schunk_open(urlpath) == NULL);
#ifndef _WIN32
  CHECK(pipe(ready) == 0);
  child = fork();
  if (child == 0) {
    /* Another process waits for the end of the transaction and then reads all changes. Its rollback
     * must not release the lock. */
    blosc2_schunk *theirs;

    CHECK(ferroblosc_rollback(schunk) == 0);
    CHECK(write(ready[1], &byte, 1) == 1);
    theirs = blosc2_schunk_open(urlpath);
    _exit(theirs == NULL || theirs->nchunks != 3);
  }
  CHECK(read(ready[0], &byte, 1) == 1);
  usleep(50000);
  CHECK(waitpid(child, &status, WNOHANG) == 0);
#endif
  append(schunk, 3);
  CHECK(ferroblosc_commit(schunk) == 0);
#ifndef _WIN32
  CHECK(waitpid(child, &status, 0) == child && status == 0);
#endif
  fill(4);
  CHECK(blosc2_schunk_append_buffer(other, items, sizeof items) == 4);
  CHECK(blosc2_schunk_free(other) == 0);
  CHECK(chunks_on_disk(urlpath) == 4);
  CHECK(blosc2_schunk_free(schunk) == 0);
  blosc2_remove_urlpath(urlpath);
  unsetenv("BLOSC_LOCKING");
}

int main(void) {
  char file[] = "transactions.b2frame", directory[] = "transactions_d.b2frame";
  int i;

  blosc2_init();
  storage_without_transactions();
#ifndef _WIN32
  a_child_frees_its_copy(file);
#endif
  for (i = 0; i < 2; i++) {
    char *path = i == 0 ? file : directory;

    super_chunks(path, i == 0);
    arrays(path, i == 0);
#ifndef _WIN32
    forks(path, i == 0);
#endif
#ifdef _WIN32
    /* wine 8 cannot replace a file of the directory, which the other handle keeps open. */
    if (i == 1) continue;
#endif
    locks(path, i == 0);
  }
  blosc2_destroy();
  return checks_failed();
}
