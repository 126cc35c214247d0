#!/bin/bash
# Installs the built libraries, headers, plugins and programs; `make install` runs it.
#
# usage: install.sh BUILD DESTINATION
#
# BUILD is cargo's output directory (target/release), DESTINATION the prefix including DESTDIR.
# LIBDIR is the library directory relative to the prefix (default lib; lib/x86_64-linux-gnu on
# Debian). With INSTALL=libraries, programs and HDF5 plugins are not installed. No installed file
# contains its path: the pkg-config and CMake files use paths relative to themselves, so the tree
# can be moved.
#
# From a build for Windows, DLLs and import libraries are installed, and no static libraries; manual
# pages and completions neither, since the programs print them (install-windows.py).
set -euo pipefail

build=$1 prefix=$2
umask 022
root=$(cd "$(dirname "$0")/.." && pwd)
libdir=${LIBDIR:-lib}
libdir=${libdir%/}
case /$libdir/ in
    *//* | */./* | */../*)
        echo "install.sh: LIBDIR must be a path relative to the prefix, such as lib64, not $libdir" >&2
        exit 1
        ;;
esac
# The relative path from the library directory to the prefix: a ".." for each component.
up=$(sed 's:[^/][^/]*:..:g' <<< "$libdir")

# The files of shared libraries, and how their names begin in programs.
suffix=.so rpath=
[ ! -f "$build/libblosc2.dylib" ] || suffix=.dylib rpath=@rpath/
# The directory of shared libraries relative to the prefix, the start of their names and the end of
# the names of programs in BUILD.
shared_folder=$libdir built=lib program_suffix=
[ ! -f "$build/blosc2.dll" ] || suffix=.dll shared_folder=bin built='' program_suffix=.exe
if [ ! -f "$build/${built}blosc2$suffix" ]; then
    echo "install.sh: $build contains no built libraries; run \`make build\`, with the same CARGO_TARGET_DIR" >&2
    exit 1
fi
# The size of pointers in bytes: the fifth byte of an ELF file is 1 for 32 bits, 2 for 64 bits.
pointer_size=8
[ "$(od -An -tu1 -N5 "$build/${built}blosc2$suffix" | xargs)" != "127 69 76 70 1" ] || pointer_size=4

# write FILE: writes standard input to a new file. Its path may have a link to a file of another
# package.
write() {
    rm -f "$1"
    cat > "$1"
}

# install_library NAME VERSION SOVERSION CMAKE-PACKAGE: installs a library, shared and static, with
# its pkg-config and CMake files.
install_library() {
    local name=$1 version=$2 soversion=$3 package=$4

    local shared=lib$name$suffix soname long
    case $suffix in
        .dll)
            soname=$shared long=$shared
            "$root/scripts/import-library.sh" "$build/$name.dll" "$shared" "$prefix/$libdir/$shared.a"
            # The linker of Visual Studio finds it by this name.
            cp "$prefix/$libdir/$shared.a" "$prefix/$libdir/$name.lib"
            ;;
        .dylib)
            soname=lib$name.$soversion.dylib long=lib$name.$version.dylib
            # Apple's tools cannot hide the internal symbols of an archive.
            install -m 644 "$build/lib$name.a" "$prefix/$libdir/lib$name.a"
            ;;
        *)
            soname=$shared.$soversion long=$shared.$version
            "$root/scripts/hide-symbols.sh" "$build/lib$name.a" "$build/$shared" "$prefix/$libdir/lib$name.a"
            chmod 644 "$prefix/$libdir/lib$name.a"
            ;;
    esac
    install -m 755 "$build/$built$name$suffix" "$prefix/$shared_folder/$long"
    if [ "$suffix" != .dll ]; then
        ln -sf "$long" "$prefix/$libdir/$soname"
        ln -sf "$soname" "$prefix/$libdir/$shared"
    fi

    # The unwinder finds stack frames with the table .eh_frame_hdr, and musl's compiler wrapper does
    # not make the linker write it into static programs.
    local static_options=
    if [ "$suffix" = .so ] && "${READELF:-readelf}" -d "$build/$shared" | grep -q 'NEEDED.*\[libc\.\(so\|musl-.*\)\]'; then
        static_options=-Wl,--eh-frame-hdr
    fi
    # Lines of the templates that the system does not have: import libraries are for Windows alone,
    # and static libraries for the others.
    local without=/@IMPORT_LIBRARY@/d
    [ "$suffix" != .dll ] || without=/^Libs.private/d

    fill_in() {
        sed -e "$without" \
            -e "s/@VERSION@/$version/g" -e "s/@SERIES@/${version%.*}/g" -e "s/@SOVERSION@/$soversion/g" -e "s:@LIBDIR@:$libdir:g" -e "s:@UP@:$up:g" \
            -e "s:@SHARED@:$shared_folder/$shared:g" -e "s:@SHARED_VERSION@:$shared_folder/$long:g" -e "s:@SONAME@:$rpath$soname:g" \
            -e "s:@IMPORT_LIBRARY@:$libdir/$shared.a:g" -e "s/@POINTER_SIZE@/$pointer_size/g" \
            -e "/^Libs/s/@STATIC_OPTIONS@/${static_options:+$static_options }/" \
            -e "s/@STATIC_OPTIONS@/$static_options/" "$1"
    }
    fill_in "$root/pkgconfig/$name.pc.in" | write "$prefix/$libdir/pkgconfig/$name.pc"
    install -d "$prefix/$libdir/cmake/$package"
    for file in "$root/cmake/$package"/*; do
        fill_in "$file" | write "$prefix/$libdir/cmake/$package/$(basename "$file" .in)"
    done
}

install -d "$prefix/include/blosc2" "$prefix/$libdir/pkgconfig" "$prefix/$shared_folder"
install -m 644 "$root"/include/*.h "$prefix/include"
install -m 644 "$root"/include/blosc2/*.h "$prefix/include/blosc2"
install_library blosc2 3.3.5 9 Blosc2
install_library blosc 1.21.6 1 Blosc
install_library ferroblosc 0.1.0 0 Ferroblosc

[ "${INSTALL:-all}" = all ] || exit 0

# install_program NAME: installs a program, and the manual page and shell completions that it
# prints. b2 also writes a page for each of its commands.
install_program() {
    local name=$1

    install -d "$prefix/bin"
    install -m 755 "$build/$name$program_suffix" "$prefix/bin/$name$program_suffix"
    [ "$suffix" != .dll ] || return 0
    install -d "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
        "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
    if [ "$name" = b2 ]; then
        local pages
        pages=$(mktemp -d)
        "$build/$name" man --output "$pages"
        install -m 644 "$pages"/*.1 "$prefix/share/man/man1"
        rm -r "$pages"
    else
        "$build/$name" man | write "$prefix/share/man/man1/$name.1"
    fi
    "$build/$name" completions bash | write "$prefix/share/bash-completion/completions/$name"
    "$build/$name" completions zsh | write "$prefix/share/zsh/site-functions/_$name"
    "$build/$name" completions fish | write "$prefix/share/fish/vendor_completions.d/$name.fish"
}

install_program b2
install_program blpk

# The HDF5 filter plugins need a separate directory, because HDF5 opens every file of a plugin
# directory.
install -d "$prefix/$libdir/hdf5/plugin"
install -m 755 "$build/${built}H5Zblosc$suffix" "$build/${built}H5Zblosc2$suffix" "$prefix/$libdir/hdf5/plugin"
