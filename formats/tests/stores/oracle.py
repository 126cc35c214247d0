"""Describes, changes and creates stores with python-blosc2, for `interop.rs`.

usage: oracle.py JOBS

JOBS is a file with a JSON list of jobs, each a list of a command and arguments. The results are
printed as a JSON list, in the form of `expect.json`.
"""

import dataclasses
import hashlib
import json
import os
import random
import shutil
import sys
import traceback

import blosc2
import numpy as np


def value(v):
    if v is None or isinstance(v, bool):
        return v
    if isinstance(v, (int, np.integer)):
        return int(v)
    if isinstance(v, float):
        return "f:nan" if v != v else "f:" + repr(v)
    if isinstance(v, complex):
        return f"c:{v.real!r},{v.imag!r}"
    if isinstance(v, str):
        return "s:" + v
    if isinstance(v, bytes):
        return "b:" + v.hex()
    if isinstance(v, tuple):
        return {"t": [value(item) for item in v]}
    if isinstance(v, list):
        return {"l": [value(item) for item in v]}
    if isinstance(v, (set, frozenset)):
        return {"set": [value(item) for item in v]}
    if isinstance(v, dict):
        return {"d": sorted([value(k), value(item)] for k, item in v.items())}
    if isinstance(v, np.ndarray):
        return value(v.tolist())
    raise TypeError(type(v))


def attrs(meta):
    return {k: value(v) for k, v in meta[:].items() if not k.startswith("_batch_array")}


def sha(data):
    return hashlib.sha256(data).hexdigest()


def describe_object(v):
    if isinstance(v, blosc2.TreeStore):
        return {"type": "group"}
    if isinstance(v, blosc2.NDArray):
        items = np.ascontiguousarray(v[()])
        return {"type": "NDArray", "shape": list(v.shape), "dtype": v.dtype.str,
                "sha": sha(items.tobytes()), "vlmeta": attrs(v.schunk.vlmeta)}
    if isinstance(v, blosc2.ObjectArray):
        return {"type": "ObjectArray", "items": [value(item) for item in v], "vlmeta": attrs(v.vlmeta)}
    if isinstance(v, blosc2.BatchArray):
        return {"type": "BatchArray", "batches": [[value(item) for item in b] for b in v],
                "vlmeta": attrs(v.vlmeta)}
    if isinstance(v, blosc2.CTable):
        return {"type": "CTable", "rows": len(v), "columns": {c: repr(v[c][:]) for c in v.col_names}}
    if isinstance(v, blosc2.ListArray):
        return {"type": "ListArray", "items": [value(item) for item in v]}
    if isinstance(v, blosc2.SChunk):
        data = v[:] if v.nbytes else b""
        return {"type": "SChunk", "nbytes": len(data), "sha": sha(data), "vlmeta": attrs(v.vlmeta)}
    raise TypeError(type(v))


def describe_open(s):
    if not isinstance(s, (blosc2.TreeStore, blosc2.DictStore, blosc2.EmbedStore)):
        return describe_object(s)
    kind = next(c for c in (blosc2.TreeStore, blosc2.DictStore, blosc2.EmbedStore) if isinstance(s, c))
    found = {"type": kind.__name__, "items": {k: describe_object(s[k]) for k in s.keys()}}
    if kind is blosc2.TreeStore:
        groups = ["/"] + [k for k, item in found["items"].items() if item == {"type": "group"}]
        metas = ((k, attrs(s.get_subtree(k).vlmeta if k != "/" else s.vlmeta)) for k in groups)
        found["attrs"] = {k: meta for k, meta in metas if meta}
    return found


def describe(path):
    s = blosc2.open(path, mode="r")
    found = describe_open(s)
    if hasattr(s, "close"):
        s.close()
    return found


