#!/bin/sh
# Runs each fuzz target on the stable compiler: scripts/fuzz-smoke.sh SECONDS [TARGET...]
#
# The build is that of `cargo fuzz run --sanitizer none TARGET`, for machines without cargo-fuzz:
# libFuzzer with coverage, and guard pages instead of a sanitizer. FUZZ_SANITIZER=address builds the
# Rust code and the C codecs with AddressSanitizer, and the codecs with UndefinedBehaviorSanitizer.
#
# Starts from fuzz/seeds* and the fuzz/corpus of earlier runs. FUZZ_SEED seeds the mutations, so
# that equal seeds try the same inputs for as long as both runs last. FUZZ_JOBS targets run at a
# time; the default is the number of processors, or one with a sanitizer, which needs more memory. A
# finding ends the script; its input is in fuzz/artifacts. FUZZ_TESTS=yes runs the tests of the
# seeds before, in the same build.
set -eu

seconds=${1:?usage: fuzz-smoke.sh SECONDS [TARGET...]}
shift
[ $# -gt 0 ] || set -- decompress getitem vldecompress header blosc1 lz4 zlib zstd blpk bcolz \
    frame_buffer frame_file frame_change journal array ndlz zfp cells store table condition zarr hdf5 \
    calls convert sparse

cd "$(dirname "$0")/../fuzz"
host=$(rustc -vV | sed -n 's/^host: //p')

# With --target, these flags apply to libraries and targets, but not to build scripts and macros.
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
memory=1024
jobs=${FUZZ_JOBS:-$(nproc)}
if [ "${FUZZ_SANITIZER:-}" = address ]; then
    # As in test-sanitizer.sh, which explains the flags.
    llvm=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
    ../scripts/need.sh "clang-$llvm"
    export CC="clang-$llvm" CXX="clang++-$llvm" RUSTC_BOOTSTRAP=1
    export CFLAGS="-DUNALIGNED_OK -fsanitize=address,undefined -fno-sanitize=alignment,pointer-overflow -fno-sanitize-recover=all"
    export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/address"
    # A quarter of the usual quarantine for freed memory, to leave memory for the target.
    export ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1:quarantine_size_mb=64
    export LSAN_OPTIONS="suppressions=$PWD/../scripts/lsan.supp:print_suppressions=0"
    coverage="$coverage -Zsanitizer=address"
    memory=3072
    jobs=${FUZZ_JOBS:-1}
fi
export RUSTFLAGS="$(echo $coverage)"
cargo build --release --bins --target "$host"
if [ -n "${FUZZ_TESTS:-}" ]; then
    cargo test --quiet --release --tests --target "$host"
fi

binaries=${CARGO_TARGET_DIR:-target}/$host/release
export seconds memory binaries
# Fails if one of the targets fails; those that run then end first.
printf '%s\n' "$@" | xargs -P "$jobs" -n 1 sh -euc '
    target=$0
    mkdir -p "corpus/$target" "artifacts/$target"
    # Targets with input other than chunks have their own seeds.
    seeds=seeds-${target%%_*}
    [ -d "$seeds" ] || seeds=seeds
    log=artifacts/$target/log
    "$binaries/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb="$memory" -max_len=4096 \
        -seed="${FUZZ_SEED:-0}" -print_final_stats=1 -artifact_prefix="artifacts/$target/" \
        "corpus/$target" "$seeds" > "$log" 2>&1 || true
    {
        echo "== $target, $seconds s"
        grep -E "Done|ERROR|panicked|stat::(number|average|new|peak)" "$log" || true
        # The status ends xargs.
        grep -q "^Done" "$log" || { tail -30 "$log"; exit 255; }
    }'
