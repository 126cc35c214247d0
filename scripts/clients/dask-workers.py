"""Writes or reads Zarr arrays with Dask workers: dask-workers.py write|read DIRECTORY LIBRARY.

Each worker reports the libblosc its process loaded, which must be LIBRARY. The main process
compresses with threads before the workers start, so forked workers inherit an initialized library.
"""

import os
import sys

import dask
import dask.array as da
import numcodecs
import numpy as np
import zarr

SHAPE, CHUNKS = (600, 500), (100, 100)
CODECS = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]
SCHEDULERS = {
    "threads": {"scheduler": "threads", "num_workers": 4},
    "fork": {"scheduler": "processes", "num_workers": 2, "multiprocessing.context": "fork"},
    "spawn": {"scheduler": "processes", "num_workers": 2, "multiprocessing.context": "spawn"},
}


def data():
    return np.add.outer(np.arange(SHAPE[0]) * 1000, np.arange(SHAPE[1])).astype("f8")


def library():
    """Returns the path of the libblosc this process loaded."""
    with open("/proc/self/maps") as maps:
        return {line.split()[-1] for line in maps if "/libblosc.so" in line}


def part(array, row, column):
    """Returns the block that begins at (row, column)."""
    return array[row : row + CHUNKS[0], column : column + CHUNKS[1]]


def write_block(array, row, column, block):
    array[row : row + CHUNKS[0], column : column + CHUNKS[1]] = block
    return os.getpid(), library()


def read_block(array, row, column):
    return os.getpid(), library(), part(array, row, column)


def check_workers(how, answers, expected):
    """Checks the library of every worker and returns the number of processes."""
    workers = {answer[0] for answer in answers}
    assert all(answer[1] == {expected} for answer in answers), (how, [answer[1] for answer in answers])
    assert (workers == {os.getpid()}) == (how == "threads"), (how, workers)
    return len(workers)


def main():
    doing, folder, expected = sys.argv[1:]
    whole = data()
    numcodecs.blosc.set_nthreads(4)
    warm = numcodecs.Blosc("lz4")
    assert warm.decode(warm.encode(whole)) == whole.tobytes()

    places = [(row, column) for row in range(0, SHAPE[0], CHUNKS[0]) for column in range(0, SHAPE[1], CHUNKS[1])]
    for how, options in SCHEDULERS.items():
        paths = [f"{folder}/{how}-{codec}.zarr" for codec in CODECS]
        with dask.config.set(options):
            if doing == "write":
                tasks = []
                for codec, path in zip(CODECS, paths):
                    compressor = numcodecs.Blosc(codec, clevel=5, shuffle=numcodecs.Blosc.SHUFFLE)
                    array = zarr.open(path, mode="w", shape=SHAPE, chunks=CHUNKS, dtype="f8", compressor=compressor)
                    tasks += [dask.delayed(write_block)(array, *place, part(whole, *place)) for place in places]
                check_workers(how, dask.compute(*tasks), expected)

            arrays = [zarr.open(path, mode="r") for path in paths]
            assert all(array.nbytes_stored < whole.nbytes / 2 for array in arrays)
            answers = dask.compute(*[dask.delayed(read_block)(array, *place) for array in arrays for place in places])
            workers = check_workers(how, answers, expected)
            for index, answer in enumerate(answers):
                assert (answer[2] == part(whole, *places[index % len(places)])).all()
            # Dask's own array operations read the same data.
            assert dask.compute(*[da.from_zarr(path).sum() for path in paths]) == (whole.sum(),) * len(paths)
        print(f"   {doing} {how}: {workers} process(es) with {expected}")
    with open("count", "w") as out:
        print(len(SCHEDULERS) * len(CODECS), file=out)


if __name__ == "__main__":
    main()
