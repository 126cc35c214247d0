/*
 * Functions for the C tests of super-chunks: a temporary directory, super-chunks of all four
 * kinds of storage, chunks of every kind, and comparisons of read data.
 */

#ifndef SCHUNKS_H
#define SCHUNKS_H

#include "check.h"
#include <blosc2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Sparse chunks in memory, a frame in memory, a frame in a file, a frame in a directory. */
enum { APART, FRAME, SINGLE_FILE, DIRECTORY, KINDS };

/* Items of four bytes; chunks of a hundred items unless a test specifies otherwise. */
enum { ITEM = 4, ITEMS = 100, CHUNK = ITEM * ITEMS };

static char test_folder[200];
static char test_path[300];

/* Creates a directory for the test's files and enters it. */
static inline void enter_folder(void) {
  snprintf(test_folder, sizeof test_folder, "%s/ferroblosc-schunks-XXXXXX", P_tmpdir);
  if (mkdtemp(test_folder) == NULL || chdir(test_folder) != 0) {
    perror(test_folder);
    exit(EXIT_FAILURE);
  }
}

/* Removes the directory, which must be empty: every test removes its files. */
static inline int leave_folder(void) {
  CHECK(chdir("/") == 0);
  CHECK_IS(rmdir(test_folder), 0);
  return checks_failed();
}

static inline int is_contiguous(int kind) { return kind == FRAME || kind == SINGLE_FILE; }
static inline int is_on_disk(int kind) { return kind == SINGLE_FILE || kind == DIRECTORY; }
static inline int has_frame(int kind) { return kind != APART; }

/* Returns the path of a kind's super-chunk; NULL for kinds in memory. */
static inline char *path_of(int kind) {
  snprintf(test_path, sizeof test_path, kind == SINGLE_FILE ? "file.b2frame" : "directory.b2frame");
  return is_on_disk(kind) ? test_path : NULL;
}

/* Creates a super-chunk of a kind with these parameters. */
static inline blosc2_schunk *make_with(int kind, blosc2_cparams cparams) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *schunk;

  storage.contiguous = is_contiguous(kind);
  storage.urlpath = path_of(kind);
  storage.cparams = &cparams;
  schunk = blosc2_schunk_new(&storage);
  if (schunk == NULL) {
    printf("no super-chunk of kind %d can be created\n", kind);
    exit(EXIT_FAILURE);
  }
  return schunk;
}

static inline blosc2_cparams items_of(int typesize) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = typesize;
  return cparams;
}

static inline blosc2_schunk *make(int kind) { return make_with(kind, items_of(ITEM)); }

/* Frees a super-chunk and removes its files. */
static inline void done(blosc2_schunk *schunk, int kind) {
  CHECK_IS(blosc2_schunk_free(schunk), 0);
  if (is_on_disk(kind)) {
    CHECK_IS(blosc2_remove_urlpath(path_of(kind)), 0);
  }
}

/* Opens the super-chunk in a new handle, by its path or from its bytes; returns NULL on failure. */
static inline blosc2_schunk *reopened(blosc2_schunk *schunk, int kind) {
  uint8_t *bytes, *copy;
  bool needs_free;
  int64_t len;
  blosc2_schunk *again;

  if (is_on_disk(kind)) {
    return blosc2_schunk_open(path_of(kind));
  }
  len = blosc2_schunk_to_buffer(schunk, &bytes, &needs_free);
  if (len < 0) {
    return NULL;
  }
  copy = (uint8_t *)malloc((size_t)len);
  memcpy(copy, bytes, (size_t)len);
  if (needs_free) {
    free(bytes);
  }
  again = blosc2_schunk_from_buffer(copy, len, false);
  if (again == NULL) {
    free(copy);
  } else {
    blosc2_schunk_avoid_cframe_free(again, false);
  }
  return again;
}

/* Returns a malloc'ed chunk of nbytes bytes: consecutive numbers from `first`. */
static inline uint8_t *ramp_chunk(int32_t first, int32_t nbytes) {
  int32_t *items = (int32_t *)malloc((size_t)nbytes + ITEM);
  uint8_t *chunk = (uint8_t *)malloc((size_t)nbytes + BLOSC2_MAX_OVERHEAD);
  blosc2_context *context = blosc2_create_cctx(items_of(ITEM));
  int i;

  for (i = 0; i <= nbytes / ITEM; i++) {
    items[i] = first + i;
  }
  CHECK(blosc2_compress_ctx(context, items, nbytes, chunk, nbytes + BLOSC2_MAX_OVERHEAD) > 0);
  blosc2_free_ctx(context);
  free(items);
  return chunk;
}

/* Returns a chunk of nbytes bytes: zeros, NaNs, uninitialised, or a repeated value. */
static inline uint8_t *special_chunk(int kind, int32_t nbytes) {
  uint8_t *chunk = (uint8_t *)malloc(BLOSC_EXTENDED_HEADER_LENGTH + 255);
  static const int32_t value = 0x01020304;
  int capacity = BLOSC_EXTENDED_HEADER_LENGTH + ITEM;

  switch (kind) {
    case BLOSC2_SPECIAL_ZERO:
      CHECK(blosc2_chunk_zeros(items_of(ITEM), nbytes, chunk, capacity) > 0);
      break;
    case BLOSC2_SPECIAL_NAN:
      CHECK(blosc2_chunk_nans(items_of(ITEM), nbytes, chunk, capacity) > 0);
      break;
    case BLOSC2_SPECIAL_UNINIT:
      CHECK(blosc2_chunk_uninit(items_of(ITEM), nbytes, chunk, capacity) > 0);
      break;
    default:
      CHECK(blosc2_chunk_repeatval(items_of(ITEM), nbytes, chunk, capacity, &value) > 0);
  }
  return chunk;
}

