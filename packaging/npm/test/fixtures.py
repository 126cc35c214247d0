"""Writes arrays, frames and chunks with python-blosc2, and the data that reading them must return.

usage: fixtures.py DIRECTORY

`fixtures.json` in the directory lists the files; NAME.raw has the data of NAME.
"""

import json
import sys
from pathlib import Path

import blosc2
import numpy as np

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
manifest = {"arrays": [], "frames": [], "chunks": []}
vlmeta = {
    "title": "temperature",
    "count": 70000,
    "large": 2**60,
    "negative": -5,
    "ratio": 0.25,
    "flags": [True, False, None],
    "nested": {"a": {"b": [1, 2, {"c": "é"}]}},
    "bytes": b"\x00\x01",
}


def cparams(codec, clevel=5, filters=(blosc2.Filter.SHUFFLE,), **more):
    filters = [*filters]
    return {
        "codec": codec,
        "clevel": clevel,
        "filters": filters,
        "filters_meta": [0] * len(filters),
        "nthreads": 1,
        **more,
    }


def describe(path, array):
    data = array[()]
    data = np.ascontiguousarray(data)
    if data.dtype.names is None:
        data = data.astype(data.dtype.newbyteorder("<"))
    (folder / (path.name + ".raw")).write_bytes(data.tobytes())
    return {
        "name": path.name,
        "shape": list(array.shape),
        "chunks": list(array.chunks),
        "blocks": list(array.blocks),
        "dtype": array.dtype.str if array.dtype.names is None else None,
        "typesize": array.dtype.itemsize,
        "nchunks": array.schunk.nchunks,
        "size": path.stat().st_size,
    }


def save(name, data, params=None, meta=False, **more):
    path = folder / f"{name}.b2nd"
    path.unlink(missing_ok=True)
    params = params or cparams(blosc2.Codec.LZ4)
    array = blosc2.asarray(data, urlpath=str(path), mode="w", cparams=params, **more)
    if meta:
        for key, value in vlmeta.items():
            array.schunk.vlmeta[key] = value
    manifest["arrays"].append(describe(path, array))
    return array


codecs = {
    "blosclz": blosc2.Codec.BLOSCLZ,
    "lz4": blosc2.Codec.LZ4,
    "lz4hc": blosc2.Codec.LZ4HC,
    "zlib": blosc2.Codec.ZLIB,
    "zstd": blosc2.Codec.ZSTD,
}
rng = np.random.default_rng(1)
grid = (np.arange(300 * 200).reshape(300, 200) * 0.5 + rng.integers(0, 4, (300, 200))).astype("<f8")
for name, codec in codecs.items():
    save(f"grid-{name}", grid, cparams(codec), chunks=(100, 60), blocks=(20, 16), meta=name == "zstd")
save("bits", rng.integers(0, 9, (20, 30, 40)).astype("<i2"),
     cparams(blosc2.Codec.ZSTD, 3, [blosc2.Filter.BITSHUFFLE]), chunks=(8, 16, 40), blocks=(4, 8, 20))
save("delta", np.arange(50000, dtype="<u4"),
     cparams(blosc2.Codec.LZ4, 5, [blosc2.Filter.DELTA, blosc2.Filter.SHUFFLE]), chunks=(20000,), blocks=(5000,))
save("bytes", rng.integers(0, 255, 70000).astype("u1"), chunks=(30000,), blocks=(10000,))
save("scalar", np.array(3.25))
save("empty", np.zeros((0, 5), dtype="<i4"))
save("bool", rng.integers(0, 2, (33, 7)).astype(bool), chunks=(10, 7), blocks=(5, 7))
save("bigendian", np.arange(1000, dtype=">i4").reshape(10, 100), chunks=(4, 50), blocks=(2, 25))
save("int64", np.arange(-500, 500, dtype="<i8") * 10**15, chunks=(300,), blocks=(100,))
save("complex", (np.arange(600) * (1 + 2j)).astype("<c16"), chunks=(250,), blocks=(50,))
save("dates", np.arange(100).astype("<M8[ms]"), chunks=(30,), blocks=(10,))
save("text", np.array([f"word {i}" for i in range(100)]), chunks=(40,), blocks=(10,))
half = np.arange(40, dtype="<f2").reshape(8, 5)
save("half", half, chunks=(3, 5), blocks=(2, 5))
sparse = np.zeros((400, 300), dtype="<f4")
sparse[120:130, 210:290] = rng.random((10, 80))
save("sparse", sparse, chunks=(50, 100), blocks=(10, 50))
save("nans", np.full((60, 60), np.nan, dtype="<f8"), chunks=(20, 20), blocks=(10, 10))
path = folder / "zeros.b2nd"
array = blosc2.zeros((60, 60), dtype="<f8", urlpath=str(path), mode="w", chunks=(20, 20), blocks=(10, 10))
manifest["arrays"].append(describe(path, array))
# Chunks of 4 MB that compress little; a small slice needs few of their blocks.
save("large", rng.random((1024, 1024)), cparams(blosc2.Codec.ZSTD, 1), chunks=(1024, 512), blocks=(64, 64))
many = rng.integers(0, 1000, 200000).astype("<i4")
save("many", many, chunks=(100,), blocks=(50,))


