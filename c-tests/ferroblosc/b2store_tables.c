/* Tables of stores: columns of all kinds, nulls and deleted rows. The argument is the directory of
 * the fixtures. */

#include <b2store.h>
#include <ferroblosc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"

#define INVALID_PARAM (-12)
#define INVALID_INDEX (-33)
#define NOT_FOUND (-16)

static const char *folder;

static b2store_table *table_of(const char *name, const char *key) {
  char path[1000];
  b2store *store;
  b2store_table *table;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  store = b2store_open(path);
  CHECK(store != NULL);
  table = b2store_open_table(store, key);
  CHECK(table != NULL);
  if (table == NULL) {
    printf("%s: %s\n", path, ferroblosc_last_error());
  }
  CHECK_IS(b2store_close(store), 0);
  return table;
}

static void says(const char *expected) {
  const char *text = ferroblosc_last_error();
  CHECK(text != NULL && strstr(text, expected) != NULL);
  if (text == NULL || strstr(text, expected) == NULL) {
    printf("the error is: %s\n", text != NULL ? text : "none");
  }
}

/* Compares the rows of a column as JSON. */
static void values_are(const b2store_table *table, int column, int64_t start, int64_t nrows,
                       const char *expected) {
  void *content;
  int64_t size = b2store_table_read_values(table, column, start, nrows, B2STORE_JSON, &content);
  CHECK_IS(size, strlen(expected));
  CHECK(content != NULL && strcmp((const char *)content, expected) == 0);
  if (content != NULL && strcmp((const char *)content, expected) != 0) {
    printf("%s\n", (const char *)content);
  }
  free(content);
}

/* Compares the rows of a column of texts; NULL is a null. */
static void texts_are(const b2store_table *table, int column, int nrows, const char **expected) {
  int64_t offsets[10];
  uint8_t valid[9];
  void *content;
  int row;
  int64_t size =
      b2store_table_read_texts(table, column, 0, nrows, offsets, &content, valid);
  CHECK(size >= 0 && content != NULL);
  CHECK_IS(offsets[0], 0);
  CHECK_IS(offsets[nrows], size);
  for (row = 0; row < nrows && content != NULL; row++) {
    const char *text = expected[row] != NULL ? expected[row] : "";
    int64_t length = offsets[row + 1] - offsets[row];
    CHECK_IS(valid[row], expected[row] != NULL);
    CHECK_IS(length, strlen(text));
    CHECK(memcmp((const char *)content + offsets[row], text, strlen(text)) == 0);
  }
  free(content);
}

static void numbers(void) {
  static const char *dtypes[] = {"|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8"};
  b2store_table *table = table_of("c_ints.b2z", "/");
  int64_t large[3] = {0};
  uint8_t valid[3];
  int column;
  CHECK_IS(b2store_table_len(table), 3);
  CHECK_IS(b2store_table_ncolumns(table), 8);
  for (column = 0; column < 8; column++) {
    const char *dtype = b2store_table_dtype(table, column);
    CHECK(dtype != NULL && strcmp(dtype, dtypes[column]) == 0);
    CHECK_IS(b2store_table_row_size(table, column), 1 << column % 4);
    CHECK_IS(b2store_table_item_shape(table, column, NULL, 0), 0);
    CHECK_IS(b2store_table_find(table, b2store_table_name(table, column)), column);
    CHECK(strcmp(b2store_table_name(table, column), b2store_table_kind(table, column)) == 0);
  }
  CHECK_IS(b2store_table_read(table, 3, 0, 3, large, sizeof large, valid), 0);
  CHECK(large[0] == INT64_MIN && large[1] == INT64_MAX && large[2] == 1);
  CHECK(valid[0] == 1 && valid[1] == 1 && valid[2] == 1);
  CHECK_IS(b2store_table_read(table, 3, 1, 1, large, 8, NULL), 0);
  CHECK(large[0] == INT64_MAX);
  CHECK_IS(b2store_table_read(table, 3, 3, 0, NULL, 0, NULL), 0);
  values_are(table, 7, 0, 3, "[0,18446744073709551615,1]");
  /* Wrong sizes, rows and columns. */
  CHECK_IS(b2store_table_read(table, 3, 0, 3, large, 23, valid), INVALID_PARAM);
  says("the rows have 24 bytes, the destination has 23");
  CHECK_IS(b2store_table_read(table, 3, 0, 3, NULL, 24, valid), INVALID_PARAM);
  CHECK_IS(b2store_table_read(table, 3, 1, 3, large, 24, valid), INVALID_INDEX);
  CHECK_IS(b2store_table_read(table, 3, -1, 3, large, 24, valid), INVALID_INDEX);
  CHECK_IS(b2store_table_read(table, 3, 0, -3, large, 24, valid), INVALID_INDEX);
  CHECK_IS(b2store_table_read(table, 3, INT64_MAX, 3, large, 24, valid), INVALID_INDEX);
  CHECK_IS(b2store_table_read(table, 3, 0, INT64_MAX, large, 24, valid), INVALID_PARAM);
  CHECK_IS(b2store_table_read(table, 8, 0, 3, large, 24, valid), INVALID_INDEX);
  CHECK_IS(b2store_table_read(table, -1, 0, 3, large, 24, valid), INVALID_INDEX);
  CHECK(b2store_table_name(table, 8) == NULL && b2store_table_kind(table, -1) == NULL);
  CHECK_IS(b2store_table_find(table, "none"), NOT_FOUND);
  CHECK_IS(b2store_table_close(table), 0);
  CHECK_IS(b2store_table_close(table), INVALID_PARAM);
  CHECK(b2store_table_len(table) < 0);
  CHECK(b2store_table_name(table, 0) == NULL);
}

