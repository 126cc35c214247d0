#!/bin/sh
# Prints the folder with the Python that has bcolz-zipline 1.13.0, after installing it into
# target/bcolz when it is not there yet. FERROBLOSC_BCOLZ, when set, wins: it is the path of a folder
# with such a `python` in it to use instead.
set -eu

if [ -n "${FERROBLOSC_BCOLZ:-}" ]; then
    echo "$FERROBLOSC_BCOLZ"
    exit 0
fi

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${CARGO_TARGET_DIR:-$root/target}/bcolz

if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder" >&2
    "$folder/bin/pip" install --quiet --disable-pip-version-check numpy bcolz-zipline==1.13.0 >&2
    touch "$folder/complete"
fi
echo "$folder/bin"
