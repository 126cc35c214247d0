/*
 * Without memory, no call ends the process, damages data or leaks.
 */

#define NO_MEMORY BLOSC2_ERROR_MEMORY_ALLOC

#include <b2nd.h>
#include <blosc2.h>
#include <blosc2/codecs-registry.h>
#include <blosc2/filters-registry.h>

#include "out_of_memory.h"
#include "schunks.h"

enum { SIZE = 24000, BLOCK = 4000, ROOM_FOR_CHUNK = 40000 };
/* Files of libferroblosc.so.0's durable mode: its I/O backend. */
enum { DURABLE_IO = 157 };
/* The storages of schunks.h, then a durable file and a mapped file. */
enum { DURABLE = KINDS, MAPPED, STORAGES };

static uint8_t data[SIZE], chunk[ROOM_FOR_CHUNK], back[SIZE + 8], other[ROOM_FOR_CHUNK];

static blosc2_cparams cparams_of(uint8_t codec, int typesize, int16_t threads) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = codec;
  cparams.typesize = typesize;
  cparams.blocksize = BLOCK;
  cparams.nthreads = threads;
  return cparams;
}

static blosc2_dparams dparams_of(int16_t threads) {
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = threads;
  return dparams;
}

/* Compresses, decompresses and gets items. */
static void round_trip(blosc2_cparams cparams, int16_t threads, bool is_lossy) {
  blosc2_context *compressor, *decompressor;
  bool mask[SIZE / BLOCK] = {true, false, true};
  int size = 0;

  TRY_NEW(compressor, blosc2_create_cctx(cparams));
  TRY_NEW(decompressor, blosc2_create_dctx(dparams_of(threads)));
  TRY_UNLESS(size <= 0, size, blosc2_compress_ctx(compressor, data, SIZE, chunk, sizeof chunk), NO_MEMORY, true);
  memset(back, 0, sizeof back);
  TRY_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE), SIZE);
  CHECK(is_lossy || memcmp(back, data, SIZE) == 0);
  memset(back, 0, sizeof back);
  TRY_IS(blosc2_getitem_ctx(decompressor, chunk, size, 1500, 10, back, SIZE), 10 * cparams.typesize);
  CHECK(is_lossy || memcmp(back, data + 1500 * cparams.typesize, (size_t)(10 * cparams.typesize)) == 0);
  TRY(blosc2_set_maskout(decompressor, mask, SIZE / BLOCK));
  TRY_IS(blosc2_decompress_ctx(decompressor, chunk, size, back, SIZE), SIZE);
  CHECK(is_lossy || memcmp(back + BLOCK, data + BLOCK, BLOCK) == 0);
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
}

