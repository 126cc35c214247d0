#!/bin/bash
# blosc-rs, blosc2 and blosc2-rs: their own tests, with our packages instead of the crates for C.
. "$ROOT/scripts/clients/common.sh"
. "$ROOT/scripts/clients/rust.sh"
need g++ cmake libclang-dev

line=
# A crate, its version, the replaced crate, the number of tests that pass, features, a failing test.
while read -r name version replaced tests features failing; do
    crate "$name" "$version"
    rust_tests "$name" "$replaced" --lib --features "${features#none}"
    counts=$(same_results "$name" "$tests" ${failing:+"$failing"})
    line+="${line:+; }$name $counts"
done << 'END'
blosc-rs 0.4.1 blosc-rs-sys 1 lz4,zlib,zstd
blosc2 0.2.3 blosc2-rs-sys 31 zlib,zstd
blosc2-rs 0.4.0+2.15.2 blosc2-sys 11 none tests::test_get_version_string
END
# That test requires the version 2.15.1; our library reports 3.3.5.
result "$line (originals: the same, and the test of the version passes)"
