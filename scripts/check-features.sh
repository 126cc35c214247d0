#!/bin/bash
# Checks the core with each of its features alone and the formats without features, and compiles and
# tests it without a C compiler: without features, and with the decoders in Rust; `make
# check-features` runs it.
set -euo pipefail
cd "$(dirname "$0")/.."

core=(--package ferroblosc --no-default-features)
features=$(sed -n 's/^default = \[\(.*\)\]$/\1/p' Cargo.toml | tr -d '",')
[ -n "$features" ] || { echo "no line with the default features in Cargo.toml" >&2; exit 1; }

# Each compilation of a crate uses one processor most of the time, so the tests run beside the
# lints.
lint() {
    for feature in $features decode pure-zlib pure-zstd derive half ndarray num-complex rayon serde; do
        echo "feature $feature"
        cargo clippy --quiet "${core[@]}" --features "$feature" -- -D warnings
    done

    echo "formats without Zarr"
    cargo clippy --quiet --package ferroblosc-formats -- -D warnings

    echo "both decoders of Zstd"
    cargo clippy --quiet "${core[@]}" --features decode,zstd -- -D warnings

    echo "WebAssembly"
    if scripts/need-rust.sh target wasm32-unknown-unknown; then
        cargo clippy --quiet "${core[@]}" --features decode --target wasm32-unknown-unknown -- -D warnings
    else
        [ -n "${ALLOW_UNCHECKED:-}" ]
    fi
    cargo clippy --quiet "${core[@]}" -- -D warnings
}
log=$(mktemp)
trap 'rm -f "$log"; kill %1 2> /dev/null || true' EXIT
lint > "$log" 2>&1 &
linting=$!

echo "no C compiler"
for selected in "" decode; do
    tree=$(cargo tree "${core[@]}" --features "$selected" --edges normal,build,dev --prefix none)
    if grep -E '^cc v' <<< "$tree"; then
        echo "a crate that compiles C is needed with the features '$selected'" >&2
        exit 1
    fi
done
# In a directory of its own, so that all build scripts run.
export CC=/bin/false CXX=/bin/false CARGO_TARGET_DIR=target/no-features
cargo check --quiet "${core[@]}" --tests --examples
# A dependency that selects the default features would leave no tests.
cargo test --quiet "${core[@]}" --test features -- --list | grep -c ': test$' > /dev/null
cargo test --quiet "${core[@]}" --lib --test features
# The only features that are not defaults, apart from the interface for this repository.
added=derive,half,ndarray,num-complex,rayon,serde
cargo test --quiet "${core[@]}" --features "decode,$added" --lib --test features --test decode --test records

wait "$linting" || { cat "$log" >&2; exit 1; }
cat "$log"
