/*
 * Data, metadata and fields of super-chunks in cases in which C-Blosc2 crashes or returns wrong
 * results: rows S13 to S20 and S22 to S27, S30, S33, C51, C73 and C74. The names of the
 * functions contain the rows.
 */

#include "schunks.h"
#include <math.h>

static void row_s13_special_chunks_are_made_with_default_parameters(void) {
  enum { LARGE = 4000000 };
  blosc2_cparams best = items_of(8), defaults = items_of(8);
  uint8_t expected[32], *chunk;
  int kind, header[3], made[3];
  bool needs_free;

  best.compcode = BLOSC_ZSTD;
  best.clevel = 9;
  CHECK_IS(blosc2_chunk_zeros(defaults, LARGE, expected, 32), 32);
  blosc2_cbuffer_sizes(expected, &header[0], &header[1], &header[2]);
  CHECK_IS(header[2], 524288);
  for (kind = FRAME; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_with(kind, best);
    void *zeros = calloc(1, LARGE);
    CHECK_IS(blosc2_schunk_append_buffer(schunk, zeros, LARGE), 1);
    free(zeros);
    CHECK_IS(blosc2_schunk_get_chunk(schunk, 0, &chunk, &needs_free), 32);
    CHECK(needs_free);
    CHECK(memcmp(chunk, expected, 32) == 0);
    free(chunk);
    CHECK_IS(blosc2_schunk_get_lazychunk(schunk, 0, &chunk, &needs_free), 32);
    blosc2_cbuffer_sizes(chunk, &made[0], &made[1], &made[2]);
    CHECK_IS(made[2], header[2]);
    free(chunk);
    done(schunk, kind);
  }
}

static void row_s14_chunks_of_short_headers_have_no_second_flags(void) {
  /* 24 memcpyed bytes after a header of 16: the payload has the offset of other chunks' flags. */
  uint8_t small[40] = {2, 1, 0x02, 4, 24, 0, 0, 0, 24, 0, 0, 0, 40, 0, 0, 0}, *chunk;
  uint8_t back[24];
  int kind, i;
  bool needs_free;

  memset(small + 16, 0xFF, 24);
  for (i = 16; i < 40; i += 4) {
    small[i] = (uint8_t)i;
  }
  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind), *again;
    CHECK_IS(blosc2_schunk_append_chunk(schunk, small, true), 1);
    CHECK_IS(schunk->flags2, 0);
    CHECK_IS(blosc2_schunk_append_chunk(schunk, small, true), 2);
    CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 1, back, 24), 24);
    CHECK(memcmp(back, small + 16, 24) == 0);
    memset(back, 0, sizeof back);
    CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 1, 3, back), 0);
    CHECK(memcmp(back, small + 20, 8) == 0);
    CHECK(blosc2_schunk_get_lazychunk(schunk, 0, &chunk, &needs_free) >= 40);
    if (needs_free) {
      free(chunk);
    }
    again = reopened(schunk, kind);
    CHECK(again != NULL);
    CHECK_IS(again->flags2, 0);
    CHECK_IS(again->nchunks, 2);
    CHECK_IS(blosc2_schunk_get_slice_buffer(again, 7, 9, back), 0);
    CHECK(memcmp(back, small + 20, 8) == 0);
    blosc2_schunk_free(again);
    done(schunk, kind);
  }
}

static void row_s15_an_empty_frame_has_no_offsets(void) {
  int kind, i;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind);
    int64_t *offsets;
    CHECK(blosc2_frame_get_offsets(schunk) == NULL);
    CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
    CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_ZERO, CHUNK)), 2);
    CHECK_IS(append(schunk, ramp_chunk(7, CHUNK)), 3);
    offsets = blosc2_frame_get_offsets(schunk);
    CHECK((offsets != NULL) == has_frame(kind));
    if (offsets != NULL) {
      uint8_t *chunk;
      bool needs_free;
      int64_t len = blosc2_schunk_get_chunk(schunk, 0, &chunk, &needs_free);
      if (needs_free) {
        free(chunk);
      }
      CHECK_IS(offsets[0], 0);
      CHECK_IS((uint64_t)offsets[1] >> 56, 0x81);
      CHECK_IS(offsets[2], is_contiguous(kind) ? len : 1);
    }
    free(offsets);
    for (i = 2; i >= 0; i--) {
      CHECK_IS(blosc2_schunk_delete_chunk(schunk, i), i);
    }
    CHECK(blosc2_frame_get_offsets(schunk) == NULL);
    done(schunk, kind);
  }
}

