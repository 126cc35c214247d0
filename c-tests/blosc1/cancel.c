/* Calls in a thread with pending cancellation: they complete, and the thread ends afterwards. */

#include <blosc.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "../check.h"

enum { SIZE = 1 << 20 };

static uint8_t data[SIZE], chunk[SIZE + BLOSC_MAX_OVERHEAD], back[SIZE];
static bool has_ended, is_right;

static bool work(void) {
  size_t nbytes = 0;
  bool is_same;
  int size;

  blosc_set_nthreads(4);
  size = blosc_compress(5, BLOSC_SHUFFLE, 4, SIZE, data, chunk, sizeof chunk);
  is_same = size > 0 && blosc_cbuffer_validate(chunk, (size_t)size, &nbytes) == 0 && nbytes == SIZE;
  is_same = is_same && blosc_decompress(chunk, back, SIZE) == SIZE && memcmp(data, back, SIZE) == 0;
  size = blosc_compress_ctx(5, BLOSC_BITSHUFFLE, 4, SIZE, data, chunk, sizeof chunk, "zstd", 0, 4);
  is_same = is_same && size > 0 && blosc_decompress_ctx(chunk, back, SIZE, 4) == SIZE &&
            memcmp(data, back, SIZE) == 0 && blosc_getitem(chunk, 10, 2, back) == 8;
  chunk[4] ^= 1;
  setenv("BLOSC_TRACE", "1", 1);
  setenv("BLOSC_WARN", "1", 1);
  is_same = is_same && blosc_decompress(chunk, back, 3) < 0 && blosc_set_compressor("no such codec") < 0;
  return blosc_free_resources() == 0 && is_same;
}

static void *begin(void *argument) {
  pthread_cancel(pthread_self());
  is_right = work();
  has_ended = true;
  pthread_testcancel();
  return argument;
}

int main(void) {
  pthread_t thread;
  void *end = NULL;

  fill_with_data(data, SIZE);
  CHECK(freopen("/dev/null", "w", stderr) != NULL);
  blosc_init();
  CHECK(pthread_create(&thread, NULL, begin, NULL) == 0);
  CHECK(pthread_join(thread, &end) == 0);
  CHECK(has_ended && is_right && end == PTHREAD_CANCELED);
  blosc_destroy();
  return checks_failed();
}
