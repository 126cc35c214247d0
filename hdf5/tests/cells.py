"""Exchanges files with all parameters of the Blosc filters between two plugins.

    cells.py write PLUGIN FILE [FILTER...]    writes the datasets ("cells") of these filters (default: both)
    cells.py read PLUGIN FILE                 reads them, completely and in slices, and compares

PLUGIN is a directory for HDF5_PLUGIN_PATH, or `hdf5plugin` for the package of that name. The content
of a cell depends only on its name, which reader and writer share. Requires h5py 3.7 with HDF5 1.10 or
later.
"""

import os
import re
import sys

if sys.argv[2] != "hdf5plugin":
    os.environ["HDF5_PLUGIN_PATH"] = sys.argv[2]

import h5py
import numpy

if sys.argv[2] == "hdf5plugin":
    import hdf5plugin  # noqa: F401, registers its filters

BLOSC, BLOSC2 = 32001, 32026
CODECS = {BLOSC: (0, 1, 2, 3, 4, 5), BLOSC2: (0, 1, 2, 4, 5)}
SHUFFLES = {BLOSC: (0, 1, 2), BLOSC2: (0, 1, 2, 3)}
# Shapes of datasets and of their chunks; chunks at the edges are padded.
RANKS = {
    1: ((5000,), (1200,)),
    2: ((70, 80), (32, 64)),
    3: ((9, 20, 11), (4, 10, 6)),
    4: ((5, 6, 12, 7), (3, 6, 5, 7)),
    5: ((3, 4, 5, 6, 7), (2, 4, 3, 6, 4)),
}
COMPOUND = numpy.dtype([("count", "<i4"), ("position", "<f8", (3,)), ("name", "S5"), ("flag", "?")])
ARRAY = numpy.dtype(("<f4", (3,)))
OPTIONAL = h5py.h5z.FLAG_OPTIONAL


