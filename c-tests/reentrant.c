/*
 * Callbacks that call the library for their own super-chunk, from several threads: each call
 * succeeds or returns an error, the data stay intact, and a reopened super-chunk has all
 * metalayers. Callbacks of I/O backends do the same, and callbacks of calls without a context make
 * such calls.
 */

#include "schunks.h"
#include <b2nd.h>
#include <blosc2/blosc2-stdio.h>
#include <pthread.h>
#ifndef _WIN32
#include <sys/wait.h>
#endif

enum { BLOCKS = 8, BLOCK = 400, ALL = BLOCKS * BLOCK, ROUNDS = 4 };

/* The actions of the callbacks. */
enum { GET, ADD, UPDATE, DELETE, READ, APPEND, WORKS };

static int work;
static blosc2_schunk *served;
static int done_well, refused, wrong;

static void note(int64_t code) {
  if (code >= 0) {
    __atomic_add_fetch(&done_well, 1, __ATOMIC_RELAXED);
  } else if (code == BLOSC2_ERROR_INVALID_PARAM || code == BLOSC2_ERROR_NOT_FOUND) {
    __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
  } else {
    __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
  }
}

static void call_back(blosc2_schunk *schunk) {
  static int next;
  char name[32];
  uint8_t *content, items[ALL];
  int32_t len;
  int code;

  code = blosc2_vlmeta_get(schunk, "conf", &content, &len);
  if (code >= 0) {
    if (len != 5 && len != 11) {
      __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    }
    free(content);
  }
  note(code);
  switch (work) {
    case ADD:
      snprintf(name, sizeof name, "n%d", __atomic_add_fetch(&next, 1, __ATOMIC_RELAXED));
      /* Frames hold only a few. */
      if (schunk->nvlmetalayers < 12) {
        note(blosc2_vlmeta_add(schunk, name, (uint8_t *)"abc", 3, NULL));
      }
      break;
    case UPDATE:
      note(blosc2_vlmeta_update(schunk, "conf", (uint8_t *)"other value", 11, NULL));
      break;
    case DELETE:
      note(blosc2_vlmeta_delete(schunk, "spare"));
      note(blosc2_vlmeta_add(schunk, "spare", (uint8_t *)"again", 5, NULL));
      break;
    case READ:
      if (schunk->nchunks > 0) {
        note(blosc2_schunk_decompress_chunk(schunk, 0, items, sizeof items));
      }
      break;
    case APPEND:
      if (schunk->nchunks > 0 && schunk->nchunks < 3) {
        note(blosc2_schunk_delete_chunk(schunk, 7));
      }
      break;
    default:
      break;
  }
}

static int forward(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta, blosc2_cparams *cparams,
                   uint8_t id) {
  int32_t i;

  (void)meta, (void)id;
  for (i = 0; i < size; i++) {
    output[i] = input[i] ^ 0x5a;
  }
  if (cparams->schunk != NULL) {
    call_back((blosc2_schunk *)cparams->schunk);
  }
  return 0;
}

static int backward(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta,
                    blosc2_dparams *dparams, uint8_t id) {
  int32_t i;

  (void)meta, (void)id;
  for (i = 0; i < size; i++) {
    output[i] = input[i] ^ 0x5a;
  }
  if (dparams->schunk != NULL && work != READ) {
    call_back((blosc2_schunk *)dparams->schunk);
  }
  return 0;
}

static int prefilter(blosc2_prefilter_params *params) {
  memcpy(params->output, params->input, (size_t)params->output_size);
  call_back(served);
  return 0;
}

