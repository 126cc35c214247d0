#!/usr/bin/env python3
"""Builds the test programs of the workspace and runs several at the same time, slow ones first.

usage: run-tests.py [PROGRAM...]

`cargo test` runs one test program after another, and many of them use one thread for most of their
time. Arguments select programs by name (`kernels`, or the package for its unit tests). The output of
a program is printed when it fails, otherwise one line with its duration and counts. TEST_JOBS is the
number of programs at a time; the default is the number of processors.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

CARGO = os.environ.get("CARGO", "cargo")
# The upper bound of the time of one program, in seconds.
LIMIT = 1200
# The programs that take longest; the others follow in cargo's order.
SLOW = ["b2nd", "c_programs", "differential", "blosc1", "ferroblosc", "examples", "kernels"]


def test_programs():
    """Builds the test programs; returns the name, path and package directory of each."""
    command = [CARGO, "test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]
    built = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message.get("profile", {}).get("test"):
            directory = Path(message["manifest_path"]).parent
            yield message["target"]["name"], message["executable"], directory


def run(path, directory):
    """Runs a test program; returns its exit status, its output and its duration in seconds."""
    start = time.monotonic()
    with subprocess.Popen(
        [path], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            output += f"\nkilled after {LIMIT} seconds\n".encode()
    return process.returncode, output.decode(errors="replace"), time.monotonic() - start


def counts(output):
    """Returns the counts of a program's output; a program without the test harness has none."""
    found = re.findall(r"^test result: \w+\. (\d+) passed; \d+ failed; (\d+) ignored", output, re.M)
    return "".join(f"{passed} passed, {ignored} ignored" for passed, ignored in found[-1:])


def main():
    selected = sys.argv[1:]
    programs = [program for program in test_programs() if not selected or program[0] in selected]
    if not programs:
        sys.exit("no test program has such a name")
    rank = {name: index for index, name in enumerate(SLOW)}
    programs.sort(key=lambda program: rank.get(program[0], len(SLOW)))
    jobs = int(os.environ.get("TEST_JOBS") or os.cpu_count() or 1)
    failed = []
    with ThreadPoolExecutor(jobs) as executor:
        running = {executor.submit(run, path, folder): (name, folder.name) for name, path, folder in programs}
        for future in as_completed(running):
            name, package = running[future]
            status, output, seconds = future.result()
            if status:
                failed.append(f"{package}: {name}")
                print(output)
            result = "FAILED" if status else "ok"
            print(f"{seconds:6.1f} s  {result:6}  {package}: {name}  {counts(output)}", flush=True)
    print(f"{len(programs) - len(failed)} of {len(programs)} test programs passed")
    if failed:
        sys.exit("failed: " + ", ".join(sorted(failed)))


if __name__ == "__main__":
    main()
