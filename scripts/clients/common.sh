# Functions and variables of the client scripts, which source this file.
#
# test-clients.sh runs each script in an empty directory with these variables:
#
#   ROOT    the project            PREFIX  the prefix of our installed libraries and headers
#   TARGET  the directory for caches  BUILD   cargo's output directory
#   RESULT  the file for the client's line in the table of results
#
# `ours COMMAND` and `theirs COMMAND` run a client with our or the stock libraries. Each process
# saves a copy of its /proc/self/maps at exit, from which `had` determines the libraries it loaded.
# shellcheck shell=bash
set -euo pipefail

# BLOSC* variables of the caller must not affect the clients.
unset "${!BLOSC@}"

multiarch=$(gcc -print-multiarch)
# shellcheck disable=SC2034 # used by the client scripts
ours1=$PREFIX/lib/libblosc.so.1.21.6 ours2=$PREFIX/lib/libblosc2.so.3.3.5
# shellcheck disable=SC2034
theirs1=$(realpath -m "/usr/lib/$multiarch/libblosc.so.1")
# shellcheck disable=SC2034
plugins=/usr/lib/$multiarch/hdf5/serial/plugins

need() { "$ROOT/scripts/need.sh" "$@"; }

mkdir -p maps
gcc -O1 -shared -fPIC -o recorder.so "$ROOT/scripts/clients/recorder.c"

# recorded COMMAND...: deletes earlier records and runs the command with the recorder.
recorded() {
    rm -f maps/*
    env FERROBLOSC_MAPS="$PWD/maps" LD_PRELOAD="$PWD/recorder.so${LD_PRELOAD:+:$LD_PRELOAD}" "$@"
}
ours() { LD_LIBRARY_PATH=$PREFIX/lib recorded "$@"; }
theirs() { recorded "$@"; }

# had LIBRARY...: fails unless the processes since the last `ours` or `theirs` loaded exactly these
# files of libblosc and libblosc2. Prints the number of processes unless QUIET is set.
had() {
    local found
    found=$(grep -hoE '/[^ ]*/libblosc2?[-.][^ /]*$' maps/* | LC_ALL=C sort -u)
    if [ "$found" != "$(printf '%s\n' "$@" | LC_ALL=C sort)" ]; then
        echo "the processes loaded ${found:-none} instead of $*" >&2
        exit 1
    fi
    [ -n "${QUIET:-}" ] || echo "   $(grep -lE '/libblosc2?[-.][^ /]*$' maps/* | wc -l) process(es) with" $found
}

# our_tests OPTIONS...: runs tests of the project with the build of `make test`, which has the same
# packages.
our_tests() {
    cargo test --quiet --manifest-path "$ROOT/Cargo.toml" \
        --workspace --exclude 'ferroblosc-bench-*' --exclude ferroblosc-headers "$@"
}

# result TEXT...: writes the client's line in the table of results.
result() { echo "$*" | tee "$RESULT"; }

# unittests LOG TESTS SKIPPED: fails unless a Python unittest suite passed with at least TESTS tests
# and at most SKIPPED skipped, the counts with the stock library.
unittests() {
    local ran skipped
    ran=$(sed -n 's/^Ran \([0-9]*\) tests\? in .*/\1/p' "$1" | tail -n 1)
    skipped=$(grep -E '^OK' "$1" | tail -n 1 | sed -n 's/.*skipped=\([0-9]*\).*/\1/p')
    if ! grep -qE '^OK' "$1" || [ "${ran:-0}" -lt "$2" ] || [ "${skipped:-0}" -gt "$3" ]; then
        tail -n 50 "$1"
        echo "$ran tests, ${skipped:-0} skipped; with the stock library $2, $3 skipped" >&2
        exit 1
    fi
    result "$ran tests, ${skipped:-0} skipped (stock: $2, $3)"
}

# venv NAME PACKAGES...: makes a venv with these packages in the directory $venv, then calls the
# script's function `build` if it has one. Reuses an earlier venv if the packages and our headers
# are unchanged.
venv() {
    local stamp
    venv=$TARGET/client-$1
    shift
    stamp="$* $(cat "$PREFIX"/include/*.h "$PREFIX"/include/blosc2/*.h | sha256sum)"
    if [ "$(cat "$venv/complete" 2> /dev/null)" != "$stamp" ]; then
        need python3-venv python3-dev
        rm -rf "$venv"
        /usr/bin/python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check "$@"
        if declare -F build > /dev/null; then
            build > build.log 2>&1 || { cat build.log; exit 1; }
        fi
        echo "$stamp" > "$venv/complete"
    fi
}
