#!/bin/bash
# Runs other people's programs with libblosc.so.1 in the place of C-Blosc's; `make test-clients`
# calls it.
#
# usage: test-clients.sh BUILD
#
# BUILD is the folder cargo built in. The programs are Debian's, unmodified, and are installed when
# they are missing: python3-blosc and python3-numcodecs with their own tests, h5repack with the HDF5
# filter, a C program linked against Debian's -lblosc. Each tells from /proc/self/maps which library
# it has. Bloscpack, from the Python Package Index, trades files with our blpk.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "$1")
work=$root/target/clients
plugins=/usr/lib/$(uname -m)-linux-gnu/hdf5/serial/plugins
ours=$work/lib

"$root/scripts/need.sh" gcc libblosc-dev libblosc1 python3-blosc python3-numcodecs python3-pytest \
    python3-msgpack python3-venv hdf5-tools hdf5-filter-plugin-blosc-serial

rm -rf "$work"
mkdir -p "$ours"
cp "$build/libblosc.so" "$ours/libblosc.so.1"
cd "$work"
# Their variables are not ours to inherit.
unset "${!BLOSC_@}"

# has WHOSE MAPS: whether the file MAPS, a copy of /proc/self/maps, shows the library of WHOSE.
has() {
    local path
    path=$(awk '/libblosc\.so/ { print $6 }' "$2" | sort -u)
    case $1:$path in
        ours:"$ours/libblosc.so.1" | theirs:/usr/lib/*/libblosc.so.1.21.*) echo "   with $path" ;;
        *) echo "$1 was asked for, but the process had: $path" >&2; return 1 ;;
    esac
}

swapped() { env LD_LIBRARY_PATH="$ours" "$@"; }
preloaded() { env LD_PRELOAD="$ours/libblosc.so.1" "$@"; }
untouched() { "$@"; }

echo "== A C program linked against Debian's -lblosc"
cat > roundtrip.c << 'END'
/* roundtrip write|read FILE: makes chunks of all codecs and shuffles, or reads them. */
#include <blosc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1000003, ROOM = SIZE + BLOSC_MAX_OVERHEAD };
static char data[SIZE], back[SIZE], chunk[ROOM];

static void copy_maps(void) {
  FILE *in = fopen("/proc/self/maps", "r"), *out = fopen("maps", "w");
  int c;
  while ((c = getc(in)) != EOF) putc(c, out);
  fclose(in);
  fclose(out);
}

int main(int argc, char **argv) {
  static const char *const codecs[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
  FILE *file = fopen(argv[2], argv[1][0] == 'w' ? "wb" : "rb");
  int codec, shuffle, size, i;

  if (argc != 3 || file == NULL) return 2;
  for (i = 0; i < SIZE; i++) data[i] = (char)(i % 4 ? i >> (7 * (i % 4)) : i * i % 7);
  blosc_init();
  blosc_set_nthreads(2);
  for (codec = 0; codec < 6; codec++) {
    for (shuffle = 0; shuffle < 3; shuffle++) {
      if (argv[1][0] == 'w') {
        if (blosc_set_compressor(codecs[codec]) != codec) return 3;
        size = blosc_compress(5, shuffle, 4, SIZE, data, chunk, ROOM);
        if (size <= 0 || size > SIZE / 2) return 4;
        fwrite(&size, sizeof size, 1, file);
        fwrite(chunk, 1, size, file);
      } else {
        if (fread(&size, sizeof size, 1, file) != 1) return 5;
        if (size > ROOM || fread(chunk, 1, size, file) != (size_t)size) return 5;
        memset(back, 0, SIZE);
        if (blosc_decompress(chunk, back, SIZE) != SIZE) return 6;
        if (memcmp(back, data, SIZE) != 0) return 7;
      }
    }
  }
  fclose(file);
  blosc_destroy();
  copy_maps();
  return 0;
}
END
gcc -O1 -o roundtrip roundtrip.c -lblosc
for run in "untouched theirs" "swapped ours" "preloaded ours"; do
    read -r how whose <<< "$run"
    $how ./roundtrip write "chunks-$how"
    has "$whose" maps
    for chunks in chunks-*; do
        $how ./roundtrip read "$chunks"
        has "$whose" maps > /dev/null
        echo "   read $chunks"
    done
done
untouched ./roundtrip read chunks-swapped
has theirs maps

echo "== python3-blosc: its own tests"
cat > blosc-suite.py << 'END'
import importlib, shutil, sys, unittest
import blosc.toplevel
# blosc.test is a function; the module of that name is found by import only.
# The examples in the documentation come with blosc.toplevel.
load = unittest.defaultTestLoader.loadTestsFromModule
suite = unittest.TestSuite([load(importlib.import_module("blosc.test")), load(blosc.toplevel)])
result = unittest.TextTestRunner().run(suite)
shutil.copyfile("/proc/self/maps", "maps")
assert result.testsRun > 0
sys.exit(not result.wasSuccessful())
END
swapped /usr/bin/python3 blosc-suite.py
has ours maps

echo "== python3-numcodecs: its own tests of Blosc"
cat > conftest.py << 'END'
import shutil
def pytest_sessionfinish(session):
    shutil.copyfile("/proc/self/maps", "maps")
END
swapped /usr/bin/python3 -m pytest -q -p conftest -p no:cacheprovider \
    --pyargs numcodecs.tests.test_blosc
has ours maps

echo "== h5repack with the HDF5 filter 32001, in both directions"
cat > h5.c << 'END'
/* Preloaded into HDF5's programs: leaves a copy of the maps at the end, and until then whatever has
 * been loaded. */
#include <stdio.h>
int dlclose(void *library) { return library == NULL; }
__attribute__((destructor)) static void copy_maps(void) {
  FILE *in = fopen("/proc/self/maps", "r"), *out = fopen("maps", "w");
  int c;
  while ((c = getc(in)) != EOF) putc(c, out);
  fclose(in);
  fclose(out);
}
END
gcc -O1 -shared -fPIC -o h5.so h5.c
python3 - << 'END'
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
# HOW WHOSE: h5repack and h5diff with that library.
repack() {
    local how=$1 whose=$2 from=$3 to=$4
    shift 4
    "$how" env LD_PRELOAD="$work/h5.so" h5repack "$@" "$from" "$to"
    has "$whose" maps > /dev/null
}
count=0
for codec in 0 1 2 3 4 5; do
    for shuffle in 0 1 2; do
        for pair in "untouched theirs swapped ours" "swapped ours untouched theirs"; do
            read -r writer theirs_or_ours reader other <<< "$pair"
            rm -f packed.h5 again.h5
            repack "$writer" "$theirs_or_ours" plain.h5 packed.h5 \
                -f "field:UD=32001,1,7,0,0,0,0,5,$shuffle,$codec"
            # The filter is optional: a file that is not smaller has been stored without it.
            [ "$(stat -c %s packed.h5)" -lt "$(stat -c %s plain.h5)" ]
            repack "$reader" "$other" packed.h5 again.h5 -f "field:NONE"
            h5diff plain.h5 again.h5
            count=$((count + 1))
        done
    done
done
echo "   $count files written with one library and read with the other"

echo "== Bloscpack 0.16.0 and our blpk, in both directions"
mkdir bloscpack
PYTHONDONTWRITEBYTECODE=1 "$("$root/scripts/reference-bloscpack.sh")/python" "$root/scripts/test-bloscpack.py" \
    "$build/blpk" bloscpack

echo "== bcolz-zipline 1.13.0, which reads what we write and goes on, and we with what it writes"
FERROBLOSC_BCOLZ_PYTHON="$("$root/scripts/reference-bcolz.sh")/python" \
    cargo test --quiet --manifest-path "$root/Cargo.toml" --package ferroblosc --test bcolz zipline -- --ignored

echo "== python-blosc2, Bloscpack, python-blosc, bcolz and NumPy, of whose files b2 makes all the others"
"$root/scripts/test-b2.sh" "$build/b2"

echo "All clients work."
