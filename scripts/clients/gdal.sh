#!/bin/bash
# Debian's GDAL with Zarr: every codec and shuffle, written with one library, read with the other.
. "$ROOT/scripts/clients/common.sh"
need libblosc1 gdal-bin python3

/usr/bin/python3 - << 'END'
import struct
with open("field.bin", "wb") as out:
    for row in range(256):
        out.write(b"".join(struct.pack("<H", row * 7 + column // 3) for column in range(256)))
END
cat > field.vrt << 'END'
<VRTDataset rasterXSize="256" rasterYSize="256">
  <VRTRasterBand dataType="UInt16" band="1" subClass="VRTRawRasterBand">
    <SourceFilename relativetoVRT="1">field.bin</SourceFilename>
    <ByteOrder>LSB</ByteOrder>
  </VRTRasterBand>
</VRTDataset>
END
checksum() { sed -n 's/.*Checksum=//p'; }
plain=$(gdalinfo -checksum field.vrt | checksum)
count=0
for codec in blosclz lz4 lz4hc snappy zlib zstd; do
    for shuffle in NONE BYTE BIT; do
        for pair in "theirs $theirs1 ours $ours1" "ours $ours1 theirs $theirs1"; do
            read -r writer writers reader readers <<< "$pair"
            rm -rf packed.zarr
            $writer gdal_translate -q -of Zarr -co COMPRESS=BLOSC -co BLOSC_CNAME=$codec -co BLOSC_SHUFFLE=$shuffle \
                -co BLOCKSIZE=64,64 field.vrt packed.zarr
            [ "$count" -lt 2 ] || export QUIET=1
            had "$writers"
            [ "$($reader gdalinfo -checksum packed.zarr | checksum)" = "$plain" ]
            had "$readers"
            count=$((count + 1))
        done
    done
done
result "$count files written with one library, read with the other"
