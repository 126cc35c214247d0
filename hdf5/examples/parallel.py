"""Writes a compressed dataset from several processes in parallel and reads it back.

    HDF5_PLUGIN_PATH=/usr/local/lib/hdf5/plugin mpirun -np 3 python3 parallel.py temperatures.h5 32026

The second argument is the filter: 32001 for Blosc 1 chunks, or 32026 for Blosc2 frames. Requires
mpi4py, and h5py built for MPI (Debian: python3-h5py-mpi). HDF5 requires all processes to participate
in each write to a compressed dataset, so writes are collective.
"""

import sys

import h5py
import numpy
from mpi4py import MPI

ROWS, COLUMNS, CHUNK = 50, 1000, (32, 500)
# The filter sets the first four values. The others are level, shuffle and codec (1 is LZ4).
PARAMETERS = (0, 0, 0, 0, 5, 1, 1)


def rows_of(rank):
    """Returns the rows of a process."""
    row, column = numpy.mgrid[ROWS * rank : ROWS * (rank + 1), 0:COLUMNS]
    return (row * 10 + column // 7 * 3).astype("i4")


def main(path, number):
    world = MPI.COMM_WORLD
    shape = (ROWS * world.size, COLUMNS)
    with h5py.File(path, "w", driver="mpio", comm=world) as file:
        dataset = file.create_dataset(
            "temperatures", shape, "i4", chunks=CHUNK, compression=number, compression_opts=PARAMETERS
        )
        with dataset.collective:
            dataset[ROWS * world.rank : ROWS * (world.rank + 1)] = rows_of(world.rank)
        # Each process reads the rows of its neighbour.
        other = (world.rank + 1) % world.size
        with dataset.collective:
            read = dataset[ROWS * other : ROWS * (other + 1)]
        wrong = world.allreduce(int((read != rows_of(other)).sum()))
        stored = dataset.id.get_storage_size()
    if world.rank == 0:
        whole = 4 * shape[0] * shape[1]
        print(f"{world.size} processes, filter {number}: {stored} bytes of {whole}, {wrong} wrong values")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
