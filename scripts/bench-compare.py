#!/usr/bin/env python3
"""Compares two results of `make bench BENCH='--json FILE'`.

usage: bench-compare.py [--cells N] BEFORE AFTER

For each group the table has the means of the speeds of both runs, relative to the reference, and
their ratio with its 95 % interval (bootstrap over the cells of both runs). A ratio above 1 means
that AFTER is faster. The N cells with the largest changes follow. Differences between the machines and
between the options are listed first: such runs are hardly comparable.
"""

import argparse
import json
import math
import random
import sys

SAMPLES = 1000


def load(path):
    """Returns a result."""
    try:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        for group in result["groups"]:
            group["cells"] = {cell["name"]: cell for cell in group["cells"]}
        result["groups"] = {group["name"]: group for group in result["groups"]}
        return result
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{path}: not a result of make bench: {error}")


def mean(ratios):
    """Returns the geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def interval(ratios):
    """Returns the 95 % interval of the geometric mean, or none for a single cell."""
    if len(ratios) < 2:
        return None
    draw = random.Random(1)
    means = sorted(mean(draw.choices(ratios, k=len(ratios))) for _ in range(SAMPLES))
    return means[SAMPLES // 40], means[-1 - SAMPLES // 40]


def print_differences(before, after):
    """Prints the facts of the machines and options that differ."""
    for key in sorted(before["machine"].keys() | after["machine"].keys()):
        values = [result["machine"].get(key) for result in (before, after)]
        if values[0] != values[1]:
            print(f"machine: {key}: {values[0]} before, {values[1]} after")
    # The name of the file differs in any case.
    options = [" ".join(result["options"]).replace(path, "FILE") for result, path in ((before, sys.argv[-2]), (after, sys.argv[-1]))]
    if options[0] != options[1]:
        print(f"options: {options[0]!r} before, {options[1]!r} after")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=20)
    parser.add_argument("before")
    parser.add_argument("after")
    arguments = parser.parse_args()
    before, after = load(arguments.before), load(arguments.after)
    print_differences(before, after)
    print(f"{'group':56}{'cells':>6}{'before':>8}{'after':>8}{'ratio':>8}  95 %")
    changes = []
    for name, group in after["groups"].items():
        old = before["groups"].get(name, {"cells": {}})["cells"]
        common = [cell for cell in group["cells"] if cell in old]
        if not common:
            print(f"{name:56}     0  only in the second result")
            continue
        speeds = [(old[cell]["ours"], group["cells"][cell]["ours"]) for cell in common]
        ratios = [new / first for first, new in speeds]
        changes += [(ratio, name, cell) for ratio, cell in zip(ratios, common)]
        bounds = interval(ratios)
        text = f"{bounds[0]:.3f} to {bounds[1]:.3f}" if bounds else ""
        means = [mean(column) for column in zip(*speeds)]
        print(f"{name:56}{len(common):6}{means[0]:8.2f}{means[1]:8.2f}{mean(ratios):8.3f}  {text}")
    for name in before["groups"].keys() - after["groups"].keys():
        print(f"{name:56}     0  only in the first result")
    changes.sort(key=lambda change: -abs(math.log(change[0])))
    print("\nlargest changes")
    for ratio, name, cell in changes[: arguments.cells]:
        print(f"{ratio:8.3f}  {cell}  ({name})")


if __name__ == "__main__":
    main()
