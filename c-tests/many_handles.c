/*
 * Processes, handles and threads at random on one super-chunk: all calls at once, in each storage. Chunks are of
 * one value each and metalayers of one letter, so that whatever is torn shows. Files are locked between handles;
 * what is in memory has one handle, used by all threads. HANDLES_SECONDS makes it longer.
 */

#include "check.h"
#include <b2nd.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, PROCESSES = 2, STORAGES = 4, ITEMS = 700, SIZE = ITEMS * 4, LAYERS = 4 };

static char folder[] = P_tmpdir "/ferroblosc-handles-XXXXXX";
static char path[sizeof folder + 8];
static double seconds = 0.7;
static blosc2_schunk *handles[2];

/* What all processes did. */
static struct counts {
  long calls, wrong, unexpected, chunks_added, last_code, last_call;
} *counts;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static void count(long *counter, long change) { __atomic_fetch_add(counter, change, __ATOMIC_SEQ_CST); }

/* Whether the items are one value, and one that is ever written. */
static void judge(const int32_t *items, int len) {
  int i;
  for (i = 1; i < len; i++) {
    if (items[i] != items[0]) {
      break;
    }
  }
  if (i < len || items[0] % 1000 != 7) {
    count(&counts->wrong, 1);
  }
}

/* Chunks come and go beside each call, so a number may be none's by now. */
static bool worked(int call, int64_t code) {
  count(&counts->calls, 1);
  if (code >= 0) {
    return true;
  }
  if (code != BLOSC2_ERROR_INVALID_PARAM && code != BLOSC2_ERROR_FAILURE && code != BLOSC2_ERROR_NOT_FOUND &&
      code != BLOSC2_ERROR_CHUNK_INSERT && code != BLOSC2_ERROR_CHUNK_UPDATE && code != BLOSC2_ERROR_DATA) {
    count(&counts->unexpected, 1);
    counts->last_code = (long)code;
    counts->last_call = call;
  }
  return false;
}

static void one_call(blosc2_schunk *schunk, uint32_t *seed) {
  int32_t items[ITEMS], number = (int32_t)(next_random(seed) % 100000) * 1000 + 7;
  uint8_t chunk[SIZE + BLOSC2_MAX_OVERHEAD], *lent, content[400];
  int64_t nchunks = schunk->nchunks, nchunk = nchunks > 0 ? next_random(seed) % (uint32_t)nchunks : 0, from;
  int call = (int)(next_random(seed) % 20), i;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_context *context;
  char name[8];
  int32_t len;
  bool needs_free;

  sprintf(name, "v%u", next_random(seed) % LAYERS);
  len = 1 + (int32_t)(next_random(seed) % sizeof content);
  memset(content, 'a' + (int)(next_random(seed) % 26), sizeof content);
  for (i = 0; i < ITEMS; i++) {
    items[i] = number;
  }
  cparams.typesize = 4;
  context = blosc2_create_cctx(cparams);
  i = blosc2_compress_ctx(context, items, SIZE, chunk, sizeof chunk);
  blosc2_free_ctx(context);
  switch (call) {
    case 0:
      if (worked(call, blosc2_schunk_append_buffer(schunk, items, SIZE))) count(&counts->chunks_added, 1);
      break;
    case 1:
      if (worked(call, blosc2_schunk_insert_chunk(schunk, nchunk, chunk, true))) count(&counts->chunks_added, 1);
      break;
    case 2:
    case 3:
      if (nchunks > 5 && worked(call, blosc2_schunk_delete_chunk(schunk, nchunk))) count(&counts->chunks_added, -1);
      break;
    case 4:
      worked(call, blosc2_schunk_update_chunk(schunk, nchunk, chunk, true));
      break;
    case 5:
      worked(call, blosc2_schunk_set_slice_buffer(schunk, nchunk * ITEMS, (nchunk + 1) * ITEMS, items));
      break;
    case 6:
      if (blosc2_vlmeta_exists(schunk, name) < 0) {
        worked(call, blosc2_vlmeta_add(schunk, name, content, len, NULL));
      }
      break;
    case 7:
      worked(call, blosc2_vlmeta_update(schunk, name, content, len, NULL));
      break;
    case 8:
      worked(call, blosc2_vlmeta_delete(schunk, name));
      break;
    case 9:
    case 10:
      if (worked(call, blosc2_vlmeta_get(schunk, name, &lent, &len))) {
        if (len < 1 || lent[0] != lent[len - 1]) count(&counts->wrong, 1);
        free(lent);
      }
      break;
    case 11:
    case 12:
    case 13:
      if (worked(call, blosc2_schunk_decompress_chunk(schunk, nchunk, items, SIZE))) judge(items, ITEMS);
      break;
    case 14:
    case 15:
      from = nchunk * ITEMS + next_random(seed) % (ITEMS - 40);
      if (worked(call, blosc2_schunk_get_slice_buffer(schunk, from, from + 40, items))) judge(items, 40);
      break;
    case 16:
      from = nchunk * ITEMS + next_random(seed) % ITEMS;
      if (worked(call, blosc2_schunk_get_sparse_buffer(schunk, 1, &from, items))) judge(items, 1);
      break;
    case 17:
      i = next_random(seed) % 2 == 0 ? blosc2_schunk_get_lazychunk(schunk, nchunk, &lent, &needs_free)
                                     : blosc2_schunk_get_chunk(schunk, nchunk, &lent, &needs_free);
      if (worked(call, i) && needs_free) free(lent);
      break;
    case 18:
      worked(call, blosc2_schunk_refresh(schunk));
      break;
    default:
      if (next_random(seed) % 20 == 0) {
        blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
        blosc2_schunk *copy;
        storage.contiguous = next_random(seed) % 2 == 0;
        copy = blosc2_schunk_copy(schunk, &storage);
        if (copy != NULL && copy->nchunks > 0 && blosc2_schunk_decompress_chunk(copy, 0, items, SIZE) == SIZE) {
          judge(items, ITEMS);
        }
        blosc2_schunk_free(copy);
      }
  }
}

