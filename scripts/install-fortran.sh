#!/bin/bash
# Builds and installs the Fortran modules; `make fortran` and `make install` run it.
#
# usage: install-fortran.sh build [CMAKE-OPTION...]
#        install-fortran.sh install PREFIX
#
# `build` needs a Fortran compiler, CMake and a C compiler; FC selects the compiler (default
# gfortran). `install` copies the modules to PREFIX together with their sources, for compilers that
# cannot read gfortran's modules; it does nothing if nothing was built. LIBDIR is the library
# directory relative to PREFIX, as for install.sh.
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
        # PREFIX contains DESTDIR, which make exports, and CMake would prepend it again.
        env -u DESTDIR cmake --install "$build" --prefix "$2" > /dev/null
        ;;
esac
