/* The last error of a thread, of libblosc2 and of libferroblosc. */

#include <b2nd.h>
#include <bcolz.h>
#include <blosc2.h>
#include <errno.h>
#include <ferroblosc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../check.h"

/* Whether the last call failed with this errno, and its text contains the path and the reason. */
static int failed(int number, const char *path) {
  const char *text = ferroblosc_last_error();
  if (text == NULL) {
    fprintf(stderr, "no error for %s\n", path);
    return 0;
  }
  if (ferroblosc_last_errno() != number || strstr(text, path) == NULL ||
      (number != 0 && strstr(text, strerror(number)) == NULL)) {
    fprintf(stderr, "%d: %s\n", ferroblosc_last_errno(), text);
    return 0;
  }
  return 1;
}

static int succeeded(void) { return ferroblosc_last_error() == NULL && ferroblosc_last_errno() == 0; }

/* Another thread has its own last error. */
static void *of_another_thread(void *unused) {
  CHECK(succeeded());
  CHECK(blosc2_schunk_open("missing-of-thread") == NULL);
  CHECK(failed(ENOENT, "missing-of-thread"));
  return unused;
}

static void *refuse(const char *path, const char *mode, void *params) {
  (void)path;
  (void)mode;
  (void)params;
  errno = ECONNREFUSED;
  return NULL;
}

static void paths_that_fail(void) {
  char long_name[400];
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *schunk;
  b2nd_array_t *array = NULL;
  int32_t data[1000] = {0};

  memset(long_name, 'n', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = 0;

  CHECK(blosc2_schunk_open("missing.b2frame") == NULL);
  CHECK(failed(ENOENT, "missing.b2frame"));
  CHECK(blosc2_schunk_open(long_name) == NULL);
  CHECK(failed(ENAMETOOLONG, long_name));
  CHECK(blosc2_schunk_open("text/below") == NULL);
  CHECK(failed(ENOTDIR, "text/below"));
  CHECK(blosc2_schunk_open("text") == NULL);
  CHECK(failed(0, "text"));
  CHECK(blosc2_schunk_open_offset("missing.b2frame", 8) == NULL);
  CHECK(failed(ENOENT, "missing.b2frame"));
  CHECK(b2nd_open("missing.b2nd", &array) < 0);
  CHECK(failed(ENOENT, "missing.b2nd"));

  storage.contiguous = true;
  storage.urlpath = (char *)"no/such/directory";
  CHECK(blosc2_schunk_new(&storage) == NULL);
  CHECK(failed(ENOENT, "no/such/directory"));
  storage.urlpath = (char *)"text";
  CHECK(blosc2_schunk_new(&storage) == NULL);
  CHECK(failed(EEXIST, "text"));

  storage.urlpath = (char *)"frame";
  schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL && succeeded());
  CHECK(blosc2_schunk_append_buffer(schunk, data, sizeof data) == 1 && succeeded());
  CHECK(blosc2_schunk_decompress_chunk(schunk, 7, data, sizeof data) < 0);
  CHECK(failed(0, "chunk 7"));
  CHECK(blosc2_schunk_decompress_chunk(schunk, 0, data, sizeof data) == sizeof data);
  CHECK(succeeded());
  CHECK(blosc2_schunk_to_file(schunk, "no/such/file") < 0);
  CHECK(failed(ENOENT, "no/such/file"));
  CHECK(unlink("frame") == 0);
  CHECK(blosc2_schunk_append_buffer(schunk, data, sizeof data) < 0);
  CHECK(failed(ENOENT, "frame"));
  CHECK(blosc2_schunk_free(schunk) == 0);

  CHECK(blosc2_remove_dir("missing-directory") < 0);
  CHECK(failed(ENOENT, "missing-directory"));
  CHECK(blosc2_rename_urlpath((char *)"missing-old", (char *)"new") < 0);
  CHECK(failed(ENOENT, "missing-old"));
}

