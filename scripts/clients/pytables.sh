#!/bin/bash
# PyTables 3.11.1, built from source with our headers and libraries: its own tests.
. "$ROOT/scripts/clients/common.sh"
need gcc g++ pkg-config libhdf5-dev libbz2-dev

build() {
    # The Python package blosc2 contains its own library, which PyTables would load first.
    PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig PYTABLES_NO_BLOSC2_WHEEL=1 BLOSC2_DIR=$PREFIX BLOSC_DIR=$PREFIX \
        HDF5_DIR=/usr/lib/$multiarch/hdf5/serial \
        "$venv/bin/pip" install --no-build-isolation --no-deps --no-binary tables tables==3.11.1
}
venv pytables 'setuptools>=77,<81' wheel packaging py-cpuinfo cython==3.3.1 typing-extensions numpy==2.4.6 numexpr==2.14.2

# PyTables makes the chunks of a table as large as the last-level cache. In virtual machines that
# can be 512 MiB, and the suite takes hours. PyTables stores the detected size in this file, so the
# script sets it to 16 MiB.
export HOME=$PWD
echo '{"l2_cache_size": 1048576, "l3_cache_size": 16777216}' > .pytables-cpuinfo.json

ours "$venv/bin/python" -m tables.tests.test_all > log 2>&1 || { tail -n 100 log; exit 1; }
had "$ours1" "$ours2"
unittests log 6851 157
