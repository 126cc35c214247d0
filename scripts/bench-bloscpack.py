"""Times Ferroblosc's blpk, Bloscpack 0.16.0 and gzip -6 on a float64 ramp; `make bench-bloscpack`
runs it.

usage: bench-bloscpack.py BLPK [MEGABYTES [ROUNDS]], with the Python of
scripts/reference.sh bloscpack

Reports the best wall-clock time and the best processor time of all rounds; the latter is more
reliable on a busy machine. The tools alternate, so that other load affects all of them equally.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy

BLPK = os.path.abspath(sys.argv[1])
MEGABYTES = int(sys.argv[2]) if len(sys.argv) > 2 else 200
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
THEIRS = os.path.join(os.path.dirname(sys.executable), "blpk")
CORES = os.cpu_count()


def tools():
    """Yields (name, packed file, pack command, unpack command)."""
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
    """Returns the command's wall-clock time and processor time in seconds."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder)
    _, status, used = os.wait4(process.pid, 0)
    took = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return took, used.ru_utime + used.ru_stime


def start_of_python():
    """Returns the processor time of starting the Python tool, in seconds."""
    return min(timed([THEIRS, "--version"], ".")[1] for _ in range(3))


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        data = os.path.join(folder, "data")
        numpy.linspace(1, 100, MEGABYTES * 1_000_000 // 8).tofile(data)
        size = os.path.getsize(data)
        best = {}
        for round_number in range(ROUNDS):
            for name, packed, pack, unpack in tools():
                # One round is enough for gzip, whose times are long.
                if name.startswith("gzip") and round_number > 0:
                    continue
                # Our blpk syncs a file before it replaces another one, the others do not.
                Path(folder, packed).unlink(missing_ok=True)
                times = [*timed(pack, folder), *timed(unpack, folder)]
                subprocess.run(["cmp", "data", "back"], cwd=folder, check=True)
                os.remove(os.path.join(folder, "back"))
                ratio = size / os.path.getsize(os.path.join(folder, packed))
                former = best.get(name, (ratio, times))[1]
                best[name] = (ratio, [min(pair) for pair in zip(former, times)])
        print(f"{size / 1e6:.0f} MB of float64, {CORES} cores, best of {ROUNDS}; wall-clock and processor seconds")
        print(f"{'':22}{'ratio':>8}{'packing':>18}{'unpacking':>18}")
        for name, (ratio, times) in best.items():
            pairs = [f"{times[at]:7.2f} {times[at + 1]:7.2f}" for at in (0, 2)]
            print(f"{name:22}{ratio:8.2f}{pairs[0]:>18}{pairs[1]:>18}")
        print(f"Python startup: {start_of_python():.2f}")
        gzip = best["gzip -6"][1]
        for name, (_, ours) in best.items():
            if not name.startswith("blpk"):
                continue
            theirs = best[name.replace("blpk", "Bloscpack")][1]
            for at, measure in enumerate(["wall-clock", "processor"]):
                against = [f"{theirs[k] / ours[k]:.1f}" for k in (at, at + 2)]
                against_gzip = [f"{gzip[k] / ours[k]:.0f}" for k in (at, at + 2)]
                print(
                    f"{name}, {measure} time: packing {against[0]} times as fast as Bloscpack,"
                    f" {against_gzip[0]} times as gzip; unpacking {against[1]} and {against_gzip[1]}"
                )


main()
