/*
 * A handle reads a file, plain and mapped, after another handle has changed it: changes of every
 * kind, a file that grows, one that is truncated, and one that is replaced. Also changes on a full
 * disk, and reads with locks from storage that can't be written.
 */

/* For unshare(). */
#define _GNU_SOURCE

#include "schunks.h"
#include <b2nd.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>

enum { WORDS = 3000, BYTES = WORDS * 4, CHUNKS = 6, CHANGES = 13 };

static int32_t plain[WORDS], noise[WORDS];
static blosc2_stdio_mmap mapping;

static blosc2_schunk *open_mapped(const char *path, const char *mode) {
  blosc2_io io = BLOSC2_IO_DEFAULTS;
  mapping = BLOSC2_STDIO_MMAP_DEFAULTS;
  mapping.mode = mode;
  io.id = BLOSC2_IO_FILESYSTEM_MMAP;
  io.params = &mapping;
  return blosc2_schunk_open_udio(path, &io);
}

static uint8_t *compressed(const int32_t *items) {
  uint8_t *chunk = (uint8_t *)malloc(BYTES + BLOSC2_MAX_OVERHEAD);
  blosc2_context *context = blosc2_create_cctx(items_of(ITEM));
  CHECK(blosc2_compress_ctx(context, items, BYTES, chunk, BYTES + BLOSC2_MAX_OVERHEAD) > 0);
  blosc2_free_ctx(context);
  return chunk;
}

static blosc2_schunk *six_chunks(void) {
  blosc2_schunk *schunk = make(SINGLE_FILE);
  int i;
  CHECK(blosc2_meta_add(schunk, "m", (uint8_t *)"12345", 5) >= 0);
  for (i = 0; i < CHUNKS; i++) {
    CHECK_IS(blosc2_schunk_append_buffer(schunk, i == 2 ? noise : plain, BYTES), i + 1);
  }
  CHECK(blosc2_vlmeta_add(schunk, "v", (uint8_t *)"hello, I am here", 16, NULL) >= 0);
  return schunk;
}

static void apply(blosc2_schunk *schunk, int change) {
  static int64_t order[] = {5, 4, 3, 2, 1, 0};
  static uint8_t content[9000];
  uint8_t *chunk = compressed(noise);
  memcpy(content, noise, sizeof content);
  switch (change) {
    case 1: CHECK(blosc2_vlmeta_add(schunk, "x", content, 5, NULL) >= 0); break;
    case 2: CHECK(blosc2_vlmeta_add(schunk, "x", content, 9000, NULL) >= 0); break;
    case 3: CHECK(blosc2_vlmeta_update(schunk, "v", (uint8_t *)"a", 1, NULL) >= 0); break;
    case 4: CHECK(blosc2_vlmeta_delete(schunk, "v") >= 0); break;
    case 5: CHECK(blosc2_meta_update(schunk, "m", (uint8_t *)"54321", 5) >= 0); break;
    case 6: CHECK(blosc2_schunk_append_buffer(schunk, noise, BYTES) > 0); break;
    case 7: CHECK_IS(blosc2_schunk_set_slice_buffer(schunk, WORDS, 2 * WORDS, plain), 0); break;
    case 8: CHECK_IS(blosc2_schunk_set_slice_buffer(schunk, WORDS, 2 * WORDS, noise), 0); break;
    case 9: CHECK(blosc2_schunk_insert_chunk(schunk, 3, chunk, true) > 0); break;
    case 10: CHECK(blosc2_schunk_delete_chunk(schunk, 5) >= 0); break;
    case 11: CHECK(blosc2_schunk_delete_chunk(schunk, 0) >= 0); break;
    case 12: CHECK_IS(blosc2_schunk_reorder_offsets(schunk, order), 0); break;
    default: break;
  }
  free(chunk);
}

