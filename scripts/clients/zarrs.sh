#!/bin/bash
# zarrs: its own unit tests, with our package instead of the crate blosc-src.
. "$ROOT/scripts/clients/common.sh"
. "$ROOT/scripts/clients/rust.sh"
need g++ cmake

# The published package has no integration tests.
crate zarrs 0.23.14
rust_tests zarrs blosc-src --lib
counts=$(same_results zarrs ZARRS)
result "$counts (original: the same)"
