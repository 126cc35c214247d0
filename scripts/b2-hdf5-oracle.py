"""Exchanges HDF5 and CSV files between b2 and other programs.

These are h5py, hdf5plugin, netCDF4, zarr-python, pandas and NumPy.

usage: b2-hdf5-oracle.py B2 PYTHON_WITH_NETCDF4 PYTHON_WITH_ZARR3

The Python that runs it has h5py, hdf5plugin and pandas. Prints the numbers of exchanges.
"""

import io
import itertools
import os
import subprocess
import sys
import tempfile

import h5py
import hdf5plugin
import numpy as np
import pandas

b2, netcdf, zarr = sys.argv[1:]
counts = {"read": 0, "written": 0, "netcdf": 0, "zarr": 0, "diff": 0, "csv": 0}
os.chdir(tempfile.mkdtemp())


def run(*words):
    made = subprocess.run([b2, "--quiet", *words], capture_output=True, text=True)
    # .npy files have no attributes, and filter 32001 has no delta.
    known = (".npy: not kept: the", "not kept: the codec parameters (blosclz; filters: delta)")
    lost = [line for line in made.stderr.splitlines() if not any(text in line for text in known)]
    if made.returncode or lost:
        sys.exit(f"b2 {' '.join(words)}: {made.returncode}: {made.stdout}{made.stderr}")
    return made.stdout


def diff(first, second, *expected):
    """Compares two files or members: without `expected` lines they are equal."""
    made = subprocess.run([b2, "diff", first, second], capture_output=True, text=True)
    assert made.returncode == (1 if expected else 0) and not made.stderr, (first, second, made)
    lines = made.stdout.splitlines()
    for line in expected:
        assert line in lines, (line, made.stdout)
    counts["diff"] += 1


def same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape, (found.dtype, found.shape, expected.dtype)
    assert found.tobytes() == expected.tobytes(), (found, expected)


