#!/bin/bash
# A C program linked with Debian's libblosc: each library reads chunks that the other wrote.
. "$ROOT/scripts/clients/common.sh"
need libblosc-dev libblosc1

gcc -O1 -o roundtrip "$ROOT/scripts/clients/roundtrip.c" -lblosc
preloaded() { LD_PRELOAD=$PREFIX/lib/libblosc.so.1 recorded "$@"; }

for run in "theirs $theirs1" "ours $ours1" "preloaded $ours1"; do
    read -r how library <<< "$run"
    $how ./roundtrip write "chunks-$how"
    had "$library"
    for chunks in chunks-*; do
        $how ./roundtrip read "$chunks"
        QUIET=1 had "$library"
    done
done
theirs ./roundtrip read chunks-ours
QUIET=1 had "$theirs1"
result "18 chunks in each direction"