static void row_s16_reordering_no_chunks(void) {
  int kind;
  int64_t order[3];

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind);
    CHECK_IS(blosc2_schunk_reorder_offsets(schunk, order), kind == APART ? 0 : BLOSC2_ERROR_DATA);
    done(schunk, kind);
  }
}

static void row_s17_slices_need_chunks_of_one_size(void) {
  int kind;
  int32_t item = 77;
  int64_t start = 0, stop = 1, *numbers;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 1);
    CHECK_IS(append(schunk, ramp_chunk(0, 2 * CHUNK)), 2);
    CHECK_IS(schunk->chunksize, 0);
    CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 0, 1, &item), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_set_slice_buffer(schunk, 0, 1, &item), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_get_slice_nchunks(schunk, &start, &stop, &numbers), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_get_sparse_buffer(schunk, 1, &start, &item), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(item, 77);
    CHECK(holds_ramp(schunk, 0, 0, CHUNK));
    done(schunk, kind);
  }
}

static void row_s18_a_range_outside_of_the_data_writes_nothing(void) {
  int kind;
  int32_t items[2 * ITEMS + 1];

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 2);
    memset(items, 0x55, sizeof items);
    CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 0, 2 * ITEMS + 1, items), BLOSC2_ERROR_FAILURE);
    CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, -1, 1, items), BLOSC2_ERROR_FAILURE);
    CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 0, INT64_MAX, items), BLOSC2_ERROR_FAILURE);
    CHECK_IS(items[0], 0x55555555);
    CHECK_IS(items[2 * ITEMS - 1], 0x55555555);
    CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 5, 5, items), 0);
    CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 6, 5, items), 0);
    CHECK_IS(items[0], 0x55555555);
    CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 99, 102, items), 0);
    CHECK(items[0] == 99 && items[1] == 100 && items[2] == 101 && items[3] == 0x55555555);
    done(schunk, kind);
  }
}

static void row_s19_nothing_is_written_past_the_end(void) {
  int kind;
  static int32_t items[4 * ITEMS];

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 3);
    snapshot before;
    CHECK_IS(append(schunk, ramp_chunk(300, 100)), 4);
    before = snapshot_of(schunk);
    CHECK_IS(blosc2_schunk_set_slice_buffer(schunk, 320, 330, items), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_set_slice_buffer(schunk, 0, 400, items), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_set_slice_buffer(schunk, 325, 326, items), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_set_slice_buffer(schunk, -1, 3, items), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_set_slice_buffer(schunk, 7, 7, items), 0);
    CHECK(is_as_in(schunk, before));
    CHECK(holds_ramp(schunk, 0, 0, CHUNK));
    CHECK(holds_ramp(schunk, 3, 300, 100));
    CHECK_IS(blosc2_schunk_set_slice_buffer(schunk, 320, 325, items), 0);
    CHECK_IS(schunk->nbytes, before.nbytes);
    done(schunk, kind);
  }
}

static void row_s33_no_chunk_has_a_negative_index(void) {
  static const int64_t starts[] = {-1, -ITEMS, -2 * ITEMS, INT64_MIN};
  int kind;
  size_t i;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 2);
    for (i = 0; i < sizeof starts / sizeof *starts; i++) {
      int64_t start = starts[i], stop = 5, *numbers = &start;
      CHECK_IS(blosc2_get_slice_nchunks(schunk, &start, &stop, &numbers), BLOSC2_ERROR_INVALID_PARAM);
      CHECK(numbers == NULL);
    }
    done(schunk, kind);
  }
}

static void row_s30_every_chunk_keeps_its_length(void) {
  int kind, i;
  int32_t items[325], back[325];

  for (i = 0; i < 325; i++) {
    items[i] = 1000 - i;
  }
  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 3);
    CHECK_IS(append(schunk, ramp_chunk(300, 100)), 4);
    /* The slice ends in chunk 1, and chunk 3 is short. */
    CHECK_IS(blosc2_schunk_set_slice_buffer(schunk, 50, 150, items + 50), 0);
    CHECK_IS(schunk->nbytes, 1300);
    CHECK_IS(schunk->chunksize, CHUNK);
    CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 0, 325, back), 0);
    for (i = 0; i < 325; i++) {
      CHECK(back[i] == (i >= 50 && i < 150 ? 1000 - i : i));
    }
    done(schunk, kind);
  }
}

