/*
 * Arguments and fields of type bool with other bytes than 0 and 1, as compilers of other languages
 * store them: every byte except 0 means true.
 */

#include "check.h"
#include <b2nd.h>
#include <blosc2.h>
#include <blosc2/blosc2-stdio.h>
#include <string.h>
#include <unistd.h>

enum { ITEMS = 100, SIZE = 4 * ITEMS, CAPACITY = SIZE + BLOSC2_MAX_OVERHEAD };

/* The functions, as a compiler declares them whose logical values have other bytes. */
typedef int64_t add_chunk(blosc2_schunk *, uint8_t *, unsigned char);
typedef int64_t put_chunk(blosc2_schunk *, int64_t, uint8_t *, unsigned char);
typedef blosc2_schunk *from_buffer(uint8_t *, int64_t, unsigned char);
typedef void avoid_free(blosc2_schunk *, unsigned char);
typedef int from_cframe(uint8_t *, int64_t, unsigned char, b2nd_array_t **);
typedef int concatenate(b2nd_context_t *, const b2nd_array_t *, const b2nd_array_t *, int8_t,
                        unsigned char, b2nd_array_t **);

/* Copies the address of a function to a pointer with another type. */
#define COPY_ADDRESS(pointer, type, function) \
  do {                                        \
    type *own_ = function;                    \
    memcpy(&pointer, &own_, sizeof pointer);  \
  } while (0)

/* Sets a field of type bool to a byte. */
#define SET_BYTE(field, byte) memset(&(field), (byte), 1)

static const unsigned char bytes[] = {1, 2, 128, 254, 255};
static int32_t data[ITEMS];

static blosc2_schunk *empty(bool contiguous) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = contiguous;
  return blosc2_schunk_new(&storage);
}

static void chunks_are_copied(unsigned char byte) {
  typedef int64_t own_add(blosc2_schunk *, uint8_t *, bool);
  typedef int64_t own_put(blosc2_schunk *, int64_t, uint8_t *, bool);
  static uint8_t chunk[CAPACITY];
  add_chunk *append;
  put_chunk *insert, *update;
  blosc2_schunk *schunk = empty(false);
  int i;

  COPY_ADDRESS(append, own_add, blosc2_schunk_append_chunk);
  COPY_ADDRESS(insert, own_put, blosc2_schunk_insert_chunk);
  COPY_ADDRESS(update, own_put, blosc2_schunk_update_chunk);
  CHECK(blosc2_compress(5, 1, 4, data, SIZE, chunk, sizeof chunk) > 0);
  CHECK_IS(append(schunk, chunk, byte), 1);
  CHECK_IS(insert(schunk, 0, chunk, byte), 2);
  CHECK_IS(append(schunk, chunk, byte), 3);
  CHECK_IS(update(schunk, 2, chunk, byte), 3);
  for (i = 0; i < 3; i++) {
    CHECK(schunk->data[i] != chunk);
    if (schunk->data[i] == chunk) {
      schunk->data[i] = NULL;
    }
  }
  blosc2_schunk_free(schunk);
}

static void frames_are_copied_or_kept(unsigned char byte) {
  typedef blosc2_schunk *own_from(uint8_t *, int64_t, bool);
  typedef void own_avoid(blosc2_schunk *, bool);
  from_buffer *from;
  avoid_free *avoid;
  blosc2_schunk *schunk = empty(true), *other;
  uint8_t *frame, kept[4] = {0};
  bool needs_free;
  int64_t size;

  COPY_ADDRESS(from, own_from, blosc2_schunk_from_buffer);
  COPY_ADDRESS(avoid, own_avoid, blosc2_schunk_avoid_cframe_free);
  CHECK_IS(blosc2_schunk_append_buffer(schunk, data, SIZE), 1);
  size = blosc2_schunk_to_buffer(schunk, &frame, &needs_free);
  CHECK(size > 0 && !needs_free);
  other = from(frame, size, byte);
  CHECK(other != NULL && other->frame == NULL);
  blosc2_schunk_free(other);
  avoid(schunk, byte);
  blosc2_schunk_free(schunk);
  memcpy(kept, frame + 2, 3);
  CHECK(memcmp(kept, "b2f", 3) == 0);
  free(frame);
}

static b2nd_array_t *array_of(const int64_t *shape, bool contiguous) {
  const int32_t chunkshape[] = {10, 1}, blockshape[] = {5, 1};
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  b2nd_context_t *context;
  b2nd_array_t *array = NULL;
  cparams.typesize = 4;
  storage.contiguous = contiguous;
  storage.cparams = &cparams;
  context = b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, NULL, 0, NULL, 0);
  CHECK_IS(b2nd_from_cbuffer(context, &array, data, 4 * shape[0] * shape[1]), 0);
  b2nd_free_ctx(context);
  return array;
}

