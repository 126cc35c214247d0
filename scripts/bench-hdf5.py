"""Times Ferroblosc's HDF5 filters against hdf5plugin's; `make bench-hdf5` runs it.

usage: bench-hdf5.py PLUGINS, the directory of Ferroblosc's two plugins

Calls the filter functions as HDF5 does, but without HDF5. A process loads the plugins of one side
only: what one side leaves in the heap decides how often the other one gets fresh pages. Processes of
both sides take turns. A process counts the median of its calls, and the best process counts. A ratio
above 1 means that Ferroblosc is faster. The first table has one thread and processor time. The
second one has elapsed time and the threads of BLOSC_NTHREADS or, without it, the default: 1 of
hdf5plugin, the processors of Ferroblosc.
"""

import ctypes
import json
import os
import subprocess
import sys
import time

import hdf5plugin
import numpy

PROCESSES = 5
CALLS = 25
# With one thread its processor time, so that other programs disturb less.
CLOCK = time.thread_time if os.environ.get("BLOSC_NTHREADS") == "1" else time.perf_counter
REVERSE = 0x100
SHAPE = (512, 512)
FILTERS = (32001, 32026)
CODECS = {0: "blosclz", 1: "lz4", 5: "zstd"}
OURS = {32001: "libH5Zblosc.so", 32026: "libH5Zblosc2.so"}
THEIRS = {32001: "libh5blosc.so", 32026: "libh5blosc2.so"}

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


def call(function, flags, values, data, is_wanted=True):
    """Passes bytes through a filter; returns the output, if it is wanted, and the seconds used."""
    buffer = ctypes.c_void_p(libc.malloc(len(data)))
    ctypes.memmove(buffer, data, len(data))
    size = ctypes.c_size_t(len(data))
    numbers = (ctypes.c_uint * len(values))(*values)
    start = CLOCK()
    length = function(flags, len(values), numbers, len(data), ctypes.byref(size), ctypes.byref(buffer))
    seconds = CLOCK() - start
    # Copies of all outputs would decide how often the allocator returns memory to the system.
    result = ctypes.string_at(buffer, length) if is_wanted else None
    libc.free(buffer)
    assert length, "the filter failed"
    return result, seconds


def median(function, flags, values, data):
    """Returns the output of a filter and the median of the seconds of some calls."""
    taken = []
    for _ in range(CALLS):
        taken.append(call(function, flags, values, data, is_wanted=False)[1])
    return call(function, flags, values, data)[0], sorted(taken)[CALLS // 2]


def values_of(number, code, size):
    """Returns the filter's values for level 5 and a byte shuffle of items of 8 bytes."""
    values = [2 if number == 32001 else 1, 2 if number == 32001 else 0, 8, size, 5, 1, code]
    return values + [2, *SHAPE] if number == 32026 else values


def measure(folder, names):
    """Prints the seconds to compress and to decompress, and the size, of each filter and codec."""
    row, column = numpy.mgrid[0 : SHAPE[0], 0 : SHAPE[1]]
    field = numpy.round(numpy.sin(row / 40) * numpy.cos(column / 60) * 1000, 1)
    data = field.astype("f8").tobytes()
    rows = []
    for number in FILTERS:
        function = load(f"{folder}/{names[number]}")
        for code in CODECS:
            values = values_of(number, code, len(data))
            stored, write = median(function, 0, values, data)
            back, read = median(function, REVERSE, values, stored)
            assert back == data
            rows.append((write, read, len(stored)))
    print(json.dumps(rows))


def best(processes):
    """Returns the rows of the best of some processes."""
    return [tuple(map(min, zip(*rows))) for rows in zip(*processes)]


def compare(folder, environment, threads):
    """Prints a table for the processes of an environment."""
    sides = ((folder, "ours"), (hdf5plugin.PLUGIN_PATH, "theirs"))
    processes = ([], [])
    for _ in range(PROCESSES):
        for rows, (plugins, side) in zip(processes, sides):
            command = [sys.executable, __file__, plugins, side]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
            rows.append(json.loads(done.stdout))
    size = SHAPE[0] * SHAPE[1] * 8
    print(f"chunks of {SHAPE[0]} x {SHAPE[1]} f8, level 5, byte shuffle, {threads}")
    print("filter codec    | compress: ours MB/s  ratio | decompress: ours MB/s  ratio | bytes ours/theirs")
    kinds = [(number, name) for number in FILTERS for name in CODECS.values()]
    for (number, name), ours, theirs in zip(kinds, best(processes[0]), best(processes[1])):
        write, read, length = (theirs[i] / ours[i] for i in range(3))
        print(
            f"{number}  {name:8} | {size / ours[0] / 1e6:20.0f} {write:6.2f} | "
            f"{size / ours[1] / 1e6:22.0f} {read:6.2f} | {1 / length:.3f}"
        )


def main(folder):
    compare(folder, {**os.environ, "BLOSC_NTHREADS": "1"}, "1 thread")
    number = os.environ.get("BLOSC_NTHREADS")
    compare(folder, os.environ, f"{number} threads" if number else "default threads")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        measure(sys.argv[1], OURS if sys.argv[2] == "ours" else THEIRS)
    else:
        main(sys.argv[1])
