/*
 * Memory owned by the library as an argument of its calls: chunks, frame bytes, names and
 * contents of metalayers, fields of structs, and sources that overlap destinations. Each case
 * runs on every storage, and must have the same result as with a copy of the argument. The test
 * works with any library of the interface.
 */

#include "schunks.h"
#include <b2nd.h>

/*
 * Super-chunks in a mapped file, in addition to the kinds of schunks.h: with the backend of the
 * library, and with a backend of the program, whose memory the library does not know.
 */
enum { MAPPED = KINDS, OWN_KINDS, LENDING = OWN_KINDS, ALL_KINDS };

enum { CHUNKS = 6 };
enum { LENDING_ID = 206 };

static blosc2_stdio_mmap mapping;
static blosc2_io mapped_io;
static int64_t lent_reads;

/* Wraps the function of the library, so that the backend is another one. */
static int64_t counted_read(void **ptr, int64_t size, int64_t nitems, int64_t position, void *stream) {
  lent_reads++;
  return blosc2_stdio_mmap_read(ptr, size, nitems, position, stream);
}

static void register_lending_backend(void) {
  blosc2_io_cb backend;

  memset(&backend, 0, sizeof backend);
  backend.id = LENDING_ID;
  backend.name = "lending";
  backend.is_allocation_necessary = false;
  backend.open = blosc2_stdio_mmap_open;
  backend.close = blosc2_stdio_mmap_close;
  backend.size = blosc2_stdio_mmap_size;
  backend.write = blosc2_stdio_mmap_write;
  backend.read = counted_read;
  backend.truncate = blosc2_stdio_mmap_truncate;
  backend.destroy = blosc2_stdio_mmap_destroy;
  CHECK_IS(blosc2_register_io_cb(&backend), BLOSC2_ERROR_SUCCESS);
}

static blosc2_schunk *opened_mapped(int kind) {
  blosc2_schunk *schunk = make(SINGLE_FILE);

  blosc2_schunk_free(schunk);
  mapping = BLOSC2_STDIO_MMAP_DEFAULTS;
  mapping.mode = "r+";
  mapped_io.id = kind == MAPPED ? BLOSC2_IO_FILESYSTEM_MMAP : LENDING_ID;
  mapped_io.name = kind == MAPPED ? "mmap" : "lending";
  mapped_io.params = &mapping;
  return blosc2_schunk_open_udio(path_of(SINGLE_FILE), &mapped_io);
}

static void fill_items(int32_t *items, int nchunk) {
  int i;

  for (i = 0; i < ITEMS; i++) {
    items[i] = nchunk * 1000 + i * (nchunk + 1);
  }
}

/* Creates a super-chunk with chunks of different sizes, and a metalayer of each kind. */
static blosc2_schunk *example_of(int kind) {
  int32_t items[ITEMS];
  blosc2_schunk *schunk = kind >= MAPPED ? opened_mapped(kind) : make(kind);
  int i;

  if (schunk == NULL) {
    printf("no super-chunk of kind %d\n", kind);
    exit(EXIT_FAILURE);
  }
  CHECK_IS(blosc2_meta_add(schunk, "fixed", (uint8_t *)"0123456789", 10), 0);
  for (i = 0; i < CHUNKS; i++) {
    fill_items(items, i);
    CHECK_IS(blosc2_schunk_append_buffer(schunk, items, i == 3 ? 40 : CHUNK), i + 1);
  }
  CHECK_IS(blosc2_vlmeta_add(schunk, "variable", (uint8_t *)"some bytes, some bytes", 22, NULL), 0);
  return schunk;
}

static void gone(blosc2_schunk *schunk, int kind) {
  if (kind >= MAPPED) {
    CHECK_IS(blosc2_schunk_free(schunk), 0);
    CHECK_IS(blosc2_remove_urlpath(path_of(SINGLE_FILE)), 0);
  } else {
    done(schunk, kind);
  }
}