static void contexts(void) {
  static const uint8_t codecs[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
  static const uint8_t filters[][2] = {{BLOSC_DELTA, BLOSC_SHUFFLE},
                                       {BLOSC_NOFILTER, BLOSC_BITSHUFFLE},
                                       {BLOSC_SHUFFLE, BLOSC_FILTER_BYTEDELTA},
                                       {BLOSC_TRUNC_PREC, BLOSC_SHUFFLE}};
  blosc2_cparams cparams;
  size_t i;

  for (i = 0; i < sizeof codecs; i++) {
    cparams = cparams_of(codecs[i], 4, (int16_t)(1 + i % 2));
    round_trip(cparams, (int16_t)(1 + i % 2), false);
    cparams.clevel = 9;
    cparams.splitmode = BLOSC_NEVER_SPLIT;
    round_trip(cparams, 1, false);
    if (codecs[i] != BLOSC_BLOSCLZ && codecs[i] != BLOSC_ZLIB) {
      cparams.use_dict = 1;
      round_trip(cparams, 1, false);
    }
  }
  for (i = 0; i < sizeof filters / sizeof *filters; i++) {
    cparams = cparams_of(BLOSC_LZ4, 4, 1);
    memcpy(cparams.filters + 4, filters[i], 2);
    cparams.filters_meta[5] = filters[i][1] == BLOSC_FILTER_BYTEDELTA ? 4 : 0;
    cparams.filters_meta[4] = filters[i][0] == BLOSC_TRUNC_PREC ? 10 : 0;
    round_trip(cparams, 2, filters[i][0] == BLOSC_TRUNC_PREC);
  }
}

/* The calls without a context. */
static void global(void) {
  int size = 0;

  blosc2_set_nthreads(2);
  TRY(blosc1_set_compressor("zlib"));
  TRY_UNLESS(size <= 0, size, blosc2_compress(5, 1, 4, data, SIZE, chunk, sizeof chunk), NO_MEMORY, true);
  TRY_IS(blosc2_decompress(chunk, size, back, SIZE), SIZE);
  CHECK(memcmp(back, data, SIZE) == 0);
  TRY_IS(blosc2_getitem(chunk, size, 5, 7, back, SIZE), 28);
  CHECK(memcmp(back, data + 20, 28) == 0);
  blosc2_set_nthreads(1);
  TRY(blosc1_set_compressor("blosclz"));
}

/* A user's codec, which copies, and a user's filter, which inverts bits. */
static int copying_encoder(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                           blosc2_cparams *cparams, const void *from) {
  (void)meta, (void)cparams, (void)from;
  if (output_len < input_len - 1) {
    return 0;
  }
  memcpy(output, input, (size_t)input_len - 1);
  return input_len - 1;
}

/* The last byte of each stream of the data is zero. */
static int copying_decoder(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                           blosc2_dparams *dparams, const void *from) {
  (void)meta, (void)dparams, (void)from;
  memcpy(output, input, (size_t)input_len);
  memset(output + input_len, 0, (size_t)(output_len - input_len));
  return output_len;
}

static int inverting(const uint8_t *from, uint8_t *to, int32_t size, uint8_t meta, blosc2_cparams *cparams, uint8_t id) {
  int32_t i;
  (void)meta, (void)cparams, (void)id;
  for (i = 0; i < size; i++) {
    to[i] = (uint8_t)(from[i] ^ 0x55);
  }
  return 0;
}

static int inverting_back(const uint8_t *from, uint8_t *to, int32_t size, uint8_t meta, blosc2_dparams *dparams,
                          uint8_t id) {
  (void)dparams;
  return inverting(from, to, size, meta, NULL, id);
}

/* Whether the codec and the filter are registered. */
static bool is_registered;

static void callbacks_of_users(void) {
  static char name[] = "copying", filter_name[] = "inverting";
  blosc2_codec codec = {244, name, 1, 1, copying_encoder, copying_decoder};
  blosc2_filter filter = {245, filter_name, 1, inverting, inverting_back};
  blosc2_cparams cparams = cparams_of(244, 4, 1);

  if (!is_registered) {
    TRY(blosc2_register_codec(&codec));
    TRY(blosc2_register_filter(&filter));
    is_registered = true;
  }
  cparams.filters[5] = 0;
  round_trip(cparams, 1, true);
  cparams = cparams_of(BLOSC_LZ4, 4, 2);
  cparams.filters[4] = 245;
  round_trip(cparams, 2, false);
}

static void blocks_of_variable_length(void) {
  enum { BLOCKS = 5 };
  static const int32_t sizes[BLOCKS] = {1, 1000, 7, 9000, 333};
  const void *blocks[BLOCKS];
  void *made[BLOCKS];
  int32_t made_sizes[BLOCKS], total = 0, number;
  uint8_t *one;
  blosc2_context *compressor, *decompressor;
  int size = 0, i, dict;

  for (i = 0; i < BLOCKS; i++) {
    blocks[i] = data + total;
    total += sizes[i];
  }
  for (dict = 0; dict < 2; dict++) {
    blosc2_cparams cparams = cparams_of(BLOSC_ZSTD, 1, 1);
    cparams.use_dict = dict;
    TRY_NEW(compressor, blosc2_create_cctx(cparams));
    TRY_NEW(decompressor, blosc2_create_dctx(dparams_of(1)));
    TRY_UNLESS(size <= 0, size, blosc2_vlcompress_ctx(compressor, blocks, sizes, BLOCKS, chunk, sizeof chunk),
               NO_MEMORY, true);
    TRY(blosc2_vlchunk_get_nblocks(chunk, size, &number));
    TRY_IS(blosc2_vldecompress_ctx(decompressor, chunk, size, made, made_sizes, BLOCKS), BLOCKS);
    for (i = 0; i < BLOCKS; i++) {
      CHECK(made_sizes[i] == sizes[i] && memcmp(made[i], blocks[i], (size_t)sizes[i]) == 0);
      free(made[i]);
    }
    TRY_IS(blosc2_vldecompress_block_ctx(decompressor, chunk, size, 3, &one, &number), sizes[3]);
    CHECK(memcmp(one, blocks[3], (size_t)sizes[3]) == 0);
    free(one);
    blosc2_free_ctx(compressor);
    blosc2_free_ctx(decompressor);
  }
}

/* Returns consecutive numbers from `first`. */
static const int32_t *ramp(int32_t first) {
  static int32_t items[2 * ITEMS];
  int i;
  for (i = 0; i < 2 * ITEMS; i++) {
    items[i] = first + i;
  }
  return items;
}

/* Whether a chunk contains consecutive numbers from `first`. */
static bool has_ramp(blosc2_schunk *schunk, int64_t nchunk, int32_t first) {
  TRY_IS(blosc2_schunk_decompress_chunk(schunk, nchunk, back, CHUNK), CHUNK);
  return memcmp(back, ramp(first), CHUNK) == 0;
}

/* Whether a failed change left the fields of a super-chunk unchanged. In durable mode the frame
 * may keep bytes written after its chunks, so cbytes is not compared. */
static bool is_unchanged(const blosc2_schunk *schunk, snapshot before) {
  if (schunk->storage->io->id == DURABLE_IO) {
    before.cbytes = schunk->cbytes;
  }
  return is_as_in(schunk, before);
}

/* A change of a super-chunk. */
#define CHANGE(schunk, call)                                                           \
  do {                                                                                 \
    long long result_;                                                                 \
    snapshot before_ = snapshot_of(schunk);                                            \
    TRY_UNLESS(result_ < 0, result_, call, NO_MEMORY, is_unchanged(schunk, before_));  \
  } while (0)

static char file_name[] = "file.b2frame", folder_name[] = "directory.b2frame", copy_name[] = "copy.b2frame";
static blosc2_io durable = {DURABLE_IO, NULL, NULL};

static char *name_of(int kind) {
  return kind == APART || kind == FRAME ? NULL : kind == DIRECTORY ? folder_name : file_name;
}

static blosc2_storage storage_of(int kind, blosc2_cparams *cparams, blosc2_io *io, blosc2_stdio_mmap *map) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;

  storage.contiguous = kind != APART && kind != DIRECTORY;
  storage.urlpath = name_of(kind);
  storage.cparams = cparams;
  if (kind == DURABLE) {
    storage.io = &durable;
  }
  if (kind == MAPPED) {
    *map = BLOSC2_STDIO_MMAP_DEFAULTS;
    map->mode = "w+";
    map->initial_mapping_size = 1 << 16;
    io->id = BLOSC2_IO_FILESYSTEM_MMAP;
    io->name = NULL;
    io->params = map;
    storage.io = io;
  }
  return storage;
}

