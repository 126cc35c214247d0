/*
 * Random calls for a given time: memory, descriptors, threads and files must not grow, and nothing
 * may be lost.
 *
 *   soak SECONDS [FOLDER [SEED]]
 *
 * A run takes at least WARM_UP rounds. Super-chunks in a file and in a directory and an array are opened, changed, read, resized, and
 * read in forked children; writers in durable mode are killed at random moments. The expected
 * content is in memory and, between runs, in FOLDER/expected: a run with the same FOLDER continues.
 * Prints a line per minute.
 */

#include "check.h"
#include <b2nd.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 700, NBYTES = ITEMS * 4, MAX_CHUNKS = 24, ROWS = 40, COLUMNS = 30, META = 100 };
/* UNKNOWN is an item of the array that may have any value. */
enum { UNKNOWN = -1 };
enum { CHUNK_ROWS = 8, CHUNK_COLUMNS = 10 };
enum { FILE_FRAME, DIRECTORY_FRAME, FRAMES, CALLS_OF_A_CHILD = 40, THREADS = 2 };

/* The rounds before memory is measured for the first time, and between two measurements. */
enum { WARM_UP = 1500, ROUNDS_OF_A_SAMPLE = 500 };
/* The kB by which the memory may exceed that after the warm-up: the heap has gaps. */
enum { MEMORY_SLACK = 8192 };
/* The seconds without progress after which an alarm ends the process. */
enum { PATIENCE = 120 };

/* The expected content of a frame: the numbers from which the data of its chunks follow. */
typedef struct {
  int32_t count, meta;
  int32_t numbers[MAX_CHUNKS];
} content;

typedef struct {
  content frames[FRAMES];
  int64_t shape[2];
  int32_t items[ROWS][COLUMNS];
  int32_t last_number;
} contents;

/* A change of a frame. */
typedef struct {
  enum { APPEND, INSERT, UPDATE, DELETE, SET_META, CHANGES } kind;
  int32_t at, number;
} change;

/* The progress of a child that is killed: the calls it began and those it finished. */
typedef struct {
  volatile int begun, finished, failed;
} progress;

static contents expected;
static blosc2_schunk *handles[FRAMES];
static b2nd_array_t *array;
static const char *folder;
static char paths[FRAMES + 1][400];
static uint64_t seed;
static progress *shared;
static long rounds, kills, forks;

static uint32_t below(uint32_t limit) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % limit;
}

static void stop(const char *what, int frame) {
  printf("round %ld, frame %d: %s\n", rounds, frame, what);
  fflush(stdout);
  _exit(EXIT_FAILURE);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Fills a chunk: its number, then noise, a ramp, or equal items. */
static void fill(int32_t *items, int32_t number) {
  uint32_t noise = (uint32_t)number * 2654435761u;
  int i;

  for (i = 0; i < ITEMS; i++) {
    noise = noise * 1664525u + 1013904223u;
    items[i] = i == 0 ? number : number % 3 == 0 ? (int32_t)noise : number % 3 == 1 ? i : 7;
  }
}

static blosc2_schunk *create(int frame, blosc2_cparams *cparams) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;

  *cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams->typesize = 4;
  cparams->nthreads = 2;
  storage.cparams = cparams;
  storage.contiguous = frame == FILE_FRAME;
  storage.urlpath = paths[frame];
  return blosc2_schunk_new(&storage);
}

static blosc2_schunk *handle_of(int frame) {
  if (handles[frame] == NULL) {
    handles[frame] = blosc2_schunk_open(paths[frame]);
    if (handles[frame] == NULL) {
      stop("cannot be opened", frame);
    }
  }
  return handles[frame];
}

static void close_frame(int frame) {
  if (handles[frame] != NULL && blosc2_schunk_free(handles[frame]) != 0) {
    stop("cannot be freed", frame);
  }
  handles[frame] = NULL;
}

/* Reads the content of a frame; returns whether all chunks have the data of their numbers. */
static bool read_content(blosc2_schunk *schunk, content *found) {
  int32_t items[ITEMS], right[ITEMS], len = 0, i;
  uint8_t *meta = NULL;

  memset(found, 0, sizeof *found);
  if (schunk->nchunks > MAX_CHUNKS) {
    return false;
  }
  found->count = (int32_t)schunk->nchunks;
  for (i = 0; i < found->count; i++) {
    if (blosc2_schunk_decompress_chunk(schunk, i, items, NBYTES) != NBYTES) {
      return false;
    }
    fill(right, items[0]);
    if (memcmp(items, right, NBYTES) != 0) {
      return false;
    }
    found->numbers[i] = items[0];
  }
  if (blosc2_vlmeta_get(schunk, "meta", &meta, &len) < 0 || len < 4 || len % 4 != 0) {
    free(meta);
    return false;
  }
  memcpy(&found->meta, meta, 4);
  free(meta);
  return true;
}

