/*
 * Frames in typical programs: serialization, ownership of the buffer, files at any offset,
 * several handles on one frame, mapped files, user I/O backends, and locks.
 */

#include "schunks.h"
#include <blosc2/blosc2-stdio.h>

static void serialization_round_trips(void) {
  int kind, copy;

  for (kind = 0; kind < KINDS; kind++) {
    for (copy = 0; copy < 2; copy++) {
      blosc2_schunk *schunk = make(kind), *again;
      uint8_t *bytes = NULL, *mine;
      bool needs_free = false;
      int64_t len, cbytes;
      CHECK_IS(blosc2_meta_add(schunk, "m", (uint8_t *)"fixed", 5), 0);
      CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
      CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_ZERO, CHUNK)), 2);
      CHECK_IS(append(schunk, ramp_chunk(7, 100)), 3);
      CHECK_IS(blosc2_vlmeta_add(schunk, "v", (uint8_t *)"variable", 8, NULL), 0);
      len = blosc2_schunk_to_buffer(schunk, &bytes, &needs_free);
      CHECK(len > 0);
      CHECK_IS(needs_free, kind != FRAME);
      CHECK(kind != FRAME || len == blosc2_schunk_frame_len(schunk));
      mine = (uint8_t *)malloc((size_t)len);
      memcpy(mine, bytes, (size_t)len);
      if (needs_free) {
        free(bytes);
      }
      /* Sparse storage in memory counts a special chunk's bytes, a frame does not. */
      cbytes = schunk->cbytes + (copy ? 32 : 0) - (kind == APART ? 32 : 0);
      done(schunk, kind);
      again = blosc2_schunk_from_buffer(mine, len, copy);
      CHECK(again != NULL);
      CHECK((again->frame == NULL) == copy && again->storage->contiguous == !copy);
      CHECK_IS(again->storage->dparams->typesize, 0);
      CHECK_IS(again->cbytes, cbytes);
      if (copy) {
        memset(mine, 0xFF, (size_t)len);
      }
      CHECK(holds_ramp(again, 0, 0, CHUNK) && holds_value(again, 1, 0, CHUNK) && holds_ramp(again, 2, 7, 100));
      CHECK(has_meta(again, "m", "fixed", 5) && has_vlmeta(again, "v", "variable", 8));
      blosc2_schunk_avoid_cframe_free(again, true);
      CHECK_IS(blosc2_schunk_free(again), 0);
      free(mine);
    }
  }
}

static void deserialization_takes_ownership(void) {
  int changed;

  for (changed = 0; changed < 2; changed++) {
    blosc2_schunk *source = make_full(FRAME, 2), *schunk;
    uint8_t *bytes, *mine;
    bool needs_free;
    int64_t len = blosc2_schunk_to_buffer(source, &bytes, &needs_free);
    mine = (uint8_t *)malloc((size_t)len);
    memcpy(mine, bytes, (size_t)len);
    /* Frees the original before the copy. */
    blosc2_schunk_free(source);
    schunk = blosc2_schunk_from_buffer(mine, len, false);
    CHECK(schunk != NULL);
    blosc2_schunk_avoid_cframe_free(schunk, false);
    CHECK(!changed || append(schunk, ramp_chunk(1, CHUNK)) == 3);
    CHECK(holds_ramp(schunk, 1, ITEMS, CHUNK));
    /* Valgrind reports memory that this does not free. */
    CHECK_IS(blosc2_schunk_free(schunk), 0);
  }
  {
    /* A frame that the library allocated outlives the super-chunk. */
    blosc2_schunk *schunk = make_full(FRAME, 2);
    uint8_t *bytes;
    bool needs_free;
    int64_t len;
    blosc2_schunk_avoid_cframe_free(schunk, true);
    len = blosc2_schunk_to_buffer(schunk, &bytes, &needs_free);
    CHECK_IS(blosc2_schunk_free(schunk), 0);
    schunk = blosc2_schunk_from_buffer(bytes, len, false);
    CHECK(schunk != NULL && holds_ramp(schunk, 1, ITEMS, CHUNK));
    CHECK_IS(blosc2_schunk_free(schunk), 0);
    free(bytes);
  }
  {
    blosc2_schunk *schunk = make_full(APART, 1);
    blosc2_schunk_avoid_cframe_free(schunk, true);
    blosc2_schunk_avoid_cframe_free(schunk, false);
    CHECK(holds_ramp(schunk, 0, 0, CHUNK));
    blosc2_schunk_free(schunk);
  }
}

