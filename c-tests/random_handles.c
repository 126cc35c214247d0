/*
 * Random calls on an object through several handles, threads and processes, checked against a
 * model.
 *
 * Each seed creates an object (a super-chunk or an array, in memory, a file or a directory, with
 * or without locks) and one of four runs:
 *
 *   handles    several handles in one thread, some of them mapped
 *   shared     a writer and readers as threads on one handle
 *   threads    writers and readers as threads with a handle each
 *   processes  writers and readers as processes with a handle each
 *
 * A read must return a state that existed between its start and its end. Without locks a
 * handle may show older data until it is refreshed, or return an error; concurrent changes of an
 * array's shape without locks allow any result. Mappings use no locks: with mappings, files only
 * grow.
 *
 *   random_handles                  a few fixed seeds; HANDLES_ROUNDS and HANDLES_SEED change them
 *   random_handles RUN SEED         one seed of one run; HANDLES_VERBOSE prints calls of `handles`
 *   random_handles log SEED         one seed with one handle: prints the calls without checks
 *   random_handles log-two SEED     the same with two handles, each refreshed before each use
 */

#include "random/array_calls.h"

enum { HANDLES = 4, STEPS = 160, THREADS = 3, CHANGES = 60 };

static char folder[] = P_tmpdir "/ferroblosc-random-XXXXXX";
static bool is_logging, is_verbose;
static uint32_t run_seed;
static const char *run_name;

/* ---- objects and handles --------------------------------------------------------------------- */

static void choose_setup(uint32_t seed, bool is_concurrent) {
  static const int32_t chunks[DIMS][DIMS] = {{64}, {6, 5}, {4, 3, 2}};
  static const int32_t blocks[DIMS][DIMS] = {{16}, {3, 5}, {2, 3, 2}};
  static const int64_t limits[DIMS][DIMS] = {{700, 1, 1}, {26, 24, 1}, {12, 11, 9}};
  static const uint8_t codecs[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_ZSTD, BLOSC_ZLIB};
  uint32_t random = seed * 2654435761u + 17;
  memset(&run, 0, sizeof run);
  next_random(&random);
  run.seed = next_random(&random);
  run.storage = one_in(&random, 2) ? SINGLE_FILE : (int)below(&random, STORAGES);
  run.is_array = one_in(&random, 2);
  run.is_locked = one_in(&random, 2);
  run.has_meta = one_in(&random, 2);
  run.may_vary = one_in(&random, 4);
  run.is_concurrent = is_concurrent;
  run.ndim = run.is_array ? 1 + (int)below(&random, DIMS) : 1;
  memcpy(run.chunkshape, chunks[run.ndim - 1], sizeof run.chunkshape);
  memcpy(run.blockshape, blocks[run.ndim - 1], sizeof run.blockshape);
  memcpy(run.limit, limits[run.ndim - 1], sizeof run.limit);
  run.cparams = BLOSC2_CPARAMS_DEFAULTS;
  run.dparams = BLOSC2_DPARAMS_DEFAULTS;
  run.cparams.typesize = ITEM;
  run.cparams.compcode = codecs[below(&random, 4)];
  run.cparams.clevel = (uint8_t)below(&random, 7);
  /* The reference reads single items of a super-chunk correctly only with a forced block size. */
  run.cparams.blocksize = run.is_array || (one_in(&random, 2) && !is_logging) ? 0 : 400;
  run.cparams.nthreads = run.dparams.nthreads = (int16_t)(one_in(&random, 4) ? 2 : 1);
  snprintf(run.path, sizeof run.path, "%s/object", folder);
  snprintf(run.side, sizeof run.side, "%s/side-%d", folder, (int)getpid());
}

static bool is_on_disk(void) { return run.storage >= SINGLE_FILE; }