static void arrays_are_copied_and_viewed(unsigned char byte) {
  typedef int own_from(uint8_t *, int64_t, bool, b2nd_array_t **);
  typedef int own_concatenate(b2nd_context_t *, const b2nd_array_t *, const b2nd_array_t *, int8_t,
                              bool, b2nd_array_t **);
  const int64_t shape[] = {20, 1};
  const int32_t chunkshape[] = {10, 1}, blockshape[] = {5, 1};
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  from_cframe *from;
  concatenate *join;
  b2nd_array_t *array = array_of(shape, true), *other = NULL, *view = NULL;
  b2nd_context_t *context;
  uint8_t *frame;
  int64_t size;
  bool needs_free, axes[3] = {false, false, false};

  COPY_ADDRESS(from, own_from, b2nd_from_cframe);
  COPY_ADDRESS(join, own_concatenate, b2nd_concatenate);
  CHECK_IS(b2nd_to_cframe(array, &frame, &size, &needs_free), 0);
  CHECK_IS(from(frame, size, byte, &other), 0);
  CHECK(other->sc->frame == NULL);
  b2nd_free(other);

  cparams.typesize = 4;
  storage.cparams = &cparams;
  context = b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, NULL, 0, NULL, 0);
  CHECK_IS(join(context, array, array, 0, byte, &other), 0);
  CHECK(other != array && array->shape[0] == 20);
  if (other != array) {
    b2nd_free(other);
  }
  b2nd_free_ctx(context);

  SET_BYTE(axes[1], byte);
  CHECK_IS(b2nd_expand_dims(array, &view, axes, 3), 0);
  CHECK_IS(view == NULL ? -1 : view->shape[0], 20);
  CHECK_IS(view == NULL ? -1 : view->ndim, 3);
  b2nd_free(view);
  CHECK_IS(b2nd_squeeze_index(array, &view, axes), 0);
  CHECK_IS(view == NULL ? -1 : view->ndim, 1);
  b2nd_free(view);
  b2nd_free(array);
}

static int no_prefilter(blosc2_prefilter_params *params) {
  (void)params;
  return 1;
}

static void fields_are_read(unsigned char byte) {
  static uint8_t chunk[CAPACITY];
  static int32_t back[ITEMS];
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_prefilter_params preparams;
  blosc2_stdio_params locking;
  blosc2_io io = BLOSC2_IO_DEFAULTS;
  blosc2_schunk *schunk;
  blosc2_context *context;
  char path[] = P_tmpdir "/ferroblosc-flags-XXXXXX", lock[sizeof path + 10];
  int size, file, i;

  SET_BYTE(storage.contiguous, byte);
  schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL && schunk->frame != NULL);
  CHECK(schunk->storage->contiguous);
  blosc2_schunk_free(schunk);

  cparams.typesize = 4;
  SET_BYTE(cparams.instr_codec, byte);
  context = blosc2_create_cctx(cparams);
  size = blosc2_compress_ctx(context, data, SIZE, chunk, sizeof chunk);
  CHECK(size > 32 && (chunk[BLOSC2_CHUNK_BLOSC2_FLAGS] & BLOSC2_INSTR_CODEC) != 0);
  blosc2_free_ctx(context);

  cparams.instr_codec = false;
  memset(&preparams, 0, sizeof preparams);
  SET_BYTE(preparams.output_is_disposable, byte);
  cparams.preparams = &preparams;
  cparams.prefilter = no_prefilter;
  context = blosc2_create_cctx(cparams);
  size = blosc2_compress_ctx(context, data, SIZE, chunk, sizeof chunk);
  CHECK_IS(size, 32);
  CHECK_IS(blosc2_decompress(chunk, size, back, sizeof back), SIZE);
  for (i = 0; i < ITEMS; i++) {
    CHECK_IS(back[i], 0);
  }
  blosc2_free_ctx(context);

  file = mkstemp(path);
  CHECK(file >= 0);
  close(file);
  unlink(path);
  snprintf(lock, sizeof lock, "%s.b2lock", path);
  SET_BYTE(locking.locking, byte);
  io.params = &locking;
  storage.contiguous = true;
  storage.urlpath = path;
  storage.io = &io;
  schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  CHECK_IS(blosc2_schunk_append_buffer(schunk, data, SIZE), 1);
  CHECK_IS(access(lock, F_OK), 0);
  blosc2_schunk_free(schunk);
  CHECK_IS(blosc2_remove_urlpath(path), 0);
}

int main(void) {
  size_t i;

  fill_with_data(data, sizeof data);
  blosc2_init();
  for (i = 0; i < sizeof bytes; i++) {
    chunks_are_copied(bytes[i]);
    frames_are_copied_or_kept(bytes[i]);
    arrays_are_copied_and_viewed(bytes[i]);
    fields_are_read(bytes[i]);
  }
  blosc2_destroy();
  return checks_failed();
}
