/*
 * Compresses a file with every codec, verifies the round trip, and prints ratio and speed.
 *
 *   cc ratios.c -o ratios $(pkg-config --cflags --libs blosc2)
 *   ./ratios FILE TYPESIZE [THREADS]
 *
 * The file is divided into chunks of 4 MiB, as in programs with large arrays. TYPESIZE is the item
 * size in bytes: 4 for float, 8 for double.
 */

#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4 * 1024 * 1024, LEVEL = 5 };

/* The number of runs; the fastest is printed. */
enum { RUNS = 3 };

struct chunks {
  uint8_t **data;
  int *size;
  size_t count;
};

static void fail(const char *action, int code) {
  fprintf(stderr, "%s: %s\n", action, code < 0 ? blosc2_error_string(code) : "failed");
  exit(EXIT_FAILURE);
}

static void *allocate(size_t size) {
  void *memory = malloc(size);
  if (memory == NULL) {
    fail("malloc", BLOSC2_ERROR_MEMORY_ALLOC);
  }
  return memory;
}

static uint8_t *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  uint8_t *data;
  long end;

  if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (end = ftell(file)) <= 0) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  rewind(file);
  *size = (size_t)end;
  data = allocate(*size);
  if (fread(data, 1, *size, file) != *size) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  fclose(file);
  return data;
}

static int bytes_of(size_t chunk, size_t size) {
  size_t left = size - chunk * CHUNK;
  return left < CHUNK ? (int)left : CHUNK;
}

/* Compresses all chunks; returns the elapsed seconds. */
static double compress_all(blosc2_context *context, const uint8_t *data, size_t size,
                           struct chunks *chunks) {
  blosc_timestamp_t start, end;
  size_t i;

  blosc_set_timestamp(&start);
  for (i = 0; i < chunks->count; i++) {
    chunks->size[i] = blosc2_compress_ctx(context, data + i * CHUNK, bytes_of(i, size),
                                          chunks->data[i], CHUNK + BLOSC2_MAX_OVERHEAD);
    if (chunks->size[i] <= 0) {
      fail("compression", chunks->size[i]);
    }
  }
  blosc_set_timestamp(&end);
  return blosc_elapsed_secs(start, end);
}

/* Decompresses all chunks; returns the elapsed seconds. */
static double decompress_all(blosc2_context *context, const struct chunks *chunks, uint8_t *data,
                             size_t size) {
  blosc_timestamp_t start, end;
  size_t i;

  blosc_set_timestamp(&start);
  for (i = 0; i < chunks->count; i++) {
    int status = blosc2_decompress_ctx(context, chunks->data[i], chunks->size[i], data + i * CHUNK,
                                       bytes_of(i, size));
    if (status != bytes_of(i, size)) {
      fail("decompression", status);
    }
  }
  blosc_set_timestamp(&end);
  return blosc_elapsed_secs(start, end);
}

/* Measures and prints one row of the table. */
static void measure(const char *codec, int shuffle, int typesize, int threads, const uint8_t *data,
                    size_t size, struct chunks *chunks, uint8_t *back) {
  static const char *const filters[] = {"-", "shuffle", "bitshuffle"};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *compressor, *decompressor;
  double compression = 1e9, decompression = 1e9, compressed = 0;
  size_t i;

  cparams.compcode = (uint8_t)blosc2_compname_to_compcode(codec);
  cparams.clevel = LEVEL;
  cparams.typesize = typesize;
  cparams.nthreads = (int16_t)threads;
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = (uint8_t)shuffle;
  dparams.nthreads = (int16_t)threads;
  compressor = blosc2_create_cctx(cparams);
  decompressor = blosc2_create_dctx(dparams);
  if (compressor == NULL || decompressor == NULL) {
    fail("creating a context", BLOSC2_ERROR_FAILURE);
  }

  for (i = 0; i < RUNS; i++) {
    double seconds = compress_all(compressor, data, size, chunks);
    compression = seconds < compression ? seconds : compression;
  }
  for (i = 0; i < RUNS; i++) {
    double seconds;
    memset(back, 0, size);
    seconds = decompress_all(decompressor, chunks, back, size);
    decompression = seconds < decompression ? seconds : decompression;
    if (memcmp(data, back, size) != 0) {
      fail("comparing the data", 0);
    }
  }
  for (i = 0; i < chunks->count; i++) {
    compressed += chunks->size[i];
  }
  printf("%-8s %-10s %8.2f %10.0f %10.0f\n", codec, filters[shuffle], (double)size / compressed,
         (double)size / compression / 1e6, (double)size / decompression / 1e6);

  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
}

int main(int argc, char **argv) {
  char names[256], *name;
  struct chunks chunks;
  uint8_t *data, *back;
  size_t size, i;
  int typesize, threads;

  if (argc < 3 || (typesize = atoi(argv[2])) < 1) {
    fprintf(stderr, "usage: %s FILE TYPESIZE [THREADS]\n", argv[0]);
    return EXIT_FAILURE;
  }
  threads = argc > 3 ? atoi(argv[3]) : 1;
  data = read_file(argv[1], &size);
  back = allocate(size);
  chunks.count = (size + CHUNK - 1) / CHUNK;
  chunks.data = allocate(chunks.count * sizeof *chunks.data);
  chunks.size = allocate(chunks.count * sizeof *chunks.size);
  for (i = 0; i < chunks.count; i++) {
    chunks.data[i] = allocate(CHUNK + BLOSC2_MAX_OVERHEAD);
  }

  blosc2_init();
  printf("%s: %.1f MB, items of %d bytes, level %d, threads: %d, blosc2 %s\n", argv[1],
         (double)size / 1e6, typesize, LEVEL, threads, blosc2_get_version_string());
  printf("%-8s %-10s %8s %10s %10s\n", "codec", "filter", "ratio", "comp MB/s", "dec MB/s");
  strncpy(names, blosc2_list_compressors(), sizeof names - 1);
  names[sizeof names - 1] = '\0';
  for (name = strtok(names, ","); name != NULL; name = strtok(NULL, ",")) {
    int shuffle;
    for (shuffle = BLOSC_NOSHUFFLE; shuffle <= BLOSC_BITSHUFFLE; shuffle++) {
      measure(name, shuffle, typesize, threads, data, size, &chunks, back);
    }
  }
  blosc2_destroy();

  for (i = 0; i < chunks.count; i++) {
    free(chunks.data[i]);
  }
  free(chunks.data);
  free(chunks.size);
  free(back);
  free(data);
  return EXIT_SUCCESS;
}
