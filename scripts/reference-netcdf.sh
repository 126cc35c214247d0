#!/bin/sh
# Prints the folder of a Python with netCDF4 (netCDF-C 4.10.1 and its plugins) and numcodecs, after
# installing them in target/netcdf if they are missing. FERROBLOSC_NETCDF overrides it with a folder
# that contains such a `python`.
set -eu

if [ -n "${FERROBLOSC_NETCDF:-}" ]; then
    echo "$FERROBLOSC_NETCDF"
    exit 0
fi

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${CARGO_TARGET_DIR:-$root/target}/netcdf

if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder" >&2
    "$folder/bin/pip" install --quiet --disable-pip-version-check \
        numpy netCDF4==1.7.5.1.post1 numcodecs==0.16.5 >&2
    touch "$folder/complete"
fi
echo "$folder/bin"
