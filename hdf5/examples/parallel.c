/* Writes a compressed dataset from several processes in parallel and reads it back.
 *
 *     mpicc -O2 parallel.c -o parallel $(pkg-config --cflags --libs hdf5-openmpi)
 *     HDF5_PLUGIN_PATH=/usr/local/lib/hdf5/plugin mpirun -np 3 ./parallel temperatures.h5 32026
 *
 * The second argument is the filter: 32001 for Blosc 1 chunks, or 32026 for Blosc2 frames. Each
 * process writes some rows of one dataset. HDF5 requires all processes to participate in each write
 * to a compressed dataset; it selects the process that compresses a chunk. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 50, COLUMNS = 1000, CHUNK_ROWS = 32, CHUNK_COLUMNS = 500 };

/* Aborts all processes if an HDF5 call failed. HDF5 has printed the reason. */
static hid_t check(hid_t result, const char *label) {
  if (result < 0) {
    fprintf(stderr, "%s failed\n", label);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return result;
}

/* Returns the value of an item. */
static int value(hsize_t row, hsize_t column) { return (int)(row * 10 + column / 7 * 3); }

static hid_t create_dataset(hid_t file, int ranks, H5Z_filter_t filter) {
  const hsize_t shape[2] = {(hsize_t)ROWS * ranks, COLUMNS}, chunk[2] = {CHUNK_ROWS, CHUNK_COLUMNS};
  /* The filter sets the first four values. The others are level, shuffle and codec (1 is LZ4). */
  const unsigned parameters[7] = {0, 0, 0, 0, 5, 1, 1};
  hid_t space = check(H5Screate_simple(2, shape, NULL), "the space");
  hid_t properties = check(H5Pcreate(H5P_DATASET_CREATE), "the properties");
  hid_t dataset;

  check(H5Pset_chunk(properties, 2, chunk), "chunks");
  check(H5Pset_filter(properties, filter, H5Z_FLAG_MANDATORY, 7, parameters), "the filter");
  dataset = check(H5Dcreate2(file, "temperatures", H5T_NATIVE_INT, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                 "the dataset");
  H5Pclose(properties);
  H5Sclose(space);
  return dataset;
}

/* Selects the rows of a process in the file. */
static hid_t rows_of(hid_t dataset, int rank) {
  const hsize_t start[2] = {(hsize_t)ROWS * rank, 0}, count[2] = {ROWS, COLUMNS};
  hid_t space = check(H5Dget_space(dataset), "the space");

  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL), "rows");
  return space;
}

int main(int argc, char **argv) {
  const hsize_t count[2] = {ROWS, COLUMNS};
  hid_t access, collective, file, dataset, memory, rows;
  int *values, rank, ranks, other, row, column, wrong = 0, all_wrong;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  values = malloc(sizeof *values * ROWS * COLUMNS);
  if (argc != 3 || values == NULL) {
    fprintf(stderr, "usage: parallel FILE FILTER\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }

  access = check(H5Pcreate(H5P_FILE_ACCESS), "the access");
  check(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "MPI");
  collective = check(H5Pcreate(H5P_DATASET_XFER), "the transfer");
  check(H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE), "collective calls");
  memory = check(H5Screate_simple(2, count, NULL), "the space in memory");

  file = check(H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access), "the file");
  dataset = create_dataset(file, ranks, atoi(argv[2]));
  for (row = 0; row < ROWS; row++)
    for (column = 0; column < COLUMNS; column++) values[row * COLUMNS + column] = value(ROWS * rank + row, column);
  rows = rows_of(dataset, rank);
  check(H5Dwrite(dataset, H5T_NATIVE_INT, memory, rows, collective, values), "writing");
  H5Sclose(rows);

  /* Each process reads the rows of its neighbour. */
  other = (rank + 1) % ranks;
  rows = rows_of(dataset, other);
  check(H5Dread(dataset, H5T_NATIVE_INT, memory, rows, collective, values), "reading");
  H5Sclose(rows);
  for (row = 0; row < ROWS; row++)
    for (column = 0; column < COLUMNS; column++)
      wrong += values[row * COLUMNS + column] != value(ROWS * other + row, column);
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d processes, filter %s: %lu bytes of %lu, %d wrong values\n", ranks, argv[2],
           (unsigned long)H5Dget_storage_size(dataset), (unsigned long)(sizeof *values * ROWS * COLUMNS * ranks),
           all_wrong);

  H5Dclose(dataset);
  H5Fclose(file);
  H5Sclose(memory);
  H5Pclose(collective);
  H5Pclose(access);
  free(values);
  MPI_Finalize();
  return all_wrong != 0;
}
