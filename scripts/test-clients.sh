#!/bin/bash
# Runs third-party programs with our libraries instead of C-Blosc's and C-Blosc2's; `make
# test-clients` runs it.
#
# usage: test-clients.sh BUILD [CLIENT...]
#
# BUILD is cargo's output directory. Each client is a script in scripts/clients; the default is all
# of them. `fast` stands for those that need less than three minutes. The clients are unmodified
# Debian packages, PyPI packages built from source, or crates; missing ones are installed.
# /proc/self/maps of each client process proves which libraries it loaded; the ELF note of a Rust
# program, which code is linked to it. CLIENT_JOBS clients run at a time; the default is the number
# of processors.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "$1")
shift
# The fast clients are first. Those in Rust share a target directory, in which one builds at a time.
fast="c-program python-blosc numcodecs h5py h5repack openvdb gdal dask python-blosc-built hdf5plugin bloscpack bcolz b2 stores blosc-src hdf5-metno rust-blosc"
all="$fast pytables-debian zarrs pytables"
selected=" ${*:-$all} "
read -ra clients <<< "${selected/ fast / $fast }"

export ROOT=$root BUILD=$build TARGET=${CARGO_TARGET_DIR:-$root/target}
work=$TARGET/clients
export PREFIX=$work/prefix
"$root/scripts/need.sh" gcc binutils
rm -rf "$work"
mkdir -p "$work"
LIBDIR=lib "$root/scripts/install.sh" "$build" "$PREFIX"

for client in "${clients[@]}"; do
    [ -x "$root/scripts/clients/$client.sh" ] || { echo "no client $client; the clients are: $all" >&2; exit 2; }
done

# run CLIENT: runs a client, prints its output at the end and adds a line to the table.
run() {
    local client=$1 folder=$work/$1 start=$SECONDS result=$work/$1.result
    mkdir -p "$folder"
    if ! (cd "$folder" && RESULT=$result "$root/scripts/clients/$client.sh") > "$work/$client.output" 2>&1; then
        echo FAILED > "$result"
    fi
    echo "== $client: $(sed -n '2s/^# //p' "$root/scripts/clients/$client.sh")"
    cat "$work/$client.output"
    printf '%-18s %4d s  %s\n' "$client" $((SECONDS - start)) "$(cat "$result")" >> "$work/table"
}

# Most clients use one processor. The slow ones at the end of the list start first.
for ((at = ${#clients[@]} - 1; at >= 0; at--)); do
    [ "$(jobs -pr | wc -l)" -lt "${CLIENT_JOBS:-$(nproc)}" ] || wait -n || true
    run "${clients[at]}" &
done
wait

echo
cat "$work/table"
if grep ' FAILED$' "$work/table" >&2; then
    echo "Some clients failed." >&2
    exit 1
fi
echo "All clients work."
