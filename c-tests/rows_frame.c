/*
 * Frames in cases in which C-Blosc2 crashes, loses data or leaves partial changes: rows F1 to F11,
 * F13, F14, F16, F20 to F27 and F40. The names of the functions contain the rows.
 */

#include "schunks.h"
#include <blosc2/blosc2-stdio.h>
#include <sys/resource.h>

enum { HEADER_LEN = 97, EMPTY_LEN = 132 };

static uint32_t big32(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint64_t big64(const uint8_t *bytes) { return (uint64_t)big32(bytes) << 32 | big32(bytes + 4); }

static void row_f1_special_chunks_keep_their_length_among_variable_sizes(void) {
  static const int special[] = {BLOSC2_SPECIAL_ZERO, BLOSC2_SPECIAL_NAN, BLOSC2_SPECIAL_UNINIT};
  static const uint8_t odd[203];
  int kind, i;

  for (kind = FRAME; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind), *again;
    schunk->chunksize = 0;
    CHECK_IS(append(schunk, ramp_chunk(0, 100)), 1);
    for (i = 0; i < 3; i++) {
      CHECK_IS(append(schunk, special_chunk(special[i], 200 + 4 * i)), i + 2);
    }
    CHECK_IS(insert(schunk, 0, special_chunk(BLOSC2_SPECIAL_ZERO, 40)), 5);
    CHECK_IS(update(schunk, 1, special_chunk(BLOSC2_SPECIAL_ZERO, 44)), 5);
    /* A length that is not a multiple of the item size. */
    CHECK_IS(blosc2_schunk_append_buffer(schunk, odd, 203), 6);
    again = reopened(schunk, kind);
    CHECK(again != NULL);
    for (i = 0; i < 2; i++) {
      blosc2_schunk *one = i == 0 ? schunk : again;
      int64_t *offsets;
      int32_t item = 1;
      uint8_t *chunk, bytes[203];
      bool needs_free;
      CHECK_IS(one->nchunks, 6);
      CHECK(holds_value(one, 0, 0, 40));
      CHECK(holds_value(one, 1, 0, 44));
      CHECK(holds_value(one, 2, 0, 200));
      CHECK(holds_value(one, 3, 0x7FC00000, 204));
      CHECK_IS(blosc2_schunk_decompress_chunk(one, 5, bytes, 203), 203);
      CHECK(bytes[0] == 0 && bytes[202] == 0);
      /* Stored as a repeated value of one item. */
      CHECK_IS(blosc2_schunk_get_lazychunk(one, 2, &chunk, &needs_free), 36);
      CHECK_IS(blosc2_getitem_ctx(one->dctx, chunk, 36, 3, 1, &item, 4), 4);
      CHECK_IS(item, 0);
      if (needs_free) {
        free(chunk);
      }
      offsets = blosc2_frame_get_offsets(one);
      CHECK(offsets != NULL && offsets[2] >= 0);
      free(offsets);
    }
    blosc2_schunk_free(again);
    done(schunk, kind);
  }
}

static void row_f2_special_chunks_are_stored_when_the_sizes_become_variable(void) {
  int kind, way;

  for (kind = FRAME; kind < KINDS; kind++) {
    for (way = 0; way < 4; way++) {
      blosc2_schunk *schunk = make(kind), *again;
      CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_ZERO, CHUNK)), 1);
      CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_NAN, CHUNK)), 2);
      CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 3);
      if (way == 0) {
        CHECK_IS(append(schunk, ramp_chunk(0, 200)), 4);
        CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 5);
      } else if (way == 1) {
        CHECK_IS(insert(schunk, 3, ramp_chunk(0, 2 * CHUNK)), 4);
      } else if (way == 2) {
        CHECK_IS(update(schunk, 2, ramp_chunk(0, 2 * CHUNK)), 3);
      } else {
        CHECK_IS(blosc2_schunk_append_buffer(schunk, NULL, 0), 4);
      }
      CHECK_IS(schunk->chunksize, 0);
      CHECK(holds_value(schunk, 0, 0, CHUNK));
      CHECK(holds_value(schunk, 1, 0x7FC00000, CHUNK));
      again = reopened(schunk, kind);
      CHECK(again != NULL);
      CHECK_IS(again->nchunks, schunk->nchunks);
      CHECK_IS(again->nbytes, schunk->nbytes);
      CHECK_IS(again->cbytes, schunk->cbytes);
      CHECK(holds_value(again, 0, 0, CHUNK));
      CHECK(holds_value(again, 1, 0x7FC00000, CHUNK));
      blosc2_schunk_free(again);
      done(schunk, kind);
    }
  }
}

/* Replaces the chunk of a frame with a single memcpyed chunk, whose bytes begin at HEADER_LEN. */
static uint8_t *frame_of_plain_chunk(int64_t *len, int32_t nbytes) {
  blosc2_cparams cparams = items_of(ITEM);
  blosc2_schunk *schunk;
  uint8_t *bytes, *copy, *data = (uint8_t *)malloc((size_t)nbytes);
  bool needs_free;

  cparams.clevel = 0;
  schunk = make_with(FRAME, cparams);
  fill_with_data(data, (size_t)nbytes);
  CHECK_IS(blosc2_schunk_append_buffer(schunk, data, nbytes), 1);
  free(data);
  *len = blosc2_schunk_to_buffer(schunk, &bytes, &needs_free);
  copy = (uint8_t *)malloc((size_t)*len);
  memcpy(copy, bytes, (size_t)*len);
  blosc2_schunk_free(schunk);
  return copy;
}

static void row_f3_stored_special_chunks_are_read(void) {
  static const int special[] = {BLOSC2_SPECIAL_ZERO, BLOSC2_SPECIAL_NAN, BLOSC2_SPECIAL_UNINIT};
  int i, on_disk;

  for (i = 0; i < 3; i++) {
    int64_t len;
    uint8_t *frame = frame_of_plain_chunk(&len, CHUNK), *chunk = special_chunk(special[i], CHUNK), *got;
    bool needs_free;
    /* The rest of the old chunk becomes dead space. */
    memcpy(frame + HEADER_LEN, chunk, 32);
    for (on_disk = 0; on_disk < 2; on_disk++) {
      blosc2_schunk *schunk;
      write_whole("physical.b2frame", frame, (long)len);
      schunk = on_disk ? blosc2_schunk_open("physical.b2frame") : blosc2_schunk_from_buffer(frame, len, false);
      CHECK(schunk != NULL);
      CHECK_IS(blosc2_schunk_get_lazychunk(schunk, 0, &got, &needs_free), 32);
      CHECK(memcmp(got, chunk, 32) == 0);
      if (needs_free) {
        free(got);
      }
      CHECK_IS(blosc2_schunk_get_chunk(schunk, 0, &got, &needs_free), 32);
      CHECK(memcmp(got, chunk, 32) == 0);
      if (needs_free) {
        free(got);
      }
      CHECK(special[i] != BLOSC2_SPECIAL_ZERO || holds_value(schunk, 0, 0, CHUNK));
      CHECK(special[i] != BLOSC2_SPECIAL_NAN || holds_value(schunk, 0, 0x7FC00000, CHUNK));
      CHECK_IS(append(schunk, ramp_chunk(3, CHUNK)), 2);
      CHECK(holds_ramp(schunk, 1, 3, CHUNK));
      blosc2_schunk_free(schunk);
    }
    CHECK_IS(blosc2_remove_urlpath("physical.b2frame"), 0);
    free(chunk);
    free(frame);
  }
}

