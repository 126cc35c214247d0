#!/usr/bin/env python3
"""Prints the coverage of each directory, and the files below 95 % of lines, from a file of lcov.

usage: coverage.py COVERAGE.INFO

Tests are not counted: files of tests, and the part of a file from `#[cfg(test)] mod` on.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THRESHOLD = 95.0
TESTS = re.compile(r"(^|/)(tests?|testing|benches|examples)(/|\.rs$)|tests\.rs$")


def end_of_code(path):
    """Returns the number of the line at which a file's unit tests begin."""
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if line == "#[cfg(test)]" and number < len(lines) and lines[number].startswith("mod "):
            return number
    return len(lines) + 1


class Counts:
    """Whether the lines and branches of a file ran."""

    def __init__(self):
        self.lines = {}
        self.branches = {}


def counts(report):
    """Returns the counts of each file of the project."""
    files = defaultdict(Counts)
    path, end = None, 0
    for line in report.read_text().splitlines():
        key, _, value = line.partition(":")
        if key == "SF":
            # The package of plug-ins has a link to the sources of another.
            path = Path(value).resolve()
            counted = path.is_relative_to(ROOT) and not TESTS.search(str(path.relative_to(ROOT)))
            path, end = (path.relative_to(ROOT), end_of_code(path)) if counted else (None, 0)
        elif key in ("DA", "BRDA") and path:
            number, *branch = value.split(",")
            if int(number) >= end:
                continue
            if key == "DA":
                runs, place = files[path].lines, int(number)
            else:
                runs, place = files[path].branches, (int(number), *branch[:2])
            runs[place] = runs.get(place, False) or branch[-1] not in ("0", "-")
    return files


def room(path):
    """Returns the directory that a file belongs to: `src/frame`, `formats/src/bcolz`, `tools/b2`."""
    depth = {"src": 2, "formats": 3}.get(path.parts[0], 2)
    return "/".join(path.parent.parts[:depth])


def ranges(numbers):
    """Returns line numbers as text, such as `3-5 8`."""
    found = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return " ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in found)


def percent(covered, all_):
    return 100 * covered / all_ if all_ else 100.0


def main():
    files = counts(Path(sys.argv[1]))
    rooms = defaultdict(lambda: [0, 0, 0, 0])
    for path, file in files.items():
        for name in (room(path), f"all of {path.parts[0]}"):
            for column, runs in ((0, file.lines), (2, file.branches)):
                rooms[name][column] += sum(runs.values())
                rooms[name][column + 1] += len(runs)
    print(f"{'directory':24} {'lines':>6} {'covered':>8} {'branches':>9} {'covered':>8}")
    for name in sorted(rooms, key=lambda name: (name.startswith("all of"), name)):
        lines, all_lines, branches, all_branches = rooms[name]
        print(
            f"{name:24} {all_lines:6} {percent(lines, all_lines):7.1f}%"
            f" {all_branches:9} {percent(branches, all_branches):7.1f}%"
        )
    print(f"\nfiles below {THRESHOLD:.0f} %, with the lines that did not run:")
    for path in sorted(files):
        lines = files[path].lines
        missed = [number for number, ran in lines.items() if not ran]
        share = percent(len(lines) - len(missed), len(lines))
        if share < THRESHOLD:
            print(f"{share:5.1f}%  {path}: {ranges(missed)}")


if __name__ == "__main__":
    main()
