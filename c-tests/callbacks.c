/*
 * User codecs, filters, prefilters, postfilters and tuners: their arguments, and the handling
 * of their results. Rows C14, C37, C39.
 */

#include "check.h"
#include <blosc2.h>
#include <string.h>

enum { SIZE = 64 * 1000, CAPACITY = SIZE + BLOSC2_MAX_OVERHEAD, BLOCK = 16000, CODEC = 200, FILTER = 201 };

static uint8_t data[SIZE], chunk[CAPACITY], back[SIZE];
static int codec_status, filter_status;
static int marker;

/* A codec that halves buffers whose odd bytes are zero. */
static int halve(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len,
                 uint8_t meta, blosc2_cparams *cparams, const void *source) {
  int32_t i;
  CHECK_IS(meta, 42);
  CHECK(cparams->compcode == CODEC && cparams->compcode_meta == 42);
  CHECK(cparams->clevel == 7 && cparams->typesize == 2 && cparams->blocksize == BLOCK);
  CHECK(cparams->codec_params == &marker);
  CHECK(source == data);
  if (codec_status != 0) {
    return codec_status;
  }
  if (output_len < (input_len + 1) / 2) {
    return 0;
  }
  for (i = 0; i < input_len; i++) {
    if (i % 2 == 0) {
      output[i / 2] = input[i];
    } else if (input[i] != 0) {
      return 0;
    }
  }
  return (input_len + 1) / 2;
}

static int unhalve(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len,
                   uint8_t meta, blosc2_dparams *dparams, const void *source) {
  int32_t i;
  CHECK_IS(meta, 42);
  CHECK_IS(input_len, (output_len + 1) / 2);
  CHECK_IS(dparams->typesize, 2);
  CHECK(source == chunk);
  if (codec_status != 0) {
    return codec_status;
  }
  for (i = 0; i < output_len; i++) {
    output[i] = i % 2 == 0 ? input[i / 2] : 0;
  }
  return output_len;
}

static int add_meta(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta,
                    blosc2_cparams *cparams, uint8_t id) {
  int32_t i;
  CHECK(id == FILTER && cparams->filters[4] == FILTER && cparams->filters_meta[4] == meta);
  for (i = 0; i < size; i++) {
    output[i] = (uint8_t)(input[i] + meta);
  }
  return filter_status;
}

static int subtract_meta(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta,
                         blosc2_dparams *dparams, uint8_t id) {
  int32_t i;
  CHECK(id == FILTER && dparams->typesize == 4);
  for (i = 0; i < size; i++) {
    output[i] = (uint8_t)(input[i] - meta);
  }
  return filter_status;
}

static void user_codec(void) {
  blosc2_codec codec = {CODEC, (char *)"halver", CODEC, 7, halve, unhalve};
  blosc2_codec other = codec, nameless = codec;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  const char *name;
  int size, i;

  CHECK_IS(blosc2_register_codec(&codec), 0);
  CHECK_IS(blosc2_register_codec(&codec), 0);
  other.compname = (char *)"other";
  CHECK_IS(blosc2_register_codec(&other), BLOSC2_ERROR_CODEC_PARAM);
  other.compcode = BLOSC2_USER_REGISTERED_CODECS_START - 1;
  CHECK_IS(blosc2_register_codec(&other), BLOSC2_ERROR_CODEC_PARAM);
  nameless.compname = NULL;
  CHECK_IS(blosc2_register_codec(&nameless), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_compname_to_compcode("halver"), CODEC);
  CHECK_IS(blosc2_compcode_to_compname(CODEC, &name), CODEC);
  CHECK(strcmp(name, "halver") == 0);

  for (i = 0; i < SIZE; i++) {
    data[i] = i % 2 == 0 ? (uint8_t)(i / 2) : 0;
  }
  cparams.compcode = CODEC;
  cparams.compcode_meta = 42;
  cparams.clevel = 7;
  cparams.typesize = 2;
  cparams.blocksize = BLOCK;
  cparams.nthreads = 2;
  cparams.splitmode = BLOSC_NEVER_SPLIT;
  cparams.filters[5] = BLOSC_NOFILTER;
  cparams.codec_params = &marker;
  compressor = blosc2_create_cctx(cparams);
  size = blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY);
  CHECK_IS(size, 32 + (SIZE / BLOCK) * (4 + 4 + BLOCK / 2));
  CHECK_IS(chunk[BLOSC2_CHUNK_VERSIONLZ], 7);
  memset(back, 0, SIZE);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE), SIZE);
  CHECK(memcmp(data, back, SIZE) == 0);
  memset(back, 0, SIZE);
  CHECK_IS(blosc2_decompress(chunk, size, back, SIZE), SIZE);
  CHECK(memcmp(data, back, SIZE) == 0);

  codec_status = -1;
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE), BLOSC2_ERROR_DATA);
  CHECK_IS(blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY), BLOSC2_ERROR_DATA);
  codec_status = 0;

  /* Row C14: blosc2_destroy() and blosc2_init() discard the codec. */
  CHECK(blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY) == size);
  blosc2_init();
  blosc2_destroy();
  CHECK_IS(blosc2_compname_to_compcode("halver"), CODEC);
  blosc2_init();
  CHECK_IS(blosc2_compname_to_compcode("halver"), -1);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE), BLOSC2_ERROR_CODEC_SUPPORT);
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
}

