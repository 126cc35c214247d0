/*
 * The HDF5 filter plugins as DLLs, with two copies of HDF5 in one process.
 *
 * usage: hdf5 PLUGIN-DIRECTORY HDF5-DLL OTHER-HDF5-DLL
 *
 * The program is not linked with HDF5 and has no header of it. Each copy writes and reads a dataset
 * with both filters. The filters complete their parameters with functions of the copy that calls
 * them: with those of the other copy, the parameters would not change.
 */

#include "../check.h"
#include <string.h>
#include <windows.h>

#define ITEMS 20000
#define CHUNK 5000

typedef int64_t hid_t;
typedef unsigned long long hsize_t;
typedef int herr_t;

/* The start of H5Z_class2_t. */
struct filter {
  int version;
  int id;
  unsigned encoder_present, decoder_present;
  const char *name;
  void *can_apply, *set_local, *filter;
};

static int items[ITEMS], found[ITEMS];

static FARPROC function(HMODULE library, const char *name) {
  FARPROC address = GetProcAddress(library, name);

  if (address == NULL) {
    printf("there is no function %s\n", name);
    exit(1);
  }
  return address;
}

/* Declares a function pointer of this name and type. */
#define LOAD(result, name, arguments) \
  result(*name) arguments = (result(*) arguments)(void *)function(hdf5, #name)

static void plugin(const char *folder, const char *file, int id, const char *name) {
  char path[1000];
  HMODULE library;
  int (*type)(void);
  const struct filter *(*info)(void);

  snprintf(path, sizeof path, "%s\\%s", folder, file);
  library = LoadLibraryA(path);
  CHECK(library != NULL);
  if (library == NULL) {
    return;
  }
  type = (int (*)(void))(void *)function(library, "H5PLget_plugin_type");
  info = (const struct filter *(*)(void))(void *)function(library, "H5PLget_plugin_info");
  CHECK_IS(type(), 0);
  CHECK_IS(info()->version, 1);
  CHECK_IS(info()->id, id);
  CHECK_IS(info()->encoder_present, 1);
  CHECK_IS(info()->decoder_present, 1);
  CHECK(strcmp(info()->name, name) == 0);
  CHECK(info()->can_apply == NULL && info()->set_local != NULL && info()->filter != NULL);
}

static void dataset(HMODULE hdf5, const char *folder, const char *file, int id) {
  LOAD(herr_t, H5open, (void));
  LOAD(herr_t, H5PLprepend, (const char *));
  LOAD(hid_t, H5Fcreate, (const char *, unsigned, hid_t, hid_t));
  LOAD(herr_t, H5Fclose, (hid_t));
  LOAD(hid_t, H5Screate_simple, (int, const hsize_t *, const hsize_t *));
  LOAD(hid_t, H5Pcreate, (hid_t));
  LOAD(herr_t, H5Pset_chunk, (hid_t, int, const hsize_t *));
  LOAD(herr_t, H5Pset_filter, (hid_t, int, unsigned, size_t, const unsigned *));
  LOAD(herr_t, H5Pget_filter_by_id2,
       (hid_t, int, unsigned *, size_t *, unsigned *, size_t, char *, unsigned *));
  LOAD(hid_t, H5Dcreate2, (hid_t, const char *, hid_t, hid_t, hid_t, hid_t, hid_t));
  LOAD(hid_t, H5Dopen2, (hid_t, const char *, hid_t));
  LOAD(herr_t, H5Dclose, (hid_t));
  LOAD(hid_t, H5Dget_create_plist, (hid_t));
  LOAD(hsize_t, H5Dget_storage_size, (hid_t));
  LOAD(herr_t, H5Dwrite, (hid_t, hid_t, hid_t, hid_t, hid_t, const void *));
  LOAD(herr_t, H5Dread, (hid_t, hid_t, hid_t, hid_t, hid_t, void *));
  hsize_t size = ITEMS, chunk = CHUNK;
  unsigned values[32] = {0}, flags = 0, config = 0, given[7] = {0, 0, 0, 0, 5, 1, 0};
  size_t count = 32;
  hid_t number, opened, space, list, data;

  CHECK(H5open() >= 0);
  CHECK(H5PLprepend(folder) >= 0);
  number = *(hid_t *)(void *)function(hdf5, "H5T_NATIVE_INT_g");
  list = H5Pcreate(*(hid_t *)(void *)function(hdf5, "H5P_CLS_DATASET_CREATE_ID_g"));
  CHECK(H5Pset_chunk(list, 1, &chunk) >= 0);
  /* A mandatory filter: HDF5 reports its failure. */
  CHECK(H5Pset_filter(list, id, 0, 7, given) >= 0);
  opened = H5Fcreate(file, 2, 0, 0);
  space = H5Screate_simple(1, &size, NULL);
  data = H5Dcreate2(opened, "data", number, space, 0, list, 0);
  CHECK(data >= 0);
  CHECK(H5Dwrite(data, number, 0, 0, 0, items) >= 0);
  CHECK(H5Dclose(data) >= 0);

  data = H5Dopen2(opened, "data", 0);
  memset(found, 0, sizeof found);
  CHECK(H5Dread(data, number, 0, 0, 0, found) >= 0);
  CHECK(memcmp(items, found, sizeof items) == 0);
  CHECK(H5Dget_storage_size(data) > 0 && H5Dget_storage_size(data) < sizeof items / 4);
  /* The filter has added the sizes of an item and of a chunk. */
  CHECK(H5Pget_filter_by_id2(H5Dget_create_plist(data), id, &flags, &count, values, 0, NULL,
                             &config) >= 0);
  CHECK_IS(values[2], sizeof(int));
  CHECK_IS(values[3], CHUNK * sizeof(int));
  CHECK(H5Dclose(data) >= 0);
  CHECK(H5Fclose(opened) >= 0);
}

int main(int argc, char **argv) {
  static const int ids[] = {32001, 32026};
  int copy, filter, i;

  if (argc != 4) {
    return 2;
  }
  for (i = 0; i < ITEMS; i++) {
    items[i] = i / 7;
  }
  plugin(argv[1], "H5Zblosc.dll", ids[0], "blosc");
  plugin(argv[1], "H5Zblosc2.dll", ids[1], "blosc2");
  for (copy = 2; copy < 4; copy++) {
    /* The libraries that HDF5 needs are beside it. */
    HMODULE hdf5 = LoadLibraryExA(argv[copy], NULL, LOAD_WITH_ALTERED_SEARCH_PATH);

    CHECK(hdf5 != NULL);
    for (filter = 0; hdf5 != NULL && filter < 2; filter++) {
      char file[100];

      snprintf(file, sizeof file, "%d-%d.h5", copy, ids[filter]);
      dataset(hdf5, argv[1], file, ids[filter]);
    }
  }
  return checks_failed();
}
