#!/bin/bash
# Builds the libraries for musl and runs C programs that are linked with them; `make test-musl` runs
# it.
#
# usage: test-musl.sh
#
# The libraries are built with the cargo profile PROFILE (default dev) and installed in
# target/musl-prefix. Programs of c-tests are compiled with no other flags for the libraries than
# those from pkg-config: with `musl-gcc -static`, as static PIEs, and with the shared libraries. The
# script checks how each program is linked and runs it.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(uname -m)" != x86_64 ]; then
    echo "NOT CHECKED: musl is tested on x86-64 only"
    exit 0
fi
scripts/need-rust.sh target x86_64-unknown-linux-musl || { [ -n "${ALLOW_UNCHECKED:-}" ]; exit; }
scripts/need.sh pkg-config

prefix=$PWD/target/musl-prefix
rm -rf "$prefix"
scripts/install-musl.sh "$prefix" "${PROFILE:-dev}"
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
unset PKG_CONFIG_PATH

# musl-gcc ignores -static-pie and links a dynamic program. These are the specs of musl-gcc, with
# the start file and the linker options of a static PIE.
wrapped=$(grep -o '/[^"]*musl-gcc.specs' "$(command -v musl-gcc)")
specs=$prefix/static-pie.specs
sed -e "s|^%{!shared: [^}]*}|$(dirname "$wrapped")/rcrt1.o|" \
    -e "s|^-dynamic-linker [^ ]* |-static -pie --no-dynamic-linker -z text |" "$wrapped" > "$specs"

# compile KIND PACKAGE SOURCE: compiles a program of c-tests to target/musl-prefix/bin/NAME-KIND,
# and sets program to its path.
compile() {
    local kind=$1 package=$2 source=$3 compiler=(musl-gcc) static=()

    case $kind in
        static) compiler=(musl-gcc -static) static=(--static) ;;
        static-pie) compiler=(gcc -specs "$specs" -static-pie) static=(--static) ;;
    esac
    program=$prefix/bin/$(basename "$source" .c)-$kind
    mkdir -p "$prefix/bin"
    # Word splitting is intended: each word is an option.
    # shellcheck disable=SC2046
    "${compiler[@]}" -std=c99 -D_DEFAULT_SOURCE -O1 -g -Wall -Wextra -Werror "$source" -o "$program" \
        $(pkg-config "${static[@]}" --cflags --libs "$package")
}

# check_kind KIND: fails unless the program is linked as KIND.
check_kind() {
    local type needed interpreter
    type=$(readelf -hW "$program" | sed -n 's/^ *Type: *\([A-Z]*\).*/\1/p')
    needed=$(readelf -dW "$program" | grep -c NEEDED || true)
    interpreter=$(readelf -lW "$program" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
    case $1:$type:$needed:$interpreter in
        static:EXEC:0: | static-pie:DYN:0: | shared:DYN:2:/lib/ld-musl-x86_64.so.1) ;;
        *) echo "$program is $type, needs $needed libraries and the loader '$interpreter'" >&2; exit 1 ;;
    esac
}

# run KIND PACKAGE SOURCE...: compiles, checks and runs programs.
run() {
    local kind=$1 package=$2 source program
    shift 2
    for source in "$@"; do
        compile "$kind" "$package" "c-tests/$source"
        check_kind "$kind"
        echo "== $source, $kind"
        (cd "$prefix/bin" && LD_LIBRARY_PATH=$prefix/lib timeout 600 "$program")
    done
}

for library in blosc2 blosc ferroblosc; do
    needed=$(readelf -dW "$prefix/lib/lib$library.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
    [ "$needed" = libc.so ] || { echo "lib$library.so needs $needed" >&2; exit 1; }
done
for kind in static static-pie shared; do
    run "$kind" blosc2 caught_panic.c roundtrip.c frame.c callbacks.c row_c16_races.c b2nd_slices.c cancel.c
    run "$kind" blosc blosc1/calls.c
    run "$kind" ferroblosc ferroblosc/util.c ferroblosc/bloscpack.c ferroblosc/bcolz.c
done

echo "The libraries work with musl."
