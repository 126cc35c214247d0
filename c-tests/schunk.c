/*
 * Super-chunks in typical programs: created from storages that are freed immediately, filled,
 * read, changed and copied on all four kinds of storage; and the ownership of memory.
 */

#include "schunks.h"

static void a_storage_is_copied(void) {
  int kind;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_storage *storage = (blosc2_storage *)malloc(sizeof *storage);
    blosc2_cparams *cparams = (blosc2_cparams *)malloc(sizeof *cparams);
    blosc2_dparams *dparams = (blosc2_dparams *)malloc(sizeof *dparams);
    char *path = NULL;
    blosc2_schunk *schunk;
    *storage = BLOSC2_STORAGE_DEFAULTS;
    *cparams = BLOSC2_CPARAMS_DEFAULTS;
    *dparams = BLOSC2_DPARAMS_DEFAULTS;
    cparams->typesize = 8;
    cparams->compcode = BLOSC_LZ4HC;
    cparams->clevel = 3;
    cparams->compcode_meta = 9;
    cparams->filters[4] = BLOSC_DELTA;
    cparams->filters_meta[5] = 4;
    dparams->nthreads = 2;
    storage->contiguous = is_contiguous(kind);
    if (is_on_disk(kind)) {
      path = (char *)malloc(strlen(path_of(kind)) + 1);
      strcpy(path, path_of(kind));
    }
    storage->urlpath = path;
    storage->cparams = cparams;
    storage->dparams = dparams;
    schunk = blosc2_schunk_new(storage);
    CHECK(schunk != NULL);
    CHECK(storage->cparams == cparams && cparams->schunk == NULL && dparams->schunk == NULL);
    memset(cparams, 0xAA, sizeof *cparams);
    free(cparams);
    free(dparams);
    free(path);
    free(storage);

    CHECK_IS(schunk->version, 0);
    CHECK(schunk->compcode == BLOSC_LZ4HC && schunk->clevel == 3 && schunk->typesize == 8);
    CHECK(schunk->compcode_meta == 9 && schunk->filters[4] == BLOSC_DELTA && schunk->filters_meta[5] == 4);
    CHECK(schunk->nchunks == 0 && schunk->nbytes == 0 && schunk->cbytes == 0 && schunk->current_nchunk == 0);
    CHECK(schunk->chunksize == -1 && schunk->blocksize == 0 && schunk->flags2 == 0);
    CHECK(schunk->data == NULL && schunk->data_len == 0 && schunk->change_tick == 0 && !schunk->view);
    CHECK((schunk->frame != NULL) == has_frame(kind));
    CHECK(schunk->storage->contiguous == is_contiguous(kind));
    CHECK(schunk->storage->cparams->schunk == schunk && schunk->storage->dparams->schunk == schunk);
    CHECK_IS(schunk->storage->dparams->nthreads, 2);
    if (is_on_disk(kind)) {
      blosc2_schunk *again = blosc2_schunk_open(path_of(kind));
      CHECK(strcmp(schunk->storage->urlpath, path_of(kind)) == 0);
      CHECK(again != NULL && again->storage->contiguous == is_contiguous(kind));
      CHECK(again->compcode == BLOSC_LZ4HC && again->clevel == 3 && again->typesize == 8);
      CHECK(again->compcode_meta == 9 && again->filters_meta[5] == 4);
      CHECK_IS(again->storage->cparams->typesize, 8);
      /* The file does not store the process's thread count. */
      CHECK_IS(again->storage->dparams->nthreads, blosc2_get_nthreads());
      CHECK_IS(again->storage->dparams->typesize, 0);
      blosc2_schunk_free(again);
      /* The library's own storage struct is accepted, too. */
      CHECK(blosc2_schunk_new(schunk->storage) == NULL);
      CHECK_IS(blosc2_remove_urlpath(path_of(kind)), 0);
      again = blosc2_schunk_new(schunk->storage);
      CHECK(again != NULL && again->typesize == 8);
      blosc2_schunk_free(again);
    }
    done(schunk, kind);
  }
}

