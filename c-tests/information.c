/* Makes calls that write BLOSC_INFO lines: codecs, levels, item sizes, filters and split modes,
 * special and variable-length chunks, super-chunks of each storage, and mapped files.
 * tests/interop compares the output with C-Blosc2's. */
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 20000, SIZE = ITEMS * (int)sizeof(int32_t), CAPACITY = SIZE + BLOSC2_MAX_OVERHEAD };
static int32_t data[ITEMS];
static unsigned char chunk[CAPACITY];
static const char *const path = "information.b2frame";

static void compress(blosc2_cparams cparams, const char *what, int size, int capacity) {
  blosc2_context *context = blosc2_create_cctx(cparams);
  fprintf(stderr, "# %s\n", what);
  if (context == NULL) return;
  fprintf(stderr, "# %d\n", blosc2_compress_ctx(context, data, size, chunk, capacity) >= 0);
  blosc2_free_ctx(context);
}

static void chunks(void) {
  static const int codecs[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
  static const int typesizes[] = {1, 4, 8, 20, 300, 1000};
  int codec, split, filter, typesize, level;

  for (codec = 0; codec < 5; codec++)
    for (split = BLOSC_ALWAYS_SPLIT; split <= BLOSC_FORWARD_COMPAT_SPLIT; split++)
      for (filter = BLOSC_NOFILTER; filter <= BLOSC_BITSHUFFLE; filter++)
        for (typesize = 0; typesize < 6; typesize++)
          for (level = 0; level <= 9; level++) {
            blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
            cparams.compcode = (uint8_t)codecs[codec];
            cparams.splitmode = split;
            cparams.filters[BLOSC2_MAX_FILTERS - 1] = (uint8_t)filter;
            cparams.typesize = typesizes[typesize];
            cparams.clevel = (uint8_t)level;
            fprintf(stderr, "# codec %d split %d filter %d typesize %d level %d\n", codecs[codec], split, filter,
                    typesizes[typesize], level);
            compress(cparams, "whole", SIZE, CAPACITY);
            if (level % 4 != 0) continue;
            compress(cparams, "short", 100, CAPACITY);
            compress(cparams, "shorter", 20, CAPACITY);
            compress(cparams, "empty", 0, CAPACITY);
            compress(cparams, "too small", SIZE, 1000);
            compress(cparams, "no header", SIZE, 20);
            cparams.blocksize = 4096;
            compress(cparams, "given blocks", SIZE, CAPACITY);
            blosc2_chunk_zeros(cparams, 60000, chunk, CAPACITY);
            blosc2_chunk_uninit(cparams, 60000, chunk, CAPACITY);
            blosc2_chunk_repeatval(cparams, 60000, chunk, CAPACITY, data);
          }
}

static void variable_length(void) {
  blosc2_context *context = blosc2_create_cctx(BLOSC2_CPARAMS_DEFAULTS);
  const void *sources[] = {data, data + 1000};
  int32_t sizes[] = {500, 1000};
  fprintf(stderr, "# variable length\n");
  blosc2_vlcompress_ctx(context, sources, sizes, 2, chunk, CAPACITY);
  blosc2_free_ctx(context);
}

/* Opens the file mapped, reads a chunk, and appends another if the mode allows it. */
static void open_mapped(const char *mode, int64_t initial, bool exists) {
  blosc2_stdio_mmap mapping = BLOSC2_STDIO_MMAP_DEFAULTS;
  blosc2_io io = {BLOSC2_IO_FILESYSTEM_MMAP, "mapped", NULL};
  blosc2_schunk *schunk;

  mapping.mode = mode;
  if (initial > 0) mapping.initial_mapping_size = initial;
  io.params = &mapping;
  fprintf(stderr, "# mapped %s\n", mode);
  schunk = blosc2_schunk_open_udio(exists ? path : "information.missing", &io);
  if (schunk == NULL) {
    fprintf(stderr, "# not opened\n");
    return;
  }
  blosc2_schunk_decompress_chunk(schunk, 0, chunk, CAPACITY);
  blosc2_schunk_free(schunk);
}

static void storages(void) {
  enum { MEMORY, FRAME_IN_MEMORY, FRAME, DIRECTORY, MAPPED };
  int kind;

  for (kind = MEMORY; kind <= MAPPED; kind++) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    blosc2_stdio_mmap mapping = BLOSC2_STDIO_MMAP_DEFAULTS;
    blosc2_io io = {BLOSC2_IO_FILESYSTEM_MMAP, "mapped", NULL};
    blosc2_schunk *schunk;

    blosc2_remove_urlpath(path);
    cparams.typesize = sizeof(int32_t);
    storage.cparams = &cparams;
    storage.contiguous = kind != MEMORY && kind != DIRECTORY;
    if (kind >= FRAME) storage.urlpath = (char *)path;
    mapping.mode = "w+";
    io.params = &mapping;
    if (kind == MAPPED) storage.io = &io;
    fprintf(stderr, "# storage %d\n", kind);
    schunk = blosc2_schunk_new(&storage);
    if (schunk == NULL) continue;
    blosc2_schunk_append_buffer(schunk, data, SIZE);
    blosc2_schunk_free(schunk);
    if (kind < FRAME || kind == DIRECTORY) continue;
    open_mapped("r", 0, true);
    open_mapped("r", 4 << 20, true);
    open_mapped("r+", 0, true);
    open_mapped("r+", 4 << 20, true);
    open_mapped("c", 0, true);
    open_mapped("c", 4 << 20, true);
    open_mapped("nonsense", 0, true);
    open_mapped("r", 0, false);
  }
  open_mapped("w+", 4 << 20, true);
  blosc2_remove_urlpath(path);
}

int main(void) {
  int i;
  blosc2_init();
  for (i = 0; i < ITEMS; i++) data[i] = i / 3;
  chunks();
  variable_length();
  storages();
  blosc2_destroy();
  return 0;
}