/* Removes the files at a path, if any: a call that failed without memory may have left some. */
static void remove_path(char *path) {
  if (path != NULL && access(path, F_OK) == 0) {
    TRY(blosc2_remove_urlpath(path));
  }
}

/* Reads the whole super-chunk that `super_chunk` created. */
static void read_all(blosc2_schunk *schunk) {
  uint8_t *lent, *content;
  int32_t len;
  bool needs_free;
  int64_t *numbers, coords[3] = {250, 3, 120}, start = 50, stop = 250;
  char *names[4];
  int count = 0;

  CHECK(has_ramp(schunk, 0, 0));
  CHECK(has_ramp(schunk, 1, 1000));
  CHECK(has_ramp(schunk, 2, 200));
  TRY(blosc2_schunk_get_chunk(schunk, 1, &lent, &needs_free));
  if (needs_free) {
    free(lent);
  }
  TRY_UNLESS(len <= 0, len, blosc2_schunk_get_lazychunk(schunk, 1, &lent, &needs_free), NO_MEMORY, true);
  TRY_IS(blosc2_decompress_ctx(schunk->dctx, lent, len, back, CHUNK), CHUNK);
  CHECK(memcmp(back, ramp(1000), CHUNK) == 0);
  if (needs_free) {
    free(lent);
  }
  TRY(blosc2_schunk_get_slice_buffer(schunk, 150, 250, back));
  CHECK(memcmp(back, ramp(1050), CHUNK / 2) == 0);
  TRY(blosc2_schunk_get_sparse_buffer(schunk, 3, coords, back));
  CHECK(memcmp(back, ramp(250), 4) == 0 && memcmp(back + 4, ramp(3), 4) == 0 && memcmp(back + 8, ramp(1020), 4) == 0);
  TRY_IS(blosc2_get_slice_nchunks(schunk, &start, &stop, &numbers), 3);
  free(numbers);
  if (schunk->frame != NULL) {
    TRY_NEW(numbers, blosc2_frame_get_offsets(schunk));
    free(numbers);
  }
  TRY(blosc2_meta_get(schunk, "fixed", &content, &len));
  CHECK(len == 5 && memcmp(content, "FIXED", 5) == 0);
  free(content);
  TRY(blosc2_vlmeta_get(schunk, "variable", &content, &len));
  CHECK(len == 3000 && memcmp(content, data, 3000) == 0);
  free(content);
  TRY_UNLESS(count < 0, count, blosc2_vlmeta_get_names(schunk, names), NO_MEMORY, true);
  CHECK_IS(count, 2);
  CHECK(strcmp(names[0], "variable") == 0 && strcmp(names[1], "more") == 0);
}

