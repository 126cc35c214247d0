/* Carrays: creation, changes, reads, errors, and forks, which Windows lacks. */

#include <bcolz.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "../check.h"

#ifndef _WIN32

/* The buffered rows and the lock belong to the parent. */
static void a_child_does_not_write(void) {
  const char *path = "bcolz-fork";
  int64_t rows[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  int64_t some[3] = {-1, -1, -1};
  int ready[2], status = -1;
  bcolz_object *array;
  bcolz_spec spec;
  pid_t child;
  char byte;

  CHECK(bcolz_spec_default(&spec, "int64") == 0);
  spec.chunklen = 4;
  array = bcolz_create(path, "w", &spec);
  CHECK(array != NULL);
  CHECK(bcolz_append(array, rows, 3 * sizeof *rows) == 0);
  CHECK(pipe(ready) == 0);
  child = fork();
  if (child == 0) {
    int bad_before = checks_bad;

    /* The parent has written more rows. */
    CHECK(read(ready[0], &byte, 1) == 1);
    CHECK(bcolz_read(array, 0, 0, some, sizeof some) == 0 && some[2] == 2);
    CHECK(bcolz_append(array, rows, sizeof *rows) == -37);
    CHECK(strstr(bcolz_last_error(), "is locked by another writer") != NULL);
    CHECK(bcolz_set(array, 0, 0, some, sizeof *some) == -37);
    CHECK(bcolz_trim(array, 1) == -37);
    CHECK(bcolz_resize(array, 20) == -37);
    CHECK(bcolz_set_attr(array, -1, "a", "1") == -37);
    CHECK(bcolz_flush(array) == -37);
    CHECK(bcolz_close(array) == -37);
    CHECK(bcolz_open(path, "a") == NULL);
    _exit(checks_bad != bad_before);
  }
  CHECK(bcolz_append(array, rows + 3, 7 * sizeof *rows) == 0);
  CHECK(bcolz_flush(array) == 0);
  CHECK(write(ready[1], "x", 1) == 1);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(bcolz_open(path, "a") == NULL);
  CHECK(bcolz_append(array, rows, sizeof *rows) == 0);
  CHECK(bcolz_close(array) == 0);
  array = bcolz_open(path, "a");
  CHECK(array != NULL && bcolz_len(array) == 11);
  CHECK(bcolz_read(array, 0, 7, some, sizeof some) == 0 && some[2] == 9);
  CHECK(bcolz_close(array) == 0);
  close(ready[0]);
  close(ready[1]);
}

#endif

int main(void) {
  const char *path = "bcolz-carray";
  const int64_t row_shape[] = {2};
  int64_t shape[2] = {-1, -1};
  int32_t rows[2000];
  int32_t some[4] = {0, 0, 0, 0};
  char *attrs;
  bcolz_object *array;
  bcolz_spec spec;
  int i;

  for (i = 0; i < 2000; i++) {
    rows[i] = i;
  }
  CHECK(bcolz_spec_default(&spec, "int32") == 0);
  spec.row_shape = row_shape;
  spec.ndim = 1;
  spec.chunklen = 300;
  array = bcolz_create(path, "w", &spec);
  CHECK(array != NULL);
  CHECK(bcolz_append(array, rows, sizeof rows) == 0);
  CHECK(bcolz_append(array, rows, 7) < 0);
  CHECK(bcolz_close(array) == 0);
  CHECK(bcolz_create(path, "a", &spec) == NULL);
  CHECK(strstr(bcolz_last_error(), "already exists and creation mode is 'a'") != NULL);
  CHECK(bcolz_ncolumns(NULL) < 0);
  CHECK(strcmp(bcolz_last_error(), "the handle is NULL, of another type, or closed") == 0);

  array = bcolz_open(path, "r");
  CHECK(array != NULL);
  CHECK(bcolz_is_ctable(array) == 0);
  CHECK(bcolz_ncolumns(array) == 1);
  CHECK(bcolz_column_name(array, 0) == NULL);
  CHECK(strcmp(bcolz_dtype(array, 0), "int32") == 0);
  CHECK(bcolz_dtype(array, 1) == NULL);
  CHECK(strcmp(bcolz_last_error(), "Invalid index") == 0);
  CHECK(bcolz_shape(array, 0, shape, 2) == 2);
  CHECK(shape[0] == 1000 && shape[1] == 2);
  CHECK(bcolz_row_bytes(array, 0) == 8);
  CHECK(bcolz_read(array, 0, 299, some, sizeof some) == 0);
  CHECK(some[0] == 598 && some[1] == 599 && some[2] == 600 && some[3] == 601);
  CHECK(bcolz_read(array, 0, -1, some, 8) == 0);
  CHECK(some[0] == 1998 && some[1] == 1999);
  CHECK(bcolz_read(array, 0, -1001, some, 8) == -33);
  CHECK(bcolz_read(array, 0, 999, some, sizeof some) == -33);
  /* A missing column is an error even if there is nothing to read or write. */
  CHECK(bcolz_read(array, 0, 0, NULL, 0) == 0 && bcolz_read(array, 1, 0, NULL, 0) == -33);
  CHECK(bcolz_set(array, 1, 0, NULL, 0) == -33);
  CHECK(bcolz_append(array, rows, 8) < 0);
  attrs = bcolz_attrs(array, -1);
  CHECK(attrs != NULL && strcmp(attrs, "{}") == 0);
  free(attrs);
  CHECK(bcolz_flush(array) == 0);
  CHECK(bcolz_close(array) == 0);

  CHECK(bcolz_open("no such thing", "r") == NULL);
  CHECK(bcolz_open(path, "x") == NULL);
  CHECK(bcolz_open(NULL, "r") == NULL);
  CHECK(bcolz_close(NULL) == 0);
  CHECK(bcolz_ncolumns(NULL) < 0);

  /* Closed objects, and pointers to other memory. */
  CHECK(bcolz_close(array) == -12);
  CHECK(strcmp(bcolz_last_error(), "the handle is NULL, of another type, or closed") == 0);
  CHECK(bcolz_ncolumns(array) == -12);
  CHECK(bcolz_append(array, rows, 8) == -12);
  CHECK(bcolz_read(array, 0, 0, some, 8) == -12);
  CHECK(bcolz_dtype(array, 0) == NULL);
  CHECK(bcolz_close((bcolz_object *)some) == -12);
#ifndef _WIN32
  a_child_does_not_write();
#endif
  return checks_failed();
}
