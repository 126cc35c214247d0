#!/bin/bash
# Packs the npm package, with the licences, as `npm publish` would; its modules must be built
# (packaging/npm/build.sh).
#
# usage: pack-npm.sh DIRECTORY
#
# Writes the tarball to DIRECTORY, and its content to node_modules/ferroblosc there. Prints the path
# of the tarball.
set -euo pipefail
folder=$(realpath -m "$1")
cd "$(dirname "$0")/.."

rm -rf "$folder"
mkdir -p "$folder/staging" "$folder/node_modules/ferroblosc"
files=(package.json README.md index.js index.d.ts blosc.js blosc.d.ts lib)
modules=(ferroblosc.wasm ferroblosc-frames.wasm)
(cd packaging/npm && cp -r "${files[@]}" "${modules[@]}" "$folder/staging")
cp LICENSE "$folder/staging"
python3 scripts/notice.py npm > "$folder/staging/NOTICE"
tarball=$(cd "$folder" && npm pack --silent ./staging)
tar -xzf "$folder/$tarball" -C "$folder/node_modules/ferroblosc" --strip-components=1
for file in "${files[@]}" "${modules[@]}" LICENSE NOTICE; do
    test -s "$folder/node_modules/ferroblosc/$file" || {
        echo "the package lacks $file" >&2
        exit 1
    }
done
rm -r "$folder/staging"
echo "$folder/$tarball"