/* Compares all reads of a handle with those of the writer. */
static void reads_the_same(blosc2_schunk *handle, blosc2_schunk *writer) {
  static int32_t found[WORDS], wanted[WORDS];
  uint8_t *content, *other, *chunk;
  int32_t len, other_len;
  bool needs_free;
  int64_t nchunk;
  int code;

  for (nchunk = 0; nchunk < writer->nchunks; nchunk++) {
    CHECK_IS(blosc2_schunk_decompress_chunk(writer, nchunk, wanted, BYTES), BYTES);
    CHECK_IS(blosc2_schunk_decompress_chunk(handle, nchunk, found, BYTES), BYTES);
    CHECK(memcmp(found, wanted, BYTES) == 0);
    CHECK_IS(blosc2_schunk_get_slice_buffer(handle, nchunk * WORDS + 7, nchunk * WORDS + 17, found), 0);
    CHECK(memcmp(found, wanted + 7, 40) == 0);
    code = blosc2_schunk_get_lazychunk(handle, nchunk, &chunk, &needs_free);
    CHECK(code > 0);
    if (code > 0) {
      CHECK_IS(blosc2_decompress_ctx(handle->dctx, chunk, code, found, BYTES), BYTES);
      CHECK(memcmp(found, wanted, BYTES) == 0);
    }
    if (code > 0 && needs_free) {
      free(chunk);
    }
  }
  code = blosc2_vlmeta_get(writer, "v", &other, &other_len);
  CHECK_IS(blosc2_vlmeta_get(handle, "v", &content, &len), code);
  CHECK_IS(len, other_len);
  CHECK(len == 0 || memcmp(content, other, (size_t)len) == 0);
  free(content);
  free(other);
  CHECK_IS(handle->nchunks, writer->nchunks);
}

static void a_reader_follows_every_change(bool is_mapped, const char *mode) {
  int change;
  for (change = 0; change < CHANGES; change++) {
    blosc2_schunk *writer = six_chunks(), *handle;
    static int32_t found[WORDS];
    int is_new;
    handle = is_mapped ? open_mapped(path_of(SINGLE_FILE), mode) : blosc2_schunk_open(path_of(SINGLE_FILE));
    CHECK(handle != NULL);
    CHECK_IS(blosc2_schunk_decompress_chunk(handle, 5, found, BYTES), BYTES);
    apply(writer, change);
    /* A refresh detects every other change, the next read the remaining ones. */
    if (change % 2 == 0) {
      is_new = blosc2_schunk_refresh(handle);
      CHECK(is_new >= 0);
      CHECK_IS(blosc2_schunk_refresh(handle), 0);
    }
    reads_the_same(handle, writer);
    apply(writer, 6);
    apply(writer, 6);
    reads_the_same(handle, writer);
    CHECK_IS(blosc2_schunk_free(handle), 0);
    done(writer, SINGLE_FILE);
  }
}

/* An outdated handle copies all current chunks, even if it was opened with fewer. */
static void a_copy_is_of_the_newest_state(bool is_mapped) {
  blosc2_schunk *writer = six_chunks(), *handle, *copy;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  uint8_t *frame;
  bool needs_free;
  int64_t len;
  int way;

  for (way = 0; way < 3; way++) {
    handle = is_mapped ? open_mapped(path_of(SINGLE_FILE), "r") : blosc2_schunk_open(path_of(SINGLE_FILE));
    apply(writer, 6);
    CHECK(blosc2_vlmeta_update(writer, "v", (uint8_t *)"other content", 1 + way, NULL) >= 0);
    if (way == 0) {
      copy = blosc2_schunk_copy(handle, &storage);
    } else if (way == 1) {
      len = blosc2_schunk_to_buffer(handle, &frame, &needs_free);
      CHECK(len > 0);
      copy = blosc2_schunk_from_buffer(frame, len, true);
      free(frame);
    } else {
      CHECK_IS(blosc2_schunk_append_file(handle, "copy.b2frame"), 0);
      copy = blosc2_schunk_open("copy.b2frame");
    }
    CHECK(copy != NULL);
    if (copy != NULL) {
      reads_the_same(copy, writer);
    }
    CHECK_IS(blosc2_schunk_free(copy), 0);
    CHECK_IS(blosc2_schunk_free(handle), 0);
  }
  CHECK_IS(blosc2_remove_urlpath("copy.b2frame"), 0);
  done(writer, SINGLE_FILE);
}