/* Opens the super-chunk of a kind. */
static blosc2_schunk *open_kind(int kind, blosc2_io *io, blosc2_stdio_mmap *map) {
  blosc2_schunk *schunk;

  if (kind == MAPPED) {
    /* Opening clears the mode in the struct. */
    TRY_NEW(schunk, (map->mode = "r", blosc2_schunk_open_udio(file_name, io)));
  } else if (kind == DURABLE) {
    TRY_NEW(schunk, blosc2_schunk_open_udio(file_name, &durable));
  } else {
    TRY_NEW(schunk, blosc2_schunk_open(name_of(kind)));
  }
  return schunk;
}

static void super_chunk(int kind) {
  blosc2_cparams cparams = cparams_of(BLOSC_LZ4, ITEM, 1);
  blosc2_stdio_mmap map, copied_map;
  blosc2_io io, copied_io;
  blosc2_storage storage = storage_of(kind, &cparams, &io, &map), copied;
  blosc2_schunk *schunk, *again;
  blosc2_cparams *found;
  uint8_t *bytes;
  bool needs_free;
  int64_t len = 0, order[5] = {0, 1, 3, 2, 4};
  int size;
  blosc2_context *context;

  cparams.blocksize = 200;
  remove_path(storage.urlpath);
  TRY_NEW(schunk, (remove_path(storage.urlpath), map.mode = "w+", blosc2_schunk_new(&storage)));
  TRY(blosc2_meta_add(schunk, "fixed", (uint8_t *)"fixed", 5));
  TRY(blosc2_meta_update(schunk, "fixed", (uint8_t *)"FIXED", 5));
  CHANGE(schunk, blosc2_schunk_append_buffer(schunk, ramp(0), CHUNK));
  TRY_NEW(context, blosc2_create_cctx(cparams));
  TRY_UNLESS(size <= 0, size, blosc2_compress_ctx(context, ramp(100), CHUNK, other, sizeof other), NO_MEMORY, true);
  CHANGE(schunk, blosc2_schunk_append_chunk(schunk, other, true));
  TRY_UNLESS(size <= 0, size, blosc2_compress_ctx(context, ramp(300), CHUNK, other, sizeof other), NO_MEMORY, true);
  CHANGE(schunk, blosc2_schunk_insert_chunk(schunk, 1, other, true));
  TRY_UNLESS(size <= 0, size, blosc2_compress_ctx(context, ramp(200), CHUNK, other, sizeof other), NO_MEMORY, true);
  CHANGE(schunk, blosc2_schunk_update_chunk(schunk, 1, other, true));
  blosc2_free_ctx(context);
  CHANGE(schunk, blosc2_schunk_append_buffer(schunk, ramp(400), CHUNK));
  CHANGE(schunk, blosc2_schunk_append_buffer(schunk, ramp(500), CHUNK));
  /* The chunks begin with 0, 200, 100, 400 and 500. */
  CHANGE(schunk, blosc2_schunk_reorder_offsets(schunk, order));
  CHANGE(schunk, blosc2_schunk_delete_chunk(schunk, 2));
  /* The chunks begin with 0, 200, 100 and 500. */
  CHANGE(schunk, blosc2_vlmeta_add(schunk, "variable", (uint8_t *)"small", 5, NULL));
  CHANGE(schunk, blosc2_vlmeta_add(schunk, "gone", data, 500, NULL));
  CHANGE(schunk, blosc2_vlmeta_add(schunk, "more", data, 500, NULL));
  CHANGE(schunk, blosc2_vlmeta_update(schunk, "variable", data, 3000, NULL));
  CHANGE(schunk, blosc2_vlmeta_delete(schunk, "gone"));
  TRY(blosc2_schunk_set_slice_buffer(schunk, 200, 300, (void *)(uintptr_t)ramp(200)));
  TRY(blosc2_schunk_set_slice_buffer(schunk, 100, 200, (void *)(uintptr_t)ramp(1000)));
  TRY(blosc2_schunk_get_cparams(schunk, &found));
  free(found);
  read_all(schunk);
  if (kind == APART || kind == FRAME || kind == SINGLE_FILE) {
    TRY_UNLESS(len <= 0, len, blosc2_schunk_to_buffer(schunk, &bytes, &needs_free), NO_MEMORY, true);
    TRY_NEW(again, blosc2_schunk_from_buffer(bytes, len, true));
    read_all(again);
    blosc2_schunk_free(again);
    if (needs_free) {
      free(bytes);
    }
    remove_path(copy_name);
    TRY(blosc2_schunk_to_file(schunk, copy_name));
    TRY_NEW(again, blosc2_schunk_open(copy_name));
    read_all(again);
    TRY(blosc2_vlmeta_delete(again, "more"));
    blosc2_schunk_free(again);
    remove_path(copy_name);
  }
  copied = storage_of(kind, &cparams, &copied_io, &copied_map);
  copied.urlpath = copied.urlpath == NULL ? NULL : copy_name;
  TRY_NEW(again, (remove_path(copied.urlpath), copied_map.mode = "w+", blosc2_schunk_copy(schunk, &copied)));
  read_all(again);
  TRY(blosc2_schunk_fill_special(again, 0, BLOSC2_SPECIAL_ZERO, CHUNK));
  blosc2_schunk_free(again);
  remove_path(copied.urlpath);
  blosc2_schunk_free(schunk);
  if (name_of(kind) != NULL) {
    again = open_kind(kind, &io, &map);
    read_all(again);
    if (kind != MAPPED) {
      CHANGE(again, blosc2_schunk_append_buffer(again, ramp(600), CHUNK));
      CHECK(has_ramp(again, 4, 600));
    }
    blosc2_schunk_free(again);
    remove_path(name_of(kind));
  }
}

