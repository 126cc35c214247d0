#!/usr/bin/env python3
"""C compilers for other systems: zig's, which is installed if it is missing.

usage: zig.py cc|c++ TARGET ARGUMENT...

Compiles or links with the arguments of Cargo, rustc and CMake, which it translates. Programs for
macOS are linked with the linker that Rust contains. Other scripts use `environment`.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET_DIR = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
# The first version with the C library of FreeBSD.
ZIG_VERSION = "0.15.2"
# The versions for targets that need another one. For Windows, newer ones lack functions for `long
# double`.
VERSIONS = {"x86_64-pc-windows-gnullvm": "0.14.1"}
# Libraries of FreeBSD that zig lacks. Rust's crate `libc` names them, and no program here uses
# them.
LACKING = ["-lkvm", "-lmemstat", "-lprocstat", "-ldevstat"]
# The names of the targets in Rust and in zig.
NAMES = {
    "aarch64-apple-darwin": "aarch64-macos.11.0",
    "x86_64-apple-darwin": "x86_64-macos.11.0",
    "x86_64-unknown-freebsd": "x86_64-freebsd",
    "wasm32-wasip1": "wasm32-wasi",
    "x86_64-pc-windows-gnullvm": "x86_64-windows-gnu",
    "x86_64-pc-windows-msvc": "x86_64-windows-gnu",
}
# Options for Windows that zig lacks or does not need: it knows the libraries of MinGW under other
# names, and has no library for stack protectors.
FOREIGN_TO_WINDOWS = (
    "-lmsvcrt", "-lmingw32", "-lmingwex", "-lsynchronization", "-fstack-protector",
    "-fcf-protection", "-Wl,--major-image-version",
)


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def rust_tools():
    return Path(output("rustc", "--print", "target-libdir")).parent / "bin"


def zig(triple):
    """Returns the command that runs zig for a target. It is installed if it is missing."""
    version = VERSIONS.get(triple, ZIG_VERSION)
    return shlex.split(output(str(ROOT / "scripts" / "need-zig.sh"), version))


def compiler(language, triple, arguments):
    """Compiles or links with the arguments of a compiler for the target: `cc` or `c++`."""
    kept, drops_next = [], False
    for argument in arguments:
        # zig has its own names of targets.
        if drops_next or argument.startswith(("--target=", "-mmacosx-version-min=")):
            drops_next = False
        elif argument in ("-arch", "-isysroot"):
            drops_next = True
        elif "windows" in triple and argument.startswith(FOREIGN_TO_WINDOWS):
            pass
        # zig reads lists of exports as files.
        elif argument.startswith("-Wl,") and argument.endswith(".def"):
            kept.append(argument.removeprefix("-Wl,"))
        else:
            kept.append(argument)
    links = not {"-c", "-E", "-S", "--version"}.intersection(kept)
    if links and "apple" in triple:
        command = mach_o_linker(triple, kept)
    else:
        kept = [argument for argument in kept if argument not in LACKING]
        # zig adds the checks of UBSan, and a library for them, by default.
        command = [*zig(triple), language, "-target", NAMES[triple], "-fno-sanitize=undefined", *kept]
    os.execvp(command[0], command)


def system_libraries():
    """Returns the directory with zig's description of the library of macOS."""
    [libraries] = (TARGET_DIR / f"zig-{ZIG_VERSION}").glob("lib/python*/site-packages/ziglang/lib/libc/darwin")
    return str(libraries)


def mach_o_linker(triple, arguments):
    """Returns the command of the linker for the arguments of a compiler."""
    processor = triple.split("-")[0].replace("aarch64", "arm64")
    command = [str(rust_tools() / "rust-lld"), "-flavor", "darwin", "-arch", processor]
    command += ["-platform_version", "macos", "11.0", "11.0", f"-L{system_libraries()}", "-lSystem"]
    arguments = iter(arguments)
    for argument in arguments:
        if argument == "-dynamiclib":
            command.append("-dylib")
        elif argument.startswith("-Wl,"):
            command += argument.split(",")[1:]
        elif argument == "-framework":
            # zig has no frameworks, so undefined symbols are assumed to be in one.
            next(arguments)
            command += ["-undefined", "dynamic_lookup"]
        # The system's library contains these, except the last one, which is in its directory.
        elif argument not in ("-nodefaultlibs", "-lc", "-lm", "-liconv"):
            command.append(argument)
    return command


def tools(triple):
    """Returns the directory with the programs for a target, which it writes."""
    folder = TARGET_DIR / "compilers" / triple
    folder.mkdir(parents=True, exist_ok=True)
    programs = {
        name: [sys.executable, str(Path(__file__).resolve()), name, triple] for name in ("cc", "c++")
    }
    programs |= {name: [*zig(triple), name] for name in ("ar", "dlltool", "lib", "rc")}
    for name, command in programs.items():
        path = folder / name
        text = f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n'
        # A program that another script runs is not written again.
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            path.chmod(0o755)
    return folder


def environment(triple):
    """Returns the environment of Cargo with the compilers for a target."""
    folder = tools(triple)
    suffix = triple.replace("-", "_")
    # Rust links programs for WASI without other tools.
    linker = {} if "wasi" in triple else {f"CARGO_TARGET_{suffix.upper()}_LINKER": str(folder / "cc")}
    # zig does not know all options of .cargo/config.toml that align code. For WASI, the crate
    # lz4-sys 1.11 renames functions of the C library and lacks the functions with the new names.
    flags = "-DUNALIGNED_OK"
    if "windows" in triple:
        flags += " -falign-functions=64"
    if "wasi" in triple:
        flags = " ".join(f"-Drust_lz4_wasm_shim_{name}={name}" for name in ("malloc", "calloc", "free"))
    # rustc and the crate cc would otherwise ask Xcode for it.
    system = {"SDKROOT": system_libraries()} if "apple" in triple else {}
    return os.environ | linker | system | {
        f"CC_{suffix}": str(folder / "cc"),
        # For Visual Studio, the crate cc makes archives with the arguments of its program.
        f"AR_{suffix}": str(folder / ("lib" if "msvc" in triple else "ar")),
        "CFLAGS": flags,
    }


if __name__ == "__main__":
    compiler(*sys.argv[1:3], sys.argv[3:])
