#!/bin/bash
# bcolz-zipline 1.13.0 from PyPI: both libraries read and append to directories of the other.
. "$ROOT/scripts/clients/common.sh"
need python3-venv

python=$("$ROOT/scripts/reference.sh" bcolz)/python
FERROBLOSC_BCOLZ_PYTHON=$python our_tests --test bcolz zipline -- --ignored
result "directories in both directions"
