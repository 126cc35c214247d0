#!/bin/bash
# hdf5-metno: its own tests with its Blosc filter, with our package instead of the crate blosc-src.
. "$ROOT/scripts/clients/common.sh"
. "$ROOT/scripts/clients/rust.sh"
need g++ pkg-config libhdf5-dev

# Packages of HDF5 with MPI make it the default, with which the crate has one test less.
mkdir -p pkgconfig
cp "$(pkg-config --variable=pcfiledir hdf5-serial)/hdf5-serial.pc" pkgconfig/hdf5.pc
export PKG_CONFIG_PATH=$PWD/pkgconfig

crate hdf5-metno 0.15.1
rust_tests hdf5-metno blosc-src --features blosc-all --lib --tests
counts=$(same_results hdf5-metno 277)
result "$counts (original: the same)"
