/*
 * A super-chunk or array in several threads: concurrent readers, a writer with readers, calls
 * from callbacks, file locks, and a child forked during calls. SHARING_ROUNDS sets the number of rounds.
 */

#include "check.h"
#include <b2nd.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, KINDS = 5, MAPPED = 4, ROWS = 60, COLUMNS = 80, PART = 20 };
enum { NITEMS = 1000, NBYTES = NITEMS * 4, KEPT = 3 };

static char folder[] = P_tmpdir "/ferroblosc-sharing-XXXXXX";
static char path[sizeof folder + 8];
static long rounds = 60;
static b2nd_array_t *array;
static blosc2_schunk *shared;
static volatile bool stop;
static long failures, reads;

static void note(bool is_right) {
  if (is_right) {
    __atomic_fetch_add(&reads, 1, __ATOMIC_RELAXED);
  } else {
    __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
  }
}

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

/* Sparse chunks in memory, a frame in memory, a directory, a file, a file that readers map. */
static blosc2_storage storage_of(int kind, blosc2_cparams *cparams, blosc2_dparams *dparams, int threads) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  *cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams->typesize = 4;
  cparams->nthreads = (int16_t)threads;
  *dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams->nthreads = (int16_t)threads;
  storage.cparams = cparams;
  storage.dparams = dparams;
  storage.contiguous = kind % 2 == 1 || kind == MAPPED;
  storage.urlpath = kind >= 2 ? path : NULL;
  return storage;
}

/* ---- readers alone --------------------------------------------------------------------------- */

static bool read_slice(uint32_t *seed) {
  int64_t start[2], stop_at[2], shape[2];
  int32_t items[PART * PART];
  int i, j;
  start[0] = next_random(seed) % (ROWS - PART), start[1] = next_random(seed) % (COLUMNS - PART);
  for (i = 0; i < 2; i++) {
    shape[i] = 1 + next_random(seed) % PART;
    stop_at[i] = start[i] + shape[i];
  }
  if (b2nd_get_slice_cbuffer(array, start, stop_at, items, shape, shape[0] * shape[1] * 4) < 0) {
    return false;
  }
  for (i = 0; i < shape[0]; i++) {
    for (j = 0; j < shape[1]; j++) {
      if (items[i * shape[1] + j] != (start[0] + i) * COLUMNS + start[1] + j) {
        return false;
      }
    }
  }
  return true;
}

static bool read_selection(uint32_t *seed) {
  int64_t rows[3], columns[2], *selection[2], sizes[] = {3, 2}, shape[] = {3, 2};
  int64_t coordinates[2];
  int32_t items[6], pair[2];
  rows[0] = next_random(seed) % ROWS, rows[1] = rows[0] / 2, rows[2] = rows[0] / 3;
  columns[0] = next_random(seed) % COLUMNS, columns[1] = columns[0] / 2;
  selection[0] = rows, selection[1] = columns;
  coordinates[0] = rows[0] * COLUMNS + columns[0], coordinates[1] = coordinates[0] / 2;
  return b2nd_get_orthogonal_selection(array, selection, sizes, items, shape, sizeof items) >= 0 &&
         items[0] == rows[0] * COLUMNS + columns[0] && items[5] == rows[2] * COLUMNS + columns[1] &&
         b2nd_get_sparse_cbuffer(array, 2, coordinates, pair, sizeof pair) >= 0 &&
         pair[0] == coordinates[0] && pair[1] == coordinates[1];
}

