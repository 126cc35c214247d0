#!/bin/bash
# Exchanges files between b2 and the original tools; `make test-clients` runs it.
#
# usage: test-b2.sh B2
#
# HDF5 and CSV files are exchanged by b2-hdf5-oracle.py.
#
# python-blosc2, Bloscpack, python-blosc, bcolz and NumPy each write every array they support. b2
# converts each file to every format, and the original tool of that format reads the result.
set -euo pipefail

b2=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
oracle=$root/scripts/b2-oracle.py
blosc2=$("$root/scripts/reference.sh" blosc2)/python
bloscpack=$("$root/scripts/reference.sh" bloscpack)/python
bcolz=$("$root/scripts/reference.sh" bcolz)/python
zarr2=$("$root/scripts/reference.sh" zarr2)/python
zarr3=$("$root/scripts/reference.sh" zarr3)/python
hdf5=$("$root/scripts/reference.sh" hdf5plugin)/python
netcdf=$("$root/scripts/reference.sh" netcdf)/python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# ask PYTHON REQUEST...: sends a request to the oracle that runs in this Python, which starts at its
# first request; fails unless it answers `ok`.
declare -A requests answers
ask() {
    local python=$1 to from answer
    shift
    if [ -z "${requests[$python]:-}" ]; then
        mkfifo requests answers
        "$python" -W ignore "$oracle" < requests > answers &
        exec {to}> requests {from}< answers
        rm requests answers
        requests[$python]=$to answers[$python]=$from
    fi
    echo "$*" >&"${requests[$python]}"
    read -r answer <&"${answers[$python]}" || answer="no answer to: $*"
    if [ "$answer" != ok ]; then
        echo "$answer" >&2
        exit 1
    fi
}

# Prints the Python that has the tool of a format.
python_of() {
    case $1 in
        b2*|blosc2) echo "$blosc2" ;;
        blp|blosc1) echo "$bloscpack" ;;
        zarr2*) echo "$zarr2" ;;
        zarr*) echo "$zarr3" ;;
        *) echo "$bcolz" ;;
    esac
}

# Prints b2's options that select a format.
options_of() {
    case $1 in
        b2nd-dir) echo "--to b2nd --directory" ;;
        b2frame) echo "--to b2frame --raw" ;;
        b2frame-dir) echo "--to b2frame --directory --raw" ;;
        blosc1|blosc2) echo "--to $1 --raw" ;;
        zarr*) echo "--to ${1%%-*}" ;;
        *) echo "--to $1" ;;
    esac
}

# Prints b2's options for the layout of an array without a header.
layout_of() {
    if [ "$1" = raw ]; then
        "$bcolz" -c "import numpy, sys; a = numpy.load(sys.argv[1] + '.npy'); print('--from bin --dtype', str(a.dtype.descr if a.dtype.names else a.dtype.str).replace(' ', ''), '--shape', ','.join(map(str, a.shape)))" "$2"
    fi
}

"$bcolz" - << 'END'
import numpy as np

rng = np.random.default_rng(7)
np.save("ints.npy", np.arange(30_000, dtype="<i4").reshape(300, 100))
np.save("floats.npy", rng.normal(size=(7, 11, 13)))
np.save("texts.npy", np.array([b"a", b"bc", b"def"] * 500))
table = np.zeros(1000, dtype=[("id", "<i4"), ("price", "<f8"), ("name", "S5")])
table["id"], table["price"], table["name"] = np.arange(1000), rng.normal(size=1000), b"some"
np.save("table.npy", table)
END

arrays="b2nd b2nd-dir blp bcolz npy npz zarr2 zarr3"
sources="npz-deflated raw zarr2-zip zarr2-other zarr3-zip zarr3-other"
bytes="b2frame b2frame-dir blosc1 blosc2"
count=0
for array in ints floats texts table; do
    for from in $arrays $bytes $sources; do
        source=$array.$from
        case $from in
            npy) ;;
            *) ask "$(python_of "$from")" write "$from" "$source" "$array.npy" ;;
        esac
        targets=$bytes
        case " $arrays $sources " in *" $from "*) targets="$arrays $bytes" ;; esac
        # The layout of numbers without a header contradicts --raw.
        case $from in raw) targets=$arrays ;; esac
        for to in $targets; do
            # shellcheck disable=SC2046
            "$b2" --quiet convert "$source" "made.$to" $(options_of "$to") $(layout_of "$from" "$array")
            "$b2" verify "made.$to" > /dev/null
            ask "$(python_of "$to")" read "$to" "made.$to" "$array.npy"
            # zarr-python 3 reads both versions.
            case $to in zarr2) ask "$zarr3" read "$to" "made.$to" "$array.npy" ;; esac
            rm -r "made.$to"
            count=$((count + 1))
        done
    done
done
echo "   $count conversions of the original tools' files were read by the original tools"

"$hdf5" "$root/scripts/b2-hdf5-oracle.py" "$b2" "$netcdf" "$zarr3"

# b2 changes files of python-blosc2, and python-blosc2 compares the results with NumPy's.
ask "$blosc2" write b2nd first.b2nd ints.npy
ask "$blosc2" write b2nd-dir second.b2nd ints.npy
ask "$blosc2" write b2frame bytes.b2frame floats.npy
"$blosc2" - << 'END'
import numpy as np

ints, floats = np.load("ints.npy"), np.load("floats.npy")
np.save("append.npy", np.concatenate([ints, ints, ints]))
np.save("wide.npy", np.concatenate([ints, ints], axis=1))
np.save("stack.npy", np.stack([ints, ints], axis=1))
np.save("slice.npy", ints[250:3:-7, 20:90])
np.save("resize.npy", np.pad(ints, ((0, 20), (0, 7))))
np.save("bytes.npy", np.concatenate([floats, floats]))
END
changes=0
# Compares a file with a NumPy file.
compare() {
    "$b2" verify "$2" > /dev/null
    ask "$blosc2" read "$1" "$2" "$3"
    changes=$((changes + 1))
}
for kind in b2nd b2nd-dir; do
    name=first
    [ $kind = b2nd ] || name=second
    cp -r $name.b2nd work.b2nd
    "$b2" --quiet append work.b2nd ints.npy second.b2nd
    compare $kind work.b2nd append.npy
    "$b2" --quiet compact work.b2nd > /dev/null
    compare $kind work.b2nd append.npy
    "$b2" --quiet recompress work.b2nd --in-place -C lz4 --chunks 33,21 --blocks 11,7 > /dev/null
    compare $kind work.b2nd append.npy
    rm -r work.b2nd
    cp -r $name.b2nd work.b2nd
    "$b2" --quiet resize work.b2nd 320,107
    compare $kind work.b2nd resize.npy
    rm -r work.b2nd
done
"$b2" --quiet concat first.b2nd second.b2nd work.b2nd --axis 1
compare b2nd work.b2nd wide.npy
"$b2" --quiet concat first.b2nd second.b2nd work.b2nd --stack --axis 1 --force
compare b2nd work.b2nd stack.npy
"$b2" --quiet slice first.b2nd 250:3:-7,20:90 work.b2nd --force
compare b2nd work.b2nd slice.npy
"$b2" --quiet concat bytes.b2frame bytes.b2frame work.b2frame
compare b2frame work.b2frame bytes.npy
"$b2" --quiet append bytes.b2frame bytes.b2frame
compare b2frame bytes.b2frame bytes.npy
"$b2" --quiet recompress bytes.b2frame --in-place -C zlib --chunk-size 1K > /dev/null
compare b2frame bytes.b2frame bytes.npy
echo "   $changes files that b2 changed or joined were read by python-blosc2"