static void *work(void *argument) {
  uint32_t seed = (uint32_t)(size_t)argument * 7919u;
  double end = now() + seconds;
  while (now() < end) {
    one_call(handles[(size_t)argument % 2], &seed);
  }
  return NULL;
}

static void run_threads(size_t process) {
  pthread_t threads[THREADS];
  size_t i;
  for (i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&threads[i], NULL, work, (void *)(process * THREADS + i + 1)) == 0);
  }
  for (i = 0; i < THREADS; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0);
  }
}

static void all_calls_at_once(int storage, int nthreads) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_storage where = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *schunk;
  int32_t items[ITEMS];
  int64_t nchunk;
  int i, status;
  bool is_on_disk = storage >= 2;

  memset(counts, 0, sizeof *counts);
  cparams.typesize = 4;
  cparams.nthreads = dparams.nthreads = (int16_t)nthreads;
  where.cparams = &cparams;
  where.dparams = &dparams;
  where.contiguous = storage % 2 == 1;
  where.urlpath = is_on_disk ? path : NULL;
  schunk = blosc2_schunk_new(&where);
  for (i = 0; i < ITEMS; i++) {
    items[i] = 7;
  }
  for (i = 0; i < 10; i++) {
    CHECK_IS(blosc2_schunk_append_buffer(schunk, items, SIZE), i + 1);
  }
  handles[0] = handles[1] = schunk;
  if (is_on_disk) {
    CHECK_IS(blosc2_schunk_free(schunk), 0);
    fflush(stdout);
    for (i = 1; i <= PROCESSES; i++) {
      if (fork() == 0) {
        checks_bad = 0;
        handles[0] = blosc2_schunk_open(path);
        handles[1] = blosc2_schunk_open(path);
        run_threads((size_t)i);
        blosc2_schunk_free(handles[0]);
        blosc2_schunk_free(handles[1]);
        fflush(stdout);
        _exit(checks_bad == 0 ? 0 : 1);
      }
    }
    for (i = 1; i <= PROCESSES; i++) {
      CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    schunk = blosc2_schunk_open(path);
    CHECK(schunk != NULL);
  } else {
    run_threads(0);
  }
  CHECK_IS(counts->wrong, 0);
  CHECK_IS(counts->unexpected, 0);
  if (counts->unexpected > 0) {
    printf("storage %d: call %ld gave %ld\n", storage, counts->last_call, counts->last_code);
  }
  CHECK(counts->calls > 0);
  CHECK_IS(schunk->nchunks, 10 + counts->chunks_added);
  counts->wrong = 0;
  for (nchunk = 0; nchunk < schunk->nchunks; nchunk++) {
    CHECK_IS(blosc2_schunk_decompress_chunk(schunk, nchunk, items, SIZE), SIZE);
    judge(items, ITEMS);
  }
  CHECK_IS(counts->wrong, 0);
  if (getenv("HANDLES_SECONDS") != NULL) {
    printf("storage %d, %d threads a call: %ld calls\n", storage, nthreads, counts->calls);
  }
  CHECK_IS(blosc2_schunk_free(schunk), 0);
  blosc2_remove_urlpath(path);
}

