#!/bin/sh
# Installs a reference in the target folder if it is missing, and prints its path.
#
# usage: reference.sh NAME
#
# | NAME | content | the path is | or that in the variable |
# |---|---|---|---|
# | library | C-Blosc2 3.3.5, from the wheel of python-blosc2 | a library | FERROBLOSC_REFERENCE |
# | library-aarch64 | the same for Linux with aarch64 | a library | - |
# | blosc1 | C-Blosc 1.21 of Debian 12 and its dependencies | a folder | FERROBLOSC_REFERENCE1 |
# | blosc1-ARCH | the same for another architecture of Debian, with libstdc++ | a folder | - |
# | blosc2 | python-blosc2 4.14.1 | the folder of `python` | FERROBLOSC_BLOSC2 |
# | arrow | pyarrow 26.0.1 | as bcolz | FERROBLOSC_ARROW |
# | bloscpack | Bloscpack 0.16.0 | the folder of `blpk` and `python` | FERROBLOSC_BLOSCPACK |
# | bcolz | bcolz-zipline 1.13.0 | the folder of `python` | FERROBLOSC_BCOLZ |
# | hdf5plugin | other implementations of both HDF5 filters | as bcolz | FERROBLOSC_HDF5PLUGIN |
# | netcdf | netCDF-C 4.10.1 with its plugins, and numcodecs | as bcolz | FERROBLOSC_NETCDF |
# | zarr2 | zarr-python 2.18.7 | as bcolz | FERROBLOSC_ZARR2 |
# | zarr3 | zarr-python 3.1.3 | as bcolz | FERROBLOSC_ZARR3 |
set -eu

name=${1:-}
root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
folder=$target/$name
wheel=blosc2==4.14.1
case $name in
    library) folder=$target/venv path=${FERROBLOSC_REFERENCE:-} packages="--no-deps $wheel" ;;
    library-aarch64)
        path=
        packages="--no-deps --platform manylinux_2_28_aarch64 --only-binary=:all: --target $folder/site $wheel"
        ;;
    blosc1) path=${FERROBLOSC_REFERENCE1:-} packages='libblosc1 libsnappy1v5 liblz4-1 libzstd1 zlib1g' ;;
    blosc1-*) path= packages='libblosc1 libsnappy1v5 liblz4-1 libzstd1 zlib1g libstdc++6' ;;
    blosc2) path=${FERROBLOSC_BLOSC2:-} packages=$wheel ;;
    arrow) path=${FERROBLOSC_ARROW:-} packages='numpy pyarrow==26.0.1' ;;
    # Bloscpack imports setuptools, which newer Pythons' venvs lack.
    bloscpack) path=${FERROBLOSC_BLOSCPACK:-} packages='setuptools<81 numpy bloscpack==0.16.0 blosc==1.11.4' ;;
    bcolz) path=${FERROBLOSC_BCOLZ:-} packages='numpy bcolz-zipline==1.13.0' ;;
    # The newest h5py contains the newest HDF5.
    hdf5plugin) path=${FERROBLOSC_HDF5PLUGIN:-} packages="numpy h5py hdf5plugin==7.1.0 tables==3.11.1 pandas $wheel" ;;
    zarr2) path=${FERROBLOSC_ZARR2:-} packages='numpy zarr==2.18.7 numcodecs==0.15.1' ;;
    zarr3) path=${FERROBLOSC_ZARR3:-} packages='numpy zarr==3.1.3 numcodecs==0.16.5' ;;
    netcdf) path=${FERROBLOSC_NETCDF:-} packages='numpy netCDF4==1.7.5.1.post1 numcodecs==0.16.5' ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
if [ -n "$path" ]; then
    echo "$path"
    exit 0
fi

# Scripts that run at the same time wait for each other.
if command -v flock > /dev/null; then
    exec 9< "$0"
    flock 9
fi

# Installs the Python packages in a virtual environment. An existing environment is kept only if it
# contains the same packages.
install_packages() {
    if [ "$packages" = "$(cat "$folder/packages" 2> /dev/null)" ]; then
        return
    fi
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import venv, ensurepip' 2> /dev/null; then
            rm -rf "$folder"
            "$python" -m venv "$folder" >&2
            # shellcheck disable=SC2086
            "$folder/bin/pip" install --quiet --disable-pip-version-check $packages >&2
            if [ "$name" = bloscpack ]; then
                # Python 3.10 removed the aliases of the abstract classes in `collections`.
                sed -i 's/collections\.MutableMapping/collections.abc.MutableMapping/; s/^import collections$/import collections.abc/' \
                    "$folder"/lib/python3*/site-packages/bloscpack/abstract_objects.py
            fi
            echo "$packages" > "$folder/packages"
            return
        fi
    done
    echo "reference.sh: no Python 3 with venv found (Debian: apt-get install python3-venv)" >&2
    exit 1
}

# Downloads Debian packages and unpacks their libraries; nothing is installed.
download_libraries() {
    if [ -e "$folder/libblosc.so.1" ]; then
        return
    fi
    if ! command -v apt-get > /dev/null; then
        echo "reference.sh: this needs Debian or Ubuntu, or FERROBLOSC_REFERENCE1" >&2
        exit 1
    fi
    rm -rf "$folder"
    mkdir -p "$folder/packages"
    cd "$folder/packages"
    # The lists of another architecture are kept in this folder, so that the system does not change.
    options=
    if [ "$name" != blosc1 ]; then
        mkdir -p lists/partial cache
        architecture=${name#blosc1-}
        options="-o APT::Architecture=$architecture -o APT::Architectures=$architecture
            -o Dir::State::Lists=$PWD/lists -o Dir::Cache=$PWD/cache"
    fi
    # Silences apt's warning that a download as root is not sandboxed. If the lists of one repository
    # cannot be fetched, the packages may be in those of another one.
    # shellcheck disable=SC2086
    apt-get $options download $packages > /dev/null 2>&1 \
        || { apt-get $options update -qq || true; apt-get $options download $packages; } >&2
    for package in *.deb; do
        dpkg -x "$package" tree
    done
    find tree \( -name '*.so' -o -name '*.so.*' \) -exec mv {} "$folder" \;
    rm -r "$folder/packages"
}

case $name in
    library | library-*)
        install_packages
        library=$(find "$folder" -path '*/blosc2/lib/libblosc2.so')
        if [ -z "$library" ]; then
            # The next run installs the packages again.
            rm -f "$folder/packages"
            echo "reference.sh: $wheel contains no libblosc2.so" >&2
            exit 1
        fi
        echo "$library"
        ;;
    blosc1 | blosc1-*)
        download_libraries
        echo "$folder"
        ;;
    *)
        install_packages
        echo "$folder/bin"
        ;;
esac