static bool is_as_expected(blosc2_schunk *schunk, const content *right) {
  content found;
  return read_content(schunk, &found) && memcmp(&found, right, sizeof found) == 0;
}

static change random_change(const content *now) {
  change next;

  next.kind = below(CHANGES);
  if (next.kind != SET_META && now->count == MAX_CHUNKS) {
    next.kind = DELETE;
  }
  if ((next.kind == UPDATE || next.kind == DELETE) && now->count == 0) {
    next.kind = APPEND;
  }
  next.number = ++expected.last_number;
  next.at = (int32_t)below((uint32_t)now->count + (next.kind == INSERT || now->count == 0));
  return next;
}

/* Makes a change of the expected content. */
static void expect(content *now, change next) {
  int32_t *at = &now->numbers[next.at];
  size_t after = (size_t)(now->count - next.at) * sizeof *at;

  switch (next.kind) {
    case APPEND:
      now->numbers[now->count++] = next.number;
      break;
    case INSERT:
      memmove(at + 1, at, after);
      *at = next.number;
      now->count++;
      break;
    case UPDATE:
      *at = next.number;
      break;
    case DELETE:
      memmove(at, at + 1, after - sizeof *at);
      now->numbers[--now->count] = 0;
      break;
    default:
      now->meta = next.number;
  }
}

/* Makes a change of a frame; returns whether it succeeded. */
static bool make(blosc2_schunk *schunk, change next) {
  int32_t items[ITEMS], len;
  uint8_t chunk[NBYTES + BLOSC2_MAX_OVERHEAD];

  fill(items, next.number);
  if (next.kind == INSERT || next.kind == UPDATE) {
    if (blosc2_compress_ctx(schunk->cctx, items, NBYTES, chunk, sizeof chunk) <= 0) {
      return false;
    }
  }
  switch (next.kind) {
    case APPEND:
      return blosc2_schunk_append_buffer(schunk, items, NBYTES) > 0;
    case INSERT:
      return blosc2_schunk_insert_chunk(schunk, next.at, chunk, true) > 0;
    case UPDATE:
      return blosc2_schunk_update_chunk(schunk, next.at, chunk, true) > 0;
    case DELETE:
      return blosc2_schunk_delete_chunk(schunk, next.at) >= 0;
    default:
      len = 4 * (1 + next.number % META);
      return blosc2_vlmeta_update(schunk, "meta", (uint8_t *)items, len, NULL) >= 0;
  }
}

static void change_frame(int frame) {
  change next = random_change(&expected.frames[frame]);

  if (!make(handle_of(frame), next)) {
    stop("cannot be changed", frame);
  }
  expect(&expected.frames[frame], next);
}

static void read_frame(int frame) {
  int64_t len;
  uint8_t *bytes;
  bool needs_free;
  blosc2_schunk *copy;

  if (!is_as_expected(handle_of(frame), &expected.frames[frame])) {
    stop("other content", frame);
  }
  len = blosc2_schunk_to_buffer(handles[frame], &bytes, &needs_free);
  copy = len > 0 ? blosc2_schunk_from_buffer(bytes, len, true) : NULL;
  if (copy == NULL || !is_as_expected(copy, &expected.frames[frame])) {
    stop("other content in memory", frame);
  }
  blosc2_schunk_free(copy);
  if (needs_free) {
    free(bytes);
  }
}

/* ---- the array ------------------------------------------------------------------------------- */

static b2nd_array_t *opened_array(void) {
  if (array == NULL && b2nd_open(paths[FRAMES], &array) != 0) {
    stop("the array cannot be opened", -1);
  }
  return array;
}

static void close_array(void) {
  if (array != NULL && b2nd_free(array) != 0) {
    stop("the array cannot be freed", -1);
  }
  array = NULL;
}

