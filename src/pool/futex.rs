//! Sleeping until a 32-bit word changes: the Linux futex, in the form the pool needs.
//!
//! The kernel keeps the queue of sleepers, so there is no lock in our memory that a fork could leave
//! held, and nothing to allocate for a thread that sleeps.

use std::ptr;
use std::sync::atomic::AtomicU32;

/// Sleeps while `word` holds `expected`; may return at any time, so the caller looks again.
pub(super) fn wait(word: &AtomicU32, expected: u32) {
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

/// Wakes one thread that sleeps on `word`, if any does.
pub(super) fn wake_one(word: &AtomicU32) {
    // SAFETY: FUTEX_WAKE uses the address as the name of a queue and does not touch the memory.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            1,
        );
    }
}
