#!/bin/bash
# Builds and runs the program in this directory as separate projects, which use the modules
# installed under a prefix.
#
# usage: build.sh PREFIX DIR
#
# LIBDIR is the library directory under the prefix, as for the installation.
set -euo pipefail

prefix=$(realpath "$1")
libdir=$prefix/${LIBDIR:-lib}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
cd "$2"
cp -r "$here/cmake" "$here/pkgconfig" "$here/fpm" .
cp "$here/program.f90" "$here/../checks.f90" "$here/../super_chunks.f90" cmake
cp "$here/program.f90" pkgconfig
install -D "$here/program.f90" fpm/app/main.f90
export LD_LIBRARY_PATH=$libdir PKG_CONFIG_PATH=$libdir/pkgconfig
expected="blosc 1.21.6, blosc2 3.3.5"

# run PROGRAM...
run() {
    local output
    output=$("$@" | tail -n 1)
    [ "$output" = "$expected" ] || { echo "$*: $output" >&2; exit 1; }
}

make --quiet -C pkgconfig
run pkgconfig/consumer

# Once with the installed modules, and once with modules built by the project, with link-time
# optimisation.
for from_source in OFF ON; do
    cmake -S cmake -B "cmake-$from_source" -DCMAKE_PREFIX_PATH="$prefix" -DBLOSC_FORTRAN_FROM_SOURCE=$from_source \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=$from_source \
        > cmake.log || { cat cmake.log; exit 1; }
    cmake --build "cmake-$from_source" > cmake.log || { cat cmake.log; exit 1; }
    run "cmake-$from_source/consumer"
    "cmake-$from_source/super_chunks" .
done
# CMake finds the installed sources also through a link, such as /lib to /usr/lib.
mkdir linked
ln -s "$prefix/lib" linked/lib
cmake -S cmake -B cmake-linked -DCMAKE_PREFIX_PATH="$PWD/linked" -DBLOSC_FORTRAN_FROM_SOURCE=ON > cmake.log ||
    { cat cmake.log; exit 1; }

# fpm requires relative paths.
sed -i "s|@FERROBLOSC@|$(realpath --relative-to fpm "$prefix/share/ferroblosc/fortran")|" fpm/fpm.toml
python3 -m venv fpm-venv
fpm-venv/bin/pip install --quiet --disable-pip-version-check fpm==0.12.0
cd fpm
export FPM_LDFLAGS="-L$libdir"
../fpm-venv/bin/fpm build > fpm.log 2>&1 || { cat fpm.log; exit 1; }
run ../fpm-venv/bin/fpm run
