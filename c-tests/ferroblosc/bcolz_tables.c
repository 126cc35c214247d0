/* Ctables: adding, changing and removing columns and rows; attributes; verification and repair. */

#include <bcolz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"

#define NROWS 1000

static int64_t ids[NROWS];
static double prices[NROWS];

static int64_t id_at(bcolz_object *table, int column, int64_t row) {
  int64_t id = -1;
  CHECK(bcolz_read(table, column, row, &id, sizeof id) == 0);
  return id;
}

static void is_text(char *text, const char *expected) {
  CHECK(text != NULL && strcmp(text, expected) == 0);
  if (text != NULL && strcmp(text, expected) != 0) {
    printf("%s\n", text);
  }
  free(text);
}

static void contains(char *text, const char *expected) {
  CHECK(text != NULL && strstr(text, expected) != NULL);
  if (text != NULL && strstr(text, expected) == NULL) {
    printf("%s\n", text);
  }
  free(text);
}

static void make(const char *path) {
  const void *columns[2];
  bcolz_spec spec;
  bcolz_object *table = bcolz_create_ctable(path, "w");
  CHECK(table != NULL);
  CHECK(bcolz_is_ctable(table) == 1);
  CHECK(bcolz_ncolumns(table) == 0);
  CHECK(bcolz_len(table) == 0);

  CHECK(bcolz_spec_default(&spec, "int64") == 0);
  spec.chunklen = 300;
  spec.dflt = "-7";
  CHECK(bcolz_add_column(table, "id", &spec, -1, NULL, 0) == 0);
  CHECK(bcolz_spec_default(&spec, "float64") == 0);
  spec.chunklen = 77;
  spec.cname = "zstd";
  spec.clevel = 9;
  spec.shuffle = 2;
  CHECK(bcolz_add_column(table, "x", &spec, -1, NULL, 0) == 0);
  CHECK(bcolz_add_column(table, "x", &spec, -1, NULL, 0) < 0);
  CHECK(bcolz_add_column(table, "a/b", &spec, -1, NULL, 0) < 0);
  spec.shuffle = 3;
  CHECK(bcolz_add_column(table, "y", &spec, -1, NULL, 0) < 0);

  columns[0] = ids;
  columns[1] = prices;
  CHECK(bcolz_append_columns(table, columns, NROWS) == 0);
  CHECK(bcolz_append_columns(table, columns, 1) == 0);
  CHECK(bcolz_append_columns(table, columns, -1) < 0);
  CHECK(bcolz_append_columns(table, NULL, 1) < 0);
  CHECK(bcolz_append(table, ids, sizeof ids) < 0);
  CHECK(bcolz_len(table) == NROWS + 1);
  CHECK(bcolz_close(table) == 0);
}

static void change(const char *path) {
  int64_t one = 4711;
  bcolz_spec spec;
  bcolz_object *table = bcolz_open(path, "a");
  CHECK(table != NULL);
  CHECK(bcolz_open(path, "a") == NULL);
  CHECK(strstr(bcolz_last_error(), "locked by another writer") != NULL);
  CHECK(bcolz_set_threads(table, 2) == 0);
  CHECK(bcolz_set_threads(table, 0) < 0);
  CHECK(bcolz_trim(table, 1) == 0);
  CHECK(bcolz_trim(table, NROWS + 1) < 0);
  CHECK(bcolz_set(table, 0, -1, &one, sizeof one) == 0);
  CHECK(bcolz_set(table, 0, 299, &one, sizeof one) == 0);
  CHECK(bcolz_set(table, 0, 999, ids, 2 * sizeof one) == -33);
  CHECK(bcolz_set(table, 2, 0, &one, sizeof one) < 0);
  CHECK(bcolz_resize(table, NROWS + 5) == 0);
  CHECK(id_at(table, 0, NROWS - 1) == 4711);
  CHECK(id_at(table, 0, 299) == 4711);
  CHECK(id_at(table, 0, NROWS + 4) == -7);
  CHECK(bcolz_resize(table, NROWS) == 0);

  CHECK(bcolz_rename_column(table, "x", "price") == 0);
  CHECK(bcolz_rename_column(table, "x", "y") < 0);
  CHECK(bcolz_spec_default(&spec, "int64") == 0);
  CHECK(bcolz_add_column(table, "copy", &spec, 1, ids, sizeof ids) == 0);
  CHECK(bcolz_add_column(table, "short", &spec, 1, ids, 8) < 0);
  CHECK(bcolz_ncolumns(table) == 3);
  CHECK(strcmp(bcolz_column_name(table, 1), "copy") == 0);
  CHECK(strcmp(bcolz_column_name(table, 2), "price") == 0);
  CHECK(strcmp(bcolz_dtype(table, 2), "float64") == 0);
  CHECK(id_at(table, 1, 998) == ids[998]);
  CHECK(bcolz_remove_column(table, "copy", 0) == 0);
  CHECK(bcolz_remove_column(table, "copy", 0) < 0);
  CHECK(bcolz_ncolumns(table) == 2);

  CHECK(bcolz_set_attr(table, -1, "day", "\"2016-01-04\"") == 0);
  CHECK(bcolz_set_attr(table, 0, "unit", "{\"k\": [1, null]}") == 0);
  CHECK(bcolz_set_attr(table, 0, "gone", "1") == 0);
  CHECK(bcolz_set_attr(table, 0, "bad", "{") < 0);
  CHECK(bcolz_set_attr(table, 2, "none", "1") < 0);
  CHECK(bcolz_remove_attr(table, 0, "gone") == 1);
  CHECK(bcolz_remove_attr(table, 0, "gone") == 0);
  CHECK(bcolz_close(table) == 0);

  table = bcolz_open(path, "r");
  CHECK(table != NULL);
  is_text(bcolz_attrs(table, -1), "{\"day\": \"2016-01-04\"}");
  is_text(bcolz_attrs(table, 0), "{\"unit\": {\"k\": [1, null]}}");
  CHECK(bcolz_attrs(table, 2) == NULL);
  contains(bcolz_info(table, 0), "\"shape\": [1000], \"dtype\": \"int64\", \"itemsize\": 8, \"chunklen\": 300");
  contains(bcolz_info(table, 1), "{\"clevel\": 9, \"shuffle\": 2, \"cname\": \"zstd\", \"quantize\": 0}");
  CHECK(bcolz_info(table, 2) == NULL);
  CHECK(bcolz_set_attr(table, -1, "day", "1") < 0);
  CHECK(bcolz_trim(table, 1) < 0);
  CHECK(bcolz_close(table) == 0);
}