/* The code of a refused chunk does not state the rule that it breaks. */
static void chunks_that_do_not_fit(void) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *schunk;
  int32_t data[1000] = {0};

  storage.contiguous = true;
  schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  schunk->chunksize = 800;
  CHECK(blosc2_schunk_append_buffer(schunk, data, 1000) == BLOSC2_ERROR_CHUNK_APPEND);
  CHECK(failed(0, "the first chunk has 1000 bytes, more than the chunk size 800"));
  CHECK(blosc2_schunk_append_buffer(schunk, data, 400) == 1);
  CHECK(blosc2_schunk_append_buffer(schunk, data, 400) == BLOSC2_ERROR_CHUNK_APPEND);
  CHECK(failed(0, "400 bytes, and follows a single chunk of 400 bytes"));
  CHECK(blosc2_schunk_fill_special(schunk, 100, BLOSC2_SPECIAL_ZERO, 800) ==
        BLOSC2_ERROR_FRAME_SPECIAL);
  CHECK(failed(0, "the super-chunk is not empty"));
  CHECK(blosc2_schunk_free(schunk) == 0);
}

/* Simulates a full disk: files may not exceed 4 KiB. */
static void a_full_disk(void) {
  struct rlimit limit, old;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_schunk *schunk;
  int32_t data[10000];
  int i;

  for (i = 0; i < 10000; i++) {
    data[i] = i * 2654435761U;
  }
  cparams.clevel = 0;
  storage.cparams = &cparams;
  storage.contiguous = true;
  storage.urlpath = (char *)"grows";
  schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  signal(SIGXFSZ, SIG_IGN);
  CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
  limit = old;
  limit.rlim_cur = 4096;
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  CHECK(blosc2_schunk_append_buffer(schunk, data, sizeof data) < 0);
  CHECK(failed(EFBIG, "grows"));
  CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
  CHECK(blosc2_schunk_append_buffer(schunk, data, sizeof data) == 1);
  CHECK(succeeded());
  blosc2_schunk_free(schunk);
}

int main(void) {
  pthread_t thread;
  FILE *text;
  blosc2_io_cb backend;
  blosc2_io io = {200, "refuses", NULL};

  blosc2_init();
  /* Removes the files of an earlier run. */
  remove("frame");
  remove("grows");
  CHECK(succeeded());
  text = fopen("text", "w");
  CHECK(text != NULL && fputs("This is a text, and no frame at all.\n", text) > 0);
  CHECK(fclose(text) == 0);

  paths_that_fail();
  chunks_that_do_not_fit();
  a_full_disk();

  /* The error of a user's backend. */
  backend = *blosc2_get_io_cb(BLOSC2_IO_FILESYSTEM);
  backend.id = 200;
  backend.name = (char *)"refuses";
  backend.open = refuse;
  CHECK(blosc2_register_io_cb(&backend) == 0);
  CHECK(blosc2_schunk_open_udio("text", &io) == NULL);
  CHECK(failed(ECONNREFUSED, "text"));

  /* Errors of both libraries in sequence. */
  CHECK(bcolz_open("missing-table", "r") == NULL);
  CHECK(failed(ferroblosc_last_errno(), "missing-table"));
  CHECK(blosc2_get_nthreads() > 0);
  CHECK(succeeded());
  CHECK(blosc2_schunk_open("missing.b2frame") == NULL);
  CHECK(failed(ENOENT, "missing.b2frame"));
  CHECK(pthread_create(&thread, NULL, of_another_thread, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(failed(ENOENT, "missing.b2frame"));
  /* The text of a code is not about another call. */
  CHECK(strcmp(blosc2_error_string(BLOSC2_ERROR_FILE_OPEN), "File open failure") == 0);
  CHECK(strcmp(print_error(BLOSC2_ERROR_FILE_OPEN), "File open failure") == 0);
  CHECK(strcmp(ferroblosc_error_string(BLOSC2_ERROR_FILE_OPEN), "File open failure") == 0);
  CHECK(failed(ENOENT, "missing.b2frame"));
  CHECK(ferroblosc_version() != NULL);
  CHECK(succeeded());
  CHECK(ferroblosc_begin(NULL) < 0);
  CHECK(ferroblosc_last_error() != NULL);
  blosc2_destroy();
  return checks_failed();
}