static void row_f4_tiny_chunks_are_stored_with_a_full_header(void) {
  uint8_t tiny[24] = {2, 1, 0x02, 4, 8, 0, 0, 0, 8, 0, 0, 0, 24, 0, 0, 0}, *chunk;
  const int32_t items[] = {1, 2};
  bool needs_free;
  int kind;

  memcpy(tiny + BLOSC_MIN_HEADER_LENGTH, items, sizeof items);
  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind), *again;
    CHECK_IS(blosc2_schunk_append_chunk(schunk, tiny, true), 1);
    CHECK_IS(blosc2_schunk_insert_chunk(schunk, 0, tiny, true), 2);
    CHECK_IS(append(schunk, ramp_chunk(7, 8)), 3);
    CHECK_IS(blosc2_schunk_update_chunk(schunk, 2, tiny, true), 3);
    CHECK(holds_ramp(schunk, 0, 1, 8));
    CHECK_IS(blosc2_schunk_get_chunk(schunk, 0, &chunk, &needs_free), has_frame(kind) ? 40 : 24);
    CHECK(!has_frame(kind) || (chunk[BLOSC2_CHUNK_FLAGS] == 7 && chunk[3] == 4));
    if (needs_free) {
      free(chunk);
    }
    again = reopened(schunk, kind);
    CHECK(again != NULL);
    CHECK(holds_ramp(again, 0, 1, 8) && holds_ramp(again, 1, 1, 8) && holds_ramp(again, 2, 1, 8));
    CHECK(!has_frame(kind) || again->cbytes == 3 * 40);
    CHECK_IS(blosc2_schunk_delete_chunk(again, 1), 2);
    blosc2_schunk_free(again);
    done(schunk, kind);
  }
}

static void row_f5_a_frame_holds_sixteen_vlmetalayers(void) {
  int kind, i;
  char name[20];
  uint8_t content[] = {1, 2, 3};

  for (kind = FRAME; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 1), *again;
    snapshot before;
    for (i = 0; i < 16; i++) {
      snprintf(name, sizeof name, "layer %d", i);
      CHECK_IS(blosc2_vlmeta_add(schunk, name, content, 3, NULL), i);
    }
    before = snapshot_of(schunk);
    CHECK_IS(blosc2_vlmeta_add(schunk, "one more", content, 3, NULL), BLOSC2_ERROR_FAILURE);
    CHECK(is_as_in(schunk, before));
    CHECK_IS(append(schunk, ramp_chunk(5, CHUNK)), 2);
    again = reopened(schunk, kind);
    CHECK(again != NULL);
    CHECK_IS(again->nvlmetalayers, 16);
    CHECK(has_vlmeta(again, "layer 15", content, 3));
    blosc2_schunk_free(again);
    done(schunk, kind);
  }
}

