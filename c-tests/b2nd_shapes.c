/* Arrays: resizing, views, files and frames; rows N15 to N36 and N40, N41. */

#include "arrays.h"

static void rows_of(uint8_t *items, int rows, int columns) {
  int i, j;
  for (i = 0; i < rows; i++) {
    for (j = 0; j < columns; j++) {
      items[columns * i + j] = (uint8_t)(j < 7 && i < 5 ? 7 * i + j + 1 : 0);
    }
  }
}

/* N16, N17: items cut off inside a chunk reappear, new items are zero. */
static void row_n16_row_n17_resizing(void) {
  int storage;
  for (storage = 0; storage < STORAGES; storage++) {
    b2nd_array_t *array = example(storage);
    int64_t three[] = {3, 7}, start[] = {4, 4}, past[] = {4, 0}, large[] = {9, 11}, bad[] = {6, 7}, below[] = {-4, 0};
    int64_t huge[] = {INT64_MAX, 7}, none[] = {0, 7}, beyond[] = {6, 0}, one[] = {1, 7};
    uint8_t items[99], expected[99];
    int i, j;

    CHECK_IS(b2nd_resize(array, three, NULL), 0);
    rows_of(expected, 3, 7);
    CHECK(is(array, 2, three, expected));
    CHECK_IS(array->last_tick, array->sc->change_tick);
    CHECK_IS(b2nd_resize(array, shape57, NULL), 0);
    rows_of(expected, 5, 7);
    memset(expected + 28, 0, 7);
    CHECK(is(array, 2, shape57, expected));
    b2nd_free(array);

    array = example(storage);
    CHECK_IS(b2nd_resize(array, huge, NULL), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_resize(array, below, NULL), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_resize(array, bad, origin), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_resize(array, large, below), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_resize(array, bad, beyond), BLOSC2_ERROR_INVALID_PARAM);
    /* From row 4 on there is one row, not four. */
    CHECK_IS(b2nd_resize(array, one, past), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_resize(array, NULL, NULL), BLOSC2_ERROR_NULL_POINTER);
    rows_of(expected, 5, 7);
    CHECK(is(array, 2, shape57, expected));

    CHECK_IS(b2nd_resize(array, large, start), 0);
    CHECK_IS(array->sc->nchunks, 9);
    rows_of(items, 5, 7);
    for (i = 0; i < 9; i++) {
      for (j = 0; j < 11; j++) {
        int row = i < 4 ? i : i - 4, column = j < 4 ? j : j - 4;
        bool is_new = (i >= 4 && i < 8) || (j >= 4 && j < 8);
        expected[11 * i + j] = is_new ? 0 : items[7 * row + column];
      }
    }
    CHECK(is(array, 2, large, expected));
    b2nd_free(array);

    array = example(storage);
    CHECK_IS(b2nd_resize(array, one, origin), 0);
    for (j = 0; j < 7; j++) {
      expected[j] = (uint8_t)(29 + j);
    }
    CHECK(is(array, 2, one, expected));
    CHECK_IS(b2nd_resize(array, none, NULL), 0);
    CHECK_IS(array->sc->nchunks, 0);
    CHECK_IS(b2nd_append(array, expected, 7, 0), 0);
    CHECK(is(array, 2, one, expected));
    b2nd_free(array);
  }
}

