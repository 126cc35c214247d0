"""Times whole programs with Ferroblosc and with the originals, in turns.

`make bench-programs` runs it.

usage: bench-programs.py DIRECTORY [--runs N] [--megabytes N] [--only WORD] [--bloscpack DIRECTORY]
                         [--zarr DIRECTORY]

DIRECTORY contains Ferroblosc's libraries, plugins and programs. Each row runs the same program as a
process with both sides N times, A B B A, and prints both medians and the median of the ratios of
the pairs. A ratio above 1 means that the side of Ferroblosc is faster.

    h5py      writes or reads a file with the HDF5 plugins of Ferroblosc, and with hdf5plugin's;
              the time is that of the calls of h5py, without the start of Python
    tables    Debian's PyTables with Ferroblosc's libblosc.so.1, and with Debian's; the same
    b2, zstd  `b2 compress` at its default level 5 and at level 2, and `zstd` at level 3 with as many
              threads; the time of the processes. The outputs have other sizes, which are printed
    h5repack  `b2 convert` of an HDF5 file without compression to one with filter 32001, and
              `h5repack` with the plugin of hdf5plugin
    nccopy    the same, and `nccopy` with that plugin
    zarr      `b2 convert` of a Zarr array without compression to one with Blosc, back, and to other
              parameters of Blosc, and zarr-python, which --zarr names, with the same chunks; the
              times of the processes
    blpk      `blpk` of Ferroblosc and Bloscpack's, which --bloscpack names

Rows whose programs are not installed are named and omitted. Files are in TMPDIR.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# The part of an h5py or PyTables program that is timed prints its seconds.
H5PY = """
import os, sys, time, h5py, numpy
if "HDF5_PLUGIN_PATH" not in os.environ:
    # The copy of HDF5 in h5py does not find hdf5plugin's filters by their path.
    import hdf5plugin
direction, path, source, number, code = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
data = numpy.load(source)
if direction == "write":
    with h5py.File(path, "w") as file:
        start = time.perf_counter()
        made = file.create_dataset("data", data.shape, data.dtype, chunks=(512, 512), compression=number,
                                   compression_opts=(0, 0, 0, 0, 5, 1, code))
        made[...] = data
        file.flush()
        print(time.perf_counter() - start)
else:
    with h5py.File(path, "r") as file:
        start = time.perf_counter()
        result = file["data"][...]
        print(time.perf_counter() - start)
    assert numpy.array_equal(result, data)
"""
TABLES = """
import sys, time, numpy, tables
direction, path, source, codec = sys.argv[1:5]
data = numpy.load(source)
filters = tables.Filters(complevel=5, complib="blosc:" + codec, shuffle=True)
if direction == "write":
    with tables.open_file(path, "w") as file:
        start = time.perf_counter()
        made = file.create_carray("/", "data", obj=data, filters=filters, chunkshape=(512, 512))
        file.flush()
        print(time.perf_counter() - start)
else:
    with tables.open_file(path, "r") as file:
        start = time.perf_counter()
        result = file.root.data[...]
        print(time.perf_counter() - start)
    assert numpy.array_equal(result, data)
"""
CODECS = (("blosclz", 0), ("lz4", 1), ("zstd", 5))


ZARR = """
import sys, zarr
source, target, codec, level, edge = sys.argv[1:6]
given = zarr.open_array(source, mode="r")
made = None
if codec != "none":
    made = zarr.codecs.BloscCodec(cname=codec, clevel=int(level), shuffle="shuffle", typesize=8)
edge = int(edge)
copied = zarr.create_array(target, shape=given.shape, chunks=(edge, edge), dtype=given.dtype,
                           compressors=made, overwrite=True)
for row in range(0, given.shape[0], edge):
    copied[row : row + edge] = given[row : row + edge]