static void create_array(void) {
  static const int32_t chunks[] = {CHUNK_ROWS, CHUNK_COLUMNS}, blocks[] = {4, 5};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  b2nd_context_t *ctx;

  cparams.typesize = 4;
  storage.cparams = &cparams;
  storage.contiguous = true;
  storage.urlpath = paths[FRAMES];
  expected.shape[0] = expected.shape[1] = 9;
  ctx = b2nd_create_ctx(&storage, 2, expected.shape, chunks, blocks, NULL, 0, NULL, 0);
  if (ctx == NULL || b2nd_zeros(ctx, &array) != 0 || b2nd_free_ctx(ctx) != 0) {
    stop("the array cannot be created", -1);
  }
}

/* Resizes the array. New items are zeros, except in chunks that had items outside of the shape. */
static void resize_array(void) {
  int64_t shape[2], rows, columns;
  int row, column;

  shape[0] = below(ROWS + 1);
  shape[1] = below(COLUMNS + 1);
  if (b2nd_resize(opened_array(), shape, NULL) != 0) {
    stop("the array cannot be resized", -1);
  }
  rows = (shape[0] + CHUNK_ROWS - 1) / CHUNK_ROWS * CHUNK_ROWS;
  columns = (shape[1] + CHUNK_COLUMNS - 1) / CHUNK_COLUMNS * CHUNK_COLUMNS;
  for (row = 0; row < ROWS; row++) {
    for (column = 0; column < COLUMNS; column++) {
      if (row >= rows || column >= columns) {
        expected.items[row][column] = 0;
      } else if (row >= shape[0] || column >= shape[1]) {
        expected.items[row][column] = UNKNOWN;
      }
    }
  }
  memcpy(expected.shape, shape, sizeof shape);
}

/* Writes a random box of the array if `writes`, and reads it. */
static void use_array(bool writes) {
  int32_t box[ROWS * COLUMNS], *right;
  int64_t from[2], to[2], size[2], at;
  int i, row, column;

  for (i = 0; i < 2; i++) {
    from[i] = below((uint32_t)expected.shape[i] + 1);
    to[i] = from[i] + below((uint32_t)(expected.shape[i] - from[i]) + 1);
    size[i] = to[i] - from[i];
  }
  if (size[0] == 0 || size[1] == 0) {
    return;
  }
  if (writes) {
    for (at = 0; at < size[0] * size[1]; at++) {
      row = (int)(from[0] + at / size[1]);
      column = (int)(from[1] + at % size[1]);
      expected.items[row][column] = box[at] = (int32_t)below(1 << 20);
    }
    if (b2nd_set_slice_cbuffer(box, size, size[0] * size[1] * 4, from, to, opened_array()) != 0) {
      stop("the array cannot be changed", -1);
    }
  }
  if (b2nd_get_slice_cbuffer(opened_array(), from, to, box, size, size[0] * size[1] * 4) != 0) {
    stop("the array cannot be read", -1);
  }
  for (at = 0; at < size[0] * size[1]; at++) {
    right = &expected.items[from[0] + at / size[1]][from[1] + at % size[1]];
    if (*right == UNKNOWN) {
      *right = box[at];
    }
    if (box[at] != *right) {
      stop("other items in the array", -1);
    }
  }
}

/* ---- threads ---------------------------------------------------------------------------------- */

/* Compresses and decompresses with new contexts of two threads. */
static void use_threads(void) {
  static int32_t items[64 * ITEMS], found[64 * ITEMS];
  static uint8_t chunk[sizeof items + BLOSC2_MAX_OVERHEAD];
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor;
  int i;

  for (i = 0; i < 64; i++) {
    fill(items + i * ITEMS, (int32_t)below(1 << 20));
  }
  cparams.typesize = 4;
  cparams.blocksize = 8192;
  cparams.nthreads = dparams.nthreads = THREADS;
  compressor = blosc2_create_cctx(cparams);
  decompressor = blosc2_create_dctx(dparams);
  if (blosc2_compress_ctx(compressor, items, sizeof items, chunk, sizeof chunk) <= 0 ||
      blosc2_decompress_ctx(decompressor, chunk, sizeof chunk, found, sizeof found) != sizeof found ||
      memcmp(items, found, sizeof found) != 0) {
    stop("other content with threads", -1);
  }
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
}

/* ---- processes ------------------------------------------------------------------------------- */

