#!/usr/bin/env python3
"""Plots speed against compression ratio; `make plot` runs it.

usage: plot.py CURVES SVG

CURVES is the output of the side-by-side bench with `--parts curves`: tab-separated codec, level,
library, ratio, and write and read speeds in GB/s. The chart has one panel per direction, one line
per codec and library, and one point per level. Points further up and to the right are better.
"""

import csv
import math
import sys

COLOURS = {"blosclz": "#0072b2", "lz4": "#d55e00", "lz4hc": "#009e73", "zlib": "#b0568f", "zstd": "#b8860b"}
LIBRARIES = {"ours": "Ferroblosc", "reference": "C-Blosc2 3.3.5"}
WIDTH, HEIGHT = 1080, 540
# Left and right edges of the two panels, and their common top and bottom.
PANELS = {"write": (80, 510), "read": (610, 1040)}
TOP, BOTTOM = 110, 470
INK, FAINT = "#222222", "#dddddd"
# A white outline keeps text readable over lines.
HALO = ' paint-order="stroke" stroke="white" stroke-width="3"'


def text(x, y, words, anchor="middle", size=13, colour=INK, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{extra}>{words}</text>'


def line(x1, y1, x2, y2, colour, extra=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{extra}/>'


def point(x, y, colour, is_ours):
    """Returns a filled disc for Ferroblosc, a ring for the reference."""
    fill = colour if is_ours else "white"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'


def dashes(is_ours):
    return "" if is_ours else ' stroke-dasharray="5 4"'


def ticks(low, high):
    """Returns axis ticks: 1, 2 and 5 times powers of ten between two numbers, plus one tick on each
    side."""
    marks = [digit * 10.0**power for power in range(-5, 4) for digit in (1, 2, 5)]
    below = max((mark for mark in marks if mark <= low), default=marks[0])
    above = min((mark for mark in marks if mark >= high * 1.2), default=marks[-1])
    return [mark for mark in marks if below <= mark <= above]


def panel(rows, direction, title):
    """Draws the axes and lines of one direction."""
    left, right = PANELS[direction]
    speeds = [row[direction] for row in rows]
    ratios = [row["ratio"] for row in rows]
    marks = ticks(min(speeds), max(speeds))
    low, high = math.log(marks[0]), math.log(marks[-1])
    step = 0.5 if max(ratios) - min(ratios) < 4 else 1
    first, last = math.floor(min(ratios) / step), math.ceil(max(ratios) / step)

    def at(ratio, speed):
        x = left + (right - left) * (ratio / step - first) / (last - first)
        return x, BOTTOM - (BOTTOM - TOP) * (math.log(speed) - low) / (high - low)

    drawn = [text((left + right) / 2, TOP - 14, title, size=15, extra=' font-weight="bold"')]
    for mark in marks:
        _, y = at(first * step, mark)
        drawn += [line(left, y, right, y, FAINT), text(left - 8, y + 4, f"{mark:g}", "end")]
    for number in range(first, last + 1):
        x, _ = at(number * step, marks[0])
        drawn += [line(x, TOP, x, BOTTOM, FAINT), text(x, BOTTOM + 20, f"{number * step:g}")]
    drawn.append(f'<rect x="{left}" y="{TOP}" width="{right - left}" height="{BOTTOM - TOP}" fill="none" stroke="{INK}"/>')
    middle = (TOP + BOTTOM) / 2
    turned = f' transform="rotate(-90 {left - 54} {middle})"'
    drawn += [text((left + right) / 2, BOTTOM + 46, "compression ratio (data / chunk)"),
              text(left - 54, middle, "GB of data per second, one thread", extra=turned)]
    names = []
    for codec, colour in COLOURS.items():
        # The reference is drawn first, so that Ferroblosc's line is on top.
        for library in reversed(LIBRARIES):
            is_ours = library == "ours"
            curve = [row for row in rows if (row["codec"], row["library"]) == (codec, library)]
            curve.sort(key=lambda row: row["level"])
            places = [at(row["ratio"], row[direction]) for row in curve]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dashes(is_ours)}/>')
            drawn += [point(x, y, colour, is_ours) for x, y in places]
            if is_ours and curve:
                ends = {curve[0]["level"]: places[0], curve[-1]["level"]: places[-1]}
                names += [text(x, y - 8, level, size=11, colour=colour, extra=HALO) for level, (x, y) in ends.items()]
    return drawn + names


def legend():
    """Draws the colours of the codecs and the line styles of the libraries."""
    drawn, x = [], 80
    for codec, colour in COLOURS.items():
        drawn += [line(x, 60, x + 24, 60, colour, ' stroke-width="3"'), text(x + 32, 64, codec, "start")]
        x += 112
    for library, name in LIBRARIES.items():
        is_ours = library == "ours"
        drawn += [line(x, 60, x + 36, 60, INK, f' stroke-width="1.8"{dashes(is_ours)}'), point(x + 18, 60, INK, is_ours),
                  text(x + 44, 64, name, "start")]
        x += 170
    return drawn


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for row in rows:
        row["level"] = int(row["level"])
        row |= {name: float(row[name]) for name in ("ratio", "write", "read")}
    if not rows:
        sys.exit(f"{sys.argv[1]}: no curves")
    levels = ", ".join(str(level) for level in sorted({row["level"] for row in rows}))
    drawn = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             text(80, 32, "Speed against ratio: byte shuffle, chunks of 1 MiB, means over nine data sets of numbers", "start", 17),
             *legend(),
             *panel(rows, "write", "compressing"),
             *panel(rows, "read", "decompressing"),
             text(WIDTH / 2, HEIGHT - 8, f"Points are levels {levels}; the first and the last are named.", size=12)]
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
                   'font-family="Helvetica, Arial, DejaVu Sans, sans-serif">\n' + "\n".join(drawn) + "\n</svg>\n")


main()
