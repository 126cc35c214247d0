#!/bin/bash
# Debian's Dask, Zarr and numcodecs: workers in threads and in forked and spawned processes.
#
# Each worker reports its library.
. "$ROOT/scripts/clients/common.sh"
need libblosc1 python3-dask python3-zarr python3-numcodecs python3-numpy

script=$ROOT/scripts/clients/dask-workers.py
ours /usr/bin/python3 "$script" write ours "$ours1"
had "$ours1"
theirs /usr/bin/python3 "$script" write theirs "$theirs1"
QUIET=1 had "$theirs1"
ours /usr/bin/python3 "$script" read theirs "$ours1"
theirs /usr/bin/python3 "$script" read ours "$theirs1"
result "$(cat count) arrays in each direction"
