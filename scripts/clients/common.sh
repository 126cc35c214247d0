# What the scripts of the clients share; each of them begins with `. "$ROOT/scripts/clients/common.sh"`.
#
# test-clients.sh runs a script in an empty folder of its own, with these variables:
#
#   ROOT    the project          PREFIX  where our libraries and headers are installed
#   TARGET  what outlives a run  BUILD   what cargo built
#   RESULT  the file for the line that tells what came out
#
# A client is run as `ours COMMAND` or `theirs COMMAND`. Each of its processes leaves a copy of its
# /proc/self/maps when it ends, and `had` tells from those which libraries they had.
# shellcheck shell=bash
set -euo pipefail

# Their variables are not ours to inherit.
unset "${!BLOSC@}"

multiarch=$(gcc -print-multiarch)
# shellcheck disable=SC2034 # for the scripts
ours1=$PREFIX/lib/libblosc.so.1.21.6 ours2=$PREFIX/lib/libblosc2.so.3.3.5
# shellcheck disable=SC2034
theirs1=$(realpath -m "/usr/lib/$multiarch/libblosc.so.1")
# shellcheck disable=SC2034
plugins=/usr/lib/$multiarch/hdf5/serial/plugins

need() { "$ROOT/scripts/need.sh" "$@"; }

mkdir -p maps
gcc -O1 -shared -fPIC -o recorder.so "$ROOT/scripts/clients/recorder.c"

# recorded COMMAND...: with the recorder, and nothing recorded from before.
recorded() {
    rm -f maps/*
    env FERROBLOSC_MAPS="$PWD/maps" LD_PRELOAD="$PWD/recorder.so${LD_PRELOAD:+:$LD_PRELOAD}" "$@"
}
ours() { LD_LIBRARY_PATH=$PREFIX/lib recorded "$@"; }
theirs() { recorded "$@"; }

# had LIBRARY...: the processes since the last `ours` or `theirs` had these of all libblosc and libblosc2, and
# no others. Says so, unless QUIET is set.
had() {
    local found
    found=$(grep -hoE '/[^ ]*/libblosc2?[-.][^ /]*$' maps/* | LC_ALL=C sort -u)
    if [ "$found" != "$(printf '%s\n' "$@" | LC_ALL=C sort)" ]; then
        echo "the processes had: ${found:-none}; and not: $*" >&2
        exit 1
    fi
    [ -n "${QUIET:-}" ] || echo "   $(grep -lE '/libblosc2?[-.][^ /]*$' maps/* | wc -l) process(es) with" $found
}

# result TEXT...: what the table at the end says of the client.
result() { echo "$*" | tee "$RESULT"; }

# unittests LOG TESTS SKIPPED: a suite of Python's unittest passed with no fewer tests and no more skipped ones
# than with the stock library, which had so many.
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

# venv NAME PACKAGES...: makes the folder $venv a venv with those packages; then calls `build`, when the script has
# such a function. What is there from an earlier run is taken, unless the packages or our headers are others.
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
