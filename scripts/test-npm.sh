#!/bin/bash
# Builds the npm package in packaging/npm and tests it in Node and in headless Chromium; `make
# test-npm` runs it.
#
# usage: test-npm.sh [speed]
#
# The formatting and the lints of the crate are checked first.
# python-blosc2 writes the files that the tests read. The class `Blosc` is compared with that of the
# package `numcodecs`, in both directions. Damaged copies of all files are read with a build in
# which an overflow is a trap (ROUNDS times for each, default 25). With `speed`, the script prints
# instead the speeds of both packages on the same data, and the sizes of the modules.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/need.sh nodejs python3-venv
# Debian has a package for it; that of NodeSource contains it.
command -v npm > /dev/null || scripts/need.sh npm
scripts/need.sh binaryen || echo "without binaryen the modules are larger" >&2
scripts/need-rust.sh target wasm32-unknown-unknown || { [ -n "${ALLOW_UNCHECKED:-}" ]; exit; }

package=packaging/npm
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/npm
export FERROBLOSC_FIXTURES=$target/fixtures FERROBLOSC_NPM_PEER=$target/peer

# Fixed versions of the package that is compared, of a library that uses it, and of programs.
peers='numcodecs@0.3.2 prettier@3.6.2 typescript@5.9.3 zarrita@0.7.5'
if [ "$peers" != "$(cat "$target/peer/packages" 2> /dev/null)" ]; then
    rm -rf "$target/peer"
    mkdir -p "$target/peer"
    echo '{ "private": true }' > "$target/peer/package.json"
    # shellcheck disable=SC2086
    npm install --prefix "$target/peer" --silent --no-audit --no-fund $peers
    echo "$peers" > "$target/peer/packages"
fi

if [ "${1:-}" = speed ]; then
    $package/build.sh
    node $package/test/speed.js
    exit
fi

python=$(scripts/reference.sh blosc2)/python
if [ $package/test/fixtures.py -nt "$target/fixtures/fixtures.json" ]; then
    rm -rf "$target/fixtures"
    "$python" $package/test/fixtures.py "$target/fixtures"
fi

(
    cd $package
    export CARGO_TARGET_DIR=$target/native
    cargo fmt --check
    for features in --all-features --no-default-features; do
        cargo clippy --quiet --locked --target wasm32-unknown-unknown $features -- -D warnings
    done
    cargo test --quiet --locked --lib
)
tests=("$package"/test/*.test.js)
$package/build.sh checked
ROUNDS=${ROUNDS:-25} node --test $package/test/hostile.test.js > "$target/hostile.log" || {
    cat "$target/hostile.log"
    exit 1
}
$package/build.sh
ROUNDS=3 node --test "${tests[@]}" > "$target/tests.log" || { cat "$target/tests.log"; exit 1; }
grep '^# \(tests\|pass\|fail\)' "$target/tests.log"

"$target/peer/node_modules/.bin/prettier" --log-level warn --check --tab-width 4 --print-width 100 \
    $package/{*.js,*.ts,lib/*.js,test/*.js,test/*.ts,test/*.html}

# The declarations are those of the modules, and the packed files are complete.
"$target/peer/node_modules/.bin/tsc" --noEmit --strict --skipLibCheck false --target es2022 \
    --module nodenext --lib es2022,dom,dom.iterable,dom.asynciterable,esnext.disposable \
    $package/test/types.ts
scripts/pack-npm.sh "$target/packed" > /dev/null
node --input-type=module - "$target/packed" << 'EOF'
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
const require = createRequire(pathToFileURL(`${process.argv[2]}/`));
for (const name of ["ferroblosc", "ferroblosc/blosc"]) {
  const { Blosc } = await import(pathToFileURL(require.resolve(name)));
  const data = new Uint8Array(1000).fill(5);
  const decoded = await new Blosc().decode(await new Blosc().encode(data));
  if (Buffer.compare(decoded, data) !== 0) throw new Error(`the packed ${name} does not work`);
}
EOF

if ! scripts/need.sh chromium && ! command -v chromium > /dev/null; then
    echo "NOT CHECKED: the npm package in Chromium, which cannot be installed here" >&2
    [ -n "${ALLOW_UNCHECKED:-}" ]
    exit
fi
node $package/test/browser.js chromium
