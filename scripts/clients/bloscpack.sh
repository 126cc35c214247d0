#!/bin/bash
# Bloscpack 0.16.0 from PyPI: exchanges files with Ferroblosc's blpk in both directions.
. "$ROOT/scripts/clients/common.sh"
need python3-venv

mkdir files
PYTHONDONTWRITEBYTECODE=1 "$("$ROOT/scripts/reference.sh" bloscpack)/python" "$ROOT/scripts/test-bloscpack.py" "$BUILD/blpk" files
result "files in both directions"
