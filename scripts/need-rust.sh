#!/bin/bash
# Installs a Rust toolchain, target or component: need-rust.sh toolchain VERSION
#     | need-rust.sh target TRIPLE | need-rust.sh component NAME [TOOLCHAIN]
#
# Installs what is missing with rustup. If rustup cannot fetch it, the script prints
# NOT CHECKED and fails. The checks that need it then fail, too, unless ALLOW_UNCHECKED is set, for
# machines that reach only package registries.
set -euo pipefail

kind=$1 name=$2
# Scripts that run at the same time wait for each other.
if command -v flock > /dev/null; then
    exec 9< "$0"
    flock 9
fi
case $kind in
toolchain)
    rustup toolchain list | grep -q "^$name" && exit 0
    rustup toolchain install "$name" --profile minimal && exit 0
    ;;
target)
    rustup target list --installed | grep -qx "$name" && exit 0
    rustup target add "$name" && exit 0
    ;;
component)
    toolchain=(${3:+--toolchain "$3"})
    rustup component list --installed "${toolchain[@]}" | grep -q "^$name" && exit 0
    rustup component add "$name" "${toolchain[@]}" && exit 0
    ;;
esac
echo "NOT CHECKED: rustup cannot get the $kind $name here" >&2
exit 1