static void super_chunks_of_blocks(void) {
  blosc2_cparams cparams = cparams_of(BLOSC_LZ4, 1, 2);
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *schunk;
  const void *blocks[2] = {data, data + 700};
  int32_t sizes[2] = {700, 2000}, len;
  uint8_t *block;
  blosc2_context *context;
  int size;

  storage.cparams = &cparams;
  storage.contiguous = true;
  TRY_NEW(schunk, blosc2_schunk_new(&storage));
  TRY_NEW(context, blosc2_create_cctx(cparams));
  TRY_UNLESS(size <= 0, size, blosc2_vlcompress_ctx(context, blocks, sizes, 2, chunk, sizeof chunk), NO_MEMORY, true);
  blosc2_free_ctx(context);
  CHANGE(schunk, blosc2_schunk_append_chunk(schunk, chunk, true));
  TRY_IS(blosc2_schunk_get_vlblock(schunk, 0, 1, &block, &len), 2000);
  CHECK(memcmp(block, data + 700, 2000) == 0);
  free(block);
  blosc2_schunk_free(schunk);
}

/* Whether an array of bytes contains these items. */
static bool has_items(b2nd_array_t *array, const uint8_t *items) {
  memset(back, 0xEE, sizeof back);
  TRY(b2nd_to_cbuffer(array, back, array->nitems));
  return memcmp(back, items, (size_t)array->nitems) == 0;
}

