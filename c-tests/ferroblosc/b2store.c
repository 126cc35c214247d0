/* Stores with the objects of libblosc2: arrays and super-chunks are written, read in place, and
 * outlive their store. */

#include <b2nd.h>
#include <b2store.h>
#include <ferroblosc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../check.h"

enum { ROWS = 300, COLUMNS = 40 };

static int32_t items[ROWS * COLUMNS];

static void says(const char *expected) {
  const char *text = ferroblosc_last_error();
  CHECK(text != NULL && strstr(text, expected) != NULL);
  if (text == NULL || strstr(text, expected) == NULL) {
    printf("the error is: %s\n", text != NULL ? text : "none");
  }
}

static b2nd_array_t *new_array(void) {
  int64_t shape[2] = {ROWS, COLUMNS};
  int32_t chunkshape[2] = {100, COLUMNS}, blockshape[2] = {10, COLUMNS};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  b2nd_context_t *context;
  b2nd_array_t *array = NULL;
  cparams.typesize = sizeof *items;
  storage.cparams = &cparams;
  context = b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, "<i4", 0, NULL, 0);
  CHECK_IS(b2nd_from_cbuffer(context, &array, items, sizeof items), 0);
  CHECK_IS(b2nd_free_ctx(context), 0);
  return array;
}

static blosc2_schunk *new_schunk(void) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_schunk *schunk;
  cparams.typesize = 4;
  storage.cparams = &cparams;
  schunk = blosc2_schunk_new(&storage);
  CHECK_IS(blosc2_schunk_append_buffer(schunk, items, sizeof items), 1);
  return schunk;
}

static void is_json(int64_t size, void *content, const char *expected) {
  CHECK_IS(size, strlen(expected));
  CHECK(content != NULL && strcmp((const char *)content, expected) == 0);
  if (content != NULL && strcmp((const char *)content, expected) != 0) {
    printf("%s\n", (const char *)content);
  }
  free(content);
}

/* The call stores the address of the text in `content`. */
#define IS_JSON(call, content, expected)  \
  do {                                    \
    int64_t size_ = (call);               \
    is_json(size_, content, expected);    \
  } while (0)

static void attr_is(const b2store *store, const char *key, const char *name, const char *expected) {
  void *content;
  int64_t size = b2store_attr(store, key, name, B2STORE_JSON, &content);
  is_json(size, content, expected);
}

