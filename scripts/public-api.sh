#!/bin/bash
# Lists the public items of the published libraries; `make public-api` runs it.
#
# usage: public-api.sh write|check
#
# The lists are in docs/public-api. They do not contain the interface for this repository (the
# feature `internals`), nor implementations of automatic and blanket traits.
set -euo pipefail
cd "$(dirname "$0")/.."

# The tool reads the JSON of one range of nightly toolchains only.
version=0.52.0
tool=target/tools/bin/cargo-public-api
scripts/need-rust.sh toolchain nightly
if ! "$tool" --version 2> /dev/null | grep -qF "$version"; then
    CARGO_TARGET_DIR=target/tools-build cargo install cargo-public-api --version "$version" \
        --root target/tools --locked --debug
fi

features=$(sed -n '/^\[features\]/,/^\[/s/^\([a-z0-9-]*\) = .*/\1/p' Cargo.toml |
    grep -vE '^(default|internals)$' | paste -sd ,)
mkdir -p target/public-api
list() {
    local package=$1
    shift
    "$tool" --package "$package" -sss "$@" > "target/public-api/$package.txt"
    [ "$(wc -l < "target/public-api/$package.txt")" -gt 100 ]
}
list ferroblosc --features "$features"
list ferroblosc-formats --features zarr

case ${1:-} in
write) mkdir -p docs/public-api && cp target/public-api/*.txt docs/public-api/ ;;
check)
    diff -ru docs/public-api target/public-api ||
        { echo "the public items changed: 'make public-api' writes the lists again" >&2; exit 1; }
    ;;
*) echo "usage: public-api.sh write|check" >&2 && exit 1 ;;
esac
