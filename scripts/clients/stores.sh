#!/bin/bash
# python-blosc2 4.14.1 from PyPI: both libraries create, change and read stores of the other.
. "$ROOT/scripts/clients/common.sh"
need python3-venv

python=$("$ROOT/scripts/reference.sh" blosc2)/python
FERROBLOSC_BLOSC2_PYTHON=$python \
    cargo test --quiet --manifest-path "$ROOT/Cargo.toml" --package ferroblosc-formats --test stores interop -- --ignored
result "stores in both directions"
