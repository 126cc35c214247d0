#!/bin/bash
# Builds and tests a source tarball in an empty directory, with Cargo offline and without its cache.
#
# usage: test-dist.sh TARBALL [COMMAND...]
#
# COMMAND runs in the unpacked directory; the default is `make test`. The crates are those in the
# tarball; `make test` installs the reference libraries over the network.
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
# Runs the build scripts, which compile the C sources, and needs all crates and sources.
cargo check --workspace --locked
"$@"
echo "the tarball builds, and passes: $*"
