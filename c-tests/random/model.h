/*
 * The model of the random test: an object is a plain array of items with a few metalayers.
 * Each change creates the next state; the last RING states are kept in memory shared with child
 * processes.
 */

#ifndef RANDOM_MODEL_H
#define RANDOM_MODEL_H

#include "../check.h"
#include <b2nd.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNKS = 12, CHUNK_ITEMS = 300, CELLS = 4096, LAYERS = 3, DIMS = 3, PICKED = 6, RING = 128 };
enum { ITEM = 4, LAYER_MOST = 600, META_LEN = 8 };

/* The storage of an object. */
enum { SPARSE_MEMORY, FRAME_MEMORY, SINGLE_FILE, DIRECTORY, STORAGES };
enum { PLAIN, MAPPED_R, MAPPED_RPLUS, MAPPED_C, ACCESSES };

typedef struct {
  int32_t len; /* -1: the layer does not exist */
  uint32_t seed;
} layer;

typedef struct {
  /* A super-chunk: the items of each chunk, at data + CHUNK_ITEMS * i. */
  int64_t nchunks;
  int32_t lens[CHUNKS];
  bool is_variable;
  /* An array: its items, rows first. */
  int64_t shape[DIMS];
  layer layers[LAYERS];
  uint32_t meta;
  int32_t data[CELLS];
} state;

/* The properties of a run. */
typedef struct {
  uint32_t seed;
  int storage;
  bool is_array, is_locked, has_meta, may_vary, is_concurrent;
  /* Changes do not move items, and only append, so that files grow. */
  bool keeps_places, only_grows;
  int ndim;
  int32_t chunkshape[DIMS], blockshape[DIMS];
  int64_t limit[DIMS];
  blosc2_cparams cparams;
  blosc2_dparams dparams;
  char path[200], side[220];
} setup;

/* The states, and the numbers of calls. `started` also counts changes that have not completed. */
typedef struct {
  state ring[RING];
  long started, completed;
  long reordered; /* the state after the last reordering of chunks */
  long reads, writes, refused, failures;
  bool stop;
} history;

typedef struct {
  blosc2_schunk *schunk;
  b2nd_array_t *array;
  int access;
  long synced; /* the newest state that the handle must have read */
  bool is_private; /* a mapping of mode c after a write */
  state own;
  blosc2_stdio_mmap mapping;
} handle;

/* A call with its arguments. */
typedef struct {
  int op;
  uint32_t seed;
  int64_t nchunk, from, to, len;
  int64_t coords[PICKED], order[CHUNKS];
  int64_t start[DIMS], stop[DIMS], shape[DIMS];
  int64_t picked[DIMS][PICKED], npicked[DIMS];
  int axis, layer;
  bool flag;
} call;

/* Result codes of the test. */
enum { TOO_LONG = -999, NOT_READ = -998, NOT_MADE = -997 };

enum { OUTPUT_MOST = CELLS * ITEM + 4096 };

typedef struct {
  int64_t code;
  int32_t size;
  bool is_free; /* in the model: any result is allowed */
  uint8_t bytes[OUTPUT_MOST];
} result;

static setup run;
static history *past;

static inline uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static inline uint32_t below(uint32_t *seed, int64_t limit) {
  return limit <= 0 ? 0 : next_random(seed) % (uint32_t)limit;
}

static inline bool one_in(uint32_t *seed, uint32_t count) { return below(seed, count) == 0; }

static inline state *state_of(long version) { return &past->ring[version % RING]; }

static inline long read_number(const long *number) { return __atomic_load_n(number, __ATOMIC_SEQ_CST); }
static inline void add_to(long *number, long change) { __atomic_fetch_add(number, change, __ATOMIC_SEQ_CST); }

/* Generates items of a kind that depends on the seed: zeros, one value, a ramp, noise. */
static inline void fill(int32_t *items, int64_t count, uint32_t seed) {
  uint32_t noise = seed, kind = seed % 5;
  int64_t i;
  for (i = 0; i < count; i++) {
    noise = noise * 1664525u + 1013904223u;
    items[i] = kind == 0   ? 0
               : kind == 1 ? (int32_t)seed
               : kind == 2 ? (int32_t)(seed + (uint32_t)i)
                           : (int32_t)(noise ^ (noise >> 13));
  }
}

static inline void fill_bytes(uint8_t *bytes, int32_t len, uint32_t seed) {
  int32_t i;
  for (i = 0; i < len; i++) {
    bytes[i] = (uint8_t)((seed >> (i % 3)) + (seed % 2 == 0 ? 0u : (uint32_t)(i * i)));
  }
}

static inline int64_t items_in(const int64_t *shape) {
  int64_t count = 1;
  int i;
  for (i = 0; i < run.ndim; i++) {
    count *= shape[i];
  }
  return count;
}

/* Returns the index of an item in row-major order. */
static inline int64_t index_in(const int64_t *shape, const int64_t *at) {
  int64_t index = 0;
  int i;
  for (i = 0; i < run.ndim; i++) {
    index = index * shape[i] + at[i];
  }
  return index;
}

/* Advances to the next index of a shape in row-major order; returns false after the last. */
static inline bool advance(const int64_t *shape, int64_t *at) {
  int i;
  for (i = run.ndim - 1; i >= 0; i--) {
    if (++at[i] < shape[i]) {
      return true;
    }
    at[i] = 0;
  }
  return false;
}

static inline void put(result *out, const void *bytes, size_t size) {
  if ((size_t)out->size + size <= sizeof out->bytes) {
    memcpy(out->bytes + out->size, bytes, size);
    out->size += (int32_t)size;
  } else {
    out->code = TOO_LONG;
  }
}

static inline const char *layer_name(int number) {
  static const char *const names[LAYERS] = {"v0", "v1", "a longer name of a layer"};
  return names[number];
}

static inline uint32_t digest(const void *bytes, int64_t size) {
  const uint8_t *at = (const uint8_t *)bytes;
  uint32_t sum = 2166136261u;
  int64_t i;
  for (i = 0; i < size; i++) {
    sum = (sum ^ at[i]) * 16777619u;
  }
  return sum;
}

#endif /* RANDOM_MODEL_H */
