#!/usr/bin/env python3
"""The steps of test-windows.sh, which installs wine and the compiler and runs this script.

usage: test-windows.py [STEP...]

  unit       unit tests of the core, of the formats and of the programs
  exports    the installed DLLs have exactly the functions of the C libraries
  headers    the headers compile as C and C++, with the rules of MinGW and of Visual Studio
  C          C programs, linked with the import libraries
  hdf5       the HDF5 filters, with two copies of HDF5's DLL from the wheel of h5py
  digest     digests of chunks and frames of all codecs, which must be those of this machine
  corpus     files of all formats: each system verifies and changes those of the other
  reference  C-Blosc2's DLL, from the wheel of python-blosc2, reads frames of ours and vice versa
  install    projects use the installed files with CMake and with pkg-config
  programs   b2.exe and blpk.exe: pipes, paths with drives, devices, conversions
  interrupt  b2.exe and blpk.exe remove incomplete files when Ctrl-C ends them

Each program is ended after WINDOWS_SECONDS (default 1500). The first failure ends the script with
the status 1.
"""

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import zig
from zig import ROOT, TARGET_DIR

TRIPLE = "x86_64-pc-windows-gnullvm"
CARGO = os.environ.get("CARGO", "cargo")
# The upper bound of the time of one program in seconds: of unit tests, and of others.
UNIT_LIMIT = int(os.environ.get("WINDOWS_SECONDS", 1500))
LIMIT = 300

# wine 8 keeps the name of a removed file until the file is closed, and replaces no open files.
# Windows does neither since version 10.
LACKING = [
    "bloscpack::journal::tests::a_replaced_file_is_not_locked_for_a_change",
    "io::filesystem::tests::a_file_is_identified_independently_of_its_name",
    "io::lock::tests::a_recreated_lock_file_is_used",
    "io::reader::tests::a_file_kept_open_stays_readable_after_removal",
    "io::reader::tests::a_replaced_file_is_followed_and_reported_once",
    "io::temporary::tests::files_of_other_processes_are_neither_renamed_nor_removed",
    "store::writer::tests::a_replaced_file_is_not_at_its_path",
    "tree::tests::files_may_be_removed_while_they_are_counted",
]
# Opening thousands of files takes minutes in wine.
SLOW = [
    "schunk::hostile_tests::row_d11_row_f15_corrupted_directories_give_errors_or_correct_data",
    "schunk::hostile_tests::row_d11_row_f15_corrupted_files_give_errors_or_correct_data",
]

# The libraries, and their lists of functions.
LIBRARIES = {
    "blosc2": "symbols-libblosc2.so.9.txt",
    "blosc": "symbols-libblosc.so.1.txt",
    "ferroblosc": "symbols-libferroblosc.so.0.txt",
}
# The C programs for each list of libraries. Others of c-tests need processes, limits, links or a
# shell of POSIX, empty environment variables, or replace open files, which wine 8 cannot.
PROGRAMS = {
    ("blosc2",): [
        "b2nd_shapes.c", "b2nd_slices.c", "callbacks.c", "global.c", "information.c",
        "inline.c", "borrowed_memory.c", "meta.c", "outputs.c", "reentrant.c", "roundtrip.c",
        "row_c11_null_arguments.c", "row_c12_c13_names.c",
        "row_c38_shuffles.c", "rows_schunk.c", "rows_schunk_data.c", "schunk.c", "vlblocks.c",
        "windows/paths.c",
    ],
    ("blosc",): ["blosc1/calls.c"],
    ("ferroblosc",): ["ferroblosc/bcolz.c", "ferroblosc/bloscpack.c", "ferroblosc/util.c"],
    ("ferroblosc", "blosc2"): ["ferroblosc/row_d12_durability.c", "ferroblosc/transactions.c"],
    ("ferroblosc", "blosc2", "blosc"): ["ferroblosc/row_d12_three.c"],
}
# The programs for the shared libraries in tests/consumers/pkg-config.
PKG_CONFIG_PROGRAMS = [f"use-{name}-{language}-shared" for name in LIBRARIES for language in ("c", "cxx")]
# Options that select a language and a compiler whose rules the headers must follow. With the rules
# of Visual Studio, headers of the system need the number of a version of GCC.
VISUAL_STUDIO = ["-fms-extensions", "-fms-compatibility", "-D_MSC_VER=1938", "-fgnuc-version=4.2.1"]
DIALECTS = {
    "C": ["-std=c99", "-pedantic"],
    "C++": ["-x", "c++", "-std=c++11", "-pedantic"],
    "C of Visual Studio": ["-std=c11", *VISUAL_STUDIO],
    "C++ of Visual Studio": ["-x", "c++", "-std=c++14", *VISUAL_STUDIO],
}
# The wheels with the DLLs of C-Blosc2 and of HDF5.
REFERENCE = "blosc2==4.14.1"
# Newer versions of HDF5 call feholdexcept, which wine 8 lacks.
HDF5 = "h5py==3.11.0"


