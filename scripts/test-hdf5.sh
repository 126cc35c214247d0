#!/bin/bash
# Uses the HDF5 filter plugins in real programs; `make test-hdf5` runs it.
#
# usage: test-hdf5.sh BUILD
#
# BUILD is cargo's output directory. Missing variants of HDF5 are installed: Debian's (serial, Open
# MPI, MPICH; shared and static), and the newest of the Python Package Index, which is part of
# h5py's wheel. The other implementations are Debian's plugin for 32001, and hdf5plugin and PyTables
# for both filters. Each reads files written by ours and the reverse.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "$1")
tests=$root/hdf5/tests examples=$root/hdf5/examples
work=${CARGO_TARGET_DIR:-$root/target}/hdf5
multiarch=$(uname -m)-linux-gnu
debian=/usr/lib/$multiarch/hdf5/serial/plugins

"$root/scripts/need.sh" gcc gfortran libhdf5-dev hdf5-tools hdf5-filter-plugin-blosc-serial python3-h5py python3-venv \
    libhdf5-openmpi-dev openmpi-bin libhdf5-mpich-dev mpich python3-h5py-mpi python3-mpi4py libnetcdf-dev netcdf-bin
wheel=$("$root/scripts/reference.sh" hdf5plugin)/python
system=/usr/bin/python3

rm -rf "$work"
ours=$work/plugin
mkdir -p "$ours"
cp "$build/libH5Zblosc.so" "$build/libH5Zblosc2.so" "$ours"
cd "$work"
# BLOSC_* variables of the caller must not affect the tests.
unset "${!BLOSC_@}" HDF5_PLUGIN_PATH
export PYTHONDONTWRITEBYTECODE=1

# shown START: writes the code block of docs/hdf5.md that begins with START to the file shown, with
# the path of our plugins instead of the installed ones.
shown() {
    awk -v start="$1" '/^```/ { inside = !inside; first = inside; wanted = 0; next }
        first { wanted = index($0, start) == 1; first = 0 }
        wanted' "$root/docs/hdf5.md" | sed "s:/usr/local/lib/hdf5/plugin:$ours:" > shown
    [ -s shown ]
}

# cells DESCRIPTION PYTHON write|read PLUGIN FILE [FILTER...]: writes or reads a file of datasets.
cells() {
    echo "   $1: $3"
    "$2" "$tests/cells.py" "${@:3}"
}

echo "== Datasets of all codecs, filters, ranks and types, between plugins"
cells "ours, wheel of h5py" "$wheel" write "$ours" ours-wheel.h5
cells "ours, Debian's h5py" "$system" write "$ours" ours-system.h5
cells "ours, 32001 alone" "$system" write "$ours" ours-32001.h5 32001
cells "hdf5plugin" "$wheel" write hdf5plugin theirs.h5
cells "Debian's plugin" "$system" write "$debian" debian.h5 32001
for file in ours-wheel ours-system; do
    cells "$file.h5 by hdf5plugin" "$wheel" read hdf5plugin "$file.h5"
done
cells "ours-32001.h5 by Debian's plugin" "$system" read "$debian" ours-32001.h5
for file in theirs debian ours-wheel ours-system; do
    cells "$file.h5 by ours, wheel of h5py" "$wheel" read "$ours" "$file.h5"
    cells "$file.h5 by ours, Debian's h5py" "$system" read "$ours" "$file.h5"
done
echo "   ours with 4 threads"
BLOSC_NTHREADS=4 "$wheel" "$tests/cells.py" write "$ours" threads.h5
BLOSC_NTHREADS=4 "$wheel" "$tests/cells.py" read "$ours" theirs.h5
cells "threads.h5 by hdf5plugin" "$wheel" read hdf5plugin threads.h5

echo "== Mandatory filters, and invalid parameters"
"$wheel" "$tests/mandatory.py" write "$ours" mandatory.h5
"$system" "$tests/mandatory.py" write "$ours" mandatory_system.h5 32001
"$system" "$tests/mandatory.py" read "$debian" mandatory_system.h5
for plugin in "$ours" hdf5plugin; do
    "$wheel" "$tests/mandatory.py" read "$plugin" mandatory.h5
done

echo "== Direct chunk reads and writes, and python-blosc2"
"$wheel" "$tests/direct.py" "$ours" direct.h5
for pair in "32001 not a Blosc chunk" "32026 cannot read a chunk"; do
    # The read fails, and h5dump's error stack names the reason.
    { HDF5_PLUGIN_PATH=$ours h5dump --enable-error-stack -d "broken-${pair%% *}" direct.h5.broken 2>&1 || true; } > stack
    grep -q "${pair#* }" stack || { cat stack; exit 1; }
done
echo "   HDF5's error stack explains broken chunks"

echo "== PyTables, which contains the filters and reads frames directly"
"$wheel" "$tests/pytables.py" write tables.h5
for python in "$wheel" "$system"; do
    "$python" "$tests/pytables.py" read "$ours" tables.h5
    "$wheel" "$tests/pytables.py" check tables.h5.ours