static void row_f5_a_frame_with_more_is_read_and_changed(void) {
  /* Adds an entry to the trailer of a frame without chunks: its name, and a chunk of "abc". */
  static const uint8_t value[] = {0xC6, 0, 0, 0, 35,  5, 1, 7, 8, 3, 0, 0, 0, 1, 0, 0, 0, 35, 0, 0,
                                  0,    0, 0, 0, 0,   0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c'};
  enum { LAYERS = 17, NAME_LEN = 3, ENTRY = 1 + NAME_LEN + 5, MAP = 9 };
  enum { VALUES = MAP + LAYERS * ENTRY + 3, TRAILER = VALUES + LAYERS * (int)sizeof value + 23 };
  blosc2_schunk *schunk = make(FRAME), *again;
  uint8_t *bytes, *frame = (uint8_t *)calloc(1, HEADER_LEN + TRAILER), *trailer = frame + HEADER_LEN, *out;
  bool needs_free;
  int i;
  uint32_t total = HEADER_LEN + TRAILER, trailer_len = TRAILER;

  CHECK_IS(blosc2_schunk_to_buffer(schunk, &bytes, &needs_free), EMPTY_LEN);
  memcpy(frame, bytes, HEADER_LEN);
  blosc2_schunk_free(schunk);
  memcpy(trailer, "\x94\x01\x93\xcd\x00\x00\xde\x00\x11", MAP);
  for (i = 0; i < LAYERS; i++) {
    uint8_t *entry = trailer + MAP + i * ENTRY;
    uint32_t offset = VALUES + (uint32_t)i * (uint32_t)sizeof value;
    entry[0] = 0xA0 | NAME_LEN;
    entry[1] = 'v';
    entry[2] = (uint8_t)('0' + i / 10);
    entry[3] = (uint8_t)('0' + i % 10);
    entry[4] = 0xD2;
    entry[7] = (uint8_t)(offset >> 8);
    entry[8] = (uint8_t)offset;
    memcpy(trailer + offset, value, sizeof value);
  }
  memcpy(trailer + VALUES - 3, "\xdc\x00\x11", 3);
  out = trailer + TRAILER - 23;
  out[0] = 0xCE;
  out[3] = (uint8_t)(trailer_len >> 8);
  out[4] = (uint8_t)trailer_len;
  out[5] = 0xD8;
  frame[0x16] = (uint8_t)(total >> 8);
  frame[0x17] = (uint8_t)total;

  write_whole("many.b2frame", frame, (long)total);
  free(frame);
  schunk = blosc2_schunk_open("many.b2frame");
  CHECK(schunk != NULL);
  if (schunk != NULL) {
    CHECK_IS(schunk->nvlmetalayers, LAYERS);
    CHECK(has_vlmeta(schunk, "v16", "abc", 3));
    CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
    CHECK_IS(append(schunk, ramp_chunk(9, CHUNK)), 2);
    CHECK_IS(blosc2_vlmeta_update(schunk, "v03", (uint8_t *)"other", 5, NULL), 3);
    CHECK_IS(blosc2_vlmeta_add(schunk, "v17", (uint8_t *)"x", 1, NULL), BLOSC2_ERROR_FAILURE);
    CHECK_IS(blosc2_vlmeta_delete(schunk, "v00"), 16);
    again = blosc2_schunk_open("many.b2frame");
    CHECK(again != NULL);
    CHECK(holds_ramp(again, 1, 9, CHUNK));
    CHECK_IS(again->nvlmetalayers, 16);
    CHECK(has_vlmeta(again, "v03", "other", 5));
    blosc2_schunk_free(again);
    blosc2_schunk_free(schunk);
  }
  CHECK_IS(blosc2_remove_urlpath("many.b2frame"), 0);
}

static void row_f6_frames_followed_by_other_data_are_not_changed(void) {
  blosc2_schunk *schunk = make_full(FRAME, 2), *first, *second;
  int64_t second_at;
  uint8_t *before, *after, content = 5;
  long len, len_after;

  CHECK_IS(blosc2_meta_add(schunk, "m", &content, 1), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_schunk_append_file(schunk, "two"), 0);
  second_at = blosc2_schunk_append_file(schunk, "two");
  CHECK_IS(second_at, blosc2_schunk_frame_len(schunk));
  before = read_whole("two", &len);
  first = blosc2_schunk_open("two");
  CHECK(first != NULL);
  CHECK_IS(append(first, ramp_chunk(0, CHUNK)), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(insert(first, 0, ramp_chunk(0, CHUNK)), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(update(first, 0, ramp_chunk(0, CHUNK)), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_schunk_delete_chunk(first, 0), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_vlmeta_add(first, "v", &content, 1, NULL), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(first->nchunks, 2);
  after = read_whole("two", &len_after);
  CHECK(len_after == len && memcmp(before, after, (size_t)len) == 0);
  free(after);

  /* The last frame in a file can grow. */
  second = blosc2_schunk_open_offset("two", second_at);
  CHECK(second != NULL);
  CHECK_IS(append(second, ramp_chunk(7, CHUNK)), 3);
  blosc2_schunk_free(second);
  second = blosc2_schunk_open_offset("two", second_at);
  CHECK(second != NULL && holds_ramp(second, 2, 7, CHUNK));
  after = read_whole("two", &len_after);
  CHECK(len_after > len && memcmp(before, after, (size_t)second_at) == 0);
  free(after);
  /* It cannot grow if any data follow. */
  {
    FILE *file = fopen("two", "ab");
    CHECK(file != NULL && fwrite("trailing", 1, 8, file) == 8);
    fclose(file);
  }
  CHECK_IS(append(second, ramp_chunk(7, CHUNK)), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(second->nchunks, 3);
  blosc2_schunk_free(second);
  blosc2_schunk_free(first);
  free(before);
  CHECK_IS(blosc2_remove_urlpath("two"), 0);
  blosc2_schunk_free(schunk);
}

static void row_f7_bytes_after_a_frame_are_ignored_and_truncated(void) {
  blosc2_schunk *schunk = make_full(SINGLE_FILE, 2), *again;
  char *path = path_of(SINGLE_FILE);
  long len = file_size(path);
  FILE *file = fopen(path, "ab");
  int i;

  for (i = 0; i < 1000; i++) {
    CHECK(file != NULL && fputc('x', file) == 'x');
  }
  fclose(file);
  CHECK_IS(file_size(path), len + 1000);
  again = blosc2_schunk_open(path);
  CHECK(again != NULL && holds_ramp(again, 1, ITEMS, CHUNK));
  CHECK_IS(blosc2_vlmeta_add(again, "v", (uint8_t *)"abc", 3, NULL), 0);
  CHECK_IS(file_size(path), blosc2_schunk_frame_len(again));
  blosc2_schunk_free(again);
  done(schunk, SINGLE_FILE);
}

static void row_f8_a_caller_owned_frame_is_copied_on_write(void) {
  int way;

  for (way = 0; way < 4; way++) {
    blosc2_schunk *source = make_full(FRAME, 2), *schunk;
    uint8_t *bytes, *mine, *before, *now;
    bool needs_free;
    int64_t len = blosc2_schunk_to_buffer(source, &bytes, &needs_free);
    mine = (uint8_t *)malloc((size_t)len);
    before = (uint8_t *)malloc((size_t)len);
    memcpy(mine, bytes, (size_t)len);
    memcpy(before, bytes, (size_t)len);
    blosc2_schunk_free(source);
    schunk = blosc2_schunk_from_buffer(mine, len, false);
    CHECK(schunk != NULL && schunk->frame != NULL && schunk->storage->contiguous);
    CHECK_IS(blosc2_schunk_to_buffer(schunk, &now, &needs_free), len);
    CHECK(now == mine && !needs_free);
    if (way == 1) {
      /* Of equal size, so that an in-place update would be possible. */
      CHECK_IS(update(schunk, 0, ramp_chunk(0, CHUNK)), 2);
    } else if (way == 2) {
      CHECK_IS(append(schunk, ramp_chunk(50, CHUNK)), 3);
    } else if (way == 3) {
      CHECK_IS(blosc2_vlmeta_add(schunk, "v", (uint8_t *)"abc", 3, NULL), 0);
    }
    CHECK(blosc2_schunk_to_buffer(schunk, &now, &needs_free) >= len);
    CHECK(!needs_free && (now == mine) == (way == 0));
    CHECK(memcmp(mine, before, (size_t)len) == 0);
    CHECK(way != 2 || holds_ramp(schunk, 2, 50, CHUNK));
    CHECK_IS(blosc2_schunk_free(schunk), 0);
    CHECK(memcmp(mine, before, (size_t)len) == 0);
    /* The returned memory is owned by the caller and outlives the super-chunk. */
    if (way != 0) {
      CHECK(memcmp(now + 2, "b2frame", 8) == 0);
      free(now);
    }
    free(mine);
    free(before);
  }
}

static void row_f9_copies_of_corrupt_frames(void) {
  int64_t len;
  uint8_t *frame = frame_of_plain_chunk(&len, CHUNK), *out;
  blosc2_schunk *schunk, *copy;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  bool needs_free;

  /* A length that differs from that of the frame's chunks. */
  frame[HEADER_LEN + 4] = 0x91;
  CHECK(blosc2_schunk_from_buffer(frame, len, true) == NULL);
  /* A compressed length that exceeds the data. */
  frame[HEADER_LEN + 4] = 0x90;
  frame[HEADER_LEN + 13] = 0x70;
  CHECK(blosc2_schunk_from_buffer(frame, len, true) == NULL);
  write_whole("corrupt.b2frame", frame, (long)len);
  schunk = blosc2_schunk_open("corrupt.b2frame");
  CHECK(schunk == NULL);
  free(frame);

  /* An invalid second chunk: the frame opens, but copying fails. */
  schunk = make_full(SINGLE_FILE, 2);
  out = read_whole(path_of(SINGLE_FILE), &(long){0});
  {
    int64_t *offsets = blosc2_frame_get_offsets(schunk);
    long size = file_size(path_of(SINGLE_FILE));
    memset(out + HEADER_LEN + offsets[1], 0xFF, 16);
    write_whole("corrupt.b2frame", out, size);
    CHECK(blosc2_schunk_from_buffer(out, size, true) == NULL);
    free(offsets);
  }
  free(out);
  done(schunk, SINGLE_FILE);
  schunk = blosc2_schunk_open("corrupt.b2frame");
  CHECK(schunk != NULL && holds_ramp(schunk, 0, 0, CHUNK));
  out = (uint8_t *)schunk;
  needs_free = true;
  CHECK_IS(blosc2_schunk_to_buffer(schunk, &out, &needs_free), BLOSC2_ERROR_SCHUNK_COPY);
  CHECK(out == NULL && !needs_free);
  copy = blosc2_schunk_copy(schunk, &storage);
  CHECK(copy == NULL);
  CHECK_IS(blosc2_schunk_to_file(schunk, "copy.b2frame"), BLOSC2_ERROR_SCHUNK_COPY);
  CHECK(access("copy.b2frame", F_OK) != 0);
  blosc2_schunk_free(schunk);
  CHECK_IS(blosc2_remove_urlpath("corrupt.b2frame"), 0);
}

static int destroyed;

static int count_destroy(void *params) {
  CHECK(params == &destroyed);
  destroyed++;
  return 0;
}

static void *file_open(const char *path, const char *mode, void *params) {
  (void)params;
  return blosc2_stdio_open(path, mode, NULL);
}

static void row_f10_parameters_of_a_failed_open_are_destroyed_once(void) {
  blosc2_io_cb backend = *blosc2_get_io_cb(BLOSC2_IO_FILESYSTEM);
  blosc2_io io = {170, "counting", &destroyed};
  blosc2_schunk *schunk = make_full(SINGLE_FILE, 1);
  /* Magic, frame type, version, item size, header length, trailer marker. */
  static const struct { int at; uint8_t value; } damages[] = {
      {0x1A, 7}, {0x19, 0x1F}, {0x33, 0}, {0x0E, 86}, {-23, 0}, {0x2B, 0xFF}, {0x30, 0xFF}};
  uint8_t *frame;
  long len;
  size_t i;

  backend.id = 170;
  backend.name = (char *)"counting";
  backend.open = file_open;
  backend.destroy = count_destroy;
  CHECK_IS(blosc2_register_io_cb(&backend), 0);
  CHECK(blosc2_schunk_open_udio("nowhere", &io) == NULL);
  CHECK_IS(destroyed, 1);
  CHECK(blosc2_schunk_open_offset_udio(path_of(SINGLE_FILE), -1, &io) == NULL);
  CHECK_IS(destroyed, 2);
  CHECK(blosc2_schunk_open_offset_udio(path_of(SINGLE_FILE), 1, &io) == NULL);
  CHECK_IS(destroyed, 3);
  frame = read_whole(path_of(SINGLE_FILE), &len);
  for (i = 0; i < sizeof damages / sizeof *damages; i++) {
    long at = damages[i].at < 0 ? len + damages[i].at : damages[i].at;
    uint8_t was = frame[at];
    frame[at] = damages[i].value;
    write_whole("damaged.b2frame", frame, len);
    destroyed = 0;
    CHECK(blosc2_schunk_open_udio("damaged.b2frame", &io) == NULL);
    CHECK_IS(destroyed, 1);
    frame[at] = was;
  }
  write_whole("damaged.b2frame", frame, len);
  free(frame);
  done(schunk, SINGLE_FILE);
  destroyed = 0;
  schunk = blosc2_schunk_open_udio("damaged.b2frame", &io);
  CHECK(schunk != NULL && destroyed == 0);
  CHECK(holds_ramp(schunk, 0, 0, CHUNK));
  CHECK_IS(blosc2_schunk_free(schunk), 0);
  CHECK_IS(destroyed, 1);
  CHECK_IS(blosc2_remove_urlpath("damaged.b2frame"), 0);
}

static void row_f11_only_buffers_need_the_magic(void) {
  blosc2_schunk *schunk = make_full(SINGLE_FILE, 1);
  uint8_t *frame;
  long len;

  frame = read_whole(path_of(SINGLE_FILE), &len);
  done(schunk, SINGLE_FILE);
  memset(frame + 2, 'x', 8);
  CHECK(blosc2_schunk_from_buffer(frame, len, false) == NULL);
  CHECK(blosc2_schunk_from_buffer(frame, len, true) == NULL);
  write_whole("nameless.b2frame", frame, len);
  schunk = blosc2_schunk_open("nameless.b2frame");
  CHECK(schunk != NULL && holds_ramp(schunk, 0, 0, CHUNK));
  blosc2_schunk_free(schunk);
  CHECK_IS(blosc2_remove_urlpath("nameless.b2frame"), 0);
  free(frame);
}

static void row_f13_appending_with_a_negative_block_size(void) {
  int kind, i;
  int32_t items[ITEMS] = {1, 2, 3};

  for (kind = FRAME; kind <= SINGLE_FILE; kind++) {
    blosc2_schunk *schunk = make_full(SINGLE_FILE, 1), *spoiled;
    uint8_t *frame;
    long len;
    frame = read_whole(path_of(SINGLE_FILE), &len);
    done(schunk, SINGLE_FILE);
    for (i = 0; i < 4; i++) {
      frame[0x35 + i] = 0xFF;
    }
    write_whole("negative.b2frame", frame, len);
    spoiled = kind == FRAME ? blosc2_schunk_from_buffer(frame, len, false) : blosc2_schunk_open("negative.b2frame");
    CHECK(spoiled != NULL);
    CHECK_IS(spoiled->blocksize, -1);
    CHECK(holds_ramp(spoiled, 0, 0, CHUNK));
    CHECK_IS(blosc2_schunk_append_buffer(spoiled, items, CHUNK), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(spoiled->nchunks, 1);
    blosc2_schunk_free(spoiled);
    CHECK_IS(blosc2_remove_urlpath("negative.b2frame"), 0);
    free(frame);
  }
}

static void row_f14_chunks_have_the_size_in_the_frame(void) {
  int kind, i;

  for (kind = FRAME; kind <= SINGLE_FILE; kind++) {
    blosc2_schunk *schunk = make_full(SINGLE_FILE, 3), *spoiled;
    int64_t *offsets = blosc2_frame_get_offsets(schunk);
    uint8_t *frame, dest[2 * CHUNK], *chunk;
    bool needs_free;
    long len;
    frame = read_whole(path_of(SINGLE_FILE), &len);
    done(schunk, SINGLE_FILE);
    /* Doubles the size as well, so that the chunk itself is consistent. */
    frame[HEADER_LEN + offsets[1] + 4] = 0x20;
    frame[HEADER_LEN + offsets[1] + 5] = 0x03;
    write_whole("size.b2frame", frame, len);
    spoiled = kind == FRAME ? blosc2_schunk_from_buffer(frame, len, false) : blosc2_schunk_open("size.b2frame");
    CHECK(spoiled != NULL);
    for (i = 0; i < 3; i += 2) {
      CHECK(holds_ramp(spoiled, i, i * ITEMS, CHUNK));
    }
    CHECK_IS(blosc2_schunk_decompress_chunk(spoiled, 1, dest, sizeof dest), BLOSC2_ERROR_INVALID_HEADER);
    CHECK_IS(blosc2_schunk_get_chunk(spoiled, 1, &chunk, &needs_free), BLOSC2_ERROR_INVALID_HEADER);
    CHECK(chunk == NULL && !needs_free);
    CHECK_IS(blosc2_schunk_get_lazychunk(spoiled, 1, &chunk, &needs_free), BLOSC2_ERROR_INVALID_HEADER);
    CHECK_IS(blosc2_schunk_get_slice_buffer(spoiled, ITEMS + 1, ITEMS + 2, dest), BLOSC2_ERROR_FAILURE);
    blosc2_schunk_free(spoiled);
    CHECK_IS(blosc2_remove_urlpath("size.b2frame"), 0);
    free(frame);
    free(offsets);
  }
}

static void row_f15_lengths_in_headers_are_not_allocated(void) {
  /* A directory's index whose header, trailer and frame declare 2 GiB, with little memory. */
  static const int fields[] = {0x0B, 0x14};
  blosc2_schunk *schunk = make_full(DIRECTORY, 1);
  struct rlimit old, small;
  char index[330];
  uint8_t *frame;
  long len;
  int i;

  snprintf(index, sizeof index, "%s/chunks.b2frame", path_of(DIRECTORY));
  frame = read_whole(index, &len);
  CHECK(getrlimit(RLIMIT_AS, &old) == 0);
  for (i = 0; i < 3; i++) {
    uint8_t saved[4];
    int at = i < 2 ? fields[i] : (int)len - 22;
    memcpy(saved, frame + at, 4);
    memcpy(frame + at, "\x7f\xff\xff\xff", 4);
    write_whole(index, frame, len);
    memcpy(frame + at, saved, 4);
    small = old;
    small.rlim_cur = (rlim_t)1 << 30;
    CHECK(setrlimit(RLIMIT_AS, &small) == 0);
    CHECK(blosc2_schunk_open(path_of(DIRECTORY)) == NULL);
    CHECK(setrlimit(RLIMIT_AS, &old) == 0);
  }
  free(frame);
  done(schunk, DIRECTORY);
}

static void row_f16_files_of_any_number(void) {
  int i;
  blosc2_schunk *schunk = make(DIRECTORY), *again;

  /* The reference treats file number 7 as invalid if the only chunk has 36 bytes. */
  for (i = 0; i < 8; i++) {
    CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_VALUE, CHUNK)), i + 1);
  }
  for (i = 6; i >= 0; i--) {
    CHECK_IS(blosc2_schunk_delete_chunk(schunk, i), i + 1);
  }
  CHECK_IS(schunk->cbytes, 36);
  again = blosc2_schunk_open(path_of(DIRECTORY));
  CHECK(again != NULL && again->nchunks == 1);
  CHECK(holds_value(again, 0, 0x01020304, CHUNK));
  blosc2_schunk_free(again);
  /* With chunks of 72 bytes in total, file number 8 is valid for the reference. */
  CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_VALUE, CHUNK)), 2);
  {
    int64_t *offsets = blosc2_frame_get_offsets(schunk);
    CHECK(offsets != NULL && offsets[0] == 7 && offsets[1] == 8);
    free(offsets);
  }
  for (i = 2; i < 35; i++) {
    CHECK_IS(update(schunk, 0, special_chunk(BLOSC2_SPECIAL_ZERO, CHUNK)), 2);
    CHECK_IS(update(schunk, 0, special_chunk(BLOSC2_SPECIAL_VALUE, CHUNK)), 2);
    CHECK_IS(update(schunk, 1, special_chunk(BLOSC2_SPECIAL_ZERO, CHUNK)), 2);
    CHECK_IS(update(schunk, 1, special_chunk(BLOSC2_SPECIAL_VALUE, CHUNK)), 2);
  }
  {
    int64_t *offsets = blosc2_frame_get_offsets(schunk);
    CHECK(offsets != NULL && offsets[0] <= 2 * 36 - 32 && offsets[1] <= 2 * 36 - 32);
    free(offsets);
  }
  again = blosc2_schunk_open(path_of(DIRECTORY));
  CHECK(again != NULL && holds_value(again, 1, 0x01020304, CHUNK));
  blosc2_schunk_free(again);
  done(schunk, DIRECTORY);
}

