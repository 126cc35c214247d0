#!/bin/sh
# Prints the folder of a Python with h5py, hdf5plugin 7.1.0 and PyTables 3.11.1 (other
# implementations of both filters), pandas and python-blosc2, after installing them in
# target/hdf5plugin if they are missing. FERROBLOSC_HDF5PLUGIN overrides it with a folder that
# contains such a `python`.
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
    # The newest h5py contains the newest HDF5.
    "$folder/bin/pip" install --quiet --disable-pip-version-check \
        numpy h5py hdf5plugin==7.1.0 tables==3.11.1 pandas blosc2==4.14.1 >&2
    touch "$folder/complete-2"
fi
echo "$folder/bin"