static bool read_chunks(uint32_t *seed, int32_t *whole) {
  blosc2_schunk *schunk = array->sc;
  int64_t nchunk = next_random(seed) % (uint32_t)schunk->nchunks;
  int32_t first = (int32_t)(nchunk / 4 * 20 * COLUMNS + nchunk % 4 * 24), some[4];
  int64_t item = nchunk * (schunk->chunksize / 4);
  uint8_t *chunk = NULL;
  bool needs_free = false, is_right;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *context;
  int size;

  if (blosc2_schunk_decompress_chunk(schunk, nchunk, whole, schunk->chunksize) != schunk->chunksize ||
      whole[0] != first) {
    return false;
  }
  if (blosc2_schunk_get_slice_buffer(schunk, item, item + 4, some) < 0 || memcmp(some, whole, 16) != 0) {
    return false;
  }
  if (blosc2_schunk_get_sparse_buffer(schunk, 1, &item, some) < 0 || some[0] != first) {
    return false;
  }
  size = nchunk % 2 == 0 ? blosc2_schunk_get_chunk(schunk, nchunk, &chunk, &needs_free)
                         : blosc2_schunk_get_lazychunk(schunk, nchunk, &chunk, &needs_free);
  dparams.schunk = schunk;
  context = blosc2_create_dctx(dparams);
  is_right = size > 0 &&
             blosc2_decompress_ctx(context, chunk, size, whole, schunk->chunksize) == schunk->chunksize &&
             whole[0] == first;
  blosc2_free_ctx(context);
  if (needs_free) {
    free(chunk);
  }
  return is_right;
}

static bool read_metalayers(void) {
  uint8_t *content = NULL;
  int32_t len = 0;
  bool is_right = blosc2_vlmeta_get(array->sc, "v", &content, &len) >= 0 && len == 5 &&
                  memcmp(content, "hello", 5) == 0 && blosc2_vlmeta_exists(array->sc, "w") < 0;
  free(content);
  return is_right;
}

static void *read_array(void *argument) {
  uint32_t seed = (uint32_t)(size_t)argument;
  int32_t *whole = (int32_t *)malloc((size_t)array->sc->chunksize);
  long round;
  for (round = 0; round < rounds; round++) {
    note(read_slice(&seed));
    note(read_selection(&seed));
    note(read_chunks(&seed, whole));
    note(read_metalayers());
  }
  free(whole);
  return NULL;
}

static void run_threads(void *(*work)(void *), void *(*other)(void *)) {
  pthread_t threads[THREADS];
  int i;
  for (i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&threads[i], NULL, i == 0 ? other : work, (void *)(size_t)(i + 1)) == 0);
  }
  for (i = 0; i < THREADS; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0);
  }
}

static void any_number_of_threads_read(int kind, int threads) {
  static const int64_t shape[] = {ROWS, COLUMNS};
  static const int32_t chunks[] = {20, 24}, blocks[] = {10, 8};
  static blosc2_stdio_mmap mapping;
  static int32_t items[ROWS * COLUMNS];
  blosc2_cparams cparams;
  blosc2_dparams dparams;
  blosc2_storage storage = storage_of(kind, &cparams, &dparams, threads);
  b2nd_context_t *context = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, NULL, 0, NULL, 0);
  int i;

  for (i = 0; i < ROWS * COLUMNS; i++) {
    items[i] = i;
  }
  CHECK_IS(b2nd_from_cbuffer(context, &array, items, sizeof items), 0);
  CHECK(blosc2_vlmeta_add(array->sc, "v", (uint8_t *)"hello", 5, NULL) >= 0);
  if (kind == MAPPED) {
    blosc2_io io = BLOSC2_IO_DEFAULTS;
    mapping = BLOSC2_STDIO_MMAP_DEFAULTS;
    io.id = BLOSC2_IO_FILESYSTEM_MMAP;
    io.params = &mapping;
    b2nd_free(array);
    CHECK_IS(b2nd_from_schunk(blosc2_schunk_open_udio(path, &io), &array), 0);
  }
  failures = reads = 0;
  run_threads(read_array, read_array);
  CHECK_IS(failures, 0);
  CHECK_IS(reads, THREADS * rounds * 4);
  b2nd_free(array);
  b2nd_free_ctx(context);
  blosc2_remove_urlpath(path);
}

/* ---- a writer and readers -------------------------------------------------------------------- */

/* All items of a chunk are equal. */
static void fill(int32_t *items, int32_t value) {
  int i;
  for (i = 0; i < NITEMS; i++) {
    items[i] = value;
  }
}

static bool is_uniform(const int32_t *items, int count) {
  int i;
  for (i = 1; i < count; i++) {
    if (items[i] != items[0]) {
      return false;
    }
  }
  return true;
}

