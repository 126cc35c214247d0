/* program write|read FILE: a program that uses the filters through HDF5, linked with HDF5 in
 * different ways. The exit status is 0 if both datasets could be written or read. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 300, COLUMNS = 200 };
static const struct {
  const char *name;
  H5Z_filter_t filter;
} datasets[2] = {{"blosc", 32001}, {"blosc2", 32026}};
static double values[ROWS][COLUMNS], back[ROWS][COLUMNS];

/* Creates and writes a dataset; returns 0, or -1 on failure. */
static int write_one(hid_t file, int which) {
  const hsize_t shape[2] = {ROWS, COLUMNS}, chunk[2] = {64, 200};
  const unsigned parameters[7] = {0, 0, 0, 0, 5, 1, 5};
  hid_t space = H5Screate_simple(2, shape, NULL), properties = H5Pcreate(H5P_DATASET_CREATE), dataset;
  int status = -1;

  H5Pset_chunk(properties, 2, chunk);
  H5Pset_filter(properties, datasets[which].filter, H5Z_FLAG_MANDATORY, 7, parameters);
  dataset = H5Dcreate2(file, datasets[which].name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  if (dataset >= 0) {
    status = H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(dataset);
  }
  H5Pclose(properties);
  H5Sclose(space);
  return status < 0 ? -1 : 0;
}

/* Reads a dataset; returns 0 if its values are correct. */
static int read_one(hid_t file, int which) {
  hid_t dataset = H5Dopen2(file, datasets[which].name, H5P_DEFAULT);

  memset(back, 0, sizeof back);
  if (dataset < 0 || H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) < 0) return 1;
  H5Dclose(dataset);
  return memcmp(back, values, sizeof back) != 0;
}

int main(int argc, char **argv) {
  unsigned major, minor, release;
  int row, column, failed = 0;
  hid_t file;

  if (argc != 3) return 2;
  for (row = 0; row < ROWS; row++)
    for (column = 0; column < COLUMNS; column++) values[row][column] = row * 0.5 + column;
  if (strcmp(argv[1], "write") == 0) {
    file = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    failed = write_one(file, 0) + write_one(file, 1);
    H5Fclose(file);
    return failed != 0;
  }
  file = H5Fopen(argv[2], H5F_ACC_RDONLY, H5P_DEFAULT);
  failed = read_one(file, 0) + read_one(file, 1);
  H5Fclose(file);
  H5get_libversion(&major, &minor, &release);
  printf("   read with HDF5 %u.%u.%u\n", major, minor, release);
  return failed;
}
