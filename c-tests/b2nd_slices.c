/* Arrays: creation, slices and selections; rows N1 to N14, N22 and S33. */

#include "arrays.h"

/* N1, N2, N4, N6, N42: a failed creation sets the pointer to NULL. */
static void row_n1_row_n2_no_array_after_errors(void) {
  static const int64_t shape5[] = {5}, shape2g[] = {INT32_MAX}, shape30[] = {3, 0};
  static const int32_t zero[] = {0}, zeros[] = {0, 0}, four[] = {4}, large[] = {INT32_MAX}, one[] = {1};
  b2nd_array_t *const mark = (b2nd_array_t *)&folder, *array = mark;
  b2nd_context_t *ctx = context_in(0, 1, 1, shape5, four, four);
  uint8_t items[ITEMS] = {0};

  CHECK_IS(b2nd_empty(NULL, &array), BLOSC2_ERROR_NULL_POINTER);
  CHECK(array == NULL);
  CHECK_IS(b2nd_empty(ctx, NULL), BLOSC2_ERROR_NULL_POINTER);
  array = mark;
  CHECK_IS(b2nd_full(ctx, &array, NULL), BLOSC2_ERROR_NULL_POINTER);
  CHECK(array == NULL);
  array = mark;
  CHECK_IS(b2nd_from_cbuffer(ctx, &array, items, 4), BLOSC2_ERROR_INVALID_PARAM);
  CHECK(array == NULL);
  CHECK_IS(b2nd_from_cbuffer(ctx, &array, NULL, 5), BLOSC2_ERROR_NULL_POINTER);
  /* row_n6_ NaNs have 4 or 8 bytes. */
  array = mark;
  CHECK_IS(b2nd_nans(ctx, &array), BLOSC2_ERROR_DATA);
  CHECK(array == NULL);
  CHECK_IS(b2nd_free_ctx(ctx), 0);
  CHECK_IS(b2nd_free_ctx(NULL), BLOSC2_ERROR_NULL_POINTER);
  CHECK_IS(b2nd_free(NULL), BLOSC2_ERROR_NULL_POINTER);

  /* row_n4_ items along a dimension with chunks of length 0. */
  ctx = context_in(0, 1, 1, shape5, zero, zero);
  CHECK(ctx != NULL);
  array = mark;
  CHECK_IS(b2nd_zeros(ctx, &array), BLOSC2_ERROR_INVALID_PARAM);
  CHECK(array == NULL);
  b2nd_free_ctx(ctx);
  /* Also in an array without items. */
  ctx = context_in(0, 1, 2, shape30, zeros, zeros);
  CHECK(ctx != NULL);
  array = mark;
  CHECK_IS(b2nd_zeros(ctx, &array), BLOSC2_ERROR_INVALID_PARAM);
  CHECK(array == NULL);
  b2nd_free_ctx(ctx);
  /* A chunk of INT32_MAX bytes is too large by 32 bytes. */
  ctx = context_in(0, 1, 1, shape2g, large, one);
  CHECK_IS(b2nd_empty(ctx, &array), BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED);
  b2nd_free_ctx(ctx);
  ctx = context_in(0, 1, 1, shape2g, large, large);
  CHECK_IS(b2nd_empty(ctx, &array), BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED);
  b2nd_free_ctx(ctx);
}

static void row_n42_blocks_are_not_too_large(void) {
  static const int64_t shape[] = {536866817};
  static const int32_t whole[] = {536866817};
  int storage;
  for (storage = 0; storage < STORAGES; storage++) {
    b2nd_array_t *array = (b2nd_array_t *)&folder;
    b2nd_context_t *ctx = context_in(storage, 1, 1, shape, whole, whole);
    CHECK_IS(b2nd_empty(ctx, &array), BLOSC2_ERROR_INVALID_PARAM);
    CHECK(array == NULL);
    /* No file remains. */
    CHECK(access(last_path(), F_OK) != 0);
    b2nd_free_ctx(ctx);
  }
}