/* Whether two super-chunks have equal contents. */
static int are_alike(blosc2_schunk *one, blosc2_schunk *other) {
  static uint8_t bytes[2][1 << 16];
  int64_t i;
  int len;

  if (one->nchunks != other->nchunks || one->nbytes != other->nbytes) {
    return 0;
  }
  for (i = 0; i < one->nchunks; i++) {
    len = blosc2_schunk_decompress_chunk(one, i, bytes[0], sizeof bytes[0]);
    if (len < 0 || len != blosc2_schunk_decompress_chunk(other, i, bytes[1], sizeof bytes[1]) ||
        memcmp(bytes[0], bytes[1], (size_t)len) != 0) {
      return 0;
    }
  }
  for (i = 0; i < one->nmetalayers; i++) {
    if (one->metalayers[i]->content_len != other->metalayers[i]->content_len ||
        memcmp(one->metalayers[i]->content, other->metalayers[i]->content,
               (size_t)one->metalayers[i]->content_len) != 0) {
      return 0;
    }
  }
  if (one->nvlmetalayers != other->nvlmetalayers) {
    return 0;
  }
  for (i = 0; i < one->nvlmetalayers; i++) {
    if (strcmp(one->vlmetalayers[i]->name, other->vlmetalayers[i]->name) != 0 ||
        one->vlmetalayers[i]->content_len != other->vlmetalayers[i]->content_len ||
        memcmp(one->vlmetalayers[i]->content, other->vlmetalayers[i]->content,
               (size_t)one->vlmetalayers[i]->content_len) != 0) {
      return 0;
    }
  }
  return 1;
}

/* Returns an argument and stores its size; returns NULL if the storage has no such memory. */
typedef uint8_t *(*source_of)(blosc2_schunk *schunk, int32_t *size, uint8_t **to_free);

static uint8_t *chunk_from(blosc2_schunk *schunk, int64_t nchunk, int lazy, int32_t *size,
                           uint8_t **to_free) {
  uint8_t *chunk;
  bool needs_free;

  *size = lazy ? blosc2_schunk_get_lazychunk(schunk, nchunk, &chunk, &needs_free)
               : blosc2_schunk_get_chunk(schunk, nchunk, &chunk, &needs_free);
  CHECK(*size > 0);
  *to_free = needs_free ? chunk : NULL;
  return chunk;
}

static uint8_t *first_chunk(blosc2_schunk *schunk, int32_t *size, uint8_t **to_free) {
  return chunk_from(schunk, 0, 0, size, to_free);
}

static uint8_t *last_chunk(blosc2_schunk *schunk, int32_t *size, uint8_t **to_free) {
  return chunk_from(schunk, schunk->nchunks - 1, 0, size, to_free);
}

static uint8_t *chunk_in_frame(blosc2_schunk *schunk, int32_t *size, uint8_t **to_free) {
  uint8_t *frame;
  bool needs_free;
  int64_t len = blosc2_schunk_to_buffer(schunk, &frame, &needs_free);
  int32_t header_len;

  CHECK(len > 0);
  *to_free = needs_free ? frame : NULL;
  header_len = frame[11] << 24 | frame[12] << 16 | frame[13] << 8 | frame[14];
  blosc2_cbuffer_sizes(frame + header_len, NULL, size, NULL);
  return frame + header_len;
}

static uint8_t *variable_content(blosc2_schunk *schunk, int32_t *size, uint8_t **to_free) {
  *to_free = NULL;
  *size = schunk->vlmetalayers[0]->content_len;
  return schunk->vlmetalayers[0]->content;
}

static const source_of sources[] = {first_chunk, last_chunk, chunk_in_frame, variable_content};
enum { SOURCES = sizeof sources / sizeof sources[0] };

/* A call with the argument. */
typedef int64_t (*call_with)(blosc2_schunk *schunk, uint8_t *argument, int32_t size);

static int64_t append_it(blosc2_schunk *schunk, uint8_t *chunk, int32_t size) {
  (void)size;
  return blosc2_schunk_append_chunk(schunk, chunk, true);
}

static int64_t insert_it_first(blosc2_schunk *schunk, uint8_t *chunk, int32_t size) {
  (void)size;
  return blosc2_schunk_insert_chunk(schunk, 0, chunk, true);
}

static int64_t insert_it_inside(blosc2_schunk *schunk, uint8_t *chunk, int32_t size) {
  (void)size;
  return blosc2_schunk_insert_chunk(schunk, 3, chunk, true);
}

static int64_t update_itself(blosc2_schunk *schunk, uint8_t *chunk, int32_t size) {
  (void)size;
  return blosc2_schunk_update_chunk(schunk, 0, chunk, true);
}

static int64_t update_another(blosc2_schunk *schunk, uint8_t *chunk, int32_t size) {
  (void)size;
  return blosc2_schunk_update_chunk(schunk, 3, chunk, true);
}

