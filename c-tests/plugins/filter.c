/* A plugin library with a filter that adds its parameter to each byte. */

#include <blosc2.h>
#include <blosc2/filters-registry.h>

int add(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta, blosc2_cparams *cparams, uint8_t id);
int subtract(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta, blosc2_dparams *dparams,
             uint8_t id);

int add(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta, blosc2_cparams *cparams, uint8_t id) {
  int32_t i;
  (void)cparams, (void)id;
  for (i = 0; i < size; i++) {
    output[i] = (uint8_t)(input[i] + meta);
  }
  return 0;
}

int subtract(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta, blosc2_dparams *dparams,
             uint8_t id) {
  int32_t i;
  (void)dparams, (void)id;
  for (i = 0; i < size; i++) {
    output[i] = (uint8_t)(input[i] - meta);
  }
  return 0;
}

filter_info info = {(char *)"add", (char *)"subtract"};