static void write_store(const char *path) {
  static const char objects[] = "[1, \"two\", {\"three\": [3.5, null]}]";
  static const char batches[] = "[[1, 2], [3]]";
  b2store_writer *writer = b2store_create(path);
  b2nd_array_t *array = new_array();
  blosc2_schunk *schunk = new_schunk();
  CHECK(writer != NULL);
  CHECK_IS(b2store_put_array(writer, "/g/array", array, 0), 0);
  CHECK_IS(b2store_put_array(writer, "/g/array", array, 0), BLOSC2_ERROR_INVALID_PARAM);
  says("exists already");
  CHECK_IS(b2store_put_array(writer, "/g/array", array, 1), 0);
  CHECK_IS(b2store_put_schunk(writer, "/schunk", schunk, 0), 0);
  CHECK_IS(b2store_put_objects(writer, "/objects", B2STORE_OBJECT_ARRAY, B2STORE_JSON, objects,
                               strlen(objects), 0), 0);
  CHECK_IS(b2store_put_objects(writer, "/batches", B2STORE_BATCH_ARRAY, B2STORE_JSON, batches,
                               strlen(batches), 0), 0);
  CHECK_IS(b2store_set_attr(writer, "/g", "unit", B2STORE_JSON, "\"K\"", 3), 0);
  CHECK_IS(b2store_set_attr(writer, "/g/array", "n", B2STORE_MSGPACK, "\xcd\x01\x00", 3), 0);
  CHECK_IS(b2store_set_attr(writer, "/g/array", "gone", B2STORE_JSON, "[]", 2), 0);
  CHECK_IS(b2store_remove_attr(writer, "/g/array", "gone"), 0);
  CHECK_IS(b2store_remove_attr(writer, "/g/array", "gone"), BLOSC2_ERROR_INVALID_PARAM);
  /* Nothing is written before the commit. */
  CHECK(access(path, F_OK) != 0);
  CHECK_IS(b2nd_free(array), 0);
  CHECK_IS(blosc2_schunk_free(schunk), 0);
  CHECK_IS(b2store_commit(writer), 0);
  CHECK(access(path, F_OK) == 0);
  CHECK_IS(b2store_commit(writer), BLOSC2_ERROR_INVALID_PARAM);
  says("already committed");
  CHECK_IS(b2store_delete(writer, "/g"), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(b2store_writer_free(writer), 0);
  CHECK_IS(b2store_writer_free(writer), BLOSC2_ERROR_INVALID_PARAM);
  says("closed");
  CHECK(b2store_create(path) == NULL);
  says("exists already");
}

static void array_is_right(b2nd_array_t *array) {
  static int32_t read[ROWS * COLUMNS];
  int64_t start[2] = {150, 3}, stop[2] = {152, 5}, shape[2] = {2, 2};
  int32_t slice[4];
  memset(read, 0, sizeof read);
  CHECK_IS(b2nd_to_cbuffer(array, read, sizeof read), 0);
  CHECK(memcmp(read, items, sizeof items) == 0);
  CHECK_IS(b2nd_get_slice_cbuffer(array, start, stop, slice, shape, sizeof slice), 0);
  CHECK_IS(slice[0], items[150 * COLUMNS + 3]);
  CHECK_IS(slice[3], items[151 * COLUMNS + 4]);
}

/* A leaf in a file cannot be changed through its array; a copy can, without effect on the store. */
static void change_fails(b2nd_array_t *array, int is_copy) {
  int64_t start[2] = {0, 0}, stop[2] = {1, 1}, larger[2] = {ROWS + 100, COLUMNS};
  int64_t one_item[2] = {1, 1};
  int32_t one = 77;
  int result = b2nd_set_slice_cbuffer(&one, one_item, sizeof one, start, stop, array);
  if (is_copy) {
    CHECK_IS(result, 0);
    return;
  }
  CHECK(result < 0);
  CHECK(b2nd_resize(array, larger, NULL) < 0);
  CHECK(blosc2_vlmeta_add(array->sc, "x", (uint8_t *)"abc", 3, NULL) < 0);
  CHECK(blosc2_schunk_append_buffer(array->sc, items, 100 * COLUMNS * 4) < 0);
  CHECK(blosc2_schunk_delete_chunk(array->sc, 0) < 0);
}

static void read_store(const char *path, int is_copy) {
  b2store *store = b2store_open(path);
  b2store_info info;
  b2nd_array_t *array, *other;
  blosc2_schunk *schunk;
  b2store_objects *objects;
  static int32_t read[ROWS * COLUMNS];
  void *content;
  char *text;
  int64_t i, number = b2store_nkeys(store);
  int has_groups = strstr(path, ".b2e") == NULL;
  CHECK_IS(number, has_groups ? 5 : 4);
  for (i = 0; i < number; i++) {
    CHECK(b2store_key(store, i)[0] == '/');
    CHECK_IS(b2store_get_info(store, b2store_key(store, i), &info), 0);
  }
  CHECK(b2store_key(store, number) == NULL && b2store_key(store, -1) == NULL);
  says("the store has");
  if (has_groups) {
    CHECK_IS(b2store_get_info(store, "/g", &info), 0);
    CHECK_IS(info.kind, B2STORE_GROUP);
    CHECK_IS(info.ndim, -1);
    CHECK_IS(info.nbytes, -1);
    attr_is(store, "/g", "unit", "\"K\"");
    IS_JSON(b2store_attrs(store, "/g", B2STORE_JSON, &content), content, "{\"unit\":\"K\"}");
  }
  attr_is(store, "/g/array", "n", "256");
  CHECK_IS(b2store_attr(store, "/g/array", "n", B2STORE_MSGPACK, &content), 3);
  CHECK(content != NULL && memcmp(content, "\xcd\x01\x00", 3) == 0);
  free(content);
  CHECK_IS(b2store_attr(store, "/g/array", "gone", B2STORE_JSON, &content), BLOSC2_ERROR_NOT_FOUND);
  CHECK(content == NULL);
  CHECK_IS(b2store_get_info(store, "/g/array", &info), 0);
  CHECK_IS(info.kind, B2STORE_ARRAY);
  CHECK_IS(info.ndim, 2);
  CHECK_IS(info.shape[0], ROWS);
  CHECK_IS(info.shape[1], COLUMNS);
  CHECK_IS(info.nbytes, sizeof items);
  CHECK(info.cbytes > 0);
  text = b2store_dtype(store, "/g/array");
  CHECK(text != NULL && strcmp(text, "<i4") == 0);
  free(text);
  CHECK(b2store_dtype(store, "/schunk") == NULL);
  says("is of class SChunk");

  array = (b2nd_array_t *)b2store_open_array(store, "/g/array");
  other = (b2nd_array_t *)b2store_open_array(store, "/g/array");
  schunk = (blosc2_schunk *)b2store_open_schunk(store, "/schunk");
  objects = b2store_open_objects(store, "/objects");
  CHECK(array != NULL && other != NULL && schunk != NULL && objects != NULL);
  CHECK(b2store_open_array(store, "/schunk") == NULL);
  says("is of class SChunk, not NDArray");
  CHECK(b2store_open_array(store, "/none") == NULL);
  says("there is no key \"/none\"");
  CHECK(b2store_open_objects(store, "/schunk") == NULL);
  CHECK(b2store_open_table(store, "/schunk") == NULL);
  says("not CTable");
  CHECK_IS(b2store_verify(store, &text), 0);
  CHECK(text != NULL && strcmp(text, "[]") == 0);
  free(text);
  CHECK_IS(b2store_verify(store, NULL), 0);

  /* The handles outlive the store. */
  CHECK_IS(b2store_close(store), 0);
  CHECK_IS(b2store_close(store), BLOSC2_ERROR_INVALID_PARAM);
  CHECK(b2store_nkeys(store) < 0);
  array_is_right(array);
  change_fails(array, is_copy);
  CHECK_IS(b2nd_free(array), 0);
  array_is_right(other);
  CHECK_IS(b2nd_free(other), 0);
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 0, read, sizeof read), sizeof read);
  CHECK(memcmp(read, items, sizeof items) == 0);
  CHECK_IS(blosc2_schunk_free(schunk), 0);
  CHECK_IS(b2store_objects_len(objects), 3);
  IS_JSON(b2store_objects_read(objects, 1, 2, B2STORE_JSON, &content), content,
          "[\"two\",{\"three\":[3.5,null]}]");
  IS_JSON(b2store_objects_read(objects, 3, 0, B2STORE_JSON, &content), content, "[]");
  CHECK_IS(b2store_objects_read(objects, 2, 2, B2STORE_JSON, &content), BLOSC2_ERROR_INVALID_INDEX);
  CHECK_IS(b2store_objects_read(objects, -1, 2, B2STORE_JSON, &content), BLOSC2_ERROR_INVALID_INDEX);
  CHECK_IS(b2store_objects_read(objects, 0, INT64_MAX, B2STORE_JSON, &content),
           BLOSC2_ERROR_INVALID_INDEX);
  CHECK_IS(b2store_objects_read(objects, 0, 1, 7, &content), BLOSC2_ERROR_INVALID_PARAM);
  CHECK(content == NULL);
  CHECK_IS(b2store_objects_close(objects), 0);
  CHECK_IS(b2store_objects_close(objects), BLOSC2_ERROR_INVALID_PARAM);

  store = b2store_open(path);
  CHECK_IS(b2store_verify(store, NULL), 0);
  objects = b2store_open_objects(store, "/batches");
  CHECK_IS(b2store_objects_len(objects), 3);
  IS_JSON(b2store_objects_read(objects, 0, 3, B2STORE_JSON, &content), content, "[1,2,3]");
  CHECK_IS(b2store_objects_close(objects), 0);
  CHECK_IS(b2store_close(store), 0);
}