"""


class Programs:
    """Runs pairs of programs and prints a row for each."""

    def __init__(self, runs, only):
        self.runs = runs
        self.only = only
        print(f"{'program':44} {'ours, s':>9} {'other, s':>9} {'ratio':>7}  remark")

    def wants(self, name):
        return self.only in name

    def pair(self, name, ours, other, remark=lambda: ""):
        """Times two calls in turns; each returns its seconds."""
        if not self.wants(name):
            return
        seconds = ([], [])
        # The first run of each reads its files and libraries from the disk.
        for call in (ours, other):
            call()
        for turn in range(self.runs):
            for side in (0, 1) if turn % 2 == 0 else (1, 0):
                seconds[side].append((ours, other)[side]())
        ratio = statistics.median(b / a for a, b in zip(*seconds))
        first, second = (statistics.median(values) for values in seconds)
        print(f"{name:44} {first:9.3f} {second:9.3f} {ratio:7.2f}  {remark()}", flush=True)


def printed(command, **variables):
    """Runs a program that prints its seconds; returns them."""
    output = subprocess.run(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, check=True, text=True)
    return float(output.stdout)


def of_process(command, output, **variables):
    """Runs a program that writes `output`; returns the duration of its process in seconds."""
    if output.is_dir():
        shutil.rmtree(output)
    output.unlink(missing_ok=True)
    start = time.perf_counter()
    subprocess.run(command, env={**os.environ, **variables}, stdout=subprocess.DEVNULL, check=True)
    seconds = time.perf_counter() - start
    assert size_of(output) > 0
    return seconds


def size_of(path):
    """Returns the size of a file, or of all files in a directory, in bytes."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def h5py_rows(programs, folder, scratch, source):
    plugins = scratch / "plugins"
    plugins.mkdir()
    for name in ("libH5Zblosc.so", "libH5Zblosc2.so"):
        shutil.copy(folder / name, plugins)
    variables = ({"HDF5_PLUGIN_PATH": str(plugins)}, {})
    files = (scratch / "ours.h5", scratch / "theirs.h5")
    for number in (32001, 32026):
        for codec, code in CODECS:
            for direction in ("write", "read"):

                def call(side):
                    # Both read the file that the original wrote.
                    file = files[side] if direction == "write" else files[1]
                    command = [sys.executable, "-c", H5PY, direction, file, source, str(number), str(code)]
                    return lambda: printed(command, **variables[side])

                programs.pair(f"h5py {number} {codec} {direction}", call(0), call(1))


def tables_rows(programs, folder, scratch, source):
    python = "/usr/bin/python3"
    check = subprocess.run([python, "-c", "import tables"], capture_output=True)
    if check.returncode != 0:
        print("NOT MEASURED: tables (Debian: apt-get install python3-tables)")
        return
    ours = scratch / "blosc1"
    ours.mkdir()
    shutil.copy(folder / "libblosc.so", ours / "libblosc.so.1")
    files = (scratch / "ours.h5", scratch / "theirs.h5")
    for codec, _ in CODECS:
        for direction in ("write", "read"):

            def call(side):
                file = files[side] if direction == "write" else files[1]
                variables = {"LD_LIBRARY_PATH": str(ours)} if side == 0 else {}
                return lambda: printed([python, "-c", TABLES, direction, file, source, codec], **variables)

            programs.pair(f"tables {codec} {direction}", call(0), call(1))


def b2_rows(programs, folder, scratch, raw, hdf5):
    b2 = folder / "b2"
    mine, other = scratch / "raw.b2frame", scratch / "raw.zst"
    if shutil.which("zstd"):
        # `b2` uses all processors.
        processors = len(os.sched_getaffinity(0))
        zstd = ["zstd", "-q", "-f", f"-T{processors}", raw, "-o", other]

        def sizes():
            return f"sizes {mine.stat().st_size / other.stat().st_size:.2f}"

        for level in ("2", "5"):
            compress = [b2, "compress", "--typesize", "8", "--level", level, raw, mine]
            programs.pair(
                f"b2 compress -l {level}, zstd",
                lambda: of_process(compress, mine),
                lambda: of_process(zstd, other),
                sizes,
            )
        back = scratch / "back"
        if mine.exists() and other.exists():
            programs.pair(
                "b2 decompress, zstd -d",
                lambda: of_process([b2, "decompress", mine, back], back),
                lambda: of_process(["zstd", "-q", "-f", "-d", other, "-o", back], back),
            )
    else:
        print("NOT MEASURED: zstd (Debian: apt-get install zstd)")
    if shutil.which("h5repack"):
        import hdf5plugin

        mine, other = scratch / "b2.h5", scratch / "h5repack.h5"
        # Filter 32001 with seven parameters: level 5, byte shuffle, LZ4.
        repack = ["h5repack", "-f", "UD=32001,0,7,0,0,0,0,5,1,1", "-l", "CHUNK=512x512", hdf5, other]
        convert = [b2, "convert", "--hdf5-filter", "32001", "--force", "--codec", "lz4", "--level", "5", "--chunks", "512,512"]
        sides = lambda command: (
            lambda: of_process([*convert, f"{hdf5}:/data", f"{mine}:/data"], mine),
            lambda: of_process(command, other, HDF5_PLUGIN_PATH=hdf5plugin.PLUGIN_PATH),
            lambda: f"sizes {size_of(mine) / size_of(other):.2f}",
        )
        programs.pair("b2 convert to HDF5, h5repack", *sides(repack))
        if shutil.which("nccopy"):
            chunks = "phony_dim_0/512,phony_dim_1/512"
            copy = ["nccopy", "-F", "data,32001,0,0,0,0,5,1,1", "-c", chunks, hdf5, other]
            programs.pair("b2 convert to HDF5, nccopy", *sides(copy))
        else:
            print("NOT MEASURED: nccopy (Debian: apt-get install netcdf-bin)")
    else:
        print("NOT MEASURED: h5repack (Debian: apt-get install hdf5-tools)")


