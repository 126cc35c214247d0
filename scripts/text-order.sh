#!/bin/bash
# Generates capi/text-order.ld, the functions that common calls run. The linker places them next to
# each other, so that programs map few pages of the libraries.
#
# usage: text-order.sh, after `make build`
#
# callgrind lists the functions that scripts/text-order.c runs; those for work in memory are first.
# Symbol names are cut before the suffix that differs between compilers; patterns without a match
# are harmless.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
work=$root/target/text-order
list=$root/capi/text-order.ld

"$root/scripts/need.sh" gcc valgrind
rm -rf "$work"
mkdir -p "$work"
cp "$root/target/release/libblosc2.so" "$work/libblosc2.so.9"
gcc -O1 -I "$root/include" -o "$work/text-order" "$root/scripts/text-order.c" "$work/libblosc2.so.9"

# patterns KIND: prints patterns for the names of the functions that this kind of work runs.
patterns() {
    LD_LIBRARY_PATH=$work valgrind --quiet --tool=callgrind --demangle=no --compress-strings=no \
        --callgrind-out-file="$work/calls" "$work/text-order" "$1" "$work"
    awk '/^ob=/ { ours = /libblosc2/ } /^fn=/ && ours { print substr($0, 4) }' "$work/calls" |
        sed -E -e "s/'[0-9]+$//" -e '/^(0x|\(below)/d' -e 's/17h[0-9a-f]{16}E.*/17h*/' \
            -e 's/Cs[0-9A-Za-z]+_/Cs*_/g' -e 's/\.llvm\..*/*/' |
        sort -u
}

# Kernels are last: they are long, and only those for the processor's SIMD level run.
for kind in memory files others; do patterns "$kind"; done | awk '!seen[$0]++' > "$work/names"
{
    echo "/* Functions that common calls run, placed together. Made by scripts/text-order.sh. */"
    echo "SECTIONS {"
    echo "  .text : {"
    grep -v 7kernels "$work/names" | sed 's/.*/    *(.text*.&)/'
    grep 7kernels "$work/names" | sed -e 's/4avx2/*/' -e 's/.*/    *(.text*.&)/'
    echo "  }"
    echo "}"
    echo "INSERT AFTER .init;"
} > "$list"
echo "$(grep -c 'text\*' "$list") lines in $list"
