#!/usr/bin/env python3
"""Counts the instructions of calls on processors that QEMU emulates; `make count-instructions` runs it.

usage: count-instructions.py [TARGET...]

Speed cannot be measured in an emulator, but the number of instructions for each byte of data can: a
plugin of QEMU counts them in a C program. TARGET is aarch64 (the default), where the wheel of
python-blosc2 contains the reference, or riscv64, powerpc64le or s390x, where ours are counted alone.
Prints a table for each target.
"""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from zig import ROOT, TARGET_DIR

CARGO = os.environ.get("CARGO", "cargo")
REFERENCE = "blosc2==4.14.1"
ROUNDS = 3
# The triple, the prefix of the C compiler, the architecture in names of Debian packages, and QEMU.
TARGETS = {
    "aarch64": ("aarch64-unknown-linux-gnu", "aarch64-linux-gnu", "arm64", "qemu-aarch64"),
    "riscv64": ("riscv64gc-unknown-linux-gnu", "riscv64-linux-gnu", "riscv64", "qemu-riscv64"),
    "powerpc64le": ("powerpc64le-unknown-linux-gnu", "powerpc64le-linux-gnu", "ppc64el", "qemu-ppc64le"),
    "s390x": ("s390x-unknown-linux-gnu", "s390x-linux-gnu", "s390x", "qemu-s390x"),
}
BLOSCLZ, LZ4, LZ4HC, ZLIB, ZSTD = 0, 1, 2, 4, 5
SHUFFLE, BITSHUFFLE, DELTA = 1, 2, 3
BLOCK, CHUNK = 1 << 15, 1 << 18


def rows():
    """Returns the names of the rows, and for writing and reading the arguments and the bytes of a call."""
    for call, sizes in [("shuffle", (2, 3, 4, 8, 12, 16, 32)), ("bitshuffle", (1, 2, 4, 8, 16))]:
        reverse = call.replace("shuffle", "unshuffle")
        for size in sizes:
            yield f"{call} of {size} bytes", [call, size], [reverse, size], BLOCK
    named = [
        ("BloscLZ + shuffle", BLOSCLZ, SHUFFLE), ("LZ4 + shuffle", LZ4, SHUFFLE),
        ("LZ4 + bitshuffle", LZ4, BITSHUFFLE), ("LZ4 + delta", LZ4, DELTA), ("LZ4", LZ4, 0),
        ("LZ4HC + shuffle", LZ4HC, SHUFFLE), ("Zlib + shuffle", ZLIB, SHUFFLE), ("Zstd + shuffle", ZSTD, SHUFFLE),
    ]
    for name, codec, code in named:
        for size in (4, 8):
            tail = [codec, code]
            yield f"{name}, {size} bytes", ["compress", size, *tail], ["decompress", size, *tail], CHUNK


def run(*command, **options):
    return subprocess.run([str(word) for word in command], cwd=ROOT, check=True, **options)


def build(triple, compiler):
    """Builds libblosc2 with optimisation; returns its directory."""
    name = triple.upper().replace("-", "_")
    environment = os.environ | {f"CARGO_TARGET_{name}_LINKER": f"{compiler}-gcc"}
    run(CARGO, "build", "--release", "--target", triple, "--package", "ferroblosc-capi-blosc2", env=environment)
    folder = TARGET_DIR / "count" / triple
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "libblosc2.so.9"
    link.unlink(missing_ok=True)
    link.symlink_to(TARGET_DIR / triple / "release" / "libblosc2.so")
    return folder


def reference():
    """Downloads the wheel for AArch64; returns the directory of its library."""
    folder = TARGET_DIR / "count" / "reference"
    library = folder / "libblosc2.so.9"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        python = TARGET_DIR / "count" / "venv" / "bin" / "python"
        if not python.exists():
            run(sys.executable, "-m", "venv", python.parent.parent)
        run(python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
            "--platform", "manylinux_2_28_aarch64", "--only-binary=:all:", "--python-version", "3.12",
            "--dest", folder, REFERENCE)
        with zipfile.ZipFile(next(folder.glob("blosc2-*.whl"))) as wheel:
            name = next(name for name in wheel.namelist() if re.search(r"libblosc2\.so[.\d]*$", name))
            library.write_bytes(wheel.read(name))
    return folder


def counts(target, program, plugin, libraries):
    """Returns the instructions for each byte by name of the row, writing and reading."""
    _, compiler, _, emulator = TARGETS[target]

    def count(call, size, *rest, rounds):
        arguments = [str(word) for word in (call, size, rounds, *rest)]
        result = run(
            emulator, "-L", f"/usr/{compiler}", "-E", f"LD_LIBRARY_PATH={libraries}:/usr/{compiler}/lib",
            "-plugin", plugin, program, *arguments, stderr=subprocess.PIPE, text=True,
        )
        return int(re.search(r"instructions: (\d+)", result.stderr)[1])

    def cost(call, nbytes):
        # The first calls of a process initialise tables.
        return (count(*call, rounds=1 + ROUNDS) - count(*call, rounds=1)) / ROUNDS / nbytes

    return {name: (cost(write, nbytes), cost(read, nbytes)) for name, write, read, nbytes in rows()}


def main():
    for target in sys.argv[1:] or ["aarch64"]:
        triple, compiler, architecture, _ = TARGETS[target]
        run("scripts/need.sh", "gcc", f"gcc-{compiler}", f"libc6-dev-{architecture}-cross", "qemu-user")
        run("scripts/need-rust.sh", "target", triple)
        folder = build(triple, compiler)
        source = ROOT / "benches" / "instructions"
        plugin, program = folder / "plugin.so", folder / "calls"
        run("gcc", "-O1", "-Wall", "-Wextra", "-shared", "-fPIC", "-fvisibility=hidden", source / "plugin.c", "-o", plugin)
        run(f"{compiler}-gcc", "-O1", "-Wall", "-Wextra", "-Iinclude", source / "calls.c", "-o", program, folder / "libblosc2.so.9")
        ours = counts(target, program, plugin, folder)
        theirs = counts(target, program, plugin, reference()) if target == "aarch64" else {}
        print(f"\n{target}: instructions for each byte\n")
        print("| call | writing | reference | ratio | reading | reference | ratio |")
        print("|---|---|---|---|---|---|---|")
        for name, own in ours.items():
            words = [name]
            for cell in (0, 1):
                other = theirs.get(name, (None, None))[cell]
                words += [f"{own[cell]:.2f}", *([f"{other:.2f}", f"{other / own[cell]:.2f}"] if other else ["", ""])]
            print("| " + " | ".join(words) + " |", flush=True)


if __name__ == "__main__":
    main()