static void row_n6_existing_paths_are_left_alone(void) {
  int storage;
  for (storage = 2; storage < STORAGES; storage++) {
    b2nd_context_t *ctx = context_in(storage, 1, 2, shape57, chunks44, blocks22);
    b2nd_array_t *first, *second;
    uint8_t nothing[ITEMS] = {0};
    CHECK_IS(b2nd_zeros(ctx, &first), 0);
    CHECK_IS(b2nd_zeros(ctx, &second), BLOSC2_ERROR_FAILURE);
    CHECK(second == NULL);
    CHECK(is(first, 2, shape57, nothing));
    CHECK_IS(b2nd_free(first), 0);
    b2nd_free_ctx(ctx);
  }
}

/* N3, N5: user metalayers. */
static void row_n3_row_n5_metalayers(void) {
  blosc2_metalayer layers[16];
  char names[16][8], long_name[] = "a name of more than 31 characters";
  uint8_t content[] = {1, 2, 3}, *found = NULL;
  int32_t len = 0;
  b2nd_context_t *ctx;
  b2nd_array_t *array;
  int i;

  for (i = 0; i < 16; i++) {
    sprintf(names[i], "m%d", i);
    layers[i].name = names[i];
    layers[i].content = content;
    layers[i].content_len = sizeof content;
  }
  CHECK(b2nd_create_ctx(NULL, 2, shape57, chunks44, blocks22, "<i8", 0, layers, 16) == NULL);
  ctx = b2nd_create_ctx(NULL, 2, shape57, chunks44, blocks22, "<i8", 0, layers, 15);
  CHECK_IS(b2nd_zeros(ctx, &array), 0);
  CHECK_IS(blosc2_meta_exists(array->sc, "b2nd"), 0);
  CHECK_IS(blosc2_meta_exists(array->sc, "m14"), 15);
  CHECK_IS(blosc2_meta_get(array->sc, "m0", &found, &len), 1);
  CHECK(len == 3 && memcmp(found, content, 3) == 0);
  CHECK(strcmp(array->dtype, "<i8") == 0);
  free(found);
  b2nd_free(array);
  b2nd_free_ctx(ctx);
  layers[0].name = long_name;
  ctx = b2nd_create_ctx(NULL, 2, shape57, chunks44, blocks22, NULL, 0, layers, 1);
  CHECK_IS(b2nd_zeros(ctx, &array), BLOSC2_ERROR_FAILURE);
  b2nd_free_ctx(ctx);
  strcpy(names[0], "b2nd");
  layers[0].name = names[0];
  ctx = b2nd_create_ctx(NULL, 2, shape57, chunks44, blocks22, NULL, 0, layers, 1);
  CHECK_IS(b2nd_zeros(ctx, &array), BLOSC2_ERROR_FAILURE);
  b2nd_free_ctx(ctx);
}

/* The public fields, and the order of items in chunks. */
static void fields_and_offsets(void) {
  static const uint8_t chunk1[] = {5, 6, 12, 13, 7, 0, 14, 0, 19, 20, 26, 27, 21, 0, 28, 0};
  b2nd_array_t *array = example(0);
  uint8_t chunk[16];

  CHECK_IS(array->nitems, 35);
  CHECK_IS(array->extnitems, 64);
  CHECK_IS(array->extshape[1], 8);
  CHECK_IS(array->extshape[2], 1);
  CHECK_IS(array->chunk_array_strides[0], 32);
  CHECK_IS(array->sc->nchunks, 4);
  CHECK_IS(array->sc->chunksize, 16);
  CHECK_IS(array->sc->nbytes, 64);
  CHECK_IS(array->chunk_cache.nchunk, -1);
  CHECK(strcmp(array->dtype, "|S1") == 0);
  CHECK_IS(blosc2_schunk_decompress_chunk(array->sc, 1, chunk, 16), 16);
  CHECK(memcmp(chunk, chunk1, 16) == 0);
  b2nd_free(array);
}

