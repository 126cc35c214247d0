#!/bin/sh
# Prints the folder with the Python that has python-blosc2 4.14.1 (C-Blosc2 3.3.5), after installing it
# into target/blosc2 when it is not there yet. FERROBLOSC_BLOSC2, when set, wins: it is the path of a
# folder with such a `python` in it to use instead.
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