done
for filter in NONE UD=32001,0,7,0,0,0,0,5,1,1 UD=32026,0,7,0,0,0,0,5,1,5; do
    HDF5_PLUGIN_PATH=$ours h5repack -f "$filter" tables.h5 repacked.h5
    "$wheel" "$tests/pytables.py" packed repacked.h5
    HDF5_PLUGIN_PATH=$ours h5repack -f "$filter" tables.h5.pandas repacked.pandas
    "$wheel" -c 'import pandas; assert len(pandas.read_hdf("repacked.pandas", "frame")) == 1500'
done

echo "== netCDF-C on Zarr arrays, with its own plugins and with ours alone"
netcdf=$("$root/scripts/reference.sh" netcdf)/python
"$netcdf" "$tests/nczarr.py" write theirs.zarr
HDF5_PLUGIN_PATH=$ours "$netcdf" "$tests/nczarr.py" read theirs.zarr
HDF5_PLUGIN_PATH=$ours "$netcdf" "$tests/nczarr.py" write ours.zarr
HDF5_PLUGIN_PATH=$ours "$netcdf" "$tests/nczarr.py" read ours.zarr
"$netcdf" "$tests/nczarr.py" read ours.zarr
# Debian's netCDF-C 4.9.0 is built without Zarr codecs: it drops all filters, even with the wheel's
# plugins. It supports the filter in HDF5 files.
gcc -O1 "$tests/netcdf.c" -lnetcdf -o netcdf
plugins=$("$netcdf" -c 'import netCDF4, os; print(os.path.join(os.path.dirname(netCDF4.__file__), "plugins"))')
for folder in "$ours" "$plugins"; do
    rm -rf debian.zarr
    HDF5_PLUGIN_PATH=$folder ./netcdf "file://$PWD/debian.zarr#mode=zarr,file"
    grep -q '"compressor": null' debian.zarr/v/.zarray
done
HDF5_PLUGIN_PATH=$ours ./netcdf netcdf.h5
h5dump -pH netcdf.h5 | grep -q "FILTER_ID 32001"
HDF5_PLUGIN_PATH=$debian ncdump -v v netcdf.h5 | grep -q '998, 999 ;'
echo "   Debian's netCDF-C has the filter for HDF5 files, but not for Zarr arrays"

echo "== The tests of hdf5plugin with our plugins instead of its own"
package=$("$wheel" -c 'import hdf5plugin, os; print(os.path.dirname(hdf5plugin.__file__))')
cp -r "$package" hdf5plugin
cp "$ours/libH5Zblosc.so" hdf5plugin/plugins/libh5blosc.so
cp "$ours/libH5Zblosc2.so" hdf5plugin/plugins/libh5blosc2.so
PYTHONPATH=$work "$wheel" -c "import hdf5plugin; assert hdf5plugin.PLUGIN_PATH == '$work/hdf5plugin/plugins'"
PYTHONPATH=$work "$wheel" -m hdf5plugin.test > suite 2>&1 || { cat suite; exit 1; }
grep -E '^(Ran|OK)' suite | sed 's/^/   /'

echo "== h5repack with the filters, in both directions"
plain=plain.h5
"$system" - "$plain" << 'END'
import sys, h5py, numpy
with h5py.File(sys.argv[1], "w") as file:
    file.create_dataset("field", data=(1000 * numpy.sin(numpy.arange(256 * 256) / 300)).astype("i4").reshape(256, 256),
                        chunks=(64, 64))
END
# repack WRITER READER FILTER-PARAMETERS: packs with the plugins in WRITER, unpacks with those in
# READER.
count=0
repack() {
    rm -f packed.h5 again.h5
    HDF5_PLUGIN_PATH=$1 h5repack -f "field:UD=$3" "$plain" packed.h5
    [ "$(stat -c %s packed.h5)" -lt "$(stat -c %s "$plain")" ]
    HDF5_PLUGIN_PATH=$2 h5repack -f "field:NONE" packed.h5 again.h5
    h5diff "$plain" again.h5
    count=$((count + 1))
}
for codec in 0 1 2 3 4 5; do
    for shuffle in 0 1 2; do
        repack "$ours" "$debian" "32001,1,7,0,0,0,0,5,$shuffle,$codec"
        repack "$debian" "$ours" "32001,1,7,0,0,0,0,5,$shuffle,$codec"
        if [ "$codec" != 3 ]; then
            repack "$ours" "$package/plugins" "32026,1,7,0,0,0,0,5,$shuffle,$codec"
            repack "$package/plugins" "$ours" "32026,1,7,0,0,0,0,5,$shuffle,$codec"
        fi
    done
done
echo "   $count files packed with one plugin and unpacked with another"

echo "== The commands and the program of docs/hdf5.md"
mkdir documented
cp "$plain" documented/in.h5
shown "export HDF5_PLUGIN_PATH"
(cd documented && bash -euo pipefail ../shown > log && grep -q "FILTER_ID 32026" log && HDF5_PLUGIN_PATH=$ours h5diff in.h5 out.h5)
shown "import h5py"
for python in "$wheel" "$system"; do
    (cd documented && HDF5_PLUGIN_PATH=$ours "$python" ../shown)