static void callbacks_may_use_their_own_super_chunk(int has_prefilter) {
  static uint8_t data[ALL], back[ALL];
  blosc2_prefilter_params preparams;
  int kind, nthreads, i, j;

  fill_with_data(data, sizeof data);
  for (kind = 0; kind < KINDS; kind++) {
    for (nthreads = 1; nthreads <= 3; nthreads += 2) {
      for (work = 0; work < WORKS; work++) {
        blosc2_cparams cparams = items_of(ITEM);
        blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
        blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
        blosc2_schunk *again;

        cparams.blocksize = BLOCK;
        cparams.nthreads = dparams.nthreads = (int16_t)nthreads;
        if (!has_prefilter) {
          cparams.filters[4] = 200;
        }
        storage.cparams = &cparams;
        storage.dparams = &dparams;
        storage.contiguous = is_contiguous(kind);
        storage.urlpath = path_of(kind);
        if (has_prefilter) {
          memset(&preparams, 0, sizeof preparams);
          cparams.prefilter = prefilter;
          cparams.preparams = &preparams;
        }
        served = blosc2_schunk_new(&storage);
        CHECK(served != NULL);
        CHECK_IS(blosc2_vlmeta_add(served, "conf", (uint8_t *)"value", 5, NULL), 0);
        CHECK_IS(blosc2_vlmeta_add(served, "spare", (uint8_t *)"spare", 5, NULL), 1);
        done_well = refused = wrong = 0;
        for (i = 0; i < ROUNDS; i++) {
          CHECK_IS(blosc2_schunk_append_buffer(served, data, sizeof data), i + 1);
        }
        for (j = 0; j < ROUNDS; j++) {
          memset(back, 0, sizeof back);
          CHECK_IS(blosc2_schunk_decompress_chunk(served, j, back, sizeof back), ALL);
          CHECK(memcmp(back, data, sizeof back) == 0);
        }
        CHECK_IS(wrong, 0);
        CHECK(done_well > 0);
        CHECK(blosc2_vlmeta_exists(served, "conf") >= 0);
        again = reopened(served, kind);
        CHECK(again != NULL && again->nchunks == ROUNDS && again->nvlmetalayers == served->nvlmetalayers);
        blosc2_schunk_free(again);
        done(served, kind);
      }
    }
  }
}

/* ---- callbacks for another super-chunk than that which the call reads ------------------------- */

enum { CODEC = 200, TUNER = 200 };

/* Uses the super-chunk that a call of this or another thread holds: no call waits for that one. */
static void use_held(void) {
  static uint8_t items[CHUNK];
  if (served != NULL) {
    note(blosc2_vlmeta_exists(served, "conf"));
    note(blosc2_schunk_append_buffer(served, items, CHUNK));
    note(blosc2_vlmeta_update(served, "spare", items, CHUNK, NULL));
  }
}

/* Keeps every second byte. */
static int encode_and_use(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len,
                          uint8_t meta, blosc2_cparams *cparams, const void *chunk) {
  int32_t i;

  (void)meta, (void)cparams, (void)chunk;
  use_held();
  if (input_len / 2 > output_len) {
    return 0;
  }
  for (i = 0; i < input_len / 2; i++) {
    output[i] = input[2 * i];
  }
  return input_len / 2;
}

static int decode_and_use(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len,
                          uint8_t meta, blosc2_dparams *dparams, const void *chunk) {
  int32_t i;

  (void)input_len, (void)meta, (void)dparams, (void)chunk;
  use_held();
  for (i = 0; i < output_len; i++) {
    output[i] = input[i / 2];
  }
  return output_len;
}

static int init_and_use(void *config, blosc2_context *cctx, blosc2_context *dctx) {
  (void)config, (void)cctx, (void)dctx;
  use_held();
  return 0;
}

static int keep_blocksize(blosc2_context *context) {
  (void)context;
  return 0;
}

static int ignore_time(blosc2_context *context, double seconds) {
  (void)context, (void)seconds;
  return 0;
}

static void register_users(void) {
  blosc2_codec codec = {.compcode = CODEC, .compname = "uses", .complib = 1, .version = 1,
                        .encoder = encode_and_use, .decoder = decode_and_use};
  blosc2_tuner tuner = {.init = init_and_use, .next_blocksize = keep_blocksize,
                        .next_cparams = keep_blocksize, .update = ignore_time, .free = keep_blocksize,
                        .id = TUNER, .name = "uses"};
  CHECK_IS(blosc2_register_codec(&codec), 0);
  CHECK_IS(blosc2_register_tuner(&tuner), 0);
}

/* Returns parameters with the codec. */
static blosc2_cparams with_codec(int nthreads) {
  blosc2_cparams cparams = items_of(ITEM);
  cparams.compcode = CODEC;
  cparams.filters[5] = BLOSC_NOFILTER;
  cparams.blocksize = BLOCK;
  cparams.nthreads = (int16_t)nthreads;
  return cparams;
}

