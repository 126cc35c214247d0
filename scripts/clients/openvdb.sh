#!/bin/bash
# Debian's OpenVDB: the level set of a sphere, written with one library and read with the other.
. "$ROOT/scripts/clients/common.sh"
need libblosc1 python3-openvdb libopenvdb-tools libopenvdb-dev

cat > sphere.py << 'END'
import sys
import pyopenvdb as vdb
doing, path = sys.argv[1:]
sphere = vdb.createLevelSetSphere(radius=40.0, voxelSize=1.0)
if doing == "write":
    vdb.write(path, grids=[sphere])
else:
    found = vdb.read(path, sphere.name)
    assert found.activeVoxelCount() == sphere.activeVoxelCount() > 10_000
    values = {item.min: item.value for item in sphere.citerOnValues()}
    assert all(values[item.min] == item.value for item in found.citerOnValues())
END
for pair in "theirs $theirs1 ours $ours1" "ours $ours1 theirs $theirs1"; do
    read -r writer writers reader readers <<< "$pair"
    $writer /usr/bin/python3 sphere.py write "$writer.vdb"
    had "$writers"
    $reader /usr/bin/python3 sphere.py read "$writer.vdb"
    QUIET=1 had "$readers"
    $reader vdb_print -l "$writer.vdb" > /dev/null
    QUIET=1 had "$readers"
done
result "a level set in each direction"
