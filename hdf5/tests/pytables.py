"""Exchanges files between h5py with a plugin and PyTables.

PyTables has its own filters and reads frames directly.

    pytables.py write FILE            PyTables writes arrays and tables, pandas a frame
    pytables.py read PLUGIN FILE      h5py reads them, and writes the same to FILE.ours
    pytables.py check FILE.ours       PyTables reads what h5py wrote
    pytables.py packed FILE           PyTables reads FILE after h5repack

PLUGIN is a directory for HDF5_PLUGIN_PATH. The two need separate processes: each has its own copy of HDF5.
"""

import os
import pickle
import sys
import warnings

import numpy

COMPLIBS = ["blosc:" + name for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")]
COMPLIBS += ["blosc2:" + name for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")]
ROWS = numpy.zeros(20000, dtype=[("id", "<i4"), ("value", "<f8")])
ROWS["id"], ROWS["value"] = numpy.arange(20000), numpy.arange(20000) / 3
RAGGED = [numpy.arange(i, dtype="<i4") for i in range(50)]
CUBE = numpy.arange(40 * 50 * 60, dtype="<i4").reshape(40, 50, 60) // 5


def name_of(complib, shuffle):
    return complib.replace(":", "_") + ("_bits" if shuffle == 2 else "")


def choices():
    return [(complib, shuffle) for complib in COMPLIBS for shuffle in (1, 2)]


def write(path):
    import tables

    with tables.open_file(path, "w") as file:
        for complib, shuffle in choices():
            name = name_of(complib, shuffle)
            filters = tables.Filters(5, complib, shuffle=shuffle == 1, bitshuffle=shuffle == 2)
            file.create_carray("/", "cube_" + name, obj=CUBE, chunkshape=(16, 20, 32), filters=filters)
            file.create_table("/", "rows_" + name, obj=ROWS, chunkshape=3000, filters=filters)
            # PyTables stores ragged arrays only with the Blosc 1 filter, with arbitrary type and
            # chunk sizes in the parameters.
            if complib.startswith("blosc:"):
                ragged = file.create_vlarray("/", "ragged_" + name, tables.Int32Atom(), filters=filters)
                for items in RAGGED:
                    ragged.append(items)
                file.create_vlarray("/", "object_" + name, tables.ObjectAtom(), filters=filters).append({"a": [1, "b"]})
                file.create_vlarray("/", "text_" + name, tables.VLStringAtom(), filters=filters).append(b"some text")
    import pandas

    table = pandas.DataFrame({"text": ["one", "two", "three"] * 500, "object": [(1, "a"), None, {"b": 2}] * 500})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table.to_hdf(path + ".pandas", key="frame", complib="blosc:zstd", complevel=5)
    print(f"   PyTables {tables.__version__} wrote {2 * len(choices())} nodes with HDF5 {tables.hdf5_version}")


def read(plugin, path):
    os.environ["HDF5_PLUGIN_PATH"] = plugin
    import h5py

    count = 0
    with h5py.File(path + ".pandas") as file:
        datasets = []
        file.visititems(lambda _, node: datasets.append(node) if "32001" in getattr(node, "_filters", {}) else None)
        assert datasets
        for dataset in datasets:
            for items in dataset[...].ravel():
                # A pickle of a protocol that this Python may not support.
                if dataset.attrs.get("PSEUDOATOM") == b"object":
                    assert items.tobytes()[:1] == b"\x80" and items.tobytes()[-1:] == b"."
        count += len(datasets)
    with h5py.File(path) as theirs, h5py.File(path + ".ours", "w") as ours:
        for complib, shuffle in choices():
            name = name_of(complib, shuffle)
            for kind, values in (("cube_", CUBE), ("rows_", ROWS)):
                dataset = theirs[kind + name]
                assert dataset[...].tobytes() == values.tobytes(), kind + name
                # A copy recompresses cached chunks.
                theirs.copy(dataset, ours, "copied_" + kind + name)
                assert ours["copied_" + kind + name][...].tobytes() == values.tobytes()
                # This copy has the same filter, chunks and PyTables attributes.
                properties = dataset.id.get_create_plist()
                copy = h5py.h5d.create(
                    ours.id, (kind + name).encode(), dataset.id.get_type(), dataset.id.get_space(), properties
                )
                copy = h5py.Dataset(copy)
                copy[...] = values
                for key, value in dataset.attrs.items():
                    copy.attrs[key] = value
                wanted, got = properties.get_filter(0), copy.id.get_create_plist().get_filter(0)
                assert wanted[2] == got[2], (wanted, got)
                count += 1
            if complib.startswith("blosc:"):
                ragged = theirs["ragged_" + name][...]
                assert all((one == other).all() for one, other in zip(ragged, RAGGED, strict=True)), name
                assert pickle.loads(theirs["object_" + name][0].tobytes()) == {"a": [1, "b"]}, name
                assert theirs["text_" + name][0].tobytes() == b"some text", name
                count += 3
        for key, value in theirs.attrs.items():
            ours.attrs[key] = value
    print(f"   {count} nodes of PyTables read and written with HDF5 {h5py.version.hdf5_version}")


def check_packed(path):
    """Checks the file after h5repack."""
    import tables

    with tables.open_file(path) as file:
        for complib, shuffle in choices():
            name = name_of(complib, shuffle)
            assert (file.get_node("/cube_" + name)[...] == CUBE).all(), name
            if complib.startswith("blosc:"):
                ragged = file.get_node("/ragged_" + name)
                assert all((one == other).all() for one, other in zip(ragged, RAGGED, strict=True)), name
                assert file.get_node("/object_" + name)[0] == {"a": [1, "b"]}, name
                assert file.get_node("/text_" + name)[0] == b"some text", name
    print("   PyTables read the file after h5repack")


def check(path):
    import tables

    count = 0
    with tables.open_file(path) as file:
        for complib, shuffle in choices():
            name = name_of(complib, shuffle)
            cube, rows = file.get_node("/cube_" + name), file.get_node("/rows_" + name)
            assert (cube[...] == CUBE).all() and (rows[:] == ROWS).all(), name
            # PyTables reads slices directly from the frames in the file.
            assert (cube[3:25, 18:41, 30:33] == CUBE[3:25, 18:41, 30:33]).all(), name
            assert (rows[2990:3010] == ROWS[2990:3010]).all(), name
            assert [row["id"] for row in rows.where("(id > 7000) & (id < 7004)")] == [7001, 7002, 7003], name
            count += 2
    print(f"   PyTables read {count} nodes of ours, completely and in slices")


if __name__ == "__main__":
    {"write": write, "read": read, "check": check, "packed": check_packed}[sys.argv[1]](*sys.argv[2:])
