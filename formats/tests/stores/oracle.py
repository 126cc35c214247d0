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
    items = np.ma.getdata(items)
    if items.dtype.kind == "M":
        items = items.astype(np.int64)
    if items.ndim > 1 and not items.size:
        return [None] * len(items)
    return [None if null else value(item) for null, item in zip(nulls, items.tolist())]


def open_table(path, key, mode):
    """Returns the store, if it is not the table, and the table."""
    if path.endswith(".b2e"):
        with open(path, "rb") as file:
            return None, blosc2.ctable_from_cframe(file.read())
    opened = blosc2.open(path, mode=mode)
    return (None, opened) if key == "/" else (opened, opened[key])


def describe_table(path, key):
    store, t = open_table(path, key, "r")
    found = {"type": "CTable", "rows": len(t), "columns": {c: cells(t[c]) for c in t.col_names}}
    if not path.endswith(".b2e"):
        t.close()
    if store is not None:
        store.close()
    return found


def spec(rng):
    """Returns a random description of a column, and a function that returns a random value."""
    null = rng.randrange(2) == 0
    kind = rng.randrange(13)
    words = ["", "a", "é€", "long x", "zz"]

    def cell(random_value):
        return lambda: None if null and rng.randrange(4) == 0 else random_value()

    if kind < 3:
        name = rng.choice(["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
        return getattr(blosc2, name)(nullable=null), cell(lambda: rng.randrange(100))
    if kind == 3:
        name = rng.choice(["float32", "float64"])
        return getattr(blosc2, name)(nullable=null), cell(lambda: rng.randrange(4000) / 8)
    if kind == 4:
        return blosc2.bool(nullable=null), cell(lambda: rng.randrange(2) == 0)
    if kind == 5:
        return blosc2.string(max_length=6, nullable=null), cell(lambda: rng.choice(words))
    if kind == 6:
        return blosc2.bytes(max_length=5, nullable=null), cell(lambda: rng.choice([b"", b"x", b"\xff1"]))
    if kind == 7:
        return blosc2.utf8(nullable=null), cell(lambda: rng.choice(words))
    if kind == 8:
        return blosc2.vlstring(nullable=null), cell(lambda: rng.choice(words))
    if kind == 9:
        return blosc2.list(blosc2.int32(), nullable=null), cell(lambda: list(range(rng.randrange(4))))
    if kind == 10:
        return blosc2.dictionary(nullable=null), cell(lambda: f"word {rng.randrange(9)}")
    if kind == 11:
        return blosc2.vlbytes(nullable=null), cell(lambda: rng.choice([b"", b"\0", b"12"]))
    return blosc2.object(nullable=null), cell(lambda: rng.choice([(1, "x"), {"k": [None]}, 0.5]))


def create_table(path, seed):
    rng = random.Random(seed)
    specs = {f"p{number}": spec(rng) for number in range(rng.randrange(1, 7))}
    types = {name: list[int] if column.python_type is list else column.python_type
             for name, (column, _) in specs.items()}
    fields = [(name, types[name], blosc2.field(column)) for name, (column, _) in specs.items()]
    t = blosc2.CTable(dataclasses.make_dataclass("Row", fields), urlpath=path, mode="w",
                      expected_size=rng.choice([16, 5000]))
    for _ in range(rng.randrange(60)):
        t.append([cell() for _, cell in specs.values()])
    if len(t) > 3:
        t.delete([0, 2])
    t.vlmeta["seed"] = seed
    t.close()
    return describe_table(path, "/")


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
    """Appends rows, changes a cell, deletes rows and adds a column; values are copied from others."""
    rng = random.Random(seed)
    store, t = open_table(path, key, "a")
    names = t.col_names
    count = len(t)
    if count:
        rows = [[t[c][i] for c in names] for i in [rng.randrange(count) for _ in range(5)]]
        for row in rows:
            t.append([plain(item) for item in row])
        t.delete([rng.randrange(count)])
    t.add_column(f"by_python{seed % 1000}", blosc2.field(blosc2.int64(), default=7))
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
    """Deletes a key, replaces one, adds others and sets attributes; returns what the store is then."""
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
        "create-indexed": create_indexed,
        "where": where,
    }
    results = []
    for command, *arguments in jobs:
        try:
            results.append(commands[command](*arguments))
        except Exception as error:
            results.append({"error": f"{command} {arguments}: {type(error).__name__}: {error}"})
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
