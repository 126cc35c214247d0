#!/bin/bash
# Measures the coverage of lines and branches by the tests, and prints a table:
# coverage.sh [PROGRAM...]
#
# Without arguments, the test programs of `make test` run, with the C libraries and the programs
# that they use. Arguments select some of them, such as `ferroblosc` for the unit tests of the core.
# The build is in target/coverage; coverage.info there has the counts in lcov's format. Processes
# that are killed or end without destructors are not counted. A test that fails does not end the
# measurement.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
llvm=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
# Both programs must have the LLVM version of rustc: from rustup, or from Debian.
tools=$(rustc --print sysroot)/lib/rustlib/$host/bin
if scripts/need-rust.sh component llvm-tools; then
    profdata=$tools/llvm-profdata cov=$tools/llvm-cov
else
    scripts/need.sh "llvm-$llvm"
    profdata=llvm-profdata-$llvm cov=llvm-cov-$llvm
fi

# The stable compiler counts branches only with RUSTC_BOOTSTRAP.
export RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$PWD/target/coverage
export RUSTFLAGS="-Cinstrument-coverage -Zcoverage-options=branch"
profiles=$CARGO_TARGET_DIR/profiles
rm -rf "$profiles"
mkdir -p "$profiles"
# The references, in this target directory, and what the tests need besides.
make test-needs
# Build scripts write profiles, too.
export LLVM_PROFILE_FILE=$CARGO_TARGET_DIR/ignored.profraw
# As in the Makefile.
cargo build --workspace --exclude 'ferroblosc-bench-*' --exclude ferroblosc-headers
# %m: the processes of one program add their counts to one file.
LLVM_PROFILE_FILE=$profiles/%m.profraw scripts/run-tests.py "$@" || failed=yes

$profdata merge --sparse --failure-mode=all "$profiles"/*.profraw -o "$profiles/all.profdata"
objects=()
while read -r object; do
    objects+=(--object "$object")
done < <(find "$CARGO_TARGET_DIR/debug" -maxdepth 2 -type f -perm -u+x \( -name '*.so' -o ! -name '*.*' \) ! -path '*/build/*')
$cov export --format=lcov --instr-profile="$profiles/all.profdata" "${objects[@]}" \
    --sources src formats/src capi hdf5 tools > "$CARGO_TARGET_DIR/coverage.info"
python3 scripts/coverage.py "$CARGO_TARGET_DIR/coverage.info"
[ -z "${failed:-}" ] || echo "some tests failed: their output is above"