/* Frames go from one store to another without libblosc2. */
static void copy_frames(const char *from, const char *to) {
  b2store *store = b2store_open(from);
  b2store_writer *writer = b2store_create(to);
  void *frame;
  b2nd_array_t *array = NULL;
  int64_t size = b2store_frame(store, "/g/array", &frame);
  CHECK(size > 0 && frame != NULL);
  CHECK_IS(b2store_put_frame(writer, "/copy", frame, (size_t)size, 0), 0);
  CHECK_IS(b2store_put_frame(writer, "/short", frame, (size_t)size - 1, 0), BLOSC2_ERROR_DATA);
  CHECK_IS(b2store_put_frame(writer, "/none", frame, 0, 0), BLOSC2_ERROR_DATA);
  CHECK_IS(b2nd_from_cframe((uint8_t *)frame, size, true, &array), 0);
  array_is_right(array);
  CHECK(blosc2_schunk_to_file(array->sc, "leaf.b2nd") > 0);
  CHECK_IS(b2store_put_file(writer, "/file", "leaf.b2nd", 0), 0);
  CHECK(b2store_put_file(writer, "/missing", "missing.b2nd", 0) < 0);
  CHECK(b2store_put_file(writer, "/folder", ".", 0) < 0);
  CHECK_IS(b2store_delete(writer, "/nothing"), BLOSC2_ERROR_NOT_FOUND);
  CHECK_IS(b2store_commit(writer), 0);
  CHECK_IS(b2store_writer_free(writer), 0);
  CHECK_IS(b2nd_free(array), 0);
  free(frame);
  CHECK_IS(remove("leaf.b2nd"), 0);
  CHECK(b2store_frame(store, "/g", &frame) < 0 && frame == NULL);
  CHECK_IS(b2store_close(store), 0);

  store = b2store_open(to);
  array = (b2nd_array_t *)b2store_open_array(store, "/file");
  array_is_right(array);
  CHECK_IS(b2nd_free(array), 0);
  CHECK_IS(b2store_close(store), 0);

  writer = b2store_change(to);
  CHECK(b2store_change(to) == NULL);
  says("another writer");
  CHECK_IS(b2store_delete(writer, "/file"), 0);
  CHECK_IS(b2store_commit(writer), 0);
  CHECK_IS(b2store_writer_free(writer), 0);
  store = b2store_open(to);
  CHECK_IS(b2store_nkeys(store), 1);
  CHECK_IS(b2store_close(store), 0);
  CHECK_IS(remove(to), 0);
}