static void row_s20_sparse_selections_work_with_automatic_blocks(void) {
  static const int64_t wanted[] = {324, 0, 100, 100, 99, 17, 301};
  int32_t items[7];
  int kind, i;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 3);
    int64_t outside = 325;
    CHECK_IS(append(schunk, ramp_chunk(300, 100)), 4);
    CHECK_IS(schunk->blocksize, 0);
    CHECK_IS(blosc2_schunk_get_sparse_buffer(schunk, 7, wanted, items), 0);
    for (i = 0; i < 7; i++) {
      CHECK_IS(items[i], wanted[i]);
    }
    CHECK_IS(blosc2_schunk_get_sparse_buffer(schunk, 0, NULL, NULL), 0);
    CHECK_IS(blosc2_schunk_get_sparse_buffer(schunk, 1, &outside, items), BLOSC2_ERROR_INVALID_PARAM);
    outside = -1;
    CHECK_IS(blosc2_schunk_get_sparse_buffer(schunk, 1, &outside, items), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_get_sparse_buffer(schunk, -1, wanted, items), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_get_sparse_buffer(schunk, 1, NULL, items), BLOSC2_ERROR_INVALID_PARAM);
    done(schunk, kind);
  }
}

static void row_s22_a_full_list_of_vlmetalayers(void) {
  blosc2_schunk *schunk = make(APART);
  uint8_t content = 1, *out, *bytes;
  char name[20];
  int i, len;
  bool needs_free;

  for (i = 0; i < BLOSC2_MAX_VLMETALAYERS; i++) {
    snprintf(name, sizeof name, "%d", i);
    if (blosc2_vlmeta_add(schunk, name, &content, 1, NULL) != i) {
      CHECK(!"a vlmetalayer cannot be added");
      break;
    }
  }
  CHECK_IS(schunk->nvlmetalayers, BLOSC2_MAX_VLMETALAYERS);
  CHECK_IS(blosc2_vlmeta_add(schunk, "more", &content, 1, NULL), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(schunk->nvlmetalayers, BLOSC2_MAX_VLMETALAYERS);
  CHECK(schunk->tuner_params == NULL);
  CHECK_IS(blosc2_vlmeta_get(schunk, "8191", &out, &len), 8191);
  free(out);
  /* A frame cannot hold this many metalayers. */
  CHECK_IS(blosc2_schunk_to_buffer(schunk, &bytes, &needs_free), BLOSC2_ERROR_SCHUNK_COPY);
  CHECK(bytes == NULL && !needs_free);
  blosc2_schunk_free(schunk);
}

static int spoil(blosc2_postfilter_params *params) {
  memset(params->output, 0xEE, (size_t)params->size);
  return 0;
}

static void row_s23_vlmetalayers_do_not_see_the_postfilter(void) {
  static uint8_t content[] = "these bytes are nobody's data";
  int kind;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    blosc2_postfilter_params postparams;
    blosc2_schunk *schunk;
    uint8_t *out;
    int32_t len;
    memset(&postparams, 0, sizeof postparams);
    dparams.postfilter = spoil;
    dparams.postparams = &postparams;
    storage.contiguous = is_contiguous(kind);
    storage.urlpath = path_of(kind);
    storage.dparams = &dparams;
    schunk = blosc2_schunk_new(&storage);
    CHECK(schunk != NULL);
    CHECK_IS(blosc2_vlmeta_add(schunk, "v", content, sizeof content, NULL), 0);
    CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
    CHECK_IS(blosc2_vlmeta_get(schunk, "v", &out, &len), 0);
    CHECK(len == sizeof content && memcmp(out, content, sizeof content) == 0);
    free(out);
    /* The tuner runs nevertheless. */
    CHECK(holds_value(schunk, 0, (int32_t)0xEEEEEEEE, CHUNK));
    done(schunk, kind);
  }
}