/* N19, N20, N21 */
static void row_n19_row_n20_row_n21_growing(void) {
  int storage;
  for (storage = 0; storage < STORAGES; storage++) {
    static const int64_t shape5[] = {5}, shape9[] = {9}, shape511[] = {5, 11}, shape17[] = {1, 7};
    static const int32_t four[] = {4}, two[] = {2};
    b2nd_array_t *array = example(storage);
    b2nd_context_t *ctx;
    uint8_t items[55], expected[55], put[20];
    int i, j;

    for (i = 0; i < 20; i++) {
      put[i] = (uint8_t)(101 + i);
    }
    CHECK_IS(b2nd_insert(array, put, 20, -1, 0), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_insert(array, put, 20, 2, 0), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_insert(array, put, 19, 1, 4), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_insert(array, put, 7, 0, 4), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_insert(array, put, 20, 1, 8), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_insert(array, NULL, 20, 1, 4), BLOSC2_ERROR_NULL_POINTER);
    CHECK_IS(b2nd_insert(array, put, 0, 1, 4), 0);
    CHECK_IS(b2nd_delete(array, 1, 1, 4), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_delete(array, 1, 0, -4), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_delete(array, 2, 0, 4), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_delete(array, -1, 0, 4), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_append(array, put, 5, -1), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_append(array, put, -7, 0), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_append(array, put, -5, 1), BLOSC2_ERROR_INVALID_PARAM);
    rows_of(items, 5, 7);
    CHECK(is(array, 2, shape57, items));
    CHECK_IS(b2nd_delete(array, 0, 0, 0), 0);
    CHECK_IS(b2nd_insert(array, put, 20, 1, 4), 0);
    rows_of(items, 5, 7);
    for (i = 0; i < 5; i++) {
      for (j = 0; j < 11; j++) {
        bool is_new = j >= 4 && j < 8;
        expected[11 * i + j] = is_new ? put[4 * i + j - 4] : items[7 * i + (j < 4 ? j : j - 4)];
      }
    }
    CHECK(is(array, 2, shape511, expected));
    CHECK_IS(b2nd_delete(array, 1, 4, 4), 0);
    CHECK(is(array, 2, shape57, items));
    CHECK_IS(b2nd_delete(array, 0, 0, 4), 0);
    CHECK(is(array, 2, shape17, items + 28));
    CHECK_IS(b2nd_delete(array, 0, 0, 1), 0);
    CHECK_IS(array->sc->nchunks, 0);
    /* In a dimension without items, an empty buffer has no definite number of rows. */
    CHECK_IS(b2nd_insert(array, put, 5, 1, 0), BLOSC2_ERROR_INVALID_PARAM);
    b2nd_free(array);

    /* Items for a whole chunk are appended as a chunk only at a chunk boundary. */
    ctx = context_in(storage, 1, 1, shape5, four, four);
    CHECK_IS(b2nd_from_cbuffer(ctx, &array, put, 5), 0);
    CHECK_IS(b2nd_append(array, put, 4, 0), 0);
    memcpy(expected, put, 5);
    memcpy(expected + 5, put, 4);
    CHECK(is(array, 1, shape9, expected));
    b2nd_free(array);
    b2nd_free_ctx(ctx);
    {
      static const int64_t shape4[] = {4}, shape8[] = {8};
      ctx = context_in(storage, 1, 1, shape4, four, two);
      CHECK_IS(b2nd_from_cbuffer(ctx, &array, put, 4), 0);
      CHECK_IS(b2nd_append(array, put + 4, 4, 0), 0);
      CHECK(is(array, 1, shape8, put));
      CHECK_IS(array->sc->nchunks, 2);
      CHECK_IS(b2nd_append(array, put, 0, 0), 0);
      b2nd_free(array);
      b2nd_free_ctx(ctx);
    }
  }
}

static void row_n15_concatenating(void) {
  static const int64_t shape107[] = {10, 7}, shape514[] = {5, 14};
  static const int32_t chunks53[] = {5, 3}, blocks[] = {2, 2};
  int storage, axis;
  for (storage = 0; storage < STORAGES; storage++) {
    for (axis = 0; axis < 2; axis++) {
      b2nd_array_t *first = example(storage), *second = example(storage), *both;
      b2nd_context_t *ctx = context_in(storage, 1, 2, shape57, chunks53, blocks);
      uint8_t items[ITEMS], expected[2 * ITEMS];
      int i;

      rows_of(items, 5, 7);
      for (i = 0; i < 5; i++) {
        memcpy(expected + (axis == 0 ? 7 * i : 14 * i), items + 7 * i, 7);
        memcpy(expected + (axis == 0 ? 35 + 7 * i : 14 * i + 7), items + 7 * i, 7);
      }
      CHECK_IS(b2nd_concatenate(ctx, first, second, 2, true, &both), BLOSC2_ERROR_INVALID_PARAM);
      CHECK(both == NULL);
      CHECK_IS(b2nd_concatenate(NULL, first, second, 0, true, &both), BLOSC2_ERROR_NULL_POINTER);
      CHECK_IS(b2nd_concatenate(ctx, first, second, (int8_t)axis, true, &both), 0);
      CHECK(is(both, 2, axis == 0 ? shape107 : shape514, expected));
      b2nd_free(both);
      b2nd_free_ctx(ctx);
      /* Concatenates an array with itself. */
      CHECK_IS(b2nd_concatenate(NULL, first, first, (int8_t)axis, false, &both), 0);
      CHECK(both == first && is(first, 2, axis == 0 ? shape107 : shape514, expected));
      b2nd_free(first);
      b2nd_free(second);
    }
  }
}