static void *read_changing(void *argument) {
  uint32_t seed = (uint32_t)(size_t)argument;
  int32_t items[NITEMS];
  while (!stop) {
    /* The first chunks are never deleted. */
    int64_t nchunk = next_random(&seed) % KEPT;
    uint8_t *content = NULL, *chunk;
    int32_t len;
    bool needs_free;
    int number;
    note(blosc2_schunk_decompress_chunk(shared, nchunk, items, NBYTES) == NBYTES && is_uniform(items, NITEMS));
    note(blosc2_schunk_get_slice_buffer(shared, nchunk * NITEMS, nchunk * NITEMS + 50, items) == 0 &&
         is_uniform(items, 50));
    number = blosc2_vlmeta_get(shared, "v", &content, &len);
    note(number >= 0 && (len == 3 || len == 300) && content[0] == content[len - 1]);
    free(content);
    number = blosc2_schunk_get_lazychunk(shared, nchunk, &chunk, &needs_free);
    note(number > 0);
    if (number > 0 && needs_free) {
      free(chunk);
    }
    if (next_random(&seed) % 50 == 0) {
      blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
      blosc2_schunk *copy = blosc2_schunk_copy(shared, &storage);
      note(copy != NULL && copy->nchunks >= KEPT);
      blosc2_schunk_free(copy);
    }
  }
  return NULL;
}

static void *change(void *argument) {
  uint32_t seed = 77;
  int32_t items[NITEMS];
  uint8_t content[300];
  long round;
  (void)argument;
  for (round = 0; round < rounds * 3 || reads < rounds * 10; round++) {
    int64_t nchunks = shared->nchunks, nchunk = next_random(&seed) % KEPT;
    uint8_t chunk[NBYTES + BLOSC2_MAX_OVERHEAD];
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    blosc2_context *context;
    cparams.typesize = 4;
    context = blosc2_create_cctx(cparams);
    fill(items, (int32_t)next_random(&seed));
    CHECK(blosc2_compress_ctx(context, items, NBYTES, chunk, sizeof chunk) > 0);
    blosc2_free_ctx(context);
    switch (next_random(&seed) % 6) {
      case 0:
        CHECK_IS(blosc2_schunk_append_buffer(shared, items, NBYTES), nchunks + 1);
        break;
      case 1:
        CHECK_IS(blosc2_schunk_update_chunk(shared, nchunk, chunk, true), nchunks);
        break;
      case 2:
        CHECK_IS(blosc2_schunk_insert_chunk(shared, nchunk, chunk, true), nchunks + 1);
        break;
      case 3:
        CHECK_IS(blosc2_schunk_set_slice_buffer(shared, nchunk * NITEMS, (nchunk + 1) * NITEMS, items), 0);
        break;
      case 4:
        memset(content, (int)(round % 200), sizeof content);
        CHECK(blosc2_vlmeta_update(shared, "v", content, round % 2 == 0 ? 3 : 300, NULL) >= 0);
        break;
      default:
        if (nchunks > KEPT) {
          CHECK_IS(blosc2_schunk_delete_chunk(shared, nchunks - 1), nchunks - 1);
        }
    }
  }
  stop = true;
  return NULL;
}

static blosc2_schunk *new_shared(int kind) {
  blosc2_cparams cparams;
  blosc2_dparams dparams;
  blosc2_storage storage = storage_of(kind, &cparams, &dparams, 1);
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  int32_t items[NITEMS];
  int i;
  for (i = 0; i < KEPT; i++) {
    fill(items, i);
    CHECK_IS(blosc2_schunk_append_buffer(schunk, items, NBYTES), i + 1);
  }
  CHECK(blosc2_vlmeta_add(schunk, "v", (uint8_t *)"aaa", 3, NULL) >= 0);
  return schunk;
}

static void a_writer_and_readers_take_turns(int kind) {
  shared = new_shared(kind);
  stop = false;
  failures = reads = 0;
  run_threads(read_changing, change);
  CHECK_IS(failures, 0);
  CHECK(reads > 0);
  blosc2_schunk_free(shared);
  blosc2_remove_urlpath(path);
}

