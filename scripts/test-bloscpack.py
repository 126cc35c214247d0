"""Exchanges files between blpk and Bloscpack 0.16.0; scripts/test-clients.sh runs it.

usage: test-bloscpack.py BLPK DIRECTORY, with the Python of scripts/reference.sh bloscpack
"""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys

import bloscpack
import numpy
from bloscpack import args as blp_args
from bloscpack.append import append as their_append

BLPK, FOLDER = os.path.abspath(sys.argv[1]), sys.argv[2]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORDINGS = os.path.join(ROOT, "tools", "blpk", "tests")
DATA = os.path.join(ROOT, "formats", "tests", "data", "bloscpack")
CHECKSUMS = ["None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
METADATA = {"dtype": "float64", "shape": [1024], "others": ["ä", None, 1.5, 10**30, True]}


def blpk(*words):
    subprocess.run([BLPK, "-q", "-n", "2", "-f", *map(str, words)], cwd=FOLDER, check=True)


def path(name):
    return os.path.join(FOLDER, name)


def write(name, data):
    with open(path(name), "wb") as file:
        file.write(data)


def read(name):
    with open(path(name), "rb") as file:
        return file.read()


def theirs(name):
    """Reads a file with Bloscpack."""
    data, metadata = bloscpack.unpack_bytes_from_file(path(name))
    return data, metadata


def ours(name):
    """Reads a file with Ferroblosc's blpk."""
    blpk("d", name, "back")
    assert subprocess.run([BLPK, "-q", "verify", path(name)], check=False).returncode == 0
    return read("back")


def data_of(size):
    """Returns partly compressible bytes."""
    numbers = numpy.arange(size // 8 + 1, dtype="i8") // 3
    noise = numpy.random.RandomState(size).bytes(size // 4)
    return (numbers.tobytes()[: size - len(noise)] + noise)[:size]


def options():
    """Yields combinations of codec, checksum, level, filter and size."""
    sizes = [0, 1, 999, 1000, 1001, 10_000, 100_003]
    yield from itertools.chain(
        itertools.product(CODECS, CHECKSUMS, [7], [[]], sizes),
        itertools.product(CODECS, ["adler32"], [0, 1, 9], [["-s"], ["--bit-shuffle"], ["-o"]], sizes),
    )


def check_both_ways():
    count = 0
    write("meta.json", json.dumps(METADATA).encode())
    for codec, checksum, level, extra, size in options():
        data = data_of(size)
        write("data", data)
        with_metadata = size % 2 == 1
        meta = ["-m", "meta.json"] if with_metadata else []
        blpk("c", "-c", codec, "-k", checksum, "-l", level, "-z", 1000, *extra, *meta, "data", "x.blp")
        back, metadata = theirs("x.blp")
        assert back == data, (codec, checksum, level, extra, size)
        assert metadata == (METADATA if with_metadata else None)
        bloscpack.pack_bytes_to_file(
            data,
            path("y.blp"),
            chunk_size=1000,
            metadata=METADATA if with_metadata else None,
            blosc_args=blp_args.BloscArgs(cname=codec, clevel=level, shuffle="-s" not in extra),
            bloscpack_args=blp_args.BloscpackArgs(checksum=checksum, offsets="-o" not in extra),
        )
        assert ours("y.blp") == data, (codec, checksum, level, extra, size)
        count += 2
    return count


def check_appending():
    """Checks that each tool appends to files of the other, alternately."""
    count = 0
    for first, second, third in itertools.product([700, 1000, 1001, 2500], [0, 1, 500, 2500], [1, 1500]):
        parts = [data_of(first), data_of(second), data_of(third)]
        for order in [("ours", "theirs"), ("theirs", "ours")]:
            write("data", parts[0])
            blpk("c", "-z", 1000, "-m", "meta.json", "data", "x.blp")
            for who, part in zip(order, parts[1:]):
                write("part", part)
                if who == "ours":
                    blpk("a", "x.blp", "part")
                elif part:
                    their_append(path("x.blp"), path("part"))
            whole = b"".join(parts)
            assert theirs("x.blp") == (whole, METADATA), (first, second, third, order)
            assert ours("x.blp") == whole, (first, second, third, order)
            count += 1
    return count


def check_arrays():
    arrays = [
        numpy.arange(3600.0).reshape(24, 30, 5),
        numpy.asfortranarray(numpy.arange(60, dtype="i4").reshape(6, 10)),
        numpy.arange(10, dtype=">i8"),
        numpy.array(["abc", "de", "é"]),
        numpy.array([b"abc", b"hello"]),
        numpy.arange(5).astype("M8[s]"),
        numpy.array(3.0),
        numpy.zeros((0, 3)),
        numpy.array([(b"x", k) for k in range(50)], dtype=[("a", "S1"), ("b", "<f8")]),
        numpy.zeros(4, dtype=[("year", "<i4"), ("c", [("iso", "S3"), ("v", "<f4", (2,))])]),
    ]
    for array in arrays:
        numpy.save(path("in.npy"), array)
        blpk("c", "--npy", "in.npy", "x.blp")
        back = bloscpack.unpack_ndarray_from_file(path("x.blp"))
        assert back.dtype == array.dtype and numpy.array_equal(back, array), array.dtype
        bloscpack.pack_ndarray_to_file(array, path("y.blp"))
        blpk("d", "--npy", "y.blp", "out.npy")
        back = numpy.load(path("out.npy"))
        assert back.dtype == array.dtype and numpy.array_equal(back, array), array.dtype
        assert back.flags.f_contiguous == array.flags.f_contiguous
    return 2 * len(arrays)


def recorded(name):
    """Returns the command lines of a recording, each with its recorded output lines."""
    blocks = []
    with open(os.path.join(RECORDINGS, name), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("$"):
                blocks.append((line[2:], []))
            elif blocks:
                blocks[-1][1].append(line)
    return blocks


def output_of_bloscpack(line):
    """Returns the output of a Bloscpack command line, in the format of the recordings."""
    program = os.path.join(os.path.dirname(sys.executable), "blpk")
    result = subprocess.run(
        [program, *line.split()],
        cwd=FOLDER,
        env={**os.environ, "COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    stdout, errors = result.stdout.splitlines(), result.stderr.splitlines()
    lines = [f"? {result.returncode}", *(f"> {line}" for line in stdout)]
    if "Traceback (most recent call last):" in errors:
        lines.append(f"^ {errors[-1]}")
    else:
        lines += [f"! {line}" for line in errors]
    # The address of a function differs between runs.
    return [re.sub(" at 0x[0-9a-f]+", "", line) for line in lines]


def check_recordings():
    """Checks that Bloscpack still prints the recordings that the tests of blpk compare with."""
    count = 0
    for name in ["recorded.txt", "recorded_verbose.txt"]:
        for old in os.listdir(FOLDER):
            os.unlink(path(old))
        write("in", numpy.arange(300_000, dtype="<i8").tobytes())
        write("small", b"0123456789")
        write("zero", b"")
        write("m.json", b'{"dtype": "float64", "shape": [200000000], "container": "numpy"}')
        write("null.json", b"null")
        write("tiny.json", b'{"dtype": "float32"}')
        for container in ["iota_maxapp0.blp", "meta_nochecksum_nooffsets.blp"]:
            shutil.copy(os.path.join(DATA, container), FOLDER)
        for line, expected in recorded(name):
            actual = output_of_bloscpack(line)
            assert actual == expected, "\n".join([f"{name} must be:", f"$ {line}", *actual])
            count += 1
    return count


print(f"   {check_both_ways()} files of every codec, checksum, filter and edge case, written by one tool, read by the other")
print(f"   {check_appending()} files appended to by both in turn")
print(f"   {check_arrays()} arrays")
print(f"   {check_recordings()} command lines with the recorded output")
