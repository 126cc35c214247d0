#!/bin/bash
# hdf5plugin, built from source with our two libraries and only the Blosc filters: its own tests.
. "$ROOT/scripts/clients/common.sh"
need gcc g++ pkg-config

build() {
    PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig HDF5PLUGIN_SYSTEM_LIBRARIES=blosc,blosc2 \
        HDF5PLUGIN_STRIP=bshuf,bzip2,fcidecomp,htj2k,lz4,sperr,sz,sz3,zfp,zstd \
        "$venv/bin/pip" install --no-build-isolation --no-deps --no-binary hdf5plugin hdf5plugin==7.1.0
}
# The Python package blosc2 contains C-Blosc2; two tests create chunks with it, and our library
# reads them.
venv hdf5plugin 'setuptools>=77,<81' wheel pkgconfig py-cpuinfo numpy==2.4.6 h5py==3.16.0 blosc2==4.14.1

ours "$venv/bin/python" -m hdf5plugin.test > log 2>&1 || { cat log; exit 1; }
had "$ours1" "$ours2"
unittests log 64 29
