#!/bin/bash
# Makes a source tarball that builds without a network; `make dist` runs it.
#
# usage: make-dist.sh DIRECTORY
#
# The tarball contains the files of the last commit in a directory named after the version, the
# sources of all crates in vendor/crates (from `cargo vendor`), and lines in .cargo/config.toml that
# select them. XZ_LEVEL is the level of xz; the default is 6. Prints the path of the tarball.
set -euo pipefail

cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=ferroblosc-$version
mkdir -p "$1"
folder=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

git diff --quiet HEAD || echo "uncommitted changes are not included" >&2
git archive --prefix="$name/" HEAD | tar -x -C "$work"
cd "$work/$name"
# `cargo vendor` prints the configuration only without --quiet.
cargo vendor --locked --versioned-dirs vendor/crates > "$work/config" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
cat "$work/config" >> .cargo/config.toml

# The tarball is reproducible: equal commits produce equal bytes.
date=$(git -C "$OLDPWD" log -1 --format=%ct)
tar -c --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$date" -C "$work" "$name" |
    xz -T0 "-${XZ_LEVEL:-6}" > "$folder/$name.tar.xz"
echo "$folder/$name.tar.xz"