static void create(handle *object) {
  static const int64_t shapes[DIMS][DIMS] = {{100}, {7, 9}, {5, 4, 3}};
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  state *first = state_of(0);
  uint8_t content[META_LEN];
  int i;
  memset(first, 0, sizeof *first);
  for (i = 0; i < LAYERS; i++) {
    first->layers[i].len = -1;
  }
  first->meta = run.seed;
  fill_bytes(content, META_LEN, first->meta);
  storage.cparams = &run.cparams;
  storage.dparams = &run.dparams;
  storage.contiguous = run.storage == SINGLE_FILE || run.storage == FRAME_MEMORY;
  storage.urlpath = is_on_disk() ? run.path : NULL;
  object->access = PLAIN;
  object->synced = 0;
  object->is_private = false;
  object->array = NULL;
  if (run.is_array) {
    static int32_t items[CELLS];
    blosc2_metalayer layers[1];
    b2nd_context_t *context;
    memcpy(first->shape, shapes[run.ndim - 1], sizeof first->shape);
    fill(first->data, items_in(first->shape), run.seed);
    memcpy(items, first->data, sizeof items);
    layers[0].name = (char *)"m";
    layers[0].content = content;
    layers[0].content_len = META_LEN;
    context = b2nd_create_ctx(&storage, (int8_t)run.ndim, first->shape, run.chunkshape, run.blockshape, "<i4", 0,
                              run.has_meta ? layers : NULL, run.has_meta);
    CHECK_IS(b2nd_from_cbuffer(context, &object->array, items, items_in(first->shape) * ITEM), 0);
    b2nd_free_ctx(context);
    object->schunk = object->array->sc;
  } else {
    object->schunk = blosc2_schunk_new(&storage);
    CHECK(object->schunk != NULL);
    if (run.has_meta) {
      CHECK(blosc2_meta_add(object->schunk, "m", content, META_LEN) >= 0);
    }
    for (i = 0; i < 3; i++) {
      fill(&first->data[i * CHUNK_ITEMS], CHUNK_ITEMS, run.seed + (uint32_t)i);
      first->lens[i] = CHUNK_ITEMS;
      first->nchunks = i + 1;
      CHECK_IS(blosc2_schunk_append_buffer(object->schunk, &first->data[i * CHUNK_ITEMS], CHUNK_ITEMS * ITEM), i + 1);
    }
  }
}

/* Opens another handle of an object on disk; returns whether this succeeded. */
static bool open_handle(handle *object, int access) {
  static const char *const modes[ACCESSES] = {"", "r", "r+", "c"};
  blosc2_io io = BLOSC2_IO_DEFAULTS;
  object->access = access;
  object->is_private = false;
  object->array = NULL;
  if (access != PLAIN) {
    object->mapping = BLOSC2_STDIO_MMAP_DEFAULTS;
    object->mapping.mode = modes[access];
    io.id = BLOSC2_IO_FILESYSTEM_MMAP;
    io.params = &object->mapping;
  }
  object->schunk = access == PLAIN ? blosc2_schunk_open(run.path) : blosc2_schunk_open_udio(run.path, &io);
  if (object->schunk != NULL && run.is_array) {
    if (b2nd_from_schunk(object->schunk, &object->array) != 0) {
      blosc2_schunk_free(object->schunk);
      object->schunk = NULL;
    }
  }
  return object->schunk != NULL;
}

static void close_handle(handle *object) {
  if (object->array != NULL) {
    CHECK_IS(b2nd_free(object->array), 0);
  } else if (object->schunk != NULL) {
    CHECK_IS(blosc2_schunk_free(object->schunk), 0);
  }
  object->array = NULL;
  object->schunk = NULL;
}