rng = np.random.default_rng(3)
records = np.zeros(500, dtype=[("id", "<i4"), ("price", ">f8"), ("name", "S5"), ("pair", "<f4", (2,))])
records["id"], records["price"], records["name"] = np.arange(500), rng.normal(size=500), b"some"
arrays = {
    "ints": np.arange(7_000, dtype="<i4").reshape(70, 100),
    "big": np.arange(7_000, dtype=">i8").reshape(7, 10, 100),
    "floats": rng.normal(size=(7, 11, 13)),
    "half": rng.normal(size=300).astype("f2"),
    "bools": rng.normal(size=(40, 9)) > 0,
    "complex": rng.normal(size=20).astype("c16"),
    "texts": np.array([b"a", b"bc", b"def"] * 500),
    "records": records,
    "zeros": np.zeros((500, 3), "u2"),
    "empty": np.zeros((0, 3), "f4"),
    "scalar": np.array(1.5),
}
filters = {
    "plain": {},
    "gzip": {"compression": "gzip", "shuffle": True},
    "checksum": {"compression": "gzip", "fletcher32": True},
    "blosc": hdf5plugin.Blosc(cname="lz4", clevel=5, shuffle=hdf5plugin.Blosc.SHUFFLE),
    "blosc-bits": hdf5plugin.Blosc(cname="zstd", shuffle=hdf5plugin.Blosc.BITSHUFFLE),
    "blosc2": hdf5plugin.Blosc2(cname="zstd", clevel=3, filters=hdf5plugin.Blosc2.SHUFFLE),
    "blosc2-delta": hdf5plugin.Blosc2(cname="blosclz", filters=hdf5plugin.Blosc2.DELTA),
}
for (name, array), (kind, options) in itertools.product(arrays.items(), filters.items()):
    if array.size == 0 or array.shape == ():
        options = {}
    for chunks in (True, tuple(max(1, extent // 3) for extent in array.shape)):
        if chunks and (array.size == 0 or array.shape == () or kind == "plain"):
            chunks = None
        with h5py.File("in.h5", "w") as file:
            made = file.create_dataset("g/data", data=array, chunks=chunks, **options)
            made.attrs["units"], made.attrs["scale"], made.attrs["list"] = "K", 1.5, [1, 2, 3]
        run("convert", "in.h5:/g/data", "read.npy", "--force")
        same(np.load("read.npy"), array)
        diff("in.h5:/g/data", "read.npy")
        run("convert", "in.h5", "made.b2nd", "--force")
        run("verify", "made.b2nd")
        run("convert", "made.b2nd", "back.npy", "--force")
        same(np.load("back.npy"), array)
        counts["read"] += 1
        for filter in ("32026", "32001", "none"):
            run("convert", "made.b2nd", "out.h5:/x/y", "--force", "--hdf5-filter", filter)
            with h5py.File("out.h5") as file:
                dataset = file["x/y"]
                same(dataset[()] if dataset.shape else np.array(dataset[()]), array)
                assert dataset.attrs["units"] == "K" and dataset.attrs["scale"] == 1.5, dict(dataset.attrs)
                assert list(dataset.attrs["list"]) == [1, 2, 3]
            counts["written"] += 1
            os.remove("out.h5")

# All codecs of a level, with other chunks and blocks.
np.save("ints.npy", arrays["ints"])
for codec, level in itertools.product(("blosclz", "lz4", "lz4hc", "zlib", "zstd"), (0, 1, 9)):
    words = ("--codec", codec, "--level", str(level), "--chunks", "20,33", "--blocks", "7,11")
    run("convert", "ints.npy", "codec.h5:/data", *words)
    with h5py.File("codec.h5") as file:
        same(file["data"][()], arrays["ints"])
    counts["written"] += 1
    os.remove("codec.h5")

# netCDF-4: dimension scales become names of dimensions.
subprocess.run([netcdf, "-c", """
import netCDF4, numpy
with netCDF4.Dataset("climate.nc", "w") as file:
    group = file.createGroup("model")
    for name, length in (("time", None), ("lat", 5), ("lon", 7)):
        group.createDimension(name, length)
    variable = group.createVariable("t", "f4", ("time", "lat", "lon"), zlib=True, fill_value=-9)
    variable.units = "K"
    variable[:] = numpy.arange(105, dtype="f4").reshape(3, 5, 7)
"""], check=True)
run("convert", "climate.nc:/model/t", "t.b2nd")
run("convert", "t.b2nd", "t.npy")
same(np.load("t.npy"), np.arange(105, dtype="f4").reshape(3, 5, 7))
assert run("meta", "get", "t.b2nd", "units").strip() == '"K"'
names = "".join(run("meta", "get", "t.b2nd", "_ARRAY_DIMENSIONS").split())
assert names == '["time","lat","lon"]', names
run("convert", "t.b2nd", "t.h5:/t")
with h5py.File("t.h5") as file:
    assert [dim.label for dim in file["t"].dims] == ["time", "lat", "lon"]
    assert [file["t"].dims[number][0].name for number in range(3)] == ["/time", "/lat", "/lon"]
counts["netcdf"] += 2

# Names of dimensions become dimension scales, with and without values.
np.save("lat.npy", np.linspace(-90, 90, 5))
run("convert", "t.b2nd", "scales.h5:/t", "--hdf5-filter", "none")
run("convert", "lat.npy", "scales.h5:/lat", "--hdf5-filter", "none")
subprocess.run([netcdf, "-c", """
import netCDF4
with netCDF4.Dataset("scales.h5") as file:
    lengths = {name: len(dimension) for name, dimension in file.dimensions.items()}
    assert lengths == {"time": 3, "lat": 5, "lon": 7}, lengths
    assert file["t"].dimensions == ("time", "lat", "lon"), file["t"].dimensions
    assert set(file.variables) == {"t", "lat"} and file["lat"].dimensions == ("lat",)
    assert file["t"].units == "K" and file["t"][2, 4, 6] == 104 and file["lat"][4] == 90
"""], check=True)
counts["netcdf"] += 2

# Groups: HDF5 to Zarr and back.
with h5py.File("groups.h5", "w") as file:
    file.attrs["title"] = "all"
    for name in ("a", "inner/b", "inner/deep/c"):
        file[name] = arrays["ints"]
        file[name].attrs["units"] = name
    file["inner"].attrs["n"] = 3
    file["inner/again"] = file["/"]
run("convert", "groups.h5", "groups.zarr", "--all")
subprocess.run([zarr, "-W", "ignore", "-c", """
import zarr
group = zarr.open_group("groups.zarr", mode="r")
assert group.attrs["title"] == "all" and group["inner"].attrs["n"] == 3
assert (group["inner/deep/c"][:] == group["a"][:]).all() and group["inner/b"].attrs["units"] == "inner/b"
"""], check=True)
run("convert", "groups.zarr", "again.h5", "--all")
with h5py.File("again.h5") as file:
    assert file.attrs["title"] == "all" and file["inner"].attrs["n"] == 3
    for name in ("a", "inner/b", "inner/deep/c"):
        same(file[name][()], arrays["ints"])
counts["zarr"] += 2

# Differences of containers: a changed item, a new and a removed array.
diff("groups.h5:/inner/deep", "again.h5:/inner/deep")
diff("groups.h5:/inner", "again.h5:/inner", "again/a: only in groups.h5:/inner", "b: equal", "deep/c: equal")
diff("again.h5", "groups.zarr")
with h5py.File("again.h5", "r+") as file:
    file["inner/b"][3, 4] += 10
    file["new"] = arrays["floats"]
    del file["a"]
diff("again.h5:/inner/b", "ints.npy", "  first at (3, 4): 314 and 304", "  largest difference: 10.0")
diff(
    "groups.zarr", "again.h5", "a: only in groups.zarr", "new: only in again.h5", "inner/deep/c: equal",
    "inner/b: 1 of 7000 items differ (0.014 %)",
)

# CSV: of NumPy and pandas, and back.
for array in (arrays["ints"], rng.normal(size=(50, 4)), np.arange(9)):
    np.savetxt("in.csv", array, delimiter=",", fmt="%d" if array.dtype.kind == "i" else "%.17g")
    run("convert", "in.csv", "in.npy", "--force", "--dtype", array.dtype.str)
    same(np.load("in.npy"), array)
    run("convert", "in.npy", "out.csv", "--force")
    same(np.loadtxt("out.csv", delimiter=",", dtype=array.dtype), array)
    counts["csv"] += 2
frame = pandas.DataFrame({
    "n": np.arange(300), "x": rng.normal(size=300), "t": ['a,"b"', "two\nlines", " x", "é"] * 75,
    "hole": [1.5, None, 2.5] * 100, "b": [True, False] * 150,
})
frame.to_csv("in.csv", index=False)
run("convert", "in.csv", "table.npy")
table = np.load("table.npy")
assert table.dtype == [("n", "<i8"), ("x", "<f8"), ("t", "<U9"), ("hole", "<f8"), ("b", "?")], table.dtype
for name in frame:
    pandas.testing.assert_series_equal(pandas.Series(table[name], name=name), frame[name], check_dtype=False)
run("convert", "table.npy", "out.csv", "--force")
pandas.testing.assert_frame_equal(pandas.read_csv("out.csv"), pandas.read_csv("in.csv"))
assert io.open("out.csv", newline="").read().count("\n") == io.open("in.csv", newline="").read().count("\n")
counts["csv"] += 2
print("   HDF5 and CSV:", ", ".join(f"{count} {name}" for name, count in counts.items()))