static void row_s24_sizes_in_headers_are_not_trusted(void) {
  static uint8_t data[2000];
  int kind;

  fill_with_data(data, sizeof data);
  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 1);
    uint8_t *out = data, *chunk;
    int32_t len = 7, huge = INT32_MAX - 40;
    CHECK_IS(blosc2_vlmeta_add(schunk, "v", data, sizeof data, NULL), 0);
    chunk = schunk->vlmetalayers[0]->content;
    memcpy(chunk + 4, &huge, 4);
    CHECK(blosc2_vlmeta_get(schunk, "v", &out, &len) < 0);
    CHECK(out == NULL && len == 0);
    /* A compressed length that differs from the content's. */
    memset(chunk + 12, 1, 1);
    CHECK_IS(blosc2_vlmeta_get(schunk, "v", &out, &len), BLOSC2_ERROR_DATA);
    done(schunk, kind);
  }
}

static void row_s25_a_view_frees_nothing_of_its_base(void) {
  static uint8_t content[] = "of the base";
  int kind;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 2), *view = blosc2_schunk_new(NULL);
    uint8_t *out;
    int32_t len;
    CHECK_IS(blosc2_vlmeta_add(schunk, "v", content, sizeof content, NULL), 0);
    /* A typical view: chunks and frame belong to the base, metalayers are copies. */
    view->view = true;
    view->frame = schunk->frame;
    view->data = schunk->data;
    view->nchunks = schunk->nchunks;
    view->nbytes = schunk->nbytes;
    view->cbytes = schunk->cbytes;
    view->chunksize = schunk->chunksize;
    view->typesize = schunk->typesize;
    CHECK_IS(blosc2_vlmeta_get(schunk, "v", &out, &len), 0);
    free(out);
    CHECK(holds_ramp(view, 1, ITEMS, CHUNK));
    CHECK_IS(blosc2_schunk_free(view), 0);
    CHECK_IS(blosc2_vlmeta_get(schunk, "v", &out, &len), 0);
    CHECK(len == sizeof content && memcmp(out, content, sizeof content) == 0);
    free(out);
    CHECK(holds_ramp(schunk, 1, ITEMS, CHUNK));
    done(schunk, kind);
  }
}

static void row_s26_unknown_backends(void) {
  int kind;
  blosc2_io io = {201, "unknown", NULL};

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    blosc2_schunk *schunk;
    storage.contiguous = is_contiguous(kind);
    storage.urlpath = path_of(kind);
    storage.io = &io;
    schunk = blosc2_schunk_new(&storage);
    CHECK((schunk != NULL) == (kind == APART || kind == FRAME));
    blosc2_schunk_free(schunk);
  }
  CHECK(blosc2_schunk_open_udio("nothing", &io) == NULL);
}

static void row_s27_every_call_reads_the_current_fields(void) {
  static int32_t items[ITEMS * 20];
  int kind, i;

  for (i = 0; i < ITEMS * 20; i++) {
    items[i] = i;
  }
  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind), *again;
    blosc2_cparams *reported;
    uint8_t *chunk;
    bool needs_free;
    /* The size of future chunks. */
    schunk->chunksize = CHUNK;
    CHECK_IS(blosc2_schunk_append_buffer(schunk, items, 2 * CHUNK), BLOSC2_ERROR_CHUNK_APPEND);
    CHECK_IS(blosc2_schunk_append_buffer(schunk, items, CHUNK), 1);
    /* Contexts created by the client. */
    blosc2_free_ctx(schunk->cctx);
    schunk->storage->cparams->compcode = BLOSC_ZSTD;
    schunk->storage->cparams->clevel = 7;
    schunk->cctx = blosc2_create_cctx(*schunk->storage->cparams);
    schunk->compcode = BLOSC_ZSTD;
    schunk->clevel = 7;
    schunk->filters[4] = BLOSC_DELTA;
    blosc2_free_ctx(schunk->dctx);
    schunk->storage->dparams->nthreads = 2;
    schunk->dctx = blosc2_create_dctx(*schunk->storage->dparams);
    CHECK_IS(blosc2_schunk_append_buffer(schunk, items + ITEMS, CHUNK), 2);
    CHECK(holds_ramp(schunk, 0, 0, CHUNK));
    CHECK(holds_ramp(schunk, 1, ITEMS, CHUNK));
    CHECK(blosc2_schunk_get_chunk(schunk, 1, &chunk, &needs_free) > 0);
    CHECK_IS(chunk[BLOSC2_CHUNK_FLAGS] >> 5, BLOSC_ZSTD_FORMAT);
    if (needs_free) {
      free(chunk);
    }
    CHECK_IS(blosc2_schunk_get_cparams(schunk, &reported), 0);
    CHECK(reported->compcode == BLOSC_ZSTD && reported->clevel == 7);
    CHECK_IS(reported->filters[4], BLOSC_DELTA);
    CHECK(reported->schunk == schunk);
    free(reported);
    again = reopened(schunk, kind);
    CHECK(again != NULL);
    CHECK_IS(again->storage->cparams->compcode, BLOSC_ZSTD);
    CHECK_IS(again->clevel, 7);
    /* A copy uses the context's filters; a frame stores those of the fields. */
    CHECK_IS(again->filters[4], kind == APART ? 0 : BLOSC_DELTA);
    blosc2_schunk_free(again);
    /* Without a context. */
    blosc2_free_ctx(schunk->cctx);
    schunk->cctx = NULL;
    CHECK(blosc2_schunk_append_buffer(schunk, items, CHUNK) < 0);
    CHECK_IS(schunk->nchunks, 2);
    done(schunk, kind);
  }
}