/* Neither change affects the size of the file. */
static void a_refresh_finds_changes_of_the_same_size(int kind) {
  blosc2_schunk *writer = make(kind), *handle;
  CHECK(blosc2_meta_add(writer, "m", (uint8_t *)"12345", 5) >= 0);
  CHECK_IS(blosc2_schunk_append_buffer(writer, plain, BYTES), 1);
  CHECK(blosc2_vlmeta_add(writer, "v", (uint8_t *)"first", 5, NULL) >= 0);
  handle = blosc2_schunk_open(path_of(kind));
  CHECK_IS(blosc2_schunk_refresh(handle), 0);
  CHECK(blosc2_vlmeta_update(writer, "v", (uint8_t *)"other", 5, NULL) >= 0);
  CHECK_IS(blosc2_schunk_refresh(handle), 1);
  CHECK(has_vlmeta(handle, "v", "other", 5));
  CHECK(blosc2_meta_update(writer, "m", (uint8_t *)"54321", 5) >= 0);
  CHECK_IS(blosc2_schunk_refresh(handle), 1);
  CHECK(has_meta(handle, "m", "54321", 5));
  CHECK_IS(blosc2_schunk_refresh(handle), 0);
  CHECK_IS(blosc2_schunk_free(handle), 0);
  done(writer, kind);
}

/* A chunk grows by as many bytes as a metalayer shrinks: the file keeps its length, but the data
 * section grows. */
static void a_frame_of_the_same_length_is_read_again(void) {
  static uint8_t content[30000];
  blosc2_schunk *writer = make(SINGLE_FILE), *handle;
  uint8_t *chunk = compressed(noise);
  uint32_t random = 1;
  int64_t len;
  size_t i;

  for (i = 0; i < sizeof content; i++) {
    random = random * 1664525u + 1013904223u;
    content[i] = (uint8_t)(random >> 24);
  }
  CHECK_IS(blosc2_schunk_append_buffer(writer, plain, BYTES), 1);
  CHECK_IS(blosc2_schunk_append_buffer(writer, plain, BYTES), 2);
  CHECK(blosc2_vlmeta_add(writer, "v", content, sizeof content, NULL) >= 0);
  len = blosc2_schunk_frame_len(writer);
  handle = blosc2_schunk_open(path_of(SINGLE_FILE));
  CHECK(has_vlmeta(handle, "v", content, sizeof content));
  CHECK_IS(blosc2_schunk_update_chunk(writer, 1, chunk, true), 2);
  i = sizeof content - (size_t)(blosc2_schunk_frame_len(writer) - len);
  CHECK(i < sizeof content);
  CHECK(blosc2_vlmeta_update(writer, "v", content, (int32_t)i, NULL) >= 0);
  CHECK_IS(blosc2_schunk_frame_len(writer), len);
  CHECK(has_vlmeta(handle, "v", content, (int32_t)i));
  CHECK(blosc2_vlmeta_add(handle, "w", content, 5, NULL) >= 0);
  CHECK_IS(blosc2_schunk_free(handle), 0);
  handle = blosc2_schunk_open(path_of(SINGLE_FILE));
  CHECK(handle != NULL);
  if (handle != NULL) {
    reads_the_same(handle, writer);
  }
  free(chunk);
  CHECK_IS(blosc2_schunk_free(handle), 0);
  done(writer, SINGLE_FILE);
}

