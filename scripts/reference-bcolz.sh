#!/bin/sh
# Prints the folder of the Python with bcolz-zipline 1.13.0, after installing it in target/bcolz if
# it is missing. FERROBLOSC_BCOLZ overrides it with a folder that contains such a `python`.
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