static int64_t update_the_last(blosc2_schunk *schunk, uint8_t *chunk, int32_t size) {
  (void)size;
  return blosc2_schunk_update_chunk(schunk, schunk->nchunks - 1, chunk, true);
}

static int64_t compress_it(blosc2_schunk *schunk, uint8_t *bytes, int32_t size) {
  return blosc2_schunk_append_buffer(schunk, bytes, size / ITEM * ITEM);
}

static int64_t make_it_a_layer(blosc2_schunk *schunk, uint8_t *bytes, int32_t size) {
  return blosc2_vlmeta_add(schunk, "added", bytes, size, NULL);
}

static int64_t replace_a_layer(blosc2_schunk *schunk, uint8_t *bytes, int32_t size) {
  return blosc2_vlmeta_update(schunk, "variable", bytes, size, NULL);
}

static int64_t replace_a_fixed_layer(blosc2_schunk *schunk, uint8_t *bytes, int32_t size) {
  (void)size;
  return blosc2_meta_update(schunk, "fixed", bytes, 10);
}

static int64_t set_some_items(blosc2_schunk *schunk, uint8_t *bytes, int32_t size) {
  /* Item indexes require chunks of equal size. */
  return schunk->chunksize > 0
             ? blosc2_schunk_set_slice_buffer(schunk, 90, 90 + size / ITEM, bytes)
             : 0;
}

static const call_with calls[] = {append_it,        insert_it_first, insert_it_inside,
                                  update_itself,    update_another,  update_the_last,
                                  compress_it,      make_it_a_layer, replace_a_layer,
                                  replace_a_fixed_layer, set_some_items};
enum { CALLS = sizeof calls / sizeof calls[0] };

static void borrowed_memory_may_be_an_argument(void) {
  int kind, source, call, round;
  int32_t size;
  uint8_t *argument, *copy, *to_free;
  int64_t code, expected;
  blosc2_schunk *schunk, *model;

  for (kind = 0; kind < ALL_KINDS; kind++) {
    for (source = 0; source < SOURCES; source++) {
      for (call = 0; call < CALLS; call++) {
        schunk = example_of(kind);
        model = example_of(APART);
        for (round = 0; round < 3; round++) {
          argument = sources[source](schunk, &size, &to_free);
          copy = (uint8_t *)malloc((size_t)size);
          memcpy(copy, argument, (size_t)size);
          code = calls[call](schunk, argument, size);
          expected = calls[call](model, copy, size);
          if (code != expected && !(code < 0 && expected < 0)) {
            checks_bad++;
            printf("kind %d source %d call %d round %d: %lld, not %lld\n", kind, source, call, round,
                   (long long)code, (long long)expected);
          }
          free(copy);
          free(to_free);
        }
        if (!are_alike(schunk, model)) {
          checks_bad++;
          printf("kind %d source %d call %d: contents differ\n", kind, source, call);
        }
        blosc2_schunk_free(model);
        gone(schunk, kind);
      }
    }
  }
}

/* The caller cannot transfer ownership of borrowed memory: it is copied, and freed only once. */
static void borrowed_chunks_may_be_passed_without_copying(void) {
  int kind, twice;
  int32_t size;
  uint8_t *chunk, *to_free;
  blosc2_schunk *schunk;

  for (kind = 0; kind < OWN_KINDS; kind++) {
    schunk = example_of(kind);
    for (twice = 0; twice < 2; twice++) {
      chunk = first_chunk(schunk, &size, &to_free);
      CHECK_IS(blosc2_schunk_append_chunk(schunk, chunk, false), CHUNKS + 1 + twice);
    }
    if (kind == APART) {
      chunk = schunk->data[1];
      CHECK_IS(blosc2_schunk_update_chunk(schunk, 1, chunk, false), CHUNKS + 2);
      CHECK(schunk->data[1] != chunk);
      CHECK_IS(blosc2_schunk_update_chunk(schunk, 0, schunk->data[1], false), CHUNKS + 2);
      CHECK_IS(blosc2_schunk_insert_chunk(schunk, 2, schunk->data[3], false), CHUNKS + 3);
      CHECK_IS(blosc2_schunk_delete_chunk(schunk, 2), CHUNKS + 2);
      CHECK(schunk->data[0] != schunk->data[1]);
    }
    gone(schunk, kind);
  }
}

