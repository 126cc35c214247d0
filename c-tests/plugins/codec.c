/* A plugin library with a codec for streams with two equal halves: it stores one with all bits
 * inverted. */

#include <blosc2.h>
#include <blosc2/codecs-registry.h>

int turn(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
         blosc2_cparams *cparams, const void *chunk);
int turn_back(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
              blosc2_dparams *dparams, const void *chunk);

int turn(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
         blosc2_cparams *cparams, const void *chunk) {
  int32_t i, half = input_len / 2;
  (void)meta, (void)chunk;
  if (cparams->typesize != 1 || input_len % 2 != 0 || output_len < half) {
    return 0;
  }
  for (i = 0; i < half; i++) {
    output[i] = (uint8_t)~input[i];
  }
  return half;
}

int turn_back(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
              blosc2_dparams *dparams, const void *chunk) {
  int32_t i;
  (void)meta, (void)dparams, (void)chunk;
  for (i = 0; i < output_len; i++) {
    output[i] = (uint8_t)~input[i % input_len];
  }
  return output_len;
}

codec_info info = {(char *)"turn", (char *)"turn_back"};
