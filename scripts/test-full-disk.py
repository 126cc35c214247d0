#!/usr/bin/env python3
"""Runs the commands of b2 that write on a file system that is almost full.

A command either succeeds, and its output is sound, or it fails with the system's reason and leaves
all files as they were. Each command runs with several numbers of free pages. One that refuses to
write more than the free space runs again with --force.

usage: unshare --map-root-user --mount python3 test-full-disk.py B2 DIRECTORY

DIRECTORY is created, and a tmpfs is mounted in it.
"""
import os
import random
import shutil
import subprocess
import sys

B2, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
INPUTS, DISK = f"{ROOT}/inputs", f"{ROOT}/disk"
PAGE = 4096
FREE_PAGES = [0, 1, 2, 3, 4, 8, 12, 15, 16, 17, 20, 24, 31, 32, 40, 50, 80, 120]

# The files that the disk contains before, and the command. {I} is the directory of the inputs.
COMMANDS = [
    ("in.b2nd", "append in.b2nd {I}/in.npy"),
    ("dir.b2nd", "append dir.b2nd {I}/in.npy"),
    ("in.b2nd", "resize in.b2nd 90000"),
    ("dir.b2nd", "resize dir.b2nd 90000"),
    ("in.b2nd", "resize in.b2nd 30001 --shrink"),
    ("dir.b2nd", "resize dir.b2nd 30001 --shrink"),
    ("in.b2nd", "compact in.b2nd"),
    ("dir.b2nd", "compact dir.b2nd"),
    ("in.b2nd", "recompress in.b2nd --in-place --codec lz4"),
    ("dir.b2nd", "recompress dir.b2nd --in-place --codec lz4"),
    ("in.b2nd", "meta set in.b2nd units --string K"),
    ("dir.b2nd", "meta set dir.b2nd units --string K"),
    ("cut.b2nd", "repair --write cut.b2nd"),
    ("in.b2nd", "convert {I}/in.npy in.b2nd --force"),
    ("in.h5", "convert {I}/in.npy in.h5:/n"),
    ("in.h5", "convert --all {I}/in.b2z in.h5"),
    ("in.b2z", "get in.b2z /a out.b2nd"),
    *((f"in.{kind}", f"put in.{kind} /c {{I}}/in.b2nd") for kind in ("b2z", "b2d", "b2e")),
    *((f"in.{kind}", f"rm in.{kind} /a") for kind in ("b2z", "b2d", "b2e")),
    *(("", f"convert --all {{I}}/in.b2z out{kind}")
      for kind in ("", ".h5", ".b2z", ".b2d", ".b2e", ".zarr", ".zarr.zip", ".npz")),
    *(("", f"convert {{I}}/in.npy out.{kind}")
      for kind in ("b2nd", "blp", "bcolz", "npy", "npz", "zarr", "zarr.zip", "h5", "bin", "csv")),
    ("", "convert {I}/in.npy out.b2nd --directory"),
    ("", "convert {I}/in.npy out.b2nd --directory --durable"),
    ("", "compress {I}/in.npy out.b2frame"),
    ("", "decompress {I}/in.b2nd out"),
    ("", "concat {I}/in.b2nd {I}/in.b2nd out.b2nd"),
    ("", "slice {I}/in.b2nd 5:59990 out.b2nd"),
    ("", "recompress {I}/in.b2nd -o out.b2nd --codec lz4"),
    ("", "plot {I}/in.b2nd 0:6000 -o out.svg"),
    ("", "plot {I}/in.b2nd 0:6000 -o out.png"),
]
VERIFIED = (".b2nd", ".b2frame", ".blp", ".bcolz", ".b2z", ".b2d", ".b2e")


def run(line, folder):
    environment = dict(os.environ, TMPDIR=INPUTS)
    return subprocess.run([B2, *line.split()], cwd=folder, env=environment, capture_output=True,
                          text=True, timeout=120, check=False)


def make_inputs():
    os.makedirs(INPUTS)
    with open(f"{INPUTS}/in.raw", "wb") as file:
        file.write(random.Random(1).randbytes(60000))
    for line in [
        "convert in.raw in.npy --dtype u1 --shape 60000",
        "convert in.npy in.b2nd --chunk-size 4K",
        "convert in.npy dir.b2nd --directory --chunk-size 4K",
        "convert in.npy in.h5",
        "put in.b2z /a in.b2nd",
        "put in.b2z /b in.b2nd",
        "convert in.b2z in.b2d",
        "convert in.b2z in.b2e",
    ]:
        made = run(line, INPUTS)
        assert made.returncode == 0, (line, made.stderr)
    with open(f"{INPUTS}/in.b2nd", "rb") as file:
        damaged = bytearray(file.read())
    damaged[len(damaged) // 2] ^= 1
    with open(f"{INPUTS}/cut.b2nd", "wb") as file:
        file.write(damaged)


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def contents():
    """Returns the bytes of all files on the disk, and its empty directories."""
    found = {}
    for folder, folders, files in os.walk(DISK):
        for name in folders:
            found[os.path.join(folder, name)] = None
        for name in files:
            path = os.path.join(folder, name)
            if name != "filler":
                with open(path, "rb") as file:
                    found[path] = file.read()
    return found


def fault_of(name, line, free):
    """Runs a command with this number of free pages; returns the fault."""
    for old in os.listdir(DISK):
        remove(f"{DISK}/{old}")
    if name:
        source = f"{INPUTS}/{name}"
        copy = shutil.copytree if os.path.isdir(source) else shutil.copy
        copy(source, f"{DISK}/{name}")
    with open(f"{DISK}/filler", "wb") as file:
        file.write(bytes(PAGE * (os.statvfs(DISK).f_bavail - free)))
    before = contents()
    done = run(line.replace("{I}", INPUTS), DISK)
    if done.returncode == 1 and "are free on its file system" in done.stderr:
        if before != contents():
            return f"refused, and changed files: {done.stderr}"
        done = run(line.replace("{I}", INPUTS) + " --force", DISK)
    if done.returncode != 0:
        if done.returncode != 1 or "No space left on device" not in done.stderr:
            return f"status {done.returncode}: {done.stderr}"
        after = contents()
        if before != after:
            changed = {path for path in before | after if before.get(path) != after.get(path)}
            return f"failed, and changed {sorted(changed)}: {done.stderr}"
        return None
    os.unlink(f"{DISK}/filler")
    for output in filter(lambda output: output.endswith(VERIFIED), os.listdir(DISK)):
        verified = run(f"verify {output}", DISK)
        if verified.returncode != 0:
            return f"succeeded, but {verified.stdout}{verified.stderr}"
    return None


def main():
    shutil.rmtree(ROOT, ignore_errors=True)
    make_inputs()
    os.makedirs(DISK)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", DISK], check=True)
    faults = 0
    for name, line in COMMANDS:
        for free in FREE_PAGES:
            fault = fault_of(name, line, free)
            if fault:
                print(f"b2 {line}, {free} free pages: {fault.strip()}")
                faults += 1
    subprocess.run(["umount", DISK], check=True)
    shutil.rmtree(ROOT)
    print(f"full disk: {len(COMMANDS)} commands, {len(FREE_PAGES)} sizes each, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
