/*
 * A panic inside of the library is caught at its boundary: the call returns an error, and the
 * library remains usable.
 *
 * The test provokes a panic with a callback that forks while another thread works on the same
 * job: the child lacks that thread, so the job cannot be completed there.
 */

#include "check.h"
#include <blosc2.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1 << 20 };

static uint8_t data[SIZE], chunk[SIZE + BLOSC2_MAX_OVERHEAD], back[SIZE];
static pthread_t caller;
static bool is_shared, has_forked;
static pid_t child = -1;

static int fork_while_shared(blosc2_prefilter_params *params) {
  memcpy(params->output, params->input, (size_t)params->output_size);
  if (!pthread_equal(pthread_self(), caller)) {
    __atomic_store_n(&is_shared, true, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&has_forked, __ATOMIC_SEQ_CST)) {
      usleep(100);
    }
  } else if (!has_forked) {
    while (!__atomic_load_n(&is_shared, __ATOMIC_SEQ_CST)) {
      usleep(100);
    }
    child = fork();
    if (child == 0) {
      alarm(60);
      CHECK(freopen("/dev/null", "w", stderr) != NULL);
    }
    __atomic_store_n(&has_forked, true, __ATOMIC_SEQ_CST);
  }
  return 0;
}

static bool round_trip(blosc2_context *context) {
  int size = blosc2_compress_ctx(context, data, SIZE, chunk, sizeof chunk);
  memset(back, 0, SIZE);
  return size > 0 && blosc2_decompress(chunk, size, back, SIZE) == SIZE && memcmp(data, back, SIZE) == 0;
}

int main(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_prefilter_params preparams;
  blosc2_context *context, *plain;
  int code, status;

  alarm(120);
  fill_with_data(data, SIZE);
  cparams.typesize = 4;
  cparams.nthreads = 2;
  cparams.blocksize = 1 << 14;
  plain = blosc2_create_cctx(cparams);
  memset(&preparams, 0, sizeof preparams);
  cparams.prefilter = fork_while_shared;
  cparams.preparams = &preparams;
  context = blosc2_create_cctx(cparams);
  caller = pthread_self();

  code = blosc2_compress_ctx(context, data, SIZE, chunk, sizeof chunk);
  if (child == 0) {
    bool is_right = code == BLOSC2_ERROR_FAILURE && round_trip(plain);
    _exit(is_right ? 0 : 1);
  }
  CHECK(code > 0);
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK_IS(status, 0);
  CHECK(round_trip(plain));
  blosc2_free_ctx(context);
  blosc2_free_ctx(plain);
  blosc2_destroy();
  return checks_failed();
}
