#!/bin/bash
# Builds the project for Windows (x86-64, UCRT) and tests it under wine; `make test-windows` runs
# it.
#
# usage: test-windows.sh [STEP...]
#
# The steps are those of test-windows.py; the default is all. The compiler and the linker are those
# of zig (zig.py), since Debian 12 has no UCRT for MinGW.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/need.sh wine64 python3-venv gcc binutils make cmake pkg-config
scripts/need-rust.sh target x86_64-pc-windows-gnullvm || { [ -n "${ALLOW_UNCHECKED:-}" ]; exit; }
python3 scripts/test-windows.py "$@"