static void invalid_frames_are_refused(void) {
  blosc2_schunk *schunk = make_full(FRAME, 2), *none;
  uint8_t *bytes, *mine;
  bool needs_free;
  int64_t len = blosc2_schunk_to_buffer(schunk, &bytes, &needs_free), i;
  int copy;

  CHECK(blosc2_schunk_from_buffer(NULL, 100, false) == NULL);
  CHECK(blosc2_schunk_from_buffer(bytes, -1, false) == NULL);
  for (copy = 0; copy < 2; copy++) {
    for (i = 0; i < len; i++) {
      /* Allocated with this exact size, so that valgrind detects over-reads. */
      mine = (uint8_t *)malloc((size_t)i + 1);
      memcpy(mine, bytes, (size_t)i);
      none = blosc2_schunk_from_buffer(mine, i, copy);
      CHECK(none == NULL);
      free(mine);
    }
  }
  mine = (uint8_t *)malloc((size_t)len + 1);
  memcpy(mine, bytes, (size_t)len);
  CHECK(blosc2_schunk_from_buffer(mine, len + 1, false) == NULL);
  free(mine);
  blosc2_schunk_free(schunk);
}

static void consecutive_frames(void) {
  blosc2_schunk *first = make_full(FRAME, 3), *second = make_full(APART, 1), *opened;
  uint8_t *original, *bytes;
  bool original_needs_free, needs_free;
  int64_t at, len;

  write_whole("host", "some bytes", 10);
  CHECK_IS(blosc2_schunk_append_file(first, "host"), 10);
  at = blosc2_schunk_append_file(second, "host");
  CHECK_IS(at, 10 + blosc2_schunk_frame_len(first));
  opened = blosc2_schunk_open_offset("host", 10);
  CHECK(opened != NULL && opened->nchunks == 3 && holds_ramp(opened, 2, 200, CHUNK));
  blosc2_schunk_free(opened);
  opened = blosc2_schunk_open_offset("host", at);
  CHECK(opened != NULL && opened->nchunks == 1);
  /* Serializing a frame again results in equal bytes. */
  len = blosc2_schunk_to_buffer(second, &original, &original_needs_free);
  CHECK_IS(blosc2_schunk_to_buffer(opened, &bytes, &needs_free), len);
  CHECK(memcmp(bytes, original, (size_t)len) == 0);
  free(bytes);
  free(original);
  blosc2_schunk_free(opened);
  blosc2_schunk_free(first);
  blosc2_schunk_free(second);
  CHECK_IS(blosc2_remove_urlpath("host"), 0);
}

static void updates_leave_no_holes(void) {
  int kind;

  for (kind = FRAME; kind <= SINGLE_FILE; kind++) {
    blosc2_schunk *schunk = make_full(kind, 3);
    int64_t before = blosc2_schunk_frame_len(schunk), cbytes = schunk->cbytes;
    CHECK_IS(update(schunk, 1, special_chunk(BLOSC2_SPECIAL_ZERO, CHUNK)), 3);
    CHECK(schunk->cbytes < cbytes && blosc2_schunk_frame_len(schunk) == before + schunk->cbytes - cbytes);
    CHECK(holds_ramp(schunk, 0, 0, CHUNK) && holds_value(schunk, 1, 0, CHUNK) && holds_ramp(schunk, 2, 200, CHUNK));
    CHECK_IS(update(schunk, 1, ramp_chunk(ITEMS, CHUNK)), 3);
    CHECK_IS(blosc2_schunk_frame_len(schunk), before);
    CHECK_IS(update(schunk, 0, special_chunk(BLOSC2_SPECIAL_VALUE, CHUNK)), 3);
    CHECK(blosc2_schunk_frame_len(schunk) < before);
    CHECK(holds_value(schunk, 0, 0x01020304, CHUNK) && holds_ramp(schunk, 1, 100, CHUNK));
    CHECK(kind != SINGLE_FILE || file_size(path_of(kind)) == blosc2_schunk_frame_len(schunk));
    done(schunk, kind);
  }
}

