"""Tests of mandatory filters: incompressible chunks are stored, invalid parameters are rejected.

    mandatory.py write PLUGIN FILE [FILTER...]
    mandatory.py read PLUGIN FILE

PLUGIN is a directory for HDF5_PLUGIN_PATH, or `hdf5plugin`.
"""

import os
import sys

if sys.argv[2] != "hdf5plugin":
    os.environ["HDF5_PLUGIN_PATH"] = sys.argv[2]

import h5py
import numpy

if sys.argv[2] == "hdf5plugin":
    import hdf5plugin  # noqa: F401, registers its filters

NOISE = numpy.frombuffer(numpy.random.RandomState(7).bytes(5000), "u1")
RISING = numpy.arange(5000, dtype="<i4")
CELLS = {"noise-5": NOISE, "noise-9": NOISE, "noise-0": NOISE, "rising-0": RISING, "rising-5": RISING}

# Invalid parameters and the expected errors.
REFUSED = [
    ((0, 0, 0, 0, 77, 1, 5), "parameter 4, the level, is 77, but must be 0 to 9"),
    ((0, 0, 0, 0, 5, 9, 5), "parameter 5, the "),
    ((0, 0, 0, 0, 5, 1, 99), "parameter 6, the codec, is 99, but must be 0 (BloscLZ)"),
]
REFUSED_BLOSC2 = [
    ((0, 8, 0, 0, 5, 1, 5), "parameter 1, the bytes of a block, is 8, but must be 0 (automatic), 32 or more"),
    ((0, 0, 0, 0, 5, 1, 3), "parameter 6, the codec, is 3"),
]


def create(group, name, values, number, options):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((1000,))
    properties.set_filter(number, h5py.h5z.FLAG_MANDATORY, options)
    space = h5py.h5s.create_simple(values.shape)
    return h5py.Dataset(h5py.h5d.create(group.id, name, h5py.h5t.py_create(values.dtype), space, properties))


def write(path, numbers):
    with h5py.File(path, "w") as file:
        for number in numbers:
            group = file.create_group(str(number))
            for name, values in CELLS.items():
                create(group, name.encode(), values, number, (0, 0, 0, 0, int(name[-1]), 1, 5))[...] = values
            for options, reason in REFUSED + REFUSED_BLOSC2 * (number == 32026):
                try:
                    create(group, b"refused", RISING.astype("<i8"), number, options)
                    sys.exit(f"{number} accepted {options}")
                except Exception as error:
                    assert reason in str(error), (options, str(error))
            assert len(group) == len(CELLS)
    print(f"   wrote {len(numbers) * len(CELLS)} datasets, and rejected the others with a reason")


def read(path):
    count = 0
    with h5py.File(path) as file:
        for number in file:
            for name, values in CELLS.items():
                dataset = file[number][name]
                assert dataset[...].tobytes() == values.tobytes(), (number, name)
                assert dataset.id.read_direct_chunk((0,))[0] == 0, (number, name)
                count += 1
    print(f"   read {count} datasets")


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[3], [int(number) for number in sys.argv[4:]] or [32001, 32026])
    else:
        read(sys.argv[3])