/* N7, N8, N9, N11, N12 */
static void row_n7_row_n8_slices(void) {
  static const uint8_t inside[] = {10, 11, 12, 13, 0, 0, 17, 18, 19, 20, 0, 0};
  int64_t start[] = {1, 2}, stop[] = {3, 6}, wide[] = {3, 6};
  int storage;

  for (storage = 0; storage < STORAGES; storage++) {
    b2nd_array_t *array = example(storage);
    uint8_t buffer[64], all[ITEMS + 5], before[ITEMS];
    int64_t chunk[] = {4, 4}, at[] = {0, 5}, over[] = {4, 9}, small[] = {2, 3};
    int64_t edge[] = {4, 4}, far[] = {8, 8}, negative[] = {-1, 0};
    int i;

    memset(buffer, 0xEE, sizeof buffer);
    CHECK_IS(b2nd_get_slice_cbuffer(array, start, stop, buffer, wide, 20), 0);
    CHECK(memcmp(buffer, inside, sizeof inside) == 0);
    CHECK(buffer[19] == 0 && buffer[20] == 0xEE);

    CHECK_IS(b2nd_get_slice_cbuffer(array, negative, stop, buffer, wide, 20), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_slice_cbuffer(array, stop, start, buffer, wide, 20), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_set_slice_cbuffer(buffer, wide, 20, stop, start, array), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_slice_cbuffer(array, start, stop, buffer, small, 20), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_slice_cbuffer(array, start, stop, buffer, wide, 7), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_slice_cbuffer(array, start, stop, buffer, wide, -1), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_slice_cbuffer(array, NULL, stop, buffer, wide, 20), BLOSC2_ERROR_NULL_POINTER);
    CHECK_IS(b2nd_set_slice_cbuffer(buffer, NULL, 20, start, stop, array), BLOSC2_ERROR_NULL_POINTER);
    CHECK_IS(b2nd_get_slice_cbuffer(array, start, start, buffer, wide, 0), 0);

    /* Reads outside of the shape return zeros. Writes outside are refused. */
    memset(buffer, 0xEE, sizeof buffer);
    CHECK_IS(b2nd_get_slice_cbuffer(array, edge, far, buffer, chunk, 16), 0);
    CHECK(buffer[0] == 33 && buffer[2] == 35 && buffer[3] == 0 && buffer[4] == 0 && buffer[15] == 0);
    CHECK_IS(b2nd_to_cbuffer(array, before, ITEMS), 0);
    for (i = 0; i < 16; i++) {
      buffer[i] = (uint8_t)(100 + i);
    }
    CHECK_IS(b2nd_set_slice_cbuffer(buffer, chunk, 16, at, over, array), BLOSC2_ERROR_FAILURE);
    CHECK(is(array, 2, shape57, before));

    /* row_n12_ the padding after the items is zeroed. */
    memset(all, 0xEE, sizeof all);
    CHECK_IS(b2nd_to_cbuffer(array, all, ITEMS + 5), 0);
    CHECK(memcmp(all, before, ITEMS) == 0 && all[ITEMS] == 0 && all[ITEMS + 4] == 0);
    CHECK_IS(b2nd_to_cbuffer(array, all, ITEMS - 1), BLOSC2_ERROR_INVALID_PARAM);
    b2nd_free(array);
  }
}

/* Reads after the last chunk and all writes outside of the shape fail without changes. */
static void slices_outside_are_refused(void) {
  static const int64_t shape[] = {10, 6};
  static const int32_t chunks[] = {4, 4}, blocks[] = {2, 2};
  /* Start and stop in both dimensions, and the result of a read. */
  static const int64_t cases[][5] = {
      {0, 2, 4, 7, 0},    {0, 2, 4, 8, 0},   {8, 11, 0, 2, 0}, {8, 12, 0, 2, 0},  {8, 13, 0, 2, -1},
      {0, 10, 0, 9, -1},  {0, 13, 0, 6, -1}, {9, 17, 0, 6, -1}, {20, 22, 0, 2, 0}, {8, 11, 4, 7, 0},
      {INT64_MAX - 1, INT64_MAX, 0, 1, 0},   {9, INT64_MAX, 0, 0, 0}};
  uint8_t before[60], buffer[256];
  int storage;
  size_t i;

  for (storage = 0; storage < 3; storage++) {
    b2nd_context_t *ctx = context_in(storage, 1, 2, shape, chunks, blocks);
    b2nd_array_t *array;

    for (i = 0; i < sizeof before; i++) {
      before[i] = (uint8_t)(i + 1);
    }
    CHECK_IS(b2nd_from_cbuffer(ctx, &array, before, sizeof before), 0);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      int64_t start[] = {cases[i][0], cases[i][2]}, stop[] = {cases[i][1], cases[i][3]};
      int64_t wide[] = {stop[0] - start[0], stop[1] - start[1]};
      int is_empty = wide[0] == 0 || wide[1] == 0;

      CHECK_IS(b2nd_get_slice_cbuffer(array, start, stop, buffer, wide, sizeof buffer), cases[i][4]);
      CHECK_IS(b2nd_set_slice_cbuffer(buffer, wide, sizeof buffer, start, stop, array),
               is_empty ? 0 : BLOSC2_ERROR_FAILURE);
      CHECK_IS(b2nd_to_cbuffer(array, buffer, sizeof before), 0);
      CHECK(memcmp(buffer, before, sizeof before) == 0);
    }
    b2nd_free(array);
    b2nd_free_ctx(ctx);
  }
}

