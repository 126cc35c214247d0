#!/bin/bash
# Debian's h5py and plugin for filter 32001: each library reads datasets that the other wrote.
. "$ROOT/scripts/clients/common.sh"
need libblosc1 python3-h5py hdf5-filter-plugin-blosc-serial

export HDF5_PLUGIN_PATH=$plugins
script=$ROOT/scripts/clients/h5py-files.py
ours /usr/bin/python3 "$script" write ours.h5
had "$ours1"
theirs /usr/bin/python3 "$script" write theirs.h5
had "$theirs1"
for file in ours.h5 theirs.h5; do
    ours /usr/bin/python3 "$script" read "$file"
    QUIET=1 had "$ours1"
    theirs /usr/bin/python3 "$script" read "$file" > count
    QUIET=1 had "$theirs1"
done
result "$(cat count) datasets in each direction"
