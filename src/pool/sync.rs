//! The types by which the lock-free code shares memory and waits.
//!
//! The package `tests/models` compiles the same sources with types of model checkers instead of
//! this file.

pub(crate) use std::cell::Cell;
pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
pub(crate) use std::sync::{Mutex, MutexGuard};
pub(crate) use std::thread::yield_now;
pub(crate) use std::time::Instant;

pub(crate) use crossbeam_utils::Backoff;

/// Returns the number of the calling thread: the number of threads that called this before.
pub(crate) fn thread_number() -> usize {
    static CALLERS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static NUMBER: usize = CALLERS.fetch_add(1, Ordering::Relaxed));
    NUMBER.with(|&number| number)
}
