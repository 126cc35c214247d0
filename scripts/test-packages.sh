#!/bin/bash
# Packs each package that is published, and builds and tests the packed files in an empty directory;
# `make package` runs it.
#
# usage: test-packages.sh [PACKAGE...]
#
# PACKAGE selects the packages that are tested; the default is all. The others are compiled without
# their tests. Each packed package is tested alone: it uses the others as packed
# files too, since they may not be on crates.io, and no file of this project. The compiler's output
# is in target/packages.
set -euo pipefail
cd "$(dirname "$0")/.."

# The largest number of files in a package.
most=450
root=$PWD
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The name and version of each published package.
mapfile -t published < <(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        print(package["name"], package["version"])
')
[ ${#published[@]} -gt 5 ] || { echo "only ${#published[@]} packages are published" >&2; exit 1; }
names=("${published[@]% *}")
[ $# -gt 0 ] && selected=("$@") || selected=("${names[@]}")

rm -f "$CARGO_TARGET_DIR"/package/ferroblosc*.crate
cargo package --quiet --no-verify --allow-dirty "${names[@]/#/--package=}"

mkdir "$work/.cargo"
echo "[patch.crates-io]" > "$work/.cargo/config.toml"
for package in "${published[@]}"; do
    name=${package% *} folder=${package/ /-}
    tar -x -f "$CARGO_TARGET_DIR/package/$folder.crate" -C "$work"
    echo "$name = { path = \"$work/$folder\" }" >> "$work/.cargo/config.toml"
    files=$(find "$work/$folder" -type f | wc -l)
    echo "$folder: $files files, $(stat -c %s "$CARGO_TARGET_DIR/package/$folder.crate") bytes"
    [ "$files" -le "$most" ] || { echo "$folder has more than $most files" >&2; exit 1; }
    readme=$(sed -n 's/^readme = "\(.*\)"/\1/p' "$work/$folder/Cargo.toml")
    for file in LICENSE "${readme:-README.md}"; do
        [ -s "$work/$folder/$file" ] || { echo "$folder has no $file" >&2; exit 1; }
    done
    # Symbolic links were replaced by the files.
    [ -z "$(find "$work/$folder" -type l)" ] || { echo "$folder has links" >&2; exit 1; }
done

cd "$work"
# Without debug information the programs are linked faster.
export CARGO_TARGET_DIR=$CARGO_TARGET_DIR/packages CARGO_PROFILE_DEV_DEBUG=0
unset CARGO_MANIFEST_DIR
for package in "${published[@]}"; do
    name=${package% *} folder=${package/ /-}
    cd "$work/$folder"
    if [[ " ${selected[*]} " != *" $name "* ]]; then
        echo "$folder: compiled"
        cargo check --quiet --all-features
        continue
    fi
    echo "$folder: tests"
    tests=()
    case $name in
    ferroblosc)
        # The unit tests use no other files than those that are compiled: `make test` runs them.
        tests=(--test '*')
        cargo check --quiet --no-default-features
        # Tests that need the interface for this repository are not compiled.
        cargo check --quiet --all-targets
        ;;
    esac
    case $name in
    ferroblosc-b2 | ferroblosc-blpk)
        cargo install --quiet --debug --path . --root "$work/installed"
        "$work/installed/bin/${name#ferroblosc-}" --version
        ;;
    esac
    cargo test --quiet --all-features "${tests[@]}" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
    awk '/^test result/ { passed += $4 } END { print "passed: " passed + 0 }' "$work/log"
done

# A project of a user, in a directory without the other packages.
if [[ " ${selected[*]} " == *" ferroblosc "* ]]; then
    cp -r "$root/tests/consumers/crate" "$work/consumer"
    cd "$work/consumer"
    cargo run --quiet
fi
