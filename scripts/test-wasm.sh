#!/bin/bash
# Builds the core for WebAssembly and tests it in Node; `make test-wasm` runs it.
#
# usage: test-wasm.sh [speed]
#
# A native build with the C codecs writes chunks and frames, and the results that reading and
# compressing must have, to target/wasm/data. The module must return the same results, with and
# without vector instructions (SIMD128). Then bytes of the chunks and frames are damaged, in a build
# in which an overflow is a trap (ROUNDS times for each, default 40; 0 skips this). With `speed`,
# the script prints instead the size of the module, and the speeds of decompression in Node and of
# native builds with decoders in Rust and in C.
set -euo pipefail
cd "$(dirname "$0")/.."

triple=wasm32-unknown-unknown
scripts/need.sh nodejs
scripts/need-rust.sh target "$triple" || { [ -n "${ALLOW_UNCHECKED:-}" ]; exit; }

CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")/wasm
export CARGO_TARGET_DIR
data=$CARGO_TARGET_DIR/data
run=$PWD/tests/wasm/run.mjs
seeds=$PWD/fuzz

# The command of the documentation. No C compiler is called.
env CC=/bin/false RUSTFLAGS='-D warnings' \
    cargo build --quiet --package ferroblosc --target "$triple" --no-default-features --features decode

cd tests/wasm
# module PROFILE [FEATURE]: builds the module with a profile and a feature of the target, and prints
# its path.
module() {
    local flags=() folder=$CARGO_TARGET_DIR
    [ -z "${2:-}" ] || flags=(--config "build.rustflags=[\"-Ctarget-feature=+$2\"]") folder+=/$2
    env CC=/bin/false cargo build --quiet --lib --target "$triple" --profile "$1" "${flags[@]}" --target-dir "$folder"
    echo "$folder/$triple/$1/ferroblosc_wasm.wasm"
}

# native ARGUMENT...: runs the program with the C codecs.
native() {
    cargo run --quiet --release --features c --bin native -- "$@"
}

rm -rf "$data"
native write "$data" "$seeds"
if [ "${1:-}" = speed ]; then
    for options in release "release simd128" "small simd128"; do
        # Word splitting is intended.
        # shellcheck disable=SC2086
        path=$(module $options)
        echo "module $options: $(stat -c %s "$path") bytes"
        node "$run" speed "$path" "$data"
    done
    echo "native, in C:"
    native speed "$data"
    echo "native, in Rust:"
    cargo run --quiet --release --bin native --target-dir "$CARGO_TARGET_DIR/rust" -- speed "$data"
    exit
fi
node "$run" check "$(module release)" "$data"
node "$run" check "$(module release simd128)" "$data"
if [ "${ROUNDS:-40}" != 0 ]; then
    checked=$(module checked)
    node "$run" check "$checked" "$data"
    node "$run" damage "$checked" "$data" "${ROUNDS:-40}"
fi
