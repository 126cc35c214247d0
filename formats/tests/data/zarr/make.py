"""Writes the files of this directory with zarr-python.

usage: make.py 2 or 3, for the version of zarr-python
"""

import sys

import numpy as np
import zarr

items = np.arange(35, dtype="<i4").reshape(5, 7)
large = np.arange(6000, dtype="<i4").reshape(60, 100)

if sys.argv[1] == "2":
    from numcodecs import LZ4, Blosc, GZip, Shuffle, Zlib, Zstd

    settings = {"chunks": (2, 4), "overwrite": True}
    group = zarr.open_group("two.zarr", mode="w")
    group.attrs["title"] = "fixture"
    # Of Fortran order, with a fill value and a missing chunk.
    array = group.create_dataset("inner/fortran", shape=(5, 7), dtype=">i2", fill_value=-7, order="F",
                                 compressor=Zlib(1), dimension_separator="/", **settings)
    array[:4] = items[:4]
    array.attrs.update(_ARRAY_DIMENSIONS=["y", "x"], units="K")
    array = group.create_dataset("blosc", shape=(60, 100), chunks=(20, 100), dtype="<i4",
                                 compressor=Blosc("lz4", 5, Blosc.SHUFFLE), overwrite=True)
    array[:] = large
    store = zarr.ZipStore("codecs.zarr.zip", mode="w")
    group = zarr.group(store)
    for name, codec in {"lz4": LZ4(), "gzip": GZip(1), "zstd": Zstd(1), "none": None}.items():
        group.create_dataset(name, data=items, compressor=codec, filters=[Shuffle(4)], **settings)
    store.close()
else:
    from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

    settings = {"shape": (5, 7), "chunks": (2, 4), "overwrite": True}
    group = zarr.create_group("three.zarr", overwrite=True)
    array = group.create_array("transposed", dtype="f4", fill_value=float("nan"), attributes={"k": [1, float("nan")]},
                               filters=[TransposeCodec(order=(1, 0))], compressors=[GzipCodec(), Crc32cCodec()],
                               serializer=BytesCodec(endian="big"), dimension_names=("y", None), **settings)
    array[:4] = items[:4]
    array = group.create_array("sharded", dtype="i4", shards=(4, 8), compressors=[ZstdCodec(checksum=True)],
                               fill_value=3, **settings)
    array[:2] = items[:2]
    array = group.create_array("blosc", shape=(60, 100), chunks=(20, 100), dtype="i4", compressors=[BloscCodec(cname="zstd", shuffle="bitshuffle")], overwrite=True)
    array[:] = large
    from zarr.codecs import ShardingCodec
    array = zarr.create(store="start.zarr", shape=(5, 7), chunks=(4, 8), dtype="i4", zarr_format=3, overwrite=True, fill_value=0,
                        codecs=[ShardingCodec(chunk_shape=(2, 4), index_location="start", codecs=[BytesCodec(), BloscCodec()])])
    array[:] = items