/* A lazy chunk has fewer bytes than its header states, so it cannot be stored anywhere. */
static void row_s34_lazy_chunks_are_not_stored(void) {
  int kind, target, copy;
  int32_t size;
  uint8_t *lazy, *own, *to_free;
  blosc2_schunk *schunk, *other;

  for (kind = 0; kind < ALL_KINDS; kind++) {
    schunk = example_of(kind);
    lazy = chunk_from(schunk, 0, 1, &size, &to_free);
    if (to_free != NULL && size < *(int32_t *)(void *)(lazy + BLOSC2_CHUNK_CBYTES)) {
      for (target = 0; target < 3; target++) {
        other = target == 0 ? make(APART) : target == 1 ? make(FRAME) : schunk;
        for (copy = 0; copy < 2; copy++) {
          own = (uint8_t *)malloc((size_t)size);
          memcpy(own, lazy, (size_t)size);
          CHECK_IS(blosc2_schunk_append_chunk(other, own, copy != 0), BLOSC2_ERROR_INVALID_HEADER);
          CHECK_IS(blosc2_schunk_insert_chunk(other, 0, own, copy != 0), BLOSC2_ERROR_INVALID_HEADER);
          if (target == 2) {
            CHECK_IS(blosc2_schunk_update_chunk(other, 1, own, copy != 0), BLOSC2_ERROR_INVALID_HEADER);
          }
          CHECK_IS(other->nchunks, target == 2 ? CHUNKS : 0);
          free(own);
        }
        if (target < 2) {
          blosc2_schunk_free(other);
        }
      }
    } else {
      CHECK(!is_on_disk(kind));
    }
    free(to_free);
    gone(schunk, kind);
  }
}

/* A block whose ownership was transferred to the super-chunk may be passed again. */
static void a_chunk_may_be_passed_twice(void) {
  blosc2_schunk *schunk = make(APART);
  int32_t items[ITEMS];
  uint8_t *chunk = (uint8_t *)malloc(CHUNK + BLOSC2_MAX_OVERHEAD);
  int i;

  fill_items(items, 2);
  CHECK(blosc2_compress(5, 1, ITEM, items, CHUNK, chunk, CHUNK + BLOSC2_MAX_OVERHEAD) > 0);
  for (i = 0; i < 3; i++) {
    CHECK_IS(blosc2_schunk_append_chunk(schunk, chunk, false), i + 1);
  }
  CHECK(schunk->data[0] != schunk->data[1] && schunk->data[1] != schunk->data[2]);
  CHECK_IS(blosc2_schunk_delete_chunk(schunk, 0), 2);
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 1, items, CHUNK), CHUNK);
  CHECK_IS(items[5], 2015);
  done(schunk, APART);
}

static void borrowed_names_may_be_arguments(void) {
  int kind;
  uint8_t *content;
  int32_t len;
  char *names[BLOSC2_MAX_METALAYERS];
  blosc2_schunk *schunk;

  for (kind = 0; kind < ALL_KINDS; kind++) {
    schunk = example_of(kind);
    CHECK_IS(blosc2_vlmeta_add(schunk, "second", (uint8_t *)"text", 4, NULL), 1);
    CHECK_IS(blosc2_vlmeta_get_names(schunk, names), 2);
    CHECK_IS(blosc2_vlmeta_get(schunk, names[1], &content, &len), 1);
    free(content);
    CHECK_IS(blosc2_vlmeta_update(schunk, names[0], (uint8_t *)names[1], 6, NULL), 0);
    CHECK_IS(blosc2_vlmeta_delete(schunk, schunk->vlmetalayers[0]->name), 1);
    CHECK_IS(blosc2_vlmeta_delete(schunk, schunk->vlmetalayers[0]->name), 0);
    CHECK_IS(blosc2_meta_update(schunk, schunk->metalayers[0]->name, schunk->metalayers[0]->content + 2, 5), 0);
    CHECK(memcmp(schunk->metalayers[0]->content, "2345656789", 10) == 0);
    CHECK_IS(blosc2_vlmeta_add(schunk, schunk->metalayers[0]->name, (uint8_t *)&schunk->nchunks, 8, NULL), 0);
    CHECK_IS(blosc2_vlmeta_get(schunk, "fixed", &content, &len), 0);
    CHECK(len == 8 && *(int64_t *)(void *)content == CHUNKS);
    free(content);
    gone(schunk, kind);
  }
}

