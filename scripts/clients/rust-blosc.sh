#!/bin/bash
# blosc-rs, blosc2 and blosc2-rs: their own tests, with the original crates for C and with ours.
. "$ROOT/scripts/clients/common.sh"
. "$ROOT/scripts/clients/rust.sh"
need g++ cmake libclang-dev

line=
# A crate, its version, the replaced crate, the number of tests that pass, features.
while read -r name version replaced tests features; do
    crate "$name" "$version"
    rust_tests theirs "$name" --lib ${features:+--features "$features"}
    mapfile -t ours < <(patched "$replaced")
    rust_tests ours "$name" --lib ${features:+--features "$features"} "${ours[@]}"
    if [ "$name" = blosc2-rs ]; then
        # This test requires the version 2.15.1; our library reports 3.3.5.
        grep -qx 'test tests::test_get_version_string ... ok' "$name.theirs"
        grep -qx 'test tests::test_get_version_string ... FAILED' "$name.ours"
        sed -i '/^test tests::test_get_version_string /d' "$name.theirs" "$name.ours"
    fi
    counts=$(same_results "$name" "$tests")
    line+="${line:+; }$name $counts"
done << 'END'
blosc-rs 0.4.1 blosc-rs-sys 1 lz4,zlib,zstd
blosc2 0.2.3 blosc2-rs-sys 31 zlib,zstd
blosc2-rs 0.4.0+2.15.2 blosc2-sys 11
END
result "$line (originals: the same, and one test of the version)"