static void row_c51_lazy_chunks_of_variable_length_blocks(void) {
  const char *parts[] = {"hello", "wonderful", "x"};
  const void *blocks[3];
  int32_t sizes[3], destsizes[3], nblocks;
  uint8_t chunk[200], *lazy, *block;
  void *made[3];
  char whole[16] = "";
  blosc2_cparams cparams = items_of(1);
  blosc2_context *context = blosc2_create_cctx(cparams);
  int kind, i, len, lazy_len;
  bool needs_free;

  for (i = 0; i < 3; i++) {
    blocks[i] = parts[i];
    sizes[i] = (int32_t)strlen(parts[i]);
  }
  len = blosc2_vlcompress_ctx(context, blocks, sizes, 3, chunk, sizeof chunk);
  CHECK_IS(len, 71);
  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_with(kind, cparams);
    CHECK_IS(blosc2_schunk_append_chunk(schunk, chunk, true), 1);
    CHECK_IS(schunk->flags2, 1);
    CHECK_IS(schunk->chunksize, 15);
    lazy_len = blosc2_schunk_get_lazychunk(schunk, 0, &lazy, &needs_free);
    CHECK_IS(lazy_len, is_on_disk(kind) ? 68 : 71);
    CHECK_IS(blosc2_decompress_ctx(schunk->dctx, lazy, lazy_len, whole, 15), 15);
    CHECK(memcmp(whole, "hellowonderfulx", 15) == 0);
    CHECK_IS(blosc2_vldecompress_ctx(schunk->dctx, lazy, lazy_len, made, destsizes, 3), 3);
    for (i = 0; i < 3; i++) {
      CHECK(destsizes[i] == sizes[i] && memcmp(made[i], parts[i], (size_t)sizes[i]) == 0);
      free(made[i]);
    }
    CHECK_IS(blosc2_vldecompress_block_ctx(schunk->dctx, lazy, lazy_len, 1, &block, &nblocks), 9);
    CHECK(memcmp(block, "wonderful", 9) == 0);
    free(block);
    if (needs_free) {
      free(lazy);
    }
    CHECK_IS(blosc2_schunk_get_vlblock(schunk, 0, 1, &block, &nblocks), 9);
    CHECK(nblocks == 9 && memcmp(block, "wonderful", 9) == 0);
    free(block);
    CHECK_IS(blosc2_schunk_get_vlblock(schunk, 0, 3, &block, &nblocks), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_get_vlblock(schunk, 0, -1, &block, &nblocks), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_get_vlblock(schunk, 1, 0, &block, &nblocks), BLOSC2_ERROR_INVALID_PARAM);
    /* Other chunk types are refused. */
    CHECK_IS(append(schunk, ramp_chunk(0, 16)), BLOSC2_ERROR_CHUNK_APPEND);
    CHECK_IS(insert(schunk, 0, ramp_chunk(0, 16)), BLOSC2_ERROR_CHUNK_INSERT);
    CHECK_IS(blosc2_schunk_append_chunk(schunk, chunk, true), 2);
    CHECK_IS(update(schunk, 0, ramp_chunk(0, 16)), BLOSC2_ERROR_CHUNK_UPDATE);
    CHECK_IS(blosc2_schunk_delete_chunk(schunk, 0), 1);
    CHECK_IS(update(schunk, 0, ramp_chunk(0, 16)), 1);
    CHECK_IS(schunk->flags2, 0);
    done(schunk, kind);
  }
  blosc2_free_ctx(context);
}