static void an_array_follows_every_shape(bool is_mapped) {
  static const int64_t shape[] = {8, 6}, shapes[][2] = {{10, 6}, {10, 9}, {40, 30}, {40, 6}, {4, 3}, {20, 20}};
  static const int32_t chunks[] = {4, 3}, blocks[] = {2, 3};
  static uint8_t items[1200], found[1200], wanted[1200];
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_cparams cparams = items_of(1);
  b2nd_context_t *context;
  b2nd_array_t *writer, *reader;
  size_t i;

  storage.cparams = &cparams;
  storage.contiguous = true;
  storage.urlpath = path_of(SINGLE_FILE);
  context = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, "|u1", 0, NULL, 0);
  memcpy(items, noise, sizeof items);
  CHECK_IS(b2nd_from_cbuffer(context, &writer, items, 48), 0);
  if (is_mapped) {
    CHECK_IS(b2nd_from_schunk(open_mapped(path_of(SINGLE_FILE), "r"), &reader), 0);
  } else {
    CHECK_IS(b2nd_open(path_of(SINGLE_FILE), &reader), 0);
  }
  for (i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    int64_t size = shapes[i][0] * shapes[i][1];
    CHECK_IS(b2nd_resize(writer, shapes[i], NULL), 0);
    CHECK_IS(b2nd_set_slice_cbuffer(items, shapes[i], size, (int64_t[]){0, 0}, shapes[i], writer), 0);
    CHECK_IS(b2nd_to_cbuffer(writer, wanted, size), 0);
    CHECK_IS(b2nd_to_cbuffer(reader, found, size), 0);
    CHECK_IS(reader->shape[0], shapes[i][0]);
    CHECK(memcmp(found, wanted, (size_t)size) == 0);
  }
  b2nd_free(reader);
  b2nd_free(writer);
  b2nd_free_ctx(context);
  CHECK_IS(blosc2_remove_urlpath(path_of(SINGLE_FILE)), 0);
}

static void borrowed_bytes_stay_mapped_while_the_file_grows(void) {
  blosc2_schunk *writer = six_chunks(), *handle = open_mapped(path_of(SINGLE_FILE), "r");
  uint8_t *chunk, *before = (uint8_t *)malloc(BYTES + BLOSC2_MAX_OVERHEAD);
  bool needs_free;
  int len = blosc2_schunk_get_chunk(handle, 2, &chunk, &needs_free), i;
  CHECK(len > 0 && !needs_free);
  memcpy(before, chunk, (size_t)len);
  for (i = 0; i < 60; i++) {
    apply(writer, 6);
    if (i % 7 == 0) {
      CHECK_IS(blosc2_schunk_refresh(handle), 1);
    }
  }
  reads_the_same(handle, writer);
  CHECK(memcmp(before, chunk, (size_t)len) == 0);
  free(before);
  CHECK_IS(blosc2_schunk_free(handle), 0);
  done(writer, SINGLE_FILE);
}

/* Bytes that were borrowed before the file was mapped at another address are arguments of changes,
 * which move chunks in the file, and rejected as destinations. */
