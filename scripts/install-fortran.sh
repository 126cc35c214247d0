#!/bin/bash
# Builds the Fortran modules and puts them below a prefix; `make fortran` and `make install` call it.
#
# usage: install-fortran.sh build [CMAKE-OPTION...]
#        install-fortran.sh install PREFIX
#
# `build` needs a Fortran compiler, CMake and a C compiler; `install` puts what was built where others look for it, with
# the sources beside it for compilers that can't read these modules, and does nothing if nothing was built. The compiler
# is gfortran unless FC says otherwise. LIBDIR is where below the prefix libraries go, as for install.sh.
set -euo pipefail

action=$1
root=$(cd "$(dirname "$0")/.." && pwd)
build=${CARGO_TARGET_DIR:-$root/target}/fortran

case $action in
    build)
        shift
        cmake -S "$root/fortran" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBLOSC_FORTRAN_STRICT=OFF "$@" \
            > /dev/null
        cmake --build "$build" > /dev/null
        ;;
    install)
        [ -e "$build/libblosc2_fortran.a" ] || exit 0
        cmake -S "$root/fortran" -B "$build" -DBLOSC_FORTRAN_LIBDIR="${LIBDIR:-lib}" > /dev/null
        cmake --build "$build" > /dev/null
        cmake --install "$build" --prefix "$2" > /dev/null
        ;;
esac