/* Each process sets items of its own in one chunk. */
static void processes_set_items_of_one_chunk(bool is_contiguous) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage where = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *schunk;
  int32_t items[ITEMS], i, process, status;

  cparams.typesize = 4;
  where.cparams = &cparams;
  where.contiguous = is_contiguous;
  where.urlpath = path;
  memset(items, 0, sizeof items);
  schunk = blosc2_schunk_new(&where);
  CHECK_IS(blosc2_schunk_append_buffer(schunk, items, SIZE), 1);
  fflush(stdout);
  for (process = 0; process < 3; process++) {
    if (fork() == 0) {
      blosc2_schunk *own = blosc2_schunk_open(path);
      int code = own == NULL ? -1 : 0;
      for (i = process; code == 0 && i < ITEMS; i += 3) {
        code = blosc2_schunk_set_slice_buffer(own, i, i + 1, &i);
      }
      _exit(code == 0 ? 0 : 1);
    }
  }
  for (process = 0; process < 3; process++) {
    CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  CHECK(blosc2_schunk_refresh(schunk) >= 0);
  CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 0, ITEMS, items), 0);
  for (i = 0; i < ITEMS && items[i] == i; i++) {
  }
  CHECK_IS(i, ITEMS);
  CHECK_IS(blosc2_schunk_free(schunk), 0);
  blosc2_remove_urlpath(path);
}

/* A handle that knows chunks of one size meets a short one in the middle. */
static void slices_are_not_read_by_an_old_size_of_chunks(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage where = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *writer, *reader;
  int32_t items[ITEMS] = {0}, found[ITEMS];
  int64_t at = ITEMS + 20;

  cparams.typesize = 4;
  where.cparams = &cparams;
  where.contiguous = true;
  where.urlpath = path;
  writer = blosc2_schunk_new(&where);
  CHECK_IS(blosc2_schunk_append_buffer(writer, items, SIZE), 1);
  CHECK_IS(blosc2_schunk_append_buffer(writer, items, SIZE), 2);
  reader = blosc2_schunk_open(path);
  CHECK_IS(blosc2_schunk_append_buffer(writer, items, 40), 3);
  CHECK_IS(blosc2_schunk_append_buffer(writer, items, SIZE), 4);
  CHECK(blosc2_schunk_get_slice_buffer(reader, at, at + 9, found) < 0);
  CHECK_IS(blosc2_schunk_free(reader), 0);
  CHECK_IS(blosc2_schunk_free(writer), 0);
  blosc2_remove_urlpath(path);
}

int main(void) {
  const char *asked = getenv("HANDLES_SECONDS");
  int storage;
  if (asked != NULL) {
    seconds = atof(asked);
  }
  alarm(60 + 20 * (unsigned)seconds);
  CHECK_IS(setenv("BLOSC_LOCKING", "1", 1), 0);
  blosc2_init();
  counts = (struct counts *)mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(counts != MAP_FAILED && mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/object", folder);
  for (storage = 0; storage < STORAGES; storage++) {
    all_calls_at_once(storage, 1);
    all_calls_at_once(storage, 2);
  }
  processes_set_items_of_one_chunk(false);
  processes_set_items_of_one_chunk(true);
  slices_are_not_read_by_an_old_size_of_chunks();
  CHECK_IS(rmdir(folder), 0);
  blosc2_destroy();
  return checks_failed();
}
