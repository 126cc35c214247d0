"""Tests of direct chunk access, with python-blosc2 as the other reader and writer.

    direct.py PLUGIN FILE       PLUGIN is a directory for HDF5_PLUGIN_PATH, FILE is created
"""

import os
import sys

os.environ["HDF5_PLUGIN_PATH"] = sys.argv[1]

import blosc2
import h5py
import numpy

BLOSC, BLOSC2 = 32001, 32026
SHAPE = (32, 48)
VALUES = numpy.arange(32 * 48, dtype="<i4").reshape(SHAPE) // 3


def create(file, name, number, values=VALUES, options=(0, 0, 0, 0, 5, 1, 5), mandatory=True):
    """Creates a dataset of one chunk, without data."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(values.shape)
    properties.set_filter(number, 0 if mandatory else h5py.h5z.FLAG_OPTIONAL, options)
    space = h5py.h5s.create_simple(values.shape)
    datatype = h5py.h5t.py_create(values.dtype, logical=True)
    return h5py.Dataset(h5py.h5d.create(file.id, name.encode(), datatype, space, properties))


def origin(dataset):
    return (0,) * dataset.ndim


def ours_read_by_blosc2(file):
    """Reads chunks written by our plugins with python-blosc2."""
    count = 0
    for codec in range(6):
        dataset = create(file, f"stored-blosc-{codec}", BLOSC, options=(0, 0, 0, 0, 5, 1, codec))
        dataset[...] = VALUES
        mask, stored = dataset.id.read_direct_chunk(origin(dataset))
        assert mask == 0
        # python-blosc2 does not support Snappy.
        if codec != 3:
            assert blosc2.decompress2(stored) == VALUES.tobytes(), codec
            count += 1
    for codec in (0, 1, 2, 4, 5):
        for shuffle in (0, 1, 2, 3):
            options = (0, 0, 0, 0, 5, shuffle, codec)
            dataset = create(file, f"stored-blosc2-{codec}-{shuffle}", BLOSC2, options=options)
            dataset[...] = VALUES
            stored = dataset.id.read_direct_chunk(origin(dataset))[1]
            array = blosc2.ndarray_from_cframe(stored)
            assert array.shape == array.chunks == SHAPE and array.dtype == numpy.dtype("V4")
            assert array[...].tobytes() == VALUES.tobytes()
            count += 1
            dataset = create(file, f"flat-{codec}-{shuffle}", BLOSC2, VALUES.ravel(), options)
            dataset[...] = VALUES.ravel()
            schunk = blosc2.schunk_from_cframe(dataset.id.read_direct_chunk((0,))[1])
            assert schunk.typesize == 4 and schunk[:] == VALUES.tobytes()
            count += 1
    print(f"   {count} chunks of ours read by python-blosc2")


def parts_by_offset(path):
    """Opens a frame at its offset in the file and reads a slice without HDF5."""
    with h5py.File(path, "r") as file:
        dataset = file["stored-blosc2-5-1"]
        offset = dataset.id.get_chunk_info(0).byte_offset
    array = blosc2.open(path, mode="r", offset=offset)
    part = numpy.ascontiguousarray(array[3:9, 40:47]).tobytes()
    assert part == VALUES[3:9, 40:47].tobytes()
    print("   a slice of a frame read at its offset in the file")


def made_by_blosc2(file):
    """Writes frames of other codecs, filters and partitions directly and reads them."""
    floats = numpy.linspace(0, 7, VALUES.size).reshape(SHAPE)
    recipes = [({"codec": codec}, VALUES) for codec in blosc2.compressor_list()]
    recipes += [({"codec": codec, "clevel": 9, "filters": [f]}, VALUES) for codec in blosc2.compressor_list()
                for f in (blosc2.Filter.NOFILTER, blosc2.Filter.SHUFFLE, blosc2.Filter.BITSHUFFLE, blosc2.Filter.DELTA)]
    recipes += [
        ({"filters": [blosc2.Filter.BYTEDELTA], "filters_meta": [4]}, VALUES),
        ({"filters": [blosc2.Filter.SHUFFLE, blosc2.Filter.BYTEDELTA], "filters_meta": [0, 4]}, VALUES),
        ({"filters": [blosc2.Filter.INT_TRUNC], "filters_meta": [20]}, VALUES),
        ({"filters": [blosc2.Filter.TRUNC_PREC, blosc2.Filter.SHUFFLE], "filters_meta": [20, 0]}, floats),
        ({"codec": blosc2.Codec.NDLZ, "codec_meta": 4, "filters": []}, VALUES.astype("u1")),
    ]
    for codec, meta in ((blosc2.Codec.ZFP_PREC, 30), (blosc2.Codec.ZFP_RATE, 50)):
        recipes.append(({"codec": codec, "codec_meta": meta, "filters": [], "filters_meta": []}, floats))
    partitions = [(SHAPE, SHAPE), (SHAPE, (5, 7)), ((16, 16), (8, 8)), ((20, 13), (6, 5)), ((64, 64), (16, 48))]
    count = 0
    for recipe, values in recipes:
        for chunks, blocks in partitions:
            # python-blosc2 cannot write NDLZ with blocks that are not multiples of its cells.
            if recipe.get("codec") == blosc2.Codec.NDLZ and blocks == (6, 5):
                continue
            cparams = {"typesize": values.itemsize, "nthreads": 1, **recipe}
            array = blosc2.asarray(values, chunks=chunks, blocks=blocks, cparams=cparams)
            expected = array[...]
            dataset = create(file, f"made-{count}", BLOSC2, values)
            dataset.id.write_direct_chunk(origin(dataset), array.to_cframe())
            assert dataset[...].tobytes() == expected.tobytes(), (recipe, chunks, blocks)
            assert dataset[3:9, 40:47].tobytes() == expected[3:9, 40:47].tobytes()
            count += 1
    flat = VALUES.ravel()
    for chunksize in (len(flat) * 4, 2000, 4):
        schunk = blosc2.SChunk(chunksize=chunksize, data=flat, contiguous=True, cparams={"typesize": 4})
        dataset = create(file, f"schunk-{chunksize}", BLOSC2, flat)
        dataset.id.write_direct_chunk((0,), schunk.to_cframe())
        assert dataset[...].tobytes() == flat.tobytes()
        count += 1
    print(f"   {count} frames of python-blosc2 read")


def store_unfiltered(file):
    """Writes chunks that are marked as unfiltered."""
    for number in (BLOSC, BLOSC2):
        dataset = create(file, f"masked-{number}", number)
        dataset.id.write_direct_chunk(origin(dataset), VALUES.tobytes(), filter_mask=1)


def read_unfiltered(path):
    """Reads unfiltered chunks. HDF5 recognises the mark only after reopening the file."""
    with h5py.File(path, "r") as file:
        for number in (BLOSC, BLOSC2):
            assert (file[f"masked-{number}"][...] == VALUES).all()
    print("   chunks without the filter read")


def broken_chunks(path):
    """Writes invalid chunks, for which h5dump must print the reason."""
    with h5py.File(path, "w") as file:
        for number in (BLOSC, BLOSC2):
            dataset = create(file, f"broken-{number}", number)
            dataset.id.write_direct_chunk(origin(dataset), b"\2\1\1\4" + b"?" * 50)
            try:
                dataset[...]
                raise SystemExit(f"a broken chunk of {number} was read")
            except OSError:
                pass


if __name__ == "__main__":
    target = sys.argv[2]
    with h5py.File(target, "w") as created:
        ours_read_by_blosc2(created)
        made_by_blosc2(created)
        store_unfiltered(created)
    read_unfiltered(target)
    parts_by_offset(target)
    broken_chunks(target + ".broken")
