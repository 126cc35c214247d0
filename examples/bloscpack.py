#!/usr/bin/env python3
"""Bloscpack from Python with ctypes and libferroblosc.so.0 only.

Packs numbers with metadata, reads a range, appends, and unpacks everything.

    LD_LIBRARY_PATH=/usr/local/lib python3 examples/bloscpack.py [FILE]
"""

import array
import ctypes
import json
import sys
import tempfile

lib = ctypes.CDLL("libferroblosc.so.0")
lib.bloscpack_last_error.restype = ctypes.c_char_p


class Args(ctypes.Structure):
    """struct bloscpack_args of bloscpack.h."""

    _fields_ = [
        ("codec", ctypes.c_char_p),
        ("checksum", ctypes.c_char_p),
        ("metadata", ctypes.c_char_p),
        ("chunk_size", ctypes.c_uint64),
        ("max_app_chunks", ctypes.c_int64),
        ("max_meta_size", ctypes.c_int64),
        ("typesize", ctypes.c_int32),
        ("clevel", ctypes.c_int32),
        ("shuffle", ctypes.c_int32),
        ("offsets", ctypes.c_int32),
        ("nthreads", ctypes.c_int32),
    ]


def function(name, *types):
    """Returns a function whose negative results raise OSError."""

    def check(result, *_):
        if result < 0:
            raise OSError(lib.bloscpack_last_error().decode() or f"error {result}")
        return result

    found = getattr(lib, name)
    found.argtypes = types
    found.restype = ctypes.c_int64
    found.errcheck = check
    return found


PATH, BYTES, SIZE, ARGS = ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(Args)
pack_bytes_to_file = function("bloscpack_pack_bytes_to_file", BYTES, SIZE, PATH, ARGS)
append_bytes = function("bloscpack_append_bytes", PATH, BYTES, SIZE, ARGS)
read_range = function("bloscpack_read_range", PATH, ctypes.c_uint64, SIZE, BYTES)
unpack_bytes_from_file = function(
    "bloscpack_unpack_bytes_from_file",
    PATH,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_void_p),
)
libc = ctypes.CDLL(None)
libc.free.argtypes = [ctypes.c_void_p]


def take(pointer, size):
    """Copies and frees memory allocated by the library."""
    data = ctypes.string_at(pointer, size)
    libc.free(pointer)
    return data


def main(path):
    args = Args()
    lib.bloscpack_args_default(ctypes.byref(args))
    args.codec = b"zstd"
    args.metadata = json.dumps({"unit": "K", "typecode": "d"}).encode()
    args.nthreads = 2

    numbers = array.array("d", [0.5 * i for i in range(1_000_000)])
    data = numbers.tobytes()
    size = pack_bytes_to_file(data, len(data), path, args)
    print(f"{len(data)} bytes became {size}")

    some = ctypes.create_string_buffer(3 * 8)
    read_range(path, 8 * 500_000, len(some), some)
    print("three numbers:", list(array.array("d", some.raw)))

    append_bytes(path, data, len(data), None)
    start, metadata = ctypes.c_void_p(), ctypes.c_void_p()
    size = unpack_bytes_from_file(path, 2, ctypes.byref(start), ctypes.byref(metadata))
    back = take(start.value, size)
    assert back == data + data
    value = json.loads(ctypes.string_at(metadata.value))
    libc.free(metadata)
    print(f"{size} bytes unpacked, metadata {value}")

    try:
        read_range(b"/nonexistent", 0, 0, some)
    except OSError as error:
        print("expected error:", error)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1].encode())
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(f"{folder}/numbers.blp".encode())
