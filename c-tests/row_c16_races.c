/*
 * Row C16: threads initialise, destroy, register and compress concurrently without errors.
 */

#include "check.h"
#include <blosc2.h>
#include <pthread.h>
#include <string.h>

enum { SIZE = 200 * 1000, CAPACITY = SIZE + BLOSC2_MAX_OVERHEAD, ROUNDS = 30 };

static uint8_t data[SIZE];

static int encode(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len,
                  uint8_t meta, blosc2_cparams *cparams, const void *chunk) {
  BLOSC_UNUSED_PARAM(input);
  BLOSC_UNUSED_PARAM(input_len);
  BLOSC_UNUSED_PARAM(output);
  BLOSC_UNUSED_PARAM(output_len);
  BLOSC_UNUSED_PARAM(meta);
  BLOSC_UNUSED_PARAM(cparams);
  BLOSC_UNUSED_PARAM(chunk);
  return 0;
}

static int decode(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len,
                  uint8_t meta, blosc2_dparams *dparams, const void *chunk) {
  BLOSC_UNUSED_PARAM(dparams);
  return encode(input, input_len, output, output_len, meta, NULL, chunk);
}

static void *begin_and_end(void *bad) {
  int round;
  BLOSC_UNUSED_PARAM(bad);
  for (round = 0; round < ROUNDS; round++) {
    blosc2_init();
    blosc2_set_nthreads((int16_t)(1 + round % 4));
    blosc2_free_resources();
    blosc2_destroy();
  }
  return NULL;
}

/* No other thread changes these settings, and changes of others must not undo them. */
static void *change_settings(void *bad) {
  static const char *const names[] = {"lz4", "blosclz", "zlib"};
  int round;
  for (round = 0; round < ROUNDS * 20; round++) {
    const char *name = names[round % 3];
    int blocksize = round % 2 * 1024;
    blosc1_set_compressor(name);
    blosc1_set_blocksize((size_t)blocksize);
    blosc1_set_splitmode(BLOSC_ALWAYS_SPLIT + round % 4);
    *(int *)bad += strcmp(blosc1_get_compressor(), name) != 0;
    *(int *)bad += blosc1_get_blocksize() != blocksize;
    *(int *)bad += blosc2_get_nthreads() < 1 || blosc2_get_nthreads() > 4;
  }
  return NULL;
}

static void *register_codecs(void *bad) {
  blosc2_codec codec = {200, (char *)"mine", 200, 1, encode, decode};
  int round;
  for (round = 0; round < ROUNDS * 20; round++) {
    const char *name;
    codec.compcode = (uint8_t)(200 + round % 50);
    *(int *)bad += blosc2_register_codec(&codec) != 0;
    blosc2_compcode_to_compname(codec.compcode, &name);
    *(int *)bad += name != NULL && strcmp(name, "mine") != 0;
  }
  return NULL;
}

static void *with_context(void *bad) {
  uint8_t *chunk = malloc(CAPACITY), *back = malloc(SIZE);
  int round;
  for (round = 0; round < ROUNDS; round++) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    blosc2_context *compressor, *decompressor;
    int size;
    cparams.typesize = 4;
    cparams.nthreads = dparams.nthreads = (int16_t)(1 + round % 4);
    compressor = blosc2_create_cctx(cparams);
    decompressor = blosc2_create_dctx(dparams);
    size = blosc2_compress_ctx(compressor, data, SIZE, chunk, CAPACITY);
    *(int *)bad += blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE) != SIZE;
    *(int *)bad += memcmp(data, back, SIZE) != 0;
    blosc2_free_ctx(compressor);
    blosc2_free_ctx(decompressor);
  }
  free(chunk);
  free(back);
  return NULL;
}

static void *without_context(void *bad) {
  uint8_t *chunk = malloc(CAPACITY), *back = malloc(SIZE);
  int round;
  for (round = 0; round < ROUNDS; round++) {
    int size = blosc2_compress(5, BLOSC_SHUFFLE, 4, data, SIZE, chunk, CAPACITY);
    *(int *)bad += blosc2_decompress(chunk, size, back, SIZE) != SIZE;
    *(int *)bad += memcmp(data, back, SIZE) != 0;
  }
  free(chunk);
  free(back);
  return NULL;
}

int main(void) {
  void *(*const work[])(void *) = {begin_and_end,   register_codecs, with_context,
                                   with_context,    without_context, without_context,
                                   change_settings, begin_and_end};
  enum { THREADS = sizeof work / sizeof *work };
  pthread_t threads[THREADS];
  int bad[THREADS] = {0}, i;

  fill_with_data(data, SIZE);
  for (i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&threads[i], NULL, work[i], &bad[i]) == 0);
  }
  for (i = 0; i < THREADS; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_IS(bad[i], 0);
  }
  return checks_failed();
}
