#!/bin/bash
# Puts the built library where programs look for it; `make install` calls it.
#
# usage: install.sh BUILD DESTINATION
#
# BUILD is the folder cargo built in (target/release), DESTINATION the prefix, DESTDIR included.
set -euo pipefail

build=$1 prefix=$2
root=$(cd "$(dirname "$0")/.." && pwd)
version=3.3.5
soversion=9

fill_in() {
    sed -e "s/@VERSION@/$version/g" -e "s/@SOVERSION@/$soversion/g" "$1"
}

install -d "$prefix/include/blosc2" "$prefix/lib/pkgconfig" "$prefix/lib/cmake/Blosc2"
install -m 644 "$root"/include/*.h "$prefix/include"
install -m 644 "$root"/include/blosc2/*.h "$prefix/include/blosc2"

install -m 755 "$build/libblosc2.so" "$prefix/lib/libblosc2.so.$version"
ln -sf "libblosc2.so.$version" "$prefix/lib/libblosc2.so.$soversion"
ln -sf "libblosc2.so.$soversion" "$prefix/lib/libblosc2.so"
"$root/scripts/hide-symbols.sh" "$build/libblosc2.a" "$build/libblosc2.so" "$prefix/lib/libblosc2.a"
chmod 644 "$prefix/lib/libblosc2.a"

fill_in "$root/pkgconfig/blosc2.pc.in" > "$prefix/lib/pkgconfig/blosc2.pc"
for file in "$root"/cmake/*; do
    fill_in "$file" > "$prefix/lib/cmake/Blosc2/$(basename "$file" .in)"
done
