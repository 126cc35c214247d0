#!/bin/bash
# Makes a static library that defines the functions of an interface and nothing else.
#
# usage: hide-symbols.sh STATICLIB SHAREDLIB OUTPUT
#
# STATICLIB is what cargo makes: hundreds of objects with everything in them, the C codecs and Rust's
# standard library too, all of it visible to the linker. SHAREDLIB is the same library with the
# right exports. The objects are linked into one that keeps only what the exports need; then all
# other symbols become local, so that a program can link OUTPUT beside its own zstd, or beside
# another library made this way.
set -euo pipefail

staticlib=$1 sharedlib=$2 output=$3
# The tools can be those for another machine.
ld=${LD:-ld} nm=${NM:-nm} objcopy=${OBJCOPY:-objcopy}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$nm" -D --defined-only "$sharedlib" | awk '{ print $3 }' > "$work/exports"
test -s "$work/exports"

mapfile -t roots < <(sed 's/^/-u/' "$work/exports")
"$ld" -r --gc-sections "${roots[@]}" -o "$work/all.o" "$staticlib"
# Rust's standard library carries LLVM bitcode, which makes binutils with an older LLVM's plugin crash.
"$objcopy" --keep-global-symbols="$work/exports" --remove-section=.llvmbc --remove-section=.llvmcmd \
    "$work/all.o" "$work/library.o"

rm -f "$output"
# gcc-ar, as a plain ar may lack the plugin that objects of some compilers need.
"${AR:-gcc-ar}" rcs "$output" "$work/library.o"