def cells(column):
    """The values of a column; nulls are None, and times are ticks."""
    items = column[:]
    if not isinstance(items, np.ndarray):
        return [value(item) for item in items]
    nulls = np.ma.getmaskarray(items)
    nulls = nulls.reshape(len(items), -1).all(axis=1) if nulls.size else np.zeros(len(items), bool)
    if len(items) and column.null_storage == "sentinel":
        nulls = nulls | np.asarray(column.is_null())
    items = np.ma.getdata(items)
    if items.dtype.kind == "M":
        items = items.astype(np.int64)
    if items.ndim > 1 and not items.size:
        return [None] * len(items)
    return [None if null else value(item) for null, item in zip(nulls, items.tolist())]


def columns_of(t):
    return {"type": "CTable", "rows": len(t), "columns": {c: cells(t[c]) for c in t.col_names}}


def open_table(path, key, mode):
    """Returns the store, if it is not the table, and the table."""
    if path.endswith(".b2e"):
        with open(path, "rb") as file:
            return None, blosc2.ctable_from_cframe(file.read())
    opened = blosc2.open(path, mode=mode)
    return (None, opened) if key == "/" else (opened, opened[key])


def describe_table(path, key):
    store, t = open_table(path, key, "r")
    found = columns_of(t)
    if not path.endswith(".b2e"):
        t.close()
    if store is not None:
        store.close()
    return found


