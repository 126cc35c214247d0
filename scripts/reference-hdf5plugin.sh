#!/bin/sh
# Prints the folder with a Python that has h5py, hdf5plugin 7.1.0 and PyTables 3.11.1 (other
# implementations of both filters), pandas and python-blosc2, after installing it into target/hdf5plugin when it is not there yet.
# FERROBLOSC_HDF5PLUGIN, when set, wins: it is the path of a folder with such a `python` in it to use
# instead.
set -eu

if [ -n "${FERROBLOSC_HDF5PLUGIN:-}" ]; then
    echo "$FERROBLOSC_HDF5PLUGIN"
    exit 0
fi

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${CARGO_TARGET_DIR:-$root/target}/hdf5plugin

if [ ! -e "$folder/complete-2" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder" >&2
    # The newest h5py that there is: its HDF5 is the newest, too.
    "$folder/bin/pip" install --quiet --disable-pip-version-check \
        numpy h5py hdf5plugin==7.1.0 tables==3.11.1 pandas blosc2==4.14.1 >&2
    touch "$folder/complete-2"
fi
echo "$folder/bin"