static int refresh(handle *object) {
  return run.is_array ? b2nd_refresh(object->array) : blosc2_schunk_refresh(object->schunk);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static const char *name_of(bool is_write, int op) {
  static const char *const reads[] = {"decompress_chunk", "get_slice_buffer", "get_sparse_buffer", "get_chunk",
                                      "get_lazychunk", "getitem", "get_slice_nchunks", "copy", "to_buffer", "to_file",
                                      "vlmeta_get", "vlmeta_exists", "meta_get", "array get_slice_cbuffer",
                                      "array to_cbuffer", "array sparse", "array orthogonal", "array get_slice",
                                      "array copy", "array save", "array save_append", "array to_cframe", "array view",
                                      "array concatenate", "whole"};
  static const char *const writes[] = {"vlmeta_add", "vlmeta_update", "vlmeta_delete", "meta_update", "append_buffer",
                                       "append_chunk", "insert_chunk", "update_chunk", "delete_chunk", "reorder",
                                       "set_slice_buffer", "fill_special", "array set_slice", "array set_orthogonal",
                                       "array resize", "array append", "array insert", "array delete", "array join"};
  return is_write ? writes[op] : reads[op];
}

static void complain(const handle *object, bool is_write, const call *it, int64_t code, const char *why) {
  if (is_logging) {
    return;
  }
  add_to(&past->failures, 1);
  printf("%s seed %u: %s, storage %d access %d%s%s, %ld to %ld: %s gave %lld: %s\n", run_name, run_seed,
         run.is_array ? "array" : "schunk", run.storage, object->access, object->is_private ? " private" : "",
         run.is_locked ? " locked" : "", object->synced, past->started, name_of(is_write, it->op), (long long)code, why);
  fflush(stdout);
}

static void model_read(const state *now, const call *it, result *out) {
  if (it->op == ARRAY_READS_END) {
    out->code = 0;
    out->size = 0;
    out->is_free = false;
    if (run.is_array) {
      call all = *it;
      all.op = ARRAY_ALL;
      model_array_read(now, &all, out);
    } else {
      whole_of_state(now, out);
    }
    layers_of_state(now, out);
  } else if (run.is_array) {
    model_array_read(now, it, out);
  } else {
    model_schunk_read(now, it, out);
  }
}

static void call_read(handle *object, const call *it, result *out) {
  add_to(&past->reads, 1);
  if (it->op == ARRAY_READS_END) {
    out->code = 0;
    out->size = 0;
    out->is_free = false;
    if (run.is_array) {
      read_whole_array(object->array, out);
    } else {
      read_whole_schunk(object->schunk, out);
    }
    if (out->code >= 0) {
      read_layers(object->schunk, out);
    }
  } else if (run.is_array) {
    call_array_read(object, it, out);
  } else {
    call_schunk_read(object, it, out);
  }
  if (out->code < 0) {
    out->size = 0;
  }
}

static bool is_that(const result *found, const result *wanted) {
  if (wanted->is_free || (found->code < 0 && wanted->code < 0)) {
    return true;
  }
  return found->code >= 0 && wanted->code >= 0 && found->size == wanted->size &&
         memcmp(found->bytes, wanted->bytes, (size_t)found->size) == 0;
}

/* Whether the read data are one of the states from `first` to `last`; with `may_mix`, each item
 * may be from any of them. */
static bool is_known(const result *found, const call *it, long first, long last, bool may_mix) {
  static __thread result wanted;
  static __thread bool is_seen[OUTPUT_MOST];
  long version;
  int32_t i;
  if (found->is_free || last - first >= RING - 2) {
    return true;
  }
  for (i = 0; i < found->size; i++) {
    /* Items added to an array are zeros at first. */
    is_seen[i] = run.is_array && run.is_concurrent && found->bytes[i] == 0;
  }
  for (version = last; version >= first; version--) {
    model_read(state_of(version), it, &wanted);
    if (is_that(found, &wanted)) {
      return true;
    }
    if (may_mix && found->code >= 0 && wanted.code >= 0 && wanted.size == found->size) {
      for (i = 0; i < found->size; i++) {
        if (found->bytes[i] == wanted.bytes[i]) {
          is_seen[i] = true;
        }
      }
    }
  }
  for (i = 0; i < found->size && is_seen[i]; i++) {
  }
  return may_mix && found->code >= 0 && found->size > 0 && i == found->size;
}

/* ---- several handles in one thread ----------------------------------------------------------- */

static handle handles[HANDLES];

static int model_write(const state *now, const call *it, state *after) {
  return run.is_array ? model_array_write(now, it, after) : model_schunk_write(now, it, after);
}

static int64_t call_write(handle *object, const call *it) {
  add_to(&past->writes, 1);
  return run.is_array ? call_array_write(object, it) : call_schunk_write(object, it);
}

static void log_call(int number, bool is_write, const call *it, int64_t code, const result *out, bool is_strict) {
  if (is_logging) {
    printf("%ld %d %s %s: %s %x\n", past->completed, number, is_strict ? "=" : "~", name_of(is_write, it->op),
           code < 0 ? "refused" : "done", out == NULL ? 0 : digest(out->bytes, out->size));
    fflush(stdout);
  } else if (is_verbose) {
    printf("%ld handle %d (%d) %s: %lld (chunk %lld, len %lld, %lld to %lld, axis %d, flag %d)\n", past->completed,
           number, handles[number].access, name_of(is_write, it->op), (long long)code, (long long)it->nchunk,
           (long long)it->len, (long long)it->from, (long long)it->to, it->axis, it->flag);
    fflush(stdout);
  }
}

/* Mappings use no locks. */
static bool takes_locks(const handle *object) { return run.is_locked && object->access == PLAIN; }

/* Calls compare the index of a chunk or item with the struct, whose counts may be outdated. */
static bool counts_are_new(const handle *object) {
  const state *now = state_of(past->completed);
  return run.is_array ? memcmp(object->array->shape, now->shape, (size_t)run.ndim * sizeof *now->shape) == 0
                      : object->schunk->nchunks == now->nchunks &&
                            object->schunk->nbytes == items_of_state(now) * ITEM;
}

/* Whether reads must return the newest data. A mapping of mode c keeps its written pages until
 * another handle changes the file. */
static bool is_strict(const handle *object) {
  return object->synced == past->completed || takes_locks(object);
}

/* Whether a call reads all chunks and metalayers, which may change during the call without
 * locks. */
static bool is_of_several_calls(const call *it) {
  return run.is_array ? it->op == ARRAY_ALL || it->op >= ARRAY_COPY : it->op >= COPY && it->op <= TO_FILE;
}

static void read_once(int number, const call *it) {
  static result found;
  handle *object = &handles[number];
  long first = takes_locks(object) && it->op != META_GET ? past->completed : object->synced;
  bool strict = is_strict(object) && (it->op != META_GET || object->synced == past->completed);
  bool may_fail = !strict || (!counts_are_new(object) && !object->is_private);
  if (it->op == META_GET && !takes_locks(object)) {
    /* Without locks, a metalayer change may keep the file size, by which other handles detect
     * changes. */
    first = past->completed > RING - 10 ? past->completed - RING + 10 : 0;
  }
  if (!strict && object->synced < past->reordered) {
    /* After a reordering, chunks may be found at their old offsets. */
    call_read(object, it, &found);
    return;
  }
  call_read(object, it, &found);
  log_call(number, false, it, found.code, &found, strict);
  if (object->is_private) {
    static result wanted;
    model_read(&object->own, it, &wanted);
    if (!is_that(&found, &wanted) && !(found.code < 0 && may_fail)) {
      complain(object, false, it, found.code, "differs from the written data");
    }
  } else if (!is_known(&found, it, first, past->completed, !strict) && !(found.code < 0 && may_fail) &&
             !(!strict && is_of_several_calls(it))) {
    complain(object, false, it, found.code, "no such state");
  }
}

static void read_all(int number) {
  call it;
  memset(&it, 0, sizeof it);
  it.op = ARRAY_READS_END;
  read_once(number, &it);
}

static void refresh_handle(int number) {
  handle *object = &handles[number];
  call it;
  int code = refresh(object);
  memset(&it, 0, sizeof it);
  it.op = ARRAY_READS_END;
  if (code < 0) {
    complain(object, false, &it, code, "refresh failed");
  }
  object->synced = past->completed;
}

/* If an array shrinks and grows inside of its last chunks, the removed items may reappear. */
static void take_old_items(handle *object, const state *now, const call *it, state *after) {
  static int32_t items[CELLS];
  int64_t at[DIMS] = {0, 0, 0};
  int i;
  if (it->op != ARRAY_RESIZE || b2nd_to_cbuffer(object->array, items, sizeof items) != 0 ||
      items_in(after->shape) == 0) {
    return;
  }
  do {
    for (i = 0; i < run.ndim; i++) {
      int64_t whole = (now->shape[i] + run.chunkshape[i] - 1) / run.chunkshape[i] * run.chunkshape[i];
      if (at[i] >= whole) {
        break;
      }
    }
    if (i == run.ndim) {
      for (i = 0; i < run.ndim; i++) {
        if (at[i] >= now->shape[i]) {
          after->data[index_in(after->shape, at)] = items[index_in(after->shape, at)];
        }
      }
    }
  } while (advance(after->shape, at));
}

static void write_once(int number, uint32_t *seed) {
  static state after, before;
  handle *object = &handles[number];
  call it;
  int verdict;
  int64_t code;
  if (object->access == MAPPED_C && !object->is_private) {
    refresh_handle(number);
    object->own = *state_of(past->completed);
  } else if (object->synced != past->completed && (!takes_locks(object) || one_in(seed, 3))) {
    refresh_handle(number);
  }
  before = object->is_private ? object->own : *state_of(past->completed);
  if (run.is_array) {
    choose_array_write(&before, seed, &it);
  } else {
    choose_schunk_write(&before, seed, &it);
  }
  verdict = model_write(&before, &it, &after);
  if (verdict == 1 && !object->is_private && !counts_are_new(object)) {
    verdict = 2;
  }
  code = call_write(object, &it);
  log_call(number, true, &it, code, NULL, true);
  if (code < 0) {
    add_to(&past->refused, 1);
  }
  if (code >= 0 && run.is_array) {
    take_old_items(object, &before, &it, &after);
  }
  if (code < 0 ? verdict == 1 : verdict == 0) {
    complain(object, true, &it, code, code < 0 ? "must work" : "must fail");
  }
  if (object->access == MAPPED_C) {
    if (code >= 0) {
      object->own = after;
      object->is_private = true;
    }
  } else if (code >= 0) {
    *state_of(past->completed + 1) = after;
    past->completed++;
    past->started++;
    if (!run.is_array && it.op == REORDER) {
      past->reordered = past->completed;
    }
    object->synced = past->completed;
  }
  if (one_in(seed, 3) && object->synced == past->completed) {
    read_all(number);
  }
}

static void handles_run(uint32_t seed) {
  uint32_t random;
  int count, i, step;
  call it;
  run_seed = seed;
  choose_setup(seed, false);
  CHECK_IS(run.is_locked ? setenv("BLOSC_LOCKING", "1", 1) : unsetenv("BLOSC_LOCKING"), 0);
  past->started = past->completed = past->reordered = 0;
  random = run.seed;
  create(&handles[0]);
  count = !is_on_disk() ? 1 : !is_logging ? HANDLES : strcmp(run_name, "log") == 0 ? 1 : 2;
  for (i = 1; i < count; i++) {
    int access = run.storage == SINGLE_FILE && !is_logging ? (int)below(&random, ACCESSES) : PLAIN;
    handles[i].synced = 0;
    if (!open_handle(&handles[i], access)) {
      printf("seed %u: access %d cannot be opened\n", seed, access);
      exit(EXIT_FAILURE);
    }
  }
  for (step = 0; step < STEPS; step++) {
    int number = (int)below(&random, count), action = (int)below(&random, 100);
    handle *object = &handles[number];
    if (object->is_private && object->synced != past->completed) {
      /* Its unwritten pages already show the changed file, so the handle is reopened. */
      action = 99;
    } else if (past->completed - object->synced > RING - 10) {
      action = 90;
    }
    if (is_logging && object->synced != past->completed) {
      refresh_handle(number);
    }
    if (action < 45 || (action < 82 && (object->access == MAPPED_R || (object->access == MAPPED_RPLUS && run.is_locked)))) {
      const state *hint = object->is_private ? &object->own : state_of(past->completed);
      if (run.is_array) {
        choose_array_read(hint, &random, &it);
      } else {
        choose_schunk_read(hint, &random, &it);
      }
      read_once(number, &it);
    } else if (action < 82) {
      write_once(number, &random);
    } else if (action < 93) {
      if (object->is_private) {
        continue;
      }
      refresh_handle(number);
      read_all(number);
    } else if (number > 0) {
      int access = object->access;
      close_handle(object);
      object->synced = past->completed;
      if (!open_handle(object, access)) {
        memset(&it, 0, sizeof it);
        it.op = ARRAY_READS_END;
        complain(object, false, &it, -1, "cannot be reopened");
        exit(EXIT_FAILURE);
      }
      read_all(number);
    }
  }
  for (i = count - 1; i >= 0; i--) {
    if (i > 0 || is_on_disk()) {
      close_handle(&handles[i]);
    }
  }
  handles[0].synced = past->completed;
  if (is_on_disk() && !open_handle(&handles[0], PLAIN)) {
    memset(&it, 0, sizeof it);
    it.op = ARRAY_READS_END;
    complain(&handles[0], false, &it, -1, "cannot be opened at the end");
    exit(EXIT_FAILURE);
  } else {
    read_all(0);
    close_handle(&handles[0]);
  }
  CHECK_IS(blosc2_remove_urlpath(run.path), 0);
}

/* ---- threads and processes ------------------------------------------------------------------- */

static bool have_own_handles;
static int nwriters;

static void one_change(handle *object, uint32_t *seed) {
  static __thread state after;
  call it;
  int verdict;
  int64_t code;
  state *before;
  if (nwriters > 1 && blosc2_schunk_lock(object->schunk) != 0) {
    memset(&it, 0, sizeof it);
    complain(object, true, &it, -1, "no lock");
    return;
  }
  if (nwriters > 1 && refresh(object) < 0) {
    memset(&it, 0, sizeof it);
    complain(object, true, &it, -1, "no refresh");
  }
  before = state_of(read_number(&past->started));
  if (run.is_array) {
    choose_array_write(before, seed, &it);
  } else {
    choose_schunk_write(before, seed, &it);
  }
  verdict = model_write(before, &it, &after);
  *state_of(past->started + 1) = after;
  add_to(&past->started, 1);
  code = call_write(object, &it);
  if (code < 0 ? verdict == 1 : verdict == 0) {
    complain(object, true, &it, code, code < 0 ? "must work" : "must fail");
  }
  if (code < 0) {
    /* The change failed: the old state follows again, since readers may have read the new one. */
    *state_of(past->started + 1) = *state_of(past->started - 1);
    add_to(&past->started, 1);
    add_to(&past->refused, 1);
  }
  __atomic_store_n(&past->completed, past->started, __ATOMIC_SEQ_CST);
  if (nwriters > 1) {
    CHECK_IS(blosc2_schunk_unlock(object->schunk), 0);
  }
}

static void *write_on(void *argument) {
  uint32_t seed = run.seed + 77 * (uint32_t)(size_t)argument;
  static handle none;
  handle *object = &handles[0], *own = NULL;
  int i;
  if (have_own_handles) {
    own = object = (handle *)malloc(sizeof *object);
    *own = none;
    if (!open_handle(object, PLAIN)) {
      CHECK(!"a writer opens the object");
      return NULL;
    }
  }
  for (i = 0; i < CHANGES; i++) {
    one_change(object, &seed);
  }
  if (own != NULL) {
    close_handle(own);
    free(own);
  }
  return NULL;
}

static void *read_on(void *argument) {
  static __thread result found;
  uint32_t seed = run.seed + 1000 * (uint32_t)(size_t)argument;
  handle *object = &handles[0], *own = NULL;
  if (have_own_handles) {
    int access = run.only_grows && (size_t)argument % 2 == 0 ? MAPPED_R : PLAIN;
    own = object = (handle *)calloc(1, sizeof *object);
    own->synced = read_number(&past->completed);
    while (!open_handle(object, access)) {
      if (takes_locks(object)) {
        CHECK(!"a reader opens the object");
        free(own);
        return NULL;
      }
      if (__atomic_load_n(&past->stop, __ATOMIC_SEQ_CST)) {
        free(own);
        return NULL;
      }
    }
  }
  snprintf(run.side, sizeof run.side, "%s/side-%d", folder, (int)getpid());
  while (!__atomic_load_n(&past->stop, __ATOMIC_SEQ_CST)) {
    long first = read_number(&past->completed), last;
    bool may_mix = have_own_handles && !takes_locks(object), may_fail;
    int tries;
    if (run.is_locked) {
      /* Locks are not fair: continuous readers can starve a writer. */
      usleep(3000);
    }
    call it;
    if (run.is_array) {
      choose_array_read(state_of(first), &seed, &it);
    } else {
      choose_schunk_read(state_of(first), &seed, &it);
    }
    if (it.op == META_GET || it.op == TO_FILE || it.op == ARRAY_SAVE || it.op == ARRAY_APPENDED) {
      continue;
    }
    if (own != NULL && one_in(&seed, 3) && refresh(object) < 0 && run.is_locked) {
      complain(object, false, &it, -1, "no refresh");
    }
    for (tries = 0; tries < 3; tries++) {
      may_fail = may_mix || (own != NULL && !counts_are_new(object));
      call_read(object, &it, &found);
      last = read_number(&past->started);
      may_fail = may_fail || (own != NULL && last != first);
      if (may_mix) {
        first = last - own->synced > RING - 10 ? last - RING + 10 : own->synced;
      }
      if ((may_mix && is_of_several_calls(&it)) || is_known(&found, &it, first, last, may_mix) ||
          read_number(&past->started) - first >= RING - 2 || (found.code < 0 && may_fail)) {
        break;
      }
      if (!may_mix) {
        complain(object, false, &it, found.code, "no such state");
        break;
      }
      /* Without locks an incomplete change may be read. A refresh must return a complete state. */
      usleep(2000);
      refresh(object);
    }
    if (tries == 3) {
      complain(object, false, &it, found.code, "no such state after a refresh");
    }
  }
  if (own != NULL) {
    close_handle(own);
    free(own);
  }
  return NULL;
}

static void concurrent_run(const char *name, uint32_t seed, bool own_handles, bool in_processes) {
  uint32_t random = seed;
  call it;
  int i, status;
  run_seed = seed;
  choose_setup(seed, true);
  if (own_handles && !is_on_disk()) {
    run.storage = SINGLE_FILE + (int)(seed % 2);
  }
  have_own_handles = own_handles;
  run.only_grows = own_handles && run.storage == SINGLE_FILE && one_in(&random, 3);
  run.keeps_places = run.only_grows || (own_handles && !run.is_locked);
  nwriters = own_handles && run.is_locked ? 2 : 1;
  CHECK_IS(run.is_locked ? setenv("BLOSC_LOCKING", "1", 1) : unsetenv("BLOSC_LOCKING"), 0);
  past->started = past->completed = past->reordered = 0;
  past->stop = false;
  create(&handles[0]);
  if (own_handles) {
    close_handle(&handles[0]);
  } else if (run.storage == SINGLE_FILE && seed % 2 == 0) {
    close_handle(&handles[0]);
    CHECK(open_handle(&handles[0], MAPPED_RPLUS));
  }
  if (in_processes) {
    pid_t children[THREADS + 2];
    fflush(stdout);
    for (i = 0; i < THREADS + nwriters; i++) {
      children[i] = fork();
      if (children[i] == 0) {
        checks_bad = 0;
        (i < THREADS ? read_on : write_on)((void *)(size_t)i);
        fflush(stdout);
        _exit(checks_bad == 0 ? 0 : 1);
      }
    }
    for (i = THREADS + nwriters - 1; i >= 0; i--) {
      if (i < THREADS) {
        __atomic_store_n(&past->stop, true, __ATOMIC_SEQ_CST);
      }
      CHECK(waitpid(children[i], &status, 0) == children[i]);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        printf("%s seed %u: child %d ended with status %x\n", name, seed, i, status);
        checks_bad++;
      }
    }
  } else {
    pthread_t threads[THREADS + 2];
    for (i = 0; i < THREADS + nwriters; i++) {
      CHECK(pthread_create(&threads[i], NULL, i < THREADS ? read_on : write_on, (void *)(size_t)i) == 0);
    }
    for (i = THREADS + nwriters - 1; i >= 0; i--) {
      if (i < THREADS) {
        __atomic_store_n(&past->stop, true, __ATOMIC_SEQ_CST);
      }
      CHECK(pthread_join(threads[i], NULL) == 0);
    }
  }
  handles[0].synced = past->completed;
  memset(&it, 0, sizeof it);
  it.op = ARRAY_READS_END;
  if (own_handles && !open_handle(&handles[0], PLAIN)) {
    complain(&handles[0], false, &it, -1, "cannot be opened at the end");
    exit(EXIT_FAILURE);
  } else {
    read_once(0, &it);
    close_handle(&handles[0]);
  }
  CHECK_IS(blosc2_remove_urlpath(run.path), 0);
}

