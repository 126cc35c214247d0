#!/bin/bash
# Runs unit tests of the core under Miri, which finds undefined behaviour, data races and use of
# weak memory: test-miri.sh [NAME...]
#
# The names select tests; the default are those of the pool, of the cache of workers, of memory, of
# kernels and filters without vector instructions, of the zlib decoder, and of parsers, that need
# neither files nor minutes. Random tests run 32 cases. Miri runs neither C code nor most system
# calls. The build is in target/miri. The nightly toolchain with Miri is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- pool:: chunk::worker chunk::oneshot frame::format::header \
    frame::format::trailer frame::store::memory frame::store::space frame::ops::plan b2nd::layout \
    b2nd::meta b2nd::request b2nd::view buffer:: filter:: kernels::known_answers kernels::level \
    kernels::words chunk::decode::getitem codec::zlib::inflate
for needed in "toolchain nightly" "component miri nightly" "component rust-src nightly"; do
    # Word splitting is intended.
    # shellcheck disable=SC2086
    scripts/need-rust.sh $needed || { [ -n "${ALLOW_UNCHECKED:-}" ]; exit; }
done
export CARGO_TARGET_DIR=target/miri RUSTUP_TOOLCHAIN=nightly PROPTEST_CASES=${PROPTEST_CASES:-32}
# Helper threads outlive the tests, so their memory is not freed.
export MIRIFLAGS="-Zmiri-ignore-leaks -Zmiri-disable-isolation"
cargo miri test --package ferroblosc --no-default-features --features pure-zlib --lib -- "$@"
