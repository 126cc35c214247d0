//! The types of loom instead of `src/pool/sync.rs`.

pub(crate) use loom::cell::Cell;
pub(crate) use loom::hint::spin_loop;
pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
pub(crate) use loom::sync::{Condvar, Mutex};

/// A word, and the threads that sleep on it.
pub(crate) struct AtomicU32 {
    word: loom::sync::atomic::AtomicU32,
    pub(super) queue: Mutex<()>,
    pub(super) woken: Condvar,
}

impl AtomicU32 {
    pub(crate) fn new(word: u32) -> AtomicU32 {
        let word = loom::sync::atomic::AtomicU32::new(word);
        AtomicU32 { word, queue: Mutex::new(()), woken: Condvar::new() }
    }
}

impl std::ops::Deref for AtomicU32 {
    type Target = loom::sync::atomic::AtomicU32;

    fn deref(&self) -> &Self::Target {
        &self.word
    }
}

/// A thread that waits sleeps at once: spinning only repeats a load.
pub(crate) struct Backoff;

impl Backoff {
    pub(crate) fn new() -> Backoff {
        Backoff
    }

    pub(crate) fn is_completed(&self) -> bool {
        true
    }

    pub(crate) fn snooze(&self) {}
}
