/* Calls with NULL, with handles of other types and with closed ones; and every call with damaged
 * stores, which are the arguments. Nothing may crash, and each failure has a reason. */

#include <b2store.h>
#include <ferroblosc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"

#define INVALID_PARAM (-12)

static int failures;

static void failed(void) {
  const char *text = ferroblosc_last_error();
  CHECK(text != NULL && text[0] != '\0');
  failures++;
}

static void nulls(void) {
  b2store_info info;
  void *content = &info;
  char *text = (char *)&info;
  int64_t offsets[1];
  CHECK(b2store_open(NULL) == NULL);
  CHECK(b2store_open("") == NULL);
  CHECK(b2store_open("/dev/null") == NULL);
  CHECK(b2store_open("/no/such/store") == NULL);
  CHECK(b2store_open_nested(NULL, "/") == NULL);
  CHECK_IS(b2store_close(NULL), 0);
  CHECK_IS(b2store_nkeys(NULL), INVALID_PARAM);
  CHECK(b2store_key(NULL, 0) == NULL);
  CHECK_IS(b2store_get_info(NULL, "/", &info), INVALID_PARAM);
  CHECK(b2store_dtype(NULL, "/") == NULL);
  CHECK_IS(b2store_attrs(NULL, "/", B2STORE_JSON, &content), INVALID_PARAM);
  CHECK(content == NULL);
  CHECK_IS(b2store_attr(NULL, "/", "a", B2STORE_JSON, &content), INVALID_PARAM);
  CHECK_IS(b2store_verify(NULL, &text), INVALID_PARAM);
  CHECK(text == NULL);
  CHECK(b2store_open_schunk(NULL, "/") == NULL);
  CHECK(b2store_open_array(NULL, "/") == NULL);
  CHECK_IS(b2store_frame(NULL, "/", &content), INVALID_PARAM);
  CHECK(b2store_open_objects(NULL, "/") == NULL);
  CHECK_IS(b2store_objects_close(NULL), 0);
  CHECK_IS(b2store_objects_len(NULL), INVALID_PARAM);
  CHECK_IS(b2store_objects_read(NULL, 0, 0, B2STORE_JSON, &content), INVALID_PARAM);
  CHECK(b2store_open_table(NULL, "/") == NULL);
  CHECK_IS(b2store_table_close(NULL), 0);
  CHECK_IS(b2store_table_len(NULL), INVALID_PARAM);
  CHECK_IS(b2store_table_ncolumns(NULL), INVALID_PARAM);
  CHECK_IS(b2store_table_find(NULL, "a"), INVALID_PARAM);
  CHECK(b2store_table_name(NULL, 0) == NULL);
  CHECK(b2store_table_kind(NULL, 0) == NULL);
  CHECK_IS(b2store_table_nullable(NULL, 0), INVALID_PARAM);
  CHECK(b2store_table_schema(NULL) == NULL);
  CHECK(b2store_table_dtype(NULL, 0) == NULL);
  CHECK_IS(b2store_table_item_shape(NULL, 0, NULL, 0), INVALID_PARAM);
  CHECK_IS(b2store_table_row_size(NULL, 0), INVALID_PARAM);
  CHECK_IS(b2store_table_read(NULL, 0, 0, 0, NULL, 0, NULL), INVALID_PARAM);
  CHECK_IS(b2store_table_read_texts(NULL, 0, 0, 0, offsets, &content, NULL), INVALID_PARAM);
  CHECK_IS(b2store_table_read_values(NULL, 0, 0, 0, B2STORE_JSON, &content), INVALID_PARAM);
  CHECK(b2store_create(NULL) == NULL);
  CHECK(b2store_create("no-suffix") == NULL);
  CHECK(b2store_change(NULL) == NULL);
  CHECK(b2store_change("/no/such/store.b2z") == NULL);
  CHECK_IS(b2store_put_array(NULL, "/a", &info, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_schunk(NULL, "/a", &info, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_frame(NULL, "/a", "", 0, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_file(NULL, "/a", "f", 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(NULL, "/a", B2STORE_OBJECT_ARRAY, 0, "[]", 2, 0), INVALID_PARAM);
  CHECK_IS(b2store_delete(NULL, "/a"), INVALID_PARAM);
  CHECK_IS(b2store_set_attr(NULL, "/a", "b", 0, "1", 1), INVALID_PARAM);
  CHECK_IS(b2store_remove_attr(NULL, "/a", "b"), INVALID_PARAM);
  CHECK_IS(b2store_commit(NULL), INVALID_PARAM);
  CHECK_IS(b2store_writer_free(NULL), 0);
}

static void wrong_arguments(void) {
  b2store_writer *writer = b2store_create("hostile.b2z");
  b2store *store;
  b2store_info info;
  void *content;
  CHECK(writer != NULL);
  CHECK_IS(b2store_put_array(writer, "/a", NULL, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_schunk(writer, "/a", NULL, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_frame(writer, "/a", NULL, 9, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_file(writer, "/a", NULL, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, "/a", B2STORE_OBJECT_ARRAY, 0, NULL, 2, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, "/a", B2STORE_OBJECT_ARRAY, 0, "{}", 2, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, "/a", B2STORE_OBJECT_ARRAY, 0, "[1", 2, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, "/a", B2STORE_OBJECT_ARRAY, 1, "\x91", 1, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, "/a", B2STORE_OBJECT_ARRAY, 2, "[]", 2, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, "/a", B2STORE_BATCH_ARRAY, 0, "[1]", 3, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, "/a", B2STORE_BATCH_ARRAY, 0, "[[]]", 4, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, "/a", B2STORE_LIST_ARRAY, 0, "[[]]", 4, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, "/a", B2STORE_TABLE, 0, "[]", 2, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, "a", B2STORE_OBJECT_ARRAY, 0, "[]", 2, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, NULL, B2STORE_OBJECT_ARRAY, 0, "[]", 2, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, "/../a", B2STORE_OBJECT_ARRAY, 0, "[]", 2, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, "/\xff", B2STORE_OBJECT_ARRAY, 0, "[]", 2, 0), INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, "/a", B2STORE_OBJECT_ARRAY, 0, "[99999999999999999999]", 22, 0),
           INVALID_PARAM);
  CHECK_IS(b2store_put_objects(writer, "/a", B2STORE_OBJECT_ARRAY, 0, "[]", 2, 0), 0);
  CHECK_IS(b2store_set_attr(writer, "/a", NULL, 0, "1", 1), INVALID_PARAM);
  CHECK_IS(b2store_set_attr(writer, "/a", "b", 0, "1 2", 3), INVALID_PARAM);
  CHECK_IS(b2store_set_attr(writer, "/a", "b", 0, NULL, 0), INVALID_PARAM);
  CHECK_IS(b2store_set_attr(writer, "/a", "b", 1, NULL, 1), INVALID_PARAM);
  CHECK_IS(b2store_set_attr(writer, "/a", "", 0, "1", 1), INVALID_PARAM);
  CHECK(b2store_set_attr(writer, "/none", "b", 0, "1", 1) < 0);
  /* Handles of other types. */
  CHECK_IS(b2store_nkeys((b2store *)writer), INVALID_PARAM);
  CHECK_IS(b2store_close((b2store *)writer), INVALID_PARAM);
  CHECK_IS(b2store_table_close((b2store_table *)writer), INVALID_PARAM);
  CHECK_IS(b2store_objects_close((b2store_objects *)writer), INVALID_PARAM);
  CHECK_IS(b2store_table_len((b2store_table *)writer), INVALID_PARAM);
  CHECK_IS(b2store_nkeys((b2store *)&info), INVALID_PARAM);
  CHECK_IS(b2store_commit(writer), 0);
  CHECK_IS(b2store_writer_free(writer), 0);
  CHECK_IS(b2store_writer_free(writer), INVALID_PARAM);
  CHECK_IS(b2store_commit(writer), INVALID_PARAM);

  store = b2store_open("hostile.b2z");
  CHECK(store != NULL);
  CHECK_IS(b2store_get_info(store, "/a", NULL), INVALID_PARAM);
  CHECK_IS(b2store_get_info(store, NULL, &info), INVALID_PARAM);
  CHECK_IS(b2store_get_info(store, "/a", &info), 0);
  CHECK_IS(info.kind, B2STORE_OBJECT_ARRAY);
  CHECK(b2store_get_info(store, "", &info) < 0);
  CHECK_IS(b2store_attrs(store, "/a", B2STORE_JSON, NULL), INVALID_PARAM);
  CHECK_IS(b2store_attrs(store, "/a", -1, &content), INVALID_PARAM);
  CHECK_IS(b2store_attr(store, "/a", NULL, B2STORE_JSON, &content), INVALID_PARAM);
  CHECK_IS(b2store_frame(store, "/a", NULL), INVALID_PARAM);
  CHECK(b2store_commit((b2store_writer *)store) < 0);
  CHECK_IS(b2store_close(store), 0);
  CHECK_IS(remove("hostile.b2z"), 0);
}

static void read_columns(b2store_table *table) {
  static uint8_t valid[4000];
  static int64_t offsets[4001];
  int64_t rows = b2store_table_len(table);
  int column, count = b2store_table_ncolumns(table);
  char *schema = b2store_table_schema(table);
  CHECK(schema != NULL);
  free(schema);
  if (rows > 4000) {
    rows = 4000;
  }
  for (column = 0; column < count; column++) {
    void *content = NULL;
    int64_t size = b2store_table_row_size(table, column);
    if (size >= 0) {
      size_t bytes = (size_t)(size * rows);
      void *dest = malloc(bytes + 1);
      if (b2store_table_read(table, column, 0, rows, dest, bytes, valid) < 0) failed();
      free(dest);
    } else {
      failed();
    }
    if (b2store_table_read_texts(table, column, 0, rows, offsets, &content, valid) < 0) failed();
    free(content);
    if (b2store_table_read_values(table, column, 0, rows, B2STORE_JSON, &content) < 0) failed();
    free(content);
    if (b2store_table_read_values(table, column, 0, rows, B2STORE_MSGPACK, &content) < 0) failed();
    free(content);
    CHECK(b2store_table_name(table, column) != NULL);
    CHECK(b2store_table_kind(table, column) != NULL);
  }
}

/* Calls every function for each key of a store. */
static void read_all(b2store *store) {
  int64_t number, count = b2store_nkeys(store);
  CHECK(count >= 0);
  for (number = -1; number < count; number++) {
    const char *key = number < 0 ? "/" : b2store_key(store, number);
    b2store_info info;
    b2store_table *table;
    b2store_objects *objects;
    b2store *nested;
    void *content;
    char *dtype;
    if (b2store_get_info(store, key, &info) < 0) {
      failed();
      continue;
    }
    CHECK(info.kind >= B2STORE_GROUP && info.kind <= B2STORE_DAMAGED);
    CHECK(info.ndim >= -1 && info.ndim <= B2STORE_MAX_DIM);
    dtype = b2store_dtype(store, key);
    free(dtype);
    if (b2store_attrs(store, key, B2STORE_JSON, &content) < 0) failed();
    free(content);
    if (b2store_attrs(store, key, B2STORE_MSGPACK, &content) < 0) failed();
    free(content);
    if (b2store_frame(store, key, &content) < 0) failed();
    free(content);
    /* Without libblosc2 these fail with a reason. */
    CHECK(b2store_open_schunk(store, key) == NULL);
    failed();
    CHECK(b2store_open_array(store, key) == NULL);
    failed();
    table = b2store_open_table(store, key);
    CHECK(table == NULL || info.kind == B2STORE_TABLE);
    if (table != NULL) {
      read_columns(table);
      CHECK_IS(b2store_table_close(table), 0);
    } else {
      failed();
    }
    objects = b2store_open_objects(store, key);
    if (objects != NULL) {
      int64_t len = b2store_objects_len(objects);
      if (len < 0) failed();
      if (b2store_objects_read(objects, 0, len, B2STORE_JSON, &content) < 0) failed();
      free(content);
      CHECK_IS(b2store_objects_close(objects), 0);
    } else {
      failed();
    }
    nested = b2store_open_nested(store, key);
    if (nested != NULL) {
      read_all(nested);
      CHECK_IS(b2store_close(nested), 0);
    } else {
      failed();
    }
  }
}

int main(int argc, char **argv) {
  int i, opened = 0;
  nulls();
  wrong_arguments();
  for (i = 1; i < argc; i++) {
    b2store *store = b2store_open(argv[i]);
    char *report;
    if (store == NULL) {
      failed();
      continue;
    }
    opened++;
    read_all(store);
    if (b2store_verify(store, &report) < 0) failed();
    free(report);
    CHECK_IS(b2store_close(store), 0);
  }
  printf("%d of %d stores opened, %d failures\n", opened, argc - 1, failures);
  return checks_failed();
}
