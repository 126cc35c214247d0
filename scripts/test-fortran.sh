#!/bin/bash
# Tests the Fortran modules as installed; `make test` runs it.
#
# usage: test-fortran.sh BUILD
#
# BUILD is cargo's output directory. Everything is installed below a temporary prefix. The test
# programs run twice, the second time under Valgrind, unless VALGRIND=no. Files are exchanged with
# python-blosc2 and C-Blosc 1.21, and the interface is compared with the C headers. The examples run
# last, with projects that find the modules by pkg-config, CMake and fpm.
set -euo pipefail

build=$(realpath "$1")
unset LIBDIR
root=$(cd "$(dirname "$0")/.." && pwd)
tests=$root/fortran/tests
"$root/scripts/install-fortran.sh" build -DBLOSC_FORTRAN_STRICT=ON
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
"$root/scripts/install.sh" "$build" "$prefix"
# Like `make install DESTDIR=…`, which exports the variable; the prefix contains its value.
DESTDIR=$work "$root/scripts/install-fortran.sh" install "$prefix"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
cd "$work"
mkdir modules files

# Disables gfortran's false positives, and its warning about intended comparisons of reals.
options=(-std=f2018 -g -Wall -Wextra -Wimplicit-interface -Werror -Wno-compare-reals -Wno-uninitialized
    -Wno-maybe-uninitialized -Wno-function-elimination -fcheck=bounds,mem -J modules)
# shellcheck disable=SC2207
libraries=($(pkg-config --cflags --libs blosc2_fortran blosc_fortran))

say() {
    echo "fortran: $*"
}

# build_test NAME: compiles a test program.
build_test() {
    gfortran "${options[@]}" -I "$tests" "$tests/checks.f90" "$tests/$1.f90" -o "$1" "${libraries[@]}"
}

valgrind=()
if [ "${VALGRIND:-yes}" != no ]; then
    valgrind=(valgrind --quiet --leak-check=full --show-leak-kinds=definite,indirect
        --errors-for-leak-kinds=definite,indirect --error-exitcode=9)
fi

for name in kinds_and_ranks_of_chunks kinds_and_ranks_of_arrays chunks blosc1_chunks super_chunks arrays handles callbacks; do
    build_test "$name"
    "./$name" files
    rm -rf files && mkdir files
    if [ ${#valgrind[@]} -gt 0 ]; then
        "${valgrind[@]}" "./$name" files > /dev/null
        rm -rf files && mkdir files
    fi
done
[ ${#valgrind[@]} -eq 0 ] || say "no leaks and no memory errors"

# Without stat, an error ends the program and reports the procedure.
build_test without_stat
ends_with() {
    if ./without_stat "$1" > output 2> errors; then
        echo "without_stat $1 continues after the error" >&2
        exit 1
    fi
    grep -qF "ERROR STOP $2" errors || { cat errors >&2; exit 1; }
}
ends_with open "blosc2_schunk%open: "
ends_with append "blosc2_schunk%append: Pointer is null"
ends_with slice "b2nd_array%get_slice: "
ends_with decompress "blosc_decompress: "
say "errors without stat end the program"

python3 "$tests/interface.py" "$prefix" "$work/interface" "-I$work/modules" "${libraries[@]}"

build_test exchange
python=$("$root/scripts/reference.sh" blosc2)/python
reference1=$("$root/scripts/reference.sh" blosc1)
mkdir theirs
"${valgrind[@]}" ./exchange write files
LD_LIBRARY_PATH=$reference1 "$python" "$tests/exchange.py" read files "$reference1/libblosc.so.1"
LD_LIBRARY_PATH=$reference1 "$python" "$tests/exchange.py" write theirs "$reference1/libblosc.so.1"
"${valgrind[@]}" ./exchange read theirs
say "python-blosc2 and C-Blosc read our files and the reverse"

# expect NAME: compares a program's output with NAME.txt of the examples.
expect() {
    diff "$root/fortran/examples/$1.txt" output || { echo "the example $1 printed something else" >&2; exit 1; }
}
for name in chunk super_chunk array; do
    # shellcheck disable=SC2046
    gfortran "${options[@]}" "$root/fortran/examples/$name.f90" -o "$name" $(pkg-config --cflags --libs blosc2_fortran)
    "./$name" "files/$name.b2" > output
    expect "$name"
done
# The program in docs/fortran.md.
sed -n '/^program field/,/^end program/p' "$root/docs/fortran.md" > field.f90
# shellcheck disable=SC2046
gfortran "${options[@]}" field.f90 -o field $(pkg-config --cflags --libs blosc2_fortran)
./field
# HDF5 as a shared library, and linked statically with symbols exported to the plugin.
for linking in -shlib -rdynamic; do
    h5fc "$linking" "${options[@]}" "$root/fortran/examples/hdf5_filter.f90" -o hdf5_filter
    for filter in 32026 32001; do
        HDF5_PLUGIN_PATH=$prefix/lib/hdf5/plugin ./hdf5_filter "files/$filter.h5" "$filter" > output
        expect hdf5_filter
    done
done
# The documented call replaces the example's call.
call=$(sed -n 's/^\(call h5pset_filter_f(.*)\) *!.*/\1/p' "$root/docs/fortran.md")
[ -n "$call" ]
sed "s/^ *call h5pset_filter_f(.*/$call/" "$root/fortran/examples/hdf5_filter.f90" > shown_filter.f90
grep -qFx "$call" shown_filter.f90
h5fc -shlib shown_filter.f90 -o shown_filter
HDF5_PLUGIN_PATH=$prefix/lib/hdf5/plugin ./shown_filter files/shown.h5 32026 > output
expect hdf5_filter
say "the examples work"

"$tests/consumers/build.sh" "$prefix" "$work/consumers"
# The same with Debian's library directory, and with a tree that is moved after the installation.
LIBDIR=lib/$(gcc -dumpmachine)
export LIBDIR
"$root/scripts/install.sh" "$build" "$work/before"
"$root/scripts/install-fortran.sh" install "$work/before"
mv "$work/before" "$work/moved"
"$tests/consumers/build.sh" "$work/moved" "$work/moved-consumers"
say "external projects build and run"