static void bytes_of_an_earlier_mapping_are_recognised(const char *mode) {
  static int32_t found[WORDS];
  int change, i, len;
  for (change = 0; change < 4; change++) {
    blosc2_schunk *writer = six_chunks(), *handle;
    blosc2_io io = BLOSC2_IO_DEFAULTS;
    uint8_t *chunk, *saved;
    bool needs_free;
    char *before;
    CHECK_IS(blosc2_schunk_update_chunk(writer, 0, saved = ramp_chunk(0, BYTES), true), CHUNKS);
    free(saved);
    mapping = BLOSC2_STDIO_MMAP_DEFAULTS;
    mapping.mode = mode;
    mapping.initial_mapping_size = 1;
    io.id = BLOSC2_IO_FILESYSTEM_MMAP;
    io.params = &mapping;
    handle = blosc2_schunk_open_udio(path_of(SINGLE_FILE), &io);
    len = blosc2_schunk_get_chunk(handle, 2, &chunk, &needs_free);
    CHECK(len > 0 && !needs_free);
    before = mapping.addr;
    for (i = 0; i < 20; i++) {
      apply(writer, 6);
    }
    blosc2_schunk_free(writer);
    CHECK_IS(blosc2_schunk_refresh(handle), 1);
    CHECK(mapping.addr != before);
    if (change == 0) {
      CHECK_IS(blosc2_schunk_decompress_chunk(handle, 0, chunk, BYTES), BLOSC2_ERROR_INVALID_PARAM);
      CHECK_IS(blosc2_schunk_get_slice_buffer(handle, 0, 10, chunk), BLOSC2_ERROR_INVALID_PARAM);
    } else if (change == 1) {
      CHECK_IS(blosc2_schunk_update_chunk(handle, 0, chunk, true), CHUNKS + 20);
    } else if (change == 2) {
      CHECK_IS(blosc2_schunk_insert_chunk(handle, 0, chunk, true), CHUNKS + 21);
    } else {
      CHECK_IS(blosc2_schunk_append_chunk(handle, chunk, true), CHUNKS + 21);
    }
    i = change == 3 ? CHUNKS + 20 : change == 0 ? 2 : 0;
    CHECK_IS(blosc2_schunk_decompress_chunk(handle, i, found, BYTES), BYTES);
    CHECK(memcmp(found, noise, BYTES) == 0);
    CHECK_IS(blosc2_schunk_decompress_chunk(handle, 3 + (change == 2), found, BYTES), BYTES);
    CHECK(memcmp(found, plain, BYTES) == 0);
    done(handle, SINGLE_FILE);
  }
}

static void a_replaced_file_is_mapped_again(void) {
  blosc2_schunk *writer = six_chunks(), *handle = open_mapped(path_of(SINGLE_FILE), "r"), *other;
  static int32_t found[WORDS];
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = true;
  storage.urlpath = (char *)"other.b2frame";
  other = blosc2_schunk_copy(writer, &storage);
  CHECK_IS(blosc2_schunk_set_slice_buffer(other, 0, WORDS, noise), 0);
  blosc2_schunk_free(other);
  CHECK_IS(blosc2_schunk_decompress_chunk(handle, 0, found, BYTES), BYTES);
  CHECK(memcmp(found, plain, BYTES) == 0);
  CHECK_IS(rename("other.b2frame", path_of(SINGLE_FILE)), 0);
  CHECK_IS(blosc2_schunk_decompress_chunk(handle, 0, found, BYTES), BYTES);
  CHECK(memcmp(found, noise, BYTES) == 0);
  CHECK_IS(blosc2_schunk_free(handle), 0);
  done(writer, SINGLE_FILE);
}

