"""Tests of chunks that several processes write to, with h5py built for MPI.

    mpirun -np 3 python3 shared_chunks.py write FILE      creates the datasets
    python3 shared_chunks.py read PLUGIN FILE             reads them, in one process

PLUGIN is a directory for HDF5_PLUGIN_PATH, or `hdf5plugin`.

Each process writes every third column, so that all processes contribute to every chunk. Then some rows
are overwritten, for which chunks are read, changed and recompressed.
"""

import os
import sys

import numpy

SHAPE, CHUNK = (90, 120), (40, 50)
FILTERS = (32001, 32026)
RANKS = 3
# Level, shuffle and codec.
CHOICES = ((5, 1, 0), (5, 2, 1), (9, 1, 5), (1, 0, 4))


def fields():
    """Yields names and values; the last are incompressible."""
    row, column = numpy.mgrid[0 : SHAPE[0], 0 : SHAPE[1]]
    yield "floats", (row * 0.5 + column).astype("f8")
    yield "shorts", (row * column % 1000).astype("i2")
    yield "noise", numpy.frombuffer(numpy.random.RandomState(3).bytes(row.size), "u1").reshape(SHAPE)


def cells():
    for number in FILTERS:
        for choice in CHOICES:
            for name, values in fields():
                yield f"{number}-{'-'.join(map(str, choice))}-{name}", number, (0, 0, 0, 0, *choice), values


def changed(values):
    """Returns the values after the second write."""
    values = values.copy()
    values[10:30] = values[50:70]
    return values


def write(path):
    import h5py
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    assert world.size == RANKS
    with h5py.File(path, "w", driver="mpio", comm=world) as file:
        for name, number, options, values in cells():
            dataset = file.create_dataset(
                name, SHAPE, values.dtype, chunks=CHUNK, compression=number, compression_opts=options
            )
            with dataset.collective:
                dataset[:, world.rank :: RANKS] = values[:, world.rank :: RANKS]
            first, last = ((10, 17), (17, 18), (18, 30))[world.rank]
            with dataset.collective:
                dataset[first:last] = changed(values)[first:last]
            with dataset.collective:
                assert (dataset[...] == changed(values)).all(), name
    if world.rank == 0:
        print(f"   {world.size} processes wrote {len(list(cells()))} datasets in shared chunks")


def read(plugin, path):
    if plugin == "hdf5plugin":
        import hdf5plugin  # noqa: F401, registers its filters
    else:
        os.environ["HDF5_PLUGIN_PATH"] = plugin
    import h5py

    with h5py.File(path) as file:
        for name, _, _, values in cells():
            assert (file[name][...] == changed(values)).all(), name
        print(f"   {len(file)} datasets in shared chunks read by HDF5 {h5py.version.hdf5_version}")


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
