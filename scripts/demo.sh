#!/bin/bash
# Runs an unmodified C program with the library; `make demo` runs it.
#
# usage: demo.sh PREFIX [FILE TYPESIZE]
#
# PREFIX is the prefix of the installed library. The program, examples/ratios.c, is not specific to
# this library: it is compiled with <blosc2.h> and the flags from pkg-config.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
prefix=$1
file=${2:-}
typesize=${3:-4}
work=$root/target/demo
threads=$(nproc)
mkdir -p "$work"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
read -ra flags <<< "$(pkg-config --cflags --libs blosc2)"
echo "== Compiling examples/*.c with: cc ${flags[*]}"
for example in simple ratios; do
    cc -O2 -o "$work/$example" "$root/examples/$example.c" "${flags[@]}"
done

if [ -n "$file" ]; then
    files=("$file")
else
    mapfile -t files < <("$root/scripts/demo-data.sh" "$work/data")
fi

echo
echo "== A small program"
export LD_LIBRARY_PATH=$prefix/lib
"$work/simple"

for file in "${files[@]}"; do
    echo
    echo "== Every codec on $(basename "$file")"
    "$work/ratios" "$file" "$typesize" "$threads"
done
unset LD_LIBRARY_PATH

echo
echo "== The same program, built against another libblosc2, with ours preloaded"
# The other library is C-Blosc2 from its Python wheel or, without a network, a copy of ours.
other=$work/other
mkdir -p "$other"
if reference=$("$root/scripts/reference.sh" library 2> /dev/null); then
    echo "The other library is C-Blosc2."
else
    echo "C-Blosc2 cannot be fetched: using a copy of our library instead."
    reference=$prefix/lib/libblosc2.so
fi
cp -fL "$reference" "$other/libblosc2.so"
cp -f "$other/libblosc2.so" "$other/libblosc2.so.9"
cc -O2 -o "$work/ratios-other" "$root/examples/ratios.c" "-I$prefix/include" \
    "-L$other" "-Wl,-rpath,$other" -lblosc2

bound_to() {
    # Prints the library that the dynamic linker binds the call to.
    LD_DEBUG=bindings "$@" 2>&1 > /dev/null \
        | sed -n 's/.*binding file .*ratios-other \[0\] to \(.*\) \[0\]: normal symbol `blosc2_compress_ctx.*/\1/p'
}
small=$root/examples/ratios.c
echo "blosc2_compress_ctx without preloading: $(bound_to "$work/ratios-other" "$small" 1)"
preload=$prefix/lib/libblosc2.so.9
bound=$(bound_to env "LD_PRELOAD=$preload" "$work/ratios-other" "$small" 1)
echo "blosc2_compress_ctx with LD_PRELOAD:    $bound"
[ "$bound" = "$preload" ]
echo
LD_PRELOAD=$preload "$work/ratios-other" "${files[0]}" "$typesize" "$threads"
