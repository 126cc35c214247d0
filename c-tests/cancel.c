/*
 * Cancellation of threads during calls. A call always completes, and the thread ends at its
 * next cancellation point outside of the library. CANCEL_ROUNDS sets the number of rounds.
 */

#include "schunks.h"
#include <b2nd.h>
#include <fcntl.h>
#include <pthread.h>
#include <time.h>

/* ---- Cancellation is pending when the call begins -------------------------------------------- */

static int kind;
static blosc2_schunk *object;
static b2nd_array_t *array;
static uint8_t chunk[8 * 100000 + BLOSC2_MAX_OVERHEAD];

typedef struct {
  const char *name;
  bool (*call)(void);
  bool is_right;
  bool has_returned;
} step;

static void *take_step(void *argument) {
  step *taken = (step *)argument;
  pthread_cancel(pthread_self());
  taken->is_right = taken->call();
  taken->has_returned = true;
  pthread_testcancel();
  return NULL;
}

static void take(step taken) {
  pthread_t thread;
  void *end = NULL;
  taken.is_right = taken.has_returned = false;
  CHECK(pthread_create(&thread, NULL, take_step, &taken) == 0);
  CHECK(pthread_join(thread, &end) == 0);
  if (!taken.has_returned || !taken.is_right || end != PTHREAD_CANCELED) {
    checks_bad++;
    printf("%s, kind %d: %s, %s\n", taken.name, kind, taken.has_returned ? "returned" : "torn",
           taken.is_right ? "right" : "wrong");
  }
}

/* Reaches cancellation points; stands for any code of the user's callbacks. */
static int read_something(void) {
  char byte;
  int file = open("/dev/zero", O_RDONLY), is_read = read(file, &byte, 1) == 1;
  close(file);
  return is_read ? 0 : -1;
}

static bool make_schunk(void) {
  uint8_t content[] = "fixed";
  object = make(kind);
  return blosc2_meta_add(object, "fixed", content, sizeof content) >= 0;
}

static bool append_chunks(void) {
  int32_t items[ITEMS] = {0};
  return append(object, ramp_chunk(0, CHUNK)) == 1 && append(object, ramp_chunk(ITEMS, CHUNK)) == 2 &&
         blosc2_schunk_append_buffer(object, items, CHUNK) == 3;
}

static bool change_chunks(void) {
  return update(object, 0, ramp_chunk(500, CHUNK)) == 3 && insert(object, 1, ramp_chunk(7, CHUNK)) == 4 &&
         blosc2_schunk_delete_chunk(object, 1) == 3;
}

static bool write_slice(void) {
  int32_t items[150];
  int i;
  for (i = 0; i < 150; i++) {
    items[i] = 1000 + i;
  }
  return blosc2_schunk_set_slice_buffer(object, 150, 300, items) >= 0;
}

static bool read_slice(void) {
  int32_t items[100];
  return blosc2_schunk_get_slice_buffer(object, 100, 200, items) >= 0 && items[0] == 100 &&
         items[99] == 1049;
}

static bool read_chunks(void) {
  uint8_t *lazy = NULL;
  bool needs_free = false, is_right;
  int32_t items[ITEMS];
  int size = blosc2_schunk_get_lazychunk(object, 0, &lazy, &needs_free);
  is_right = size > 0 && blosc2_decompress_ctx(object->dctx, lazy, size, items, CHUNK) == CHUNK &&
             items[0] == 500;
  if (needs_free) {
    free(lazy);
  }
  return is_right && holds_ramp(object, 0, 500, CHUNK);
}

static bool change_metalayers(void) {
  uint8_t content[] = "other";
  return blosc2_meta_update(object, "fixed", content, sizeof content) >= 0 &&
         blosc2_vlmeta_add(object, "gone", content, 3, NULL) >= 0 &&
         blosc2_vlmeta_add(object, "kept", content, 3, NULL) >= 0 &&
         blosc2_vlmeta_update(object, "kept", content, sizeof content, NULL) >= 0 &&
         blosc2_vlmeta_delete(object, "gone") >= 0 && has_vlmeta(object, "kept", "other", 6);
}

static bool lock_it(void) {
  return kind != SINGLE_FILE || (blosc2_schunk_lock(object) >= 0 && blosc2_schunk_unlock(object) >= 0);
}