static void *append_and_add(void *argument) {
  int32_t items[NITEMS];
  long round;
  fill(items, (int32_t)(size_t)argument);
  for (round = 0; round < rounds; round++) {
    note(blosc2_schunk_append_buffer(shared, items, NBYTES) > 0);
    note(blosc2_vlmeta_update(shared, "v", (uint8_t *)"bb", 2, NULL) >= 0);
  }
  return NULL;
}

static void writers_take_turns(int kind) {
  int32_t items[NITEMS];
  int64_t nchunk;
  shared = new_shared(kind);
  failures = reads = 0;
  run_threads(append_and_add, append_and_add);
  CHECK_IS(failures, 0);
  CHECK_IS(shared->nchunks, KEPT + THREADS * rounds);
  for (nchunk = 0; nchunk < shared->nchunks; nchunk++) {
    CHECK_IS(blosc2_schunk_decompress_chunk(shared, nchunk, items, NBYTES), NBYTES);
    CHECK(is_uniform(items, NITEMS));
  }
  blosc2_schunk_free(shared);
  blosc2_remove_urlpath(path);
}

/* Reads a mapping while another handle appends: the reads return existing chunks or an error, never
 * other data. */
static blosc2_schunk *appender;

static void *append_by_other_handle(void *argument) {
  int32_t items[NITEMS];
  long round;
  (void)argument;
  for (round = 0; round < rounds * 5; round++) {
    fill(items, KEPT + (int32_t)round);
    CHECK_IS(blosc2_schunk_append_buffer(appender, items, NBYTES), KEPT + round + 1);
  }
  stop = true;
  return NULL;
}

static void *read_mapped(void *argument) {
  uint32_t seed = (uint32_t)(size_t)argument;
  int32_t items[NITEMS];
  while (!stop) {
    int64_t nchunk = next_random(&seed) % (uint32_t)shared->nchunks;
    int size = blosc2_schunk_decompress_chunk(shared, nchunk, items, NBYTES);
    if (size >= 0) {
      note(size == NBYTES && items[0] == nchunk && is_uniform(items, NITEMS));
    }
  }
  return NULL;
}