static void user_filter(void) {
  blosc2_filter filter = {FILTER, (char *)"adder", 1, add_meta, subtract_meta};
  blosc2_filter other = filter;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  int size;

  fill_with_data(data, SIZE);
  CHECK_IS(blosc2_register_filter(&filter), 0);
  CHECK_IS(blosc2_register_filter(&filter), 0);
  other.name = (char *)"other";
  CHECK_IS(blosc2_register_filter(&other), BLOSC2_ERROR_FAILURE);
  other.id = BLOSC2_USER_REGISTERED_FILTERS_START - 1;
  CHECK_IS(blosc2_register_filter(&other), BLOSC2_ERROR_FAILURE);

  cparams.typesize = 4;
  cparams.nthreads = 2;
  cparams.blocksize = BLOCK;
  cparams.filters[4] = FILTER;
  cparams.filters_meta[4] = 101;
  compressor = blosc2_create_cctx(cparams);
  size = blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY);
  CHECK(size > 0);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE), SIZE);
  CHECK(memcmp(data, back, SIZE) == 0);

  filter_status = 1;
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE),
           BLOSC2_ERROR_FILTER_PIPELINE);
  filter_status = -5;
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE), -5);
  CHECK_IS(blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY), BLOSC2_ERROR_FILTER_PIPELINE);
  filter_status = 0;
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
}

/* Generates the block: each byte is its offset in the chunk. */
static int generate(blosc2_prefilter_params *params) {
  int32_t i;
  CHECK(params->user_data == &marker);
  CHECK(params->output_size > 0 && params->output_typesize == 4);
  CHECK_IS(params->output_offset, params->nblock * BLOCK);
  CHECK_IS(params->nchunk, -1);
  CHECK(params->ctx != NULL && params->ttmp != NULL && params->ttmp_nbytes >= BLOCK);
  for (i = 0; i < params->output_size; i += 4) {
    int32_t position = params->output_offset + i;
    memcpy(params->output + i, &position, 4);
  }
  return 0;
}

static int refuse_before(blosc2_prefilter_params *params) {
  BLOSC_UNUSED_PARAM(params);
  return 1;
}

/* Doubles each item. */
static int twice(blosc2_postfilter_params *params) {
  int32_t i, item;
  CHECK(params->user_data == &marker);
  CHECK(params->typesize == 4 && params->ctx != NULL);
  CHECK_IS(params->offset, params->nblock * BLOCK);
  for (i = 0; i < params->size; i += 4) {
    memcpy(&item, params->input + i, 4);
    item *= 2;
    memcpy(params->output + i, &item, 4);
  }
  return 0;
}

static int refuse_after(blosc2_postfilter_params *params) {
  BLOSC_UNUSED_PARAM(params);
  return 1;
}

static void prefilter_and_postfilter(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS, seen;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_prefilter_params preparams = {0};
  blosc2_postfilter_params postparams = {0};
  blosc2_context *compressor, *decompressor;
  int32_t i, item, few[10];
  int size;

  preparams.user_data = &marker;
  postparams.user_data = &marker;
  cparams.typesize = 4;
  cparams.nthreads = 2;
  cparams.blocksize = BLOCK;
  cparams.prefilter = generate;
  cparams.preparams = &preparams;
  compressor = blosc2_create_cctx(cparams);
  /* The context has a copy. */
  preparams.user_data = NULL;
  CHECK_IS(blosc2_ctx_get_cparams(compressor, &seen), 0);
  CHECK(seen.prefilter == generate && seen.preparams != &preparams);
  CHECK(seen.preparams->user_data == &marker);
  size = blosc2_compress_ctx(compressor, NULL, SIZE, chunk, CAPACITY);
  CHECK(size > 0);
  blosc2_free_ctx(compressor);

  dparams.nthreads = 2;
  dparams.postfilter = twice;
  dparams.postparams = &postparams;
  decompressor = blosc2_create_dctx(dparams);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE), SIZE);
  for (i = 0; i < SIZE; i += 4) {
    memcpy(&item, back + i, 4);
    if (item != 2 * i) {
      CHECK_IS(item, 2 * i);
      break;
    }
  }
  CHECK_IS(blosc2_getitem_ctx(decompressor, chunk, size, 5000, 10, few, sizeof few), sizeof few);
  CHECK(few[0] == 2 * 4 * 5000 && few[9] == 2 * 4 * 5009);
  blosc2_free_ctx(decompressor);

  cparams.prefilter = refuse_before;
  compressor = blosc2_create_cctx(cparams);
  CHECK_IS(blosc2_compress_ctx(compressor, data, SIZE, back, SIZE), BLOSC2_ERROR_FILTER_PIPELINE);
  blosc2_free_ctx(compressor);
  dparams.postfilter = refuse_after;
  decompressor = blosc2_create_dctx(dparams);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE), BLOSC2_ERROR_POSTFILTER);
  blosc2_free_ctx(decompressor);

  /* Filters without parameters. */
  cparams.preparams = NULL;
  CHECK(blosc2_create_cctx(cparams) == NULL);
  dparams.postparams = NULL;
  CHECK(blosc2_create_dctx(dparams) == NULL);
}

