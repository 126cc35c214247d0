"""Counterpart of exchange.f90: python-blosc2 with its own library, and libblosc.so.1 of C-Blosc.

exchange.py write DIR LIBBLOSC writes the files that exchange.f90 reads; read reads its files.
Arrays of the Fortran shape (5, 4, 3) have the shape (3, 4, 5) here: item [k, j, i] is item
(i + 1, j + 1, k + 1) there.
"""

import ctypes
import sys
from pathlib import Path

import blosc2
import numpy as np

KINDS = {
    "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8",
    "real32": "f4", "real64": "f8", "complex32": "c8", "complex64": "c16",
}


def values(kind):
    i, j, k = np.meshgrid(np.arange(5), np.arange(4), np.arange(3), indexing="ij")
    items = (12 * i + 3 * j + k).transpose()
    if kind.startswith("complex"):
        items = items - 1j * items
    return np.ascontiguousarray(items.astype(KINDS[kind]))


def write(folder):
    for kind in KINDS:
        blosc2.asarray(values(kind), chunks=(2, 4, 3), blocks=(2, 2, 2), urlpath=str(folder / f"{kind}.b2nd"), mode="w")
    blosc2.asarray(
        values("real64"), chunks=(2, 4, 3), blocks=(2, 2, 2), urlpath=str(folder / "directory.b2nd"), mode="w",
        contiguous=False,
    )
    schunk = blosc2.SChunk(
        chunksize=8000, cparams={"typesize": 8, "codec": blosc2.Codec.LZ4},
        urlpath=str(folder / "numbers.b2frame"), contiguous=True, mode="w", meta={"units": "metres"},
    )
    for i in (1, 2, 3):
        schunk.append_data(np.full(1000, i / 2))
    schunk.vlmeta["history"] = "written in Python"
    numbers = np.full(1000, 1.5)
    (folder / "chunk.blosc2").write_bytes(blosc2.compress2(numbers, typesize=8))
    chunk = ctypes.create_string_buffer(8016)
    size = libblosc.blosc_compress(5, 1, 8, 8000, numbers.tobytes(), chunk, 8016)
    assert size > 0, size
    (folder / "chunk.blosc1").write_bytes(chunk.raw[:size])


def read(folder):
    for kind in KINDS:
        array = blosc2.open(str(folder / f"{kind}.b2nd"))
        assert array.dtype == np.dtype(KINDS[kind]), (kind, array.dtype)
        assert array.shape == (3, 4, 5) and array.chunks == (2, 4, 3), (kind, array.shape, array.chunks)
        assert np.array_equal(array[:], values(kind)), kind
        assert np.array_equal(array[2, :, 1:4], values(kind)[2, :, 1:4]), kind
    directory = folder / "directory.b2nd"
    assert directory.is_dir() and np.array_equal(blosc2.open(str(directory))[:], values("real64"))
    schunk = blosc2.open(str(folder / "numbers.b2frame"))
    assert schunk.nchunks == 3 and schunk.typesize == 8
    assert np.array_equal(np.frombuffer(schunk.decompress_chunk(2)), np.full(1000, 1.5))
    assert schunk.cparams.codec == blosc2.Codec.ZSTD
    assert schunk.meta["units"] == "metres" and schunk.vlmeta["history"] == "written in Fortran"
    chunk = (folder / "chunk.blosc2").read_bytes()
    assert np.array_equal(np.frombuffer(blosc2.decompress2(chunk)), np.full(1000, 1.5))
    numbers = ctypes.create_string_buffer(8000)
    size = libblosc.blosc_decompress((folder / "chunk.blosc1").read_bytes(), numbers, 8000)
    assert size == 8000 and np.array_equal(np.frombuffer(numbers.raw), np.full(1000, 1.5)), size


libblosc = ctypes.CDLL(sys.argv[3])
libblosc.blosc_compress.argtypes = (
    2 * [ctypes.c_int] + 2 * [ctypes.c_size_t] + 2 * [ctypes.c_char_p] + [ctypes.c_size_t]
)
libblosc.blosc_decompress.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
{"write": write, "read": read}[sys.argv[1]](Path(sys.argv[2]))