static void row_f20_a_frame_without_chunks_has_no_hole(void) {
  int kind, i;

  for (kind = FRAME; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 3), *again;
    int64_t *offsets;
    for (i = 2; i >= 0; i--) {
      CHECK_IS(blosc2_schunk_delete_chunk(schunk, 0), i);
    }
    CHECK_IS(schunk->cbytes, 0);
    CHECK_IS(schunk->nbytes, 0);
    CHECK_IS(blosc2_schunk_frame_len(schunk), EMPTY_LEN);
    again = reopened(schunk, kind);
    CHECK(again != NULL);
    CHECK_IS(again->cbytes, 0);
    CHECK_IS(again->nchunks, 0);
    CHECK_IS(again->chunksize, CHUNK);
    blosc2_schunk_free(again);
    CHECK_IS(append(schunk, ramp_chunk(3, CHUNK)), 1);
    offsets = blosc2_frame_get_offsets(schunk);
    CHECK(offsets != NULL && offsets[0] == 0);
    free(offsets);
    again = reopened(schunk, kind);
    CHECK(again != NULL && holds_ramp(again, 0, 3, CHUNK));
    blosc2_schunk_free(again);
    done(schunk, kind);
  }
}

static void row_f21_row_f22_a_late_metalayer_is_refused_and_undone(void) {
  uint8_t content[] = "too late";
  int kind, filled;

  for (kind = FRAME; kind < KINDS; kind++) {
    for (filled = 0; filled < 3; filled++) {
      blosc2_schunk *schunk = make(kind), *again;
      snapshot before;
      if (filled == 0) {
        CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
      } else if (filled == 1) {
        CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_ZERO, CHUNK)), 1);
      } else {
        CHECK_IS(blosc2_schunk_fill_special(schunk, ITEMS, BLOSC2_SPECIAL_ZERO, CHUNK), 1);
      }
      before = snapshot_of(schunk);
      CHECK_IS(blosc2_meta_add(schunk, "late", content, sizeof content), BLOSC2_ERROR_INVALID_PARAM);
      CHECK(is_as_in(schunk, before));
      CHECK_IS(blosc2_meta_exists(schunk, "late"), BLOSC2_ERROR_NOT_FOUND);
      CHECK_IS(append(schunk, ramp_chunk(1, CHUNK)), 2);
      CHECK_IS(update(schunk, 0, ramp_chunk(2, CHUNK)), 2);
      CHECK_IS(blosc2_vlmeta_add(schunk, "in time", content, sizeof content, NULL), 0);
      again = reopened(schunk, kind);
      CHECK(again != NULL);
      CHECK(holds_ramp(again, 0, 2, CHUNK) && holds_ramp(again, 1, 1, CHUNK));
      CHECK_IS(again->nmetalayers, 0);
      blosc2_schunk_free(again);
      done(schunk, kind);
    }
  }
}

