/*
 * Without memory for lists and buffers above 64 KiB, which the library's reserve does not serve, no
 * call ends the process: chunks of many blocks, super-chunks of many chunks, large metalayers, and
 * headers that declare more data than a chunk has.
 */

#define NO_MEMORY BLOSC2_ERROR_MEMORY_ALLOC

#include <b2nd.h>
#include <blosc2.h>

#include "out_of_memory.h"
#include "schunks.h"

/* Chunks of one-byte blocks, and metalayers of bytes that do not compress. */
enum { BLOCKS = 70000, CONTENT = 100000, CHUNKS = 9000, SIDE = 264 };

static uint8_t data[CONTENT], chunk[8 * CONTENT], back[CONTENT];
static char file_name[] = "file.b2frame", folder_name[] = "directory.b2frame";

static char *name_of(int kind) {
  return kind == SINGLE_FILE ? file_name : kind == DIRECTORY ? folder_name : NULL;
}

static blosc2_storage storage_of(int kind, blosc2_cparams *cparams) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;

  storage.contiguous = is_contiguous(kind);
  storage.urlpath = name_of(kind);
  storage.cparams = cparams;
  return storage;
}

/* Removes the files at a path, if any: a call that failed without memory may have left some. */
static void remove_path(const char *path) {
  if (path != NULL && access(path, F_OK) == 0) {
    TRY(blosc2_remove_urlpath(path));
  }
}

/* Parameters for blocks of one byte; with `clevel` 0 the chunk is stored without a table. */
static blosc2_cparams bytes_of(uint8_t clevel) {
  blosc2_cparams cparams = items_of(1);
  cparams.compcode = BLOSC_LZ4;
  cparams.clevel = clevel;
  cparams.blocksize = 1;
  cparams.splitmode = BLOSC_NEVER_SPLIT;
  cparams.filters[5] = 0;
  return cparams;
}

static void chunks_of_many_blocks(int kind, uint8_t clevel) {
  blosc2_cparams cparams = bytes_of(clevel);
  blosc2_storage storage = storage_of(kind, &cparams);
  blosc2_schunk *schunk;
  blosc2_context *context;
  int64_t coords[4] = {5, 60000, 40000, 6};
  uint8_t *lent;
  bool needs_free;
  int size = 0;

  TRY_NEW(schunk, (remove_path(storage.urlpath), blosc2_schunk_new(&storage)));
  TRY_NEW(context, blosc2_create_cctx(cparams));
  TRY_UNLESS(size <= 0, size, blosc2_compress_ctx(context, data, BLOCKS, chunk, sizeof chunk), NO_MEMORY, true);
  blosc2_free_ctx(context);
  TRY(blosc2_schunk_append_chunk(schunk, chunk, true));
  TRY(blosc2_schunk_get_sparse_buffer(schunk, 4, coords, back));
  CHECK(back[0] == data[5] && back[1] == data[60000] && back[2] == data[40000] && back[3] == data[6]);
  TRY(blosc2_schunk_get_slice_buffer(schunk, 10, 20000, back));
  CHECK(memcmp(back, data + 10, 20000 - 10) == 0);
  TRY_UNLESS(size <= 0, size, blosc2_schunk_get_lazychunk(schunk, 0, &lent, &needs_free), NO_MEMORY, true);
  TRY_IS(blosc2_getitem_ctx(schunk->dctx, lent, size, 77, 5, back, 5), 5);
  CHECK(memcmp(back, data + 77, 5) == 0);
  if (needs_free) {
    free(lent);
  }
  TRY(blosc2_schunk_set_slice_buffer(schunk, 100, 200, data + 100));
  TRY_IS(blosc2_schunk_decompress_chunk(schunk, 0, back, sizeof back), BLOCKS);
  CHECK(memcmp(back, data, BLOCKS) == 0);
  blosc2_schunk_free(schunk);
  remove_path(storage.urlpath);
}

