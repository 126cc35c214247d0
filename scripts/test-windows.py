#!/usr/bin/env python3
"""The steps of test-windows.sh, which installs wine and the compiler and runs this script.

usage: test-windows.py TRIPLE FOLDER [STEP...]

  unit       unit tests of the core, of the formats and of the programs
  exports    the DLLs have exactly the functions of the C libraries; import libraries are made
  C          C programs, linked with the import libraries
  digest     digests of chunks and frames of all codecs, which must be those of this machine
  corpus     files of all formats: each system verifies and changes those of the other
  reference  C-Blosc2's DLL, from the wheel of python-blosc2, reads frames of ours and vice versa
  programs   b2.exe and blpk.exe: pipes, paths with drives, devices, conversions

The first failure ends the script with the status 1.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARGO = os.environ.get("CARGO", "cargo")
# The upper bound of the time of one program that is no unit test, in seconds.
LIMIT = 300

# wine 8 keeps the name of a removed file until the file is closed, and replaces no open files.
# Windows does neither since version 10.
LACKING = [
    "io::filesystem::tests::a_file_is_identified_independently_of_its_name",
    "io::lock::tests::a_recreated_lock_file_is_used",
    "io::reader::tests::a_file_kept_open_stays_readable_after_removal",
    "io::reader::tests::a_replaced_file_is_followed_and_reported_once",
    "store::writer::tests::a_replaced_file_is_not_at_its_path",
]
# Opening thousands of files takes minutes in wine.
SLOW = ["schunk::hostile_tests::row_d11_row_f15_corrupted_files_give_errors_or_correct_data"]

# The names of the DLLs that Cargo builds, those that programs load, and their lists of functions.
LIBRARIES = {
    "blosc2": ("libblosc2.dll", "symbols-libblosc2.so.9.txt"),
    "blosc": ("libblosc.dll", "symbols-libblosc.so.1.txt"),
}
# The C programs for each library. Others of c-tests need processes, limits or links of POSIX, empty
# environment variables, or replace open files, which wine 8 cannot.
PROGRAMS = {
    "blosc2": [
        "b2nd_shapes.c", "b2nd_slices.c", "callbacks.c", "global.c", "information.c",
        "inline.c", "lent.c", "meta.c", "outputs.c", "reentrant.c", "roundtrip.c",
        "row_c11_null_arguments.c", "row_c12_c13_names.c",
        "row_c38_shuffles.c", "rows_schunk.c", "rows_schunk_data.c", "schunk.c", "vlblocks.c",
    ],
    "blosc": ["blosc1/calls.c"],
}
REFERENCE = "blosc2==4.14.1"


class Failed(Exception):
    """A failed step, with the output of its program."""


def run(command, limit=LIMIT, directory=ROOT, data=None, status=0):
    """Runs a command and returns its output. After the limit, all its processes are ended."""
    with subprocess.Popen(
        [str(word) for word in command], cwd=directory, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
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

    def __init__(self, triple, folder):
        self.triple, self.folder = triple, Path(folder)
        self.built = self.folder.parent / triple / "debug"
        self.host = self.folder.parent / "debug"
        self.run, self.cc = self.folder / "bin" / "run", self.folder / "bin" / "cc"
        self.python = self.folder / "venv" / "bin" / "python"
        self.lib = self.folder / "lib"

    def cargo(self, *arguments, target=True, **options):
        environment = os.environ.copy()
        words = [CARGO, *arguments]
        if target:
            environment["CFLAGS"] = "-DUNALIGNED_OK -falign-functions=64"
            words += ["--target", self.triple]
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
                limit = int(os.environ.get("WINDOWS_SECONDS", 1500)) + 60
                command = [self.run, message["executable"], "--quiet", *skipped]
                lines = run(command, limit, directory).decode(errors="replace").splitlines()
                results = [line for line in lines if line.startswith("test result: ok. ")]
                passed += int(results[-1].split()[3])
        return f"{passed} tests"

    def build(self):
        packages = ["capi-blosc2", "capi-blosc1", "ports", "b2", "blpk"]
        self.cargo("build", *[word for name in packages for word in ("--package", f"ferroblosc-{name}")])
        self.cargo("build", "--package", "ferroblosc-ports", target=False)
        return "built"

    def exports(self):
        self.lib.mkdir(parents=True, exist_ok=True)
        numbers = []
        for name, (dll, listed) in LIBRARIES.items():
            expected = {
                line.split()[0]
                for line in (ROOT / "tests/abi" / listed).read_text().splitlines()
                if line.strip() and not line.startswith("#")
            }
            shutil.copy(self.built / f"{name}.dll", self.lib / dll)
            lines = run(["objdump", "-p", self.lib / dll]).decode().splitlines()
            start = lines.index("[Ordinal/Name Pointer] Table") + 1
            found = set()
            for line in lines[start:]:
                if not line.strip():
                    break
                found.add(line.split()[-1])
            if found != expected:
                raise Failed(f"{dll} lacks {sorted(expected - found)}, and adds {sorted(found - expected)}")
            definitions = self.lib / f"{dll}.def"
            definitions.write_text("EXPORTS\n" + "".join(f"    {symbol}\n" for symbol in sorted(found)))
            run([self.python, "-m", "ziglang", "dlltool", "-m", "i386:x86-64", "-d", definitions,
                 "-D", dll, "-l", self.lib / f"{dll}.a"])
            numbers.append(f"{dll}: {len(found)}")
        return ", ".join(numbers)

    def compile(self, source, program, includes, libraries):
        run([self.cc, "-std=gnu11", "-O1", "-Wno-unused-command-line-argument", "-include",
             "c-tests/windows/posix.h", "-I", includes, source, "-o", program, *libraries])

    def c_programs(self):
        count = 0
        for library, sources in PROGRAMS.items():
            dll = LIBRARIES[library][0]
            for source in sources:
                name = source.replace("/", "-").removesuffix(".c")
                scratch = self.folder / "c" / name
                shutil.rmtree(scratch, ignore_errors=True)
                scratch.mkdir(parents=True)
                program = scratch / f"{name}.exe"
                self.compile(f"c-tests/{source}", program, "include", [self.lib / f"{dll}.a"])
                shutil.copy(self.lib / dll, scratch)
                run([self.run, program], directory=scratch)
                count += 1
        return f"{count} programs"

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
        wheel = folder / "wheel"
        if not (wheel / "blosc2" / "lib").is_dir():
            shutil.rmtree(folder, ignore_errors=True)
            run([self.python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                 "--no-deps", "--platform", "win_amd64", "--only-binary=:all:", "--python-version",
                 "3.12", "--dest", folder, REFERENCE])
            (file,) = folder.glob("*.whl")
            zipfile.ZipFile(file).extractall(wheel)
        theirs = wheel / "blosc2"
        programs = {}
        for name, includes, library, dll in [
            ("ours", "include", self.lib / "libblosc2.dll.a", self.lib / "libblosc2.dll"),
            ("theirs", theirs / "include", theirs / "lib/blosc2.lib", theirs / "lib/libblosc2.dll"),
        ]:
            scratch = folder / name
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir()
            shutil.copy(dll, scratch)
            for source in ["windows/exchange.c", "rows_exchange.c"]:
                programs[name, source] = scratch / f"{Path(source).stem}.exe"
                self.compile(f"c-tests/{source}", programs[name, source], includes, [library])
        sizes = [self.layout(folder / name, includes) for name, includes in
                 [("ours", "include"), ("theirs", theirs / "include")]]
        if sizes[0] != sizes[1]:
            raise Failed(f"the structs differ: {sizes}")
        # C-Blosc2 cannot write all frames of rows_exchange.c.
        for source, writer, reader in [
            ("windows/exchange.c", "ours", "theirs"), ("windows/exchange.c", "theirs", "ours"),
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

    def tool(self, name, *arguments, **options):
        return run([self.run, self.built / f"{name}.exe", *arguments], directory=self.scratch, **options)

    def programs(self):
        self.scratch = self.folder / "programs"
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()
        # All bytes, also those that text modes change.
        data = bytes(range(256)) * 4096 + b"\r\n\x1a\n" * 1000
        (self.scratch / "data.bin").write_bytes(data)
        drive = "Z:" + str(self.scratch).replace("/", "\\")
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
        # Existing files are kept; a device is no file.
        self.tool("b2", "compress", "data.bin", "one.b2frame", status=1)
        self.tool("b2", "compress", "data.bin", "NUL")
        # Conversions, and arrays in a store with a drive in the path.
        self.tool("b2", "convert", "data.blp", "data.b2nd")
        self.tool("b2", "info", "data.b2nd")
        self.tool("b2", "--version")
        left = [path.name for path in self.scratch.iterdir() if path.name.endswith(".tmp")]
        if left:
            raise Failed(f"these files are left: {left}")
        return "b2 and blpk"


def main():
    triple, folder, *names = sys.argv[1:]
    windows = Windows(triple, folder)
    steps = {
        "unit": windows.unit, "exports": windows.exports, "C": windows.c_programs,
        "digest": windows.digest, "corpus": windows.corpus, "reference": windows.reference,
        "programs": windows.programs,
    }
    unknown = [name for name in names if name not in steps]
    if unknown:
        sys.exit(f"unknown steps: {' '.join(unknown)}; known ones: {' '.join(steps)}")
    selected = {name: step for name, step in steps.items() if not names or name in names}
    if set(selected) != {"unit"}:
        selected = {"build": windows.build, **selected}
    if "exports" not in selected and {"C", "reference"} & set(selected):
        selected = {"build": windows.build, "exports": windows.exports, **selected}
    for name, step in selected.items():
        start = time.monotonic()
        try:
            result = step()
        except (Failed, subprocess.CalledProcessError) as error:
            sys.exit(f"{name} failed: {error}")
        print(f"{name}: {result}, {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