static void callbacks_do_not_wait_for_the_source_of_a_copy(void) {
  static uint8_t data[ALL], back[ALL];
  int kind, nthreads, has_tuner, i;

  for (i = 0; i < ALL; i++) {
    data[i] = (uint8_t)(i / 2 % 251 + 1);
  }
  for (kind = 0; kind < KINDS; kind++) {
    for (nthreads = 1; nthreads <= 3; nthreads += 2) {
      for (has_tuner = 0; has_tuner < 2; has_tuner++) {
        blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
        blosc2_cparams cparams = with_codec(nthreads);
        blosc2_schunk *schunk = make(kind), *copy;
        uint8_t *content = NULL;
        int32_t len = 0;

        CHECK_IS(blosc2_schunk_append_buffer(schunk, data, ALL), 1);
        CHECK_IS(blosc2_vlmeta_add(schunk, "conf", data, ALL, &cparams), 0);
        CHECK_IS(blosc2_vlmeta_add(schunk, "spare", data, 5, NULL), 1);
        cparams.tuner_id = has_tuner ? TUNER : BLOSC_STUNE;
        storage.cparams = &cparams;
        done_well = refused = wrong = 0;
        served = schunk;
        copy = blosc2_schunk_copy(schunk, &storage);
        CHECK_IS(blosc2_vlmeta_get(schunk, "conf", &content, &len), 0);
        CHECK_IS(blosc2_vlmeta_update(schunk, "conf", data, ALL, &cparams), 0);
        CHECK_IS(blosc2_vlmeta_add(schunk, "new", data, ALL, &cparams), 2);
        served = NULL;
        CHECK(wrong == 0 && refused > 0 && done_well > 0);
        CHECK(len == ALL && memcmp(content, data, ALL) == 0);
        free(content);
        CHECK(copy != NULL && copy->nchunks == 1);
        CHECK_IS(blosc2_schunk_decompress_chunk(copy, 0, back, ALL), ALL);
        CHECK(memcmp(back, data, ALL) == 0);
        blosc2_schunk_free(copy);
        CHECK_IS(schunk->nchunks, 1);
        done(schunk, kind);
      }
    }
  }
}

static void callbacks_do_not_wait_for_the_arrays_of_a_call(void) {
  const int64_t shape[] = {ALL / ITEM}, start[] = {0}, stop[] = {ALL / ITEM / 2};
  const int32_t chunkshape[] = {3 * BLOCK / ITEM}, blockshape[] = {BLOCK / ITEM};
  static uint8_t data[ALL], back[2 * ALL];
  int nthreads, call, i;

  for (i = 0; i < ALL; i++) {
    data[i] = (uint8_t)(i / 2 % 251 + 1);
  }
  for (nthreads = 1; nthreads <= 3; nthreads += 2) {
    for (call = 0; call < 4; call++) {
      blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
      blosc2_cparams cparams = with_codec(nthreads);
      b2nd_array_t *first = NULL, *second = NULL, *made = NULL;
      b2nd_context_t *context;

      cparams.tuner_id = TUNER;
      storage.cparams = &cparams;
      context = b2nd_create_ctx(&storage, 1, shape, chunkshape, blockshape, NULL, 0, NULL, 0);
      CHECK_IS(b2nd_from_cbuffer(context, &first, data, ALL), 0);
      CHECK_IS(b2nd_from_cbuffer(context, &second, data, ALL), 0);
      CHECK_IS(blosc2_vlmeta_add(second->sc, "conf", data, ALL, NULL), 0);
      CHECK_IS(blosc2_vlmeta_add(second->sc, "spare", data, 5, NULL), 1);
      done_well = refused = wrong = 0;
      served = second->sc;
      switch (call) {
        case 0: CHECK_IS(b2nd_copy(context, second, &made), 0); break;
        case 1: CHECK_IS(b2nd_get_slice(context, &made, second, start, stop), 0); break;
        case 2: CHECK_IS(b2nd_concatenate(context, first, second, 0, true, &made), 0); break;
        default: CHECK_IS(b2nd_concatenate(NULL, first, second, 0, false, &made), 0); break;
      }
      served = NULL;
      CHECK(wrong == 0 && refused > 0 && done_well > 0);
      CHECK_IS(made == NULL ? -1 : b2nd_to_cbuffer(made, back, 2 * ALL), 0);
      CHECK(memcmp(back, data, call == 1 ? ALL / 2 : ALL) == 0);
      CHECK(call < 2 || memcmp(back + ALL, data, ALL) == 0);
      CHECK_IS(second->sc->nchunks, 3);
      if (made != first) {
        b2nd_free(made);
      }
      b2nd_free(first);
      b2nd_free(second);
      b2nd_free_ctx(context);
    }
  }
}