/* The shape of a base determines the numbers of its chunks, which a view shares. */
static void row_n32_views_of_resized_arrays(void) {
  static const int64_t shape44[] = {4, 4}, shape48[] = {4, 8}, shape42[] = {4, 2}, shape84[] = {8, 4};
  static const int64_t shape414[] = {4, 1, 4}, start[] = {0, 0, 2}, stop[] = {2, 1, 4}, part[] = {2, 1, 2};
  static const int32_t two[] = {2, 2};
  static const bool middle[] = {false, true, false}, none[] = {false, false};
  int storage;
  for (storage = 0; storage < STORAGES; storage++) {
    b2nd_context_t *ctx = context_in(storage, 1, 2, shape44, two, two);
    b2nd_array_t *base, *view, *other, *both;
    uint8_t items[64], corner[4], expected[32];
    int i;

    rows_of(items, 8, 8);
    CHECK_IS(b2nd_from_cbuffer(ctx, &base, items, 16), 0);
    CHECK_IS(b2nd_expand_dims(base, &view, middle, 3), 0);
    /* More columns: chunk 2 of the view is chunk 4 of the base. */
    CHECK_IS(b2nd_resize(base, shape48, NULL), 0);
    CHECK_IS(b2nd_to_cbuffer(view, items + 16, 16), BLOSC2_ERROR_FAILURE);
    CHECK_IS(b2nd_get_slice_cbuffer(view, start, stop, corner, part, 4), BLOSC2_ERROR_FAILURE);
    CHECK_IS(b2nd_set_slice_cbuffer(corner, part, 4, start, stop, view), BLOSC2_ERROR_FAILURE);
    CHECK_IS(b2nd_squeeze(view, &other), BLOSC2_ERROR_FAILURE);
    CHECK(other == NULL);
    /* Fewer columns: chunk 1 of the view is chunk 0 of the base's second row. */
    CHECK_IS(b2nd_resize(base, shape42, NULL), 0);
    CHECK_IS(b2nd_get_slice_cbuffer(view, start, stop, corner, part, 4), BLOSC2_ERROR_FAILURE);
    /* The first shape again: the removed columns are zeros. */
    CHECK_IS(b2nd_resize(base, shape44, NULL), 0);
    for (i = 0; i < 16; i++) {
      expected[i] = i % 4 < 2 ? items[i] : 0;
    }
    CHECK(is(view, 3, shape414, expected));
    /* More rows: the numbers stay the same. */
    CHECK_IS(b2nd_resize(base, shape84, NULL), 0);
    CHECK(is(view, 3, shape414, expected));
    CHECK_IS(b2nd_resize(base, shape44, NULL), 0);
    b2nd_free(view);

    /* A view of the same dimensions is appended in place. */
    CHECK_IS(b2nd_squeeze_index(base, &view, none), 0);
    CHECK_IS(b2nd_concatenate(NULL, base, view, 1, false, &both), 0);
    CHECK(both == base);
    for (i = 0; i < 32; i++) {
      expected[i] = i % 4 < 2 ? items[i / 8 * 4 + i % 4] : 0;
    }
    CHECK(is(base, 2, shape48, expected));
    b2nd_free(view);
    b2nd_free(base);
    b2nd_free_ctx(ctx);
  }
}