static void row_n9_a_chunk_goes_into_a_wider_buffer(void) {
  static const int64_t shape[] = {8, 8};
  static const int32_t chunks[] = {4, 4}, blocks[] = {1, 4};
  int64_t stop[] = {4, 4}, wide[] = {4, 6};
  b2nd_context_t *ctx = context_in(0, 1, 2, shape, chunks, blocks);
  b2nd_array_t *array;
  uint8_t buffer[24], found[24];
  int i, j;

  for (i = 0; i < 24; i++) {
    buffer[i] = (uint8_t)(i + 1);
  }
  CHECK_IS(b2nd_zeros(ctx, &array), 0);
  CHECK_IS(b2nd_set_slice_cbuffer(buffer, wide, 24, origin, stop, array), 0);
  CHECK_IS(b2nd_get_slice_cbuffer(array, origin, stop, found, wide, 24), 0);
  for (i = 0; i < 4; i++) {
    for (j = 0; j < 6; j++) {
      CHECK_IS(found[6 * i + j], j < 4 ? 6 * i + j + 1 : 0);
    }
  }
  b2nd_free(array);
  b2nd_free_ctx(ctx);
}

static void row_n10_unwritten_items_read_as_zeros(void) {
  b2nd_context_t *ctx = context_in(0, 1, 2, shape57, chunks44, blocks22);
  b2nd_array_t *array;
  int64_t start[] = {1, 1}, stop[] = {3, 5}, shape[] = {2, 4};
  uint8_t found[8], nothing[ITEMS] = {0}, one = 9;
  CHECK_IS(b2nd_uninit(ctx, &array), 0);
  memset(found, 0xEE, 8);
  CHECK_IS(b2nd_get_slice_cbuffer(array, start, stop, found, shape, 8), 0);
  CHECK(memcmp(found, nothing, 8) == 0);
  stop[0] = stop[1] = 2;
  CHECK_IS(b2nd_set_slice_cbuffer(&one, shape, 1, start, stop, array), 0);
  nothing[8] = 9;
  CHECK(is(array, 2, shape57, nothing));
  b2nd_free(array);
  b2nd_free_ctx(ctx);
}

static void row_n11_arrays_without_dimensions(void) {
  int storage;
  for (storage = 0; storage < STORAGES; storage++) {
    b2nd_context_t *ctx = context_in(storage, 4, 0, NULL, NULL, NULL);
    b2nd_array_t *array;
    int32_t item = 0x01020304, found = 0;
    CHECK_IS(b2nd_from_cbuffer(ctx, &array, &item, 4), 0);
    CHECK_IS(array->sc->nchunks, 1);
    CHECK_IS(b2nd_get_slice_cbuffer(array, origin, origin, &found, origin, 3), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_slice_cbuffer(array, origin, origin, &found, origin, 4), 0);
    CHECK_IS(found, item);
    item = 7;
    CHECK_IS(b2nd_set_slice_cbuffer(&item, origin, 4, origin, origin, array), 0);
    CHECK_IS(b2nd_to_cbuffer(array, &found, 4), 0);
    CHECK_IS(found, 7);
    CHECK_IS(b2nd_resize(array, origin, NULL), 0);
    CHECK_IS(b2nd_append(array, &item, 4, 0), BLOSC2_ERROR_INVALID_PARAM);
    b2nd_free(array);
    b2nd_free_ctx(ctx);
  }
}

