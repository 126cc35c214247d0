#!/bin/bash
# Compares zarrs' own Blosc benchmark with the crate blosc-src and with ours; `make bench-zarrs`
# runs it.
#
# usage: bench-zarrs.sh ROUNDS
#
# Both programs are built with the flags of .cargo/config.toml and our release profile. They run
# alternately; the result is the ratio of their shortest times.
set -euo pipefail

ROOT=$(cd "$(dirname "$0")/.." && pwd)
TARGET=$(realpath -m "${CARGO_TARGET_DIR:-$ROOT/target}")
export ROOT TARGET
"$ROOT/scripts/need.sh" g++ cmake binutils
. "$ROOT/scripts/clients/rust.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CARGO_TARGET_DIR=$TARGET/bench-zarrs
cd "$work"

crate zarrs 0.23.14
flags=(--config "$ROOT/.cargo/config.toml" --config 'profile.bench.lto="thin"' --config profile.bench.codegen-units=1)
mapfile -t ours < <(patched blosc-src)
for whose in theirs ours; do
    options=("${flags[@]}")
    [ $whose = theirs ] || options+=("${ours[@]}")
    (cd zarrs && cargo bench --no-run --bench array_blosc "${options[@]}") > log 2>&1 || { tail -n 50 log; exit 1; }
    cp "$(cd zarrs && realpath "$(sed -n 's/^ *Executable .*(\(.*\))$/\1/p' ../log)")" $whose
    proven $whose $whose
done

python3 - "$1" << 'END'
import re, subprocess, sys

UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1}
best = {}
for _ in range(int(sys.argv[1])):
    for program in ["theirs", "ours"]:
        command = ["./" + program, "--bench", "--noplot", "--discard-baseline", "--warm-up-time", "0.3",
                   "--measurement-time", "1", "--sample-size", "10"]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = re.findall(r"^(\w+/\d+)\s+time:\s+\[([\d.]+) (\S+) ", text, re.M)
        assert len(found) == 6, text
        for name, number, unit in found:
            key = (name, program)
            best[key] = min(best.get(key, float("inf")), float(number) * UNITS[unit])
print(f"{'benchmark':30} {'blosc-src':>12} {'ours':>12} {'ratio':>7}")
for name in dict.fromkeys(name for name, _ in best):
    theirs, ours = best[name, "theirs"], best[name, "ours"]
    print(f"{name:30} {theirs * 1e3:9.3f} ms {ours * 1e3:9.3f} ms {theirs / ours:6.2f}x")
END