static void row_c73_the_table_of_a_lazy_chunk_without_blocks_is_zeros(void) {
  static const uint8_t expected[] = {5,    1, 7, 4, 0x90, 1, 0, 0, 0x90, 1, 0, 0, 0xB0, 1, 0, 0, 0, 0,
                                     0,    0, 0, 1, 0,    0, 0, 0, 0,    0, 0, 0, 0,    8, 0, 0, 0, 0,
                                     0,    0, 0, 0, 0x61, 0, 0, 0, 0,    0, 0, 0, 0x90, 1, 0, 0};
  blosc2_cparams cparams = items_of(ITEM);
  blosc2_schunk *schunk;
  int32_t items[ITEMS], back[ITEMS];
  uint8_t *lazy;
  bool needs_free;
  int i;

  for (i = 0; i < ITEMS; i++) {
    items[i] = i;
  }
  cparams.clevel = 0;
  schunk = make_with(SINGLE_FILE, cparams);
  CHECK_IS(blosc2_schunk_append_buffer(schunk, items, CHUNK), 1);
  CHECK_IS(blosc2_schunk_get_lazychunk(schunk, 0, &lazy, &needs_free), 52);
  CHECK(needs_free && memcmp(lazy, expected, 52) == 0);
  CHECK_IS(blosc2_decompress_ctx(schunk->dctx, lazy, 52, back, CHUNK), CHUNK);
  CHECK(memcmp(back, items, CHUNK) == 0);
  free(lazy);
  done(schunk, SINGLE_FILE);
}

static void row_c74_unaligned_reads_of_a_blocks_length_from_plain_chunks(void) {
  enum { LEN = 1000, BLOCK = 400 };
  static uint8_t data[LEN], back[LEN];
  int kind, start, len;

  fill_with_data(data, sizeof data);
  for (kind = 0; kind < KINDS; kind++) {
    blosc2_cparams cparams = items_of(1);
    blosc2_schunk *schunk;
    cparams.clevel = 0;
    cparams.blocksize = BLOCK;
    schunk = make_with(kind, cparams);
    CHECK_IS(blosc2_schunk_append_buffer(schunk, data, LEN), 1);
    for (len = LEN % BLOCK; len <= BLOCK; len += BLOCK - LEN % BLOCK) {
      for (start = 0; start + len <= LEN; start += 37) {
        memset(back, 0, sizeof back);
        CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, start, start + len, back), 0);
        CHECK(memcmp(back, data + start, (size_t)len) == 0);
      }
    }
    done(schunk, kind);
  }
}

static void row_c8_row_c17_sizes_of_appended_buffers(void) {
  int kind;
  uint8_t byte = 1;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 1);
    snapshot before = snapshot_of(schunk);
    CHECK_IS(blosc2_schunk_append_buffer(schunk, &byte, -5), BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED);
    CHECK_IS(blosc2_schunk_append_buffer(schunk, &byte, INT32_MIN), BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED);
    CHECK(blosc2_schunk_append_buffer(schunk, NULL, 5) == BLOSC2_ERROR_INVALID_PARAM);
    CHECK(is_as_in(schunk, before));
    done(schunk, kind);
  }
}

int main(void) {
  enter_folder();
  row_s13_special_chunks_are_made_with_default_parameters();
  row_s14_chunks_of_short_headers_have_no_second_flags();
  row_s15_an_empty_frame_has_no_offsets();
  row_s16_reordering_no_chunks();
  row_s17_slices_need_chunks_of_one_size();
  row_s18_a_range_outside_of_the_data_writes_nothing();
  row_s19_nothing_is_written_past_the_end();
  row_s33_no_chunk_has_a_negative_index();
  row_s30_every_chunk_keeps_its_length();
  row_s20_sparse_selections_work_with_automatic_blocks();
  if (!checks_are_quick()) {
    row_s22_a_full_list_of_vlmetalayers();
  }
  row_s23_vlmetalayers_do_not_see_the_postfilter();
  row_s24_sizes_in_headers_are_not_trusted();
  row_s25_a_view_frees_nothing_of_its_base();
  row_s26_unknown_backends();
  row_s27_every_call_reads_the_current_fields();
  row_c51_lazy_chunks_of_variable_length_blocks();
  row_c73_the_table_of_a_lazy_chunk_without_blocks_is_zeros();
  row_c74_unaligned_reads_of_a_blocks_length_from_plain_chunks();
  row_c8_row_c17_sizes_of_appended_buffers();
  return leave_folder();
}
