/*
 * Missing codecs and filters: data are written with a user codec and filter, which are then
 * discarded. Every reading call must report the missing plugin, never BLOSC2_ERROR_FAILURE.
 */

#include "check.h"
#include <b2nd.h>
#include <blosc2.h>
#include <string.h>

enum { ID = 222, SIZE = 10000, ITEMS = SIZE / 4, CAPACITY = SIZE + BLOSC2_MAX_OVERHEAD };

static int32_t data[ITEMS], back[ITEMS];

static int encoder(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                   blosc2_cparams *cparams, const void *chunk) {
  (void)input, (void)input_len, (void)output_len, (void)meta, (void)cparams, (void)chunk;
  memset(output, 1, 8);
  return 8;
}

static int decoder(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                   blosc2_dparams *dparams, const void *chunk) {
  (void)input, (void)input_len, (void)meta, (void)dparams, (void)chunk;
  memset(output, 0, (size_t)output_len);
  return output_len;
}

static int forward(const uint8_t *src, uint8_t *dest, int32_t size, uint8_t meta, blosc2_cparams *cparams, uint8_t id) {
  (void)meta, (void)cparams, (void)id;
  memcpy(dest, src, (size_t)size);
  return 0;
}

static int backward(const uint8_t *src, uint8_t *dest, int32_t size, uint8_t meta, blosc2_dparams *dparams,
                    uint8_t id) {
  (void)meta, (void)dparams, (void)id;
  memcpy(dest, src, (size_t)size);
  return 0;
}

static blosc2_cparams parameters(int of_codec) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  if (of_codec) {
    cparams.compcode = ID;
    cparams.filters[BLOSC2_MAX_FILTERS - 1] = BLOSC_NOFILTER;
  } else {
    cparams.filters[BLOSC2_MAX_FILTERS - 1] = ID;
  }
  return cparams;
}

static void add_plugins(void) {
  blosc2_codec codec = {ID, (char *)"away", ID, 1, encoder, decoder};
  blosc2_filter filter = {ID, (char *)"away", 1, forward, backward};
  CHECK_IS(blosc2_register_codec(&codec), 0);
  CHECK_IS(blosc2_register_filter(&filter), 0);
}

static void read_all(blosc2_schunk *schunk, b2nd_array_t *array, int expected) {
  int64_t start[1] = {3}, stop[1] = {ITEMS - 3}, shape[1] = {ITEMS - 6}, at[1] = {5};
  int64_t *selection[1] = {at}, sizes[1] = {1};
  int32_t some[ITEMS];
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 0, back, SIZE), expected);
  CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 0, ITEMS, back), expected);
  CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 3, 7, back), expected);
  CHECK_IS(blosc2_schunk_set_slice_buffer(schunk, 3, 7, data), expected);
  CHECK_IS(b2nd_get_slice_cbuffer(array, start, stop, some, shape, sizeof(some)), expected);
  CHECK_IS(b2nd_to_cbuffer(array, back, SIZE), expected);
  CHECK_IS(b2nd_get_orthogonal_selection(array, selection, sizes, some, sizes, sizeof(int32_t)), expected);
  CHECK_IS(b2nd_set_slice_cbuffer(data, shape, sizeof(data), start, stop, array), expected);
}

static void storage_of(int of_codec, const char *urlpath, int contiguous, int expected) {
  blosc2_cparams cparams = parameters(of_codec);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_storage storage = {0};
  int64_t shape[1] = {ITEMS};
  int32_t chunkshape[1] = {ITEMS}, blockshape[1] = {ITEMS};
  b2nd_context_t *context;
  b2nd_array_t *array;
  blosc2_schunk *schunk;
  add_plugins();
  storage.contiguous = contiguous != 0;
  storage.urlpath = (char *)urlpath;
  storage.cparams = &cparams;
  storage.dparams = &dparams;
  if (urlpath != NULL) {
    blosc2_remove_urlpath(urlpath);
  }
  context = b2nd_create_ctx(&storage, 1, shape, chunkshape, blockshape, "<i4", DTYPE_NUMPY_FORMAT, NULL, 0);
  CHECK(context != NULL);
  CHECK_IS(b2nd_from_cbuffer(context, &array, data, SIZE), 0);
  b2nd_free_ctx(context);
  /* blosc2_destroy() discards the plugins. */
  if (urlpath != NULL) {
    CHECK_IS(b2nd_free(array), 0);
    blosc2_destroy();
    blosc2_init();
    CHECK_IS(b2nd_open(urlpath, &array), 0);
    schunk = blosc2_schunk_open(urlpath);
    CHECK(schunk != NULL);
    read_all(schunk, array, expected);
    blosc2_schunk_free(schunk);
    CHECK_IS(b2nd_free(array), 0);
    blosc2_remove_urlpath(urlpath);
  } else {
    blosc2_destroy();
    blosc2_init();
    read_all(array->sc, array, expected);
    CHECK_IS(b2nd_free(array), 0);
  }
}

static void chunk_of(int of_codec, int expected) {
  static uint8_t chunk[CAPACITY];
  blosc2_context *context;
  int size;
  add_plugins();
  context = blosc2_create_cctx(parameters(of_codec));
  size = blosc2_compress_ctx(context, data, SIZE, chunk, CAPACITY);
  CHECK(size > 0);
  blosc2_free_ctx(context);
  blosc2_destroy();
  blosc2_init();
  context = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  CHECK_IS(blosc2_decompress_ctx(context, chunk, size, back, SIZE), expected);
  CHECK_IS(blosc2_getitem_ctx(context, chunk, size, 5, 2, back, SIZE), expected);
  blosc2_free_ctx(context);
  CHECK_IS(blosc2_decompress(chunk, size, back, SIZE), expected);
  CHECK_IS(blosc2_getitem(chunk, size, 5, 2, back, SIZE), expected);
}

int main(void) {
  int32_t i;
  blosc2_init();
  for (i = 0; i < ITEMS; i++) {
    /* Compressible: a chunk that is stored raw needs no filter. */
    data[i] = i / 16;
  }
  for (i = 0; i < 2; i++) {
    int expected = i == 0 ? BLOSC2_ERROR_FILTER_PIPELINE : BLOSC2_ERROR_CODEC_SUPPORT;
    chunk_of(i, expected);
    storage_of(i, NULL, 0, expected);
    storage_of(i, NULL, 1, expected);
    storage_of(i, "missing_plugin.b2nd", 1, expected);
    storage_of(i, "missing_plugin.dir", 0, expected);
  }
  blosc2_destroy();
  return checks_failed();
}