/* Memory of the super-chunk that is read is refused as a destination. */
static void own_memory_is_refused_as_a_destination(void) {
  int kind;
  int32_t size;
  uint8_t *chunk, *to_free;
  blosc2_schunk *schunk;

  for (kind = 0; kind < OWN_KINDS; kind++) {
    schunk = example_of(kind);
    chunk = first_chunk(schunk, &size, &to_free);
    if (to_free == NULL) {
      CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 0, chunk, CHUNK), BLOSC2_ERROR_INVALID_PARAM);
    }
    free(to_free);
    CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 0, schunk, CHUNK), BLOSC2_ERROR_INVALID_PARAM);
    gone(schunk, kind);
  }
}

static void a_source_may_be_the_destination(void) {
  enum { LEN = 4000, CAPACITY = LEN + BLOSC2_MAX_OVERHEAD };
  static uint8_t data[LEN], buffer[2 * CAPACITY], expected[CAPACITY];
  blosc2_cparams cparams = items_of(4);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *cctx = blosc2_create_cctx(cparams), *dctx = blosc2_create_dctx(dparams);
  const void *blocks[2];
  int32_t sizes[2] = {LEN / 2, LEN / 2};
  int offset, len, size;

  fill_with_data(data, LEN);
  for (offset = 0; offset < 300; offset += 100) {
    len = blosc2_compress_ctx(cctx, data, LEN, expected, CAPACITY);
    memcpy(buffer + offset, data, LEN);
    CHECK_IS(blosc2_compress_ctx(cctx, buffer + offset, LEN, buffer, CAPACITY), len);
    CHECK(memcmp(buffer, expected, (size_t)len) == 0);
    memmove(buffer + offset, buffer, (size_t)len);
    CHECK_IS(blosc2_decompress_ctx(dctx, buffer + offset, len, buffer, LEN), LEN);
    CHECK(memcmp(buffer, data, LEN) == 0);
    len = blosc2_compress(9, 1, 4, data, LEN, expected, CAPACITY);
    memcpy(buffer + offset, data, LEN);
    CHECK_IS(blosc2_compress(9, 1, 4, buffer + offset, LEN, buffer, CAPACITY), len);
    memmove(buffer + offset, buffer, (size_t)len);
    CHECK_IS(blosc2_getitem(buffer + offset, len, 10, 100, buffer, CAPACITY), 400);
    CHECK(memcmp(buffer, data + 40, 400) == 0);
    memcpy(buffer + offset, expected, (size_t)len);
    CHECK_IS(blosc1_decompress(buffer + offset, buffer, LEN), LEN);
    CHECK(memcmp(buffer, data, LEN) == 0);
    memcpy(buffer + offset, data, LEN);
    CHECK_IS(blosc2_shuffle(4, LEN, data, expected), LEN);
    CHECK_IS(blosc2_shuffle(4, LEN, buffer + offset, buffer), LEN);
    CHECK(memcmp(buffer, expected, LEN) == 0);
    CHECK_IS(blosc2_unshuffle(4, LEN, buffer, buffer), LEN);
    CHECK(memcmp(buffer, data, LEN) == 0);
    CHECK_IS(blosc2_bitshuffle(4, LEN, buffer, buffer), LEN);
    CHECK_IS(blosc2_bitunshuffle(4, LEN, buffer, buffer), LEN);
    CHECK(memcmp(buffer, data, LEN) == 0);
    blocks[0] = buffer + offset;
    blocks[1] = buffer + offset + LEN / 2;
    memcpy(buffer + offset, data, LEN);
    size = blosc2_vlcompress_ctx(cctx, blocks, sizes, 2, buffer, CAPACITY);
    CHECK(size > 0);
    memcpy(buffer + 4, data, 4);
    CHECK_IS(blosc2_chunk_repeatval(cparams, 400, buffer, CAPACITY, buffer + 4), 36);
    CHECK_IS(blosc2_decompress(buffer, 36, buffer, 400), 400);
    CHECK(memcmp(buffer + 396, data, 4) == 0);
  }
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
}

