/*
 * Super-chunks in cases in which C-Blosc2 crashes, loses data or leaves partial changes: rows S1 to
 * S9, S29, S30 and S31, and D9 for failing calls. The names of the functions contain the rows.
 */

#include "schunks.h"

static void row_s1_null_means_the_defaults(void) {
  blosc2_schunk *schunk = blosc2_schunk_new(NULL), *opened;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;

  CHECK(schunk != NULL && schunk->frame == NULL);
  CHECK_IS(schunk->typesize, BLOSC2_CPARAMS_DEFAULTS.typesize);
  CHECK_IS(schunk->clevel, BLOSC2_CPARAMS_DEFAULTS.clevel);
  CHECK(strcmp(schunk->storage->io->name, "filesystem") == 0);
  CHECK(blosc2_schunk_copy(schunk, NULL) == NULL);
  CHECK(blosc2_schunk_copy(NULL, &storage) == NULL);
  CHECK_IS(blosc2_schunk_free(schunk), 0);
  CHECK_IS(blosc2_schunk_free(NULL), 0);

  schunk = make_full(SINGLE_FILE, 1);
  opened = blosc2_schunk_open_udio(path_of(SINGLE_FILE), NULL);
  CHECK(opened != NULL && holds_ramp(opened, 0, 0, CHUNK));
  CHECK_IS(blosc2_schunk_free(opened), 0);
  opened = blosc2_schunk_open_offset_udio(path_of(SINGLE_FILE), 0, NULL);
  CHECK(opened != NULL && holds_ramp(opened, 0, 0, CHUNK));
  CHECK_IS(blosc2_schunk_free(opened), 0);
  CHECK(blosc2_schunk_open(NULL) == NULL);
  done(schunk, SINGLE_FILE);
}

static void row_s2_items_have_at_least_a_byte(void) {
  static const int sizes[] = {0, -1, INT32_MIN};
  int kind, i;

  for (kind = 0; kind < KINDS; kind++) {
    for (i = 0; i < 3; i++) {
      blosc2_cparams cparams = items_of(sizes[i]);
      blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
      storage.contiguous = is_contiguous(kind);
      storage.urlpath = path_of(kind);
      storage.cparams = &cparams;
      CHECK(blosc2_schunk_new(&storage) == NULL);
      /* No file remains. */
      CHECK(!is_on_disk(kind) || access(path_of(kind), F_OK) != 0);
    }
  }
}

static void row_s3_copies_keep_large_item_sizes(void) {
  static uint8_t data[3000];
  uint8_t back[3000];
  int kind, to;

  fill_with_data(data, sizeof data);
  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_with(kind, items_of(300)), *copy, *again;
    CHECK_IS(blosc2_schunk_append_buffer(schunk, data, sizeof data), 1);
    for (to = APART; to <= FRAME; to++) {
      blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
      storage.contiguous = is_contiguous(to);
      copy = blosc2_schunk_copy(schunk, &storage);
      CHECK(copy != NULL);
      CHECK_IS(copy->typesize, 300);
      again = reopened(copy, to);
      CHECK(again != NULL);
      CHECK_IS(again->typesize, 300);
      CHECK_IS(blosc2_schunk_get_slice_buffer(again, 1, 3, back), 0);
      CHECK(memcmp(back, data + 300, 600) == 0);
      blosc2_schunk_free(again);
      blosc2_schunk_free(copy);
    }
    done(schunk, kind);
  }
}

static void row_s4_a_copy_does_not_change_the_storage(void) {
  blosc2_schunk *schunk = make_full(APART, 2), *copy;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;

  storage.contiguous = true;
  copy = blosc2_schunk_copy(schunk, &storage);
  CHECK(copy != NULL && holds_ramp(copy, 1, ITEMS, CHUNK));
  CHECK(storage.contiguous && storage.urlpath == NULL && storage.cparams == NULL);
  CHECK(storage.dparams == NULL && storage.io == NULL);
  blosc2_schunk_free(copy);
  blosc2_schunk_free(schunk);
}

