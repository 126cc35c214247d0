#!/bin/bash
# Builds the WebAssembly modules of the npm package into this directory.
#
# usage: build.sh [PROFILE]
#
# If `wasm-opt` is installed (Debian package binaryen), it makes them smaller by a tenth.
# The flag enables the vector instructions of WebAssembly, which all browsers since 2023 and Node
# since version 16 have. RUSTFLAGS in the environment replaces it.
set -euo pipefail
cd "$(dirname "$0")"

profile=${1:-release}
triple=wasm32-unknown-unknown
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-../../target}")/npm
export CARGO_TARGET_DIR
# The texts of panics name source files without the directories of this machine.
export RUSTFLAGS=${RUSTFLAGS--C target-feature=+simd128}
RUSTFLAGS+=" --remap-path-prefix=$(realpath ../..)=ferroblosc"
RUSTFLAGS+=" --remap-path-prefix=$(rustc --print sysroot)=rust"
for crates in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
    RUSTFLAGS+=" --remap-path-prefix=$crates=crates"
done

# build FILE ARGUMENT...: builds one module. No C compiler is called.
build() {
    local file=$1
    shift
    env CC=/bin/false cargo build --quiet --locked --lib --target "$triple" \
        --profile "$profile" "$@"
    local module=$CARGO_TARGET_DIR/$triple/$profile/ferroblosc_npm.wasm
    if [ "$profile" = release ] && command -v wasm-opt > /dev/null; then
        wasm-opt -O3 --enable-simd --enable-bulk-memory --enable-sign-ext \
            --enable-mutable-globals --enable-nontrapping-float-to-int "$module" -o "$file"
    else
        cp "$module" "$file"
    fi
}
build ferroblosc.wasm --no-default-features
build ferroblosc-frames.wasm