/* ---- calls without a context ------------------------------------------------------------------ */

static int inner_rounds;

/* Makes calls that use the settings and the working memory of the calls without a context. */
static int backward_by_calls(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta,
                             blosc2_dparams *dparams, uint8_t id) {
  uint8_t chunk[BLOCK + BLOSC2_MAX_OVERHEAD], *frame;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *schunk, *opened;
  int64_t frame_len;
  bool needs_free;
  int len;

  (void)meta, (void)dparams, (void)id;
  blosc2_init();
  note(blosc2_get_nthreads());
  note(blosc2_set_nthreads(2));
  note(blosc1_get_blocksize());
  note(blosc1_set_compressor(blosc1_get_compressor()));
  blosc1_set_splitmode(BLOSC_FORWARD_COMPAT_SPLIT);
  len = blosc2_compress(5, BLOSC_SHUFFLE, ITEM, input, size, chunk, sizeof chunk);
  note(len > 0 ? 0 : -1);
  note(blosc2_decompress(chunk, len, output, size) == size ? 0 : -1);
  storage.contiguous = true;
  schunk = blosc2_schunk_new(&storage);
  frame_len = blosc2_schunk_to_buffer(schunk, &frame, &needs_free);
  opened = blosc2_schunk_from_buffer(frame, frame_len, true);
  note(opened != NULL ? 0 : -1);
  blosc2_schunk_free(opened);
  blosc2_schunk_free(schunk);
  note(blosc2_free_resources());
  __atomic_add_fetch(&inner_rounds, 1, __ATOMIC_RELAXED);
  return 0;
}

static int forward_unchanged(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta,
                             blosc2_cparams *cparams, uint8_t id) {
  (void)meta, (void)cparams, (void)id;
  memcpy(output, input, (size_t)size);
  return 0;
}

/* Registers a filter and compresses data with it. Returns the size of the chunk. */
static int compress_with_filter(blosc2_filter *filter, uint8_t *data, uint8_t *chunk) {
  blosc2_cparams cparams = items_of(ITEM);
  blosc2_context *context;
  int len;

  CHECK_IS(blosc2_register_filter(filter), 0);
  fill_with_data(data, ALL);
  cparams.blocksize = BLOCK;
  cparams.filters[4] = filter->id;
  context = blosc2_create_cctx(cparams);
  len = blosc2_compress_ctx(context, data, ALL, chunk, ALL + BLOSC2_MAX_OVERHEAD);
  CHECK(len > 0);
  blosc2_free_ctx(context);
  return len;
}

/* A callback of a call without a context makes such calls, and calls that read their settings: none
 * waits for the outer call. */
static void calls_without_a_context_do_not_wait_for_themselves(void) {
  static uint8_t data[ALL], chunk[ALL + BLOSC2_MAX_OVERHEAD], back[ALL];
  blosc2_filter filter = {
      .id = 202, .name = "makes calls", .version = 1, .forward = forward_unchanged, .backward = backward_by_calls};
  int nthreads, len = compress_with_filter(&filter, data, chunk);

  for (nthreads = 1; nthreads <= 3; nthreads += 2) {
    done_well = refused = wrong = inner_rounds = 0;
    CHECK(blosc2_set_nthreads((int16_t)nthreads) > 0);
    memset(back, 0, sizeof back);
    CHECK_IS(blosc2_decompress(chunk, len, back, sizeof back), ALL);
    CHECK(memcmp(back, data, sizeof back) == 0);
    CHECK_IS(inner_rounds, BLOCKS);
    CHECK(wrong == 0 && refused == 0 && done_well == 8 * BLOCKS);
    CHECK_IS(blosc2_get_nthreads(), 2);
  }
  CHECK_IS(blosc2_set_nthreads(1), 2);
}

