#!/bin/bash
# Installs zig, which contains a C compiler for many systems, from the Python Package Index:
# need-zig.sh VERSION
#
# Prints the command that runs it. The files are in target/zig-VERSION.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")/zig-$1
# Scripts that run at the same time wait for each other.
if command -v flock > /dev/null; then
    exec 9< scripts/need-zig.sh
    flock 9
fi
if [ ! -f "$folder/complete" ]; then
    scripts/need.sh python3-venv >&2
    rm -rf "$folder"
    for candidate in python3 /usr/bin/python3; do
        if "$candidate" -c 'import venv, ensurepip' 2> /dev/null; then
            "$candidate" -m venv "$folder"
            break
        fi
    done
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "ziglang==$1"
    touch "$folder/complete"
fi
echo "$folder/bin/python -m ziglang"