/* Each case runs in a child, which must not end with a signal. */
static void a_truncated_file_is_an_error(void) {
  static const long sizes[] = {0, 50, 4096, 12288, 14000, 25000};
  static const char *modes[] = {"r", "r+", "c"};
  size_t i, j;
  for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    for (j = 0; j < 3; j++) {
      blosc2_schunk *writer = six_chunks();
      int status;
      pid_t child;
      fflush(stdout);
      child = fork();
      if (child == 0) {
        static int32_t found[WORDS];
        checks_bad = 0;
        blosc2_schunk *handle = open_mapped(path_of(SINGLE_FILE), modes[j]);
        uint8_t *lazy = NULL;
        bool needs_free;
        int len = blosc2_schunk_get_lazychunk(handle, 2, &lazy, &needs_free), code, wrong = 0;
        blosc2_context *context;
        blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
        CHECK(len > 0);
        CHECK_IS(truncate(path_of(SINGLE_FILE), sizes[i]), 0);
        dparams.schunk = handle;
        dparams.nthreads = 2;
        context = blosc2_create_dctx(dparams);
        code = blosc2_schunk_decompress_chunk(handle, 5, found, BYTES);
        wrong += code >= 0 && memcmp(found, plain, BYTES) != 0;
        code = blosc2_schunk_decompress_chunk(handle, 2, found, BYTES);
        wrong += code >= 0 && memcmp(found, noise, BYTES) != 0;
        code = blosc2_schunk_get_slice_buffer(handle, 2 * WORDS, 2 * WORDS + 10, found);
        wrong += code >= 0 && memcmp(found, noise, 40) != 0;
        code = blosc2_decompress_ctx(context, lazy, len, found, BYTES);
        wrong += code >= 0 && memcmp(found, noise, BYTES) != 0;
        wrong += blosc2_schunk_append_buffer(handle, plain, BYTES) >= 0;
        free(blosc2_frame_get_offsets(handle));
        blosc2_schunk_refresh(handle);
        blosc2_free_ctx(context);
        if (needs_free) {
          free(lazy);
        }
        blosc2_schunk_free(handle);
        _exit(wrong == 0 && checks_bad == 0 ? 0 : 1);
      }
      CHECK(waitpid(child, &status, 0) == child);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        printf("truncated to %ld, mode %s: status %d\n", sizes[i], modes[j], status);
        CHECK(false);
      }
      blosc2_schunk_free(writer);
      CHECK_IS(remove(path_of(SINGLE_FILE)), 0);
    }
  }
}

/* ---- a full disk ------------------------------------------------------------------------------ */

enum { STORED = 20000, PAGE = 4096 };

/* Writes a copy of a file in which pages of zeros are holes. */
static void copy_with_holes(const char *path, const char *copy) {
  static const uint8_t zeros[PAGE];
  long len, at;
  uint8_t *bytes = read_whole(path, &len);
  FILE *file = fopen(copy, "wb");
  for (at = 0; at < len; at += PAGE) {
    size_t size = len - at < PAGE ? (size_t)(len - at) : PAGE;
    if (memcmp(bytes + at, zeros, size) != 0) {
      CHECK(fseek(file, at, SEEK_SET) == 0 && fwrite(bytes + at, 1, size, file) == size);
    }
  }
  CHECK(fflush(file) == 0 && ftruncate(fileno(file), len) == 0);
  CHECK_IS(fclose(file), 0);
  free(bytes);
}

static void fill_disk(const char *path) {
  static const uint8_t zeros[PAGE];
  FILE *file = fopen(path, "wb");
  setbuf(file, NULL);
  while (fwrite(zeros, 1, PAGE, file) == PAGE) {
  }
  fclose(file);
}

