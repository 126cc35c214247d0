#!/bin/bash
# bcolz-zipline 1.13.0 from the Python Package Index: reads what we write and goes on, and we with what it writes.
. "$ROOT/scripts/clients/common.sh"
need python3-venv

FERROBLOSC_BCOLZ_PYTHON="$("$ROOT/scripts/reference-bcolz.sh")/python" \
    cargo test --quiet --manifest-path "$ROOT/Cargo.toml" --package ferroblosc --test bcolz zipline -- --ignored
result "directories in both directions"
