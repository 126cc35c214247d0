#!/usr/bin/env python3
"""Tests other targets than x86-64 Linux on an x86-64 machine; `make test-ports TARGETS=` runs it.

usage: test-ports.py [TARGET...]

Installs what a target needs (with rustup, and Debian packages as root), cross-compiles the project
with the C codecs, and runs on it, natively, in QEMU's user mode or, for WebAssembly, in Node:

  unit       the unit tests of the core, of the formats and of libblosc2, whose structs a C compiler
             for the target checks (WebAssembly: of the core and the formats)
  C          C programs, linked with the shared libraries (not in WebAssembly)
  reference  C-Blosc 1.21 of Debian for the target reads chunks of ours, and vice versa; for aarch64
             also C-Blosc2, from the wheel of python-blosc2, with frames
  digest     digests of chunks and frames of all codecs, which must be those of this machine
  corpus     files of all formats: each machine verifies and changes those of all others, and this
             one verifies the changed ones

Every program has a time limit. The table at the end has the results and times; if anything fails,
the status is 1. Without arguments, all targets are tested.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import zig
from zig import ROOT, TARGET_DIR

CARGO = os.environ.get("CARGO", "cargo")
# The upper bound of the time of one program, in seconds: of test programs, and of all others.
TEST_LIMIT = 900
LIMIT = 240
SHARED = {"blosc2": "9", "blosc": "1", "ferroblosc": "0"}
# C programs of `c-tests` for each library. Those that start processes are not included: without
# support in the kernel, emulated programs cannot start others.
PROGRAMS = {
    "blosc2": [
        "roundtrip.c", "frame.c", "schunk.c", "meta.c", "callbacks.c", "vlblocks.c", "io.c", "global.c",
        "b2nd_slices.c", "b2nd_shapes.c", "rows_frame.c", "rows_schunk.c", "rows_schunk_data.c",
        "row_c11_null_arguments.c", "row_c12_c13_names.c", "row_c38_shuffles.c", "information.c",
        "reentrant.c",
    ],
    "blosc": ["blosc1/calls.c"],
    "ferroblosc": ["ferroblosc/util.c", "ferroblosc/bloscpack.c", "ferroblosc/bcolz.c", "ferroblosc/transactions.c"],
}
# Unit tests that start the test program again, which emulated programs cannot do.
STARTS_ITSELF = ["hostile_tests::row_"]
# Unit tests with many or long inputs that would take minutes in QEMU; all run natively.
SLOW = [
    "lz4::decode::tests::every_distance_and_length",
    "zlib::tests::a_destination_of_the_exact_length",
    "zlib::tests::both_decoders_agree",
    "noise_round_trip",
    "block_cache::tests::a_cached_block",
    "zstd::tests::streams_of_all_lengths",
    "results_do_not_depend_on_earlier_streams",
    "zlib::tests::runs_are_no_longer",
]
# Unit tests that need what WebAssembly lacks: threads, file locks, mapped files, panics that can be
# caught, and duplicates and permissions of files.
LACKING_IN_WASM = [
    "a_corpus_is_verified", "a_journal_in_use", "a_store_has_one_writer", "a_writer_fails_if_another_handle",
    "files_may_be_removed_while", "inspects_a_new_journal", "permissions_cannot_be_set",
    "io::claim::", "io::lock::", "io::mapping::", "io::mmap::", "io::temporary::", "io::tests::memory_and_files",
    "locked_files_are_read_and_written", "pool::", "reader::tests::the_file_is_kept", "threads::",
    "threads_have_different_slots", "two_threads_never_hold", "writers_work_inside_transactions",
    "bloscpack::append::", "bloscpack::journal::", "a_panic_of_a_worker", "a_locked_array_does_not_wait",
    "leaves_no_lock_file", "keeps_the_lock_file_of", "a_reader_that_waited_for_the_lock",
    "a_frame_is_locked_and_unlocked", "with_and_without_locks", "older_layout_are_read_only",
]
# The digests that differ on 32-bit and on big-endian targets: liblz4 hashes words of the machine.
OF_32_BITS = ["lz4 with dictionaries"]
OF_BIG_ENDIAN = ["lz4 with dictionaries", "lz4hc", "lz4hc with dictionaries"]


@dataclass
class Target:
    """A target, and the tools that its tests need."""

    triple: str
    compiler: str  # the prefix of the C compiler's name
    packages: list  # Debian packages
    emulator: str = ""  # the program of QEMU; none if this machine runs the target
    differing: list = field(default_factory=list)  # the names of the digests that differ
    cflags: str = ""  # replaces that of .cargo/config.toml
    debian: str = ""  # the name of the architecture in Debian 12, if it is released for it
    has_wheel: bool = False  # whether there is a wheel of python-blosc2

    @property
    def is_wasm(self):
        return self.triple.startswith("wasm32")

    def variable(self, name):
        return f"CARGO_TARGET_{self.triple.upper().replace('-', '_')}_{name}"

    def environment(self):
        if self.is_wasm:
            return zig.environment(self.triple) | {self.variable("RUSTFLAGS"): "-Ctarget-feature=+simd128"}
        compiler = f"{self.compiler}-gcc"
        variables = {self.variable("LINKER"): compiler, "FERROBLOSC_TEST_CC": compiler}
        if self.cflags:
            variables["CFLAGS"] = self.cflags
        return os.environ | variables

    def command(self, program, *arguments, libraries=None):
        path = f"LD_LIBRARY_PATH={libraries}"
        if self.is_wasm:
            return ["node", "--no-warnings", str(ROOT / "scripts/run-wasi.mjs"), str(program), *arguments]
        if not self.emulator:
            return ["env", *([path] if libraries else []), str(program), *arguments]
        options = ["-E", path] if libraries else []
        return [self.emulator, "-L", f"/usr/{self.compiler}", *options, str(program), *arguments]

    def test_command(self, program, *arguments):
        """Returns the command for a test program: in WebAssembly a panic ends it, so each test is run alone."""
        command = self.command(program, *arguments)
        if self.is_wasm:
            command.insert(command.index(str(program)), "--tests")
        return command

    def program(self, name):
        return TARGET_DIR / self.triple / "debug" / (name + ".wasm" if self.is_wasm else name)


def emulated(triple, compiler, emulator, architecture, differing=(), cflags="", **options):
    packages = [f"gcc-{compiler}", f"libc6-dev-{architecture}-cross", "qemu-user"]
    options = {"debian": architecture} | options
    return Target(triple, compiler, packages, emulator, list(differing), cflags, **options)


TARGETS = {
    "i686": Target(
        "i686-unknown-linux-gnu",
        "i686-linux-gnu",
        ["gcc-i686-linux-gnu", "libc6-dev-i386-cross", "libc6-i386", "lib32gcc-s1"],
        differing=OF_32_BITS,
        debian="i386",
    ),
    "s390x": emulated("s390x-unknown-linux-gnu", "s390x-linux-gnu", "qemu-s390x", "s390x", OF_BIG_ENDIAN),
    "armv7": emulated(
        "armv7-unknown-linux-gnueabihf",
        "arm-linux-gnueabihf",
        "qemu-arm",
        "armhf",
        OF_32_BITS,
        # The assembler does not align labels of Thumb code as these flags require.
        "-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2",
    ),
    "powerpc64le": emulated("powerpc64le-unknown-linux-gnu", "powerpc64le-linux-gnu", "qemu-ppc64le", "ppc64el"),
    "riscv64": emulated("riscv64gc-unknown-linux-gnu", "riscv64-linux-gnu", "qemu-riscv64", "riscv64", debian=""),
    "aarch64": emulated("aarch64-unknown-linux-gnu", "aarch64-linux-gnu", "qemu-aarch64", "arm64", has_wheel=True),
    "wasip1": Target("wasm32-wasip1", "", ["nodejs"], "node", OF_32_BITS),
}


class Failed(Exception):
    """A failed step, with the output of its program."""


def run(command, limit=LIMIT, directory=ROOT, environment=None):
    """Runs a command and returns its output. After the limit, all its processes are ended."""
    with subprocess.Popen(
        command, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise Failed(f"{' '.join(command)} was stopped after {limit} s") from None
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)} failed with {process.returncode}:\n{output}")
    return output


def build(target):
    """Builds the test programs and the libraries; returns the paths of the programs."""
    options = ["--target", target.triple] if target else []
    environment = target.environment() if target else None
    packages = ["--package", "ferroblosc-ports"]
    has_libraries = target and not target.is_wasm
    if has_libraries:
        for library in ["blosc2", "blosc1", "ferroblosc"]:
            packages += ["--package", f"ferroblosc-capi-{library}"]
    subprocess.run([CARGO, "build", *options, *packages], cwd=ROOT, env=environment, check=True)
    if not target:
        return []
    tested = ["ferroblosc", "ferroblosc-formats", "ferroblosc-ports"]
    if has_libraries:
        tested.append("ferroblosc-capi-blosc2")
    command = [CARGO, "test", "--no-run", "--lib", "--bin=ferroblosc-ports", "--message-format=json-render-diagnostics", *options]
    for name in tested:
        command += ["--package", name]
    built = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    return [
        (Path(message["executable"]), Path(message["manifest_path"]).parent)
        for message in messages
        if message.get("executable") and message.get("profile", {}).get("test")
    ]


def unit(target, programs):
    """Runs the unit tests; returns their number."""
    passed = 0
    for program, directory in programs:
        skipped = STARTS_ITSELF + SLOW if target.emulator else []
        if target.is_wasm:
            skipped = skipped + LACKING_IN_WASM
        skipped = [word for name in skipped for word in ("--skip", name)]
        output = run(target.test_command(program, "--quiet", *skipped), TEST_LIMIT, directory, target.environment())
        results = [line for line in output.splitlines() if line.startswith("test result: ok. ")]
        passed += int(results[-1].split()[3])
    return f"{passed} tests"


def c_programs(target):
    """Compiles and runs the C programs; returns their number."""
    if target.is_wasm:
        return "-"
    folder = TARGET_DIR / "ports" / target.triple
    libraries = folder / "lib"
    libraries.mkdir(parents=True, exist_ok=True)
    for name, version in SHARED.items():
        for link in [f"lib{name}.so", f"lib{name}.so.{version}"]:
            (libraries / link).unlink(missing_ok=True)
            (libraries / link).symlink_to(target.program(f"lib{name}.so"))
    count = 0
    for library, sources in PROGRAMS.items():
        for source in sources:
            run(target.command(compiled(target, library, source), libraries=libraries), LIMIT, folder)
            count += 1
    return f"{count} programs"


def compiled(target, library, source):
    """Compiles a program of `c-tests`, linked with one of our libraries; returns its path."""
    folder = TARGET_DIR / "ports" / target.triple
    # Programs for libferroblosc also use libblosc2.
    needed = [library, "blosc2"] if library == "ferroblosc" else [library]
    linked = [str(folder / "lib" / f"lib{name}.so") for name in needed]
    program = folder / source.replace("/", "-").replace(".", "-")
    run(
        [f"{target.compiler}-gcc", "-std=c99", "-D_DEFAULT_SOURCE", "-D_FILE_OFFSET_BITS=64", "-O1",
         "-pthread", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I", "include", f"c-tests/{source}",
         "-o", str(program), *linked, "-lm", "-ldl"]
    )
    return program


def reference(target):
    """Lets the reference read what our libraries write, and vice versa; returns its names."""
    folder = TARGET_DIR / "ports" / target.triple
    script = str(ROOT / "scripts/reference.sh")
    # C-Blosc2 cannot write all frames of rows_exchange.c.
    exchanges = []
    if target.debian:
        theirs = Path(run([script, f"blosc1-{target.debian}"]).splitlines()[-1])
        exchanges += [("blosc", "blosc1/exchange.c", theirs, writer) for writer in ["ours", "theirs"]]
    if target.has_wheel:
        theirs = folder / "theirs"
        theirs.mkdir(exist_ok=True)
        (theirs / "libblosc2.so.9").unlink(missing_ok=True)
        (theirs / "libblosc2.so.9").symlink_to(run([script, "library-aarch64"]).splitlines()[-1])
        exchanges += [("blosc2", "exchange.c", theirs, writer) for writer in ["ours", "theirs"]]
        exchanges.append(("blosc2", "rows_exchange.c", theirs, "ours"))
    for library, source, theirs, writer in exchanges:
        program = compiled(target, library, source)
        libraries = {"ours": folder / "lib", "theirs": theirs}
        reader = "theirs" if writer == "ours" else "ours"
        modes = [(writer, "write"), (reader, "read")]
        if library == "blosc2":
            modes.append((writer, "reread"))
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            for name, mode in modes:
                run(target.command(program, mode, libraries=libraries[name]), LIMIT, scratch)
    names = ["C-Blosc 1.21"] * bool(target.debian) + ["C-Blosc2"] * target.has_wheel
    return ", ".join(names) or "-"


def digest(target, expected):
    """Compares the digests with those of this machine."""
    lines = run(target.command(target.program("ferroblosc-ports"), "digest")).splitlines()
    names = [line.split(" ", 1)[1] for line in lines]
    if names != [line.split(" ", 1)[1] for line in expected]:
        raise Failed("the digests have other names:\n" + "\n".join(lines))
    differing = [name for name, line, other in zip(names, lines, expected) if line != other and name != "total"]
    if differing != target.differing:
        raise Failed(f"these digests differ: {differing}, and these should: {target.differing}")
    equal = f"{len(lines) - 1 - len(differing)} equal"
    return f"{equal}, other: {', '.join(differing)}" if differing else equal


def exchange(commands, folder, name, other):
    """Lets `other` verify and change a copy of the corpus of `name`; this machine verifies it."""
    copy = folder / f"{name}-{other}"
    shutil.copytree(folder / name, copy)
    run(commands[other]("change", str(copy)))
    run(commands["host"]("check-changed", str(copy)))
    shutil.rmtree(copy)


def step(results, name, work):
    """Runs a step of a target, and stores its result or prints its error."""
    if results.get("build") == "failed":
        results[name] = "-"
        return None
    start = time.monotonic()
    try:
        value = work()
        results[name] = value if isinstance(value, str) else "passed"
        print(f"   {name}: {results[name]}, {time.monotonic() - start:.0f} s", flush=True)
        return value
    except (Failed, subprocess.CalledProcessError) as error:
        results[name] = "failed"
        print(f"   {name} failed: {error}", flush=True)
        return None


def test(names, corpus):
    """Tests targets and prints the table; returns whether all tests passed."""
    build(None)
    host = TARGET_DIR / "debug" / "ferroblosc-ports"
    commands = {"host": lambda *arguments: [str(host), *arguments]}
    expected = run(commands["host"]("digest")).splitlines()
    # All SIMD levels of this machine have the same digests.
    for level in ["generic", "sse2", "avx2"]:
        if run(["env", f"FERROBLOSC_SIMD={level}", str(host), "digest"]).splitlines() != expected:
            sys.exit(f"the digests at the level {level} differ from those at the best one")
    run(commands["host"]("write", str(corpus / "host")))

    table = {}
    for name in names:
        target = TARGETS[name]
        print(f"== {name}", flush=True)
        start = time.monotonic()
        if subprocess.run([ROOT / "scripts/need-rust.sh", "target", target.triple], check=False).returncode:
            if os.environ.get("ALLOW_UNCHECKED"):
                continue
            sys.exit(1)
        subprocess.run([ROOT / "scripts/need.sh", *target.packages], check=True)
        results = table[name] = {}
        programs = step(results, "build", lambda: build(target))
        step(results, "unit", lambda: unit(target, programs))
        step(results, "C", lambda: c_programs(target))
        step(results, "reference", lambda: reference(target))
        step(results, "digest", lambda: digest(target, expected))
        program = target.program("ferroblosc-ports")
        commands[name] = lambda *arguments, t=target, p=program: t.command(p, *arguments)
        step(results, "corpus", lambda: run(commands[name]("write", str(corpus / name))) or "passed")
        results["time"] = f"{time.monotonic() - start:.0f} s"

    machines = ["host"] + [name for name in table if table[name]["corpus"] == "passed"]
    for name in table:
        if table[name]["corpus"] != "passed":
            continue
        others = [other for other in machines if other != name]
        print(f"== the corpus of {name}, and {name} with the others", flush=True)

        def exchanged(name=name, others=others):
            for other in others:
                exchange(commands, corpus, name, other)
            exchange(commands, corpus, "host", name)
            return f"with {len(others)}"

        step(table[name], "corpus", exchanged)

    columns = ["build", "unit", "C", "reference", "digest", "corpus", "time"]
    print(f"\n| target | {' | '.join(columns)} |\n|{'---|' * (1 + len(columns))}")
    for name, results in table.items():
        print(f"| {name} | {' | '.join(results[column] for column in columns)} |")
    return not any("failed" in results.values() for results in table.values())


def main():
    names = sys.argv[1:] or list(TARGETS)
    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        sys.exit(f"unknown targets: {' '.join(unknown)}; known ones: {' '.join(TARGETS)}")
    folder = TARGET_DIR / "ports"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="corpus-", dir=folder) as corpus:
        if not test(names, Path(corpus)):
            sys.exit(1)


if __name__ == "__main__":
    main()
