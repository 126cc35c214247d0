#!/bin/bash
# Compiles the workspace for AArch64 without linking or running it; `make check-arm` runs it.
#
# The layouts of the C structs are asserted at compile time, so this checks them for AArch64, too.
# Installs the Rust target and a C cross compiler for the codecs if they are missing.
set -euo pipefail
cd "$(dirname "$0")/.."

triple=aarch64-unknown-linux-gnu
if [ "$(uname -m)" != aarch64 ]; then
    scripts/need-rust.sh target "$triple" || { [ -n "${ALLOW_UNCHECKED:-}" ]; exit; }
    scripts/need.sh gcc-aarch64-linux-gnu libc6-dev-arm64-cross
fi
exec cargo check --workspace --exclude ferroblosc-headers --target "$triple" --target-dir target/arm
