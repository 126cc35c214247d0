#!/bin/sh
# Prints the folder of the reference for libblosc.so.1 (C-Blosc 1.21 of Debian 12) and its
# dependencies, after fetching the packages into target/blosc1 if they are missing. Nothing is
# installed. FERROBLOSC_REFERENCE1 overrides it with another folder.
set -eu

PACKAGES='libblosc1 libsnappy1v5 liblz4-1 libzstd1 zlib1g'

if [ -n "${FERROBLOSC_REFERENCE1:-}" ]; then
    echo "$FERROBLOSC_REFERENCE1"
    exit 0
fi

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${CARGO_TARGET_DIR:-$root/target}/blosc1

if [ ! -e "$folder/libblosc.so.1" ]; then
    if ! command -v apt-get > /dev/null; then
        echo "reference-blosc1.sh: this needs Debian or Ubuntu, or FERROBLOSC_REFERENCE1" >&2
        exit 1
    fi
    rm -rf "$folder"
    mkdir -p "$folder/packages"
    cd "$folder/packages"
    # Silences apt's warning that a download as root is not sandboxed.
    # shellcheck disable=SC2086
    apt-get download $PACKAGES > /dev/null 2>&1 \
        || { apt-get update -qq && apt-get download $PACKAGES; } >&2
    for package in *.deb; do
        dpkg -x "$package" tree
    done
    find tree \( -name '*.so' -o -name '*.so.*' \) -exec mv {} "$folder" \;
    cd "$folder"
    rm -r packages
fi
echo "$folder"