static void owned_and_copied_chunks(void) {
  int kind;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind);
    uint8_t *mine = ramp_chunk(0, CHUNK), *given = ramp_chunk(100, CHUNK);
    CHECK_IS(blosc2_schunk_append_chunk(schunk, mine, true), 1);
    CHECK_IS(blosc2_schunk_insert_chunk(schunk, 0, mine, true), 2);
    CHECK_IS(blosc2_schunk_append_chunk(schunk, given, false), 3);
    CHECK_IS(schunk->current_nchunk, 2);
    CHECK_IS(blosc2_schunk_insert_chunk(schunk, 1, ramp_chunk(200, CHUNK), false), 4);
    CHECK_IS(schunk->current_nchunk, 1);
    CHECK_IS(blosc2_schunk_update_chunk(schunk, 0, ramp_chunk(300, CHUNK), false), 4);
    CHECK_IS(blosc2_schunk_update_chunk(schunk, 0, special_chunk(BLOSC2_SPECIAL_ZERO, CHUNK), false), 4);
    CHECK_IS(blosc2_schunk_update_chunk(schunk, 0, ramp_chunk(300, CHUNK), false), 4);
    /* The caller keeps ownership of an invalid chunk. */
    memset(given = (uint8_t *)malloc(64), 0, 64);
    CHECK_IS(blosc2_schunk_append_chunk(schunk, given, false), BLOSC2_ERROR_INVALID_HEADER);
    CHECK_IS(blosc2_schunk_insert_chunk(schunk, 0, given, false), BLOSC2_ERROR_INVALID_HEADER);
    CHECK_IS(blosc2_schunk_update_chunk(schunk, 0, given, false), BLOSC2_ERROR_INVALID_HEADER);
    free(given);
    CHECK_IS(blosc2_schunk_append_chunk(schunk, NULL, false), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_append_chunk(schunk, NULL, true), BLOSC2_ERROR_INVALID_PARAM);
    CHECK(holds_ramp(schunk, 0, 300, CHUNK));
    CHECK(holds_ramp(schunk, 1, 200, CHUNK));
    CHECK(holds_ramp(schunk, 2, 0, CHUNK));
    CHECK(holds_ramp(schunk, 3, 100, CHUNK));
    memset(mine, 0xFF, 32);
    free(mine);
    CHECK(holds_ramp(schunk, 2, 0, CHUNK));
    CHECK_IS(blosc2_schunk_delete_chunk(schunk, 1), 3);
    CHECK(holds_ramp(schunk, 1, 0, CHUNK));
    done(schunk, kind);
  }
}

static void an_owned_chunk_is_not_moved(void) {
  blosc2_schunk *schunk = make(APART);
  uint8_t *chunk = ramp_chunk(0, CHUNK);
  int32_t cbytes;
  int i;

  blosc2_cbuffer_sizes(chunk, NULL, &cbytes, NULL);
  chunk = (uint8_t *)realloc(chunk, (size_t)cbytes);
  CHECK_IS(blosc2_schunk_append_chunk(schunk, chunk, false), 1);
  CHECK(schunk->data[0] == chunk);
  /* The array grows by 4096 bytes. */
  for (i = 1; i <= 4096 / (int)sizeof(uint8_t *); i++) {
    CHECK_IS(schunk->data_len, 4096);
    CHECK_IS(append(schunk, ramp_chunk(i, CHUNK)), i + 1);
  }
  CHECK_IS(schunk->data_len, 8192);
  CHECK(schunk->data[0] == chunk);
  blosc2_schunk_free(schunk);
}

static void chunks_made_by_python_clients(void) {
  /* Sets the chunk size, then appends chunks compressed with the super-chunk's context. */
  int kind, i;
  int32_t items[ITEMS];

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind);
    schunk->chunksize = CHUNK;
    for (i = 0; i < 5; i++) {
      int32_t size, nbytes = i == 4 ? 100 : CHUNK, j;
      uint8_t *chunk = (uint8_t *)malloc((size_t)nbytes + BLOSC2_MAX_OVERHEAD);
      for (j = 0; j < nbytes / ITEM; j++) {
        items[j] = i * ITEMS + j;
      }
      schunk->current_nchunk = i;
      size = blosc2_compress_ctx(schunk->cctx, items, nbytes, chunk, nbytes + BLOSC2_MAX_OVERHEAD);
      CHECK(size > 0);
      chunk = (uint8_t *)realloc(chunk, (size_t)size);
      CHECK_IS(blosc2_schunk_append_chunk(schunk, chunk, false), i + 1);
    }
    CHECK_IS(schunk->chunksize, CHUNK);
    CHECK_IS(schunk->nbytes, 4 * CHUNK + 100);
    for (i = 0; i < 5; i++) {
      CHECK(holds_ramp(schunk, i, i * ITEMS, i == 4 ? 100 : CHUNK));
    }
    done(schunk, kind);
  }
}