WORDS = ["", "a", "é€", "long x", "zz", "𝄞"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def random_integer(rng, name):
    bits = int(name.lstrip("uint"))
    low, high = (0, 2**bits) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    # The extreme values can be null values.
    return rng.choice([rng.randrange(low + 1, high - 1), rng.randrange(100)])


def random_float(rng):
    return rng.choice([rng.randrange(4000) / 8, -0.0, 1e30, float("inf"), -float("inf")])


def item_spec(rng):
    """Returns a description of list items, their annotation, and a function for values."""
    kind = rng.randrange(6)
    if kind == 0:
        return blosc2.string(max_length=7), str, lambda: rng.choice(WORDS)
    if kind == 1:
        return blosc2.float64(), float, lambda: random_float(rng)
    if kind == 2:
        fields = {"p": blosc2.int64(), "q": blosc2.vlstring(nullable=True)}
        item = lambda: {"p": rng.randrange(9), "q": rng.choice([None, "x"])}
        return blosc2.struct(fields), dict, item
    if kind == 3:
        inner = lambda: [rng.randrange(9) for _ in range(rng.randrange(3))]
        return blosc2.list(blosc2.int32()), list[int], inner
    if kind == 4:
        return blosc2.vlbytes(), bytes, lambda: rng.choice([b"", b"\0", b"12"])
    return blosc2.int32(), int, lambda: rng.randrange(-5, 10**6)


def spec(rng):
    """Returns a random description of a column, its annotation, and a function for its values; in
    columns with null values it returns None for nulls, too."""
    null = rng.randrange(2) == 0
    kind = rng.randrange(20)
    # Nulls are in a mask, or the default null value, or another one.
    storage = {"nullable": null}
    if null:
        storage.update(rng.choice([{}, {}, {"null_storage": "sentinel"}]))
    annotation = None

    def cell(random_value):
        return lambda: None if null and rng.randrange(4) == 0 else random_value()

    if kind < 3:
        name = rng.choice(INTEGERS)
        if null and rng.randrange(4) == 0:
            storage = {"nullable": True, "null_value": 99}
        value = lambda: min(random_integer(rng, name), 98) if "null_value" in storage else random_integer(rng, name)
        column = getattr(blosc2, name)(**storage)
    elif kind == 3:
        column = getattr(blosc2, rng.choice(["float32", "float64"]))(**storage)
        value = lambda: float(np.float32(random_float(rng)))
    elif kind == 4:
        # Booleans with a null value are read as numbers by python-blosc2.
        column, value = blosc2.bool(nullable=null), lambda: rng.randrange(2) == 0
    elif kind == 5:
        column, value = blosc2.string(max_length=20, **storage), lambda: rng.choice(WORDS)
    elif kind == 6:
        column, value = blosc2.bytes(max_length=20, **storage), lambda: rng.choice([b"", b"x", b"\xff1"])
    elif kind == 7:
        column, value = blosc2.utf8(**storage), lambda: rng.choice(WORDS)
    elif kind == 8:
        column, value = blosc2.vlstring(nullable=null), lambda: rng.choice(WORDS)
    elif kind in (9, 10):
        item, inner, item_value = item_spec(rng)
        column = blosc2.list(item, nullable=null, storage=rng.choice(["batch", "batch", "vl"]))
        annotation = list[inner]
        value = lambda: [item_value() for _ in range(rng.randrange(4))]
    elif kind == 11:
        column, value = blosc2.dictionary(nullable=null), lambda: f"word {rng.randrange(9)}"
    elif kind == 12:
        column, value = blosc2.vlbytes(nullable=null), lambda: rng.choice([b"", b"\0", b"12"])
    elif kind == 13:
        column = getattr(blosc2, rng.choice(["complex64", "complex128"]))(nullable=null)
        value = lambda: complex(rng.randrange(99) / 4, -rng.randrange(99))
    elif kind in (14, 15):
        unit = rng.choice(["s", "ms", "us", "ns"])
        column = blosc2.timestamp(unit=unit, timezone=rng.choice([None, "UTC"]), **storage)
        value = lambda: np.datetime64(rng.randrange(-(10**9), 10**12), unit)
    elif kind == 16:
        shape, dtype = rng.choice([((2, 3), "<f4"), ((1,), "<i8"), ((4,), "<u2")])
        column = blosc2.ndarray(shape, dtype, **storage)
        value = lambda: np.array([rng.randrange(9) for _ in range(int(np.prod(shape)))], dtype).reshape(shape)
    elif kind == 17:
        fields = {"p": blosc2.int64(), "q": blosc2.vlstring(nullable=True)}
        column = blosc2.struct(fields, nullable=null)
        value = lambda: {"p": rng.randrange(9), "q": rng.choice([None, "x"])}
    else:
        column = blosc2.object(nullable=null)
        value = lambda: rng.choice([(1, "x"), {"k": [None]}, 0.5, [], b"\0", 2**63 - 1])
    return column, annotation or column.python_type, cell(value)


def fill(rng, t, specs, count):
    """Appends rows, one by one or together."""
    nulls = {name: t[name].null_value if t[name].null_storage == "sentinel" else None for name in specs}
    sized = {name: np.full(t[name].item_shape, null) if null is not None and t[name].is_ndarray else null
             for name, null in nulls.items()}
    rows = []
    for _ in range(count):
        row = [cell() for _, _, cell in specs.values()]
        rows.append([sized[name] if item is None else item for name, item in zip(specs, row)])
    # Appending a single row takes milliseconds.
    single = min(count, rng.randrange(9))
    if count > single:
        t.extend(rows[single:])
    for row in rows[:single]:
        t.append(row)


def create_table(path, seed, key="/", store=None):
    rng = random.Random(seed)
    specs = {f"p{number}": spec(rng) for number in range(rng.randrange(1, 7))}
    fields = [(name, annotation, blosc2.field(column)) for name, (column, annotation, _) in specs.items()]
    t = blosc2.CTable(dataclasses.make_dataclass("Row", fields), urlpath=None if store is not None else path,
                      mode="w", expected_size=rng.choice([16, 5000]), create_summary_index=rng.randrange(3) > 0)
    fill(rng, t, specs, rng.choice([0, 1, 7, 60, 60, 300, 3000]))
    if len(t) > 3:
        t.delete([0, 2] + rng.sample(range(3, len(t)), min(len(t) - 3, rng.randrange(9))))
    t.vlmeta["seed"] = seed
    if store is not None:
        store[key] = t
        return None
    t.close()
    return describe_table(path, "/")


def create_tree(path, seed):
    """A tree with tables, leaves and attributes in nested groups."""
    rng = random.Random(seed)
    s = blosc2.TreeStore(path, mode="w", threshold=rng.choice([0, 300, 100_000]))
    groups = ["/g", "/g/h", "/é", "/deep/a/b/c"]
    for number in range(rng.randrange(1, 4)):
        create_table(None, seed * 10 + number, f"{rng.choice(groups)}/table{number}", s)
    for number in range(rng.randrange(6)):
        s[f"{rng.choice(groups)}/leaf{number}"] = leaf(rng)
    for group in groups:
        if group in s and rng.randrange(2) == 0:
            s.get_subtree(group).vlmeta["unit"] = [group, seed, None, 0.5]
    s.close()
    return describe_tree(path)


def describe_tree(path):
    found = {}
    with blosc2.open(path, mode="r") as s:
        for key in s.keys():
            item = s[key]
            found[key] = columns_of(item) if isinstance(item, blosc2.CTable) else describe_object(item)
    return found


def create_indexed(path, kind):
    row = dataclasses.make_dataclass("Row", [("i", int, blosc2.field(blosc2.int64()))])
    t = blosc2.CTable(row, urlpath=path, mode="w")
    for number in range(300):
        t.append([number * 37 % 300])
    t.create_index("i", kind=kind)
    t.close()
    return describe_table(path, "/")


def where(path, condition):
    t = blosc2.open(path, mode="r")
    found = t.where(condition)["i"][:].tolist()
    t.close()
    return found


def plain(item):
    if item is np.ma.masked:
        return None
    is_scalar = isinstance(item, np.generic) or (isinstance(item, np.ndarray) and item.ndim == 0)
    return item.item() if is_scalar else item


def change_table(path, seed, key):
    """Appends and deletes rows, changes a cell, adds, renames and removes columns.

    Values are copied from others."""
    rng = random.Random(seed)
    store, t = open_table(path, key, "a")
    names = t.col_names
    count = len(t)
    if count:
        rows = [[t[c][i] for c in names] for i in [rng.randrange(count) for _ in range(5)]]
        for row in rows:
            t.append([plain(item) for item in row])
        t.delete([rng.randrange(count)])
    # python-blosc2 loses lists that were just appended if columns change before the table is
    # closed.
    t.close()
    if store is not None:
        store.close()
    store, t = open_table(path, key, "a")
    t.add_column(f"by_python{seed % 1000}", blosc2.field(blosc2.int64(), default=7))
    # python-blosc2 loses values of variable length when it renames or compacts them, and does not
    # compact masks of nulls.
    fixed = [c for c in names if not (t[c].is_list or t[c].is_varlen_scalar or t[c].is_dictionary or t[c].is_utf8)]
    if fixed and count > 1:
        name = rng.choice(fixed)
        t[name][0] = t[name][1]
    if fixed and rng.randrange(2) == 0:
        t.rename_column(rng.choice(fixed), rng.choice([f"renamed{seed}", f"g.renamed{seed}", f"é {seed}%"]))
    if len(names) > 1 and rng.randrange(3) == 0:
        t.drop_column(rng.choice([c for c in t.col_names if not c.startswith("by_python")]))
    has_masks = any(t[c].null_storage == "mask" for c in t.col_names)
    if len(fixed) == len(names) and len(t) and not has_masks and rng.randrange(2) == 0:
        t.compact()
    t.close()
    if store is not None:
        store.close()
    return describe_table(path, key)


def open_to_change(path):
    if path.endswith(".b2e"):
        return blosc2.EmbedStore(path, mode="a")
    return blosc2.open(path, mode="a")


def array(rng):
    shape = rng.choice([(7,), (3, 4), (100,), (1000,), (2, 3, 4), (0,), ()])
    dtype = rng.choice(["<i4", "<f8", "|u1", "<i2", "|b1", "<U5", "|S3"])
    count = int(np.prod(shape))
    items = np.array([rng.randrange(100) for _ in range(count)]).reshape(shape)
    return blosc2.asarray(items.astype(dtype))


def leaf(rng):
    kind = rng.randrange(4)
    if kind == 0:
        data = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 3000)))
        return blosc2.SChunk(chunksize=1000, data=data, cparams={"typesize": 1})
    if kind == 1:
        objects = blosc2.ObjectArray()
        objects.extend([1, "two", (3, b"4"), [None, 0.5], {"six": {"seven": True}}, 1 + 2j][: rng.randrange(7)])
        return objects
    if kind == 2:
        batches = blosc2.BatchArray(items_per_block=rng.choice([1, 2, 100]))
        for _ in range(rng.randrange(4)):
            batches.append([rng.randrange(10**6) for _ in range(rng.randrange(1, 9))])
        return batches
    return array(rng)


