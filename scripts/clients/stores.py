"""Reads random stores of python-blosc2 4.14.1 with the functions of b2store.h and with `b2`.

usage: stores.py PREFIX ORACLE SECONDS, with the Python of scripts/reference.sh blosc2

PREFIX contains Ferroblosc's libferroblosc.so and `b2`; ORACLE is the directory of `oracle.py`, which
makes the stores. Store number n depends on n only. Ends after 250 stores, or after SECONDS if at
least 100 were read, and prints the number. Each key of each store must have the content that
python-blosc2 wrote.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time

import blosc2
from blosc2.msgpack_utils import msgpack_unpackb

prefix, folder, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
sys.path.insert(0, folder)
import oracle  # noqa: E402

COUNT, LEAST = 250, 100
MSGPACK = 1
TABLE, ARRAY, SCHUNK, OBJECTS, BATCHES, LISTS = 1, 2, 3, 4, 5, 6

pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64
library = ctypes.CDLL(f"{prefix}/lib/libferroblosc.so")
libc = ctypes.CDLL(None)
libc.free.argtypes = [pointer]


def declare(name, result, *arguments):
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments
    return function


class Info(ctypes.Structure):
    _fields_ = [("nbytes", number), ("cbytes", number), ("shape", number * 16),
                ("kind", ctypes.c_int32), ("ndim", ctypes.c_int32)]


last_error = declare("ferroblosc_last_error", text)
open_store = declare("b2store_open", pointer, text)
close_store = declare("b2store_close", ctypes.c_int, pointer)
nkeys = declare("b2store_nkeys", number, pointer)
key_of = declare("b2store_key", text, pointer, number)
get_info = declare("b2store_get_info", ctypes.c_int, pointer, text, ctypes.POINTER(Info))
frame_of = declare("b2store_frame", number, pointer, text, ctypes.POINTER(pointer))
open_objects = declare("b2store_open_objects", pointer, pointer, text)
objects_len = declare("b2store_objects_len", number, pointer)
objects_read = declare("b2store_objects_read", number, pointer, number, number, ctypes.c_int,
                       ctypes.POINTER(pointer))
objects_close = declare("b2store_objects_close", ctypes.c_int, pointer)
open_table = declare("b2store_open_table", pointer, pointer, text)
table_len = declare("b2store_table_len", number, pointer)
table_ncolumns = declare("b2store_table_ncolumns", ctypes.c_int, pointer)
table_name = declare("b2store_table_name", text, pointer, ctypes.c_int)
table_values = declare("b2store_table_read_values", number, pointer, ctypes.c_int, number, number, ctypes.c_int,
                       ctypes.POINTER(pointer))
table_close = declare("b2store_table_close", ctypes.c_int, pointer)


def content(function, *arguments):
    """Calls a function that allocates bytes, and returns them."""
    address = pointer()
    size = function(*arguments, ctypes.byref(address))
    if size < 0:
        raise RuntimeError(last_error().decode())
    found = ctypes.string_at(address, size)
    libc.free(address)
    return found


def values(data):
    return [oracle.value(item) for item in msgpack_unpackb(data)]


def read_table(store, key):
    table = open_table(store, key)
    assert table, last_error()
    rows = table_len(table)
    columns = {table_name(table, at).decode(): values(content(table_values, table, at, 0, rows, MSGPACK))
               for at in range(table_ncolumns(table))}
    table_close(table)
    return {"type": "CTable", "rows": rows, "columns": columns}


def read(store, key, wanted):
    """Returns an object in the form of the oracle."""
    info = Info()
    assert get_info(store, key, ctypes.byref(info)) == 0, last_error()
    if info.kind == TABLE:
        return read_table(store, key)
    if info.kind in (ARRAY, SCHUNK):
        frame = content(frame_of, store, key)
        item = blosc2.ndarray_from_cframe(frame) if info.kind == ARRAY else blosc2.schunk_from_cframe(frame)
        if info.kind == ARRAY:
            assert list(info.shape[:info.ndim]) == list(item.shape), key
        return oracle.describe_object(item)
    assert info.kind in (OBJECTS, BATCHES, LISTS), info.kind
    objects = open_objects(store, key)
    assert objects, last_error()
    items = values(content(objects_read, objects, 0, objects_len(objects), MSGPACK))
    objects_close(objects)
    if info.kind == BATCHES:
        # The boundaries of batches are not read with these functions.
        assert items == [item for batch in wanted["batches"] for item in batch], key
        return wanted
    return {**wanted, "items": items}


def make(path, seed):
    """Makes a store and returns its objects in the form of the oracle."""
    kind = seed % 5
    if kind < 2:
        return {"/": oracle.create_table(path, seed)}
    if kind == 2:
        return oracle.retried(oracle.create_tree)(path, seed)
    name = "DictStore" if kind == 3 else "TreeStore"
    return oracle.retried(oracle.create)(path, seed, name, (0, 300, 100_000)[seed // 5 % 3])["items"]


def rows_of_b2(path, key):
    """Returns the number of rows that `b2 cat` prints, each as JSON."""
    shown = subprocess.run([f"{prefix}/bin/b2", "cat", f"{path}:{key}"], capture_output=True, check=True)
    return len([json.loads(line) for line in shown.stdout.splitlines()])


def main():
    start, done, objects, tables = time.monotonic(), 0, 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        paths = []
        for seed in range(COUNT):
            if done >= LEAST and time.monotonic() - start > seconds:
                break
            path = os.path.join(scratch, f"s{seed}.{('b2z', 'b2d')[seed // 2 % 2]}")
            wanted = make(path, seed + 10_000)
            store = open_store(path.encode())
            assert store, f"{path}: {last_error()}"
            keys = [key_of(store, at).decode() for at in range(nkeys(store))]
            assert sorted(keys or ["/"]) == sorted(wanted or ["/"]), f"{path}: {keys}"
            for key, item in wanted.items():
                if item == {"type": "group"}:
                    continue
                found = read(store, key.encode(), item)
                assert found == item, f"seed {seed}, {key}: {found} instead of {item}"
                objects += 1
                if item["type"] == "CTable" and item["columns"]:
                    tables += 1
                    assert rows_of_b2(path, key) == item["rows"], f"seed {seed}, {key}: b2 cat"
            close_store(store)
            paths.append(path)
            done += 1
        for first in range(0, len(paths), 50):
            subprocess.run([f"{prefix}/bin/b2", "verify", *paths[first:first + 50]], check=True,
                           stdout=subprocess.DEVNULL)
    print(f"{done} stores with {objects} objects, of which {tables} are tables")


if __name__ == "__main__":
    main()
