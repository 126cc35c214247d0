#!/bin/bash
# Runs third-party programs with our libraries instead of C-Blosc's and C-Blosc2's; `make
# test-clients` runs it.
#
# usage: test-clients.sh BUILD [CLIENT...]
#
# BUILD is cargo's output folder. Each client is a script in scripts/clients; the default is all of
# them. The clients are unmodified Debian packages, PyPI packages built from source, or crates;
# missing ones are installed. /proc/self/maps of each client process proves which libraries it
# loaded; the ELF note of a Rust program, which code is linked to it.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "$1")
shift
# The fast clients are first.
all="c-program python-blosc numcodecs h5py h5repack openvdb gdal dask python-blosc-built hdf5plugin bloscpack bcolz stores b2 blosc-src hdf5-metno rust-blosc zarrs pytables-debian pytables"
read -ra clients <<< "${*:-$all}"

export ROOT=$root BUILD=$build TARGET=${CARGO_TARGET_DIR:-$root/target}
work=$TARGET/clients
export PREFIX=$work/prefix
"$root/scripts/need.sh" gcc binutils
rm -rf "$work"
mkdir -p "$work"
LIBDIR=lib "$root/scripts/install.sh" "$build" "$PREFIX"

failed=()
for client in "${clients[@]}"; do
    [ -x "$root/scripts/clients/$client.sh" ] || { echo "no client $client; the clients are: $all" >&2; exit 2; }
    echo "== $client: $(sed -n '2s/^# //p' "$root/scripts/clients/$client.sh")"
    mkdir -p "$work/$client"
    start=$SECONDS
    if ! (cd "$work/$client" && RESULT=$work/$client.result "$root/scripts/clients/$client.sh"); then
        echo "FAILED" > "$work/$client.result"
        failed+=("$client")
    fi
    printf '%-18s %4d s  %s\n' "$client" $((SECONDS - start)) "$(cat "$work/$client.result")" >> "$work/table"
done

echo
cat "$work/table"
if [ ${#failed[@]} -gt 0 ]; then
    echo "Failed: ${failed[*]}" >&2
    exit 1
fi
echo "All clients work."
