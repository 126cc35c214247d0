#!/bin/bash
# Measures the line coverage of the core by its tests, and prints a table: coverage.sh [ARGUMENTS]
#
# The arguments are those of `cargo test --package ferroblosc`, such as `--lib`; the default is
# `--lib --tests`. The build is in target/coverage; lines.info there has the counts of all lines in
# lcov's format. Lines that run only in killed processes or after a fork are not counted.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
llvm=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
# Both programs must have the LLVM version of rustc: from rustup, or from Debian.
tools=$(rustc --print sysroot)/lib/rustlib/$host/bin
if scripts/need-rust.sh component llvm-tools; then
    profdata=$tools/llvm-profdata cov=$tools/llvm-cov
else
    scripts/need.sh "llvm-$llvm"
    profdata=llvm-profdata-$llvm cov=llvm-cov-$llvm
fi

export CARGO_TARGET_DIR=$PWD/target/coverage RUSTFLAGS=-Cinstrument-coverage
profiles=$CARGO_TARGET_DIR/profiles
rm -rf "$profiles"
# Build scripts write profiles, too.
export LLVM_PROFILE_FILE=$CARGO_TARGET_DIR/ignored.profraw
[ $# -gt 0 ] || set -- --lib --tests
selected=(--target "$host" --package ferroblosc "$@")
cargo test --quiet "${selected[@]}" --no-run
programs=$(cargo test "${selected[@]}" --no-run --message-format=json 2> /dev/null |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')
# %m: the profiles of one program are merged in one file.
LLVM_PROFILE_FILE=$profiles/%m.profraw cargo test --quiet "${selected[@]}"
$profdata merge --sparse "$profiles"/*.profraw -o "$profiles/all.profdata"
objects=()
for program in $programs; do
    objects+=(--object "$program")
done
$cov export --format=lcov --instr-profile="$profiles/all.profdata" "${objects[@]}" \
    --sources src > "$CARGO_TARGET_DIR/lines.info"
python3 scripts/coverage.py "$CARGO_TARGET_DIR/lines.info"