static void row_s5_recompressed_copies_keep_all_sizes(void) {
  int kind, to, variable;

  for (kind = 0; kind < KINDS; kind++) {
    for (variable = 0; variable < 2; variable++) {
      blosc2_schunk *schunk = make_full(kind, 3), *copy;
      blosc2_cparams other = items_of(ITEM);
      CHECK_IS(append(schunk, ramp_chunk(300, 100)), 4);
      if (variable) {
        CHECK_IS(append(schunk, ramp_chunk(325, CHUNK)), 5);
        CHECK_IS(schunk->chunksize, 0);
      }
      other.clevel = 1;
      other.compcode = BLOSC_LZ4;
      for (to = APART; to <= FRAME; to++) {
        blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
        storage.contiguous = is_contiguous(to);
        storage.cparams = &other;
        copy = blosc2_schunk_copy(schunk, &storage);
        CHECK(copy != NULL);
        CHECK_IS(copy->nchunks, schunk->nchunks);
        CHECK_IS(copy->nbytes, schunk->nbytes);
        CHECK_IS(copy->chunksize, schunk->chunksize);
        CHECK(holds_ramp(copy, 2, 200, CHUNK));
        CHECK(holds_ramp(copy, 3, 300, 100));
        CHECK(!variable || holds_ramp(copy, 4, 325, CHUNK));
        blosc2_schunk_free(copy);
      }
      done(schunk, kind);
    }
  }
}

static void row_s6_copies_record_no_threads_and_the_block_size_last_used(void) {
  blosc2_schunk *schunk = make(APART), *copy;
  blosc2_cparams cparams;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  static int32_t items[1000];
  uint8_t *bytes;
  bool needs_free;

  CHECK_IS(blosc2_schunk_append_buffer(schunk, items, 4000), 1);
  items[0] = 1;
  CHECK_IS(blosc2_schunk_append_buffer(schunk, items, 100), 2);
  CHECK_IS(blosc2_ctx_get_cparams(schunk->cctx, &cparams), 0);
  CHECK_IS(cparams.blocksize, 100);
  storage.contiguous = true;
  copy = blosc2_schunk_copy(schunk, &storage);
  CHECK(copy != NULL);
  CHECK_IS(copy->blocksize, 100);
  CHECK(blosc2_schunk_to_buffer(copy, &bytes, &needs_free) > 0);
  /* The compressor's thread count and the block size in the header, big-endian. */
  CHECK(bytes[0x3F] == 0 && bytes[0x40] == 0);
  CHECK(bytes[0x35] == 0 && bytes[0x36] == 0 && bytes[0x37] == 0 && bytes[0x38] == 100);
  blosc2_schunk_free(copy);
  blosc2_schunk_free(schunk);
}

static void row_s7_an_empty_first_chunk_is_a_regular_chunk(void) {
  int kind;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind), *again;
    uint8_t *chunk;
    bool needs_free;
    CHECK_IS(blosc2_schunk_append_buffer(schunk, NULL, 0), 1);
    CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 0, NULL, 0), 0);
    CHECK_IS(blosc2_schunk_get_lazychunk(schunk, 0, &chunk, &needs_free), 32);
    if (needs_free) {
      free(chunk);
    }
    if (has_frame(kind)) {
      /* A frame without data declares no chunks. */
      again = reopened(schunk, kind);
      CHECK(again != NULL);
      CHECK_IS(again->nchunks, 0);
      blosc2_schunk_free(again);
    }
    CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 2);
    CHECK_IS(append(schunk, ramp_chunk(7, 100)), 3);
    CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 0, NULL, 0), 0);
    CHECK(holds_ramp(schunk, 1, 0, CHUNK));
    again = reopened(schunk, kind);
    CHECK(again != NULL);
    CHECK_IS(again->nchunks, 3);
    CHECK_IS(blosc2_schunk_decompress_chunk(again, 0, NULL, 0), 0);
    CHECK(holds_ramp(again, 1, 0, CHUNK));
    CHECK(holds_ramp(again, 2, 7, 100));
    blosc2_schunk_free(again);
    done(schunk, kind);
  }
}

