#!/usr/bin/env python3
"""Builds the project for systems that cannot be run here; `make check-targets` runs it.

usage: check-targets.py [TARGET...]

Builds the libraries, the programs and their unit tests for macOS (both processors) and FreeBSD, and
checks the names and the exported functions of the shared libraries. For Windows with Visual Studio,
whose libraries are missing here, they are checked by the compiler and not linked. The builds are in
target/TARGET. The table at the end has the results and times; if anything fails, the status is 1.

The C compiler is zig's (zig.py).
"""

import os
import re
import subprocess
import sys
import time

import zig
from zig import ROOT, TARGET_DIR, output, rust_tools

CARGO = os.environ.get("CARGO", "cargo")
TARGETS = ["aarch64-apple-darwin", "x86_64-apple-darwin", "x86_64-unknown-freebsd"]
# The targets that are not linked.
CHECKED = ["x86_64-pc-windows-msvc"]
# The libraries: package, name, version of the interface, functions.
LIBRARIES = [
    ("ferroblosc-capi-blosc2", "blosc2", "9", "symbols-libblosc2.so.9.txt"),
    ("ferroblosc-capi-blosc1", "blosc", "1", "symbols-libblosc.so.1.txt"),
    ("ferroblosc-capi-ferroblosc", "ferroblosc", "0", "symbols-libferroblosc.so.0.txt"),
    ("ferroblosc-hdf5-blosc", "H5Zblosc", "", None),
    ("ferroblosc-hdf5-blosc2", "H5Zblosc2", "", None),
]
PROGRAMS = ["ferroblosc-b2", "ferroblosc-blpk"]
TESTED = ["ferroblosc", "ferroblosc-formats", "ferroblosc-tools-common", "ferroblosc-b2", "ferroblosc-capi-common"]


class Failed(Exception):
    """A check that failed."""


def build(triple):
    """Builds or checks everything for a target, without warnings."""
    variables = zig.environment(triple) | {"RUSTFLAGS": "-Dwarnings"}
    packages = [word for name, *_ in LIBRARIES for word in ("--package", name)]
    packages += [word for name in PROGRAMS for word in ("--package", name)]
    tested = [word for name in TESTED for word in ("--package", name)]
    commands = [["build"], ["test", "--no-run", "--lib", "--bins"]]
    if triple in CHECKED:
        commands = [["check"], ["check", "--profile", "test", "--lib", "--bins"]]
    for command, selected in zip(commands, [packages, tested]):
        command = [CARGO, *command, "--target", triple, *selected]
        subprocess.run(command, cwd=ROOT, env=variables, check=True)


def check_library(triple, name, version, functions):
    """Checks the name and the exported functions of a shared library."""
    folder = TARGET_DIR / triple / "debug"
    apple = "apple" in triple
    library = folder / f"lib{name}.{'dylib' if apple else 'so'}"
    listed = output(str(rust_tools() / "llvm-nm"), "--defined-only", "--extern-only", *([] if apple else ["--dynamic"]), str(library))
    exported = {line.split()[-1] for line in listed.splitlines()}
    if apple:
        exported = {symbol.removeprefix("_") for symbol in exported}
    if functions:
        lines = (ROOT / "tests" / "abi" / functions).read_text().splitlines()
        expected = {line.split()[0] for line in lines if not line.startswith("#")}
        if exported != expected:
            raise Failed(f"{library.name} lacks {expected - exported} and exports {exported - expected}")
    if apple:
        found = output(str(rust_tools() / "llvm-objdump"), "--macho", "--dylib-id", str(library)).splitlines()[-1]
        wanted = f"@rpath/lib{name}{'.' if version else ''}{version}.dylib"
    else:
        dynamic = output(str(rust_tools() / "llvm-readobj"), "--dynamic-table", str(library))
        found = re.search(r"SONAME.*\[(.*)\]", dynamic)[1]
        wanted = f"lib{name}.so{'.' if version else ''}{version}"
    if found != wanted:
        raise Failed(f"{library.name} has the name {found}, not {wanted}")
    return len(exported)


def main():
    triples = sys.argv[1:] or TARGETS + CHECKED
    needed = [["component", "llvm-tools"]] + [["target", triple] for triple in triples]
    for words in needed:
        if subprocess.run([ROOT / "scripts" / "need-rust.sh", *words], check=False).returncode != 0:
            sys.exit(0 if os.environ.get("ALLOW_UNCHECKED") else 1)
    rows, failed = [], False
    for triple in triples:
        start = time.monotonic()
        try:
            build(triple)
            if triple in CHECKED:
                result = "checked, not linked"
            else:
                counts = [f"{name} {check_library(triple, name, version, functions)}" for _, name, version, functions in LIBRARIES]
                result = f"built; exported functions: {', '.join(counts)}"
        except (Failed, subprocess.CalledProcessError) as error:
            failed, result = True, f"FAILED: {error}"
        rows.append(f"{triple:24} {time.monotonic() - start:5.0f} s  {result}")
    print(*rows, sep="\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()
