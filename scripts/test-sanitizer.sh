#!/bin/bash
# Runs tests under sanitizers: test-sanitizer.sh address|thread
#
# address: AddressSanitizer and LeakSanitizer in Rust and C, and UndefinedBehaviorSanitizer in the C
# codecs. Runs the core's unit tests and the tests of the pool in forked children.
#
# thread: ThreadSanitizer, with a standard library that is compiled with it. Runs the same tests
# without the C codecs, except tests of one thread that are slow, and tests that fork while other
# threads run: the sanitizer's own locks may be held then, and the child waits for them forever.
#
# The builds are in target/asan and target/tsan. The stable compiler has the sanitizers, but allows
# them only with RUSTC_BOOTSTRAP. Missing Debian packages and Rust components are installed.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTC_BOOTSTRAP=1
tests=(--target "$host" --package ferroblosc --lib --test pool_fork)
# The development profile omits these checks of the core.
cargo=(cargo --config profile.dev.package.ferroblosc.debug-assertions=true)
# Tests request impossible amounts of memory, which must return NULL.
common=allocator_may_return_null=1

case ${1:?usage: test-sanitizer.sh address|thread} in
address)
    # The C code is instrumented by the LLVM version of rustc, whose runtime is linked.
    llvm=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
    scripts/need.sh "clang-$llvm"
    export CC=clang-$llvm CXX=clang++-$llvm
    export CARGO_TARGET_DIR=target/asan RUSTFLAGS="-Zsanitizer=address"
    # alignment: zlib reads two bytes at any address (UNALIGNED_OK). pointer-overflow: liblz4
    # computes pointers before the start of a buffer, compares them and does not follow them.
    export CFLAGS="-DUNALIGNED_OK -fsanitize=address,undefined -fno-sanitize=alignment,pointer-overflow -fno-sanitize-recover=all"
    export ASAN_OPTIONS=$common:detect_stack_use_after_return=1
    export LSAN_OPTIONS=suppressions=$PWD/scripts/lsan.supp:print_suppressions=0
    "${cargo[@]}" test --quiet "${tests[@]}"
    ;;
thread)
    scripts/need-rust.sh component rust-src || { [ -n "${ALLOW_UNCHECKED:-}" ]; exit; }
    export CARGO_TARGET_DIR=target/tsan RUSTFLAGS="-Zsanitizer=thread"
    # Children of the tests start threads. The tests with hostile data limit the address space,
    # which the sanitizer needs.
    export TSAN_OPTIONS=$common:die_after_fork=0
    "${cargo[@]}" test --quiet -Zbuild-std "${tests[@]}" --no-default-features --features mmap -- \
        --skip hostile_tests --skip kernels:: --skip codec:: \
        --skip forked_during_runs --skip forked_from_several_threads
    ;;
*)
    echo "usage: test-sanitizer.sh address|thread" >&2
    exit 2
    ;;
esac