static void row_f23_too_many_metalayers_and_names_that_are_too_long(void) {
  static const char fits[] = "a name of thirty-one characters", too_long[] = "a name of thirty-two characters.";
  uint8_t content = 1;
  char name[20];
  int kind, i;

  CHECK_IS(strlen(fits), 31);
  CHECK_IS(strlen(too_long), 32);
  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind), *again;
    snapshot before = snapshot_of(schunk);
    CHECK_IS(blosc2_meta_add(schunk, too_long, &content, 1), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_vlmeta_add(schunk, too_long, &content, 1, NULL), BLOSC2_ERROR_INVALID_PARAM);
    CHECK(is_as_in(schunk, before));
    CHECK_IS(blosc2_meta_add(schunk, fits, &content, 1), 0);
    CHECK_IS(blosc2_vlmeta_add(schunk, fits, &content, 1, NULL), 0);
    for (i = 1; i < 16; i++) {
      snprintf(name, sizeof name, "%d", i);
      CHECK_IS(blosc2_meta_add(schunk, name, &content, 1), i);
    }
    CHECK_IS(blosc2_meta_add(schunk, "17th", &content, 1), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(schunk->nmetalayers, 16);
    CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
    again = reopened(schunk, kind);
    CHECK(again != NULL);
    CHECK_IS(again->nmetalayers, 16);
    CHECK_IS(blosc2_meta_exists(again, fits), 0);
    CHECK_IS(blosc2_meta_exists(again, "15"), 15);
    CHECK_IS(blosc2_vlmeta_exists(again, fits), 0);
    blosc2_schunk_free(again);
    done(schunk, kind);
  }
}

