/*
 * Chunks with variable-length blocks.
 */

#include "check.h"
#include <blosc2.h>
#include <string.h>

enum { BLOCKS = 5, CAPACITY = 100 * 1000 };

int main(void) {
  static const int32_t sizes[BLOCKS] = {1, 1000, 7, 40000, 333};
  static uint8_t data[50000], chunk[CAPACITY], back[50000];
  const void *blocks[BLOCKS];
  void *made[BLOCKS];
  int32_t made_sizes[BLOCKS], total = 0, number;
  uint8_t *one;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  int size, i;

  fill_with_data(data, sizeof data);
  for (i = 0; i < BLOCKS; i++) {
    blocks[i] = data + total;
    total += sizes[i];
  }
  cparams.typesize = 1;
  cparams.compcode = BLOSC_LZ4;
  compressor = blosc2_create_cctx(cparams);
  size = blosc2_vlcompress_ctx(compressor, blocks, sizes, BLOCKS, chunk, CAPACITY);
  CHECK(size > 0 && size < total);
  CHECK_IS(chunk[BLOSC2_CHUNK_VERSION], BLOSC2_VERSION_FORMAT_VL_BLOCKS);
  CHECK_IS(blosc2_vlchunk_get_nblocks(chunk, size, &number), 0);
  CHECK_IS(number, BLOCKS);

  CHECK_IS(blosc2_vldecompress_ctx(decompressor, chunk, size, made, made_sizes, BLOCKS), BLOCKS);
  for (i = 0; i < BLOCKS; i++) {
    CHECK_IS(made_sizes[i], sizes[i]);
    CHECK(memcmp(made[i], blocks[i], (size_t)sizes[i]) == 0);
    free(made[i]);
  }
  CHECK_IS(blosc2_vldecompress_block_ctx(decompressor, chunk, size, 3, &one, &number), sizes[3]);
  CHECK_IS(number, sizes[3]);
  CHECK(memcmp(one, blocks[3], (size_t)sizes[3]) == 0);
  free(one);
  CHECK_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, sizeof back), total);
  CHECK(memcmp(back, data, (size_t)total) == 0);

  CHECK_IS(blosc2_vldecompress_block_ctx(decompressor, chunk, size, BLOCKS, &one, &number),
           BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_vldecompress_block_ctx(decompressor, chunk, size, -1, &one, &number),
           BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_vldecompress_block_ctx(compressor, chunk, size, 0, &one, &number),
           BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_vldecompress_ctx(decompressor, chunk, size, made, made_sizes, BLOCKS - 1),
           BLOSC2_ERROR_INVALID_PARAM);
  /* A truncated chunk allocates no buffer. */
  made[0] = data;
  CHECK(blosc2_vldecompress_ctx(decompressor, chunk, size - 1, made, made_sizes, BLOCKS) < 0);
  CHECK(made[0] == NULL);
  /* Row C25: a destination that is too small results in 0, not in a crash. */
  for (i = 32; i < size; i += checks_are_quick() ? 16 : 1) {
    CHECK_IS(blosc2_vlcompress_ctx(compressor, blocks, sizes, BLOCKS, back, i), 0);
  }
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
  return checks_failed();
}