/* N13, N14: copies and slices as arrays. */
static void row_n13_row_n14_copies(void) {
  static const int32_t chunks32[] = {3, 2}, blocks11[] = {1, 1};
  static const uint8_t inner[] = {9, 10, 11, 12, 16, 17, 18, 19};
  int64_t start[] = {1, 1}, stop[] = {3, 5}, shape24[] = {2, 4};
  int storage;

  for (storage = 0; storage < STORAGES; storage++) {
    b2nd_array_t *array = example(storage), *copy, *part;
    b2nd_context_t *ctx = context_in((storage + 1) % STORAGES, 1, 2, shape57, chunks32, blocks11);
    uint8_t items[ITEMS], *content = NULL;
    int32_t len = 0;

    CHECK_IS(b2nd_to_cbuffer(array, items, ITEMS), 0);
    CHECK_IS(blosc2_vlmeta_add(array->sc, "note", (uint8_t *)"hello", 5, NULL), 0);
    CHECK_IS(b2nd_copy(ctx, array, &copy), 0);
    CHECK(is(copy, 2, shape57, items));
    CHECK_IS(copy->chunkshape[1], 2);
    /* row_n43_ variable-length metalayers are copied. */
    CHECK_IS(blosc2_vlmeta_get(copy->sc, "note", &content, &len), 0);
    CHECK(len == 5 && memcmp(content, "hello", 5) == 0);
    free(content);
    b2nd_free(copy);
    b2nd_free_ctx(ctx);

    ctx = context_in((storage + 1) % STORAGES, 1, 2, shape57, chunks32, blocks11);
    CHECK_IS(b2nd_get_slice(ctx, &part, array, start, stop), 0);
    CHECK(is(part, 2, shape24, inner));
    CHECK_IS(part->sc->nvlmetalayers, 0);
    b2nd_free(part);
    CHECK_IS(b2nd_get_slice(ctx, &part, array, stop, start), BLOSC2_ERROR_INVALID_PARAM);
    b2nd_free_ctx(ctx);

    ctx = context_in(0, 4, 2, shape57, chunks44, blocks22);
    CHECK_IS(b2nd_copy(ctx, array, &copy), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_slice(ctx, &copy, array, start, stop), BLOSC2_ERROR_INVALID_PARAM);
    b2nd_free_ctx(ctx);

    /* The struct has the context's dtype, the frame that of the source. */
    {
      blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
      blosc2_storage where = BLOSC2_STORAGE_DEFAULTS;
      cparams.typesize = 1;
      where.cparams = &cparams;
      ctx = b2nd_create_ctx(&where, 2, shape57, chunks44, blocks22, "|i1", 0, NULL, 0);
      CHECK_IS(b2nd_copy(ctx, array, &copy), 0);
      CHECK(strcmp(copy->dtype, "|i1") == 0);
      CHECK_IS(copy->last_tick, 0);
      CHECK_IS(blosc2_meta_get(copy->sc, "b2nd", &content, &len), 0);
      CHECK(len == 53 && memcmp(content + 50, "|S1", 3) == 0);
      free(content);
      CHECK(is(copy, 2, shape57, items));
      b2nd_free(copy);
      b2nd_free_ctx(ctx);
    }
    /* A copy has the metalayers of the source; later arrays have those of the context. */
    {
      blosc2_storage where = BLOSC2_STORAGE_DEFAULTS;
      blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
      uint8_t mine[] = {1, 2, 3};
      blosc2_metalayer layer = {(char *)"mine", mine, sizeof mine};
      cparams.typesize = 1;
      where.cparams = &cparams;
      ctx = b2nd_create_ctx(&where, 2, shape57, chunks32, blocks11, "|u1", 0, &layer, 1);
      CHECK_IS(b2nd_copy(ctx, array, &copy), 0);
      CHECK_IS(copy->sc->nmetalayers, 1);
      b2nd_free(copy);
      CHECK_IS(b2nd_zeros(ctx, &copy), 0);
      CHECK_IS(blosc2_meta_get(copy->sc, "mine", &content, &len), 1);
      CHECK(len == 3 && memcmp(content, mine, 3) == 0);
      free(content);
      b2nd_free(copy);
      b2nd_free_ctx(ctx);
    }
    b2nd_free(array);
  }
}

