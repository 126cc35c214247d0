#!/bin/bash
# hdf5-metno: its own tests with its Blosc filter, with the crate blosc-src and with ours.
. "$ROOT/scripts/clients/common.sh"
. "$ROOT/scripts/clients/rust.sh"
need g++ pkg-config libhdf5-dev

crate hdf5-metno 0.15.1
rust_tests theirs hdf5-metno --features blosc-all --lib --tests
mapfile -t ours < <(patched blosc-src)
rust_tests ours hdf5-metno --features blosc-all --lib --tests "${ours[@]}"
counts=$(same_results hdf5-metno 200)
result "$counts (original: the same)"
