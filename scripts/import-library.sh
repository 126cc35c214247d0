#!/bin/bash
# Makes an import library of a DLL.
#
# usage: import-library.sh DLL NAME OUTPUT
#
# Programs linked with OUTPUT load the DLL by NAME. OUTPUT has the short format that all linkers for
# Windows read. DLLTOOL is LLVM's or zig's dlltool.
set -euo pipefail

dll=$1 name=$2 output=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

{
    echo EXPORTS
    "${OBJDUMP:-objdump}" -p "$dll" |
        awk '/^\[Ordinal\/Name Pointer\] Table/ { listed = 1; next } listed && !NF { listed = 0 } listed { print $NF }'
} > "$work/exports.def"
[ "$(wc -l < "$work/exports.def")" -gt 1 ]
rm -f "$output"
"${DLLTOOL:-llvm-dlltool}" -m i386:x86-64 -d "$work/exports.def" -D "$name" -l "$output"