static void chunks_are_returned_correctly(void) {
  int kind, i;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 2);
    uint8_t *chunk;
    bool needs_free;
    int size;
    CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_NAN, CHUNK)), 3);
    CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_VALUE, CHUNK)), 4);
    for (i = 0; i < 4; i++) {
      static uint8_t back[CHUNK];
      blosc2_context *context = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
      needs_free = false;
      size = blosc2_schunk_get_chunk(schunk, i, &chunk, &needs_free);
      CHECK(size >= 32);
      CHECK_IS(schunk->current_nchunk, i);
      CHECK_IS(needs_free, is_on_disk(kind) || (kind == FRAME && i == 2));
      CHECK(kind != APART || chunk == schunk->data[i]);
      CHECK(i != 2 || size == 32);
      CHECK(i != 3 || size == 36);
      CHECK_IS(blosc2_decompress_ctx(context, chunk, size, back, CHUNK), CHUNK);
      blosc2_free_ctx(context);
      if (needs_free) {
        free(chunk);
      }
      size = blosc2_schunk_get_lazychunk(schunk, i, &chunk, &needs_free);
      CHECK(size >= 32);
      CHECK_IS(needs_free, is_on_disk(kind) || (kind == FRAME && i == 2));
      CHECK(i < 2 || size == (i == 2 ? 32 : 36));
      CHECK(i >= 2 || !is_on_disk(kind) || (size == 52 && (chunk[BLOSC2_CHUNK_BLOSC2_FLAGS] & 8) != 0));
      CHECK_IS(blosc2_decompress_ctx(schunk->dctx, chunk, size, back, CHUNK), CHUNK);
      CHECK_IS(blosc2_getitem_ctx(schunk->dctx, chunk, size, 7, 3, back, CHUNK), 12);
      if (needs_free) {
        free(chunk);
      }
    }
    /* After an error the outputs are NULL and false. */
    chunk = (uint8_t *)&size;
    needs_free = true;
    CHECK_IS(blosc2_schunk_get_chunk(schunk, 4, &chunk, &needs_free), BLOSC2_ERROR_INVALID_PARAM);
    CHECK(chunk == NULL && !needs_free);
    chunk = (uint8_t *)&size;
    needs_free = true;
    CHECK_IS(blosc2_schunk_get_lazychunk(schunk, -1, &chunk, &needs_free), BLOSC2_ERROR_INVALID_PARAM);
    CHECK(chunk == NULL && !needs_free);
    CHECK_IS(blosc2_schunk_get_chunk(schunk, 0, NULL, &needs_free), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_get_chunk(schunk, 0, &chunk, NULL), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(schunk->current_nchunk, 3);
    done(schunk, kind);
  }
}

static void orders(void) {
  static const int64_t order[] = {3, 1, 0, 2};
  int64_t bad[3][4] = {{0, 1, 2, 4}, {0, 1, 2, -1}, {0, 1, 1, 2}};
  int kind, i;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make_full(kind, 4), *again;
    int64_t *mine = (int64_t *)malloc(sizeof order);
    for (i = 0; i < 3; i++) {
      CHECK_IS(blosc2_schunk_reorder_offsets(schunk, bad[i]), BLOSC2_ERROR_DATA);
      CHECK(holds_ramp(schunk, 0, 0, CHUNK) && holds_ramp(schunk, 3, 300, CHUNK));
    }
    memcpy(mine, order, sizeof order);
    CHECK_IS(blosc2_schunk_reorder_offsets(schunk, mine), 0);
    free(mine);
    again = reopened(schunk, kind);
    CHECK(again != NULL);
    for (i = 0; i < 4; i++) {
      CHECK(holds_ramp(schunk, i, (int32_t)order[i] * ITEMS, CHUNK));
      CHECK(holds_ramp(again, i, (int32_t)order[i] * ITEMS, CHUNK));
    }
    blosc2_schunk_free(again);
    done(schunk, kind);
  }
}