#ifndef _WIN32 /* Windows has no forks. */

static const uint8_t *plain_chunk;
static int plain_len, forks, is_forked;

/* Decompresses in another thread of a forked child, and in a child of the child. */
static void *decompress_in_child(void *result) {
  uint8_t back[ALL];
  int status = -1;
  pid_t child;

  blosc2_set_nthreads(1);
  if (blosc2_decompress(plain_chunk, plain_len, back, sizeof back) == ALL) {
    child = fork();
    if (child == 0) {
      _exit(blosc2_decompress(plain_chunk, plain_len, back, sizeof back) == ALL ? 0 : 1);
    }
    waitpid(child, &status, 0);
  }
  *(int *)result = status;
  return NULL;
}

/* Forks once. */
static int backward_by_fork(const uint8_t *input, uint8_t *output, int32_t size, uint8_t meta,
                            blosc2_dparams *dparams, uint8_t id) {
  (void)meta, (void)dparams, (void)id;
  memcpy(output, input, (size_t)size);
  if (__atomic_exchange_n(&is_forked, 1, __ATOMIC_SEQ_CST) == 0) {
    int status = -1, result = -1;
    pid_t child = fork();
    if (child == 0) {
      pthread_t thread;
      alarm(60);
      if (pthread_create(&thread, NULL, decompress_in_child, &result) == 0) {
        pthread_join(thread, NULL);
      }
      _exit(result);
    }
    waitpid(child, &status, 0);
    __atomic_add_fetch(&forks, status == 0 ? 1 : 0, __ATOMIC_RELAXED);
  }
  return 0;
}

/* The jobs of a call, which one other thread runs. */
typedef struct {
  void (*dojob)(void *);
  uint8_t *jobs;
  size_t size;
  int count;
} job_list;

static void *run_jobs(void *list) {
  const job_list *jobs = (const job_list *)list;
  int i;

  for (i = 0; i < jobs->count; i++) {
    jobs->dojob(jobs->jobs + (size_t)i * jobs->size);
  }
  return NULL;
}

static void run_elsewhere(void *user, void (*dojob)(void *), int count, size_t size, void *jobs) {
  job_list list = {dojob, (uint8_t *)jobs, size, count};
  pthread_t thread;

  (void)user;
  if (pthread_create(&thread, NULL, run_jobs, &list) == 0) {
    pthread_join(thread, NULL);
  }
}

/* A callback of a call without a context forks in another thread than that of the call. The fork
 * does not wait for the call, and threads of the child can make such calls. */
static void callbacks_of_calls_without_a_context_fork(void) {
  static uint8_t data[ALL], chunk[ALL + BLOSC2_MAX_OVERHEAD], plain[ALL + BLOSC2_MAX_OVERHEAD], back[ALL];
  blosc2_filter filter = {
      .id = 203, .name = "forks", .version = 1, .forward = forward_unchanged, .backward = backward_by_fork};
  int i, len = compress_with_filter(&filter, data, chunk);

  plain_len = blosc2_compress(5, BLOSC_SHUFFLE, ITEM, data, sizeof data, plain, sizeof plain);
  plain_chunk = plain;
  CHECK(plain_len > 0);
  forks = 0;
  blosc2_set_threads_callback(run_elsewhere, NULL);
  CHECK_IS(blosc2_set_nthreads(3), 1);
  for (i = 0; i < ROUNDS; i++) {
    is_forked = 0;
    memset(back, 0, sizeof back);
    CHECK_IS(blosc2_decompress(chunk, len, back, sizeof back), ALL);
    CHECK(memcmp(back, data, sizeof back) == 0);
  }
  CHECK_IS(forks, ROUNDS);
  CHECK_IS(blosc2_set_nthreads(1), 3);
  blosc2_set_threads_callback(NULL, NULL);
}

#endif

/* ---- I/O backends ----------------------------------------------------------------------------- */