/* A program can replace and delete a chunk whose file is truncated after the header. */
static void truncated_chunk_files_are_replaced(void) {
  blosc2_schunk *schunk = make_full(DIRECTORY, 4);
  int64_t cbytes = schunk->cbytes;
  char name[340];
  uint8_t dest[CHUNK];
  int i;

  for (i = 1; i < 3; i++) {
    snprintf(name, sizeof name, "%s/0000000%d.chunk", path_of(DIRECTORY), i);
    CHECK(truncate(name, 60) == 0);
    CHECK(blosc2_schunk_decompress_chunk(schunk, i, dest, CHUNK) < 0);
  }
  CHECK_IS(update(schunk, 1, ramp_chunk(100, CHUNK)), 4);
  CHECK(holds_ramp(schunk, 1, 100, CHUNK));
  CHECK_IS(schunk->cbytes, cbytes);
  CHECK_IS(blosc2_schunk_delete_chunk(schunk, 2), 3);
  CHECK(access(name, F_OK) != 0);
  CHECK(schunk->cbytes > 0 && schunk->cbytes < cbytes);
  blosc2_schunk_free(schunk);
  schunk = blosc2_schunk_open(path_of(DIRECTORY));
  CHECK(schunk != NULL && holds_ramp(schunk, 1, 100, CHUNK) && holds_ramp(schunk, 2, 300, CHUNK));
  done(schunk, DIRECTORY);
}

static void chunks_of_directories(void) {
  blosc2_schunk *schunk = make_full(DIRECTORY, 3), *other = blosc2_schunk_open(path_of(DIRECTORY));
  char name[340];
  uint8_t *chunk, dest[CHUNK];
  bool needs_free;

  CHECK(other != NULL);
  snprintf(name, sizeof name, "%s/00000001.chunk", path_of(DIRECTORY));
  CHECK(access(name, F_OK) == 0);
  CHECK_IS(update(schunk, 1, special_chunk(BLOSC2_SPECIAL_ZERO, CHUNK)), 3);
  CHECK(access(name, F_OK) != 0);
  /* First the length of the index does not change, but that of the data; then the index grows. */
  CHECK_IS(blosc2_schunk_decompress_chunk(other, 1, dest, CHUNK), CHUNK);
  CHECK_IS(append(schunk, ramp_chunk(300, CHUNK)), 4);
  CHECK(holds_value(other, 1, 0, CHUNK));
  CHECK_IS(blosc2_schunk_get_lazychunk(other, 1, &chunk, &needs_free), 32);
  free(chunk);
  snprintf(name, sizeof name, "%s/00000002.chunk", path_of(DIRECTORY));
  CHECK(truncate(name, 10) == 0);
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 2, dest, CHUNK), BLOSC2_ERROR_FILE_READ);
  CHECK_IS(blosc2_schunk_get_lazychunk(schunk, 2, &chunk, &needs_free), BLOSC2_ERROR_FILE_READ);
  CHECK(unlink(name) == 0);
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 2, dest, CHUNK), BLOSC2_ERROR_FILE_OPEN);
  CHECK_IS(blosc2_schunk_delete_chunk(schunk, 2), BLOSC2_ERROR_FAILURE);
  CHECK_IS(schunk->nchunks, 4);
  CHECK(holds_ramp(schunk, 0, 0, CHUNK));
  blosc2_schunk_free(other);
  /* The index file itself is not a frame, nor is a directory without an index. */
  snprintf(name, sizeof name, "%s/chunks.b2frame", path_of(DIRECTORY));
  CHECK(blosc2_schunk_open(name) == NULL);
  CHECK(unlink(name) == 0);
  CHECK(blosc2_schunk_open(path_of(DIRECTORY)) == NULL);
  done(schunk, DIRECTORY);
}

static void replaced_files(void) {
  blosc2_schunk *schunk = make_full(SINGLE_FILE, 2), *other = make(FRAME), *reader;
  uint8_t dest[CHUNK];

  reader = blosc2_schunk_open(path_of(SINGLE_FILE));
  CHECK(reader != NULL && holds_ramp(reader, 0, 0, CHUNK));
  CHECK_IS(append(other, ramp_chunk(500, CHUNK)), 1);
  CHECK(blosc2_schunk_to_file(other, "replacement") > 0);
  CHECK(rename("replacement", path_of(SINGLE_FILE)) == 0);
  CHECK(holds_ramp(reader, 0, 500, CHUNK));
  CHECK_IS(reader->nchunks, 1);
  /* An open handle can still read an unlinked file, but not write it. */
  CHECK(unlink(path_of(SINGLE_FILE)) == 0);
  CHECK(holds_ramp(reader, 0, 500, CHUNK));
  CHECK_IS(append(reader, ramp_chunk(0, CHUNK)), BLOSC2_ERROR_CHUNK_APPEND);
  CHECK_IS(blosc2_vlmeta_add(reader, "v", dest, 1, NULL), BLOSC2_ERROR_FILE_OPEN);
  CHECK_IS(blosc2_schunk_delete_chunk(reader, 0), BLOSC2_ERROR_CHUNK_UPDATE);
  CHECK_IS(reader->nchunks, 1);
  blosc2_schunk_free(reader);
  blosc2_schunk_free(other);
  CHECK_IS(blosc2_schunk_free(schunk), 0);
}