static bool copy_it(void) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *copy;
  bool is_right;
  storage.contiguous = true;
  storage.urlpath = (char *)"copy.b2frame";
  copy = blosc2_schunk_copy(object, &storage);
  is_right = copy != NULL && holds_ramp(copy, 0, 500, CHUNK);
  blosc2_schunk_free(copy);
  return blosc2_remove_urlpath("copy.b2frame") == 0 && is_right;
}

static bool save_it(void) {
  blosc2_schunk *saved;
  bool is_right = blosc2_schunk_to_file(object, "saved.b2frame") > 0;
  int64_t offset = blosc2_schunk_append_file(object, "saved.b2frame");
  saved = offset > 0 ? blosc2_schunk_open_offset("saved.b2frame", offset) : NULL;
  is_right = is_right && saved != NULL && holds_ramp(saved, 0, 500, CHUNK);
  blosc2_schunk_free(saved);
  return blosc2_rename_urlpath((char *)"saved.b2frame", (char *)"moved.b2frame") == 0 &&
         blosc2_remove_urlpath("moved.b2frame") == 0 && is_right;
}

static bool open_again(void) {
  blosc2_schunk *again = reopened(object, kind);
  bool is_right = again != NULL && holds_ramp(again, 0, 500, CHUNK) && blosc2_schunk_refresh(again) >= 0;
  blosc2_schunk_free(again);
  return is_right;
}

static bool open_mapped(void) {
  blosc2_stdio_mmap mapping = BLOSC2_STDIO_MMAP_DEFAULTS;
  blosc2_io io = BLOSC2_IO_DEFAULTS;
  blosc2_schunk *again;
  bool is_right;
  if (kind != SINGLE_FILE) {
    return true;
  }
  mapping.mode = "r+";
  mapping.initial_mapping_size = 1 << 20;
  io.id = BLOSC2_IO_FILESYSTEM_MMAP;
  io.params = &mapping;
  again = blosc2_schunk_open_udio(path_of(kind), &io);
  is_right = again != NULL && append(again, ramp_chunk(9, CHUNK)) == 4 && holds_ramp(again, 3, 9, CHUNK);
  blosc2_schunk_free(again);
  return is_right;
}

static bool fail_with_a_trace(void) {
  int32_t items[ITEMS];
  int code;
  setenv("BLOSC_TRACE", "1", 1);
  code = blosc2_schunk_decompress_chunk(object, 99, items, CHUNK);
  unsetenv("BLOSC_TRACE");
  return code < 0;
}

static bool free_it(void) {
  return blosc2_schunk_free(object) >= 0 && (!is_on_disk(kind) || blosc2_remove_urlpath(path_of(kind)) == 0);
}

static void a_pending_cancellation_waits_for_the_end_of_calls(void) {
  static const step steps[] = {
      {"make", make_schunk, 0, 0},           {"append", append_chunks, 0, 0},
      {"change", change_chunks, 0, 0},       {"write a slice", write_slice, 0, 0},
      {"read a slice", read_slice, 0, 0},    {"read", read_chunks, 0, 0},
      {"metalayers", change_metalayers, 0, 0}, {"lock", lock_it, 0, 0},
      {"copy", copy_it, 0, 0},               {"save", save_it, 0, 0},
      {"open", open_again, 0, 0},            {"open a mapping", open_mapped, 0, 0},
      {"trace", fail_with_a_trace, 0, 0},    {"free", free_it, 0, 0},
  };
  size_t i;
  for (kind = 0; kind < KINDS; kind++) {
    for (i = 0; i < sizeof steps / sizeof steps[0]; i++) {
      take(steps[i]);
    }
  }
  kind = 0;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static bool work_with_an_array(void) {
  static const int64_t shape[] = {20, 30}, start[] = {3, 4}, stop[] = {9, 14}, extents[] = {6, 10};
  static const int32_t chunks[] = {10, 10}, blocks[] = {5, 5};
  int64_t longer[] = {40, 30};
  int32_t items[600], part[60];
  blosc2_cparams cparams = items_of(ITEM);
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  b2nd_context_t *context;
  bool is_right;
  int i;

  for (i = 0; i < 600; i++) {
    items[i] = i;
  }
  storage.contiguous = true;
  storage.urlpath = (char *)"array.b2nd";
  storage.cparams = &cparams;
  context = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, NULL, 0, NULL, 0);
  is_right = b2nd_from_cbuffer(context, &array, items, sizeof items) >= 0 &&
             b2nd_resize(array, longer, NULL) >= 0 &&
             b2nd_set_slice_cbuffer(items, extents, 240, start, stop, array) >= 0 &&
             b2nd_save(array, (char *)"saved.b2nd") >= 0 && b2nd_free(array) >= 0 &&
             b2nd_free_ctx(context) >= 0 && b2nd_open("saved.b2nd", &array) >= 0 &&
             b2nd_get_slice_cbuffer(array, start, stop, part, extents, sizeof part) >= 0 && part[59] == 59 &&
             b2nd_free(array) >= 0;
  return blosc2_remove_urlpath("array.b2nd") == 0 && blosc2_remove_urlpath("saved.b2nd") == 0 && is_right;
}

