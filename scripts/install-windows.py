#!/usr/bin/env python3
"""Builds the project for Windows (x86-64, UCRT) and installs it; `make install-windows` runs it.

usage: install-windows.py PREFIX [PROFILE]

Installs the DLLs and programs, import libraries, headers, HDF5 filter plugins, and the pkg-config
and CMake files below PREFIX. The default of PROFILE is release. The compiler and the linker are
zig's (zig.py); the Rust target is installed if it is missing.
"""

import os
import subprocess
import sys

import zig
from zig import ROOT, TARGET_DIR

CARGO = os.environ.get("CARGO", "cargo")
TRIPLE = "x86_64-pc-windows-gnullvm"
PACKAGES = ["capi-blosc2", "capi-blosc1", "capi-ferroblosc", "hdf5-blosc", "hdf5-blosc2", "b2", "blpk"]


def main():
    prefix, profile = (sys.argv[1:] + ["release"])[:2]
    subprocess.run([ROOT / "scripts" / "need-rust.sh", "target", TRIPLE], check=True)
    subprocess.run([ROOT / "scripts" / "need.sh", "binutils"], check=True)
    variables = zig.environment(TRIPLE)
    packages = [word for name in PACKAGES for word in ("--package", f"ferroblosc-{name}")]
    command = [CARGO, "build", "--profile", profile, "--target", TRIPLE, *packages]
    subprocess.run(command, cwd=ROOT, env=variables, check=True)
    build = TARGET_DIR / TRIPLE / ("debug" if profile == "dev" else profile)
    variables = os.environ | {"DLLTOOL": str(zig.tools(TRIPLE) / "dlltool")}
    subprocess.run([ROOT / "scripts" / "install.sh", build, prefix], env=variables, check=True)


if __name__ == "__main__":
    main()