static void mapped_frames(void) {
  static const char *modes[] = {"w+", "r+", "r", "c"};
  int mode, i;
  uint8_t *plain, *mapped_bytes;
  long len, mapped_len;
  blosc2_schunk *schunk = make_full(SINGLE_FILE, 20);

  plain = read_whole(path_of(SINGLE_FILE), &len);
  done(schunk, SINGLE_FILE);
  for (mode = 0; mode < 4; mode++) {
    blosc2_stdio_mmap *map = (blosc2_stdio_mmap *)malloc(sizeof *map);
    blosc2_io io = {BLOSC2_IO_FILESYSTEM_MMAP, "filesystem_mmap", NULL};
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    blosc2_cparams cparams = items_of(ITEM);
    char path[] = "mapped.b2frame";
    uint8_t *chunk;
    bool needs_free;
    *map = BLOSC2_STDIO_MMAP_DEFAULTS;
    map->mode = modes[mode];
    map->needs_free = true;
    map->initial_mapping_size = 500;
    io.params = map;
    storage.contiguous = true;
    storage.urlpath = path;
    storage.cparams = &cparams;
    storage.io = &io;
    schunk = mode == 0 ? blosc2_schunk_new(&storage) : blosc2_schunk_open_udio(path, &io);
    CHECK(schunk != NULL);
    for (i = 0; mode == 0 && i < 20; i++) {
      CHECK_IS(append(schunk, ramp_chunk(i * ITEMS, CHUNK)), i + 1);
    }
    for (i = 0; i < 20; i++) {
      CHECK(holds_ramp(schunk, i, i * ITEMS, CHUNK));
    }
    CHECK(blosc2_schunk_get_chunk(schunk, 3, &chunk, &needs_free) > 32);
    CHECK(!needs_free);
    CHECK(blosc2_schunk_get_lazychunk(schunk, 3, &chunk, &needs_free) > 32);
    CHECK(needs_free);
    free(chunk);
    if (mode == 3) {
      CHECK_IS(update(schunk, 5, ramp_chunk(1, CHUNK)), 20);
      CHECK(holds_ramp(schunk, 5, 1, CHUNK));
    }
    CHECK_IS(blosc2_schunk_free(schunk), 0);
    mapped_bytes = read_whole("mapped.b2frame", &mapped_len);
    CHECK(mapped_len == len && memcmp(mapped_bytes, plain, (size_t)len) == 0);
    free(mapped_bytes);
  }
  free(plain);
  CHECK_IS(blosc2_remove_urlpath("mapped.b2frame"), 0);
}

static struct { int opened, closed, written, read, truncated, destroyed; } calls;

static void *own_open(const char *path, const char *mode, void *params) {
  CHECK(params == &calls);
  calls.opened++;
  return blosc2_stdio_open(path, mode, NULL);
}

static int own_close(void *stream) {
  calls.closed++;
  return blosc2_stdio_close(stream);
}

static int64_t own_write(const void *bytes, int64_t size, int64_t nitems, int64_t position, void *stream) {
  calls.written++;
  return blosc2_stdio_write(bytes, size, nitems, position, stream);
}

static int64_t own_read(void **bytes, int64_t size, int64_t nitems, int64_t position, void *stream) {
  calls.read++;
  return blosc2_stdio_read(bytes, size, nitems, position, stream);
}

static int own_truncate(void *stream, int64_t size) {
  calls.truncated++;
  return blosc2_stdio_truncate(stream, size);
}

static int own_destroy(void *params) {
  CHECK(params == &calls);
  calls.destroyed++;
  return calls.destroyed == 1 ? 0 : -1;
}