static void row_s28_an_empty_chunk_after_data_makes_the_sizes_variable(void) {
  int kind;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 2), *again;
    CHECK_IS(blosc2_schunk_append_buffer(schunk, NULL, 0), 3);
    CHECK(!has_frame(kind) || schunk->chunksize == 0);
    CHECK_IS(append(schunk, ramp_chunk(5, CHUNK)), 4);
    again = reopened(schunk, kind);
    CHECK(again != NULL);
    CHECK_IS(again->nchunks, 4);
    CHECK(holds_ramp(again, 1, ITEMS, CHUNK));
    CHECK_IS(blosc2_schunk_decompress_chunk(again, 2, NULL, 0), 0);
    CHECK(holds_ramp(again, 3, 5, CHUNK));
    blosc2_schunk_free(again);
    done(schunk, kind);
  }
}

static void row_s8_a_second_short_chunk_is_refused_and_changes_nothing(void) {
  int kind, preset;

  for (kind = 0; kind < KINDS; kind++) {
    for (preset = 0; preset < 2; preset++) {
      blosc2_schunk *schunk = make(kind);
      uint8_t *chunk = ramp_chunk(0, 100);
      snapshot before;
      if (preset) {
        schunk->chunksize = CHUNK;
        CHECK_IS(append(schunk, ramp_chunk(0, 100)), 1);
      } else {
        CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
        CHECK_IS(update(schunk, 0, ramp_chunk(0, 100)), 1);
      }
      CHECK_IS(schunk->chunksize, CHUNK);
      before = snapshot_of(schunk);
      if (has_frame(kind)) {
        CHECK_IS(blosc2_schunk_append_chunk(schunk, chunk, false), BLOSC2_ERROR_CHUNK_APPEND);
        CHECK(is_as_in(schunk, before));
        /* The caller still owns the chunk and can insert it elsewhere. */
        CHECK_IS(blosc2_schunk_insert_chunk(schunk, 1, chunk, false), 2);
      } else {
        CHECK_IS(blosc2_schunk_append_chunk(schunk, chunk, false), 2);
      }
      CHECK_IS(schunk->chunksize, 0);
      CHECK(holds_ramp(schunk, 0, 0, 100));
      CHECK(holds_ramp(schunk, 1, 0, 100));
      done(schunk, kind);
    }
  }
}

/* Returns the sum of the chunks' sizes, queried one by one. */
static int64_t sum_of_chunks(blosc2_schunk *schunk) {
  int64_t sum = 0, i;

  for (i = 0; i < schunk->nchunks; i++) {
    uint8_t *chunk;
    bool needs_free;
    int size = blosc2_schunk_get_chunk(schunk, i, &chunk, &needs_free);
    CHECK(size > 0);
    sum += size;
    if (needs_free) {
      free(chunk);
    }
  }
  return sum;
}

static void row_s9_cbytes_of_sparse_memory_is_the_sum(void) {
  static const int special[] = {BLOSC2_SPECIAL_ZERO, BLOSC2_SPECIAL_NAN, BLOSC2_SPECIAL_UNINIT};
  int i;

  for (i = 0; i < 3; i++) {
    blosc2_schunk *schunk = make_full(APART, 2);
    CHECK_IS(append(schunk, special_chunk(special[i], CHUNK)), 3);
    CHECK_IS(schunk->cbytes, sum_of_chunks(schunk));
    CHECK_IS(update(schunk, 2, ramp_chunk(1, CHUNK)), 3);
    CHECK_IS(schunk->cbytes, sum_of_chunks(schunk));
    CHECK_IS(update(schunk, 0, special_chunk(special[i], CHUNK)), 3);
    CHECK_IS(schunk->cbytes, sum_of_chunks(schunk));
    CHECK_IS(blosc2_schunk_delete_chunk(schunk, 0), 2);
    CHECK_IS(schunk->cbytes, sum_of_chunks(schunk));
    blosc2_schunk_free(schunk);
  }
}

