"""Times Ferroblosc's HDF5 filters against hdf5plugin's; `make bench-hdf5` runs it.

usage: bench-hdf5.py PLUGINS, the directory of Ferroblosc's two plugins

Calls the filter functions as HDF5 does, but without HDF5. Each turn runs both filters on the same
chunk, and the best turn counts. A ratio above 1 means that Ferroblosc is faster.
"""

import ctypes
import os
import sys
import time

import hdf5plugin
import numpy

TURNS = 25
# With one thread its processor time, so that other programs disturb less.
CLOCK = time.thread_time if os.environ.get("BLOSC_NTHREADS", "1") == "1" else time.perf_counter
REVERSE = 0x100
SHAPE = (512, 512)

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


class FilterClass(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_int),
        ("id", ctypes.c_int),
        ("encoder", ctypes.c_uint),
        ("decoder", ctypes.c_uint),
        ("name", ctypes.c_char_p),
        ("can_apply", ctypes.c_void_p),
        ("set_local", ctypes.c_void_p),
        ("filter", ctypes.c_void_p),
    ]


FUNCTION = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.c_uint,
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_uint),
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_size_t),
    ctypes.POINTER(ctypes.c_void_p),
)


def load(path):
    library = ctypes.CDLL(path)
    library.H5PLget_plugin_info.restype = ctypes.POINTER(FilterClass)
    return FUNCTION(library.H5PLget_plugin_info().contents.filter)


def call(function, flags, values, data):
    """Passes bytes through a filter; returns the output and the seconds used."""
    buffer = ctypes.c_void_p(libc.malloc(len(data)))
    ctypes.memmove(buffer, data, len(data))
    size = ctypes.c_size_t(len(data))
    numbers = (ctypes.c_uint * len(values))(*values)
    start = CLOCK()
    length = function(flags, len(values), numbers, len(data), ctypes.byref(size), ctypes.byref(buffer))
    seconds = CLOCK() - start
    result = ctypes.string_at(buffer, length)
    libc.free(buffer)
    assert length, "the filter failed"
    return result, seconds


def best(pair, flags, values, inputs):
    """Returns the best seconds of both filters, ours first, and their last results."""
    seconds, results = [1e9, 1e9], [b"", b""]
    for _ in range(TURNS):
        for which in (0, 1):
            results[which], taken = call(pair[which], flags, values, inputs[which])
            seconds[which] = min(seconds[which], taken)
    return seconds, results


def main(folder):
    theirs = hdf5plugin.PLUGIN_PATH
    filters = {
        32001: (load(f"{folder}/libH5Zblosc.so"), load(f"{theirs}/libh5blosc.so")),
        32026: (load(f"{folder}/libH5Zblosc2.so"), load(f"{theirs}/libh5blosc2.so")),
    }
    row, column = numpy.mgrid[0 : SHAPE[0], 0 : SHAPE[1]]
    field = numpy.round(numpy.sin(row / 40) * numpy.cos(column / 60) * 1000, 1)
    data = field.astype("f8").tobytes()
    print(f"chunks of {SHAPE[0]} x {SHAPE[1]} f8, level 5, byte shuffle, {os.environ.get('BLOSC_NTHREADS', 1)} thread")
    print("filter codec    | compress: ours MB/s  ratio | decompress: ours MB/s  ratio | bytes ours/theirs")
    for number, pair in filters.items():
        for code, name in ((0, "blosclz"), (1, "lz4"), (5, "zstd")):
            values = [2 if number == 32001 else 1, 2 if number == 32001 else 0, 8, len(data), 5, 1, code]
            if number == 32026:
                values += [2, *SHAPE]
            into, stored = best(pair, 0, values, (data, data))
            back, read = best(pair, REVERSE, values, stored)
            assert read[0] == read[1] == data
            rate = [len(data) / seconds / 1e6 for seconds in (into[0], back[0])]
            print(
                f"{number}  {name:8} | {rate[0]:20.0f} {into[1] / into[0]:6.2f} | "
                f"{rate[1]:22.0f} {back[1] / back[0]:6.2f} | {len(stored[0]) / len(stored[1]):.3f}"
            )


if __name__ == "__main__":
    main(sys.argv[1])
