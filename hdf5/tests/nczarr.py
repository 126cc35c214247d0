"""Tests of HDF5 filters as Zarr codecs in netCDF-C, with plugins in HDF5_PLUGIN_PATH.

    nczarr.py write DIR    netCDF-C writes arrays with every codec, numcodecs writes more arrays
    nczarr.py read DIR     netCDF-C and numcodecs read them; netCDF-C writes into one

Without the variable, netCDF-C uses the plugins of its own wheel.
"""

import ctypes
import json
import os
import pathlib
import sys

# If the variable is not set, netCDF4 sets it to the plugins of its wheel.
IS_OURS = "HDF5_PLUGIN_PATH" in os.environ

import netCDF4
import numcodecs
import numpy

CODECS = ("lz", "lz4", "lz4hc", "zlib", "zstd")
NAMES = {"lz": "blosclz"}
ITEMS, CHUNK = 1000, 300


def values(name):
    """Returns the values of an array, which depend on its name."""
    kind = name.rsplit("_", 1)[1]
    if name.startswith("noise"):
        return numpy.random.RandomState(7).randint(0, 256, ITEMS).astype(kind)
    return (numpy.arange(ITEMS) // 20 % 120).astype(kind)


def url(folder, name):
    return f"file://{os.path.abspath(folder)}/{name}#mode=zarr,file"


def arrays():
    for codec in CODECS:
        for shuffle in (0, 1, 2):
            for kind in ("i1", "i4", "f8"):
                yield f"{codec}_{shuffle}_{kind}", codec, shuffle
    # The codec of netCDF-C fails for these data.
    if IS_OURS:
        yield "noise_1_u1", "zstd", 1


def stored(folder, name):
    """Returns the description of an array's codec, and its first chunk."""
    path = pathlib.Path(folder, name, "v")
    return json.loads((path / ".zarray").read_text())["compressor"], (path / "0").read_bytes()


def rewrite(folder, name):
    """Overwrites the items of an array through the C library; netCDF4 would create a new file."""
    (path,) = pathlib.Path(netCDF4.__file__).parents[1].glob("netcdf4.libs/libnetcdf-*.so*")
    library, file = ctypes.CDLL(str(path)), ctypes.c_int()
    assert library.nc_open(url(folder, name).encode(), 1, ctypes.byref(file)) == 0
    for items in values(name)[::-1].copy(), values(name):
        assert library.nc_put_var_int(file, 0, items.ctypes.data_as(ctypes.c_void_p)) == 0
        assert library.nc_sync(file) == 0
    assert library.nc_close(file) == 0


def write(folder):
    os.makedirs(folder)
    for name, codec, shuffle in arrays():
        with netCDF4.Dataset(url(folder, name), "w") as file:
            file.createDimension("x", ITEMS)
            variable = file.createVariable(
                "v", values(name).dtype, ("x",), compression="blosc_" + codec, complevel=5, blosc_shuffle=shuffle,
                chunksizes=(CHUNK,),
            )
            variable[:] = values(name)
    # Configurations that netCDF-C does not write: a shuffle by type, missing entries, a block size.
    for name, more in {
        "automatic_i1": {"shuffle": -1},
        "automatic_i4": {"shuffle": -1, "blocksize": 512},
        "short_i4": {"clevel": 3},
    }.items():
        with netCDF4.Dataset(url(folder, name), "w") as file:
            file.createDimension("x", ITEMS)
            file.createVariable("v", values(name).dtype, ("x",), chunksizes=(CHUNK,))
        path = pathlib.Path(folder, name, "v")
        description = json.loads((path / ".zarray").read_text())
        config = {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 1, "blocksize": 0} | more
        description["compressor"] = {"id": "blosc"} | more if name.startswith("short") else config
        (path / ".zarray").write_text(json.dumps(description))
        codec = numcodecs.get_codec(config)
        padded = numpy.zeros(4 * CHUNK, values(name).dtype)
        padded[:ITEMS] = values(name)
        for i in range(4):
            (path / str(i)).write_bytes(codec.encode(padded[i * CHUNK : (i + 1) * CHUNK]))
    print(f"   wrote {len(os.listdir(folder))} arrays with netCDF-C {netCDF4.__netcdf4libversion__}")


def check_automatic(folder):
    """Writes an array with an automatic shuffle, which the codec of netCDF-C does not support."""
    name = "automatic_i4"
    rewrite(folder, name)
    config, chunk = stored(folder, name)
    assert config["shuffle"] == -1 and config["blocksize"] == 512, config
    back = numpy.frombuffer(numcodecs.get_codec(config).decode(chunk), values(name).dtype)
    assert (back == values(name)[:CHUNK]).all()
    assert (chunk[3], int.from_bytes(chunk[8:12], "little")) == (4, 512), chunk[:16]


def read(folder):
    names = sorted(os.listdir(folder))
    for name in names:
        wanted = values(name)
        with netCDF4.Dataset(url(folder, name)) as file:
            assert (file["v"][:] == wanted).all(), name
            assert file["v"].filters()["blosc"], name
        config, chunk = stored(folder, name)
        assert config["id"] == "blosc", config
        codec, shuffle, _ = name.split("_") if name.count("_") == 2 else ("", 0, "")
        if codec in CODECS:
            expected = NAMES.get(codec, codec), 5, int(shuffle), 0
            assert (config["cname"], config["clevel"], config["shuffle"], config["blocksize"]) == expected, config
        back = numpy.frombuffer(numcodecs.get_codec(config).decode(chunk), wanted.dtype)
        assert (back == wanted[:CHUNK]).all(), name
        # The type size is known.
        if name in ("zstd_1_i4", "lz4_2_f8"):
            assert chunk[3] == wanted.itemsize and chunk[2] & 5, (name, chunk[:16])
    if IS_OURS:
        check_automatic(folder)
    print(f"   netCDF-C {netCDF4.__netcdf4libversion__} and numcodecs {numcodecs.__version__} read {len(names)} arrays")


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](sys.argv[2])