/* A change of an array; a failed change leaves its shape, chunks and data unchanged. */
#define RESHAPE(array, items, call)                                                                       \
  do {                                                                                                    \
    long long result_;                                                                                    \
    int64_t rows_ = (array)->shape[0], nchunks_ = (array)->sc->nchunks;                                   \
    TRY_UNLESS(result_ < 0, result_, call, NO_MEMORY,                                                     \
               (array)->shape[0] == rows_ && (array)->sc->nchunks == nchunks_ && has_items(array, items)); \
  } while (0)

static void array(int kind, uint8_t codec) {
  static const int64_t shape[] = {6, 8}, start[] = {1, 2}, stop[] = {4, 6}, part[] = {3, 4}, larger[] = {12, 8};
  static const int32_t chunks[] = {4, 4}, blocks[] = {4, 4};
  static const bool second[] = {false, true, false};
  blosc2_cparams cparams = cparams_of(codec, 1, 1);
  blosc2_stdio_mmap map;
  blosc2_io io;
  blosc2_storage storage = storage_of(kind, &cparams, &io, &map), memory = BLOSC2_STORAGE_DEFAULTS;
  b2nd_context_t *ctx, *plain;
  b2nd_array_t *made, *again, *view;
  uint8_t items[96], doubled[96], *bytes, *meta;
  int64_t len, rows[] = {5, 0}, columns[] = {1, 7, 2}, sizes[] = {2, 3}, coords[] = {9, 17};
  int64_t *selection[] = {rows, columns};
  bool needs_free;
  int i;

  cparams.blocksize = 0;
  cparams.filters[5] = 0;
  memory.cparams = &cparams;
  for (i = 0; i < 96; i++) {
    items[i] = (uint8_t)(i < 64 ? i : 0);
    doubled[i] = (uint8_t)(i < 64 ? i : i - 32);
  }
  remove_path(storage.urlpath);
  TRY_NEW(ctx, b2nd_create_ctx(&storage, 2, shape, chunks, blocks, "|u1", 0, NULL, 0));
  TRY_NEW(plain, b2nd_create_ctx(&memory, 2, shape, chunks, blocks, "|u1", 0, NULL, 0));
  TRY((remove_path(storage.urlpath), b2nd_from_cbuffer(ctx, &made, items, 48)));
  CHECK(has_items(made, items));
  TRY(b2nd_get_slice_cbuffer(made, start, stop, back, part, 12));
  CHECK(back[0] == 10 && back[11] == 29);
  TRY(b2nd_set_slice_cbuffer(items, part, 12, start, stop, made));
  TRY(b2nd_get_slice_cbuffer(made, start, stop, back, part, 12));
  CHECK(memcmp(back, items, 12) == 0);
  TRY(b2nd_set_slice_cbuffer(items, shape, 48, (int64_t[]){0, 0}, shape, made));
  TRY(b2nd_get_orthogonal_selection(made, selection, sizes, back, sizes, 6));
  CHECK(back[0] == 41 && back[1] == 47 && back[5] == 2);
  TRY(b2nd_set_orthogonal_selection(made, selection, sizes, back, sizes, 6));
  TRY(b2nd_get_sparse_cbuffer(made, 2, coords, back, 2));
  CHECK(back[0] == 9 && back[1] == 17);
  RESHAPE(made, items, b2nd_append(made, items + 48, 16, 0));
  CHECK(has_items(made, items));
  RESHAPE(made, items, b2nd_insert(made, items + 32, 32, 0, 4));
  RESHAPE(made, doubled, b2nd_delete(made, 0, 4, 4));
  CHECK(has_items(made, items));
  RESHAPE(made, items, b2nd_resize(made, larger, NULL));
  RESHAPE(made, items, b2nd_resize(made, shape, NULL));
  CHECK(has_items(made, items));
  TRY(b2nd_copy(plain, made, &again));
  CHECK(has_items(again, items));
  TRY(b2nd_expand_dims(again, &view, second, 3));
  CHECK(has_items(view, items));
  TRY(b2nd_free(view));
  TRY(b2nd_free(again));
  TRY(b2nd_get_slice(plain, &again, made, start, stop));
  CHECK_IS(again->nitems, 12);
  TRY(b2nd_free(again));
  TRY(b2nd_concatenate(plain, made, made, 0, true, &again));
  CHECK_IS(again->shape[0], 12);
  TRY(b2nd_free(again));
  if (kind == FRAME) {
    TRY(b2nd_full(plain, &again, items + 7));
    TRY(b2nd_free(again));
    TRY(b2nd_zeros(plain, &again));
    TRY(b2nd_squeeze(again, &view));
    TRY(b2nd_free(view));
    TRY(b2nd_free(again));
    TRY(b2nd_to_cframe(made, &bytes, &len, &needs_free));
    TRY(b2nd_from_cframe(bytes, len, true, &again));
    CHECK(has_items(again, items));
    TRY(b2nd_free(again));
    if (needs_free) {
      free(bytes);
    }
    remove_path(copy_name);
    TRY(b2nd_save(made, copy_name));
    TRY(b2nd_open(copy_name, &again));
    CHECK(has_items(again, items));
    TRY(b2nd_free(again));
    remove_path(copy_name);
    TRY(b2nd_serialize_meta(2, shape, chunks, blocks, "|u1", 0, &meta));
    free(meta);
  }
  TRY(b2nd_free(made));
  if (name_of(kind) != NULL && kind != MAPPED) {
    TRY(b2nd_open(name_of(kind), &again));
    CHECK(has_items(again, items));
    TRY(b2nd_free(again));
    remove_path(name_of(kind));
  }
  TRY(b2nd_free_ctx(ctx));
  TRY(b2nd_free_ctx(plain));
}

