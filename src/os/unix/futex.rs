//! Waiting until a 32-bit word changes: the Linux futex.
//!
//! The kernel keeps the queue of waiting threads. There is no lock in our memory that a fork could
//! leave held, and waiting allocates nothing.

use std::ptr;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps while `word` holds `expected`. May return at any time, so the caller checks again.
pub(crate) fn wait(word: &AtomicU32, expected: u32) {
    // SAFETY: FUTEX_WAIT reads the four aligned bytes that `word` borrows for the whole call; the
    // null pointer means no time limit.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            ptr::null::<libc::timespec>(),
        );
    }
}

/// Sleeps like [`wait`], at most for the duration `limit`.
pub(crate) fn wait_for(word: &AtomicU32, expected: u32, limit: Duration) {
    let limit = libc::timespec { tv_sec: limit.as_secs() as _, tv_nsec: limit.subsec_nanos() as _ };
    // SAFETY: as in `wait`; `limit` outlives the call.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            &raw const limit,
        );
    }
}

/// Wakes one thread that sleeps on `word`, if there is one.
pub(crate) fn wake_one(word: &AtomicU32) {
    // SAFETY: FUTEX_WAKE uses the address as a key and does not access the memory.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            1,
        );
    }
}

/// Wakes all threads that sleep on `word`.
pub(crate) fn wake_all(word: &AtomicU32) {
    // SAFETY: as in `wake_one`.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            i32::MAX,
        );
    }
}
