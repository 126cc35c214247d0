#!/bin/bash
# HDF5's h5repack and Debian's plugin for filter 32001: each library reads the other's files.
. "$ROOT/scripts/clients/common.sh"
need libblosc1 python3 hdf5-tools hdf5-filter-plugin-blosc-serial

/usr/bin/python3 - << 'END'
import math, struct
with open("field.bin", "wb") as out:
    for i in range(256 * 256):
        out.write(struct.pack("<i", int(1000 * math.sin(i / 300)) + i % 3))
END
cat > field.conf << 'END'
PATH /field
INPUT-CLASS IN
INPUT-SIZE 32
INPUT-BYTE-ORDER LE
RANK 2
DIMENSION-SIZES 256 256
OUTPUT-CLASS IN
OUTPUT-SIZE 32
OUTPUT-ARCHITECTURE STD
OUTPUT-BYTE-ORDER LE
CHUNKED-DIMENSION-SIZES 64 64
END
h5import field.bin -c field.conf -outfile plain.h5
export HDF5_PLUGIN_PATH=$plugins

count=0
for codec in 0 1 2 3 4 5; do
    for shuffle in 0 1 2; do
        for pair in "theirs $theirs1 ours $ours1" "ours $ours1 theirs $theirs1"; do
            read -r writer writers reader readers <<< "$pair"
            rm -f packed.h5 again.h5
            $writer h5repack -f "field:UD=32001,1,7,0,0,0,0,5,$shuffle,$codec" plain.h5 packed.h5
            [ "$count" -lt 2 ] || export QUIET=1
            had "$writers"
            # The filter is optional, so a file that did not shrink was stored without it.
            [ "$(stat -c %s packed.h5)" -lt "$(stat -c %s plain.h5)" ]
            $reader h5repack -f field:NONE packed.h5 again.h5
            had "$readers"
            h5diff plain.h5 again.h5
            count=$((count + 1))
        done
    done
done
result "$count files written with one library, read with the other"
