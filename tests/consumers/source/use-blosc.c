/* Uses libblosc as documented in its header. */

#include <blosc.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS = 10000, SIZE = ITEMS * (int)sizeof(int), CAPACITY = SIZE + BLOSC_MAX_OVERHEAD };
static int data[ITEMS], back[ITEMS];
static unsigned char chunk[CAPACITY];

int main(void) {
  int i, size;

  if (strcmp(blosc_get_version_string(), BLOSC_VERSION_STRING) != 0) return 1;
  for (i = 0; i < ITEMS; i++) data[i] = i / 3;
  blosc_init();
  blosc_set_nthreads(2);
  size = blosc_compress(5, BLOSC_SHUFFLE, sizeof(int), SIZE, data, chunk, CAPACITY);
  if (size <= 0 || size > SIZE / 2) return 2;
  if (blosc_decompress(chunk, back, SIZE) != SIZE) return 3;
  if (memcmp(data, back, SIZE) != 0) return 4;
  blosc_destroy();
  printf("libblosc %s: %d bytes became %d\n", BLOSC_VERSION_STRING, (int)SIZE, size);
  return 0;
}
