/*
 * A store of python-blosc2 from C: writes an array, a group with an attribute and Python objects
 * into a zip file, lists them, and reads a slice of the array in place.
 */

#include <b2nd.h>
#include <b2store.h>
#include <ferroblosc.h>
#include <stdio.h>
#include <stdlib.h>

#define STORE "example-store.b2z"

static int failed(const char *what) {
  const char *why = ferroblosc_last_error();
  fprintf(stderr, "%s: %s\n", what, why != NULL ? why : "failed");
  remove(STORE);
  return EXIT_FAILURE;
}

static b2nd_array_t *new_array(void) {
  static double items[1000][8];
  int64_t shape[2] = {1000, 8};
  int32_t chunkshape[2] = {250, 8}, blockshape[2] = {50, 8};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  b2nd_context_t *context;
  b2nd_array_t *array = NULL;
  int row, column;
  for (row = 0; row < 1000; row++) {
    for (column = 0; column < 8; column++) {
      items[row][column] = row + column / 10.0;
    }
  }
  cparams.typesize = sizeof(double);
  storage.cparams = &cparams;
  context = b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, "<f8", 0, NULL, 0);
  if (b2nd_from_cbuffer(context, &array, items, sizeof items) < 0) {
    array = NULL;
  }
  b2nd_free_ctx(context);
  return array;
}

static int write_store(void) {
  static const char objects[] = "[\"first\", 2, {\"third\": [3.0, null]}]";
  b2store_writer *writer = b2store_create(STORE);
  b2nd_array_t *array = new_array();
  int result = -1;
  if (writer != NULL && array != NULL && b2store_put_array(writer, "/climate/rain", array, 0) == 0 &&
      b2store_set_attr(writer, "/climate", "unit", B2STORE_JSON, "\"mm\"", 4) == 0 &&
      b2store_put_objects(writer, "/notes", B2STORE_OBJECT_ARRAY, B2STORE_JSON, objects,
                          sizeof objects - 1, 0) == 0) {
    result = b2store_commit(writer);
  }
  if (array != NULL) {
    b2nd_free(array);
  }
  if (result < 0) {
    failed("writing");
  }
  b2store_writer_free(writer);
  return result;
}

int main(void) {
  int64_t start[2] = {500, 2}, stop[2] = {502, 5}, shape[2] = {2, 3}, number;
  double slice[2][3];
  b2nd_array_t *array;
  b2store *store;
  void *unit;
  int result;

  blosc2_init();
  if (write_store() < 0) {
    return EXIT_FAILURE;
  }
  store = b2store_open(STORE);
  if (store == NULL) {
    return failed("opening");
  }
  for (number = 0; number < b2store_nkeys(store); number++) {
    const char *key = b2store_key(store, number);
    b2store_info info;
    if (b2store_get_info(store, key, &info) == 0) {
      printf("%-14s kind %d, %lld bytes\n", key, (int)info.kind, (long long)info.nbytes);
    }
  }
  if (b2store_attr(store, "/climate", "unit", B2STORE_JSON, &unit) > 0) {
    printf("the unit is %s\n", (const char *)unit);
    free(unit);
  }

  /* The array stays valid when the store is closed. */
  array = (b2nd_array_t *)b2store_open_array(store, "/climate/rain");
  b2store_close(store);
  if (array == NULL) {
    return failed("opening the array");
  }
  result = b2nd_get_slice_cbuffer(array, start, stop, slice, shape, sizeof slice);
  b2nd_free(array);
  if (result < 0 || slice[1][2] != 501.4) {
    return failed("reading");
  }
  printf("row 501: %.1f %.1f %.1f\n", slice[1][0], slice[1][1], slice[1][2]);
  remove(STORE);
  blosc2_destroy();
  return EXIT_SUCCESS;
}