/* The super-chunk of a view cannot change the number of chunks of its base, nor a frame. */
static void row_n31_super_chunks_of_views(void) {
  static const bool none[] = {false, false};
  int storage;
  for (storage = 0; storage < STORAGES; storage++) {
    b2nd_array_t *base = example(storage), *view;
    int has_frame = base->sc->frame != NULL, code = has_frame ? BLOSC2_ERROR_INVALID_PARAM : 0;
    int64_t order[] = {0, 1, 2, 3};
    uint8_t items[ITEMS], *chunk;
    bool needs_free;

    rows_of(items, 5, 7);
    CHECK_IS(blosc2_vlmeta_add(base->sc, "note", (uint8_t *)"hello", 5, NULL), 0);
    CHECK_IS(b2nd_squeeze_index(base, &view, none), 0);
    CHECK(blosc2_schunk_get_chunk(base->sc, 1, &chunk, &needs_free) > 0);
    CHECK_IS(blosc2_schunk_append_buffer(view->sc, items, 16), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_append_chunk(view->sc, chunk, true), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_insert_chunk(view->sc, 0, chunk, true), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_delete_chunk(view->sc, 0), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(blosc2_schunk_reorder_offsets(view->sc, order), code);
    CHECK_IS(blosc2_schunk_update_chunk(view->sc, 1, chunk, true), has_frame ? code : 4);
    CHECK_IS(blosc2_schunk_set_slice_buffer(view->sc, 0, 1, items), code);
    CHECK_IS(blosc2_vlmeta_update(view->sc, "note", (uint8_t *)"other", 5, NULL), code);
    CHECK_IS(blosc2_vlmeta_add(view->sc, "more", (uint8_t *)"hello", 5, NULL), has_frame ? code : 1);
    CHECK_IS(blosc2_vlmeta_delete(view->sc, "note"), has_frame ? code : 1);
    CHECK_IS(base->sc->nchunks, 4);
    CHECK(is(base, 2, shape57, items) && is(view, 2, shape57, items));
    CHECK_IS(base->sc->nvlmetalayers, 1);
    CHECK_IS(blosc2_vlmeta_exists(base->sc, "note"), 0);
    CHECK(blosc2_schunk_frame_len(view->sc) > 0);
    if (needs_free) {
      free(chunk);
    }
    b2nd_free(view);
    CHECK_IS(b2nd_append(base, items, 7, 0), 0);
    b2nd_free(base);
  }
}

/* N28 to N33 */
static void row_n28_to_row_n33_views(void) {
  int storage;
  for (storage = 0; storage < STORAGES; storage++) {
    static const int64_t shape3[] = {5, 1, 7};
    b2nd_array_t *base = example(storage), *view, *again, *copy;
    bool middle[] = {false, true, false}, few[] = {true, false}, second[] = {false, true, false};
    bool many[17] = {false};
    int64_t start[] = {0, 0, 0}, stop[] = {1, 1, 2}, put[] = {1, 1, 2}, two[] = {2, 7};
    uint8_t items[ITEMS], pair[] = {201, 202}, *frame;
    int64_t len;
    bool needs_free;

    rows_of(items, 5, 7);
    CHECK_IS(b2nd_expand_dims(base, &view, few, 2), BLOSC2_ERROR_INVALID_PARAM);
    memset(many + 2, true, 15);
    CHECK_IS(b2nd_expand_dims(base, &view, many, 17), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_expand_dims(NULL, &view, middle, 3), BLOSC2_ERROR_NULL_POINTER);
    CHECK_IS(b2nd_expand_dims(base, NULL, middle, 3), BLOSC2_ERROR_NULL_POINTER);
    CHECK_IS(b2nd_squeeze_index(base, &view, middle), BLOSC2_ERROR_INVALID_INDEX);
    CHECK_IS(blosc2_vlmeta_add(base->sc, "note", (uint8_t *)"hello", 5, NULL), 0);
    CHECK_IS(b2nd_expand_dims(base, &view, middle, 3), 0);
    CHECK(view->sc->view && view->sc->data == base->sc->data && view->sc->frame == base->sc->frame);
    CHECK(is(view, 3, shape3, items));
    CHECK_IS(b2nd_refresh(view), 0);
    CHECK_IS(b2nd_squeeze_index(view, &again, second), 0);
    CHECK_IS(b2nd_to_cframe(view, &frame, &len, &needs_free), 0);
    CHECK(needs_free);
    b2nd_free(view);
    CHECK(is(again, 2, shape57, items));
    CHECK_IS(b2nd_from_cframe(frame, len, true, &copy), 0);
    CHECK(is(copy, 3, shape3, items));
    b2nd_free(copy);
    free(frame);
    CHECK_IS(b2nd_save(again, new_path()), 0);
    /* row_n31_ a view cannot be resized. */
    CHECK_IS(b2nd_resize(again, two, NULL), BLOSC2_ERROR_INVALID_PARAM);
    b2nd_free(again);
    /* row_s25_ the base keeps its own metalayers. */
    CHECK_IS(blosc2_vlmeta_exists(base->sc, "note"), 0);

    CHECK_IS(b2nd_expand_dims(base, &view, middle, 3), 0);
    /* row_n30_ a view can be written only if its base has no frame. */
    if (base->sc->frame == NULL) {
      CHECK_IS(b2nd_set_slice_cbuffer(pair, put, 2, start, stop, view), 0);
      items[0] = 201;
      items[1] = 202;
    } else {
      CHECK_IS(b2nd_set_slice_cbuffer(pair, put, 2, start, stop, view), BLOSC2_ERROR_INVALID_PARAM);
    }
    CHECK(is(base, 2, shape57, items));
    CHECK(is(view, 3, shape3, items));
    /* row_n32_ the base may have shrunk. */
    CHECK_IS(b2nd_resize(base, two, NULL), 0);
    CHECK_IS(b2nd_to_cbuffer(view, items, ITEMS), BLOSC2_ERROR_FAILURE);
    b2nd_free(view);
    b2nd_free(base);
  }
  {
    static const int64_t shape[] = {1, 7};
    static const int32_t chunks[] = {1, 4}, blocks[] = {1, 2};
    uint8_t content = 1;
    b2nd_context_t *ctx = context_in(0, 1, 2, shape, chunks, blocks);
    b2nd_array_t *array, *view;
    CHECK_IS(b2nd_zeros(ctx, &array), 0);
    CHECK_IS(b2nd_squeeze(array, &view), 0);
    b2nd_free(view);
    /* row_n33_ a view is refused if its base has other metalayers. */
    CHECK_IS(blosc2_meta_add(array->sc, "more", &content, 1), 1);
    CHECK_IS(b2nd_squeeze(array, &view), BLOSC2_ERROR_INVALID_PARAM);
    CHECK(view == NULL);
    b2nd_free(array);
    b2nd_free_ctx(ctx);
  }
}

/* N23, N24 */
static void row_n23_row_n24_refreshing(void) {
  int storage;
  for (storage = 0; storage < STORAGES; storage++) {
    static const int64_t shape67[] = {6, 7}, shape127[] = {12, 7};
    b2nd_context_t *ctx = context_in(storage, 1, 2, shape57, chunks44, blocks22);
    b2nd_array_t *array, *reader;
    uint8_t items[84] = {0};

    CHECK_IS(b2nd_zeros(ctx, &array), 0);
    CHECK_IS(b2nd_refresh(array), storage == 0 ? 0 : 1);
    CHECK_IS(b2nd_refresh(array), 0);
    if (storage >= 2) {
      CHECK_IS(b2nd_open(array->sc->storage->urlpath, &reader), 0);
      CHECK_IS(b2nd_refresh(reader), 0);
      /* The number of chunks does not change. */
      CHECK_IS(b2nd_resize(array, shape67, NULL), 0);
      CHECK_IS(b2nd_refresh(reader), 1);
      CHECK_IS(b2nd_refresh(reader), 0);
      CHECK(is(reader, 2, shape67, items));
      CHECK_IS(b2nd_resize(array, shape127, NULL), 0);
      CHECK_IS(b2nd_to_cbuffer(reader, items, 84), 0);
      CHECK(is(reader, 2, shape127, items));
      b2nd_free(reader);
    }
    b2nd_free(array);
    b2nd_free_ctx(ctx);
  }
  CHECK_IS(b2nd_refresh(NULL), BLOSC2_ERROR_NULL_POINTER);
}

/* N25, N26, N27: files and frames. */
static void row_n25_row_n26_row_n27_files_and_frames(void) {
  static const int64_t shape[] = {10};
  static const int32_t chunks[] = {4}, blocks[] = {2};
  int storage, i;

  for (storage = 0; storage < STORAGES; storage++) {
    b2nd_array_t *array = example(storage), *copy;
    uint8_t items[ITEMS], *frame, *kept, large[3000], found[3000];
    int64_t len, more[] = {50, 7}, offset;
    bool needs_free;
    char path[sizeof folder + 32];
    b2nd_context_t *ctx;

    rows_of(items, 5, 7);
    CHECK_IS(b2nd_to_cframe(array, &frame, &len, &needs_free), 0);
    CHECK_IS(needs_free, storage != 1);
    kept = (uint8_t *)malloc((size_t)len);
    memcpy(kept, frame, (size_t)len);
    /* Changes do not affect the caller's buffer. */
    CHECK_IS(b2nd_from_cframe(frame, len, false, &copy), 0);
    CHECK(is(copy, 2, shape57, items));
    CHECK_IS(b2nd_resize(copy, more, NULL), 0);
    CHECK(memcmp(kept, frame, (size_t)len) == 0);
    b2nd_free(copy);
    CHECK_IS(b2nd_from_cframe(frame, len - 1, false, &copy), BLOSC2_ERROR_FAILURE);
    CHECK_IS(b2nd_from_cframe(NULL, len, false, &copy), BLOSC2_ERROR_NULL_POINTER);
    free(kept);
    if (needs_free) {
      free(frame);
    }

    strcpy(path, new_path());
    CHECK_IS(b2nd_open(path, &copy), BLOSC2_ERROR_NULL_POINTER);
    CHECK_IS(b2nd_open(NULL, &copy), BLOSC2_ERROR_NULL_POINTER);
    CHECK_IS(b2nd_save(array, path), 0);
    CHECK_IS(b2nd_save(array, path), BLOSC2_ERROR_FAILURE);
    CHECK_IS(b2nd_open(path, &copy), 0);
    CHECK(is(copy, 2, shape57, items));
    CHECK_IS(copy->sc->storage->contiguous, storage % 2 == 1);
    b2nd_free(copy);
    strcpy(path, new_path());
    CHECK_IS(b2nd_save_append(array, NULL), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_save_append(array, path), 0);
    offset = b2nd_save_append(array, path);
    CHECK(offset > 0);
    CHECK_IS(b2nd_open_offset(path, &copy, offset), 0);
    CHECK(is(copy, 2, shape57, items));
    b2nd_free(copy);
    CHECK_IS(b2nd_open_offset(path, &copy, offset + 1), BLOSC2_ERROR_NULL_POINTER);
    b2nd_free(array);

    /* Items larger than a chunk header can store. */
    ctx = context_in(storage, 300, 1, shape, chunks, blocks);
    for (i = 0; i < 3000; i++) {
      large[i] = (uint8_t)(i * 7);
    }
    CHECK_IS(b2nd_from_cbuffer(ctx, &array, large, 3000), 0);
    CHECK_IS(b2nd_to_cframe(array, &frame, &len, &needs_free), 0);
    CHECK_IS(b2nd_from_cframe(frame, len, true, &copy), 0);
    CHECK_IS(copy->sc->typesize, 300);
    CHECK_IS(b2nd_to_cbuffer(copy, found, 3000), 0);
    CHECK(memcmp(found, large, 3000) == 0);
    b2nd_free(copy);
    if (storage == 0) {
      /* The reference's layout: typesize 1 at byte 48 of the header. */
      CHECK(frame[0x32] == 0x01 && frame[0x33] == 0x2C);
      frame[0x32] = 0;
      frame[0x33] = 1;
      CHECK_IS(b2nd_from_cframe(frame, len, true, &copy), 0);
      CHECK_IS(copy->sc->typesize, 300);
      CHECK_IS(b2nd_to_cbuffer(copy, found, 3000), 0);
      CHECK(memcmp(found, large, 3000) == 0);
      b2nd_free(copy);
    }
    if (needs_free) {
      free(frame);
    }
    b2nd_free(array);
    b2nd_free_ctx(ctx);
  }
}

/* N18, N41: super-chunks with invalid array metadata. */
static void row_n18_row_n41_odd_super_chunks(void) {
  static const uint8_t caterva[] = {
      0x95, 0, 2, 0x92, 0xd3, 0, 0, 0, 0, 0, 0, 0, 4, 0xd3, 0, 0, 0, 0, 0, 0, 0, 8,
      0x92, 0xd2, 0, 0, 0, 4, 0xd2, 0, 0, 0, 4, 0x92, 0xd2, 0, 0, 0, 2, 0xd2, 0, 0, 0, 2};
  blosc2_storage where = BLOSC2_STORAGE_DEFAULTS;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_schunk *schunk;
  b2nd_array_t *array;
  uint8_t bytes[sizeof caterva], items[64], short_chunk[8] = {0};
  int64_t grown[] = {8, 8}, start[] = {0, 0}, stop[] = {4, 4}, coord = 17;
  int i;

  for (i = 0; i < 32; i++) {
    items[i] = (uint8_t)(i + 1);
  }
  cparams.typesize = 1;
  cparams.blocksize = 4;
  where.cparams = &cparams;
  memcpy(bytes, caterva, sizeof caterva);
  schunk = blosc2_schunk_new(&where);
  CHECK_IS(b2nd_from_schunk(schunk, &array), BLOSC2_ERROR_METALAYER_NOT_FOUND);
  CHECK_IS(blosc2_meta_add(schunk, "caterva", bytes, sizeof caterva), 0);
  CHECK_IS(blosc2_schunk_append_buffer(schunk, items, 16), 1);
  CHECK_IS(blosc2_schunk_append_buffer(schunk, items + 16, 16), 2);
  CHECK_IS(b2nd_from_schunk(schunk, &array), 0);
  CHECK(array->dtype == NULL && array->dtype_format == 0);
  CHECK_IS(b2nd_resize(array, grown, NULL), BLOSC2_ERROR_FAILURE);
  CHECK(array->shape[0] == 4 && schunk->nchunks == 2 && schunk->nmetalayers == 1);
  CHECK_IS(b2nd_get_slice_cbuffer(array, start, stop, items + 32, stop, 16), 0);
  CHECK(items[32] == 1 && items[34] == 5 && items[36] == 3);
  /* Fewer chunks than the shape requires. */
  CHECK_IS(blosc2_schunk_delete_chunk(schunk, 1), 1);
  CHECK_IS(b2nd_get_slice_cbuffer(array, start, stop, items + 32, stop, 16), 0);
  CHECK_IS(b2nd_to_cbuffer(array, items, 32), BLOSC2_ERROR_FAILURE);
  /* A chunk of another size, and one with other blocks. */
  CHECK_IS(blosc2_schunk_append_buffer(schunk, short_chunk, 8), 2);
  CHECK_IS(b2nd_to_cbuffer(array, items, 32), BLOSC2_ERROR_FAILURE);
  CHECK(b2nd_get_sparse_cbuffer(array, 1, &coord, items, 1) <= 0);
  b2nd_free(array);

  schunk = blosc2_schunk_new(&where);
  bytes[10] = 0x7F;
  bytes[4 + 1] = 0x7F;
  bytes[13 + 1] = 0x7F;
  CHECK_IS(blosc2_meta_add(schunk, "b2nd", bytes, sizeof caterva), 0);
  CHECK_IS(b2nd_from_schunk(schunk, &array), BLOSC2_ERROR_INVALID_PARAM);
  CHECK(array == NULL);
  blosc2_schunk_free(schunk);
  schunk = blosc2_schunk_new(&where);
  CHECK_IS(blosc2_meta_add(schunk, "b2nd", bytes, 20), 0);
  CHECK_IS(b2nd_from_schunk(schunk, &array), BLOSC2_ERROR_FAILURE);
  blosc2_schunk_free(schunk);
}

/* N35, N36, N37: the bytes of the metalayer. */
static void row_n35_row_n36_row_n37_metalayers(void) {
  uint8_t *bytes = NULL;
  int8_t ndim, format;
  int64_t shape[16];
  int32_t chunks[16], blocks[16];
  char *dtype;
  b2nd_array_t *array = example(0);
  int len;

  CHECK_IS(b2nd_serialize_meta(17, shape57, chunks44, blocks22, NULL, 0, &bytes), BLOSC2_ERROR_FAILURE);
  CHECK_IS(b2nd_serialize_meta(-1, shape57, chunks44, blocks22, NULL, 0, &bytes), BLOSC2_ERROR_FAILURE);
  CHECK_IS(b2nd_serialize_meta(2, shape57, chunks44, blocks22, NULL, 0, NULL), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(b2nd_serialize_meta(2, shape57, chunks44, blocks22, NULL, -1, &bytes), BLOSC2_ERROR_FAILURE);
  CHECK(bytes == NULL);
  CHECK_IS(b2nd_serialize_meta(0, NULL, NULL, NULL, NULL, 0, &bytes), 15);
  free(bytes);
  CHECK_IS(b2nd_serialize_meta(2, shape57, chunks44, blocks22, "<i4", 0, &bytes), 53);
  CHECK_IS(b2nd_deserialize_meta(bytes, 53, &ndim, shape, chunks, blocks, &dtype, &format), 53);
  CHECK(ndim == 2 && shape[1] == 7 && chunks[0] == 4 && blocks[1] == 2 && strcmp(dtype, "<i4") == 0);
  free(dtype);
  CHECK_IS(b2nd_deserialize_meta(bytes, 53, &ndim, shape, chunks, blocks, NULL, NULL), 44);
  CHECK_IS(b2nd_deserialize_meta(bytes, 44, &ndim, shape, chunks, blocks, &dtype, &format), 44);
  CHECK(dtype == NULL && format == 0);
  for (len = 0; len < 53; len++) {
    dtype = (char *)bytes;
    CHECK_IS(b2nd_deserialize_meta(bytes, len, &ndim, shape, chunks, blocks, &dtype, &format) > 0, len == 44);
    CHECK(dtype == NULL);
  }
  CHECK_IS(b2nd_deserialize_meta(NULL, 53, &ndim, shape, chunks, blocks, NULL, NULL), BLOSC2_ERROR_NULL_POINTER);
  bytes[2] = 17;
  CHECK_IS(b2nd_deserialize_meta(bytes, 53, &ndim, shape, chunks, blocks, NULL, NULL), BLOSC2_ERROR_FAILURE);
  CHECK_IS(ndim, 0);
  free(bytes);
  CHECK_IS(b2nd_print_meta(array), 0);
  CHECK_IS(b2nd_print_meta(NULL), BLOSC2_ERROR_NULL_POINTER);
  b2nd_free(array);
}

int main(void) {
  begin();
  row_n16_row_n17_resizing();
  row_n19_row_n20_row_n21_growing();
  row_n15_concatenating();
  row_n31_super_chunks_of_views();
  row_n32_views_of_resized_arrays();
  row_n28_to_row_n33_views();
  row_n23_row_n24_refreshing();
  row_n25_row_n26_row_n27_files_and_frames();
  row_n18_row_n41_odd_super_chunks();
  row_n35_row_n36_row_n37_metalayers();
  return end();
}
