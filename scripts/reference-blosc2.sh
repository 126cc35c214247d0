#!/bin/sh
# Prints the folder of the Python with python-blosc2 4.14.1 (C-Blosc2 3.3.5), after installing it in
# target/blosc2 if it is missing. FERROBLOSC_BLOSC2 overrides it with a folder that contains such a
# `python`.
set -eu

if [ -n "${FERROBLOSC_BLOSC2:-}" ]; then
    echo "$FERROBLOSC_BLOSC2"
    exit 0
fi

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${CARGO_TARGET_DIR:-$root/target}/blosc2

if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder" >&2
    "$folder/bin/pip" install --quiet --disable-pip-version-check blosc2==4.14.1 >&2
    touch "$folder/complete"
fi
echo "$folder/bin"