/* ---- Calls in memory, and their callbacks ---------------------------------------------------- */

/* Compresses and decompresses the first `count` numbers of `data` with these parameters. */
static bool round_trip(blosc2_cparams cparams, blosc2_dparams dparams) {
  static int64_t data[100000], back[100000];
  blosc2_context *compressor, *decompressor;
  int size, i;

  for (i = 0; i < 100000; i++) {
    data[i] = i;
  }
  compressor = blosc2_create_cctx(cparams);
  decompressor = blosc2_create_dctx(dparams);
  size = blosc2_compress_ctx(compressor, data, sizeof data, chunk, sizeof chunk);
  memset(back, 1, sizeof back);
  i = blosc2_decompress_ctx(decompressor, chunk, size, back, sizeof back);
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
  return size > 0 && i == sizeof back && memcmp(data, back, sizeof back) == 0;
}

static bool compress_in_threads(void) {
  blosc2_cparams cparams = items_of(8);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  int32_t number;
  cparams.nthreads = dparams.nthreads = 4;
  return round_trip(cparams, dparams) && blosc2_getitem(chunk, sizeof chunk, 0, 0, &number, 4) == 0;
}

static bool fail_in_memory_with_a_trace(void) {
  int32_t number;
  int code;
  setenv("BLOSC_TRACE", "1", 1);
  code = blosc2_decompress(chunk, 3, &number, sizeof number);
  unsetenv("BLOSC_TRACE");
  return code < 0;
}

static int reading_prefilter(blosc2_prefilter_params *params) {
  memcpy(params->output, params->input, (size_t)params->output_size);
  return read_something();
}

static int reading_postfilter(blosc2_postfilter_params *params) {
  memcpy(params->output, params->input, (size_t)params->size);
  return read_something();
}

static bool call_filters_of_the_program(void) {
  blosc2_cparams cparams = items_of(8);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_prefilter_params preparams;
  blosc2_postfilter_params postparams;
  memset(&preparams, 0, sizeof preparams);
  memset(&postparams, 0, sizeof postparams);
  cparams.prefilter = reading_prefilter;
  cparams.preparams = &preparams;
  dparams.postfilter = reading_postfilter;
  dparams.postparams = &postparams;
  return round_trip(cparams, dparams);
}

static int reading_encoder(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len,
                           uint8_t meta, blosc2_cparams *cparams, const void *source) {
  (void)meta, (void)cparams, (void)source;
  if (output_len < input_len || read_something() != 0) {
    return 0;
  }
  memcpy(output, input, (size_t)input_len);
  return input_len - 1;
}

static int reading_decoder(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len,
                           uint8_t meta, blosc2_dparams *dparams, const void *source) {
  (void)meta, (void)dparams, (void)source;
  memcpy(output, input, (size_t)input_len);
  memset(output + input_len, 0, (size_t)(output_len - input_len));
  return read_something() == 0 ? output_len : -1;
}