static void boxes_can_be_copied_within_a_buffer(void) {
  static const int64_t shape[] = {4, 8}, start[] = {0, 0}, stop[] = {3, 6}, to[] = {1, 1};
  uint8_t buffer[32], before[32];
  int i, j;

  for (i = 0; i < 32; i++) {
    buffer[i] = before[i] = (uint8_t)i;
  }
  CHECK_IS(b2nd_copy_buffer2(2, 1, buffer, shape, start, stop, buffer, shape, to), 0);
  for (i = 0; i < 3; i++) {
    for (j = 0; j < 6; j++) {
      CHECK_IS(buffer[8 * (i + 1) + j + 1], before[8 * i + j]);
    }
  }
}

static b2nd_array_t *array_of(int kind) {
  static const int64_t shape[] = {10, 6};
  static const int32_t chunks[] = {4, 6}, blocks[] = {2, 3};
  blosc2_cparams cparams = items_of(4);
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  int32_t items[60];
  b2nd_context_t *ctx;
  b2nd_array_t *array = NULL;
  int i;

  for (i = 0; i < 60; i++) {
    items[i] = i + 1;
  }
  cparams.clevel = 0;
  storage.cparams = &cparams;
  storage.contiguous = is_contiguous(kind);
  storage.urlpath = path_of(kind);
  ctx = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, "<i4", 0, NULL, 0);
  CHECK_IS(b2nd_from_cbuffer(ctx, &array, items, sizeof items), 0);
  b2nd_free_ctx(ctx);
  return array;
}

static void arrays_accept_their_own_memory(void) {
  int kind;

  for (kind = 0; kind < KINDS; kind++) {
    b2nd_array_t *array = array_of(kind), *model = array_of(APART);
    int64_t start[] = {0, 0}, stop[] = {8, 6}, wide[] = {8, 6}, more[] = {12, 6};
    int32_t items[100], found[100];
    uint8_t *chunk, *to_free;
    int32_t size, copy[48];

    /* Items of chunks 0 and 1, set from the bytes of chunk 0, which is replaced first. */
    chunk = chunk_from(array->sc, 0, 0, &size, &to_free);
    CHECK(size >= 96 + 32);
    memset(copy, 0, sizeof copy);
    memcpy(copy, chunk + 32, 96);
    stop[0] = wide[0] = 4;
    CHECK_IS(b2nd_set_slice_cbuffer(chunk + 32, wide, 96, start, stop, array), 0);
    CHECK_IS(b2nd_set_slice_cbuffer(copy, wide, 96, start, stop, model), 0);
    free(to_free);
    chunk = chunk_from(array->sc, 1, 0, &size, &to_free);
    memcpy(copy, chunk + 32, 96);
    CHECK_IS(b2nd_append(array, chunk + 32, 96, 0), 0);
    CHECK_IS(b2nd_append(model, copy, 96, 0), 0);
    free(to_free);
    /* Fields of the array as arguments. */
    CHECK_IS(b2nd_resize(array, array->shape, NULL), 0);
    CHECK_IS(b2nd_get_slice_cbuffer(array, start, array->shape, items, array->shape, sizeof items), 0);
    CHECK_IS(b2nd_get_slice_cbuffer(model, start, model->shape, found, model->shape, sizeof found), 0);
    CHECK(memcmp(items, found, 14 * 6 * 4) == 0);
    CHECK_IS(b2nd_set_slice_cbuffer(items, array->shape, sizeof items, start, array->shape, array), 0);
    array->shape[0] = 14;
    CHECK_IS(b2nd_resize(array, more, array->extshape), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_slice_cbuffer(array, start, stop, array, wide, 96), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_IS(b2nd_get_slice_cbuffer(array, start, array->shape, found, array->shape, sizeof found), 0);
    CHECK(memcmp(items, found, 14 * 6 * 4) == 0);
    CHECK_IS(b2nd_free(model), 0);
    CHECK_IS(b2nd_free(array), 0);
    if (is_on_disk(kind)) {
      CHECK_IS(blosc2_remove_urlpath(path_of(kind)), 0);
    }
  }
}

/* Sets all items of a super-chunk of memcpyed chunks from the bytes of one of its chunks. */
static void a_slice_may_be_set_from_a_chunk_it_replaces(void) {
  int kind, i;

  for (kind = 0; kind < KINDS; kind++) {
    blosc2_cparams cparams = items_of(ITEM);
    blosc2_schunk *schunk;
    int32_t items[ITEMS], found[ITEMS];
    uint8_t *chunk, *to_free;
    int32_t size;

    cparams.clevel = 0;
    schunk = make_with(kind, cparams);
    for (i = 0; i < 3; i++) {
      fill_items(items, i);
      CHECK_IS(blosc2_schunk_append_buffer(schunk, items, CHUNK), i + 1);
    }
    fill_items(items, 1);
    chunk = chunk_from(schunk, 1, 0, &size, &to_free);
    CHECK_IS(blosc2_schunk_set_slice_buffer(schunk, 150, 150 + ITEMS, chunk + 32), 0);
    free(to_free);
    CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 150, 150 + ITEMS, found), 0);
    CHECK(memcmp(items, found, sizeof items) == 0);
    done(schunk, kind);
  }
}

