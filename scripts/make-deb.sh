#!/bin/bash
# Makes Debian packages of the built libraries and programs; `make deb` runs it.
#
# usage: make-deb.sh BUILD OUTPUT
#
# BUILD is cargo's output directory, OUTPUT the directory for the packages. The script builds the
# Fortran modules. Each file that `make install` installs is in exactly one package:
# packaging/debian/<package>.list names the files of a package. A missing file, or a file in no
# list, is an error. packaging/debian/control describes the packages.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "$1")
mkdir -p "$2"
output=$(realpath "$2")
debian=$root/packaging/debian
"$root/scripts/need.sh" dpkg-dev binutils gcc gfortran cmake

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

version=$(dpkg-parsechangelog --file "$debian/changelog" --show-field Version)
maintainer=$(dpkg-parsechangelog --file "$debian/changelog" --show-field Maintainer)
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog --file "$debian/changelog" --show-field Timestamp)
export SOURCE_DATE_EPOCH
architecture=$(dpkg --print-architecture)
multiarch=$(dpkg-architecture --query DEB_HOST_MULTIARCH)

# The whole installed tree, adapted to Debian's policy.
tree=$work/tree
export LIBDIR=lib/$multiarch
"$root/scripts/install.sh" "$build" "$tree/usr"
"$root/scripts/install-fortran.sh" build
"$root/scripts/install-fortran.sh" install "$tree/usr"
sed -i 's:^prefix=.*:prefix=/usr:' "$tree/usr/lib/$multiarch"/pkgconfig/*.pc
find "$tree" -name '*.so*' -type f -exec strip --strip-unneeded --remove-section=.comment --remove-section=.note {} +
find "$tree" -name '*.a' -exec strip --strip-debug --enable-deterministic-archives {} +
strip "$tree"/usr/bin/*
gzip -9n "$tree"/usr/share/man/man1/*
mv "$tree/usr/share/zsh/site-functions" "$tree/usr/share/zsh/vendor-completions"
# Debian's HDF5 searches this directory for plugins by default.
mkdir "$tree/usr/lib/$multiarch/hdf5/serial"
mv "$tree/usr/lib/$multiarch/hdf5/plugin" "$tree/usr/lib/$multiarch/hdf5/serial/plugins"

# field NAME PACKAGE: prints a field of a package from the file control.
field() {
    sed -n "/^Package: $2$/,/^$/s/^$1: //p" "$debian/control"
}

# shared_dependencies DIRECTORY: prints the packages that programs and libraries in DIRECTORY depend
# on.
shared_dependencies() {
    mkdir -p "$work/shlibs/debian"
    printf 'Source: ferroblosc\n\nPackage: ferroblosc\nArchitecture: any\n' > "$work/shlibs/debian/control"
    (
        cd "$work/shlibs"
        find "$1" -type f \( -path '*/bin/*' -o -name '*.so*' \) -printf '-e%p\n' \
            | xargs dpkg-shlibdeps -O --ignore-missing-info
    ) | sed -n 's/^shlibs:Depends=//p'
}

mapfile -t packages < <(sed -n 's/^Package: //p' "$debian/control")
for package in "${packages[@]}"; do
    folder=$work/$package
    documents=$folder/usr/share/doc/$package
    mkdir -p "$folder/DEBIAN" "$documents"
    cat "$root/NOTICE" "$root/LICENSE" > "$documents/copyright"
    gzip -9n < "$debian/changelog" > "$documents/changelog.gz"

    while read -r file; do
        [ "${file#/usr/share/doc/}" = "$file" ] || continue
        mkdir -p "$folder$(dirname "$file")"
        mv "$tree$file" "$folder$file"
    done < <(sed "s/@MULTIARCH@/$multiarch/" "$debian/$package.list")

    depends=$(field Depends "$package")
    case $depends in
        *shlibs:Depends*) depends=${depends/'${shlibs:Depends}'/$(shared_dependencies "$folder")} ;;
    esac
    depends=${depends//'${binary:Version}'/$version}
    {
        echo "Package: $package"
        echo "Source: ferroblosc"
        echo "Version: $version"
        echo "Architecture: $architecture"
        echo "Maintainer: $maintainer"
        echo "Installed-Size: $(du -sk --apparent-size "$folder/usr" | cut -f 1)"
        echo "Depends: $depends"
        sed -n "/^Package: $package$/,/^$/p" "$debian/control" \
            | grep -v -e '^Package:' -e '^Depends:' -e '^Shlibs:' -e '^$'
    } > "$folder/DEBIAN/control"
    # The shlibs file names C-Blosc's package, so that programs built with our library accept
    # either.
    for library in "$folder"/usr/lib/"$multiarch"/*.so.?; do
        [ -e "$library" ] || continue
        name=$(basename "$library")
        accepted=$(field Shlibs "$package")
        echo "${name%.so.*} ${name##*.so.} ${accepted:-$package}" > "$folder/DEBIAN/shlibs"
        echo "activate-noawait ldconfig" > "$folder/DEBIAN/triggers"
    done
    (cd "$folder" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum > DEBIAN/md5sums)
    dpkg-deb --root-owner-group --build "$folder" "$output/${package}_${version}_$architecture.deb" > /dev/null
    echo "$output/${package}_${version}_$architecture.deb"
done

left=$(find "$tree" ! -type d)
if [ -n "$left" ]; then
    echo "in no package: $left" >&2
    exit 1
fi