static void row_s10_contiguous_frames_keep_dead_space_after_delete(void) {
  int kind;

  for (kind = FRAME; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 3), *again;
    int64_t before = schunk->cbytes, first;
    uint8_t *chunk;
    bool needs_free;
    first = blosc2_schunk_get_chunk(schunk, 0, &chunk, &needs_free);
    if (needs_free) {
      free(chunk);
    }
    CHECK_IS(blosc2_schunk_delete_chunk(schunk, 0), 2);
    CHECK_IS(schunk->cbytes, is_contiguous(kind) ? before : before - first);
    again = reopened(schunk, kind);
    CHECK(again != NULL);
    CHECK_IS(again->cbytes, schunk->cbytes);
    CHECK(holds_ramp(again, 0, ITEMS, CHUNK));
    blosc2_schunk_free(again);
    done(schunk, kind);
  }
}

static void row_s11_row_d9_a_refused_chunk_stays_the_callers(void) {
  int kind;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 2);
    uint8_t *chunk = ramp_chunk(0, CHUNK);
    snapshot before = snapshot_of(schunk);
    CHECK_IS(blosc2_schunk_insert_chunk(schunk, 3, chunk, false), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_insert_chunk(schunk, -1, chunk, false), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_update_chunk(schunk, 2, chunk, false), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_update_chunk(schunk, INT64_MIN, chunk, false), BLOSC2_ERROR_INVALID_PARAM);
    if (is_on_disk(kind)) {
      /* A failure late in the call: the target directory is gone. */
      char *path = path_of(kind);
      CHECK(rename(path, "elsewhere") == 0);
      CHECK(blosc2_schunk_append_chunk(schunk, chunk, false) < 0);
      CHECK(blosc2_schunk_insert_chunk(schunk, 0, chunk, false) < 0);
      CHECK(blosc2_schunk_update_chunk(schunk, 1, chunk, false) < 0);
      CHECK(blosc2_schunk_delete_chunk(schunk, 1) < 0);
      CHECK(rename("elsewhere", path) == 0);
    }
    CHECK(is_as_in(schunk, before));
    /* Valgrind detects here a chunk that was already freed. */
    CHECK_IS(blosc2_schunk_append_chunk(schunk, chunk, false), 3);
    CHECK(holds_ramp(schunk, 2, 0, CHUNK));
    done(schunk, kind);
  }
}

static void row_s12_too_small_destinations(void) {
  int kind;
  static uint8_t dest[CHUNK];

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 1);
    CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 0, dest, CHUNK - 1),
             kind == APART ? BLOSC2_ERROR_INVALID_PARAM : BLOSC2_ERROR_WRITE_BUFFER);
    CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 0, dest, CHUNK), CHUNK);
    done(schunk, kind);
  }
}

