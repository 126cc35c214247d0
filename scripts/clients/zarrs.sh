#!/bin/bash
# zarrs: its own unit tests, with our package instead of the crate blosc-src.
. "$ROOT/scripts/clients/common.sh"
. "$ROOT/scripts/clients/rust.sh"
need g++ cmake

# The published package has no integration tests.
crate zarrs 0.23.14
rust_tests zarrs blosc-src --lib
# The data of these tests are not in the published package.
mapfile -t failing < <(printf 'array::tests::array_%s\n' v2_{blosc,gzip,none,zstd}_c v2_{blosc,none}_f v3_{blosc,gzip,none,zstd} | LC_ALL=C sort)
counts=$(same_results zarrs 301 "${failing[@]}")
result "$counts (original: the same)"