static void row_f24_a_metalayer_keeps_its_length(void) {
  int kind, i;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind), *again = NULL;
    uint8_t first[] = "abcdef";
    CHECK_IS(blosc2_meta_add(schunk, "m", first, 6), 0);
    CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
    CHECK_IS(schunk->change_tick, 1);
    CHECK_IS(blosc2_meta_update(schunk, "m", (uint8_t *)"ABCDEFG", 7), 0);
    CHECK_IS(schunk->change_tick, 1);
    CHECK_IS(blosc2_meta_update(schunk, "m", (uint8_t *)"XY", 2), 0);
    CHECK_IS(schunk->change_tick, 2);
    again = reopened(schunk, kind);
    CHECK(again != NULL);
    for (i = 0; i < 2; i++) {
      CHECK(has_meta(i == 0 ? schunk : again, "m", "XYcdef", 6));
    }
    CHECK_IS(blosc2_meta_update(schunk, "n", first, 6), BLOSC2_ERROR_NOT_FOUND);
    blosc2_schunk_free(again);
    done(schunk, kind);
  }
}

static uint64_t generation(const char *sidecar) {
  long len;
  uint8_t *bytes = read_whole(sidecar, &len);
  uint64_t value = 0;

  if (len >= 16) {
    memcpy(&value, bytes + 8, 8);
  }
  free(bytes);
  return value;
}

static void row_f25_changing_a_metalayer_acquires_the_lock(void) {
  int kind;

  for (kind = SINGLE_FILE; kind < KINDS; kind++) {
    blosc2_stdio_params params = {true};
    blosc2_io io = {BLOSC2_IO_FILESYSTEM, "filesystem", NULL};
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    blosc2_schunk *schunk, *other;
    char sidecar[330];
    uint64_t before;
    io.params = &params;
    storage.contiguous = is_contiguous(kind);
    storage.urlpath = path_of(kind);
    storage.io = &io;
    schunk = blosc2_schunk_new(&storage);
    CHECK(schunk != NULL);
    CHECK_IS(blosc2_meta_add(schunk, "m", (uint8_t *)"abc", 3), 0);
    snprintf(sidecar, sizeof sidecar, kind == DIRECTORY ? "%s/.b2lock" : "%s.b2lock", path_of(kind));
    other = blosc2_schunk_open_udio(path_of(kind), &io);
    CHECK(other != NULL);
    CHECK_IS(blosc2_schunk_refresh(other), 0);
    before = generation(sidecar);
    CHECK_IS(before, 1);
    CHECK_IS(blosc2_meta_update(schunk, "m", (uint8_t *)"xyz", 3), 0);
    CHECK_IS(generation(sidecar), before + 1);
    CHECK_IS(blosc2_schunk_refresh(other), 1);
    CHECK_IS(blosc2_schunk_refresh(other), 0);
    CHECK(has_meta(other, "m", "xyz", 3));
    blosc2_schunk_free(other);
    done(schunk, kind);
    CHECK(access(sidecar, F_OK) != 0);
  }
}

static void row_f26_lazy_chunks_of_mapped_files(void) {
  static const char *parts[] = {"the same words", "the same words again", "x"};
  const void *blocks[3];
  int32_t sizes[3], len;
  blosc2_cparams cparams = items_of(1);
  uint8_t vl_chunk[300], *block;
  static char text[20000], back[20000];
  blosc2_schunk *schunk, *mapped;
  blosc2_context *context;
  int i;

  for (i = 0; i < 20000; i++) {
    text[i] = parts[i / 19 % 2][i % 13];
  }
  cparams.compcode = BLOSC_ZSTD;
  cparams.use_dict = 1;
  cparams.blocksize = 4096;
  schunk = make_with(SINGLE_FILE, cparams);
  CHECK_IS(blosc2_schunk_append_buffer(schunk, text, sizeof text), 1);
  {
    blosc2_stdio_mmap map = BLOSC2_STDIO_MMAP_DEFAULTS;
    blosc2_io io = {BLOSC2_IO_FILESYSTEM_MMAP, "filesystem_mmap", NULL};
    io.params = &map;
    mapped = blosc2_schunk_open_udio(path_of(SINGLE_FILE), &io);
    CHECK(mapped != NULL);
    CHECK_IS(blosc2_schunk_get_slice_buffer(mapped, 5000, 15000, back), 0);
    CHECK(memcmp(back, text + 5000, 10000) == 0);
    blosc2_schunk_free(mapped);
  }
  done(schunk, SINGLE_FILE);

  cparams.use_dict = 0;
  cparams.blocksize = 0;
  context = blosc2_create_cctx(cparams);
  for (i = 0; i < 3; i++) {
    blocks[i] = parts[i];
    sizes[i] = (int32_t)strlen(parts[i]);
  }
  CHECK(blosc2_vlcompress_ctx(context, blocks, sizes, 3, vl_chunk, sizeof vl_chunk) > 0);
  blosc2_free_ctx(context);
  schunk = make_with(SINGLE_FILE, cparams);
  CHECK_IS(blosc2_schunk_append_chunk(schunk, vl_chunk, true), 1);
  {
    blosc2_stdio_mmap map = BLOSC2_STDIO_MMAP_DEFAULTS;
    blosc2_io io = {BLOSC2_IO_FILESYSTEM_MMAP, "filesystem_mmap", NULL};
    io.params = &map;
    mapped = blosc2_schunk_open_udio(path_of(SINGLE_FILE), &io);
    CHECK(mapped != NULL);
    CHECK_IS(blosc2_schunk_get_vlblock(mapped, 0, 1, &block, &len), sizes[1]);
    CHECK(memcmp(block, parts[1], (size_t)sizes[1]) == 0);
    free(block);
    CHECK_IS(blosc2_schunk_decompress_chunk(mapped, 0, back, sizeof back), sizes[0] + sizes[1] + sizes[2]);
    blosc2_schunk_free(mapped);
  }
  done(schunk, SINGLE_FILE);
}

