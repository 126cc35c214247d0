#!/bin/bash
# Checks formatting and lints of the packages in packaging/rust, and runs their tests; `make
# check-rust-packages` runs it.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/rust-packages
for manifest in packaging/rust/*/Cargo.toml; do
    echo "$(dirname "$manifest")"
    # The versions of all crates are those of the workspace.
    cp Cargo.lock "$(dirname "$manifest")"
    cargo fmt --manifest-path "$manifest" --check
    for features in --all-features --no-default-features; do
        cargo clippy --quiet --manifest-path "$manifest" --target-dir "$target" $features -- -D warnings
    done
done
# The only package with code of its own.
cargo test --quiet --manifest-path packaging/rust/blosc2-rs-sys/Cargo.toml --target-dir "$target"