def grid(shape, dtype):
    """Returns slowly increasing bytes, as any type."""
    dtype = numpy.dtype(dtype)
    size = int(numpy.prod(shape)) * dtype.itemsize
    data = (numpy.arange(size, dtype="u4") // 5 % 251).astype("u1")
    if dtype.names and dtype["flag"] == bool:
        values = numpy.zeros(shape, dtype)
        values["count"] = numpy.arange(values.size).reshape(shape)
        values["position"] = numpy.arange(values.size * 3).reshape(*shape, 3) / 7
        values["name"] = b"abc"
        return values
    return data.view(dtype).reshape(shape)


def noise(shape):
    """Returns incompressible bytes."""
    return numpy.random.RandomState(7).bytes(int(numpy.prod(shape)))


def cells(number):
    """Yields all cells of a filter: name, values, chunk shape, parameters, additional filters."""
    for codec in CODECS[number]:
        for shuffle in SHUFFLES[number]:
            for rank, (shape, chunk) in RANKS.items():
                for level in (1, 5, 9):
                    name = f"codec{codec}-shuffle{shuffle}-rank{rank}-level{level}"
                    yield name, grid(shape, "<f8"), chunk, (0, 0, 0, 0, level, shuffle, codec), ()
    for size in range(1, 301):
        codec = CODECS[number][size % len(CODECS[number])]
        options = (0, 0, 0, 0, 5, 1 + size % 2, codec)
        kind = "S" if size % 3 == 0 else "V"
        yield f"size{size}-rank1", grid((70,), f"{kind}{size}"), (32,), options, ()
        yield f"size{size}-rank2", grid((9, 14), f"{kind}{size}"), (8, 8), options, ()
    for rank, (shape, chunk) in RANKS.items():
        options = (0, 0, 0, 0, 5, 1, 5)
        yield f"compound-rank{rank}", grid(shape, COMPOUND), chunk, options, ()
        yield f"compound-fletcher-rank{rank}", grid(shape, COMPOUND), chunk, options, ("fletcher",)
        yield f"fletcher-rank{rank}", grid(shape, "<i2"), chunk, options, ("fletcher",)
        yield f"shuffled-rank{rank}", grid(shape, "<i4"), chunk, options, ("shuffle",)
        yield f"after-deflate-rank{rank}", grid(shape, "<i4"), chunk, options, ("deflate",)
        random = numpy.frombuffer(noise(shape), "u1").reshape(shape)
        yield f"noise-rank{rank}", random, chunk, options, ()
        yield f"zeros-rank{rank}", numpy.zeros(shape, "<i8"), chunk, options, ()
        yield f"level0-rank{rank}", grid(shape, "<i4"), chunk, (0, 0, 0, 0, 0, 1, 5), ()
        for count in (0, 4, 5, 6):
            yield f"values{count}-rank{rank}", grid(shape, "<i4"), chunk, options[:count], ()
    yield "array", numpy.arange(60 * 3, dtype="<f4").reshape(60, 3), (16,), (0, 0, 0, 0, 5, 1, 1), ("array",)
    if number == BLOSC2:
        for blocksize in (32, 64, 1000, 1 << 20, 2**31):
            options = (0, blocksize, 0, 0, 5, 1, 1)
            for rank, (shape, chunk) in RANKS.items():
                yield f"block{blocksize}-rank{rank}", grid(shape, "<i4"), chunk, options, ()
        shape = (2,) * 10
        yield "rank10", grid(shape, "<i4"), (2, 1) * 5, (0, 0, 0, 0, 5, 1, 1), ()
        yield "rank17", grid((2, 1) * 8 + (3,), "<i4"), (2, 1) * 8 + (3,), (0, 0, 0, 0, 5, 1, 1), ()


def create(group, name, values, chunk, number, options, around):
    """Creates a dataset with this filter after additional ones."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(chunk)
    if "fletcher" in around:
        properties.set_fletcher32()
    if "shuffle" in around:
        properties.set_shuffle()
    if "deflate" in around:
        properties.set_deflate(4)
    properties.set_filter(number, OPTIONAL, options)
    if "array" in around:
        datatype = h5py.h5t.py_create(ARRAY, logical=True)
        space = h5py.h5s.create_simple(values.shape[:1])
    else:
        datatype = h5py.h5t.py_create(values.dtype, logical=True)
        space = h5py.h5s.create_simple(values.shape)
    dataset = h5py.Dataset(h5py.h5d.create(group.id, name.encode(), datatype, space, properties))
    dataset[...] = values
    return dataset


def check_stored(name, number, dataset):
    """Checks the stored parameters of the filter, and the format of the first chunk."""
    properties = dataset.id.get_create_plist()
    code, _, values, label = properties.get_filter(properties.get_nfilters() - 1)
    assert (code, label) == (number, {BLOSC: b"blosc", BLOSC2: b"blosc2"}[number]), name
    assert values[0] == {BLOSC: 2, BLOSC2: 1}[number], (name, values)
    mask, stored = dataset.id.read_direct_chunk((0,) * dataset.ndim)
    if number == BLOSC and name.startswith(("noise", "level0")):
        assert mask == 1, name
        assert len(stored) == dataset.dtype.itemsize * int(numpy.prod(dataset.chunks)), name
    if number == BLOSC2 and mask == 0:
        assert stored[2:10] == b"b2frame\0", name


def check_parts(name, dataset, values):
    """Checks slices of a dataset, some across chunks."""
    random = numpy.random.RandomState(len(name))
    for _ in range(3):
        part = []
        for extent in dataset.shape:
            start = random.randint(0, extent)
            part.append(slice(start, random.randint(start, extent) + 1))
        assert dataset[tuple(part)].tobytes() == values[tuple(part)].tobytes(), (name, part)


def check_loaded():
    """Checks that the process has loaded the requested plugins and no others."""
    folder = hdf5plugin.PLUGIN_PATH if sys.argv[2] == "hdf5plugin" else os.path.realpath(sys.argv[2])
    with open("/proc/self/maps") as maps:
        loaded = {line.split()[-1] for line in maps if re.search(r"/lib(h5|H5Z)blosc2?[^/]*\.so$", line)}
    assert loaded and {os.path.dirname(path) for path in loaded} == {folder}, loaded


def write(path, numbers):
    count = 0
    with h5py.File(path, "w") as file:
        for number in numbers:
            group = file.create_group(str(number))
            for name, values, chunk, options, around in cells(number):
                create(group, name, values, chunk, number, options, around)
                count += 1
    check_loaded()
    print(f"   wrote {count} datasets with HDF5 {h5py.version.hdf5_version}")


def read(path):
    count = 0
    with h5py.File(path, "r") as file:
        for number in map(int, file):
            for name, values, _, _, _ in cells(number):
                dataset = file[str(number)][name]
                assert dataset[()].tobytes() == values.tobytes(), name
                check_stored(name, number, dataset)
                check_parts(name, dataset, values)
                count += 1
    check_loaded()
    print(f"   read {count} datasets with HDF5 {h5py.version.hdf5_version}")


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[3], [int(number) for number in sys.argv[4:]] or [BLOSC, BLOSC2])
    else:
        read(sys.argv[3])
