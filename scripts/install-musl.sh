#!/bin/bash
# Builds the libraries for musl and installs them; `make install-musl` calls it.
#
# usage: install-musl.sh PREFIX [PROFILE]
#
# The shared and the static libraries, the headers and the files of pkg-config and CMake go to PREFIX, without
# programs. PROFILE is release unless it is given. Needs Rust's target, which rustup fetches, and musl-gcc.
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=$1 profile=${2:-release}
triple=x86_64-unknown-linux-musl
scripts/need-rust.sh target "$triple"
scripts/need.sh gcc binutils musl-tools

case $profile in
    dev) build=target/$triple/debug ;;
    *) build=target/$triple/$profile ;;
esac
# -crt-static: the shared libraries ask for musl's C library. The static ones are the same with and without it.
CC_x86_64_unknown_linux_musl=musl-gcc CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=musl-gcc ${CARGO:-cargo} build \
    --profile "$profile" --target "$triple" --config 'build.rustflags=["-Ctarget-feature=-crt-static"]' \
    --package ferroblosc-capi-blosc2 --package ferroblosc-capi-blosc1 --package ferroblosc-capi-ferroblosc
INSTALL=libraries scripts/install.sh "$build" "$prefix"
