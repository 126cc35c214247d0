#!/bin/sh
# Prints the path of the reference library (C-Blosc2 3.3.5 from the PyPI wheel of python-blosc2),
# after installing the wheel in target/venv if it is missing. FERROBLOSC_REFERENCE overrides it with
# the path of another library.
set -eu

WHEEL='blosc2==4.14.1'

if [ -n "${FERROBLOSC_REFERENCE:-}" ]; then
    echo "$FERROBLOSC_REFERENCE"
    exit 0
fi

root=$(cd "$(dirname "$0")/.." && pwd)
venv=${CARGO_TARGET_DIR:-$root/target}/venv

find_library() {
    find "$venv" -path '*/blosc2/lib/libblosc2.so' 2>/dev/null | head -n 1
}

if [ -z "$(find_library)" ]; then
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import venv, ensurepip' 2>/dev/null; then
            rm -rf "$venv"
            "$python" -m venv "$venv" >&2
            # Only the shared library is needed, so the wheel's Python dependencies are left out.
            "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps "$WHEEL" >&2
            break
        fi
    done
fi

library=$(find_library)
if [ -z "$library" ]; then
    echo "reference.sh: no Python 3 with venv found (Debian: apt-get install python3-venv)" >&2
    exit 1
fi
echo "$library"
