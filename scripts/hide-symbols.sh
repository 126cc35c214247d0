#!/bin/bash
# Makes a static library that defines only the functions of an interface.
#
# usage: hide-symbols.sh STATICLIB SHAREDLIB OUTPUT
#
# STATICLIB is cargo's static library: hundreds of objects, including the C codecs and Rust's
# standard library, with all symbols visible to the linker. SHAREDLIB is the same library with the
# right exports. The objects are linked into one that keeps only the code reachable from the
# exports, and all other symbols become local. A program can then link OUTPUT together with its own
# zstd, or with another library made by this script.
set -euo pipefail

staticlib=$1 sharedlib=$2 output=$3
# The tools may be those of a cross toolchain.
ld=${LD:-ld} nm=${NM:-nm} objcopy=${OBJCOPY:-objcopy}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$nm" -D --defined-only "$sharedlib" | awk '{ print $3 }' > "$work/exports"
test -s "$work/exports"

# Groups of sections are resolved here: lld would discard the second of two groups of the same name,
# whose symbols are already local, if a program links two of these libraries.
mapfile -t roots < <(sed 's/^/-u/' "$work/exports")
"$ld" -r --gc-sections --force-group-allocation "${roots[@]}" -o "$work/all.o" "$staticlib"
# Rust's standard library contains LLVM bitcode, which crashes binutils with the plugin of an older
# LLVM.
# The function of glibc is a hidden weak symbol, so that it stays undefined (without_thread_atexit
# in capi/common). The linker gold rejects such a symbol if a shared library defines it, so it has a
# name here that no library defines.
"$objcopy" --keep-global-symbols="$work/exports" --remove-section=.llvmbc --remove-section=.llvmcmd \
    --redefine-sym __cxa_thread_atexit_impl=_ferroblosc_no_thread_atexit "$work/all.o" "$work/library.o"

rm -f "$output"
# gcc-ar is the default, because a plain ar may lack the plugin that objects of some compilers need.
"${AR:-gcc-ar}" rcs "$output" "$work/library.o"
