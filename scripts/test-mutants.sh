#!/bin/bash
# Changes the code of chunks, frames, arrays and journals in one place at a time, and counts the
# changes that no test of the core notices: test-mutants.sh [SHARD]
#
# SHARD is a part of the 6,700 changes: 0/150, the default, is each 150th from the first on. On two
# cores a change takes about a minute. The list of those that were not noticed is in
# target/mutants/mutants.out/missed.txt. Some changes have no effect, such as a larger buffer.
set -euo pipefail
cd "$(dirname "$0")/.."

shard=${1:-0/150}
version=27.1.0
tool=$PWD/target/tools/bin/cargo-mutants
if ! "$tool" mutants --version 2> /dev/null | grep -qF "$version"; then
    CARGO_TARGET_DIR=target/tools-build cargo install cargo-mutants --version "$version" \
        --root target/tools --locked --debug
fi

mkdir -p target/mutants
# The copy of the sources that is changed uses the dependencies that an earlier run compiled.
export CARGO_TARGET_DIR=$PWD/target/mutants/build CARGO_INCREMENTAL=1 CARGO_PROFILE_DEV_DEBUG=0
# The programs that notice the most changes without another library, the fastest first. These are
# arguments of each call of cargo, so that no other program is built.
tests=(--cargo-arg=--lib)
for name in checksums faults schunk_model b2nd_model rows; do
    tests+=(--cargo-arg=--test --cargo-arg="$name")
done
"$tool" mutants --package ferroblosc --features internals \
    --file 'src/chunk/**' --file 'src/frame/**' --file 'src/b2nd/**' --file 'src/io/journal/**' \
    --shard "$shard" --sharding round-robin --timeout 300 --colors never --output target/mutants \
    "${tests[@]}"