static void one_run(const char *name, uint32_t seed) {
  alarm(300);
  run_name = name;
  if (strcmp(name, "handles") == 0 || is_logging) {
    handles_run(seed);
  } else {
    concurrent_run(name, seed, strcmp(name, "shared") != 0, strcmp(name, "processes") == 0);
  }
}

int main(int argc, char **argv) {
  static const char *const names[] = {"handles", "handles", "handles", "shared", "threads", "processes"};
  const char *asked = getenv("HANDLES_ROUNDS"), *first = getenv("HANDLES_SEED");
  uint32_t rounds = asked == NULL ? 8 : (uint32_t)atol(asked), seed = first == NULL ? 1 : (uint32_t)atol(first), round;
  size_t i;
  blosc2_init();
  past = (history *)mmap(NULL, sizeof *past, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(past != MAP_FAILED && mkdtemp(folder) != NULL);
  if (argc == 3) {
    is_logging = strncmp(argv[1], "log", 3) == 0;
    is_verbose = getenv("HANDLES_VERBOSE") != NULL;
    one_run(argv[1], (uint32_t)atol(argv[2]));
  } else {
    for (round = 0; round < rounds; round++) {
      for (i = 0; i < sizeof names / sizeof *names; i++) {
        one_run(names[i], seed++);
      }
    }
    if (asked != NULL) {
      printf("seeds %u to %u: %ld reads, %ld changes, %ld of them refused\n", seed - rounds * 6, seed - 1, past->reads,
             past->writes, past->refused);
    }
  }
  if (!is_logging) {
    CHECK_IS(past->failures, 0);
  }
  CHECK_IS(rmdir(folder), 0);
  blosc2_destroy();
  return checks_failed();
}
