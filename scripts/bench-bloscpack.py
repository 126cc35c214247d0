"""Times our blpk, Bloscpack 0.16.0 and gzip -6 on float64 numbers that go up evenly; `make bench-bloscpack`.

usage: bench-bloscpack.py BLPK [MEGABYTES [ROUNDS]], by the Python of scripts/reference-bloscpack.sh

The best of the rounds counts: of the time on the clock, and of the processor time, which says more when the machine is
busy. The tools take turns, so that whatever else the machine does meets all of them.
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
    """Seconds on the clock, and of processors."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder)
    _, status, used = os.wait4(process.pid, 0)
    took = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return took, used.ru_utime + used.ru_stime


def start_of_python():
    """Processor time of a Python tool that does nothing."""
    return min(timed([THEIRS, "--version"], ".")[1] for _ in range(3))


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
                times = [*timed(pack, folder), *timed(unpack, folder)]
                subprocess.run(["cmp", "data", "back"], cwd=folder, check=True)
                os.remove(os.path.join(folder, "back"))
                ratio = size / os.path.getsize(os.path.join(folder, packed))
                former = best.get(name, (ratio, times))[1]
                best[name] = (ratio, [min(pair) for pair in zip(former, times)])
        print(f"{size / 1e6:.0f} MB of float64, {CORES} cores, best of {ROUNDS}; seconds on the clock, of processors")
        print(f"{'':22}{'ratio':>8}{'packing':>18}{'unpacking':>18}")
        for name, (ratio, times) in best.items():
            pairs = [f"{times[at]:7.2f} {times[at + 1]:7.2f}" for at in (0, 2)]
            print(f"{name:22}{ratio:8.2f}{pairs[0]:>18}{pairs[1]:>18}")
        print(f"of that to start Python: {start_of_python():.2f}")
        gzip = best["gzip -6"][1]
        for name, (_, ours) in best.items():
            if not name.startswith("blpk"):
                continue
            theirs = best[name.replace("blpk", "Bloscpack")][1]
            for at, measure in enumerate(["on the clock", "of processors"]):
                against = [f"{theirs[k] / ours[k]:.1f}" for k in (at, at + 2)]
                against_gzip = [f"{gzip[k] / ours[k]:.0f}" for k in (at, at + 2)]
                print(
                    f"{name}, time {measure}: packing {against[0]} times as fast as Bloscpack,"
                    f" {against_gzip[0]} as gzip; unpacking {against[1]} and {against_gzip[1]}"
                )


main()