/* Changes a mapped file with holes on a full file system; returns the number of errors. */
static int change_holes_without_space(void) {
  static int32_t items[STORED], found[STORED];
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_cparams cparams = items_of(ITEM);
  blosc2_schunk *schunk;
  uint8_t *chunk = (uint8_t *)malloc(sizeof items + BLOSC2_MAX_OVERHEAD);
  blosc2_context *context;
  int i;

  checks_bad = 0;
  cparams.clevel = 0;
  storage.cparams = &cparams;
  storage.contiguous = true;
  storage.urlpath = (char *)"whole.b2frame";
  schunk = blosc2_schunk_new(&storage);
  for (i = 0; i < 2; i++) {
    items[10] = i + 1;
    items[STORED - 10] = 5;
    CHECK_IS(blosc2_schunk_append_buffer(schunk, items, sizeof items), i + 1);
  }
  blosc2_schunk_free(schunk);
  copy_with_holes("whole.b2frame", "holes.b2frame");
  CHECK_IS(remove("whole.b2frame"), 0);
  for (i = 0; i < STORED; i++) {
    items[i] = i * 7 + 1;
  }
  context = blosc2_create_cctx(cparams);
  CHECK(blosc2_compress_ctx(context, items, sizeof items, chunk, sizeof items + BLOSC2_MAX_OVERHEAD) > 0);
  blosc2_free_ctx(context);
  fill_disk("fill");

  for (i = 0; i < 2; i++) {
    /* Reading a hole needs space on this file system. */
    schunk = open_mapped("holes.b2frame", i == 0 ? "r" : "c");
    CHECK(schunk != NULL);
    CHECK(blosc2_schunk_decompress_chunk(schunk, 0, found, sizeof found) < 0);
    CHECK(i == 0 || blosc2_schunk_update_chunk(schunk, 0, chunk, true) < 0);
    CHECK_IS(blosc2_schunk_free(schunk), 0);
  }
  schunk = open_mapped("holes.b2frame", "r+");
  CHECK_IS(blosc2_schunk_update_chunk(schunk, 0, chunk, true), BLOSC2_ERROR_CHUNK_UPDATE);
  CHECK_IS(remove("fill"), 0);
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 0, found, sizeof found), sizeof found);
  CHECK(found[9] == 0 && found[10] == 1 && found[STORED - 10] == 5);
  CHECK_IS(blosc2_schunk_update_chunk(schunk, 0, chunk, true), 2);
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 0, found, sizeof found), sizeof found);
  CHECK(memcmp(found, items, sizeof items) == 0);
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 1, found, sizeof found), sizeof found);
  CHECK(found[10] == 2 && found[STORED - 10] == 5);
  CHECK_IS(blosc2_schunk_free(schunk), 0);
  free(chunk);
  return checks_bad;
}

/* Needs the right to mount a small file system, or a user namespace, and Linux 5.14; otherwise does
 * nothing. */
static void a_full_disk_is_an_error(void) {
  enum { SKIPPED = 77, POPULATE_READ = 22 };
  static uint8_t pages[2 * PAGE];
  uint8_t *page = pages + (PAGE - (uintptr_t)pages % PAGE) % PAGE;
  int status;
  pid_t child;
  CHECK_IS(mkdir("small", 0777), 0);
  fflush(stdout);
  child = fork();
  if (child == 0) {
    if (madvise(page, PAGE, POPULATE_READ) != 0 || (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "small", "tmpfs", 0, "size=512k") != 0) {
      _exit(SKIPPED);
    }
    CHECK_IS(chdir("small"), 0);
    _exit(change_holes_without_space() == 0 ? 0 : (fflush(stdout), 1));
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == SKIPPED));
  CHECK_IS(rmdir("small"), 0);
}

/* ---- locks on read-only storage -------------------------------------------------------------- */

static blosc2_schunk *open_locked(const char *path) {
  static blosc2_stdio_params params = {true};
  blosc2_io io = BLOSC2_IO_DEFAULTS;
  io.params = &params;
  return blosc2_schunk_open_udio(path, &io);
}

/* Reads in a process without privileges; returns the number of errors. */
static int read_without_rights(int kind, bool has_lock_file) {
  int32_t items[ITEMS];
  blosc2_schunk *schunk;
  checks_bad = 0;
  if (getuid() == 0) {
    CHECK_IS(setgid(65534), 0);
    CHECK_IS(setuid(65534), 0);
  }
  schunk = open_locked(path_of(kind));
  CHECK(schunk != NULL);
  if (schunk == NULL) {
    return checks_bad;
  }
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 1, items, CHUNK), CHUNK);
  CHECK_IS(blosc2_schunk_refresh(schunk), 0);
  CHECK_IS(blosc2_schunk_lock(schunk), 0);
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 2, items, CHUNK), CHUNK);
  CHECK_IS(blosc2_schunk_unlock(schunk), 0);
  CHECK(append(schunk, ramp_chunk(0, CHUNK)) < 0);
  CHECK_IS(schunk->nchunks, 3);
  CHECK_IS(blosc2_schunk_free(schunk), 0);
  CHECK_IS(access(kind == SINGLE_FILE ? "file.b2frame.b2lock" : "directory.b2frame/.b2lock", F_OK),
           has_lock_file ? 0 : -1);
  return checks_bad;
}

