#!/bin/sh
# Prints the folder with the programs of Bloscpack 0.16.0 (Python), after installing it into
# target/bloscpack when it is not there yet. FERROBLOSC_BLOSCPACK, when set, wins: it is the path of a
# folder with `blpk` and `python` in it to use instead.
set -eu

if [ -n "${FERROBLOSC_BLOSCPACK:-}" ]; then
    echo "$FERROBLOSC_BLOSCPACK"
    exit 0
fi

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${CARGO_TARGET_DIR:-$root/target}/bloscpack

if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder" >&2
    # Bloscpack is looked up with setuptools, which the venvs of newer Pythons are without.
    "$folder/bin/pip" install --quiet --disable-pip-version-check \
        'setuptools<81' numpy bloscpack==0.16.0 blosc==1.11.4 >&2
    # Since Python 3.10 the abstract classes are found at one place only.
    sed -i 's/collections\.MutableMapping/collections.abc.MutableMapping/; s/^import collections$/import collections.abc/' \
        "$folder"/lib/python3*/site-packages/bloscpack/abstract_objects.py
    touch "$folder/complete"
fi
echo "$folder/bin"
