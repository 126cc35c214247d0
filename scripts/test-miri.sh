#!/bin/bash
# Runs unit tests of the core under Miri, which finds undefined behaviour, data races and use of
# weak memory: test-miri.sh [NAME...]
#
# The names select tests; the default is unsafe code that needs no C code and few system calls. The
# build is in target/miri. Needs the nightly toolchain, which is installed; the build itself has no
# other features than on the stable one.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- pool:: chunk::worker chunk::encode::writer chunk::format b2nd::copy b2nd::request::
for needed in "toolchain nightly" "component miri nightly" "component rust-src nightly"; do
    # Word splitting is intended.
    # shellcheck disable=SC2086
    scripts/need-rust.sh $needed || { [ -n "${ALLOW_UNCHECKED:-}" ]; exit; }
done
export CARGO_TARGET_DIR=target/miri RUSTUP_TOOLCHAIN=nightly
# Helper threads outlive the tests, so their memory is not freed.
export MIRIFLAGS="-Zmiri-ignore-leaks -Zmiri-disable-isolation"
cargo miri test --package ferroblosc --no-default-features --lib -- "$@"
