#!/bin/bash
# Installs the Debian packages into a staged root, uses them there, and removes them; `make deb`
# runs it.
#
# usage: test-deb.sh PACKAGES
#
# PACKAGES is the output directory of make-deb.sh. dpkg works on a separate root in which Debian's
# libblosc1, libblosc-dev and a package that depends on them are installed already: our packages
# must replace them. A stub provides their other dependencies.
set -euo pipefail

[ "$(id -u)" = 0 ] || exec fakeroot "$0" "$@"

root=$(cd "$(dirname "$0")/.." && pwd)
debs=$(realpath "$1")
debian=$root/packaging/debian
"$root/scripts/need.sh" dpkg-dev gcc g++ gfortran make pkg-config
multiarch=$(dpkg-architecture --query DEB_HOST_MULTIARCH)
theirs=${CARGO_TARGET_DIR:-$root/target}/debian-packages

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stage=$work/root
mkdir -p "$stage"/var/lib/dpkg/{info,updates,triggers} "$theirs"
touch "$stage"/var/lib/dpkg/{status,available}

quietly() {
    "$@" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}
staged() { dpkg --root="$stage" --log=/dev/null "$@"; }
# Prints the state of a package in the staged root, also of one unknown to dpkg.
status_of() {
    dpkg-query --admindir="$stage/var/lib/dpkg" -W -f '${db:Status-Status}' "$1" 2> /dev/null || echo not-installed
}
expect() {
    local package=$1 wanted=$2 found
    found=$(status_of "$package")
    [ "$found" = "$wanted" ] || { echo "$package is $found, not $wanted" >&2; exit 1; }
}

if ! ls "$theirs"/hdf5-filter-plugin-blosc-serial_*.deb > /dev/null 2>&1; then
    download() { (cd "$theirs" && apt-get download libblosc1 libblosc-dev hdf5-filter-plugin-blosc-serial); }
    download > /dev/null 2>&1 || { apt-get update -qq && quietly download; }
fi

mkdir -p "$work/stub/DEBIAN"
cat > "$work/stub/DEBIAN/control" << END
Package: stub
Version: 1
Architecture: all
Maintainer: Nobody <nobody@example.org>
Provides: libc6 (= 99), libgcc-s1 (= 99), liblz4-1 (= 99), libsnappy1v5 (= 99), libzstd1 (= 99), zlib1g (= 1:99),
 libhdf5-103-1 (= 99), gfortran-mod-15
Description: dependencies of the packages
END
dpkg-deb --build "$work/stub" "$work/stub.deb" > /dev/null

echo "== Over Debian's packages of C-Blosc"
quietly staged --install "$work/stub.deb" "$theirs"/*.deb
expect libblosc1 installed
# Debian's HDF5 plugin depends on libblosc1, which our package satisfies. As with apt, packages may
# be installed in any order.
mapfile -t libraries < <(find "$debs" -name '*.deb' ! -name '*hdf5*')
quietly staged --install --auto-deconfigure "${libraries[@]}"
for package in libblosc1 libblosc-dev; do
    expect "$package" not-installed
done
expect hdf5-filter-plugin-blosc-serial installed
if staged --remove ferroblosc-libblosc1 > "$work/log" 2>&1; then
    echo "dpkg removes ferroblosc-libblosc1 though a package depends on it" >&2
    exit 1
fi
# Our plugins then replace Debian's.
quietly staged --install --auto-deconfigure "$debs"/*hdf5*.deb
expect hdf5-filter-plugin-blosc-serial not-installed
[ -z "$(staged --audit)" ]

mapfile -t packages < <(sed -n 's/^Package: //p' "$debian/control")
for package in "${packages[@]}"; do
    expect "$package" installed
    dpkg-query --admindir="$stage/var/lib/dpkg" -L "$package" | while read -r path; do
        [ -d "$stage$path" ] && [ ! -L "$stage$path" ] || echo "$path"
    done | LC_ALL=C sort > "$work/installed"
    sed "s/@MULTIARCH@/$multiarch/" "$debian/$package.list" | LC_ALL=C sort | diff - "$work/installed"
    quietly staged --verify "$package"
    [ ! -s "$work/log" ] || { cat "$work/log"; exit 1; }
    echo "   $package: $(wc -l < "$work/installed") files"
done

# Programs built with our library also accept Debian's, which has the same functions.
least=$(sed -n 's/^libblosc 1 libblosc1 (>= \(.*\))$/\1/p' "$stage"/var/lib/dpkg/info/ferroblosc-libblosc1*.shlibs)
dpkg --compare-versions "$(dpkg-deb -f "$theirs"/libblosc1_*.deb Version)" ge "${least:?}" ||
    { echo "programs would need libblosc1 $least" >&2; exit 1; }

echo "== Using the installed packages"
"$stage/usr/bin/b2" --version
"$stage/usr/bin/blpk" --version
cp -r "$root/tests/consumers" "$work/projects"
export PKG_CONFIG_SYSROOT_DIR=$stage PKG_CONFIG_LIBDIR=$stage/usr/lib/$multiarch/pkgconfig
make --silent --directory "$work/projects/pkg-config"
for program in "$work"/projects/pkg-config/use-*; do
    LD_LIBRARY_PATH=$stage/usr/lib/$multiarch "$program"
done
read -ra flags <<< "$(pkg-config --cflags --libs blosc2_fortran)"
gfortran -o "$work/chunk" "$root/fortran/examples/chunk.f90" "${flags[@]}"
LD_LIBRARY_PATH=$stage/usr/lib/$multiarch "$work/chunk" | diff - "$root/fortran/examples/chunk.txt"

echo "== Removing"
quietly staged --purge "${packages[@]}"
for package in "${packages[@]}"; do
    expect "$package" not-installed
done
left=$(find "$stage" -mindepth 1 -path "$stage/var" -prune -o -print)
if [ -n "$left" ]; then
    echo "not removed: $left" >&2
    exit 1
fi
echo "All files were removed."