static void row_n22_selections(void) {
  static const uint8_t picked[] = {35, 30, 7, 2, 7, 2};
  int storage;
  for (storage = 0; storage < STORAGES; storage++) {
    b2nd_array_t *array = example(storage);
    int64_t rows[] = {4, 0, 0}, columns[] = {6, 1}, bad[] = {7, 1}, negative[] = {-1, 1};
    int64_t *selection[] = {rows, columns}, *wrong[] = {rows, bad}, *below[] = {rows, negative};
    int64_t sizes[] = {3, 2}, none[] = {3, 0}, most[] = {3, INT64_MAX};
    int64_t coords[] = {34, 0, 7, 7, 12};
    uint8_t found[8], expected[] = {35, 1, 8, 8, 13}, put[] = {101, 102, 103, 104, 105, 106};

    CHECK_IS(b2nd_get_orthogonal_selection(array, selection, sizes, found, sizes, 6), 0);
    CHECK(memcmp(found, picked, 6) == 0);
    CHECK_IS(b2nd_get_orthogonal_selection(array, wrong, sizes, found, sizes, 6), BLOSC2_ERROR_INVALID_INDEX);
    CHECK_IS(b2nd_get_orthogonal_selection(array, below, sizes, found, sizes, 6), BLOSC2_ERROR_INVALID_INDEX);
    CHECK_IS(b2nd_get_orthogonal_selection(array, selection, sizes, found, sizes, 5), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_orthogonal_selection(array, selection, sizes, found, sizes, 7), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_orthogonal_selection(array, selection, none, found, none, 0), 0);
    /* More indices than the address space holds. */
    CHECK_IS(b2nd_get_orthogonal_selection(array, selection, most, found, most, 6), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_set_orthogonal_selection(array, selection, most, put, most, 6), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_orthogonal_selection(array, selection, sizes, NULL, sizes, 6), BLOSC2_ERROR_NULL_POINTER);
    CHECK_IS(b2nd_set_orthogonal_selection(array, selection, sizes, put, sizes, 6), 0);
    CHECK_IS(b2nd_get_orthogonal_selection(array, selection, sizes, found, sizes, 6), 0);
    /* Row 0 was written twice; the later values remain. */
    CHECK(found[0] == 101 && found[1] == 102 && found[2] == 105 && found[3] == 106 && found[5] == 106);

    CHECK_IS(b2nd_get_sparse_cbuffer(array, 0, NULL, NULL, 0), 0);
    CHECK_IS(b2nd_get_sparse_cbuffer(array, -1, coords, found, 8), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_sparse_cbuffer(array, 5, coords, found, 4), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_sparse_cbuffer(array, 5, NULL, found, 8), BLOSC2_ERROR_NULL_POINTER);
    CHECK_IS(b2nd_get_sparse_cbuffer(array, 5, coords, found, 8), 0);
    expected[0] = 101;
    CHECK(memcmp(found, expected, 5) == 0);
    coords[0] = 35;
    CHECK_IS(b2nd_get_sparse_cbuffer(array, 5, coords, found, 8), BLOSC2_ERROR_INVALID_PARAM);
    b2nd_free(array);
  }
  {
    b2nd_context_t *ctx = context_in(0, 4, 0, NULL, NULL, NULL);
    b2nd_array_t *array;
    int64_t *selection[] = {NULL}, sizes[] = {0}, coord = 0;
    int32_t item;
    CHECK_IS(b2nd_zeros(ctx, &array), 0);
    CHECK_IS(b2nd_get_orthogonal_selection(array, selection, sizes, &item, sizes, 4), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_sparse_cbuffer(array, 1, &coord, &item, 4), BLOSC2_ERROR_INVALID_PARAM);
    b2nd_free(array);
    b2nd_free_ctx(ctx);
  }
}

