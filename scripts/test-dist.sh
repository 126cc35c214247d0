#!/bin/bash
# Builds and tests a tarball of the sources in an empty folder, where Cargo has no network and no crates of its own.
#
# usage: test-dist.sh TARBALL [COMMAND...]
#
# COMMAND runs in the unpacked folder; it is `make test` unless something else is given, such as
# `cargo test --package ferroblosc --lib`. What make test compares with is installed over the network, the sources are not.
set -euo pipefail

tarball=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- make test
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tar -x -f "$tarball" -C "$work"
cd "$work"/*/
export CARGO_HOME=$work/cargo CARGO_NET_OFFLINE=true
unset CARGO_TARGET_DIR
cargo build --workspace --locked
target/debug/b2 --version
"$@"
echo "the tarball builds, and passes: $*"
