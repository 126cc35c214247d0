#!/bin/sh
# Prints the directory of the measured data sets, after fetching them into target/real-data if they
# are missing: relief, ocean and climate in 4-byte floats, from Debian's package ferret-datasets.
# Nothing is installed.
set -eu

PACKAGE=ferret-datasets
FILES='etopo5.cdf levitus_climatology.cdf monthly_navy_winds.cdf coads_climatology.cdf ocean_atlas_subset.nc'

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
folder=$target/real-data

if [ ! -e "$folder" ]; then
    if ! command -v apt-get > /dev/null; then
        echo "real-data.sh: this needs Debian or Ubuntu" >&2
        exit 1
    fi
    work=$target/real-data-packages
    rm -rf "$work"
    mkdir -p "$work/files"
    cd "$work"
    # Silences apt's warning that a download as root is not sandboxed.
    apt-get download "$PACKAGE" > /dev/null 2>&1 || { apt-get update -qq && apt-get download "$PACKAGE"; } >&2
    dpkg -x ./*.deb tree
    for file in $FILES; do
        mv "tree/usr/share/ferret-vis/data/$file" files
    done
    mv files "$folder"
    cd "$root"
    rm -r "$work"
fi
echo "$folder"
