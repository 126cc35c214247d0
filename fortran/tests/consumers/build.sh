#!/bin/bash
# Builds and runs the program beside this file in projects of their own, which find the modules below a prefix.
#
# usage: build.sh PREFIX FOLDER
#
# LIBDIR is where below the prefix libraries are, as for the installation.
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
    local said
    said=$("$@" | tail -n 1)
    [ "$said" = "$expected" ] || { echo "$*: $said" >&2; exit 1; }
}

make --quiet -C pkgconfig
run pkgconfig/consumer

# With the installed modules, and with those that a project builds whose compiler can't read them: here one that
# optimises all of it when it links.
for from_source in OFF ON; do
    cmake -S cmake -B "cmake-$from_source" -DCMAKE_PREFIX_PATH="$prefix" -DBLOSC_FORTRAN_FROM_SOURCE=$from_source \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=$from_source \
        > cmake.log || { cat cmake.log; exit 1; }
    cmake --build "cmake-$from_source" > cmake.log || { cat cmake.log; exit 1; }
    run "cmake-$from_source/consumer"
    "cmake-$from_source/super_chunks" .
done

# fpm takes paths for relative ones.
sed -i "s|@FERROBLOSC@|$(realpath --relative-to fpm "$prefix/share/ferroblosc/fortran")|" fpm/fpm.toml
python3 -m venv fpm-venv
fpm-venv/bin/pip install --quiet --disable-pip-version-check fpm==0.12.0
cd fpm
export FPM_LDFLAGS="-L$libdir"
../fpm-venv/bin/fpm build > fpm.log 2>&1 || { cat fpm.log; exit 1; }
run ../fpm-venv/bin/fpm run