static void row_n39_chunks_of_slices(void) {
  int64_t start[] = {3, 3}, stop[] = {5, 5}, inside[] = {3, 5}, *chunks = NULL;
  int storage;
  for (storage = 0; storage < STORAGES; storage++) {
    b2nd_array_t *array = example(storage);
    CHECK_IS(blosc2_get_slice_nchunks(array->sc, start, stop, &chunks), 4);
    CHECK(chunks != NULL && chunks[0] == 0 && chunks[1] == 1 && chunks[2] == 2 && chunks[3] == 3);
    free(chunks);
    /* An empty slice inside a chunk counts this chunk. */
    CHECK_IS(blosc2_get_slice_nchunks(array->sc, start, inside, &chunks), 2);
    CHECK(chunks != NULL && chunks[1] == 1);
    free(chunks);
    CHECK_IS(blosc2_get_slice_nchunks(array->sc, NULL, stop, &chunks), BLOSC2_ERROR_NULL_POINTER);
    /* A slice that starts after the last item counts no chunk, also inside the last chunk. */
    start[1] = array->shape[1];
    CHECK(start[1] % array->chunkshape[1] != 0);
    CHECK_IS(blosc2_get_slice_nchunks(array->sc, start, array->shape, &chunks), 0);
    CHECK_IS(blosc2_get_slice_nchunks(array->sc, start, array->extshape, &chunks), 0);
    CHECK(chunks == NULL);
    start[1] = 3;
    b2nd_free(array);
  }
}

static void row_s33_slices_outside_have_the_chunks_of_the_array(void) {
  int64_t start[] = {0, 4}, stop[] = {100, INT64_MAX}, negative[] = {-5, 0}, *chunks = NULL;
  int storage;
  for (storage = 0; storage < STORAGES; storage++) {
    b2nd_array_t *array = example(storage);
    CHECK_IS(blosc2_get_slice_nchunks(array->sc, start, stop, &chunks), 2);
    CHECK(chunks != NULL && chunks[0] == 1 && chunks[1] == 3);
    free(chunks);
    CHECK_IS(blosc2_get_slice_nchunks(array->sc, negative, stop, &chunks), BLOSC2_ERROR_INVALID_PARAM);
    CHECK(chunks == NULL);
    b2nd_free(array);
  }
}

static void row_n34_boxes_between_buffers(void) {
  static const int64_t from[] = {1, 1}, to[] = {3, 3}, less[] = {0, 3}, shape[] = {3, 4}, at[] = {0, 1};
  uint8_t src[12], dst[12] = {0}, expected[12] = {0, 6, 7, 0, 0, 10, 11, 0};
  int i;
  for (i = 0; i < 12; i++) {
    src[i] = (uint8_t)(i + 1);
  }
  CHECK_IS(b2nd_copy_buffer2(2, 1, src, shape, from, to, dst, shape, at), 0);
  CHECK(memcmp(dst, expected, 12) == 0);
  CHECK_IS(b2nd_copy_buffer2(2, 1, src, shape, from, less, dst, shape, at), 0);
  CHECK_IS(b2nd_copy_buffer2(2, 1, src, shape, from, from, dst, shape, at), 0);
  CHECK(memcmp(dst, expected, 12) == 0);
  CHECK_IS(b2nd_copy_buffer2(0, 4, src, NULL, NULL, NULL, dst, NULL, NULL), 0);
  CHECK(memcmp(dst, src, 4) == 0 && dst[4] == 0);
}

int main(void) {
  begin();
  row_n1_row_n2_no_array_after_errors();
  row_n42_blocks_are_not_too_large();
  row_n6_existing_paths_are_left_alone();
  row_n3_row_n5_metalayers();
  fields_and_offsets();
  row_n7_row_n8_slices();
  slices_outside_are_refused();
  row_n9_a_chunk_goes_into_a_wider_buffer();
  row_n10_unwritten_items_read_as_zeros();
  row_n11_arrays_without_dimensions();
  row_n13_row_n14_copies();
  row_n22_selections();
  row_n39_chunks_of_slices();
  row_s33_slices_outside_have_the_chunks_of_the_array();
  row_n34_boxes_between_buffers();
  return end();
}