static int tuner_inits, tuner_calls, tuner_status;

static int tuner_init(void *config, blosc2_context *cctx, blosc2_context *dctx) {
  CHECK(config == &marker && cctx != NULL && dctx == NULL);
  tuner_inits++;
  return tuner_status;
}

static int tuner_next(blosc2_context *context) {
  blosc2_cparams cparams;
  CHECK_IS(blosc2_ctx_get_cparams(context, &cparams), 0);
  CHECK_IS(cparams.clevel, 3);
  tuner_calls++;
  return tuner_status;
}

static int tuner_update(blosc2_context *context, double seconds) {
  CHECK(context == NULL && seconds < 0 && "never called");
  return 0;
}

static void user_tuner(void) {
  blosc2_tuner tuner = {tuner_init, tuner_next, tuner_next, tuner_update, tuner_next, 180,
                        (char *)"mine"};
  blosc2_tuner other = tuner;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_context *compressor;

  cparams.tuner_id = 180;
  cparams.tuner_params = &marker;
  cparams.clevel = 3;
  CHECK(blosc2_create_cctx(cparams) == NULL);
  CHECK_IS(blosc2_register_tuner(&tuner), 0);
  CHECK_IS(blosc2_register_tuner(&tuner), 0);
  other.name = (char *)"other";
  CHECK_IS(blosc2_register_tuner(&other), BLOSC2_ERROR_FAILURE);
  other.id = BLOSC2_USER_REGISTERED_TUNER_START - 1;
  CHECK_IS(blosc2_register_tuner(&other), BLOSC2_ERROR_FAILURE);
  other.id = 300;
  CHECK_IS(blosc2_register_tuner(&other), 0);

  compressor = blosc2_create_cctx(cparams);
  CHECK_IS(tuner_inits, 1);
  CHECK(blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY) > 0);
  CHECK(blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY) > 0);
  CHECK_IS(tuner_calls, 2);
  tuner_status = -1;
  CHECK_IS(blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY), BLOSC2_ERROR_TUNER);
  CHECK(blosc2_create_cctx(cparams) == NULL);
  tuner_status = 0;
  CHECK_IS(tuner_calls, 3);
  blosc2_init();
  blosc2_destroy();
  blosc2_init();
  CHECK_IS(blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(tuner_calls, 3);
  blosc2_free_ctx(compressor);
  cparams.tuner_id = -3;
  compressor = blosc2_create_cctx(cparams);
  CHECK(compressor != NULL);
  blosc2_free_ctx(compressor);
}

static int jobs_run;

static void one_after_another(void *user, void (*dojob)(void *), int count, size_t size, void *jobs) {
  int i;
  CHECK(user == &marker);
  CHECK_IS(count, 4);
  for (i = 0; i < count; i++) {
    dojob((uint8_t *)jobs + (size_t)i * size);
    jobs_run++;
  }
}

static void user_threads(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor;
  int size;

  cparams.typesize = 4;
  cparams.blocksize = BLOCK;
  cparams.nthreads = dparams.nthreads = 4;
  cparams.filters[4] = BLOSC_DELTA;
  compressor = blosc2_create_cctx(cparams);
  decompressor = blosc2_create_dctx(dparams);
  blosc2_set_threads_callback(one_after_another, &marker);
  size = blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY);
  CHECK(size > 0);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE), SIZE);
  CHECK(memcmp(data, back, SIZE) == 0);
  CHECK(jobs_run >= 8);
  /* Row C57: without the callback, existing contexts use the library's threads again. */
  blosc2_set_threads_callback(NULL, NULL);
  jobs_run = 0;
  CHECK_IS(blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY), size);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE), SIZE);
  CHECK_IS(jobs_run, 0);
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
}

int main(void) {
  user_codec();
  user_filter();
  prefilter_and_postfilter();
  user_tuner();
  user_threads();
  return checks_failed();
}
