#!/bin/bash
# Installs a Rust toolchain or target: need-rust.sh toolchain VERSION | need-rust.sh target TRIPLE
#
# Installs a missing toolchain or target with rustup. If rustup can't fetch it, the script prints
# NOT CHECKED and fails. The checks that need it then fail, too, unless ALLOW_UNCHECKED is set, for
# machines that reach only package registries.
set -euo pipefail

kind=$1 name=$2
case $kind in
toolchain)
    rustup toolchain list | grep -q "^$name" && exit 0
    rustup toolchain install "$name" --profile minimal && exit 0
    ;;
target)
    rustup target list --installed | grep -qx "$name" && exit 0
    rustup target add "$name" && exit 0
    ;;
esac
echo "NOT CHECKED: rustup cannot get the $kind $name here" >&2
exit 1