def change(path, seed):
    """Deletes, replaces and adds keys, and sets attributes; returns the content of the store."""
    rng = random.Random(seed)
    s = open_to_change(path)
    keys = sorted(k for k in s.keys() if not isinstance(s[k], blosc2.TreeStore))
    rng.shuffle(keys)
    if keys:
        del s[keys.pop()]
    if keys:
        key = keys.pop()
        del s[key]
        s[key] = leaf(rng)
    for number in range(rng.randrange(3)):
        s[f"/python/n{number}"] = leaf(rng)
    s["/by-python"] = array(rng)
    if isinstance(s, blosc2.TreeStore):
        s.vlmeta["python"] = seed
    if hasattr(s, "close"):
        s.close()
    return describe(path)


def create(path, seed, kind, threshold):
    rng = random.Random(seed)
    if kind == "EmbedStore":
        s = blosc2.EmbedStore(path, mode="w")
    else:
        s = getattr(blosc2, kind)(path, mode="w", threshold=threshold)
    for number in range(rng.randrange(8)):
        group = rng.choice(["", "/g", "/g/h", "/é"])
        s[f"{group}/leaf{number}"] = leaf(rng)
    if kind == "TreeStore":
        s.vlmeta["title"] = f"store {seed}"
        s["/g/x"] = array(rng)
        s.get_subtree("/g").vlmeta["unit"] = ["m", seed]
    if hasattr(s, "close"):
        s.close()
    return describe(path)