static bool call_a_codec_of_the_program(void) {
  blosc2_codec codec = {200, (char *)"reading", 200, 1, reading_encoder, reading_decoder};
  blosc2_cparams cparams = items_of(8);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  CHECK(blosc2_register_codec(&codec) >= 0);
  cparams.compcode = 200;
  cparams.splitmode = BLOSC_NEVER_SPLIT;
  cparams.blocksize = 8000;
  /* After the shuffle, the last byte of each block is the high byte of a small number: 0. */
  return round_trip(cparams, dparams);
}

static void run_reading(void *data, void (*dojob)(void *), int count, size_t size, void *jobs) {
  int i;
  (void)data;
  for (i = 0; i < count; i++) {
    dojob((char *)jobs + (size_t)i * size);
    CHECK_IS(read_something(), 0);
  }
}

static bool call_threads_of_the_program(void) {
  bool is_right;
  blosc2_set_threads_callback(run_reading, NULL);
  is_right = compress_in_threads();
  blosc2_set_threads_callback(NULL, NULL);
  return is_right;
}

/* A missing plugin is searched for in the file system. */
static bool search_a_missing_plugin(void) {
  blosc2_codec codec = {201, (char *)"cancelled", 201, 1, NULL, NULL};
  blosc2_cparams cparams = items_of(8);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  CHECK(blosc2_register_codec(&codec) >= 0);
  cparams.compcode = 201;
  return !round_trip(cparams, dparams);
}

static void calls_in_memory_complete(void) {
  static const step steps[] = {
      {"threads", compress_in_threads, 0, 0},
      {"a trace in memory", fail_in_memory_with_a_trace, 0, 0},
      {"filters of the program", call_filters_of_the_program, 0, 0},
      {"a codec of the program", call_a_codec_of_the_program, 0, 0},
      {"threads of the program", call_threads_of_the_program, 0, 0},
      {"a plugin that is missing", search_a_missing_plugin, 0, 0},
      {"an array", work_with_an_array, 0, 0},
  };
  size_t i;
  for (i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    take(steps[i]);
  }
}

/* The thread keeps the cancellation state that it set. */
static void the_thread_keeps_its_own_state(void) {
  int before = -1;
  CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL) == 0);
  object = make_full(SINGLE_FILE, 2);
  CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before) == 0);
  CHECK_IS(before, PTHREAD_CANCEL_DISABLE);
  done(object, SINGLE_FILE);
  CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before) == 0);
  CHECK_IS(before, PTHREAD_CANCEL_ENABLE);
}

/* ---- Cancellation at any moment -------------------------------------------------------------- */

enum { LOCKED = KINDS, MAPPED, SETUPS };

static uint32_t seed = 1;

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* The mapping belongs to the handle and has the same lifetime. */
static blosc2_schunk *open_for_setup(int setup, blosc2_stdio_mmap *mapping) {
  static blosc2_stdio_params params;
  blosc2_io io = BLOSC2_IO_DEFAULTS;
  *mapping = BLOSC2_STDIO_MMAP_DEFAULTS;
  mapping->mode = "r+";
  mapping->initial_mapping_size = 1 << 20;
  params.locking = true;
  io.id = setup == MAPPED ? BLOSC2_IO_FILESYSTEM_MMAP : BLOSC2_IO_FILESYSTEM;
  io.params = setup == MAPPED ? (void *)mapping : setup == LOCKED ? (void *)&params : NULL;
  return blosc2_schunk_open_udio(path_of(setup == DIRECTORY ? DIRECTORY : SINGLE_FILE), &io);
}

/* All items of a chunk are equal. */
static bool fill_and(int64_t (*change)(blosc2_schunk *, int64_t, int32_t *), uint32_t *state) {
  int32_t items[ITEMS], value = (int32_t)(next_random(state) % 1000);
  int i;
  for (i = 0; i < ITEMS; i++) {
    items[i] = value;
  }
  return change(object, next_random(state) % (uint32_t)object->nchunks, items) >= 0;
}

static int64_t append_items(blosc2_schunk *schunk, int64_t at, int32_t *items) {
  (void)at;
  return blosc2_schunk_append_buffer(schunk, items, CHUNK);
}

static int64_t set_items(blosc2_schunk *schunk, int64_t at, int32_t *items) {
  return blosc2_schunk_set_slice_buffer(schunk, at * ITEMS, (at + 1) * ITEMS, items);
}

