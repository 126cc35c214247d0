#!/bin/sh
# Runs the kernel checks as an AArch64 program, natively or under qemu-user.
#
# On other machines than AArch64 this needs the Rust target, a cross linker with its C library, and
# qemu-user. Missing ones are installed with rustup and, as root on Debian or Ubuntu, with apt. The
# build is in target/arm, so the native build is unchanged.
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
        # Word splitting is intended: $packages is a list.
        # shellcheck disable=SC2086
        scripts/need.sh $packages
    fi

    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER="$prefix-gcc"
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/$prefix"
fi

exec cargo test --target "$triple" --target-dir target/arm -p ferroblosc --test arm "$@"