static void row_f27_a_read_only_mapping_is_not_written_to(void) {
  blosc2_schunk *schunk = make(SINGLE_FILE), *mapped;
  blosc2_stdio_mmap map = BLOSC2_STDIO_MMAP_DEFAULTS;
  blosc2_io io = {BLOSC2_IO_FILESYSTEM_MMAP, "filesystem_mmap", NULL};
  uint8_t *before, *after;
  long len, len_after;
  snapshot known;

  CHECK_IS(blosc2_meta_add(schunk, "m", (uint8_t *)"abc", 3), 0);
  CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
  before = read_whole(path_of(SINGLE_FILE), &len);
  io.params = &map;
  mapped = blosc2_schunk_open_udio(path_of(SINGLE_FILE), &io);
  CHECK(mapped != NULL);
  known = snapshot_of(mapped);
  CHECK(blosc2_meta_update(mapped, "m", (uint8_t *)"xyz", 3) < 0);
  CHECK_IS(append(mapped, ramp_chunk(1, CHUNK)), BLOSC2_ERROR_CHUNK_APPEND);
  CHECK(update(mapped, 0, ramp_chunk(1, CHUNK)) < 0);
  CHECK(blosc2_schunk_delete_chunk(mapped, 0) < 0);
  CHECK(blosc2_vlmeta_add(mapped, "v", (uint8_t *)"xyz", 3, NULL) < 0);
  CHECK(is_as_in(mapped, known));
  CHECK(holds_ramp(mapped, 0, 0, CHUNK));
  CHECK(memcmp(mapped->metalayers[0]->content, "abc", 3) == 0);
  blosc2_schunk_free(mapped);
  after = read_whole(path_of(SINGLE_FILE), &len_after);
  CHECK(len == len_after && memcmp(before, after, (size_t)len) == 0);
  free(before);
  free(after);
  done(schunk, SINGLE_FILE);
}

static void row_f30_a_scheme_is_eight_characters(void) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  char relative[] = "file:///scheme.b2frame";
  blosc2_schunk *schunk, *opened, *memory = make_full(FRAME, 1);

  storage.contiguous = true;
  storage.urlpath = relative;
  schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL && strcmp(schunk->storage->urlpath, "scheme.b2frame") == 0);
  CHECK(access("scheme.b2frame", F_OK) == 0);
  CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
  opened = blosc2_schunk_open(relative);
  CHECK(opened != NULL && strcmp(opened->storage->urlpath, relative) == 0);
  CHECK(holds_ramp(opened, 0, 0, CHUNK));
  CHECK_IS(append(opened, ramp_chunk(7, CHUNK)), 2);
  blosc2_schunk_free(opened);
  CHECK(blosc2_schunk_open("file://scheme.b2frame") == NULL);
  /* These functions treat the text as a path. */
  CHECK_IS(blosc2_remove_urlpath(relative), 0);
  CHECK(access("scheme.b2frame", F_OK) == 0);
  CHECK_IS(blosc2_schunk_to_file(memory, relative), BLOSC2_ERROR_FILE_OPEN);
  CHECK_IS(blosc2_schunk_append_file(memory, relative), BLOSC2_ERROR_FILE_OPEN);
  CHECK_IS(blosc2_remove_urlpath("scheme.b2frame"), 0);
  /* Copying with blosc2_schunk_to_file() strips the prefix. */
  blosc2_schunk_free(schunk);
  schunk = make_full(APART, 1);
  CHECK(blosc2_schunk_to_file(schunk, "file:///other.b2frame") > 0);
  CHECK(access("other.b2frame", F_OK) == 0);
  CHECK_IS(blosc2_remove_urlpath("other.b2frame"), 0);
  blosc2_schunk_free(schunk);
  blosc2_schunk_free(memory);
}

static void row_f31_row_f32_new_and_existing_files(void) {
  int kind;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 1), *opened;
    int64_t len;
    CHECK_IS(blosc2_schunk_append_file(schunk, "appended"), 0);
    len = file_size("appended");
    CHECK_IS(blosc2_schunk_append_file(schunk, "appended"), len);
    CHECK_IS(file_size("appended"), 2 * len);
    opened = blosc2_schunk_open_offset("appended", len);
    CHECK(opened != NULL && holds_ramp(opened, 0, 0, CHUNK));
    blosc2_schunk_free(opened);
    CHECK(blosc2_schunk_open_offset("appended", len + 1) == NULL);
    CHECK(blosc2_schunk_open_offset("appended", 3 * len) == NULL);
    CHECK(blosc2_schunk_open_offset("appended", -1) == NULL);
    CHECK_IS(blosc2_remove_urlpath("appended"), 0);
    CHECK_IS(blosc2_schunk_append_file(schunk, NULL), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_append_file(schunk, "no/such/place"), BLOSC2_ERROR_FILE_OPEN);

    write_whole("there", "something else", 14);
    CHECK_IS(blosc2_schunk_to_file(schunk, "there"), kind == FRAME ? len : BLOSC2_ERROR_SCHUNK_COPY);
    CHECK_IS(file_size("there"), kind == FRAME ? len : 14);
    CHECK_IS(blosc2_remove_urlpath("there"), 0);
    CHECK_IS(blosc2_schunk_to_file(schunk, "there"), len);
    opened = blosc2_schunk_open("there");
    CHECK(opened != NULL && holds_ramp(opened, 0, 0, CHUNK));
    blosc2_schunk_free(opened);
    CHECK_IS(blosc2_remove_urlpath("there"), 0);
    CHECK_IS(blosc2_schunk_to_file(schunk, NULL), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_to_file(schunk, "no/such/place"),
             kind == FRAME ? BLOSC2_ERROR_FILE_OPEN : BLOSC2_ERROR_SCHUNK_COPY);

    if (is_on_disk(kind)) {
      /* The path exists: the call fails and leaves the file unchanged. */
      blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
      storage.urlpath = path_of(kind);
      storage.contiguous = true;
      CHECK(blosc2_schunk_new(&storage) == NULL);
      storage.contiguous = false;
      CHECK(blosc2_schunk_new(&storage) == NULL);
      opened = blosc2_schunk_open(path_of(kind));
      CHECK(opened != NULL && holds_ramp(opened, 0, 0, CHUNK));
      blosc2_schunk_free(opened);
    }
    done(schunk, kind);
  }
}

static void row_f33_a_refresh_finds_the_chunk_of_another_handle(void) {
  int kind;
  uint8_t dest[CHUNK];

  for (kind = SINGLE_FILE; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 1), *other = blosc2_schunk_open(path_of(kind));
    CHECK(other != NULL);
    CHECK_IS(append(schunk, ramp_chunk(9, CHUNK)), 2);
    CHECK_IS(blosc2_schunk_decompress_chunk(other, 1, dest, CHUNK), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(other->nchunks, 1);
    CHECK_IS(other->change_tick, 0);
    CHECK_IS(blosc2_schunk_refresh(other), 1);
    CHECK_IS(other->change_tick, 1);
    CHECK_IS(blosc2_schunk_refresh(other), 0);
    CHECK(holds_ramp(other, 1, 9, CHUNK));
    /* An append through a handle with an outdated state loses nothing. */
    CHECK_IS(append(schunk, ramp_chunk(10, CHUNK)), 3);
    CHECK_IS(append(other, ramp_chunk(11, CHUNK)), 4);
    CHECK(holds_ramp(schunk, 0, 0, CHUNK));
    CHECK(holds_ramp(schunk, 3, 11, CHUNK));
    blosc2_schunk_free(other);
    done(schunk, kind);
  }
}