/* Appends a chunk of ramp_chunk() or special_chunk(), and frees it. */
static inline int64_t append(blosc2_schunk *schunk, uint8_t *chunk) {
  int64_t result = blosc2_schunk_append_chunk(schunk, chunk, true);
  free(chunk);
  return result;
}

static inline int64_t insert(blosc2_schunk *schunk, int64_t at, uint8_t *chunk) {
  int64_t result = blosc2_schunk_insert_chunk(schunk, at, chunk, true);
  free(chunk);
  return result;
}

static inline int64_t update(blosc2_schunk *schunk, int64_t at, uint8_t *chunk) {
  int64_t result = blosc2_schunk_update_chunk(schunk, at, chunk, true);
  free(chunk);
  return result;
}

/* Creates a super-chunk of `count` full chunks with consecutive numbers. */
static inline blosc2_schunk *make_full(int kind, int count) {
  blosc2_schunk *schunk = make(kind);
  int i;

  for (i = 0; i < count; i++) {
    CHECK_IS(append(schunk, ramp_chunk(i * ITEMS, CHUNK)), i + 1);
  }
  return schunk;
}

/* Whether a chunk has nbytes bytes of numbers that start with `first` and increase by `step`. */
static inline int holds(blosc2_schunk *schunk, int64_t nchunk, int32_t first, int32_t step,
                        int32_t nbytes) {
  int32_t *items = (int32_t *)malloc((size_t)nbytes + ITEM);
  int size = blosc2_schunk_decompress_chunk(schunk, nchunk, items, nbytes), i, same = size == nbytes;

  for (i = 0; same && i < nbytes / ITEM; i++) {
    same = items[i] == first + i * step;
  }
  free(items);
  return same;
}

static inline int holds_ramp(blosc2_schunk *schunk, int64_t nchunk, int32_t first, int32_t nbytes) {
  return holds(schunk, nchunk, first, 1, nbytes);
}

static inline int holds_value(blosc2_schunk *schunk, int64_t nchunk, int32_t value, int32_t nbytes) {
  return holds(schunk, nchunk, value, 0, nbytes);
}

/* Whether a metalayer has this content. */
static inline int has_meta(blosc2_schunk *schunk, const char *name, const void *content, int32_t len) {
  uint8_t *found = NULL;
  int32_t found_len = -1;
  int same = blosc2_meta_get(schunk, name, &found, &found_len) >= 0 && found_len == len &&
             (len == 0 || memcmp(found, content, (size_t)len) == 0);
  free(found);
  return same;
}

/* Whether a variable-length metalayer has this content. */
static inline int has_vlmeta(blosc2_schunk *schunk, const char *name, const void *content, int32_t len) {
  uint8_t *found = NULL;
  int32_t found_len = -1;
  int same = blosc2_vlmeta_get(schunk, name, &found, &found_len) >= 0 && found_len == len &&
             (len == 0 || memcmp(found, content, (size_t)len) == 0);
  free(found);
  return same;
}

/* The state that a failing call must not change. */
typedef struct {
  int64_t nchunks, nbytes, cbytes, change_tick;
  int32_t chunksize;
  int nmetalayers, nvlmetalayers;
  uint8_t flags2;
} snapshot;

static inline snapshot snapshot_of(const blosc2_schunk *schunk) {
  snapshot now;
  now.nchunks = schunk->nchunks;
  now.nbytes = schunk->nbytes;
  now.cbytes = schunk->cbytes;
  now.change_tick = schunk->change_tick;
  now.chunksize = schunk->chunksize;
  now.nmetalayers = schunk->nmetalayers;
  now.nvlmetalayers = schunk->nvlmetalayers;
  now.flags2 = schunk->flags2;
  return now;
}

static inline int is_as_in(const blosc2_schunk *schunk, snapshot before) {
  snapshot now = snapshot_of(schunk);
  return now.nchunks == before.nchunks && now.nbytes == before.nbytes && now.cbytes == before.cbytes &&
         now.change_tick == before.change_tick && now.chunksize == before.chunksize &&
         now.nmetalayers == before.nmetalayers && now.nvlmetalayers == before.nvlmetalayers &&
         now.flags2 == before.flags2;
}

/* Returns the contents of a file, malloc'ed; NULL if there is no file. */
static inline uint8_t *read_whole(const char *path, long *len) {
  FILE *file = fopen(path, "rb");
  uint8_t *bytes;

  *len = -1;
  if (file == NULL) {
    return NULL;
  }
  CHECK(fseek(file, 0, SEEK_END) == 0);
  *len = ftell(file);
  rewind(file);
  bytes = (uint8_t *)malloc((size_t)*len + 1);
  CHECK(fread(bytes, 1, (size_t)*len, file) == (size_t)*len);
  fclose(file);
  return bytes;
}

static inline void write_whole(const char *path, const void *bytes, long len) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(bytes, 1, (size_t)len, file) == (size_t)len);
  CHECK(file != NULL && fclose(file) == 0);
}

static inline long file_size(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 ? (long)found.st_size : -1;
}

#endif /* SCHUNKS_H */