def frame(name, parts, typesize, params, meta=None, chunksize=None):
    path = folder / f"{name}.b2frame"
    path.unlink(missing_ok=True)
    more = {"chunksize": chunksize} if chunksize else {}
    if meta:
        more["meta"] = meta
    schunk = blosc2.SChunk(
        urlpath=str(path), mode="w", contiguous=True, cparams={**params, "typesize": typesize}, **more
    )
    for part in parts:
        schunk.append_data(part)
    for key, value in vlmeta.items():
        schunk.vlmeta[key] = value
    data = b"".join(schunk.decompress_chunk(i) for i in range(schunk.nchunks))
    (folder / f"{path.name}.raw").write_bytes(data)
    manifest["frames"].append({
        "name": path.name,
        "nchunks": schunk.nchunks,
        "nbytes": schunk.nbytes,
        "typesize": typesize,
        "chunksize": schunk.chunksize,
        "lengths": [len(schunk.decompress_chunk(i)) for i in range(schunk.nchunks)],
        "size": path.stat().st_size,
    })
    return schunk


numbers = (np.arange(100000) * 3 + rng.integers(0, 16, 100000)).astype("<i4")
parts = [numbers[i:i + 12000] for i in range(0, 100000, 12000)]
for name, codec in codecs.items():
    frame(f"numbers-{name}", parts, 4, cparams(codec), {"origin": "test", "n": 3}, 48000)
frame("one", parts[:1], 4, cparams(blosc2.Codec.LZ4))
frame("none", [], 4, cparams(blosc2.Codec.LZ4))
frame("random", [rng.bytes(30000) for _ in range(5)], 1, cparams(blosc2.Codec.ZSTD, 0), chunksize=30000)
frame("zeros-between", [parts[0], np.zeros(12000, dtype="<i4"), parts[1]], 4, cparams(blosc2.Codec.LZ4), chunksize=48000)
# The inserted chunk is stored after the others.
schunk = frame("inserted", parts[:4], 4, cparams(blosc2.Codec.LZ4), chunksize=48000)
schunk.insert_data(1, parts[5], copy=True)
data = b"".join(schunk.decompress_chunk(i) for i in range(schunk.nchunks))
(folder / "inserted.b2frame.raw").write_bytes(data)
manifest["frames"][-1].update(
    nchunks=schunk.nchunks, nbytes=schunk.nbytes, lengths=[48000] * 5,
    size=(folder / "inserted.b2frame").stat().st_size,
)

raw = numbers.tobytes()[:200000]
(folder / "chunk.raw").write_bytes(raw)
for name, codec in codecs.items():
    for label, filters in {
        "none": [], "shuffle": [blosc2.Filter.SHUFFLE], "bitshuffle": [blosc2.Filter.BITSHUFFLE],
        "delta": [blosc2.Filter.DELTA], "bytedelta": [blosc2.Filter.SHUFFLE, blosc2.Filter.BYTEDELTA],
    }.items():
        for level in (1, 9):
            filters = filters or [blosc2.Filter.NOFILTER]
            chunk = blosc2.compress2(
                raw, codec=codec, clevel=level, filters=filters, filters_meta=[0] * len(filters), typesize=4, nthreads=1
            )
            path = folder / f"{name}-{label}-{level}.chunk"
            path.write_bytes(chunk)
            manifest["chunks"].append({"name": path.name, "codec": name})
(folder / "fixtures.json").write_text(json.dumps(manifest, indent=1))
