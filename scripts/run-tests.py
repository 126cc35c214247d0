#!/usr/bin/env python3
"""Builds the test programs of the workspace and runs several at the same time, slow ones first.

usage: run-tests.py [--also COMMAND]... [PROGRAM...]

`cargo test` runs one test program after another, and many of them use one thread for most of their
time. Arguments select programs by the names of cargo's targets, such as `kernels`, or
`ferroblosc_formats` for unit tests. Each COMMAND of the shell runs beside the programs, in the root
of the project, and starts before them. Each program has one line with its duration and counts; the
output is printed if it fails. TEST_JOBS is the number of programs at a time; the default is the
number of processors.
"""

import argparse
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
# As in the Makefile.
TESTED = ["--workspace", "--exclude", "ferroblosc-bench-*", "--exclude", "ferroblosc-headers"]
# The upper bound of the time of one program, in seconds.
LIMIT = 1200
# The programs that take longest; the others follow in cargo's order.
SLOW = ["b2nd", "c_programs", "differential", "blosc1", "ferroblosc", "examples", "kernels"]


def test_programs():
    """Builds the test programs; returns the name, path and package directory of each."""
    command = [CARGO, "test", *TESTED, "--no-run", "--message-format=json-render-diagnostics"]
    built = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message.get("profile", {}).get("test"):
            directory = Path(message["manifest_path"]).parent
            yield message["target"]["name"], message["executable"], directory


class Runner:
    """Runs programs, each in a session of its own, and ends them if the run is interrupted."""

    def __init__(self):
        self.running = set()

    def run(self, command, directory):
        """Runs a command; returns whether it passed, its output and its duration in seconds."""
        start = time.monotonic()
        with subprocess.Popen(
            command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        ) as process:
            self.running.add(process)
            try:
                output, _ = process.communicate(timeout=LIMIT)
                passed = process.returncode == 0
            except subprocess.TimeoutExpired as expired:
                self.kill(process)
                # Descendants in other sessions may keep the pipe open: only what was read so far
                # counts.
                output = (expired.output or b"") + f"\nkilled after {LIMIT} seconds\n".encode()
                passed = False
            finally:
                self.running.discard(process)
            process.stdout.close()
        return passed, output.decode(errors="replace"), time.monotonic() - start

    @staticmethod
    def kill(process):
        """Kills a program with its descendants."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def kill_all(self):
        """Kills all running programs."""
        for process in list(self.running):
            self.kill(process)


def counts(output):
    """Returns the counts of a program's output; a program without the test harness has none."""
    found = re.findall(r"^test result: \w+\. (\d+) passed; \d+ failed; (\d+) ignored", output, re.M)
    return "".join(f"{passed} passed, {ignored} ignored" for passed, ignored in found[-1:])


def interrupt(_number, _frame):
    """Turns a signal into the exception of Ctrl-C."""
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--also", action="append", default=[], metavar="COMMAND")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    arguments = parser.parse_args()
    selected = set(arguments.programs)
    programs = [program for program in test_programs() if not selected or program[0] in selected]
    unknown = selected - {name for name, _, _ in programs}
    if unknown or not programs:
        sys.exit("no test program has the name " + ", ".join(sorted(unknown)))
    rank = {name: index for index, name in enumerate(SLOW)}
    programs.sort(key=lambda program: rank.get(program[0], len(SLOW)))
    tests = [(["sh", "-c", command], Path.cwd(), command) for command in arguments.also]
    tests += [([path], folder, f"{folder.name}: {name}") for name, path, folder in programs]
    # The libraries and examples are built, so the programs need not call cargo, which would make
    # them wait for each other.
    os.environ["FERROBLOSC_BUILT"] = "1"
    # Programs that are started while a test has an HDF5 file open inherit its lock, and hold it
    # after the test has closed the file.
    os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"
    jobs = int(os.environ.get("TEST_JOBS") or os.cpu_count() or 1)
    failed = []
    runner = Runner()
    signal.signal(signal.SIGTERM, interrupt)
    executor = ThreadPoolExecutor(jobs)
    try:
        running = {executor.submit(runner.run, command, folder): title for command, folder, title in tests}
        for future in as_completed(running):
            title = running[future]
            passed, output, seconds = future.result()
            if not passed:
                failed.append(title)
                print(output)
            result = "ok" if passed else "FAILED"
            found = "" if title in arguments.also else counts(output)
            print(f"{seconds:6.1f} s  {result:6}  {title}  {found}", flush=True)
    finally:
        # After an interruption the programs that wait do not start, and the others end.
        executor.shutdown(wait=False, cancel_futures=True)
        runner.kill_all()
    print(f"{len(tests) - len(failed)} of {len(tests)} test programs and commands passed")
    if failed:
        sys.exit("failed: " + ", ".join(sorted(failed)))


if __name__ == "__main__":
    main()
