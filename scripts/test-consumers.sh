#!/bin/bash
# Builds and runs other projects with the files that `make install` installs; `make test-consumers`
# runs it.
#
# usage: test-consumers.sh BUILD
#
# BUILD is cargo's output directory. The projects in tests/consumers are copied to a temporary
# directory. The tree is installed twice with a DESTDIR, once with the usual library directory and
# once with Debian's, and then moved: no installed file may contain its original path. Finally, a
# project includes the sources of this one.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$root/scripts/need.sh" gcc g++ make pkg-config cmake

openvdb=/usr/lib/$(gcc -print-multiarch)/cmake/OpenVDB
cp -r "$root/tests/consumers" "$work/projects"

# quietly COMMAND...: logs the command's output to the file log and prints it only on failure.
quietly() {
    "$@" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

# check_linked PROGRAM...: checks that each program is linked statically or dynamically, as its name
# indicates.
check_linked() {
    local program needed
    for program in "$@"; do
        needed=$(readelf -d "$program" | grep -c 'NEEDED.*\(blosc\)' || true)
        case $program:$needed in
            *-static:0 | *-shared:1) ;;
            *) echo "$program needs $needed of our libraries" >&2; exit 1 ;;
        esac
    done
}

# consume LIBDIR: builds the C and C++ projects with the libraries in PREFIX/LIBDIR.
consume() {
    local libdir=$1 prefix=$work/moved/$1
    local projects=$work/built/$libdir programs

    LIBDIR=$libdir "$root/scripts/install.sh" "$build" "$work/staged/opt/blosc"
    mkdir -p "$(dirname "$prefix")" "$(dirname "$projects")"
    mv "$work/staged/opt/blosc" "$prefix"
    if grep -rIl -e "$work" -e /opt/blosc "$prefix"; then
        echo "these files contain the path they were installed to" >&2
        exit 1
    fi
    cp -r "$work/projects" "$projects"

    echo "== CMake packages, libraries in $libdir"
    quietly cmake -S "$projects/cmake" -B "$projects/cmake/build" -DCMAKE_PREFIX_PATH="$prefix"
    quietly cmake --build "$projects/cmake/build"
    (cd "$projects/cmake/build" && ctest --output-on-failure | tail -n 3)
    mapfile -t programs < <(find "$projects/cmake/build" -maxdepth 1 -name 'use-*-*' -type f -executable)
    [ ${#programs[@]} = 18 ]
    check_linked "${programs[@]}"

    quietly cmake -S "$projects/versions" -B "$projects/versions/build" -DCMAKE_PREFIX_PATH="$prefix"

    echo "== A find module for Blosc 1.x, libraries in $libdir"
    quietly cmake -S "$projects/find-module" -B "$projects/find-module/build" -DCMAKE_PREFIX_PATH="$prefix"
    grep "Blosc 1.21.6: $prefix/$libdir/libblosc.so" "$work/log"
    quietly cmake --build "$projects/find-module/build"
    (cd "$projects/find-module/build" && ctest --output-on-failure | tail -n 3)

    # The find module of Debian's libopenvdb-dev, which `make test-clients` installs.
    if [ -e "$openvdb/FindBlosc.cmake" ]; then
        quietly cmake -S "$projects/openvdb" -B "$projects/openvdb/build" -DCMAKE_PREFIX_PATH="$prefix" -DOPENVDB_MODULES="$openvdb"
        grep "FindBlosc of OpenVDB: 1.21.6 in $prefix/$libdir/libblosc.so" "$work/log"
        quietly cmake --build "$projects/openvdb/build"
        (cd "$projects/openvdb/build" && ctest --output-on-failure | tail -n 3)
    fi

    echo "== pkg-config, libraries in $libdir"
    export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
    make --silent --directory "$projects/pkg-config"
    mapfile -t programs < <(find "$projects/pkg-config" -name 'use-*' -type f -executable)
    [ ${#programs[@]} = 12 ]
    check_linked "${programs[@]}"
    for program in "${programs[@]}"; do
        LD_LIBRARY_PATH=$prefix/$libdir "$program"
    done
}

consume lib
consume "lib/$(gcc -print-multiarch)"

echo "== The sources inside another project"
# Cargo's earlier output is reused. Therefore, the packages are those of the Makefile: with others,
# crates would be compiled again with other features.
case $build in
    */debug) profile=dev packages='--workspace;--exclude;ferroblosc-bench-*;--exclude;ferroblosc-headers' ;;
    *)
        profile=$(basename "$build")
        packages='-pferroblosc-capi-blosc2;-pferroblosc-capi-blosc1;-pferroblosc-capi-ferroblosc;-pferroblosc-b2'
        packages+=';-pferroblosc-blpk;-pferroblosc-hdf5-blosc;-pferroblosc-hdf5-blosc2'
        ;;
esac
contained=$work/projects/contained
quietly cmake -S "$contained" -B "$contained/build" -DFERROBLOSC_SOURCE="$root" -DFERROBLOSC_PROFILE="$profile" \
    -DFERROBLOSC_CARGO_TARGET_DIR="$(dirname "$build")" "-DFERROBLOSC_CARGO_FLAGS=$packages"
quietly cmake --build "$contained/build" --parallel 2
(cd "$contained/build" && ctest --output-on-failure | tail -n 3)
mapfile -t programs < <(find "$contained/build" -maxdepth 1 -name 'use-*-*' -type f -executable)
[ ${#programs[@]} = 8 ]
check_linked "${programs[@]}"
# Cross-compiling: cargo must receive the target triple and the project's compiler. The build itself
# takes minutes; it runs for a release build if the Rust target, the cross compilers and qemu-user
# are installed.
cross=$(mktemp -d "$work/cross.XXXX")
ln -s "$(command -v aarch64-linux-gnu-gcc || command -v gcc)" "$cross/aarch64-linux-gnu-gcc"
ln -s "$(command -v aarch64-linux-gnu-g++ || command -v g++)" "$cross/aarch64-linux-gnu-g++"
quietly env PATH="$cross:$PATH" cmake -S "$contained" -B "$contained/cross" -DFERROBLOSC_SOURCE="$root" \
    -DCMAKE_TOOLCHAIN_FILE="$contained/cross.cmake" -DFERROBLOSC_CARGO_TARGET_DIR="$root/target/arm"
grep -rhq -e "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$cross/aarch64-linux-gnu-gcc.*--target aarch64-unknown-linux-gnu" \
    "$contained/cross"
if [ "$profile" != dev ] && rustup target list --installed 2> /dev/null | grep -qx aarch64-unknown-linux-gnu &&
    command -v aarch64-linux-gnu-gcc > /dev/null && command -v aarch64-linux-gnu-g++ > /dev/null &&
    command -v qemu-aarch64 > /dev/null; then
    quietly cmake --build "$contained/cross" --parallel 2
    (cd "$contained/cross" && ctest --output-on-failure | tail -n 3)
fi

# The projects in Rust compile the core several times, which takes minutes.
if [ "$profile" = dev ]; then
    echo "All consumers work."
    exit
fi

echo "== Rust"
sed "s:@PROJECT@:$root:" "$work/projects/rust/Cargo.toml.in" > "$work/projects/rust/Cargo.toml"
# The build output is kept for later runs.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}/consumer
cargo run --quiet --manifest-path "$work/projects/rust/Cargo.toml"
# The project's tests build the examples with the feature `internals`, which programs do not need.
cp -r "$root/examples" "$work/projects/rust"
cargo check --quiet --examples --manifest-path "$work/projects/rust/Cargo.toml"

echo "== Rust, packages that replace crates for C-Blosc and C-Blosc2"
# use_sys ONE VERSION TWO VERSION FEATURES...: builds and runs a program with packages of
# packaging/rust. The crates that both need have the versions of the project.
use_sys() {
    local features
    features=$(printf '"%s", ' "${@:5}")
    rm -rf "$work/sys"
    cp -r "$work/projects/rust-sys" "$work/sys"
    sed -i -e "s:@PROJECT@:$root:; s:@ONE@:$1:g; s:@ONE_VERSION@:$2:; s:@TWO@:$3:g; s:@TWO_VERSION@:$4:" \
        -e "s:@TWO_FEATURES@:, features = [${features%, }]:" "$work/sys/Cargo.toml.in"
    mv "$work/sys/Cargo.toml.in" "$work/sys/Cargo.toml"
    cp "$root/Cargo.lock" "$work/sys"
    cargo run --quiet --features codecs --manifest-path "$work/sys/Cargo.toml"
    readelf -p .note.ferroblosc "$CARGO_TARGET_DIR/debug/use-sys-crates" | grep -q 'ferroblosc [0-9]'
}
use_sys blosc-src 0.3 blosc2-sys 0.4 static
use_sys blosc-src 0.3 blosc2-src 0.1 zstd
use_sys blosc-rs-sys 0.2 blosc2-rs-sys 0.1 zlib zstd

echo "All consumers work."