static void row_s29_no_super_chunk(void) {
  static int64_t one = 1;
  static uint8_t chunk[100];
  uint8_t *out;
  int64_t *numbers;
  blosc2_cparams *cparams;
  blosc2_dparams *dparams;
  int32_t len;
  bool needs_free;

  CHECK_IS(blosc2_schunk_append_chunk(NULL, chunk, true), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_append_buffer(NULL, chunk, 4), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_insert_chunk(NULL, 0, chunk, true), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_update_chunk(NULL, 0, chunk, true), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_delete_chunk(NULL, 0), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_reorder_offsets(NULL, &one), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_fill_special(NULL, 1, 1, 100), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_decompress_chunk(NULL, 0, chunk, 100), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_get_chunk(NULL, 0, &out, &needs_free), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_get_lazychunk(NULL, 0, &out, &needs_free), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_get_vlblock(NULL, 0, 0, &out, &len), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_get_slice_buffer(NULL, 0, 1, chunk), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_set_slice_buffer(NULL, 0, 1, chunk), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_get_sparse_buffer(NULL, 1, &one, chunk), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_get_slice_nchunks(NULL, &one, &one, &numbers), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_get_cparams(NULL, &cparams), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_get_dparams(NULL, &dparams), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_to_buffer(NULL, &out, &needs_free), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_to_file(NULL, "nothing"), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_append_file(NULL, "nothing"), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_frame_len(NULL), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_refresh(NULL), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_lock(NULL), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(blosc2_schunk_unlock(NULL), BLOSC2_ERROR_NULL_POINTER);
  CHECK(blosc2_frame_get_offsets(NULL) == NULL);
  blosc2_schunk_avoid_cframe_free(NULL, true);
  CHECK_IS(blosc2_meta_add(NULL, "m", chunk, 1), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_meta_update(NULL, "m", chunk, 1), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_vlmeta_exists(NULL, "m"), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_vlmeta_add(NULL, "m", chunk, 1, NULL), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_vlmeta_update(NULL, "m", chunk, 1, NULL), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_vlmeta_get(NULL, "m", &out, &len), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_vlmeta_delete(NULL, "m"), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_vlmeta_get_names(NULL, (char **)&out), BLOSC2_ERROR_INVALID_PARAM);
}

static void row_s31_a_copied_frame_can_be_changed_and_grown(void) {
  enum { MANY = 600 };
  blosc2_schunk *source = make_full(FRAME, 3), *schunk;
  uint8_t *bytes;
  bool needs_free;
  int64_t len, order[] = {1, 0};
  int i;

  len = blosc2_schunk_to_buffer(source, &bytes, &needs_free);
  schunk = blosc2_schunk_from_buffer(bytes, len, true);
  CHECK(schunk != NULL && schunk->frame == NULL && schunk->data != NULL);
  blosc2_schunk_free(source);
  CHECK_IS(blosc2_schunk_delete_chunk(schunk, 0), 2);
  CHECK_IS(blosc2_schunk_reorder_offsets(schunk, order), 0);
  CHECK(holds_ramp(schunk, 0, 200, CHUNK));
  CHECK(holds_ramp(schunk, 1, 100, CHUNK));
  for (i = 2; i < MANY; i++) {
    CHECK_IS(append(schunk, ramp_chunk(i, CHUNK)), i + 1);
  }
  CHECK(schunk->data_len >= MANY * sizeof(uint8_t *));
  for (i = 2; i < MANY; i++) {
    CHECK(holds_ramp(schunk, i, i, CHUNK));
  }
  CHECK(holds_ramp(schunk, 0, 200, CHUNK));
  blosc2_schunk_free(schunk);
}

int main(void) {
  enter_folder();
  row_s1_null_means_the_defaults();
  row_s2_items_have_at_least_a_byte();
  row_s3_copies_keep_large_item_sizes();
  row_s4_a_copy_does_not_change_the_storage();
  row_s5_recompressed_copies_keep_all_sizes();
  row_s6_copies_record_no_threads_and_the_block_size_last_used();
  row_s7_an_empty_first_chunk_is_a_regular_chunk();
  row_s28_an_empty_chunk_after_data_makes_the_sizes_variable();
  row_s8_a_second_short_chunk_is_refused_and_changes_nothing();
  row_s9_cbytes_of_sparse_memory_is_the_sum();
  row_s10_contiguous_frames_keep_dead_space_after_delete();
  row_s11_row_d9_a_refused_chunk_stays_the_callers();
  row_s12_too_small_destinations();
  row_s29_no_super_chunk();
  row_s31_a_copied_frame_can_be_changed_and_grown();
  return leave_folder();
}