static int64_t delete_items(blosc2_schunk *schunk, int64_t at, int32_t *items) {
  (void)items;
  return schunk->nchunks < 4 ? 0 : blosc2_schunk_delete_chunk(schunk, at);
}

static void *change_on(void *argument) {
  uint32_t *state = (uint32_t *)argument;
  int32_t items[ITEMS];
  for (;;) {
    bool is_right = true;
    switch (next_random(state) % 5) {
      case 0:
        is_right = fill_and(append_items, state);
        break;
      case 1:
        is_right = fill_and(set_items, state);
        break;
      case 2:
        is_right = fill_and(delete_items, state);
        break;
      case 3:
        is_right = blosc2_vlmeta_update(object, "v", (uint8_t *)"0123456789",
                                        1 + (int32_t)(next_random(state) % 10), NULL) >= 0;
        break;
      default:
        is_right = blosc2_schunk_decompress_chunk(object, 0, items, CHUNK) == CHUNK;
    }
    if (!is_right) {
      return (void *)"a call failed";
    }
    pthread_testcancel();
  }
}

static void check_whole(blosc2_schunk *schunk) {
  int32_t items[ITEMS];
  uint8_t *content = NULL;
  int32_t len = 0;
  int64_t nchunk;
  CHECK(schunk->nchunks > 0);
  for (nchunk = 0; nchunk < schunk->nchunks; nchunk++) {
    int i, same = blosc2_schunk_decompress_chunk(schunk, nchunk, items, CHUNK) == CHUNK;
    for (i = 1; same && i < ITEMS; i++) {
      same = items[i] == items[0];
    }
    CHECK(same);
  }
  CHECK(blosc2_vlmeta_get(schunk, "v", &content, &len) >= 0 && memcmp(content, "0123456789", (size_t)len) == 0);
  free(content);
}

static void cancelled_writers_leave_consistent_objects(int setup, int rounds) {
  blosc2_stdio_mmap mapping, other_mapping;
  blosc2_schunk *other;
  int32_t items[ITEMS] = {0};
  int round, i;

  object = make(setup > DIRECTORY ? SINGLE_FILE : setup);
  for (i = 0; i < 3; i++) {
    CHECK_IS(blosc2_schunk_append_buffer(object, items, CHUNK), i + 1);
  }
  CHECK(blosc2_vlmeta_add(object, "v", (uint8_t *)"0", 1, NULL) >= 0);
  if (setup >= SINGLE_FILE) {
    blosc2_schunk_free(object);
    object = open_for_setup(setup, &mapping);
  }
  for (round = 0; round < rounds; round++) {
    struct timespec pause = {0, 0};
    pthread_t thread;
    void *end = NULL;
    uint32_t state = next_random(&seed);
    pause.tv_nsec = (long)(next_random(&seed) % 1000000);
    CHECK(pthread_create(&thread, NULL, change_on, &state) == 0);
    nanosleep(&pause, NULL);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &end) == 0);
    CHECK(end == PTHREAD_CANCELED);
    /* No lock is held, and the handle remains usable. */
    check_whole(object);
    CHECK(fill_and(set_items, &state));
  }
  if (setup >= SINGLE_FILE) {
    other = open_for_setup(setup, &other_mapping);
    CHECK(other != NULL && other->nchunks == object->nchunks);
    check_whole(other);
    CHECK(blosc2_schunk_append_buffer(other, items, CHUNK) > 0);
    blosc2_schunk_free(other);
  }
  blosc2_schunk_free(object);
  if (setup >= SINGLE_FILE) {
    CHECK_IS(blosc2_remove_urlpath(path_of(setup == DIRECTORY ? DIRECTORY : SINGLE_FILE)), 0);
  }
}

int main(void) {
  const char *asked = getenv("CANCEL_ROUNDS");
  int rounds = asked == NULL ? 12 : atoi(asked), setup;

  alarm(600);
  enter_folder();
  CHECK(freopen("/dev/null", "w", stderr) != NULL);
  a_pending_cancellation_waits_for_the_end_of_calls();
  calls_in_memory_complete();
  the_thread_keeps_its_own_state();
  for (setup = 0; setup < SETUPS; setup++) {
    cancelled_writers_leave_consistent_objects(setup, rounds);
  }
  blosc2_destroy();
  return leave_folder();
}
