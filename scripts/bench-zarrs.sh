#!/bin/bash
# Compares zarrs' own Blosc benchmark with the crate blosc-src and with ours; `make bench-zarrs`
# runs it.
#
# usage: bench-zarrs.sh ROUNDS
#
# Both programs are built with the flags of .cargo/config.toml and our release profile. They run
# alternately; the result is the ratio of the shortest times of a sample.
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
# The benchmark alone: the other dependencies of zarrs' tests take long to compile.
mkdir -p bench/src bench/benches
touch bench/src/lib.rs
cp zarrs/benches/array_blosc.rs bench/benches
cat > bench/Cargo.toml << 'END'
[package]
name = "bench"
version = "0.0.0"
edition = "2024"
[dev-dependencies]
criterion = { version = "0.8", default-features = false }
zarrs = { version = "=0.23.14", default-features = false, features = ["blosc"] }
[[bench]]
name = "array_blosc"
harness = false
[profile.bench]
codegen-units = 1
lto = "thin"
[workspace]
END
mapfile -t ours < <(patched blosc-src)
for whose in theirs ours; do
    options=(--config "$ROOT/.cargo/config.toml")
    [ $whose = theirs ] || options+=("${ours[@]}")
    (cd bench && cargo bench --no-run --bench array_blosc "${options[@]}") > log 2>&1 || { tail -n 50 log; exit 1; }
    cp "$(cd bench && realpath "$(sed -n 's/^ *Executable .*(\(.*\))$/\1/p' ../log)")" $whose
    proven $whose $whose
done

CRITERION_HOME=$work/criterion python3 - "$1" << 'END'
import json, os, pathlib, subprocess, sys

home = pathlib.Path(os.environ["CRITERION_HOME"])
best = {}
for _ in range(int(sys.argv[1])):
    for program in ["theirs", "ours"]:
        subprocess.run(["./" + program, "--bench", "--noplot", "--warm-up-time", "0.3", "--measurement-time", "1",
                        "--sample-size", "20"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for file in sorted(home.glob("*/*/new/sample.json")):
            sample = json.loads(file.read_text())
            time = min(time / count for time, count in zip(sample["times"], sample["iters"]))
            key = ("/".join(file.parts[-4:-2]), program)
            best[key] = min(best.get(key, time), time)
assert len(best) == 12, best
print(f"{'benchmark':30} {'blosc-src':>12} {'ours':>12} {'ratio':>7}")
for name in sorted({name for name, _ in best}):
    theirs, ours = best[name, "theirs"], best[name, "ours"]
    print(f"{name:30} {theirs / 1e6:9.3f} ms {ours / 1e6:9.3f} ms {theirs / ours:6.2f}x")
END
