#!/usr/bin/env python3
"""Compares the lower SIMD levels with the reference; `make bench-levels` runs it.

usage: bench-levels.py BENCH [OPTIONS], the program of benches/peer and options for it

Prints a Markdown table with one row per group of kernels or chunks and one column per SIMD level.
The SIMD level is fixed for a process, so the bench runs once per level.
"""

import subprocess
import sys

LEVELS = ["avx512", "avx2", "sse2", "generic"]
PARTS = "kernels,filters,chunks"
# Column indexes in the bench's table: the group, the number of cells, Ferroblosc's figure.
GROUP, CELLS, OURS = 0, 1, 2


def groups(lines):
    """Returns the rows of the first table, split into cells."""
    rows = (line[1:-1].split("|") for line in lines if line.startswith("| "))
    rows = [[cell.strip() for cell in row] for row in rows]
    wide = [row for row in rows if len(row) == len(rows[0])]
    return {row[GROUP]: row for row in wide[1:]}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    bench, *options = sys.argv[1:]
    tables = {}
    for level in LEVELS:
        print(f"running at level {level}", file=sys.stderr)
        command = [bench, "--markdown", "yes", "--parts", PARTS, "--level", level, *options]
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        tables[level] = groups(run.stdout.splitlines())
    print("| | cells | " + " | ".join(LEVELS) + " |")
    print("|---" * (len(LEVELS) + 2) + "|")
    for group, row in tables[LEVELS[0]].items():
        figures = [tables[level][group][OURS] for level in LEVELS]
        print(f"| {group} | {row[CELLS]} | " + " | ".join(figures) + " |")


main()
