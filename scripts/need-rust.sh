#!/bin/bash
# Makes sure that a part of Rust is there: need-rust.sh toolchain VERSION | need-rust.sh target TRIPLE
#
# Fetches it with rustup when it is missing. Where rustup cannot get it, the check that needs it fails;
# with ALLOW_UNCHECKED set, as in CI on machines that reach nothing but package registries, the caller
# says so and goes on.
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