static void row_f37_a_handle_of_an_empty_frame_reads_the_later_chunk_size(void) {
  int kind;
  int32_t item;

  for (kind = SINGLE_FILE; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind), *other = blosc2_schunk_open(path_of(kind));
    CHECK(other != NULL && other->chunksize == -1);
    CHECK_IS(append(schunk, ramp_chunk(9, CHUNK)), 1);
    CHECK_IS(blosc2_schunk_refresh(other), 1);
    CHECK_IS(other->chunksize, CHUNK);
    CHECK_IS(other->nchunks, 1);
    CHECK_IS(blosc2_schunk_get_slice_buffer(other, 3, 4, &item), 0);
    CHECK_IS(item, 12);
    blosc2_schunk_free(other);

    other = blosc2_schunk_open(path_of(kind));
    CHECK_IS(append(other, ramp_chunk(20, CHUNK)), 2);
    CHECK_IS(other->chunksize, CHUNK);
    CHECK(holds_ramp(other, 0, 9, CHUNK));
    blosc2_schunk_free(other);
    done(schunk, kind);
  }
}

static void row_d6_frames_are_in_the_layout_of_the_reference(void) {
  /* The kinds with offsets, lengths and an empty fingerprint. */
  int kind;

  for (kind = FRAME; kind <= SINGLE_FILE; kind++) {
    blosc2_schunk *schunk = make_full(kind, 3);
    uint8_t *bytes, *whole = NULL, none[16] = {0};
    bool needs_free;
    long len;
    if (kind == SINGLE_FILE) {
      whole = bytes = read_whole(path_of(kind), &len);
    } else {
      len = (long)blosc2_schunk_to_buffer(schunk, &bytes, &needs_free);
    }
    CHECK_IS(big32(bytes + 11), HEADER_LEN);
    CHECK_IS(big64(bytes + 16), len);
    CHECK_IS(big64(bytes + 30), 3 * CHUNK);
    CHECK_IS(big64(bytes + 39), schunk->cbytes);
    CHECK_IS(len, HEADER_LEN + schunk->cbytes + 32 + 3 * 8 + 35);
    CHECK(bytes[len - 18] == 0xD8 && bytes[len - 17] == 0 && memcmp(bytes + len - 16, none, 16) == 0);
    free(whole);
    done(schunk, kind);
  }
}

/* Changes a byte of the stored uncompressed size of a chunk. */
static void damage_size(int kind, const int64_t *offsets, int nchunk) {
  uint8_t bytes[16];
  char name[340];
  long at = 0;
  FILE *file;

  if (kind == DIRECTORY) {
    snprintf(name, sizeof name, "%s/0000000%d.chunk", path_of(kind), nchunk);
  }
  file = fopen(kind == DIRECTORY ? name : path_of(kind), "rb+");
  CHECK(file != NULL && fread(bytes, 1, 16, file) == 16);
  if (kind == SINGLE_FILE) {
    /* The size of the frame's header is stored at offset 11, with the high byte first. */
    at = (long)offsets[nchunk] + (long)big32(bytes + 11);
  }
  CHECK(fseek(file, at + BLOSC2_CHUNK_NBYTES, SEEK_SET) == 0 && fputc(17, file) == 17);
  CHECK_IS(fclose(file), 0);
}

/* A frame stays readable if a chunk with a damaged header is replaced or deleted. */
static void row_f40_damaged_chunks_are_replaced(void) {
  int kind, nchunk, is_short;

  for (kind = SINGLE_FILE; kind <= DIRECTORY; kind++) {
    for (is_short = 0; is_short < 2; is_short++) {
      for (nchunk = 0; nchunk < 3; nchunk++) {
        blosc2_schunk *schunk = make_full(kind, 2);
        int32_t last = is_short ? CHUNK / 4 : CHUNK, nbytes = nchunk == 2 ? last : CHUNK, found;
        int64_t *offsets;
        CHECK_IS(append(schunk, ramp_chunk(2 * ITEMS, last)), 3);
        offsets = blosc2_frame_get_offsets(schunk);
        blosc2_schunk_free(schunk);
        damage_size(kind, offsets, nchunk);
        schunk = blosc2_schunk_open(path_of(kind));
        CHECK(schunk != NULL && !holds_ramp(schunk, nchunk, nchunk * ITEMS, nbytes));
        CHECK_IS(update(schunk, nchunk, ramp_chunk(7, nbytes)), 3);
        CHECK_IS(schunk->nbytes, 2 * CHUNK + last);
        blosc2_schunk_free(schunk);
        schunk = blosc2_schunk_open(path_of(kind));
        if (schunk == NULL) {
          CHECK(schunk != NULL);
          return;
        }
        for (found = 0; found < 3; found++) {
          CHECK(holds_ramp(schunk, found, found == nchunk ? 7 : found * ITEMS, found == 2 ? last : CHUNK));
        }
        free(offsets);
        offsets = blosc2_frame_get_offsets(schunk);
        blosc2_schunk_free(schunk);
        damage_size(kind, offsets, nchunk);
        schunk = blosc2_schunk_open(path_of(kind));
        CHECK_IS(blosc2_schunk_delete_chunk(schunk, nchunk), 2);
        CHECK_IS(schunk->nbytes, 2 * CHUNK + last - nbytes);
        blosc2_schunk_free(schunk);
        schunk = blosc2_schunk_open(path_of(kind));
        CHECK(schunk != NULL && holds_ramp(schunk, 0, nchunk == 0 ? ITEMS : 0, CHUNK));
        free(offsets);
        done(schunk, kind);
      }
    }
  }
}

int main(void) {
  enter_folder();
  row_f1_special_chunks_keep_their_length_among_variable_sizes();
  row_f2_special_chunks_are_stored_when_the_sizes_become_variable();
  row_f3_stored_special_chunks_are_read();
  row_f4_tiny_chunks_are_stored_with_a_full_header();
  row_f5_a_frame_holds_sixteen_vlmetalayers();
  row_f5_a_frame_with_more_is_read_and_changed();
  row_f6_frames_followed_by_other_data_are_not_changed();
  row_f7_bytes_after_a_frame_are_ignored_and_truncated();
  row_f8_a_caller_owned_frame_is_copied_on_write();
  row_f9_copies_of_corrupt_frames();
  row_f10_parameters_of_a_failed_open_are_destroyed_once();
  row_f11_only_buffers_need_the_magic();
  row_f13_appending_with_a_negative_block_size();
  row_f14_chunks_have_the_size_in_the_frame();
  row_f15_lengths_in_headers_are_not_allocated();
  row_f16_files_of_any_number();
  row_f20_a_frame_without_chunks_has_no_hole();
  row_f21_row_f22_a_late_metalayer_is_refused_and_undone();
  row_f23_too_many_metalayers_and_names_that_are_too_long();
  row_f24_a_metalayer_keeps_its_length();
  row_f25_changing_a_metalayer_acquires_the_lock();
  row_f26_lazy_chunks_of_mapped_files();
  row_f27_a_read_only_mapping_is_not_written_to();
  row_f30_a_scheme_is_eight_characters();
  row_f31_row_f32_new_and_existing_files();
  row_f33_a_refresh_finds_the_chunk_of_another_handle();
  row_f37_a_handle_of_an_empty_frame_reads_the_later_chunk_size();
  row_f40_damaged_chunks_are_replaced();
  row_d6_frames_are_in_the_layout_of_the_reference();
  return leave_folder();
}