/* An array of 4-byte floats with ZFP, which is lossy. */
static void array_of_floats(void) {
  static const int64_t shape[] = {16, 16};
  static const int32_t chunks[] = {16, 16}, blocks[] = {8, 8};
  blosc2_cparams cparams = cparams_of(BLOSC_CODEC_ZFP_FIXED_PRECISION, 4, 1);
  blosc2_storage memory = BLOSC2_STORAGE_DEFAULTS;
  b2nd_context_t *ctx;
  b2nd_array_t *made;
  float items[256], found[256];
  int i;

  cparams.compcode_meta = 20;
  cparams.blocksize = 0;
  cparams.splitmode = BLOSC_NEVER_SPLIT;
  cparams.filters[5] = 0;
  memory.cparams = &cparams;
  for (i = 0; i < 256; i++) {
    items[i] = (float)i;
  }
  TRY_NEW(ctx, b2nd_create_ctx(&memory, 2, shape, chunks, blocks, NULL, 0, NULL, 0));
  TRY(b2nd_from_cbuffer(ctx, &made, items, sizeof items));
  TRY(b2nd_to_cbuffer(made, found, sizeof found));
  for (i = 0; i < 256; i++) {
    CHECK(found[i] > (float)i - 0.1F && found[i] < (float)i + 0.1F);
  }
  TRY(b2nd_free(made));
  TRY(b2nd_free_ctx(ctx));
}

