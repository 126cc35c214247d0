#!/bin/bash
# python-blosc2 4.14.1 and pyarrow 26.0.1 from PyPI: both libraries create, change and read stores
# of the other (300 random stores each way), and tables in stores become Arrow and Parquet files of
# pyarrow, and back. The functions of b2store.h and `b2` read 250 random stores of python-blosc2, or
# as many as they can in two minutes, at least 100. On two cores all takes about 10 minutes.
. "$ROOT/scripts/clients/common.sh"
need python3-venv

blosc2=$("$ROOT/scripts/reference.sh" blosc2)/python
arrow=$("$ROOT/scripts/reference.sh" arrow)/python
FERROBLOSC_BLOSC2_PYTHON=$blosc2 FERROBLOSC_ARROW_PYTHON=$arrow our_tests --test stores -- --ignored

"$blosc2" "$ROOT/scripts/clients/stores.py" "$PREFIX" "$ROOT/formats/tests/stores" 120
result "stores, and tables as Arrow and Parquet files, in both directions; random stores with b2store.h and b2"
