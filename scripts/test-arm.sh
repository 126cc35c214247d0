#!/bin/sh
# Runs the kernel checks as an AArch64 program, natively or under qemu-user.
#
# Needs on another machine than AArch64: the Rust target, a cross linker with its C library, and
# qemu-user. What is missing is installed with rustup and, as root on Debian or Ubuntu, with apt.
# Everything is built below target/arm, so the native build is left alone.
set -eu
cd "$(dirname "$0")/.."

triple=aarch64-unknown-linux-gnu
prefix=aarch64-linux-gnu

if [ "$(uname -m)" != aarch64 ]; then
    scripts/need-rust.sh target "$triple" || { [ -n "${ALLOW_UNCHECKED:-}" ]; exit; }

    packages=
    command -v "$prefix-gcc" >/dev/null || packages="gcc-$prefix libc6-dev-arm64-cross"
    command -v qemu-aarch64 >/dev/null || packages="$packages qemu-user"
    if [ -n "$packages" ]; then
        # Word splitting is wanted: one word a package.
        # shellcheck disable=SC2086
        scripts/need.sh $packages
    fi

    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER="$prefix-gcc"
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/$prefix"
fi

exec cargo test --target "$triple" --target-dir target/arm -p ferroblosc --test arm "$@"
