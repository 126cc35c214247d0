#!/bin/bash
# python-blosc2, Bloscpack, python-blosc, bcolz and NumPy: b2 converts their files to every format.
. "$ROOT/scripts/clients/common.sh"
need python3-venv

"$ROOT/scripts/test-b2.sh" "$BUILD/b2" | tee log
result "$(sed -n 's/^ *\([0-9]* conversions\).*/\1 read by the original tools/p' log)"
