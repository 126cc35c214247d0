#!/bin/bash
# Compiles everything with the oldest compiler that Cargo.toml promises: `make check-oldest`.
set -euo pipefail
cd "$(dirname "$0")/.."

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
rustup toolchain list | grep -q "^$oldest" || rustup toolchain install "$oldest" --profile minimal
exec cargo "+$oldest" check --workspace --target-dir target/oldest
