"""Times our blpk, Bloscpack 0.16.0 and gzip -6 on float64 numbers that go up evenly; `make bench-bloscpack`.

usage: bench-bloscpack.py BLPK [MEGABYTES [ROUNDS]], by the Python of scripts/reference-bloscpack.sh

The best of the rounds counts. The tools take turns, so that whatever else the machine does meets all of them.
"""

import os
import subprocess
import sys
import tempfile
import time

import numpy

BLPK = os.path.abspath(sys.argv[1])
MEGABYTES = int(sys.argv[2]) if len(sys.argv) > 2 else 200
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
THEIRS = os.path.join(os.path.dirname(sys.executable), "blpk")
CORES = os.cpu_count()


def tools():
    """Name, packing, unpacking: each makes its file anew."""
    for threads in sorted({1, CORES}):
        for name, program in [("blpk", BLPK), ("Bloscpack", THEIRS)]:
            command = [program, "-n", str(threads), "-f"]
            packed = f"{name}-{threads}.blp"
            yield (
                f"{name}, {threads} thread{'s' * (threads > 1)}",
                packed,
                command + ["c", "data", packed],
                command + ["d", packed, "back"],
            )
    yield "gzip -6", "data.gz", ["gzip", "-6kf", "data"], ["sh", "-c", "gzip -dc data.gz > back"]


def timed(command, folder):
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True)
    return time.perf_counter() - start


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        data = os.path.join(folder, "data")
        numpy.linspace(1, 100, MEGABYTES * 1_000_000 // 8).tofile(data)
        size = os.path.getsize(data)
        best = {}
        for round_number in range(ROUNDS):
            for name, packed, pack, unpack in tools():
                # Once is enough to know how slow it is.
                if name.startswith("gzip") and round_number > 0:
                    continue
                times = [timed(pack, folder), timed(unpack, folder)]
                subprocess.run(["cmp", "data", "back"], cwd=folder, check=True)
                os.remove(os.path.join(folder, "back"))
                ratio = size / os.path.getsize(os.path.join(folder, packed))
                former = best.get(name, (ratio, *times))
                best[name] = (ratio, min(former[1], times[0]), min(former[2], times[1]))
        print(f"{size / 1e6:.0f} MB of float64, {CORES} cores, best of {ROUNDS}")
        print(f"{'':22}{'ratio':>8}{'packing':>16}{'unpacking':>16}")
        for name, (ratio, packing, unpacking) in best.items():
            speeds = [f"{t:6.2f}s {size / t / 1e6:5.0f}MB/s" for t in (packing, unpacking)]
            print(f"{name:22}{ratio:8.2f}{speeds[0]:>18}{speeds[1]:>18}")
        gzip = best["gzip -6"]
        for name, (_, *ours) in best.items():
            if not name.startswith("blpk"):
                continue
            theirs = best[name.replace("blpk", "Bloscpack")][1:]
            against = [f"{b / a:.1f}" for a, b in zip(ours, theirs)]
            against_gzip = [f"{b / a:.0f}" for a, b in zip(ours, gzip[1:])]
            print(
                f"{name}: packing {against[0]} times as fast as Bloscpack, {against_gzip[0]} as gzip;"
                f" unpacking {against[1]} and {against_gzip[1]}"
            )


main()