static void large_metalayers(int kind) {
  blosc2_storage storage = storage_of(kind, NULL);
  blosc2_schunk *schunk, *copy;
  blosc2_storage memory = BLOSC2_STORAGE_DEFAULTS;
  uint8_t *content, *frame;
  int32_t len;
  int64_t frame_len = 0;
  bool needs_free;

  TRY_NEW(schunk, (remove_path(storage.urlpath), blosc2_schunk_new(&storage)));
  TRY(blosc2_meta_add(schunk, "fixed", data, CONTENT));
  TRY(blosc2_meta_update(schunk, "fixed", data, CONTENT - 1));
  TRY(blosc2_schunk_append_buffer(schunk, data, 800));
  TRY(blosc2_vlmeta_add(schunk, "variable", data, CONTENT - 1, NULL));
  TRY(blosc2_vlmeta_update(schunk, "variable", data, CONTENT, NULL));
  TRY(blosc2_schunk_append_buffer(schunk, data, 800));
  TRY(blosc2_vlmeta_add(schunk, "gone", data, CONTENT, NULL));
  TRY(blosc2_vlmeta_delete(schunk, "gone"));
  TRY(blosc2_vlmeta_get(schunk, "variable", &content, &len));
  CHECK(len == CONTENT && memcmp(content, data, CONTENT) == 0);
  free(content);
  TRY_UNLESS(frame_len <= 0, frame_len, blosc2_schunk_to_buffer(schunk, &frame, &needs_free), NO_MEMORY, true);
  TRY_NEW(copy, blosc2_schunk_from_buffer(frame, frame_len, true));
  CHECK(copy->nmetalayers == 1 && copy->nvlmetalayers == 1);
  blosc2_schunk_free(copy);
  if (needs_free) {
    free(frame);
  }
  TRY_NEW(copy, blosc2_schunk_copy(schunk, &memory));
  blosc2_schunk_free(copy);
  blosc2_schunk_free(schunk);
  if (name_of(kind) != NULL) {
    TRY_NEW(schunk, blosc2_schunk_open(name_of(kind)));
    TRY(blosc2_vlmeta_get(schunk, "variable", &content, &len));
    CHECK(len == CONTENT && memcmp(content, data, CONTENT) == 0);
    free(content);
    blosc2_schunk_free(schunk);
    remove_path(name_of(kind));
  }
}

static void many_chunks(int kind) {
  static int64_t order[CHUNKS];
  blosc2_cparams cparams = items_of(ITEM);
  blosc2_storage storage = storage_of(kind, &cparams);
  blosc2_schunk *schunk;
  int64_t start = 0, stop = CHUNKS, *numbers;
  int32_t items[2] = {7, 8};
  int i;

  for (i = 0; i < CHUNKS; i++) {
    order[i] = CHUNKS - 1 - i;
  }
  TRY_NEW(schunk, (remove_path(storage.urlpath), blosc2_schunk_new(&storage)));
  TRY_IS(blosc2_schunk_fill_special(schunk, CHUNKS, BLOSC2_SPECIAL_ZERO, ITEM), CHUNKS);
  TRY(blosc2_schunk_append_buffer(schunk, items, ITEM));
  TRY_IS(blosc2_schunk_delete_chunk(schunk, 5), CHUNKS);
  TRY(blosc2_schunk_reorder_offsets(schunk, order));
  TRY_IS(blosc2_get_slice_nchunks(schunk, &start, &stop, &numbers), CHUNKS);
  free(numbers);
  if (schunk->frame != NULL) {
    TRY_NEW(numbers, blosc2_frame_get_offsets(schunk));
    free(numbers);
  }
  TRY(blosc2_schunk_get_slice_buffer(schunk, 0, 2, items));
  CHECK(items[0] == 7 && items[1] == 0);
  blosc2_schunk_free(schunk);
  if (name_of(kind) != NULL) {
    TRY_NEW(schunk, blosc2_schunk_open(name_of(kind)));
    CHECK_IS(schunk->nchunks, CHUNKS);
    blosc2_schunk_free(schunk);
    remove_path(name_of(kind));
  }
}