/* Damages a file like a disk error. */
static void break_chunk(const char *path) {
  FILE *file = fopen(path, "r+b");
  CHECK(file != NULL);
  if (file != NULL) {
    CHECK(fseek(file, 16 + 8, SEEK_SET) == 0);
    CHECK(fwrite("\377\377\377\377", 1, 4, file) == 4);
    CHECK(fclose(file) == 0);
  }
}

static void repair(const char *path) {
  char *report = NULL;
  CHECK(bcolz_verify(path, NULL) == 0);
  report = (char *)&report;
  CHECK(bcolz_verify("no such thing", &report) < 0);
  CHECK(report == NULL);
  report = (char *)&report;
  CHECK(bcolz_repair("no such thing", &report) < 0);
  CHECK(report == NULL);
  break_chunk("bcolz-table/id/data/__1.blp");
  CHECK(bcolz_verify(path, &report) == 1);
  contains(report, "__1.blp");
  report = NULL;
  CHECK(bcolz_repair(path, &report) == 0);
  contains(report, "\"start\": 300, \"stop\": 600");
  CHECK(bcolz_verify(path, NULL) == 0);
  CHECK(bcolz_repair("no such thing", NULL) < 0);
}

/* Converts to other formats and back, and compares the rows each time. */
static void convert_and_compare(const char *path) {
  bcolz_object *again;
  CHECK(bcolz_to_npy("bcolz-table/price", "price.npy") == 0);
  CHECK(bcolz_from_npy("price.npy", "from-npy", "w") == 0);
  CHECK(bcolz_to_bloscpack("from-npy", "price.blp") == 0);
  CHECK(bcolz_from_bloscpack("price.blp", "from-blp", "w") == 0);
  CHECK(bcolz_to_b2nd("from-blp", "price.b2nd") == 0);
  CHECK(bcolz_from_b2nd("price.b2nd", "from-b2nd", "w") == 0);
  CHECK(bcolz_from_b2nd("price.b2nd", "from-b2nd", "a") < 0);
  again = bcolz_open("from-b2nd", "r");
  CHECK(again != NULL);
  CHECK(bcolz_len(again) == NROWS);
  {
    double back[NROWS];
    CHECK(bcolz_read(again, 0, 0, back, sizeof back) == 0);
    CHECK(memcmp(back, prices, sizeof back) == 0);
  }
  CHECK(bcolz_close(again) == 0);

  CHECK(bcolz_to_b2nd(path, "frames") == 0);
  CHECK(bcolz_to_b2nd(path, "frames") < 0);
  CHECK(bcolz_from_b2nd("frames", "from-frames", "w") == 0);
  again = bcolz_open("from-frames", "r");
  CHECK(bcolz_is_ctable(again) == 1);
  CHECK(strcmp(bcolz_column_name(again, 1), "price") == 0);
  is_text(bcolz_attrs(again, -1), "{\"day\": \"2016-01-04\"}");
  CHECK(bcolz_close(again) == 0);
  CHECK(bcolz_to_npy("no such thing", "x.npy") < 0);
}

int main(void) {
  const char *path = "bcolz-table";
  int i;
  for (i = 0; i < NROWS; i++) {
    ids[i] = 3 * i;
    prices[i] = i / 8.0;
  }
  /* Removes the files of an earlier run. */
  CHECK(system("rm -rf bcolz-table frames from-*") == 0);
  make(path);
  change(path);
  repair(path);
  convert_and_compare(path);
  CHECK(bcolz_create_ctable(path, "r") == NULL);
  CHECK(bcolz_create_ctable(NULL, "w") == NULL);
  CHECK(bcolz_create(path, "w", NULL) == NULL);
  CHECK(bcolz_spec_default(NULL, "int8") < 0);
  CHECK(bcolz_verify(NULL, NULL) < 0);
  return checks_failed();
}
