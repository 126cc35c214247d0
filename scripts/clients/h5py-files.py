"""Writes or reads a file of datasets with HDF5 filter 32001: h5py-files.py write|read FILE.

Covers every codec and shuffle on each kind of type the filter distinguishes: numbers, records, and
items longer than 255 bytes. One dataset is random bytes, which the filter stores uncompressed.
"""

import itertools
import sys

import h5py
import numpy as np

CODECS = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]


def arrays():
    """Returns the arrays by name."""
    numbers = np.arange(20_000).reshape(200, 100)
    records = np.zeros(3000, dtype=[("id", "<i4"), ("price", "<f8"), ("name", "S5"), ("point", "<f4", 3)])
    records["id"], records["price"], records["name"] = np.arange(3000), np.arange(3000) / 7, b"some"
    return {
        "ints": numbers.astype("<i4"),
        "floats": (numbers // 4).astype("<f8"),
        "bigendian": numbers.astype(">i2"),
        "records": records,
        "wide": np.array([b"%d" % i for i in range(500)], dtype="S300"),
    }


def cases():
    """Yields (name, array, codec, shuffle, level) of each dataset."""
    for name, array in arrays().items():
        for codec, shuffle in itertools.product(range(6), range(3)):
            yield f"{name}-{CODECS[codec]}-{shuffle}", array, codec, shuffle, 5
    for level in range(1, 10):
        yield f"level-{level}", arrays()["ints"], 5, 1, level


def write(path):
    random = np.random.default_rng(7).integers(0, 256, 50_000, dtype="u1")
    with h5py.File(path, "w") as file:
        for name, array, codec, shuffle, level in cases():
            chunks = tuple(max(1, size // 2) for size in array.shape)
            options = (0, 0, 0, 0, level, shuffle, codec)
            dataset = file.create_dataset(name, data=array, chunks=chunks, compression=32001, compression_opts=options)
            # Without a shuffle some codecs cannot compress numbers, and C-Blosc's Snappy needs a
            # larger buffer than the filter allocates for records.
            assert shuffle == 0 or "snappy" in name or dataset.id.get_storage_size() < array.nbytes, name
            slots = dataset.id.get_create_plist().get_filter_by_id(32001)[1]
            # Blosc treats items longer than 255 bytes as single bytes.
            itemsize = 1 if array.itemsize > 255 else array.itemsize
            assert slots[:4] == (2, 2, itemsize, array.itemsize * int(np.prod(chunks))), (name, slots)
        file.create_dataset("random", data=random, chunks=(10_000,), compression=32001)
        for index in range(5):
            info = file["random"].id.get_chunk_info(index)
            assert info.filter_mask == 1 and info.size == 10_000


def read(path):
    count = 0
    with h5py.File(path, "r") as file:
        for name, array, *_ in cases():
            found = file[name][...]
            assert found.dtype == array.dtype and (found == array).all(), name
            count += 1
        random = np.random.default_rng(7).integers(0, 256, 50_000, dtype="u1")
        assert (file["random"][...] == random).all()
    print(count + 1)


{"write": write, "read": read}[sys.argv[1]](sys.argv[2])
