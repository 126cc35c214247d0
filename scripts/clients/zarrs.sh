#!/bin/bash
# zarrs: its own unit tests, with the crate blosc-src and with ours.
. "$ROOT/scripts/clients/common.sh"
. "$ROOT/scripts/clients/rust.sh"
need g++ cmake

# The published package has no integration tests.
crate zarrs 0.23.14
rust_tests theirs zarrs --lib
mapfile -t ours < <(patched blosc-src)
rust_tests ours zarrs --lib "${ours[@]}"
counts=$(same_results zarrs 300)
result "$counts (original: the same)"