static void arrays_of_many_blocks(uint8_t clevel) {
  static const int64_t shape[] = {SIDE, SIDE}, start[] = {10, 10}, stop[] = {SIDE, 250}, part[] = {SIDE - 10, 240};
  static const int32_t chunks[] = {SIDE, SIDE}, blocks[] = {1, 1};
  static int64_t numbers[SIDE];
  blosc2_cparams cparams = bytes_of(clevel);
  blosc2_storage memory = BLOSC2_STORAGE_DEFAULTS;
  b2nd_context_t *ctx;
  b2nd_array_t *array;
  int64_t *selection[] = {numbers, numbers}, sizes[] = {SIDE, 200}, coords[] = {3, SIDE * SIDE - 1};
  int i;

  for (i = 0; i < SIDE; i++) {
    numbers[i] = i;
  }
  memory.cparams = &cparams;
  TRY_NEW(ctx, b2nd_create_ctx(&memory, 2, shape, chunks, blocks, "|u1", 0, NULL, 0));
  TRY(b2nd_from_cbuffer(ctx, &array, data, SIDE * SIDE));
  TRY(b2nd_get_slice_cbuffer(array, start, stop, back, part, sizeof back));
  CHECK(back[0] == data[10 * SIDE + 10] && back[240] == data[11 * SIDE + 10]);
  TRY(b2nd_get_orthogonal_selection(array, selection, sizes, back, sizes, SIDE * 200));
  CHECK(back[0] == data[0] && back[200] == data[SIDE]);
  TRY(b2nd_set_orthogonal_selection(array, selection, sizes, back, sizes, SIDE * 200));
  TRY(b2nd_get_sparse_cbuffer(array, 2, coords, back, 2));
  CHECK(back[0] == data[3] && back[1] == data[SIDE * SIDE - 1]);
  TRY(b2nd_free(array));
  TRY(b2nd_free_ctx(ctx));
}

static void arrays_of_many_chunks(int kind) {
  static const int64_t shape[] = {CHUNKS}, larger[] = {2 * CHUNKS}, smaller[] = {3};
  static const int32_t one[] = {1};
  blosc2_cparams cparams = items_of(1);
  blosc2_storage storage = storage_of(kind, &cparams);
  b2nd_context_t *ctx;
  b2nd_array_t *array;

  TRY_NEW(ctx, b2nd_create_ctx(&storage, 1, shape, one, one, "|u1", 0, NULL, 0));
  TRY(b2nd_zeros(ctx, &array));
  TRY(b2nd_resize(array, larger, NULL));
  CHECK_IS(array->sc->nchunks, 2 * CHUNKS);
  TRY(b2nd_to_cbuffer(array, back, sizeof back));
  TRY(b2nd_resize(array, smaller, NULL));
  CHECK_IS(array->sc->nchunks, 3);
  TRY(b2nd_free(array));
  TRY(b2nd_free_ctx(ctx));
}

/* Arrays with a dtype and another metalayer above 64 KiB. */
static void arrays_with_large_metalayers(int kind) {
  static const int64_t shape[] = {8, 8}, start[] = {1, 1}, stop[] = {3, 3}, larger[] = {9, 8}, part[] = {2, 2};
  static const int32_t chunks[] = {4, 4}, blocks[] = {2, 2, 8};
  static char dtype[CONTENT + 1];
  blosc2_cparams cparams = items_of(1);
  blosc2_storage storage = storage_of(kind, &cparams), memory = BLOSC2_STORAGE_DEFAULTS;
  blosc2_metalayer layer = {"other", data, CONTENT};
  b2nd_context_t *ctx, *plain;
  b2nd_array_t *array, *other, *view;
  uint8_t *frame;
  int64_t frame_len;
  bool needs_free, axis[] = {true, false, false};

  memset(dtype, 'x', CONTENT);
  memory.cparams = &cparams;
  TRY_NEW(ctx, b2nd_create_ctx(&storage, 2, shape, chunks, blocks, dtype, 0, &layer, 1));
  TRY_NEW(plain, b2nd_create_ctx(&memory, 2, shape, chunks, blocks, dtype, 0, NULL, 0));
  TRY((remove_path(storage.urlpath), b2nd_from_cbuffer(ctx, &array, data, 64)));
  TRY(b2nd_resize(array, larger, NULL));
  TRY(b2nd_get_slice_cbuffer(array, start, stop, back, part, 4));
  CHECK(back[0] == data[9] && back[3] == data[18]);
  TRY(b2nd_copy(plain, array, &other));
  CHECK(strcmp(other->dtype, dtype) == 0);
  TRY(b2nd_free(other));
  TRY(b2nd_get_slice(plain, &other, array, start, stop));
  CHECK(strcmp(other->dtype, dtype) == 0);
  TRY(b2nd_expand_dims(other, &view, axis, 3));
  TRY(b2nd_free(view));
  TRY(b2nd_free(other));
  TRY(b2nd_to_cframe(array, &frame, &frame_len, &needs_free));
  TRY(b2nd_from_cframe(frame, frame_len, true, &other));
  CHECK(strcmp(other->dtype, dtype) == 0 && other->sc->nmetalayers == 2);
  if (needs_free) {
    free(frame);
  }
  TRY(b2nd_free(other));
  TRY(b2nd_free(array));
  if (name_of(kind) != NULL) {
    TRY(b2nd_open(name_of(kind), &array));
    CHECK(strcmp(array->dtype, dtype) == 0);
    TRY(b2nd_free(array));
    remove_path(name_of(kind));
  }
  TRY(b2nd_free_ctx(plain));
  TRY(b2nd_free_ctx(ctx));
  /* Items that fill a chunk are appended in another way. */
  TRY_NEW(ctx, b2nd_create_ctx(&storage, 1, shape, blocks + 2, blocks, dtype, 0, NULL, 0));
  TRY((remove_path(storage.urlpath), b2nd_from_cbuffer(ctx, &array, data, 8)));
  TRY(b2nd_append(array, data + 8, 8, 0));
  CHECK(array->shape[0] == 16 && array->sc->nchunks == 2);
  TRY(b2nd_to_cbuffer(array, back, 16));
  CHECK(memcmp(back, data, 16) == 0);
  TRY(b2nd_free(array));
  TRY(b2nd_free_ctx(ctx));
  remove_path(storage.urlpath);
}