/* Reads a frame in a forked child, with the handle of the parent or another one. */
static void read_in_a_child(int frame) {
  bool has_own = below(2) == 0;
  int status = -1;
  pid_t child;

  fflush(stdout);
  handle_of(frame);
  child = fork();
  if (child == 0) {
    alarm(PATIENCE);
    if (has_own) {
      handles[frame] = NULL;
    }
    _exit(is_as_expected(handle_of(frame), &expected.frames[frame]) ? 0 : 1);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    stop("other content in a child", frame);
  }
  forks++;
}

/* Kills a child while it changes a frame in durable mode: the frame must have the content before or
 * after the call that was running. */
static void kill_a_writer(int frame) {
  change planned[CALLS_OF_A_CHILD];
  content state = expected.frames[frame], found;
  struct timespec delay = {0, (long)below(8000000)};
  int status, i;
  pid_t child;

  for (i = 0; i < CALLS_OF_A_CHILD; i++) {
    planned[i] = random_change(&state);
    expect(&state, planned[i]);
  }
  close_frame(frame);
  memset(shared, 0, sizeof *shared);
  fflush(stdout);
  child = fork();
  if (child == 0) {
    alarm(PATIENCE);
    setenv("FERROBLOSC_DURABLE", "1", 1);
    handle_of(frame);
    for (i = 0; i < CALLS_OF_A_CHILD; i++) {
      shared->begun = i + 1;
      if (!make(handles[frame], planned[i])) {
        shared->failed = 1;
        _exit(1);
      }
      shared->finished = i + 1;
    }
    _exit(0);
  }
  if (child < 0) {
    stop("no child", frame);
  }
  nanosleep(&delay, NULL);
  kill(child, SIGKILL);
  if (waitpid(child, &status, 0) != child || shared->failed) {
    stop("a durable change failed", frame);
  }
  kills++;
  state = expected.frames[frame];
  for (i = 0; i < shared->finished; i++) {
    expect(&state, planned[i]);
  }
  if (!read_content(handle_of(frame), &found)) {
    stop("damaged by a kill", frame);
  }
  if (memcmp(&found, &state, sizeof found) != 0 && shared->begun > shared->finished) {
    expect(&state, planned[shared->finished]);
  }
  if (memcmp(&found, &state, sizeof found) != 0) {
    stop("other content after a kill", frame);
  }
  expected.frames[frame] = state;
}

/* ---- resources ------------------------------------------------------------------------------- */

/* Returns a number from /proc/self/status; 0 where there is none. */
static long status_of(const char *name) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[200];
  long value = 0;

  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, name, strlen(name)) == 0) {
      value = atol(line + strlen(name));
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return value;
}

/* Returns the number of entries of a directory; 0 where there is none. */
static long entries_of(const char *path) {
  DIR *dir = opendir(path);
  long count = 0;

  while (dir != NULL && readdir(dir) != NULL) {
    count++;
  }
  if (dir != NULL) {
    closedir(dir);
  }
  return count;
}

typedef struct {
  long memory, descriptors, threads, files, chunk_files;
} resources;

/* Measures with all files closed, after a change of each, which completes interrupted ones. */
static resources measure(void) {
  resources now;
  int frame;

  for (frame = 0; frame < FRAMES; frame++) {
    change_frame(frame);
    close_frame(frame);
  }
  close_array();
  now.memory = status_of("VmRSS:");
  now.descriptors = entries_of("/proc/self/fd");
  now.threads = status_of("Threads:");
  now.files = entries_of(folder);
  now.chunk_files = entries_of(paths[DIRECTORY_FRAME]);
  return now;
}

