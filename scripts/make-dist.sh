#!/bin/bash
# Makes a tarball of the sources that builds without a network; `make dist` calls it.
#
# usage: make-dist.sh FOLDER
#
# In it are the files of the last commit, below a folder with the version; the sources of all crates in vendor/crates, as
# `cargo vendor` puts them there; and lines in .cargo/config.toml that have Cargo take them. Prints the name of the tarball.
set -euo pipefail

cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=ferroblosc-$version
mkdir -p "$1"
folder=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

git diff --quiet HEAD || echo "what is not committed is left out" >&2
git archive --prefix="$name/" HEAD | tar -x -C "$work"
cd "$work/$name"
# It prints the configuration only when it is not quiet.
cargo vendor --locked --versioned-dirs vendor/crates > "$work/config" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
cat "$work/config" >> .cargo/config.toml

# The same commit gives the same bytes.
date=$(git -C "$OLDPWD" log -1 --format=%ct)
tar -c --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$date" -C "$work" "$name" |
    xz -T0 -6 > "$folder/$name.tar.xz"
echo "$folder/$name.tar.xz"
