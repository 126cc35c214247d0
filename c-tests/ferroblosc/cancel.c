/* Changes of files in threads that are cancelled before or during a call. */

#include <bcolz.h>
#include <bloscpack.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "../check.h"

static int32_t rows[1000];
static bcolz_object *array;
static bool has_ended, is_right;

static bool work(void) {
  bcolz_spec spec;
  bloscpack_args args;
  void *back = NULL;
  char *metadata = NULL;
  bool is_same = bcolz_spec_default(&spec, "int32") == 0 && bloscpack_args_default(&args) == 0;

  array = bcolz_create("cancelled-carray", "w", &spec);
  is_same = is_same && array != NULL && bcolz_append(array, rows, sizeof rows) == 0 && bcolz_flush(array) == 0 &&
            bcolz_set_attr(array, -1, "name", "1") == 0 && bcolz_trim(array, 10) == 0 && bcolz_close(array) == 0;
  args.typesize = 4;
  is_same = is_same && bloscpack_pack_bytes_to_file(rows, sizeof rows, "cancelled.blp", &args) > 0 &&
            bloscpack_append_bytes("cancelled.blp", rows, sizeof rows, &args) >= 0 &&
            bloscpack_unpack_bytes_from_file("cancelled.blp", 2, &back, &metadata) == 2 * sizeof rows;
  free(back);
  free(metadata);
  return remove("cancelled.blp") == 0 && is_same;
}

static void *begin(void *argument) {
  pthread_cancel(pthread_self());
  is_right = work();
  has_ended = true;
  pthread_testcancel();
  return argument;
}

static void *append_on(void *argument) {
  for (;;) {
    if (bcolz_append(array, rows, sizeof rows) != 0 || bcolz_flush(array) != 0 || bcolz_trim(array, 100) != 0) {
      return argument;
    }
    pthread_testcancel();
  }
}

int main(void) {
  pthread_t thread;
  void *end = NULL;
  int32_t some[2] = {0, 0};
  int i;

  for (i = 0; i < 1000; i++) {
    rows[i] = i;
  }
  /* Removes the files of an aborted run. */
  CHECK(system("rm -rf cancelled-carray cancelled.blp") == 0);
  CHECK(pthread_create(&thread, NULL, begin, NULL) == 0);
  CHECK(pthread_join(thread, &end) == 0);
  CHECK(has_ended && is_right && end == PTHREAD_CANCELED);

  array = bcolz_open("cancelled-carray", "a");
  CHECK(array != NULL);
  for (i = 0; i < 20; i++) {
    struct timespec pause = {0, 100000L * (i % 7)};
    CHECK(pthread_create(&thread, NULL, append_on, NULL) == 0);
    nanosleep(&pause, NULL);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &end) == 0);
    CHECK(end == PTHREAD_CANCELED);
    CHECK(bcolz_append(array, rows, sizeof rows) == 0);
  }
  CHECK(bcolz_close(array) == 0);
  array = bcolz_open("cancelled-carray", "r");
  CHECK(array != NULL && bcolz_read(array, 0, 8, some, sizeof some) == 0 && some[0] == 8 && some[1] == 9);
  CHECK(bcolz_close(array) == 0);
  return checks_failed();
}