static void check_resources(const resources *first, const resources *now) {
  if (now->memory > first->memory + MEMORY_SLACK) {
    printf("memory: %ld kB, %ld kB after the warm-up\n", now->memory, first->memory);
    stop("the memory grows", -1);
  }
  if (now->descriptors != first->descriptors) {
    stop("descriptors are left open", -1);
  }
  if (now->threads > THREADS) {
    stop("threads are left", -1);
  }
  /* ".", "..", both frames, the array, and a temporary file of a killed writer. */
  if (now->files < 5 || now->files > 6) {
    printf("%ld entries\n", now->files);
    stop("files are left", -1);
  }
  /* Killed writers may leave the chunk that they wrote last. */
  if (now->chunk_files > 2 + 1 + MAX_CHUNKS + kills) {
    stop("chunk files are left", -1);
  }
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Creates the files, or opens those of an earlier run, which must be as it left them. */
static void begin(void) {
  char path[400];
  int32_t first = 0;
  FILE *file;
  int frame;

  snprintf(path, sizeof path, "%s/expected", folder);
  file = fopen(path, "rb");
  if (file == NULL) {
    for (frame = 0; frame < FRAMES; frame++) {
      blosc2_cparams cparams;
      handles[frame] = create(frame, &cparams);
      if (handles[frame] == NULL ||
          blosc2_vlmeta_add(handles[frame], "meta", (uint8_t *)&first, 4, NULL) < 0) {
        stop("cannot be created", frame);
      }
    }
    create_array();
    return;
  }
  if (fread(&expected, sizeof expected, 1, file) != 1 || fclose(file) != 0 || unlink(path) != 0) {
    stop("the expected content cannot be read", -1);
  }
  for (frame = 0; frame < FRAMES; frame++) {
    read_frame(frame);
  }
  if (memcmp(opened_array()->shape, expected.shape, sizeof expected.shape) != 0) {
    stop("the array has another shape", -1);
  }
}

/* Writes the expected content for the next run. */
static void end(void) {
  char path[400];
  FILE *file;

  snprintf(path, sizeof path, "%s/expected", folder);
  file = fopen(path, "wb");
  if (file == NULL || fwrite(&expected, sizeof expected, 1, file) != 1 || fclose(file) != 0) {
    stop("the expected content cannot be written", -1);
  }
}

static void run_round(void) {
  int frame = (int)below(FRAMES);

  switch (below(16)) {
    case 0:
      close_frame(frame);
      break;
    case 1:
      close_array();
      break;
    case 2:
      resize_array();
      break;
    case 3:
    case 4:
      use_array(true);
      break;
    case 5:
      use_array(false);
      break;
    case 6:
      read_in_a_child(frame);
      break;
    case 7:
      kill_a_writer(frame);
      break;
    case 8:
    case 9:
      read_frame(frame);
      break;
    case 10:
      use_threads();
      break;
    case 11:
      if (blosc2_schunk_open("/nothing/here") != NULL) {
        stop("a missing file was opened", -1);
      }
      break;
    default:
      change_frame(frame);
  }
}

int main(int argc, char **argv) {
  long seconds = argc > 1 ? atol(argv[1]) : 3, minute = 0;
  char made[] = P_tmpdir "/ferroblosc-soak-XXXXXX";
  resources first = {0, 0, 0, 0, 0}, now = first;
  time_t start = time(NULL);

  folder = argc > 2 ? argv[2] : mkdtemp(made);
  if (folder == NULL || (mkdir(folder, 0777) != 0 && errno != EEXIST)) {
    perror("the folder");
    return EXIT_FAILURE;
  }
  seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)start;
  printf("seed %llu\n", (unsigned long long)seed);
  snprintf(paths[FILE_FRAME], sizeof paths[0], "%s/file", folder);
  snprintf(paths[DIRECTORY_FRAME], sizeof paths[0], "%s/directory", folder);
  snprintf(paths[FRAMES], sizeof paths[0], "%s/array", folder);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    perror("mmap");
    return EXIT_FAILURE;
  }
  blosc2_init();
  begin();
  for (; rounds < WARM_UP || time(NULL) - start < seconds; rounds++) {
    alarm(PATIENCE);
    run_round();
    if (rounds >= WARM_UP && rounds % ROUNDS_OF_A_SAMPLE == 0) {
      now = measure();
      if (rounds == WARM_UP) {
        first = now;
      }
      check_resources(&first, &now);
    }
    if ((time(NULL) - start) / 60 > minute) {
      minute = (time(NULL) - start) / 60;
      printf("%ld min: %ld rounds, %ld kills, %ld forks; %ld kB, at first %ld kB; %ld descriptors, "
             "%ld threads, %ld chunk files\n",
             minute, rounds, kills, forks, now.memory, first.memory, now.descriptors, now.threads,
             now.chunk_files);
      fflush(stdout);
    }
  }
  now = measure();
  for (int frame = 0; frame < FRAMES; frame++) {
    read_frame(frame);
    close_frame(frame);
  }
  if (argc > 2) {
    end();
  } else {
    for (int i = 0; i <= FRAMES; i++) {
      CHECK_IS(blosc2_remove_urlpath(paths[i]), 0);
    }
    CHECK_IS(rmdir(folder), 0);
  }
  blosc2_destroy();
  printf("%ld rounds, %ld kills, %ld forks; %ld kB, at first %ld kB\n", rounds, kills, forks,
         now.memory, first.memory);
  return checks_failed();
}
