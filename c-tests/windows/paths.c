/*
 * Paths on Windows: UTF-8, whatever the code page of the system is; drives, slashes and
 * backslashes; and names with more than 260 characters.
 */

#include "../check.h"
#include <b2nd.h>
#include <string.h>

/* FERROBLOSC_IO_DURABLE of <ferroblosc.h>. */
#define DURABLE 157
#define DEPTH 8

static const int32_t items[] = {3, 1, 4, 1, 5, 9, 2, 6};

static blosc2_schunk *created(const char *path, bool contiguous, uint8_t io_id) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_io io = BLOSC2_IO_DEFAULTS;
  blosc2_schunk *schunk;

  io.id = io_id;
  cparams.typesize = sizeof items[0];
  storage.contiguous = contiguous;
  storage.urlpath = (char *)path;
  storage.cparams = &cparams;
  storage.io = &io;
  schunk = blosc2_schunk_new(&storage);
  if (schunk != NULL) {
    CHECK_IS(blosc2_schunk_append_buffer(schunk, items, sizeof items), 1);
  }
  return schunk;
}

static int is_there(const wchar_t *path) {
  return GetFileAttributesW(path) != INVALID_FILE_ATTRIBUTES;
}

static void check_content(const char *path) {
  int32_t found[8] = {0};
  blosc2_schunk *schunk = blosc2_schunk_open(path);

  CHECK(schunk != NULL);
  CHECK_IS(blosc2_schunk_decompress_chunk(schunk, 0, found, sizeof found), sizeof found);
  CHECK(memcmp(found, items, sizeof items) == 0);
  CHECK_IS(blosc2_schunk_free(schunk), 0);
}

/* Text in a code page must not be taken for a missing path: the data would only be in memory. */
static void other_texts_are_errors(void) {
  static char path[] = "caf\xe9.b2frame", other[] = "other.b2frame";
  int64_t shape[] = {8};
  int32_t chunkshape[] = {8};
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  b2nd_context_t *context;
  b2nd_array_t *array = NULL;
  blosc2_schunk *schunk;
  int contiguous;

  for (contiguous = 0; contiguous < 2; contiguous++) {
    CHECK(created(path, contiguous != 0, BLOSC2_IO_FILESYSTEM) == NULL);
    CHECK(created(path, contiguous != 0, DURABLE) == NULL);
  }
  storage.contiguous = true;
  storage.urlpath = path;
  context = b2nd_create_ctx(&storage, 1, shape, chunkshape, chunkshape, "<i4", 0, NULL, 0);
  CHECK(context == NULL || b2nd_zeros(context, &array) < 0);
  CHECK(array == NULL);
  if (context != NULL) {
    b2nd_free_ctx(context);
  }

  schunk = created(other, true, BLOSC2_IO_FILESYSTEM);
  CHECK(schunk != NULL);
  CHECK(blosc2_schunk_copy(schunk, &storage) == NULL);
  CHECK(blosc2_schunk_to_file(schunk, path) < 0);
  CHECK(blosc2_schunk_append_file(schunk, path) < 0);
  CHECK_IS(blosc2_schunk_free(schunk), 0);
  CHECK(blosc2_schunk_open(path) == NULL);
  CHECK_IS(blosc2_remove_urlpath(path), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_remove_dir(path), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_IS(blosc2_rename_urlpath(other, path), BLOSC2_ERROR_FAILURE);
  CHECK_IS(blosc2_rename_urlpath(path, other), BLOSC2_ERROR_FAILURE);
  check_content(other);
  CHECK_IS(blosc2_remove_urlpath(other), 0);
}

static void utf8_names_files(void) {
  blosc2_schunk *schunk = created("caf\xc3\xa9.b2frame", true, BLOSC2_IO_FILESYSTEM);

  CHECK(schunk != NULL);
  CHECK_IS(blosc2_schunk_free(schunk), 0);
  CHECK(is_there(L"caf\u00e9.b2frame"));
  check_content("caf\xc3\xa9.b2frame");
  CHECK_IS(blosc2_rename_urlpath("caf\xc3\xa9.b2frame", "\xe2\x82\xac.b2frame"), 0);
  CHECK(is_there(L"\u20ac.b2frame") && !is_there(L"caf\u00e9.b2frame"));
  CHECK_IS(blosc2_remove_urlpath("\xe2\x82\xac.b2frame"), 0);
  CHECK(!is_there(L"\u20ac.b2frame"));
}

static void separators_can_be_mixed(void) {
  blosc2_schunk *schunk;

  CHECK(_mkdir("folder") == 0);
  schunk = created("folder\\sparse/", false, BLOSC2_IO_FILESYSTEM);
  CHECK(schunk != NULL);
  CHECK_IS(blosc2_schunk_free(schunk), 0);
  check_content("folder/sparse\\");
  CHECK_IS(blosc2_remove_urlpath("folder/sparse"), 0);
  CHECK(!is_there(L"folder\\sparse"));
  CHECK(_rmdir("folder") == 0);
}

static void paths_can_be_long(void) {
  static const uint8_t ios[] = {BLOSC2_IO_FILESYSTEM, DURABLE};
  wchar_t folder[1000], absolute[1000];
  char path[1000] = "";
  int depth, contiguous;
  unsigned io;

  CHECK(GetFullPathNameW(L".", 300, absolute, NULL) > 0);
  for (depth = 0; depth < DEPTH; depth++) {
    strcat(path, "a-directory-whose-name-has-40-characters/");
    swprintf(folder, 1000, L"\\\\?\\%ls\\%hs", absolute, path);
    for (wchar_t *at = folder; *at != 0; at++) {
      *at = *at == L'/' ? L'\\' : *at;
    }
    folder[wcslen(folder) - 1] = 0;
    CHECK(CreateDirectoryW(folder, NULL));
  }
  strcat(path, "frame");
  CHECK(strlen(path) > 320);
  for (io = 0; io < 2; io++) {
    for (contiguous = 0; contiguous < 2; contiguous++) {
      blosc2_schunk *schunk = created(path, contiguous != 0, ios[io]);
      CHECK(schunk != NULL);
      CHECK_IS(blosc2_schunk_append_buffer(schunk, items, sizeof items), 2);
      CHECK_IS(blosc2_schunk_free(schunk), 0);
      check_content(path);
      CHECK_IS(blosc2_remove_urlpath(path), 0);
    }
  }
  for (depth = 0; depth < DEPTH; depth++) {
    CHECK(RemoveDirectoryW(folder));
    *wcsrchr(folder, L'\\') = 0;
  }
}

int main(void) {
  blosc2_init();
  other_texts_are_errors();
  utf8_names_files();
  separators_can_be_mixed();
  paths_can_be_long();
  blosc2_destroy();
  return checks_failed();
}