static void filling(void) {
  int kind, special, rest;

  for (kind = 0; kind < KINDS; kind++) {
    int refused = kind == APART ? BLOSC2_ERROR_SCHUNK_SPECIAL : BLOSC2_ERROR_FRAME_SPECIAL;
    blosc2_schunk *schunk = make(kind);
    CHECK_IS(blosc2_schunk_fill_special(schunk, 0, BLOSC2_SPECIAL_ZERO, CHUNK), 0);
    CHECK_IS(blosc2_schunk_fill_special(schunk, -1, BLOSC2_SPECIAL_ZERO, CHUNK), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_fill_special(schunk, 10, BLOSC2_SPECIAL_ZERO, 0), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_fill_special(schunk, 10, BLOSC2_SPECIAL_ZERO, 3), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_fill_special(schunk, 10, BLOSC2_SPECIAL_ZERO, 402), refused);
    CHECK_IS(blosc2_schunk_fill_special(schunk, 10, BLOSC2_SPECIAL_VALUE, CHUNK), refused);
    CHECK_IS(blosc2_schunk_fill_special(schunk, INT64_MAX, BLOSC2_SPECIAL_ZERO, CHUNK),
             BLOSC2_ERROR_SCHUNK_SPECIAL);
    CHECK(schunk->nchunks == 0 && schunk->chunksize == -1);
    done(schunk, kind);
    for (special = BLOSC2_SPECIAL_ZERO; special <= BLOSC2_SPECIAL_UNINIT; special++) {
      if (special == BLOSC2_SPECIAL_VALUE) {
        continue;
      }
      for (rest = 0; rest <= 10; rest += 5) {
        blosc2_schunk *again;
        int64_t chunks = 5 + (rest > 0);
        schunk = make(kind);
        CHECK_IS(blosc2_schunk_fill_special(schunk, 5 * ITEMS + rest, special, CHUNK), chunks);
        CHECK_IS(schunk->nbytes, 5 * CHUNK + rest * ITEM);
        CHECK_IS(schunk->cbytes, kind == APART ? 32 * chunks : 0);
        CHECK(!has_frame(kind) || blosc2_schunk_frame_len(schunk) == 172);
        again = reopened(schunk, kind);
        CHECK(again != NULL && again->nchunks == chunks);
        if (special != BLOSC2_SPECIAL_UNINIT) {
          int32_t value = special == BLOSC2_SPECIAL_NAN ? 0x7FC00000 : 0;
          CHECK(holds_value(again, 0, value, CHUNK));
          CHECK(holds_value(schunk, chunks - 1, value, rest > 0 ? rest * ITEM : CHUNK));
        }
        blosc2_schunk_free(again);
        CHECK_IS(blosc2_schunk_fill_special(schunk, 1, special, CHUNK), BLOSC2_ERROR_FRAME_SPECIAL);
        CHECK_IS(update(schunk, 1, ramp_chunk(3, CHUNK)), chunks);
        CHECK(holds_ramp(schunk, 1, 3, CHUNK));
        done(schunk, kind);
      }
    }
  }
}

static void slices(void) {
  int kind, i;
  int32_t items[325], back[325];
  int64_t start, stop, *numbers;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_schunk *schunk = make(kind);
    start = stop = 5;
    schunk->chunksize = 0;
    CHECK_IS(blosc2_get_slice_nchunks(schunk, &start, &stop, &numbers), 0);
    CHECK(numbers == NULL);
    done(schunk, kind);
    schunk = make_full(kind, 3);
    CHECK_IS(append(schunk, ramp_chunk(300, 100)), 4);
    for (start = 0; start < 325; start += 31) {
      for (stop = start; stop <= 325; stop += 47) {
        memset(back, 0xFF, sizeof back);
        CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, start, stop, back), 0);
        for (i = 0; i < stop - start; i++) {
          CHECK_IS(back[i], start + i);
        }
        CHECK(stop - start == 325 || back[stop - start] == -1);
      }
    }
    for (i = 0; i < 325; i++) {
      items[i] = -i;
    }
    CHECK_IS(blosc2_schunk_set_slice_buffer(schunk, 150, 325, items + 150), 0);
    CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 0, 325, back), 0);
    for (i = 0; i < 325; i++) {
      CHECK_IS(back[i], i < 150 ? i : -i);
    }
    start = 150;
    stop = 301;
    CHECK_IS(blosc2_get_slice_nchunks(schunk, &start, &stop, &numbers), 3);
    CHECK(numbers != NULL && numbers[0] == 1 && numbers[2] == 3);
    free(numbers);
    start = stop = 5;
    CHECK_IS(blosc2_get_slice_nchunks(schunk, &start, &stop, &numbers), 1);
    free(numbers);
    done(schunk, kind);
  }
}