/* A program's backend may lend memory: all reads work, and chunks can be given away. */
static void lending_backends_are_read(void) {
  blosc2_schunk *schunk = example_of(LENDING);
  int32_t items[ITEMS], found[ITEMS], size;
  int64_t coords[2] = {60, 7}, start[1] = {3}, stop[1] = {13}, shape[1] = {10}, all[1] = {ITEMS};
  int32_t chunk_shape[1] = {50}, block_shape[1] = {10};
  blosc2_cparams cparams = items_of(ITEM);
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  b2nd_context_t *context;
  b2nd_array_t *array;
  uint8_t *lent, *to_free, *given;

  fill_items(items, 1);
  lent_reads = 0;
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 1, found, CHUNK), CHUNK);
  CHECK(memcmp(items, found, CHUNK) == 0);
  CHECK(lent_reads > 0);
  lent = first_chunk(schunk, &size, &to_free);
  given = (uint8_t *)malloc((size_t)size);
  memcpy(given, lent, (size_t)size);
  free(to_free);
  /* The super-chunk frees the block. */
  CHECK_IS(blosc2_schunk_append_chunk(schunk, given, false), CHUNKS + 1);
  fill_items(items, 0);
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, CHUNKS, found, CHUNK), CHUNK);
  CHECK(memcmp(items, found, CHUNK) == 0);
  gone(schunk, LENDING);

  storage.contiguous = true;
  storage.cparams = &cparams;
  context = b2nd_create_ctx(&storage, 1, all, chunk_shape, block_shape, NULL, 0, NULL, 0);
  CHECK_IS(b2nd_from_cbuffer(context, &array, items, sizeof items), 0);
  CHECK_IS(b2nd_save(array, path_of(SINGLE_FILE)), 0);
  CHECK_IS(b2nd_free(array), 0);
  b2nd_free_ctx(context);
  mapping = BLOSC2_STDIO_MMAP_DEFAULTS;
  mapping.mode = "r";
  schunk = blosc2_schunk_open_udio(path_of(SINGLE_FILE), &mapped_io);
  CHECK(schunk != NULL);
  CHECK_IS(blosc2_schunk_get_slice_buffer(schunk, 45, 55, found), 0);
  CHECK(memcmp(items + 45, found, 40) == 0);
  CHECK_IS(blosc2_schunk_get_sparse_buffer(schunk, 2, coords, found), 0);
  CHECK(found[0] == items[60] && found[1] == items[7]);
  CHECK_IS(b2nd_from_schunk(schunk, &array), 0);
  CHECK_IS(b2nd_get_slice_cbuffer(array, start, stop, found, shape, 40), 0);
  CHECK(memcmp(items + 3, found, 40) == 0);
  CHECK_IS(b2nd_to_cbuffer(array, found, sizeof found), 0);
  CHECK(memcmp(items, found, sizeof found) == 0);
  CHECK_IS(b2nd_free(array), 0);
  CHECK_IS(blosc2_remove_urlpath(path_of(SINGLE_FILE)), 0);
}

int main(void) {
  enter_folder();
  blosc2_init();
  register_lending_backend();
  lending_backends_are_read();
  borrowed_memory_may_be_an_argument();
  borrowed_chunks_may_be_passed_without_copying();
  row_s34_lazy_chunks_are_not_stored();
  a_chunk_may_be_passed_twice();
  borrowed_names_may_be_arguments();
  own_memory_is_refused_as_a_destination();
  a_source_may_be_the_destination();
  boxes_can_be_copied_within_a_buffer();
  arrays_accept_their_own_memory();
  a_slice_may_be_set_from_a_chunk_it_replaces();
  blosc2_destroy();
  return leave_folder();
}