static void nulls(void) {
  static const char *texts[] = {"a", NULL, ""}, *bytes[] = {"x", NULL, ""};
  b2store_table *table = table_of("c_nulls_mask.b2z", "/");
  int column = b2store_table_find(table, "f");
  double floats[3];
  uint8_t valid[3];
  int64_t shape[2] = {-1, -1};
  void *content;
  int64_t offsets[4];
  char *schema = b2store_table_schema(table);
  CHECK(schema != NULL && strstr(schema, "\"columns\"") != NULL);
  free(schema);
  CHECK_IS(b2store_table_nullable(table, column), 1);
  CHECK_IS(b2store_table_read(table, column, 0, 3, floats, sizeof floats, valid), 0);
  CHECK(floats[0] == 0.5 && floats[2] == -1.0);
  CHECK(valid[0] == 1 && valid[1] == 0 && valid[2] == 1);
  CHECK_IS(b2store_table_read(table, column, 0, 3, floats, sizeof floats, NULL), INVALID_PARAM);
  says("row 1 of the range is null");
  CHECK_IS(b2store_table_read(table, column, 2, 1, floats, 8, NULL), 0);
  texts_are(table, b2store_table_find(table, "s"), 3, texts);
  texts_are(table, b2store_table_find(table, "by"), 3, bytes);
  CHECK_IS(b2store_table_read_texts(table, column, 0, 3, offsets, &content, valid), INVALID_PARAM);
  says("neither texts nor bytes");
  CHECK(content == NULL);
  column = b2store_table_find(table, "s");
  CHECK_IS(b2store_table_read_texts(table, column, 0, 3, offsets, &content, NULL), INVALID_PARAM);
  CHECK(content == NULL);
  CHECK_IS(b2store_table_read_texts(table, column, 0, 3, NULL, &content, valid), INVALID_PARAM);
  CHECK_IS(b2store_table_read_texts(table, column, 0, 3, offsets, NULL, valid), INVALID_PARAM);
  CHECK_IS(b2store_table_read_texts(table, column, 1, 3, offsets, &content, valid), INVALID_INDEX);
  column = b2store_table_find(table, "nd");
  CHECK_IS(b2store_table_item_shape(table, column, shape, 2), 1);
  CHECK(shape[0] == 2 && shape[1] == -1);
  CHECK_IS(b2store_table_item_shape(table, column, shape, -1), INVALID_PARAM);
  values_are(table, column, 0, 3, "[[1.0,2.0],null,[0.0,-1.0]]");
  CHECK_IS(b2store_table_close(table), 0);
}

static void texts(void) {
  static const char *utf8[] = {"", "\xc3\xa9\xc3\xa9\xc3\xa9", "plain", "\xf0\x9f\x98\x80"};
  static const char *words[] = {"x", "y", NULL, "x"};
  b2store_table *table = table_of("c_utf8.b2z", "/");
  int32_t codes[4];
  uint8_t valid[4];
  texts_are(table, 0, 4, utf8);
  CHECK(b2store_table_dtype(table, 0) == NULL);
  CHECK(b2store_table_row_size(table, 0) < 0);
  CHECK_IS(b2store_table_close(table), 0);

  table = table_of("c_dictionary.b2z", "/");
  texts_are(table, 0, 4, words);
  CHECK(strcmp(b2store_table_kind(table, 0), "dictionary") == 0);
  CHECK_IS(b2store_table_row_size(table, 0), 4);
  CHECK_IS(b2store_table_read(table, 0, 0, 4, codes, sizeof codes, valid), 0);
  CHECK(codes[0] == codes[3] && codes[0] != codes[1]);
  CHECK(valid[0] == 1 && valid[2] == 0);
  CHECK_IS(b2store_table_close(table), 0);
}

static void deleted_rows(void) {
  b2store_table *table = table_of("c_deleted.b2z", "/");
  CHECK_IS(b2store_table_len(table), 7);
  values_are(table, b2store_table_find(table, "i"), 0, 7, "[0,14,21,35,2,9,16]");
  values_are(table, b2store_table_find(table, "f"), 5, 2, "[1.75,2.0]");
  CHECK_IS(b2store_table_close(table), 0);
  table = table_of("t_table.b2z", "/data/table");
  values_are(table, 0, 0, 2, "[1,2]");
  CHECK_IS(b2store_table_close(table), 0);
}

int main(int argc, char **argv) {
  CHECK(argc > 1);
  folder = argv[1];
  numbers();
  nulls();
  texts();
  deleted_rows();
  return checks_failed();
}
