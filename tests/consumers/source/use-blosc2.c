/* Uses libblosc2 as documented in its header; valid C and C++, like all files in this directory. */

#include <b2nd.h>
#include <blosc2.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS = 10000, NBYTES = ITEMS * (int)sizeof(int32_t), CAPACITY = NBYTES + BLOSC2_MAX_OVERHEAD };
static int32_t data[ITEMS], back[ITEMS];
static unsigned char chunk[CAPACITY];

int main(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_context *context;
  int i, size;

  if (strcmp(blosc2_get_version_string(), BLOSC2_VERSION_STRING) != 0) return 1;
  for (i = 0; i < ITEMS; i++) data[i] = i / 3;
  blosc2_init();
  cparams.typesize = sizeof(int32_t);
  cparams.compcode = BLOSC_ZSTD;
  cparams.nthreads = 2;
  context = blosc2_create_cctx(cparams);
  size = blosc2_compress_ctx(context, data, NBYTES, chunk, CAPACITY);
  blosc2_free_ctx(context);
  if (size <= 0 || size > NBYTES / 2) return 2;
  if (blosc2_decompress(chunk, size, back, NBYTES) != NBYTES) return 3;
  if (memcmp(data, back, NBYTES) != 0) return 4;
  blosc2_destroy();
  printf("libblosc2 %s: %d bytes became %d\n", BLOSC2_VERSION_STRING, (int)NBYTES, size);
  return 0;
}