/* The callbacks of the backend, and the actions in them. */
enum { OPEN, CLOSE, SIZE, WRITE, READ_BYTES, TRUNCATE, FUNCTIONS };
enum { GET_CHUNK, DECOMPRESS, SLICE, EXISTS, LENGTH, REFRESH, APPEND_ONE, ADD_LAYER, COPY, ACTIONS };

static int function, action, depth, inner_calls;

/* Uses the super-chunk in a callback of its backend. */
static void use_served(int called) {
  uint8_t *chunk = NULL, items[ALL];
  bool needs_free = false;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *copy;
  int64_t code = 0;

  if (served == NULL || called != function || __atomic_exchange_n(&depth, 1, __ATOMIC_RELAXED) != 0) {
    return;
  }
  switch (action) {
    case GET_CHUNK:
      code = blosc2_schunk_get_chunk(served, 0, &chunk, &needs_free);
      if (code > 0 && needs_free) {
        free(chunk);
      }
      break;
    case DECOMPRESS:
      code = blosc2_schunk_decompress_chunk(served, 0, items, sizeof items);
      break;
    case SLICE:
      code = blosc2_schunk_get_slice_buffer(served, 0, 10, items);
      break;
    case EXISTS:
      code = blosc2_vlmeta_exists(served, "conf");
      break;
    case LENGTH:
      code = blosc2_schunk_frame_len(served);
      break;
    case REFRESH:
      code = blosc2_schunk_refresh(served);
      break;
    case APPEND_ONE:
      code = blosc2_schunk_append_buffer(served, items, 8);
      break;
    case ADD_LAYER:
      code = blosc2_vlmeta_add(served, "inner", (uint8_t *)"abc", 3, NULL);
      break;
    default:
      copy = blosc2_schunk_copy(served, &storage);
      code = copy == NULL ? BLOSC2_ERROR_INVALID_PARAM : 0;
      blosc2_schunk_free(copy);
  }
  inner_calls++;
  note(code);
  __atomic_store_n(&depth, 0, __ATOMIC_RELAXED);
}

static void *io_open(const char *path, const char *mode, void *params) {
  use_served(OPEN);
  return blosc2_stdio_open(path, mode, params);
}

static int io_close(void *stream) {
  use_served(CLOSE);
  return blosc2_stdio_close(stream);
}

static int64_t io_size(void *stream) {
  use_served(SIZE);
  return blosc2_stdio_size(stream);
}

static int64_t io_write(const void *ptr, int64_t size, int64_t nitems, int64_t position, void *stream) {
  use_served(WRITE);
  return blosc2_stdio_write(ptr, size, nitems, position, stream);
}

static int64_t io_read(void **ptr, int64_t size, int64_t nitems, int64_t position, void *stream) {
  use_served(READ_BYTES);
  return blosc2_stdio_read(ptr, size, nitems, position, stream);
}

static int io_truncate(void *stream, int64_t size) {
  use_served(TRUNCATE);
  return blosc2_stdio_truncate(stream, size);
}

/* Makes the calls whose I/O calls back; each succeeds. */
static void use_with_backend(blosc2_schunk *schunk, const uint8_t *data, blosc2_io *io) {
  static uint8_t back[ALL];
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *copy;

  CHECK_IS(blosc2_schunk_append_buffer(schunk, data, ALL), 3);
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 1, back, sizeof back), ALL);
  CHECK(memcmp(back, data, sizeof back) == 0);
  memset(back, 0, sizeof back);
  CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, ALL / ITEM - 5, ALL / ITEM + 5, back), 0);
  CHECK(memcmp(back, data + ALL - 5 * ITEM, 5 * ITEM) == 0 && memcmp(back + 5 * ITEM, data, 5 * ITEM) == 0);
  CHECK_IS(blosc2_vlmeta_update(schunk, "conf", (uint8_t *)"other", 5, NULL), 0);
  CHECK_IS(blosc2_schunk_delete_chunk(schunk, 2), 2);
  CHECK(blosc2_schunk_refresh(schunk) >= 0);
  storage.contiguous = true;
  storage.urlpath = (char *)"copy.b2frame";
  storage.io = io;
  copy = blosc2_schunk_copy(schunk, &storage);
  CHECK(copy != NULL);
  blosc2_schunk_free(copy);
  CHECK_IS(blosc2_remove_urlpath("copy.b2frame"), 0);
  CHECK(blosc2_schunk_to_file(schunk, "copy.b2frame") > 0);
  CHECK_IS(blosc2_remove_urlpath("copy.b2frame"), 0);
  CHECK(blosc2_schunk_append_file(schunk, "copy.b2frame") >= 0);
  CHECK_IS(blosc2_remove_urlpath("copy.b2frame"), 0);
}