class Failed(Exception):
    """A failed step, with the output of its program."""


def run(command, limit=LIMIT, directory=ROOT, data=None, status=0, environment=None):
    """Runs a command and returns its output. After the limit, all its processes are ended."""
    with subprocess.Popen(
        [str(word) for word in command], cwd=directory, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        env=os.environ | (environment or {}),
    ) as process:
        try:
            output, errors = process.communicate(data or b"", timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise Failed(f"{command} was stopped after {limit} s") from None
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode != status:
        text = (output + errors).decode(errors="replace")
        raise Failed(f"{command} ended with {process.returncode}:\n{text[-20000:]}")
    return output


class Windows:
    """The tests of one build."""

    def __init__(self):
        self.folder = TARGET_DIR / "windows"
        self.built, self.host = TARGET_DIR / TRIPLE / "debug", TARGET_DIR / "debug"
        self.prefix = self.folder / "installed"
        self.tools = zig.tools(TRIPLE)
        self.cc = self.tools / "cc"
        self.python = zig.zig(TRIPLE)[0]
        self.run = self.folder / "run"
        self.prepare()

    def prepare(self):
        """Writes the script that runs a program, and a DLL that the programs need."""
        system = self.folder / "system"
        system.mkdir(parents=True, exist_ok=True)
        # Rust's standard library needs this DLL, which wine lacks before version 9.
        source, dll = self.folder / "bcryptprimitives.c", system / "bcryptprimitives.dll"
        source.write_text("""
            #include <windows.h>
            BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);
            __declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
                return SystemFunction036(data, (ULONG)length);
            }
        """)
        if not dll.exists():
            run([self.cc, "-shared", source, "-ladvapi32", "-o", dll])
        self.run.write_text(f"""#!/bin/sh
            export WINEDEBUG=-all WINEPREFIX="{self.folder}/prefix"
            export WINEPATH="Z:{system};Z:{self.prefix}/bin"
            exec timeout {UNIT_LIMIT} /usr/lib/wine/wine64 "$@"
        """)
        self.run.chmod(0o755)

    def cargo(self, *arguments, target=True, **options):
        words = [CARGO, *arguments, *(["--target", TRIPLE] if target else [])]
        environment = zig.environment(TRIPLE) if target else os.environ
        return subprocess.run(words, cwd=ROOT, env=environment, check=True, **options)

    def unit(self):
        packages = ["ferroblosc", "ferroblosc-formats", "ferroblosc-tools-common", "ferroblosc-b2"]
        selected = [word for package in packages for word in ("--package", package)]
        features = ["--features", "ferroblosc-formats/csv,ferroblosc-formats/zarr"]
        built = self.cargo(
            "test", "--no-run", "--lib", "--bins", "--message-format=json-render-diagnostics",
            *selected, *features, stdout=subprocess.PIPE,
        )
        messages = [json.loads(line) for line in built.stdout.splitlines()]
        skipped = [word for name in LACKING + SLOW for word in ("--skip", name)]
        passed = 0
        for message in messages:
            if message.get("executable") and message.get("profile", {}).get("test"):
                directory = Path(message["manifest_path"]).parent
                command = [self.run, message["executable"], "--quiet", *skipped]
                output = run(command, UNIT_LIMIT + 60, directory)
                lines = output.decode(errors="replace").splitlines()
                results = [line for line in lines if line.startswith("test result: ok. ")]
                passed += int(results[-1].split()[3])
        return f"{passed} tests"

    def build(self):
        shutil.rmtree(self.prefix, ignore_errors=True)
        # The tree is moved: no installed file contains its path.
        staged = self.folder / "staged"
        shutil.rmtree(staged, ignore_errors=True)
        command = [ROOT / "scripts" / "install-windows.py", staged, "dev"]
        subprocess.run(command, cwd=ROOT, check=True)
        for file in staged.rglob("*"):
            if file.suffix in (".pc", ".cmake", ".h") and str(staged) in file.read_text():
                raise Failed(f"{file} contains the path to which it was installed")
        staged.rename(self.prefix)
        self.cargo("build", "--package", "ferroblosc-ports")
        self.cargo("build", "--package", "ferroblosc-ports", target=False)
        return "built and installed"

    def exports(self):
        numbers = []
        for name, listed in LIBRARIES.items():
            dll = f"lib{name}.dll"
            expected = {
                line.split()[0]
                for line in (ROOT / "tests/abi" / listed).read_text().splitlines()
                if line.strip() and not line.startswith("#")
            }
            lines = run(["objdump", "-p", self.prefix / "bin" / dll]).decode().splitlines()
            start = lines.index("[Ordinal/Name Pointer] Table") + 1
            found = set()
            for line in lines[start:]:
                if not line.strip():
                    break
                found.add(line.split()[-1])
            if found != expected:
                raise Failed(f"{dll} lacks {sorted(expected - found)}, and adds {sorted(found - expected)}")
            numbers.append(f"{dll}: {len(found)}")
        return ", ".join(numbers)

    def headers(self):
        folder = self.folder / "headers"
        folder.mkdir(parents=True, exist_ok=True)
        include = self.prefix / "include"
        headers = sorted(str(path.relative_to(include)) for path in include.rglob("*.h"))
        # Programs include one of <blosc.h> and <blosc2.h>. Each header is also included alone.
        one = [name for name in headers if name.startswith(("blosc.h", "blosc-"))]
        texts = [[name] for name in headers] + [one, [name for name in headers if name not in one]]
        sources = []
        for number, names in enumerate(texts):
            sources.append(folder / f"{number}.c")
            lines = [f"#include <{name}>\n" for name in names]
            sources[-1].write_text("".join(lines) + "int main(void) { return 0; }\n")
        for dialect, options in DIALECTS.items():
            for source in sources:
                run([self.cc, *options, "-Wall", "-Wextra", "-Werror", "-I", include, "-c", source,
                     "-o", folder / "object"])
        return f"{len(headers)} headers in {len(DIALECTS)} dialects"

    def compile(self, source, program, includes, libraries):
        run([self.cc, "-std=gnu11", "-O1", "-Wno-unused-command-line-argument", "-include",
             "c-tests/windows/posix.h", "-I", includes, source, "-o", program, *libraries])

    def c_programs(self):
        count = 0
        for libraries, sources in PROGRAMS.items():
            linked = [self.prefix / "lib" / f"lib{name}.dll.a" for name in libraries]
            for source in sources:
                name = source.replace("/", "-").removesuffix(".c")
                scratch = self.folder / "c" / name
                shutil.rmtree(scratch, ignore_errors=True)
                scratch.mkdir(parents=True)
                program = scratch / f"{name}.exe"
                self.compile(f"c-tests/{source}", program, self.prefix / "include", linked)
                run([self.run, program], directory=scratch)
                count += 1
        return f"{count} programs"

    def wheel(self, requirement):
        """Downloads and unpacks a package's wheel for Windows; returns its directory."""
        folder = self.folder / "wheels" / requirement
        if not folder.is_dir():
            packed = self.folder / "packed" / requirement
            shutil.rmtree(packed, ignore_errors=True)
            run([self.python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                 "--no-deps", "--platform", "win_amd64", "--only-binary=:all:", "--python-version",
                 "3.12", "--dest", packed, requirement])
            (file,) = packed.glob("*.whl")
            zipfile.ZipFile(file).extractall(packed / "wheel")
            folder.parent.mkdir(parents=True, exist_ok=True)
            (packed / "wheel").rename(folder)
        return folder

    def hdf5(self):
        scratch = self.folder / "hdf5"
        shutil.rmtree(scratch, ignore_errors=True)
        (scratch / "other").mkdir(parents=True)
        folder = self.wheel(HDF5) / "h5py"
        for dll in folder.glob("*.dll"):
            name = "other.dll" if dll.name == "hdf5.dll" else dll.name
            shutil.copy(dll, scratch / "other" / name)
        program = scratch / "hdf5.exe"
        self.compile("c-tests/windows/hdf5.c", program, self.prefix / "include", [])
        plugins = windows_path(self.prefix / "lib" / "hdf5" / "plugin")
        copies = [windows_path(path) for path in (folder / "hdf5.dll", scratch / "other" / "other.dll")]
        run([self.run, program, plugins, *copies], directory=scratch)
        # b2 reads the file with the same DLL.
        environment = {"FERROBLOSC_HDF5": copies[0]}
        run([self.run, self.prefix / "bin/b2.exe", "convert", "2-32026.h5:/data", "data.b2nd"],
            directory=scratch, environment=environment)
        # The path can be relative, and have slashes.
        environment = {"FERROBLOSC_HDF5": "other/other.dll"}
        run([self.run, self.prefix / "bin/b2.exe", "convert", "2-32026.h5:/data", "other.b2nd"],
            directory=scratch, environment=environment)
        return "two filters in two copies of HDF5, b2"

    def ports(self, *arguments):
        return run([self.run, self.built / "ferroblosc-ports.exe", *arguments])

    def host_ports(self, *arguments):
        return run([self.host / "ferroblosc-ports", *arguments])

    def digest(self):
        ours, theirs = (text.decode().split("\n") for text in (self.ports("digest"), self.host_ports("digest")))
        ours = [line.rstrip("\r") for line in ours]
        if ours != theirs:
            raise Failed("these digests differ:\n" + "\n".join(sorted(set(ours) ^ set(theirs))))
        return f"{len(ours) - 1} equal"

    def corpus(self):
        folder = self.folder / "corpus"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        systems = {"windows": self.ports, "host": self.host_ports}
        for name, system in systems.items():
            system("write", folder / name)
        for (name, system), other in zip(systems.items(), reversed(systems.values())):
            other("change", folder / name)
            system("check-changed", folder / name)
        return "verified both ways"

    def reference(self):
        folder = self.folder / "reference"
        ours, theirs = self.prefix, self.wheel(REFERENCE) / "blosc2"
        programs = {}
        # The import libraries have the same name, for the linker of Visual Studio.
        for name, includes, library, dll in [
            ("ours", ours / "include", ours / "lib/blosc2.lib", ours / "bin/libblosc2.dll"),
            ("theirs", theirs / "include", theirs / "lib/blosc2.lib", theirs / "lib/libblosc2.dll"),
        ]:
            scratch = folder / name
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir(parents=True)
            shutil.copy(dll, scratch)
            for source in ["exchange.c", "rows_exchange.c"]:
                programs[name, source] = scratch / f"{Path(source).stem}.exe"
                self.compile(f"c-tests/{source}", programs[name, source], includes, [library])
        sizes = [self.layout(folder / name, includes) for name, includes in
                 [("ours", ours / "include"), ("theirs", theirs / "include")]]
        if sizes[0] != sizes[1]:
            raise Failed(f"the structs differ: {sizes}")
        # C-Blosc2 cannot write all frames of rows_exchange.c.
        for source, writer, reader in [
            ("exchange.c", "ours", "theirs"), ("exchange.c", "theirs", "ours"),
            ("rows_exchange.c", "ours", "theirs"),
        ]:
            scratch = folder / f"{Path(source).stem}-{writer}"
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir()
            for name, mode in [(writer, "write"), (reader, "read"), (writer, "reread")]:
                run([self.run, programs[name, source], mode], directory=scratch)
        return "frames are read both ways"

    def layout(self, folder, includes):
        """Returns the sizes of structs and offsets of fields that a header defines."""
        structs = {
            "blosc2_stdio_mmap": "mode addr urlpath file_size is_memory_only file fd map_flags mmap_handle",
            "blosc2_stdio_file": "file", "blosc2_cparams": "typesize schunk", "blosc2_dparams": "schunk",
            "blosc2_schunk": "version storage", "blosc2_io_cb": "id open destroy", "blosc2_storage": "io",
            "b2nd_array_t": "sc dtype",
        }
        lines = ["#include <b2nd.h>", "#include <stddef.h>", "int main(void) {",
                 'printf("%d\\n", (int)sizeof(blosc_timestamp_t));']
        for name, fields in structs.items():
            lines.append(f'printf("{name} %d\\n", (int)sizeof({name}));')
            lines += [f'printf(" {field} %d\\n", (int)offsetof({name}, {field}));' for field in fields.split()]
        source, program = folder / "layout.c", folder / "layout.exe"
        source.write_text("\n".join([*lines, "return 0; }\n"]))
        self.compile(source, program, includes, [])
        return run([self.run, program])

    def install(self):
        projects = self.folder / "projects"
        shutil.rmtree(projects, ignore_errors=True)
        shutil.copytree(ROOT / "tests/consumers", projects)
        # CMake looks for a compiler of resources, which the projects do not use.
        toolchain = projects / "toolchain.cmake"
        toolchain.write_text(f"""
            set(CMAKE_SYSTEM_NAME Windows)
            set(CMAKE_SYSTEM_PROCESSOR x86_64)
            set(CMAKE_C_COMPILER "{self.cc}")
            set(CMAKE_CXX_COMPILER "{self.tools / 'c++'}")
            set(CMAKE_RC_COMPILER "{self.tools / 'rc'}")
            set(CMAKE_AR "{self.tools / 'ar'}")
            set(CMAKE_CROSSCOMPILING_EMULATOR "{self.run}")
        """)
        for project in ["versions", "cmake"]:
            run(["cmake", "-S", projects / project, "-B", projects / project / "build",
                 f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", f"-DCMAKE_PREFIX_PATH={self.prefix}"])
        build = projects / "cmake" / "build"
        run(["cmake", "--build", build], limit=2 * LIMIT)
        tested = run(["ctest"], limit=2 * LIMIT, directory=build).decode()
        programs = sorted(build.glob("use-*-*.exe"))
        if len(programs) != 12 or "100% tests passed, 0 tests failed out of 12" not in tested:
            raise Failed(f"CMake built {programs}:\n{tested}")
        folder = projects / "pkg-config"
        run(["make", f"CC={self.cc}", f"CXX={self.tools / 'c++'}", *PKG_CONFIG_PROGRAMS],
            directory=folder, environment={"PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")})
        for name in PKG_CONFIG_PROGRAMS:
            (folder / name).rename(folder / f"{name}.exe")
            run([self.run, folder / f"{name}.exe"])
        return f"{len(programs)} programs with CMake, {len(PKG_CONFIG_PROGRAMS)} with pkg-config"

    def tool(self, name, *arguments, **options):
        program = self.prefix / "bin" / f"{name}.exe"
        return run([self.run, program, *arguments], directory=self.scratch, **options)

    def programs(self):
        self.scratch = self.folder / "programs"
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()
        # All bytes, also those that text modes change.
        data = bytes(range(256)) * 4096 + b"\r\n\x1a\n" * 1000
        (self.scratch / "data.bin").write_bytes(data)
        drive = windows_path(self.scratch)
        # Files, with slashes, backslashes and drives.
        self.tool("b2", "compress", "data.bin", f"{drive}\\one.b2frame")
        self.tool("b2", "verify", "one.b2frame")
        self.tool("b2", "decompress", f"{drive.replace(chr(92), '/')}/one.b2frame", "one.out")
        # Pipes.
        packed = self.tool("b2", "compress", "-", "-", data=data)
        unpacked = self.tool("b2", "decompress", "-", "-", data=packed)
        if (self.scratch / "one.out").read_bytes() != data or unpacked != data:
            raise Failed("b2 changed the data")
        self.tool("blpk", "compress", "data.bin", f"{drive}\\data.blp")
        self.tool("blpk", "decompress", "data.blp", "data.out")
        if (self.scratch / "data.out").read_bytes() != data:
            raise Failed("blpk changed the data")
        # Existing files are kept; a device is not a file.
        self.tool("b2", "compress", "data.bin", "one.b2frame", status=1)
        self.tool("b2", "compress", "data.bin", "NUL")
        # Conversions, and arrays in a store with a drive in the path.
        self.tool("b2", "convert", "data.blp", "data.b2nd")
        self.tool("b2", "info", "data.b2nd")
        self.tool("b2", "--version")
        self.names()
        left = [path.name for path in self.scratch.iterdir() if path.name.endswith(".tmp")]
        if left:
            raise Failed(f"these files are left: {left}")
        return "b2 and blpk"

    def names(self):
        """Checks separators and drives in arguments, and names of files that come from containers."""
        (self.scratch / "folder").mkdir()
        self.tool("b2", "compress", "data.bin", "-o", "folder\\")
        self.tool("b2", "verify", "folder/data.bin.b2frame")
        drive = windows_path(self.scratch).replace("\\", "/")
        items = npy([1, 2, 3])
        (self.scratch / "items.npy").write_bytes(items)
        self.tool("b2", "convert", "items.npy", f"{drive}/new.npz:/x")
        self.tool("b2", "convert", f"{drive}/new.npz:/x", "items.out", "--to", "npy")
        if (self.scratch / "items.out").read_bytes() != items:
            raise Failed("b2 changed the items")
        self.tool("b2", "convert", f"{drive}/missing/items.b2nd", "items.b2nd", status=1)
        # Leaves in groups of a directory are added and replaced.
        for options in [[], ["--force"]]:
            self.tool("b2", "put", "store.b2d", "/g/x", "items.npy", *options)
        self.tool("b2", "convert", "store.b2d", "copy.b2z")
        self.tool("b2", "convert", "copy.b2z:/g/x", "leaf.npy")
        # Names that differ in case, lead out of the directory, or are those of devices.
        for number, keys in enumerate([["A", "a"], ["..\\out"], ["C:out"], ["x:y"], ["nul"]]):
            with zipfile.ZipFile(self.scratch / f"{number}.npz", "w") as file:
                for key in keys:
                    file.writestr(f"{key}.npy", items)
            self.tool("b2", "convert", "--all", f"{number}.npz", f"all{number}", "--to", "npy", status=1)
            if (self.scratch / f"all{number}").exists():
                raise Failed(f"b2 wrote {keys}")
        outside = [name for name in ("Z", "C", "out.npy", "all2out.npy") if (self.scratch / name).exists()]
        if outside:
            raise Failed(f"b2 wrote {outside}")

    def interrupt(self):
        self.scratch = self.folder / "interrupt"
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()
        program = self.scratch / "interrupt.exe"
        self.compile("c-tests/windows/interrupt.c", program, self.prefix / "include", [])
        # Digits are compressed slowly, so the event comes before the end.
        data = random.Random(1).randbytes(48 << 20).hex().encode()
        (self.scratch / "data").write_bytes(data)
        folder = windows_path(self.prefix / "bin")
        commands = {
            "data.b2frame": ["b2.exe", "compress", "--codec", "zstd", "--level", "9", "data"],
            "data.blp": ["blpk.exe", "compress", "--codec", "zstd", "--level", "9", "data"],
        }
        for output, (name, *arguments) in commands.items():
            run([self.run, program, output, f"{folder}\\{name}", *arguments, output],
                directory=self.scratch)
        return f"Ctrl-C, {len(commands)} programs"


def npy(numbers):
    """Returns a .npy file of integers."""
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({len(numbers)},), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack(f"<H{len(header)}s{len(numbers)}i", len(header), header.encode(), *numbers)


def windows_path(path):
    """Returns a path for a program in wine."""
    return "Z:" + str(path).replace("/", "\\")


def main():
    names = sys.argv[1:]
    windows = Windows()
    steps = {
        "unit": windows.unit, "exports": windows.exports, "headers": windows.headers,
        "C": windows.c_programs, "hdf5": windows.hdf5, "digest": windows.digest,
        "corpus": windows.corpus, "reference": windows.reference, "install": windows.install,
        "programs": windows.programs, "interrupt": windows.interrupt,
    }
    unknown = [name for name in names if name not in steps]
    if unknown:
        sys.exit(f"unknown steps: {' '.join(unknown)}; known ones: {' '.join(steps)}")
    selected = {name: step for name, step in steps.items() if not names or name in names}
    if set(selected) != {"unit"}:
        selected = {"build": windows.build, **selected}
    for name, step in selected.items():
        start = time.monotonic()
        try:
            result = step()
        except (Failed, subprocess.CalledProcessError) as error:
            sys.exit(f"{name} failed: {error}")
        print(f"{name}: {result}, {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