static void readers_need_no_lock_on_read_only_storage(int kind, bool has_lock_file) {
  int status;
  pid_t child;
  if (has_lock_file) {
    CHECK_IS(setenv("BLOSC_LOCKING", "1", 1), 0);
  }
  blosc2_schunk_free(make_full(kind, 3));
  CHECK_IS(unsetenv("BLOSC_LOCKING"), 0);
  CHECK_IS(system("chmod -R a-w,a+rX ."), 0);
  fflush(stdout);
  child = fork();
  if (child == 0) {
    _exit(read_without_rights(kind, has_lock_file) == 0 ? 0 : (fflush(stdout), 1));
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK_IS(system("chmod -R u+w ."), 0);
  CHECK_IS(blosc2_remove_urlpath(path_of(kind)), 0);
}

/* If others may write, a process without write permission cannot lock, and locking must be an
 * error. */
static void a_missing_lock_is_an_error(void) {
  int status;
  pid_t child;
  if (getuid() != 0) {
    return;
  }
  blosc2_schunk_free(make_full(SINGLE_FILE, 3));
  CHECK_IS(system("chmod 755 . && chmod 644 *"), 0);
  fflush(stdout);
  child = fork();
  if (child == 0) {
    blosc2_schunk *schunk;
    int32_t items[ITEMS];
    checks_bad = 0;
    CHECK_IS(setuid(65534), 0);
    schunk = open_locked(path_of(SINGLE_FILE));
    CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 1, items, CHUNK), CHUNK);
    CHECK_IS(blosc2_schunk_lock(schunk), BLOSC2_ERROR_LOCK);
    blosc2_schunk_free(schunk);
    _exit(checks_bad == 0 ? 0 : (fflush(stdout), 1));
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  /* A writable frame is not read without the requested lock. */
  CHECK_IS(system("chmod 666 file.b2frame"), 0);
  fflush(stdout);
  child = fork();
  if (child == 0) {
    checks_bad = 0;
    CHECK_IS(setuid(65534), 0);
    CHECK(open_locked(path_of(SINGLE_FILE)) == NULL);
    _exit(checks_bad == 0 ? 0 : (fflush(stdout), 1));
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK_IS(blosc2_remove_urlpath(path_of(SINGLE_FILE)), 0);
}

int main(void) {
  int i, kind;
  alarm(300);
  blosc2_init();
  enter_folder();
  for (i = 0; i < WORDS; i++) {
    plain[i] = i ^ (i << 7);
    noise[i] = (int32_t)((uint32_t)i * 2654435761u ^ (uint32_t)(i * i) * 40503u);
  }
  a_reader_follows_every_change(false, NULL);
  a_reader_follows_every_change(true, "r");
  a_reader_follows_every_change(true, "r+");
  a_reader_follows_every_change(true, "c");
  a_copy_is_of_the_newest_state(false);
  a_copy_is_of_the_newest_state(true);
  a_refresh_finds_changes_of_the_same_size(SINGLE_FILE);
  a_refresh_finds_changes_of_the_same_size(DIRECTORY);
  a_frame_of_the_same_length_is_read_again();
  an_array_follows_every_shape(false);
  an_array_follows_every_shape(true);
  borrowed_bytes_stay_mapped_while_the_file_grows();
  bytes_of_an_earlier_mapping_are_recognised("r+");
  bytes_of_an_earlier_mapping_are_recognised("c");
  a_replaced_file_is_mapped_again();
  a_truncated_file_is_an_error();
  a_full_disk_is_an_error();
  for (kind = SINGLE_FILE; kind <= DIRECTORY; kind++) {
    readers_need_no_lock_on_read_only_storage(kind, false);
    readers_need_no_lock_on_read_only_storage(kind, true);
  }
  a_missing_lock_is_an_error();
  blosc2_destroy();
  return leave_folder();
}
