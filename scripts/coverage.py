#!/usr/bin/env python3
"""Prints the line coverage of each directory of `src`, and the files below 95 %, from a file of lcov.

usage: coverage.py LINES.INFO

Unit tests are not counted: files of tests, and the part of a file from `#[cfg(test)] mod` on.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THRESHOLD = 95.0
TESTS = re.compile(r"(tests|testing)\.rs$")


def end_of_code(path):
    """Returns the number of the line at which a file's unit tests begin."""
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if line == "#[cfg(test)]" and number < len(lines) and lines[number].startswith("mod "):
            return number
    return len(lines) + 1


def counts(report):
    """Returns for each file the counts of its lines."""
    files = defaultdict(dict)
    path, end = None, 0
    for line in report.read_text().splitlines():
        if line.startswith("SF:"):
            path = Path(line[3:])
            in_core = path.is_relative_to(ROOT / "src") and not TESTS.search(path.name)
            path, end = (path.relative_to(ROOT / "src"), end_of_code(path)) if in_core else (None, 0)
        elif line.startswith("DA:") and path:
            number, count = map(int, line[3:].split(",")[:2])
            if number < end:
                files[path][number] = max(count, files[path].get(number, 0))
    return files


def ranges(numbers):
    """Returns line numbers as text, such as `3-5 8`."""
    found = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return " ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in found)


def percent(covered, lines):
    return 100 * covered / lines if lines else 100.0


def main():
    files = counts(Path(sys.argv[1]))
    rooms = defaultdict(lambda: [0, 0])
    for path, lines in files.items():
        covered = sum(count > 0 for count in lines.values())
        for room in (path.parts[0] if len(path.parts) > 1 else "(files)", "all"):
            rooms[room][0] += covered
            rooms[room][1] += len(lines)
    print(f"{'directory':12} {'lines':>6} {'covered':>8}")
    for room in sorted(rooms, key=lambda room: (room == "all", room)):
        print(f"{room:12} {rooms[room][1]:6} {percent(*rooms[room]):7.1f}%")
    print(f"\nfiles below {THRESHOLD:.0f} %, with the lines that did not run:")
    for path in sorted(files):
        missed = [number for number, count in files[path].items() if count == 0]
        share = percent(len(files[path]) - len(missed), len(files[path]))
        if share < THRESHOLD:
            print(f"{share:5.1f}%  {path}: {ranges(missed)}")


if __name__ == "__main__":
    main()