/* Chunks whose header declares up to 2 GiB: a call returns an error or data. */
static void headers_that_lie(int kind) {
  static const uint8_t short_chunk[20] = {2, 1, 0x22, 1, 0, 0, 0, 0x7f, 0, 0x10, 0, 0, 20, 0, 0, 0};
  blosc2_cparams cparams = bytes_of(5);
  blosc2_storage storage = storage_of(kind, &cparams);
  blosc2_schunk *schunk;
  int64_t coords[2] = {0, 2000000000};
  uint8_t special[BLOSC_EXTENDED_HEADER_LENGTH + 1];
  int64_t code;
  size_t above;
  long before;
  int size;

  TRY_NEW(schunk, (remove_path(storage.urlpath), blosc2_schunk_new(&storage)));
  memcpy(chunk, short_chunk, sizeof short_chunk);
  code = blosc2_schunk_append_chunk(schunk, chunk, true);
  CHECK(code < 0 || schunk->nchunks == 1);
  blosc2_schunk_free(schunk);
  TRY_NEW(schunk, (remove_path(storage.urlpath), blosc2_schunk_new(&storage)));
  size = blosc2_chunk_repeatval(cparams, 2000000001, special, sizeof special, "a");
  CHECK(size > 0 || size == NO_MEMORY);
  if (size > 0) {
    TRY(blosc2_schunk_append_chunk(schunk, special, true));
    /* The blocks of the items are decoded in a buffer of 2 GB; these refusals are not counted. */
    above = refuse_above;
    before = refused;
    refuse_above = above < 100000000 ? above : 100000000;
    CHECK_IS(blosc2_schunk_get_sparse_buffer(schunk, 2, coords, back), NO_MEMORY);
    refuse_above = above;
    known_refusals = refused = before;
  }
  blosc2_schunk_free(schunk);
  remove_path(storage.urlpath);
}

static void work(void) {
  int kind;

  blosc2_init();
  for (kind = 0; kind < KINDS; kind++) {
    chunks_of_many_blocks(kind, 0);
    chunks_of_many_blocks(kind, 1);
    large_metalayers(kind);
    many_chunks(kind);
    arrays_with_large_metalayers(kind);
    headers_that_lie(kind);
  }
  /* In files, each removed chunk is a separate change. */
  arrays_of_many_chunks(APART);
  arrays_of_many_chunks(FRAME);
  arrays_of_many_blocks(0);
  arrays_of_many_blocks(1);
}

static void clean_up(void) {
  blosc2_free_resources();
  blosc2_destroy();
}

int main(int argc, char **argv) {
  uint32_t noise = 1;
  int result, i;

  for (i = 0; i < CONTENT; i++) {
    noise = noise * 1664525u + 1013904223u;
    data[i] = (uint8_t)(noise >> 24);
  }
  enter_folder();
  result = run_without_memory(argc, argv);
  return result == EXIT_SUCCESS ? leave_folder() : result;
}
