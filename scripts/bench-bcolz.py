"""Times libferroblosc.so.0 and bcolz-zipline 1.13.0 in one process; `make bench-bcolz` runs it.

usage: bench-bcolz.py LIBRARY [MILLIONS [ROUNDS]], with the Python of scripts/reference.sh bcolz

The tasks are reading all rows, reading 1000 random rows, and appending a million rows in batches,
each with one thread and with one thread per core. The libraries alternate, and the best round
counts. Both read directories written by bcolz. Each append writes a new directory, because creating
files is slow in a directory that was just emptied.
"""

import ctypes
import os
import shutil
import sys
import tempfile
import time

import bcolz
import numpy

MILLIONS = float(sys.argv[2]) if len(sys.argv) > 2 else 10
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 7
RANDOM_ROWS = 1000
APPENDED = 1_000_000
PIECES = [1_000, 10_000, 100_000]


class Spec(ctypes.Structure):
    """`bcolz_spec`."""

    _fields_ = [
        ("dtype", ctypes.c_char_p),
        ("row_shape", ctypes.c_void_p),
        ("dflt", ctypes.c_char_p),
        ("cname", ctypes.c_char_p),
        ("chunklen", ctypes.c_int64),
        ("expectedlen", ctypes.c_int64),
        ("ndim", ctypes.c_int),
        ("clevel", ctypes.c_int),
        ("shuffle", ctypes.c_int),
        ("quantize", ctypes.c_int),
    ]


def load(path):
    """Loads the library and declares its functions' types."""
    library = ctypes.CDLL(path)
    pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    for name, result, arguments in [
        ("open", pointer, [text, text]),
        ("spec_default", ctypes.c_int, [ctypes.POINTER(Spec), text]),
        ("create", pointer, [text, text, ctypes.POINTER(Spec)]),
        ("read", ctypes.c_int, [pointer, ctypes.c_int, ctypes.c_int64, pointer, size]),
        ("append", ctypes.c_int, [pointer, pointer, size]),
        ("set_threads", ctypes.c_int, [pointer, ctypes.c_int]),
        ("close", ctypes.c_int, [pointer]),
    ]:
        function = getattr(library, "bcolz_" + name)
        function.restype, function.argtypes = result, arguments
    return library


OURS = load(sys.argv[1])


def done(code):
    if code != 0:
        raise RuntimeError(f"error {code}")


class Ferroblosc:
    """Ferroblosc's tasks: each returns the rows read or the path of the directory written."""

    def __init__(self, threads):
        self.threads = threads

    def opened(self, root):
        handle = OURS.bcolz_open(root.encode(), b"r")
        done(OURS.bcolz_set_threads(handle, self.threads))
        return handle

    def read_all(self, root, like):
        handle = self.opened(root)
        rows = numpy.empty_like(like)
        done(OURS.bcolz_read(handle, 0, 0, rows.ctypes.data, rows.nbytes))
        done(OURS.bcolz_close(handle))
        return rows

    def read_rows(self, root, like, numbers):
        handle = self.opened(root)
        rows = numpy.empty(len(numbers), like.dtype)
        place = rows.ctypes.data
        for k, number in enumerate(numbers):
            done(OURS.bcolz_read(handle, 0, number, place + k * rows.itemsize, rows.itemsize))
        done(OURS.bcolz_close(handle))
        return rows

    def append(self, root, rows, piece):
        spec = Spec()
        done(OURS.bcolz_spec_default(spec, rows.dtype.name.encode()))
        spec.expectedlen = len(rows)
        handle = OURS.bcolz_create(root.encode(), b"a", spec)
        done(OURS.bcolz_set_threads(handle, self.threads))
        place, step = rows.ctypes.data, piece * rows.itemsize
        for start in range(0, rows.nbytes, step):
            done(OURS.bcolz_append(handle, place + start, min(step, rows.nbytes - start)))
        done(OURS.bcolz_close(handle))
        return root


class Zipline:
    """The same tasks with bcolz-zipline."""

    def __init__(self, threads):
        self.threads = threads

    def opened(self, root):
        bcolz.blosc_set_nthreads(self.threads)
        return bcolz.open(root, mode="r")

    def read_all(self, root, like):
        return self.opened(root)[:]

    def read_rows(self, root, like, numbers):
        array = self.opened(root)
        rows = numpy.empty(len(numbers), like.dtype)
        for k, number in enumerate(numbers):
            rows[k] = array[number]
        return rows

    def append(self, root, rows, piece):
        bcolz.blosc_set_nthreads(self.threads)
        array = bcolz.carray(rows[:0], rootdir=root, mode="w", expectedlen=len(rows))
        for start in range(0, len(rows), piece):
            array.append(rows[start : start + piece])
        array.flush()
        return root


def timed(task, *arguments):
    start = time.perf_counter()
    result = task(*arguments)
    return time.perf_counter() - start, result


def race(name, threads, task, check):
    """Times `task(side)` for both libraries and passes each result to `check`."""
    best = {}
    for _ in range(ROUNDS):
        for side in (Ferroblosc(threads), Zipline(threads)):
            took, result = timed(task, side)
            check(result)
            kind = type(side)
            best[kind] = min(took, best.get(kind, took))
    ours, theirs = best[Ferroblosc] * 1e3, best[Zipline] * 1e3
    print(f"{name:44}{threads:8}{ours:12.2f}{theirs:12.2f}{theirs / ours:8.1f}", flush=True)


def columns(length):
    """Yields (name, rows), from highly compressible to almost incompressible."""
    random = numpy.random.default_rng(1)
    yield "int64 in order", numpy.arange(length, dtype="int64")
    yield "float64 prices", (1000 + random.normal(0, 1, length).cumsum()).round(2)
    yield "uint32 noise", random.integers(0, 1 << 20, length, dtype="uint32")


def main():
    print(f"{MILLIONS:g} million rows, best of {ROUNDS}; milliseconds")
    print(f"{'':44}{'threads':>8}{'Ferroblosc':>12}{'bcolz':>12}{'ratio':>8}")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        for kind, rows in columns(int(MILLIONS * 1e6)):
            root = os.path.join(folder, kind.replace(" ", "-"))
            bcolz.carray(rows, rootdir=root, mode="w").flush()
            numbers = numpy.random.default_rng(2).integers(0, len(rows), RANDOM_ROWS).tolist()
            few = rows[:APPENDED]

            def same(expected):
                def check(result):
                    assert numpy.array_equal(result, expected)

                return check

            def written(new):
                assert numpy.array_equal(bcolz.open(new, mode="r")[:], few)

            def new():
                return tempfile.mkdtemp(dir=folder) + "/new"

            for threads in sorted({1, os.cpu_count()}):
                race(f"{kind}: read all", threads, lambda side: side.read_all(root, rows), same(rows))
                race(
                    f"{kind}: read {RANDOM_ROWS} random rows",
                    threads,
                    lambda side: side.read_rows(root, rows, numbers),
                    same(rows[numbers]),
                )
                for piece in PIECES:
                    name = f"{kind}: append {len(few)} rows by {piece}"
                    race(name, threads, lambda side: side.append(new(), few, piece), written)
            shutil.rmtree(root)


main()