static void work(void) {
  int kind;

  blosc2_init();
  contexts();
  global();
  callbacks_of_users();
  blocks_of_variable_length();
  for (kind = 0; kind < STORAGES; kind++) {
    super_chunk(kind);
    if (kind != MAPPED) {
      array(kind, BLOSC_LZ4);
    }
  }
  super_chunks_of_blocks();
  array(FRAME, BLOSC_CODEC_NDLZ);
  array_of_floats();
}

static void clean_up(void) {
  blosc2_free_resources();
  blosc2_destroy();
  is_registered = false;
}

/* Creates contexts, super-chunks and arrays without memory until creation fails; other calls
 * still work. */
static void objects_use_up_the_reserve(void) {
  enum { MOST = 100000 };
  static blosc2_context *contexts[MOST];
  blosc2_schunk *schunk;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  int i, count = 0;

  blosc2_init();
  refuse_above = 0;
  while (count < MOST && (contexts[count] = blosc2_create_cctx(BLOSC2_CPARAMS_DEFAULTS)) != NULL) {
    count++;
  }
  CHECK(count > 0 && count < MOST);
  for (i = 0; i < 1000; i++) {
    CHECK(blosc2_schunk_new(&storage) == NULL);
    CHECK_IS(blosc2_decompress_ctx(contexts[0], data, 40, back, SIZE), NO_MEMORY);
    CHECK(blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS) == NULL);
  }
  /* With memory, calls succeed while the reserve is in use. */
  refuse_above = SIZE_MAX;
  CHECK(blosc2_compress_ctx(contexts[count - 1], data, SIZE, chunk, sizeof chunk) > 0);
  schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  blosc2_schunk_free(schunk);
  refuse_above = 0;
  for (i = 0; i < count; i++) {
    blosc2_free_ctx(contexts[i]);
  }
  contexts[0] = blosc2_create_cctx(BLOSC2_CPARAMS_DEFAULTS);
  CHECK(contexts[0] != NULL);
  blosc2_free_ctx(contexts[0]);
  refuse_above = SIZE_MAX;
  blosc2_destroy();
}

/* Enters a new directory in /dev/shm, where durable writes are fast, or else one on disk. */
static void enter_fast_folder(void) {
  snprintf(test_folder, sizeof test_folder, "/dev/shm/ferroblosc-memory-XXXXXX");
  if (mkdtemp(test_folder) == NULL || chdir(test_folder) != 0) {
    enter_folder();
  }
}

int main(int argc, char **argv) {
  int result;

  fill_with_data(data, sizeof data);
  enter_fast_folder();
  {
    pid_t process = fork();
    int status = -1;
    if (process == 0) {
      objects_use_up_the_reserve();
      fflush(stdout);
      _exit(checks_failed());
    }
    waitpid(process, &status, 0);
    CHECK_IS(status, 0);
  }
  result = run_without_memory(argc, argv);
  if (result == EXIT_SUCCESS) {
    return leave_folder();
  }
  return result;
}
