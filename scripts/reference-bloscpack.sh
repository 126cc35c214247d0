#!/bin/sh
# Prints the folder of Bloscpack 0.16.0's programs (Python), after installing it in target/bloscpack
# if it is missing. FERROBLOSC_BLOSCPACK overrides it with a folder that contains `blpk` and
# `python`.
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
    # Bloscpack imports setuptools, which newer Pythons' venvs lack.
    "$folder/bin/pip" install --quiet --disable-pip-version-check \
        'setuptools<81' numpy bloscpack==0.16.0 blosc==1.11.4 >&2
    # Python 3.10 removed the aliases of the abstract classes in `collections`.
    sed -i 's/collections\.MutableMapping/collections.abc.MutableMapping/; s/^import collections$/import collections.abc/' \
        "$folder"/lib/python3*/site-packages/bloscpack/abstract_objects.py
    touch "$folder/complete"
fi
echo "$folder/bin"
