"""Times queries and column reads of tables with Ferroblosc and python-blosc2 4.14.1; `make
bench-stores` runs it.

usage: bench-stores.py PROGRAM [MILLIONS [ROUNDS]], with the Python of scripts/reference.sh blosc2

PROGRAM is the example `table_times` of the crate ferroblosc-formats. Both sides read the same
tables, which python-blosc2 writes: a .b2z file with a summary of each column of numbers, and one
without. They run in turns, A B B A, in two processes; the time is that of opening the store, and of
the query or the read, with warm caches. Queries return the values of two columns as arrays. The
medians of all rounds are printed, and the ratio of python-blosc2's time to Ferroblosc's: above 1,
Ferroblosc is faster.

Rows:

    one day         a range of a column that ascends: 1/1000 of the rows, in few blocks
    rare            a range of a random column: 1/1000 of the rows, in all blocks
    category, rare  two conditions
    half            half of the rows
    again           the queries with a table that stays open
    column          all rows of a column
"""

import dataclasses
import os
import statistics
import subprocess
import sys
import tempfile
import time

import blosc2
import numpy as np

MILLIONS = float(sys.argv[2]) if len(sys.argv) > 2 else 4
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 7
WORDS = np.array(["north", "south-east", "", "a longer name of a place"])


def create(path, rows, has_summaries):
    row = dataclasses.make_dataclass("Row", [
        ("time", int, blosc2.field(blosc2.int64())),
        ("value", float, blosc2.field(blosc2.float64())),
        ("number", int, blosc2.field(blosc2.int32())),
        ("small", int, blosc2.field(blosc2.int16(nullable=True))),
        ("place", str, blosc2.field(blosc2.utf8())),
    ])
    rng = np.random.default_rng(1)
    table = blosc2.CTable(row, urlpath=path, mode="w", expected_size=rows, create_summary_index=has_summaries)
    step = 1_000_000
    for start in range(0, rows, step):
        count = min(step, rows - start)
        table.extend({
            "time": np.arange(start, start + count, dtype=np.int64) * 7 + rng.integers(0, 7, count),
            "value": np.round(rng.normal(size=count), 3),
            "number": rng.integers(0, 50, count, dtype=np.int32),
            "small": rng.integers(-1000, 1000, count).astype(np.int16),
            "place": WORDS[rng.integers(0, 4, count)],
        }, validate=False)
    table.close()


class Ours:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, task):
        self.process.stdin.write(" ".join(task) + "\n")
        self.process.stdin.flush()
        seconds, size = self.process.stdout.readline().split()
        return float(seconds), int(size)


class Theirs:
    def __init__(self):
        self.table = None

    @staticmethod
    def query(table, columns, condition):
        found = table.where(condition.replace(" and ", ") & (").join("()"))
        return sum(found[name][:].nbytes for name in columns.split(","))

    def run(self, task):
        command, *rest = task
        start = time.perf_counter()
        if command == "again":
            size = self.query(self.table, *rest)
        else:
            table = blosc2.open(rest[0], mode="r")
            if command == "query":
                size = self.query(table, *rest[1:])
            else:
                items = table[rest[1]][:]
                size = items.nbytes if command == "column" else None
        seconds = time.perf_counter() - start
        if command == "query":
            self.table = table
        elif command != "again":
            size = size if size is not None else sum(len(text.encode()) for text in items)
            table.close()
        return seconds, size


def main():
    rows = int(MILLIONS * 1_000_000)
    ours, theirs = Ours(sys.argv[1]), Theirs()
    with tempfile.TemporaryDirectory() as folder:
        paths = {"with summaries": f"{folder}/with.b2z", "without": f"{folder}/without.b2z"}
        for name, path in paths.items():
            create(path, rows, name != "without")
        print(f"{rows} rows, {ROUNDS} rounds, {os.cpu_count()} threads; times in ms")
        print(f"{'table':15} {'task':28} {'python-blosc2':>13} {'Ferroblosc':>11} {'ratio':>6}")
        middle = rows * 7 // 2
        queries = {
            "one day": ("time,value", f"time >= {middle} and time < {middle + rows * 7 // 1000}"),
            "rare": ("time,value", "value > 3.09"),
            "category, rare": ("time,value", "number == 7 and value > 2.05"),
            "half": ("time,value", "value > 0.0"),
        }
        for name, path in paths.items():
            tasks = {}
            for query, arguments in queries.items():
                tasks[query] = ("query", path, *arguments)
                tasks[query + ", again"] = ("again", *arguments)
            if name != "without":
                for column in ["time", "value", "number", "small"]:
                    tasks["column " + column] = ("column", path, column)
                tasks["column place"] = ("texts", path, "place")
            for label, task in tasks.items():
                sides = [ours, theirs]
                times = {ours: [], theirs: []}
                sizes = {side: side.run(task)[1] for side in sides}
                if sizes[ours] != sizes[theirs]:
                    sys.exit(f"{name}, {label}: the results have {sizes[ours]} and {sizes[theirs]} bytes")
                for number in range(ROUNDS):
                    for side in sides if number % 2 == 0 else sides[::-1]:
                        times[side].append(side.run(task)[0])
                mine, other = (statistics.median(times[side]) * 1000 for side in sides)
                print(f"{name:15} {label:28} {other:13.2f} {mine:11.2f} {other / mine:6.2f}", flush=True)
    ours.process.stdin.close()
    ours.process.wait()


if __name__ == "__main__":
    main()
