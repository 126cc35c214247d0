"""Writes arrays with the original tools, or reads them back, for test-b2.sh.

Each line of the standard input is a request: `write FORMAT PATH NPY` stores the array in NPY as
PATH; `read FORMAT PATH NPY` compares the array in PATH with that in NPY. The answer is one line:
`ok`, or the failure. One process answers all requests, since importing the tools takes longer than
the requests.
"""

import sys
import traceback

import numpy as np


def write_zarr(kind, path, array):
    """Writes an array with the zarr-python that is installed, in chunks that do not divide it."""
    import zarr

    chunks = tuple(max(1, length // 3) for length in array.shape)
    version, variant = (kind.split("-") + [""])[:2]
    if zarr.__version__.startswith("2"):
        import numcodecs

        compressors = {"": numcodecs.Blosc("lz4"), "zip": numcodecs.Zlib(), "other": numcodecs.LZ4()}
        store = zarr.ZipStore(path, mode="w") if variant == "zip" else zarr.DirectoryStore(path)
        order = "F" if variant == "other" else "C"
        zarr.array(array, chunks=chunks, store=store, compressor=compressors[variant], order=order)
        store.close()
        return
    from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

    compressors = {"": BloscCodec(), "zip": GzipCodec(), "other": ZstdCodec()}
    store = zarr.storage.ZipStore(path, mode="w") if variant == "zip" else path
    # zarr-python 3.1 cannot write records in shards.
    is_sharded = variant == "other" and not array.dtype.names
    shards = tuple(2 * length for length in chunks) if is_sharded else None
    made = zarr.create_array(
        store, shape=array.shape, dtype=array.dtype, chunks=chunks, shards=shards, compressors=compressors[variant]
    )
    made[...] = array
    if variant == "zip":
        store.close()


def write(kind, path, array):
    if kind in ("b2nd", "b2nd-dir"):
        import blosc2

        blosc2.asarray(array, urlpath=path, mode="w", contiguous=kind == "b2nd")
    elif kind in ("b2frame", "b2frame-dir"):
        import blosc2

        storage = {"contiguous": kind == "b2frame"}
        blosc2.SChunk(chunksize=4096, data=array.view("u1").ravel(), urlpath=path, mode="w", **storage)
    elif kind == "blosc2":
        import blosc2

        with open(path, "wb") as file:
            file.write(blosc2.compress2(array.view("u1").ravel(), typesize=array.itemsize))
    elif kind == "blp":
        import bloscpack

        bloscpack.pack_ndarray_to_file(array, path)
    elif kind == "blosc1":
        import blosc

        with open(path, "wb") as file:
            file.write(blosc.compress(array.tobytes(), typesize=array.itemsize))
    elif kind == "bcolz":
        import bcolz

        if array.dtype.names:
            bcolz.ctable(array, rootdir=path, mode="w").flush()
        else:
            bcolz.carray(array, rootdir=path, mode="w").flush()
    elif kind == "npz":
        np.savez(path, array)
    elif kind == "npz-deflated":
        with open(path, "wb") as file:
            np.savez_compressed(file, array)
    elif kind.startswith("zarr"):
        write_zarr(kind, path, array)
    elif kind == "raw":
        array.tofile(path)
    else:
        raise ValueError(f"{kind} is not known")


def read(kind, path):
    if kind in ("b2nd", "b2nd-dir"):
        import blosc2

        return blosc2.open(path)[...]
    if kind in ("b2frame", "b2frame-dir"):
        import blosc2

        return np.frombuffer(blosc2.open(path)[:], "u1")
    if kind == "blosc2":
        import blosc2

        with open(path, "rb") as file:
            return np.frombuffer(blosc2.decompress2(file.read()), "u1")
    if kind == "blp":
        import bloscpack

        return bloscpack.unpack_ndarray_from_file(path)
    if kind == "blosc1":
        import blosc

        with open(path, "rb") as file:
            return np.frombuffer(blosc.decompress(file.read()), "u1")
    if kind == "bcolz":
        import bcolz

        return bcolz.open(path, mode="r")[:]
    if kind.startswith("zarr"):
        import zarr

        return zarr.open_array(path, mode="r")[...]
    if kind in ("npy", "npz"):
        found = np.load(path)
        return found if kind == "npy" else found["arr_0"]
    raise ValueError(f"{kind} is not known")


def answer(action, kind, path, npy):
    """Returns `ok` if the request was carried out, otherwise the difference."""
    array = np.load(npy)
    if action == "write":
        write(kind, path, array)
        return "ok"
    found = np.asarray(read(kind, path))
    if kind in ("b2frame", "b2frame-dir", "blosc1", "blosc2"):
        array = np.frombuffer(array.tobytes(), "u1")
    if found.dtype != array.dtype or found.shape != array.shape or found.tobytes() != array.tobytes():
        return f"{path}: {found.dtype} {found.shape} instead of {array.dtype} {array.shape}, or other items"
    return "ok"


for request in sys.stdin:
    try:
        print(answer(*request.split()), flush=True)
    except Exception as error:
        traceback.print_exc()
        print(f"{request.strip()}: {error!r}".replace("\n", " "), flush=True)