static void a_mapping_is_read_while_another_handle_appends(void) {
  blosc2_stdio_mmap mapping = BLOSC2_STDIO_MMAP_DEFAULTS;
  blosc2_io io = BLOSC2_IO_DEFAULTS;
  int32_t items[NITEMS];
  appender = new_shared(3);
  io.id = BLOSC2_IO_FILESYSTEM_MMAP;
  io.params = &mapping;
  shared = blosc2_schunk_open_udio(path, &io);
  stop = false;
  failures = reads = 0;
  run_threads(read_mapped, append_by_other_handle);
  CHECK_IS(failures, 0);
  CHECK(blosc2_schunk_refresh(shared) >= 0);
  CHECK_IS(blosc2_schunk_decompress_chunk(shared, KEPT + 1, items, NBYTES), NBYTES);
  CHECK_IS(shared->nchunks, appender->nchunks);
  blosc2_schunk_free(shared);
  blosc2_schunk_free(appender);
  blosc2_remove_urlpath(path);
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static volatile int in_callback, leave_callback;
static int nested_read, nested_change;

/* A postfilter that waits, like one that needs data of another thread. */
static int wait_for_program(blosc2_postfilter_params *params) {
  memcpy(params->output, params->input, (size_t)params->size);
  in_callback = 1;
  while (!leave_callback) {
    usleep(100);
  }
  return 0;
}

static void *read_first(void *argument) {
  (void)argument;
  int32_t items[NITEMS];
  note(blosc2_schunk_decompress_chunk(shared, 0, items, NBYTES) == NBYTES);
  return NULL;
}

static void calls_do_not_wait_for_a_running_postfilter(int kind) {
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_postfilter_params params;
  pthread_t reader;
  uint8_t *content;
  int32_t len;
  memset(&params, 0, sizeof params);
  shared = new_shared(kind);
  dparams.schunk = shared;
  dparams.postfilter = wait_for_program;
  dparams.postparams = &params;
  blosc2_free_ctx(shared->dctx);
  shared->dctx = blosc2_create_dctx(dparams);
  in_callback = leave_callback = 0;
  failures = 0;
  CHECK(pthread_create(&reader, NULL, read_first, NULL) == 0);
  while (!in_callback) {
    usleep(100);
  }
  CHECK(blosc2_vlmeta_get(shared, "v", &content, &len) >= 0);
  free(content);
  CHECK_IS(blosc2_vlmeta_update(shared, "v", (uint8_t *)"x", 1, NULL), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_schunk_delete_chunk(shared, 0), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(shared->nchunks, KEPT);
  leave_callback = 1;
  CHECK(pthread_join(reader, NULL) == 0);
  CHECK_IS(failures, 0);
  CHECK(blosc2_vlmeta_update(shared, "v", (uint8_t *)"x", 1, NULL) >= 0);
  blosc2_schunk_free(shared);
  blosc2_remove_urlpath(path);
}

/* A prefilter that reads its own super-chunk, and tries to change it. */
static int use_own(blosc2_prefilter_params *params) {
  uint8_t *content = NULL;
  int32_t len;
  memcpy(params->output, params->input, (size_t)params->output_size);
  nested_read = blosc2_vlmeta_get(shared, "v", &content, &len);
  free(content);
  nested_change = blosc2_vlmeta_update(shared, "v", (uint8_t *)"yyy", 3, NULL);
  return 0;
}

static void a_callback_may_use_its_own_object(int kind) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_prefilter_params params;
  int32_t items[NITEMS];
  int64_t nchunks;
  memset(&params, 0, sizeof params);
  shared = new_shared(kind);
  cparams.typesize = 4;
  cparams.schunk = shared;
  cparams.prefilter = use_own;
  cparams.preparams = &params;
  blosc2_free_ctx(shared->cctx);
  shared->cctx = blosc2_create_cctx(cparams);
  fill(items, 9);
  nested_read = nested_change = -99;
  nchunks = blosc2_schunk_append_buffer(shared, items, NBYTES);
  CHECK_IS(nchunks, KEPT + 1);
  CHECK(nested_read >= 0);
  CHECK(nested_change >= 0);
  /* The call locks the super-chunk here, because it changes a chunk that it has read. */
  nested_read = nested_change = -99;
  CHECK_IS(blosc2_schunk_set_slice_buffer(shared, 5, 50, items), 0);
  CHECK(nested_read >= 0);
  CHECK_IS(nested_change, BLOSC2_ERROR_INVALID_PARAM);
  blosc2_schunk_free(shared);
  blosc2_remove_urlpath(path);
}

/* ---- file locks ------------------------------------------------------------------------------ */

static int lock_file;

/* Whether another open file can have the lock shared. */
static bool others_can_read(void) {
  bool can = flock(lock_file, LOCK_SH | LOCK_NB) == 0;
  return can && flock(lock_file, LOCK_UN) == 0;
}

static void *lock_often(void *argument) {
  long round, before;
  (void)argument;
  for (round = 0; round < rounds; round++) {
    CHECK_IS(blosc2_schunk_lock(shared), 0);
    note(!others_can_read());
    before = __atomic_load_n(&reads, __ATOMIC_RELAXED);
    while (__atomic_load_n(&reads, __ATOMIC_RELAXED) == before && failures == 0) {
      sched_yield();
    }
    note(!others_can_read());
    CHECK_IS(blosc2_schunk_unlock(shared), 0);
    note(others_can_read());
  }
  stop = true;
  return NULL;
}

static void *read_on(void *argument);

/* A lock excludes other handles, whether or not other threads read through this one. */
static void a_lock_is_exclusive_beside_readers(int kind) {
  char name[sizeof path + 8];
  CHECK_IS(setenv("BLOSC_LOCKING", "1", 1), 0);
  shared = new_shared(kind);
  snprintf(name, sizeof name, kind == 2 ? "%s/.b2lock" : "%s.b2lock", path);
  lock_file = open(name, O_RDWR);
  CHECK(lock_file >= 0);
  stop = false;
  failures = reads = 0;
  run_threads(read_on, lock_often);
  CHECK_IS(failures, 0);
  close(lock_file);
  blosc2_schunk_free(shared);
  blosc2_remove_urlpath(path);
  CHECK_IS(unsetenv("BLOSC_LOCKING"), 0);
}

/* ---- a child --------------------------------------------------------------------------------- */

static void *read_on(void *argument) {
  int32_t items[NITEMS];
  while (!stop) {
    note(blosc2_schunk_decompress_chunk(shared, (size_t)argument % KEPT, items, NBYTES) == NBYTES);
  }
  return NULL;
}

static void *fork_children(void *argument) {
  int round, status;
  (void)argument;
  for (round = 0; round < 10; round++) {
    pid_t child = fork();
    if (child == 0) {
      int32_t items[NITEMS];
      bool is_right;
      alarm(20);
      fill(items, 4);
      is_right = blosc2_schunk_append_buffer(shared, items, NBYTES) == KEPT + 1 &&
                 blosc2_schunk_decompress_chunk(shared, KEPT, items, NBYTES) == NBYTES;
      _exit(is_right ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_IS(status, 0);
  }
  stop = true;
  return NULL;
}

static void a_forked_child_finds_no_lock_held(int kind) {
  shared = new_shared(kind);
  stop = false;
  failures = 0;
  run_threads(read_on, fork_children);
  CHECK_IS(failures, 0);
  blosc2_schunk_free(shared);
}

static blosc2_schunk *open_mapped(blosc2_stdio_mmap *mapping, const char *mode) {
  blosc2_io io = BLOSC2_IO_DEFAULTS;
  *mapping = BLOSC2_STDIO_MMAP_DEFAULTS;
  mapping->mode = mode;
  io.id = BLOSC2_IO_FILESYSTEM_MMAP;
  io.params = mapping;
  return blosc2_schunk_open_udio(path, &io);
}

static void *fork_mapping_children(void *argument) {
  long round;
  int status = 0;
  (void)argument;
  for (round = 0; round < rounds && status == 0; round++) {
    pid_t child = fork();
    if (child == 0) {
      blosc2_stdio_mmap mapping;
      blosc2_schunk *schunk;
      int32_t items[NITEMS];
      alarm(20);
      schunk = open_mapped(&mapping, "r");
      if (schunk == NULL || blosc2_schunk_decompress_chunk(schunk, 1, items, NBYTES) != NBYTES) {
        _exit(1);
      }
      _exit(blosc2_schunk_free(schunk) == 0 ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_IS(status, 0);
  }
  stop = true;
  return NULL;
}

/* The children of a process whose threads use a mapping can map files. */
static void a_forked_child_maps_files(void) {
  blosc2_stdio_mmap mapping;
  blosc2_schunk_free(new_shared(3));
  shared = open_mapped(&mapping, "c");
  CHECK(shared != NULL);
  stop = false;
  failures = 0;
  run_threads(read_on, fork_mapping_children);
  CHECK_IS(failures, 0);
  blosc2_schunk_free(shared);
  blosc2_remove_urlpath(path);
}

int main(void) {
  const char *asked = getenv("SHARING_ROUNDS");
  int kind;
  if (asked != NULL) {
    rounds = atol(asked);
  }
  alarm(600);
  blosc2_init();
  CHECK(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/object", folder);
  for (kind = 0; kind < KINDS; kind++) {
    any_number_of_threads_read(kind, 1);
    any_number_of_threads_read(kind, 3);
  }
  for (kind = 0; kind < MAPPED; kind++) {
    a_writer_and_readers_take_turns(kind);
    writers_take_turns(kind);
    calls_do_not_wait_for_a_running_postfilter(kind);
    a_callback_may_use_its_own_object(kind);
  }
  a_mapping_is_read_while_another_handle_appends();
  for (kind = 2; kind <= 3; kind++) {
    a_lock_is_exclusive_beside_readers(kind);
  }
  a_forked_child_finds_no_lock_held(0);
  a_forked_child_maps_files();
  CHECK_IS(rmdir(folder), 0);
  blosc2_destroy();
  return checks_failed();
}