done
echo "   they work"

echo "== C and Fortran programs with HDF5 linked in different ways"
# Debian's h5cc may be that of an MPI variant, so its flags are listed here.
include=/usr/include/hdf5/serial library=/usr/lib/$multiarch/hdf5/serial
gcc -O1 -Wall -Wextra -Werror "$tests/program.c" -I"$include" -L"$library" -lhdf5 -o shared
archive=("$library/libhdf5.a" -lcrypto -lcurl -lpthread -lsz -lz -ldl -lm)
gcc -O1 "$tests/program.c" -I"$include" "${archive[@]}" -rdynamic -o static-shown
gcc -O1 "$tests/program.c" -I"$include" "${archive[@]}" -o static-hidden
for program in shared static-shown static-hidden; do
    echo "   $program"
    HDF5_PLUGIN_PATH=$ours "./$program" write "$program.h5"
    HDF5_PLUGIN_PATH=$ours ./static-hidden read "$program.h5"
    HDF5_PLUGIN_PATH=$ours "./$program" read shared.h5
done
# The filter has the parameters that the program set, and other plugins read the data.
h5dump -pH static-hidden.h5 | grep -q "PARAMS { 0 0 0 0 5 1 5 }"
"$wheel" -c '
import h5py, hdf5plugin, numpy
row, column = numpy.mgrid[0:300, 0:200]
with h5py.File("static-hidden.h5") as file:
    for name in ("blosc", "blosc2"):
        assert (file[name][...] == row * 0.5 + column).all()
print("   … and read by hdf5plugin")'
HDF5_PLUGIN_PATH=$debian h5dump -d blosc static-hidden.h5 > /dev/null
gfortran -O1 "$tests/program.f90" -I"$include" -L"$library" -lhdf5_fortran -lhdf5 -o fortran
HDF5_PLUGIN_PATH=$ours ./fortran fortran.h5
"$wheel" -c '
import h5py, hdf5plugin, numpy
row, column = numpy.mgrid[1:1001, 1:101]
with h5py.File("fortran.h5") as file:
    for name in file:
        assert (file[name][...] == (row * 0.5 + column).T).all()
print("   … and read by hdf5plugin")'

echo "== Three processes with MPI"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# parallel FLAVOUR FILE PROGRAM...: runs a program in three processes for both filters.
parallel() {
    local flavour=$1 file=$2 number options=()
    shift 2
    # Allows more processes than cores.
    [ "$flavour" != openmpi ] || options=(--oversubscribe)
    for number in 32001 32026; do
        echo "   $flavour, $*"
        HDF5_PLUGIN_PATH=$ours timeout 120 "mpirun.$flavour" "${options[@]}" -np 3 "$@" "$file-$number.h5" $number |
            sed 's/^/   /'
    done
}
# The documented commands, except for the installation of packages, on any architecture.
ln -s "$root/hdf5" documented/hdf5
shown "apt-get install"
sed -i -e '/^apt-get/d' -e "s:x86_64-linux-gnu:$multiarch:" shown
(cd documented && timeout 240 bash -euo pipefail ../shown) | sed 's/^/   /'
for flavour in openmpi mpich; do
    "mpicc.$flavour" -O1 -Wall -Wextra -Werror "$examples/parallel.c" -I"/usr/include/hdf5/$flavour" \
        -L"/usr/lib/$multiarch/hdf5/$flavour" -lhdf5 -o "parallel-$flavour"
    parallel "$flavour" "c-$flavour" "./parallel-$flavour"
done
# Debian's h5py for MPI uses Open MPI.
parallel openmpi python "$system" "$examples/parallel.py"
HDF5_PLUGIN_PATH=$ours timeout 120 mpirun.openmpi --oversubscribe -np 3 "$system" "$tests/shared_chunks.py" write shared-chunks.h5
for reader in "$wheel $ours" "$wheel hdf5plugin" "$system $ours"; do
    # Word splitting is intended: the interpreter and the script's argument.
    # shellcheck disable=SC2086
    set -- $reader
    "$1" "$tests/shared_chunks.py" read "$2" shared-chunks.h5
done
cat > serial.py << 'END'
import os, sys
if len(sys.argv) > 1:
    os.environ["HDF5_PLUGIN_PATH"] = sys.argv[1]
import glob, h5py, numpy
if len(sys.argv) == 1:
    import hdf5plugin
row, column = numpy.mgrid[0:150, 0:1000]
files = [name for name in glob.glob("*-32*.h5") if not name.startswith("ours")]
assert len(files) == 6
for name in files:
    with h5py.File(name) as file:
        assert (file["temperatures"][...] == row * 10 + column // 7 * 3).all(), name
print(f"   {len(files)} files read by serial HDF5 {h5py.version.hdf5_version}")
END
"$wheel" serial.py
"$wheel" serial.py "$ours"
"$system" serial.py "$ours"

echo "All programs work with the filter plugins."