/* A callback of an I/O backend that uses the super-chunk of the call gets an error or data, and
 * never waits for itself. */
static void io_backends_cannot_wait_for_themselves(void) {
  static uint8_t data[ALL], items[ALL];
  blosc2_io_cb backend = {.id = 201,
                          .name = "uses it",
                          .is_allocation_necessary = true,
                          .open = io_open,
                          .close = io_close,
                          .size = io_size,
                          .write = io_write,
                          .read = io_read,
                          .truncate = io_truncate,
                          .destroy = blosc2_stdio_destroy};
  blosc2_io io = BLOSC2_IO_DEFAULTS;
  int kind, nthreads, all_calls = 0;

  CHECK_IS(blosc2_register_io_cb(&backend), 0);
  io.id = 201;
  fill_with_data(data, sizeof data);
  for (kind = FRAME; kind < KINDS; kind++) {
    for (nthreads = 1; nthreads <= 3; nthreads += 2) {
      for (function = 0; function < FUNCTIONS; function++) {
        for (action = 0; action < ACTIONS; action++) {
          blosc2_cparams cparams = items_of(ITEM);
          blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
          blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
          blosc2_schunk *schunk;

          cparams.blocksize = BLOCK;
          cparams.nthreads = dparams.nthreads = (int16_t)nthreads;
          storage.cparams = &cparams;
          storage.dparams = &dparams;
          storage.contiguous = is_contiguous(kind);
          storage.urlpath = path_of(kind);
          storage.io = &io;
          schunk = blosc2_schunk_new(&storage);
          CHECK(schunk != NULL);
          CHECK_IS(blosc2_schunk_append_buffer(schunk, data, sizeof data), 1);
          CHECK_IS(blosc2_schunk_append_buffer(schunk, data, sizeof data), 2);
          CHECK_IS(blosc2_vlmeta_add(schunk, "conf", (uint8_t *)"value", 5, NULL), 0);
          if (is_on_disk(kind)) {
            /* A new handle reads its index first. */
            blosc2_schunk_free(schunk);
            schunk = blosc2_schunk_open_udio(path_of(kind), &io);
            CHECK(schunk != NULL);
          }
          done_well = refused = wrong = inner_calls = 0;
          served = schunk;
          use_with_backend(schunk, data, &io);
          served = NULL;
          CHECK_IS(wrong, 0);
          all_calls += inner_calls;
          CHECK_IS(schunk->nchunks, 2);
          CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 0, items, sizeof items), ALL);
          CHECK(memcmp(items, data, sizeof items) == 0);
          CHECK(has_vlmeta(schunk, "conf", "other", 5));
          done(schunk, kind);
        }
      }
    }
  }
  CHECK(all_calls > 3 * 2 * FUNCTIONS * ACTIONS);
}

int main(void) {
  blosc2_filter filter = {.id = 200, .name = "calls back", .version = 1, .forward = forward, .backward = backward};

  alarm(300);
  enter_folder();
  blosc2_init();
  CHECK_IS(blosc2_register_filter(&filter), 0);
  callbacks_may_use_their_own_super_chunk(0);
  callbacks_may_use_their_own_super_chunk(1);
  register_users();
  callbacks_do_not_wait_for_the_source_of_a_copy();
  callbacks_do_not_wait_for_the_arrays_of_a_call();
  calls_without_a_context_do_not_wait_for_themselves();
#ifndef _WIN32
  callbacks_of_calls_without_a_context_fork();
#endif
  io_backends_cannot_wait_for_themselves();
  blosc2_destroy();
  return leave_folder();
}