/* A store that another one replaces is not read with the old offsets. */
static void replaced_store_is_noticed(const char *path) {
  b2store *store = b2store_open(path);
  b2store_writer *writer = b2store_change(path);
  CHECK_IS(b2store_set_attr(writer, "/", "more", B2STORE_JSON, "1", 1), 0);
  CHECK_IS(b2store_commit(writer), 0);
  CHECK_IS(b2store_writer_free(writer), 0);
  CHECK(b2store_open_array(store, "/g/array") == NULL);
  says("changed while it was read");
  CHECK_IS(b2store_close(store), 0);
}

/* A writer that is freed writes nothing, and the current directory can change meanwhile. */
static void discarded_writer_writes_nothing(void) {
  b2store_writer *writer = b2store_create("discarded.b2z");
  CHECK_IS(b2store_put_objects(writer, "/o", B2STORE_OBJECT_ARRAY, B2STORE_JSON, "[1]", 3, 0), 0);
  CHECK_IS(b2store_writer_free(writer), 0);
  CHECK(access("discarded.b2z", F_OK) != 0);
  writer = b2store_create("elsewhere.b2z");
  CHECK_IS(b2store_put_objects(writer, "/o", B2STORE_OBJECT_ARRAY, B2STORE_JSON, "[1]", 3, 0), 0);
  CHECK_IS(mkdir("folder", 0700), 0);
  CHECK_IS(chdir("folder"), 0);
  CHECK_IS(b2store_commit(writer), 0);
  CHECK_IS(b2store_writer_free(writer), 0);
  CHECK_IS(chdir(".."), 0);
  CHECK_IS(rmdir("folder"), 0);
  CHECK_IS(remove("elsewhere.b2z"), 0);
}

