#!/bin/bash
# python-blosc2 4.14.1 and pyarrow 26.0.1 from PyPI: both libraries create, change and read stores of
# the other, and tables in stores become Arrow and Parquet files of pyarrow, and back.
. "$ROOT/scripts/clients/common.sh"
need python3-venv

python=$("$ROOT/scripts/reference.sh" blosc2)/python
FERROBLOSC_BLOSC2_PYTHON=$python \
    cargo test --quiet --manifest-path "$ROOT/Cargo.toml" --package ferroblosc-formats --test stores interop -- --ignored
result "stores in both directions"

python=$("$ROOT/scripts/reference.sh" arrow)/python
FERROBLOSC_ARROW_PYTHON=$python \
    cargo test --quiet --manifest-path "$ROOT/Cargo.toml" --package ferroblosc-formats --features arrow --test stores arrow -- --ignored
result "tables as Arrow and Parquet files in both directions"
