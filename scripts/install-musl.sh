#!/bin/bash
# Builds the libraries for musl and installs them; `make install-musl` runs it.
#
# usage: install-musl.sh PREFIX [PROFILE]
#
# Installs the shared and static libraries, the headers, and the pkg-config and CMake files below
# PREFIX, without programs. The default of PROFILE is release. Installs the Rust target and musl-gcc
# if they are missing.
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
# Without the feature crt-static, the shared libraries are linked dynamically with musl's C library.
# The feature does not affect the static libraries.
CC_x86_64_unknown_linux_musl=musl-gcc CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=musl-gcc ${CARGO:-cargo} build \
    --profile "$profile" --target "$triple" --config 'build.rustflags=["-Ctarget-feature=-crt-static"]' \
    --package ferroblosc-capi-blosc2 --package ferroblosc-capi-blosc1 --package ferroblosc-capi-ferroblosc
INSTALL=libraries scripts/install.sh "$build" "$prefix"