static void backends_of_programs(void) {
  blosc2_io_cb backend = *blosc2_get_io_cb(BLOSC2_IO_FILESYSTEM);
  int kind;

  backend.id = 180;
  backend.name = (char *)"counting";
  backend.open = own_open;
  backend.close = own_close;
  backend.write = own_write;
  backend.read = own_read;
  backend.truncate = own_truncate;
  backend.destroy = own_destroy;
  CHECK_IS(blosc2_register_io_cb(&backend), 0);
  for (kind = SINGLE_FILE; kind < KINDS; kind++) {
    blosc2_io io = {180, "counting", NULL};
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    blosc2_schunk *schunk;
    memset(&calls, 0, sizeof calls);
    io.params = &calls;
    storage.contiguous = is_contiguous(kind);
    storage.urlpath = path_of(kind);
    storage.io = &io;
    schunk = blosc2_schunk_new(&storage);
    CHECK(schunk != NULL);
    CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
    CHECK_IS(append(schunk, ramp_chunk(9, CHUNK)), 2);
    CHECK(holds_ramp(schunk, 1, 9, CHUNK));
    CHECK_IS(blosc2_schunk_delete_chunk(schunk, 0), 1);
    CHECK(calls.opened > 0 && calls.opened == calls.closed);
    CHECK(calls.written > 0 && calls.read > 0 && calls.truncated > 0);
    CHECK_IS(calls.destroyed, 0);
    CHECK_IS(blosc2_schunk_free(schunk), 0);
    CHECK_IS(calls.destroyed, 1);
    schunk = blosc2_schunk_open_udio(path_of(kind), &io);
    CHECK(schunk != NULL && holds_ramp(schunk, 0, 9, CHUNK));
    /* Checks a backend whose destroy fails. */
    CHECK_IS(blosc2_schunk_free(schunk), 1);
    CHECK_IS(blosc2_remove_urlpath(path_of(kind)), 0);
  }
}

static void locks(void) {
  int kind;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_stdio_params params = {true};
    blosc2_io io = {BLOSC2_IO_FILESYSTEM, "filesystem", NULL};
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    blosc2_schunk *schunk, *other = NULL;
    char sidecar[330];
    int i;
    io.params = &params;
    storage.contiguous = is_contiguous(kind);
    storage.urlpath = path_of(kind);
    storage.io = &io;
    schunk = blosc2_schunk_new(&storage);
    CHECK(schunk != NULL);
    snprintf(sidecar, sizeof sidecar, kind == DIRECTORY ? "%s/.b2lock" : "%s.b2lock",
             is_on_disk(kind) ? path_of(kind) : "none");
    CHECK(access(sidecar, F_OK) != 0);
    CHECK_IS(blosc2_schunk_lock(schunk), 0);
    CHECK_IS(blosc2_schunk_lock(schunk), 0);
    CHECK_IS(access(sidecar, F_OK), is_on_disk(kind) ? 0 : -1);
    CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
    CHECK_IS(blosc2_schunk_unlock(schunk), 0);
    CHECK_IS(blosc2_schunk_unlock(schunk), 0);
    CHECK_IS(blosc2_schunk_unlock(schunk), 0);
    if (is_on_disk(kind)) {
      other = blosc2_schunk_open_udio(path_of(kind), &io);
      CHECK(other != NULL);
      for (i = 1; i < 7; i++) {
        CHECK_IS(append(i % 2 ? other : schunk, ramp_chunk(i, CHUNK)), i + 1);
      }
      CHECK_IS(blosc2_schunk_refresh(other), 1);
      /* A change that keeps the length. */
      CHECK_IS(update(schunk, 0, ramp_chunk(50, CHUNK)), 7);
      CHECK(holds_ramp(other, 0, 50, CHUNK) && holds_ramp(other, 6, 6, CHUNK));
      blosc2_schunk_free(other);
    }
    CHECK_IS(blosc2_schunk_refresh(schunk), 0);
    done(schunk, kind);
    CHECK(access(sidecar, F_OK) != 0);
  }
}

int main(void) {
  enter_folder();
  serialization_round_trips();
  deserialization_takes_ownership();
  invalid_frames_are_refused();
  consecutive_frames();
  updates_leave_no_holes();
  truncated_chunk_files_are_replaced();
  chunks_of_directories();
  replaced_files();
  mapped_frames();
  backends_of_programs();
  locks();
  return leave_folder();
}
