#!/usr/bin/env python3
"""Writes NOTICE: the code linked into the libraries and programs, and its licences.

usage: notice.py [npm] > NOTICE

With `npm` it writes that of the npm package. Cargo lists the crates linked on the supported
systems, without build tools and tests. Each crate
contains its licence, and so do bundled C libraries. Of alternative licences, the first in CHOICES
applies. Notices that the Apache licence requires follow its text. Identical licence texts appear once, with the names of all crates under them.
"""

import json
import pathlib
import re
import subprocess
import sys

IS_NPM = sys.argv[1:] == ["npm"]
ROOT = pathlib.Path(__file__).resolve().parent.parent / ("packaging/npm" if IS_NPM else "")
INSTALLED = ["ferroblosc-npm"] if IS_NPM else [
    "ferroblosc-capi-blosc2",
    "ferroblosc-capi-blosc1",
    "ferroblosc-capi-ferroblosc",
    "ferroblosc-hdf5-blosc",
    "ferroblosc-hdf5-blosc2",
    "ferroblosc-b2",
    "ferroblosc-blpk",
]
TARGETS = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]
if IS_NPM:
    TARGETS = ["wasm32-unknown-unknown"]
CHOICES = ["MIT", "BSD-3-Clause", "Zlib", "BSL-1.0", "Apache-2.0"]
# Crates without a file of their licence, and crates with its text.
WITHOUT_FILE = {"flatbuffers": "num-traits"}
# C sources in crates: title, licence, paths of the licence and of a header, and the version's
# pattern.
BUNDLED = {
    "zstd-sys": ("Zstandard", "BSD-3-Clause", "zstd/LICENSE", "zstd/lib/zstd.h",
                 r"ZSTD_VERSION_MAJOR\s+(\d+)[\s\S]*?ZSTD_VERSION_MINOR\s+(\d+)[\s\S]*?ZSTD_VERSION_RELEASE\s+(\d+)"),
    "lz4-sys": ("LZ4", "BSD-2-Clause", "liblz4/lib/LICENSE", "liblz4/lib/lz4.h",
                r"LZ4_VERSION_MAJOR\s+(\d+)[\s\S]*?LZ4_VERSION_MINOR\s+(\d+)[\s\S]*?LZ4_VERSION_RELEASE\s+(\d+)"),
    "libz-sys": ("zlib", "Zlib", "src/zlib/LICENSE", "src/zlib/zlib.h", r'ZLIB_VERSION "([\d.]+)"'),
    "ferroblosc-zfp-sys": ("ZFP", "BSD-3-Clause", "zfp/LICENSE", "zfp/include/zfp/version.h",
                           r"ZFP_VERSION_MAJOR\s+(\d+)[\s\S]*?ZFP_VERSION_MINOR\s+(\d+)[\s\S]*?ZFP_VERSION_PATCH\s+(\d+)"),
}


def cargo(*words):
    return subprocess.run(["cargo", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def linked():
    """Returns names and versions of the linked third-party crates and of the ZFP crate."""
    found = set()
    packages = [word for name in INSTALLED for word in ("--package", name)]
    for target in TARGETS:
        tree = cargo("tree", "--locked", "--target", target, "--edges", "normal,no-proc-macro",
                     "--prefix", "none", "--format", "{p}", *packages)
        for line in filter(None, tree.splitlines()):
            name, version = line.split()[:2]
            if not name.startswith("ferroblosc") or name in BUNDLED:
                found.add((name, version.removeprefix("v")))
    return sorted(found)


def chosen(expression):
    """Returns the licences that apply: one of each group of alternatives."""
    licences = []
    for group in expression.split(" AND "):
        names = re.split(r" OR |/", group.strip("()"))
        licences += [choice for choice in CHOICES if choice in names][:1] or sys.exit(
            f"none of {CHOICES} in {expression!r}")
    return licences


def licence_text(folder, licence):
    """Returns the text of a licence from a crate's directory."""
    short = "BOOST" if licence == "BSL-1.0" else licence.split("-")[0]
    for name in (f"LICENSE-{licence}", f"LICENSE-{short}", f"LICENSE-{short}.md", f"LICENSE.{licence}", f"LICENSE-{short}.txt",
                 f"license-{short.lower()}", f"LICENSE-{short.upper()}", "LICENSE", "LICENSE.txt", "LICENSE.md",
                 "LICENCE", "COPYING"):
        if (folder / name).is_file():
            notice = folder / "NOTICE.txt"
            has_notice = licence == "Apache-2.0" and notice.is_file()
            return (folder / name).read_text() + ("\n\n" + notice.read_text() if has_notice else "")
    sys.exit(f"{folder} has no file with the text of {licence}")


def main():
    packages = {}
    for target in TARGETS:
        metadata = json.loads(cargo("metadata", "--locked", "--format-version", "1", "--filter-platform", target))
        packages |= {(package["name"], package["version"]): package for package in metadata["packages"]}
    entries, texts = [], {}

    def add(name, version, licence, *parts):
        entries.append(f"{name} {version}: {licence}")
        for text in parts:
            words = "\n".join(line.rstrip() for line in text.strip().splitlines())
            texts.setdefault(words, []).append(f"{name} {version}")

    folders = {name: pathlib.Path(package["manifest_path"]).parent
               for (name, _), package in packages.items()}

    for name, version in linked():
        package = packages[name, version]
        folder = pathlib.Path(package["manifest_path"]).parent
        if name in BUNDLED:
            title, licence, file, header, pattern = BUNDLED[name]
            numbers = re.search(pattern, (folder / header).read_text()) or sys.exit(f"no version in {header}")
            words = [(folder / file).with_name(part) for part in (pathlib.Path(file).name, "NOTICE")]
            words = "\n".join(part.read_text() for part in words if part.is_file())
            add(title, ".".join(numbers.groups()), f"{licence} (C sources, in the crate {name})", words)
        if name.startswith("ferroblosc"):
            continue
        licences = chosen(package["license"])
        folder = folders[WITHOUT_FILE[name]] if name in WITHOUT_FILE else folder
        add(name, version, " and ".join(licences), *(licence_text(folder, one) for one in licences))

    print("Ferroblosc\nCopyright (c) 2026, The Ferroblosc developers. BSD-3-Clause: see LICENSE.\n")
    print("Made by scripts/notice.py: don't edit. The code linked into its libraries and programs, and the")
    print("licence of each use:\n")
    for entry in sorted(entries, key=str.lower):
        print(f"  {entry}")
    print("  The Rust standard library: MIT (https://www.rust-lang.org/policies/licenses)")
    if not IS_NPM:
        print("  The unwinder of GCC, libgcc_eh: GPL-3.0-or-later with the GCC Runtime Library Exception, which lets it be")
        print("  part of programs under other licences (https://www.gnu.org/licenses/gcc-exception-3.1.html)")
    for words, names in sorted(texts.items(), key=lambda item: item[1]):
        print("\n" + "-" * 100)
        print(", ".join(names) + "\n\n" + words)


main()