def zarr_rows(programs, folder, scratch, source, python):
    if python is None:
        print("NOT MEASURED: zarr (--zarr names the folder of a Python with zarr-python 3)")
        return
    plain, packed = scratch / "plain.zarr", scratch / "packed.zarr"
    make = "import numpy, sys, zarr; a = numpy.load(sys.argv[1], mmap_mode='r'); " \
        "z = zarr.create_array(sys.argv[2], shape=a.shape, chunks=(512, 512), dtype=a.dtype, " \
        "compressors=None); z[...] = a"
    subprocess.run([python / "python", "-W", "ignore", "-c", make, source, plain], check=True)
    copy = [python / "python", "-W", "ignore", "-c", ZARR]
    subprocess.run([*copy, plain, packed, "lz4", "5", "512"], check=True)
    mine, other = scratch / "b2.zarr", scratch / "python.zarr"
    convert = [folder / "b2", "convert", "--force"]
    rows = (
        ("b2 convert of Zarr to LZ4, zarr", plain, ["--codec", "lz4", "--level", "5"], ["lz4", "5", "512"]),
        ("b2 convert of Zarr to Zstd, zarr", plain, ["--codec", "zstd", "--level", "5"], ["zstd", "5", "512"]),
        ("b2 convert of LZ4 to other chunks, zarr", packed, ["--chunks", "256,256"], ["lz4", "5", "256"]),
        ("b2 convert of LZ4 to Zstd, zarr", packed, ["--codec", "zstd", "--level", "5"], ["zstd", "5", "512"]),
    )
    for name, given, options, values in rows:
        programs.pair(
            name,
            lambda: of_process([*convert, *options, given, mine], mine),
            lambda: of_process([*copy, given, other, *values], other),
            lambda: f"sizes {size_of(mine) / size_of(other):.2f}",
        )


def blpk_rows(programs, folder, scratch, raw, bloscpack):
    if bloscpack is None:
        print("NOT MEASURED: blpk (--bloscpack names the folder of Bloscpack's blpk)")
        return
    mine, other, back = scratch / "ours.blp", scratch / "theirs.blp", scratch / "back"
    pack = ["-f", "c", "-z", "1M", "-t", "8"]
    sides = ((folder / "blpk", mine), (bloscpack / "blpk", other))
    calls = [lambda program=program, file=file: of_process([program, *pack, raw, file], file) for program, file in sides]
    programs.pair("blpk compress", *calls)
    if other.exists():
        calls = [lambda program=program: of_process([program, "-f", "d", other, back], back) for program, _ in sides]
        programs.pair("blpk decompress", *calls)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--megabytes", type=int, default=240)
    parser.add_argument("--only", default="")
    parser.add_argument("--bloscpack", type=Path)
    parser.add_argument("--zarr", type=Path)
    arguments = parser.parse_args()
    import h5py
    import numpy

    rows = max(512, arguments.megabytes * 1_000_000 // (8 * 2048) // 512 * 512)
    with tempfile.TemporaryDirectory(prefix="ferroblosc-bench-") as name:
        scratch = Path(name)
        row, column = numpy.mgrid[0:rows, 0:2048]
        noise = numpy.random.default_rng(1).random((rows, 2048))
        data = numpy.round(numpy.sin(row / 40) * numpy.cos(column / 60) * 1000 + noise, 1)
        source, raw, hdf5 = scratch / "data.npy", scratch / "raw", scratch / "plain.h5"
        numpy.save(source, data)
        data.tofile(raw)
        with h5py.File(hdf5, "w") as file:
            file.create_dataset("data", data=data)
        print(f"{data.nbytes / 1e6:.0f} MB of float64, median of {arguments.runs} runs")
        programs = Programs(arguments.runs, arguments.only)
        h5py_rows(programs, arguments.folder, scratch, source)
        tables_rows(programs, arguments.folder, scratch, source)
        b2_rows(programs, arguments.folder, scratch, raw, hdf5)
        zarr_rows(programs, arguments.folder, scratch, source, arguments.zarr)
        blpk_rows(programs, arguments.folder, scratch, raw, arguments.bloscpack)


if __name__ == "__main__":
    main()