static void copies_between_all_kinds(void) {
  int kind, to, other;

  for (kind = 0; kind < KINDS; kind++) {
    for (to = 0; to < KINDS; to++) {
      for (other = 0; other < 2; other++) {
        blosc2_schunk *schunk = make(kind), *copy;
        blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
        blosc2_cparams cparams = items_of(ITEM);
        char path[] = "copy";
        CHECK_IS(blosc2_meta_add(schunk, "m", (uint8_t *)"fixed", 5), 0);
        CHECK_IS(append(schunk, ramp_chunk(0, CHUNK)), 1);
        CHECK_IS(append(schunk, special_chunk(BLOSC2_SPECIAL_ZERO, CHUNK)), 2);
        CHECK_IS(blosc2_vlmeta_add(schunk, "v", (uint8_t *)"variable", 8, NULL), 0);
        CHECK_IS(append(schunk, ramp_chunk(9, 100)), 3);
        cparams.compcode = BLOSC_ZSTD;
        storage.contiguous = is_contiguous(to);
        storage.urlpath = is_on_disk(to) ? path : NULL;
        storage.cparams = other ? &cparams : NULL;
        copy = blosc2_schunk_copy(schunk, &storage);
        CHECK(copy != NULL);
        CHECK(holds_ramp(copy, 0, 0, CHUNK) && holds_value(copy, 1, 0, CHUNK) && holds_ramp(copy, 2, 9, 100));
        CHECK(has_meta(copy, "m", "fixed", 5) && has_vlmeta(copy, "v", "variable", 8));
        CHECK_IS(copy->compcode, other ? BLOSC_ZSTD : BLOSC_BLOSCLZ);
        CHECK(!is_on_disk(to) || blosc2_schunk_copy(schunk, &storage) == NULL);
        CHECK_IS(blosc2_schunk_free(copy), 0);
        CHECK(!is_on_disk(to) || blosc2_remove_urlpath(path) == 0);
        done(schunk, kind);
      }
    }
  }
}

static void parameters(void) {
  blosc2_cparams cparams = items_of(ITEM), *found;
  blosc2_dparams *dparams;
  blosc2_schunk *schunk;
  int32_t items[ITEMS] = {1};
  static const struct { int compcode, clevel, filter, use_dict; int expected; } bad[] = {
      {BLOSC_BLOSCLZ, 10, 1, 0, BLOSC2_ERROR_CODEC_PARAM}, {200, 5, 1, 0, BLOSC2_ERROR_CODEC_SUPPORT},
      {BLOSC_BLOSCLZ, 5, 200, 0, BLOSC2_ERROR_FILTER_PIPELINE}, {BLOSC_BLOSCLZ, 5, 1, 1, BLOSC2_ERROR_CODEC_PARAM}};
  size_t i;

  cparams.nthreads = 3;
  schunk = make_with(FRAME, cparams);
  CHECK_IS(blosc2_schunk_get_cparams(schunk, &found), 0);
  CHECK(found->schunk == schunk && found->typesize == ITEM && found->nthreads == 3);
  CHECK(found->tuner_params == NULL && found->prefilter == NULL && found->codec_params == NULL);
  free(found);
  CHECK_IS(blosc2_schunk_get_dparams(schunk, &dparams), 0);
  CHECK(dparams->schunk == schunk && dparams->nthreads == 1 && dparams->typesize == 0);
  free(dparams);
  done(schunk, FRAME);
  for (i = 0; i < sizeof bad / sizeof *bad; i++) {
    cparams = items_of(ITEM);
    cparams.compcode = (uint8_t)bad[i].compcode;
    cparams.clevel = (uint8_t)bad[i].clevel;
    cparams.filters[5] = (uint8_t)bad[i].filter;
    cparams.use_dict = bad[i].use_dict;
    schunk = make_with(SINGLE_FILE, cparams);
    CHECK_IS(blosc2_schunk_append_buffer(schunk, items, CHUNK), bad[i].expected);
    CHECK_IS(schunk->nchunks, 0);
    done(schunk, SINGLE_FILE);
  }
}

int main(void) {
  enter_folder();
  a_storage_is_copied();
  owned_and_copied_chunks();
  an_owned_chunk_is_not_moved();
  chunks_made_by_python_clients();
  chunks_are_returned_correctly();
  orders();
  filling();
  slices();
  copies_between_all_kinds();
  parameters();
  return leave_folder();
}