def copy(source, target):
    if os.path.isdir(target):
        shutil.rmtree(target)
    elif os.path.exists(target):
        os.remove(target)
    if os.path.isdir(source):
        shutil.copytree(source, target)
    elif os.path.exists(source):
        shutil.copy(source, target)


def retried(command):
    """python-blosc2 damages embedded values at times: then the next seed is used."""

    def run(path, seed, *arguments):
        saved = path + ".saved"
        copy(path, saved)
        for attempt in range(10):
            try:
                return command(path, seed + 1000 * attempt, *arguments)
            except RuntimeError as error:
                if "Could not get the schunk from the cframe" not in str(error):
                    raise
                copy(saved, path)
        raise RuntimeError("no seed gives a readable store")

    return run


def main():
    with open(sys.argv[1]) as file:
        jobs = json.load(file)
    commands = {
        "describe": describe,
        "change": retried(change),
        "create": retried(create),
        "table": describe_table,
        "create-table": create_table,
        "change-table": change_table,
        "create-tree": create_tree,
        "tree": describe_tree,
        "create-indexed": create_indexed,
        "where": where,
    }
    results = []
    for command, *arguments in jobs:
        try:
            results.append(commands[command](*arguments))
        except Exception as error:
            trace = traceback.format_tb(error.__traceback__)[-1].strip()
            results.append({"error": f"{command} {arguments}: {type(error).__name__}: {error} ({trace})"})
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