/* The backend of b2store_open_array() can be used for any file. */
static void read_only_backend_writes_nothing(void) {
  blosc2_io io = BLOSC2_IO_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  b2nd_array_t *array = new_array();
  blosc2_schunk *schunk;
  CHECK(blosc2_schunk_to_file(array->sc, "file.b2nd") > 0);
  CHECK_IS(b2nd_free(array), 0);
  io.id = FERROBLOSC_IO_READ_ONLY;
  schunk = blosc2_schunk_open_udio("file.b2nd", &io);
  CHECK(schunk != NULL);
  CHECK(blosc2_schunk_delete_chunk(schunk, 0) < 0);
  says("Read-only");
  CHECK_IS(schunk->nchunks, 3);
  CHECK_IS(blosc2_schunk_free(schunk), 0);
  storage.urlpath = (char *)"new.b2frame";
  storage.io = &io;
  storage.contiguous = true;
  CHECK(blosc2_schunk_new(&storage) == NULL);
  CHECK(access("new.b2frame", F_OK) != 0);
  CHECK_IS(remove("file.b2nd"), 0);
}

static void remove_directory_store(const char *path) {
  char command[200];
  snprintf(command, sizeof command, "rm -r '%s'", path);
  CHECK_IS(system(command), 0);
}

/* Opens every object of a fixture, which can be damaged, and reads all chunks. */
static void read_fixture(const char *path) {
  b2store *store = b2store_open(path);
  int64_t number, count = store != NULL ? b2store_nkeys(store) : 0;
  for (number = 0; number < count; number++) {
    const char *key = b2store_key(store, number);
    b2store_info info;
    blosc2_schunk *schunk = (blosc2_schunk *)b2store_open_schunk(store, key);
    b2nd_array_t *array = (b2nd_array_t *)b2store_open_array(store, key);
    CHECK_IS(b2store_get_info(store, key, &info), 0);
    CHECK(array == NULL || (info.kind == B2STORE_ARRAY && info.ndim == array->ndim));
    if (info.kind >= B2STORE_LAZY_EXPRESSION || info.kind <= B2STORE_TABLE) {
      CHECK(schunk == NULL && array == NULL);
    }
    if (schunk != NULL) {
      int64_t nchunk;
      for (nchunk = 0; nchunk < schunk->nchunks; nchunk++) {
        void *chunk = malloc((size_t)schunk->chunksize + BLOSC2_MAX_OVERHEAD);
        int32_t capacity = schunk->chunksize;
        /* The result is not known: chunks can be damaged, or have blocks of variable length. */
        (void)blosc2_schunk_decompress_chunk(schunk, nchunk, chunk, capacity);
        free(chunk);
      }
      CHECK_IS(blosc2_schunk_free(schunk), 0);
    }
    if (array != NULL) {
      CHECK_IS(b2nd_free(array), 0);
    }
  }
  CHECK_IS(b2store_close(store), 0);
}

int main(int argc, char **argv) {
  int i;
  fill_with_data(items, sizeof items);
  blosc2_init();
  remove("s.b2z");
  write_store("s.b2z");
  read_store("s.b2z", 0);
  copy_frames("s.b2z", "copy.b2z");
  replaced_store_is_noticed("s.b2z");
  CHECK_IS(remove("s.b2z"), 0);
  discarded_writer_writes_nothing();
  write_store("s.b2d");
  read_store("s.b2d", 0);
  remove_directory_store("s.b2d");
  read_only_backend_writes_nothing();
  for (i = 1; i < argc; i++) {
    read_fixture(argv[i]);
  }
  blosc2_destroy();
  return checks_failed();
}
