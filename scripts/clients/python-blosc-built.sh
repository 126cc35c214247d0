#!/bin/bash
# python-blosc, built from source with our library found by its CMake find module: its own tests.
. "$ROOT/scripts/clients/common.sh"
need gcc g++ cmake

build() {
    USE_SYSTEM_BLOSC=1 CMAKE_PREFIX_PATH=$PREFIX \
        "$venv/bin/pip" install --no-build-isolation --no-deps --no-binary blosc blosc==1.11.4
}
venv python-blosc 'setuptools>=77,<81' wheel scikit-build cmake ninja numpy==2.4.6

ours "$venv/bin/python" -c 'import blosc; blosc.test()' > log 2>&1 || { cat log; exit 1; }
had "$ours1"
unittests log 39 1
