//! Workers that notice a second user.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of workers that exist.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The state of a thread.
pub(crate) struct Worker {
    is_used: bool,
}

impl Default for Worker {
    fn default() -> Worker {
        COUNT.fetch_add(1, Ordering::Relaxed);
        Worker { is_used: false }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        assert!(!self.is_used, "a used worker is freed");
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Worker {
    /// Fails if another thread uses the worker at the same time.
    pub(crate) fn use_alone(&mut self) {
        assert!(!std::mem::replace(&mut self.is_used, true), "two threads use a worker");
        shuttle::thread::yield_now();
        self.is_used = false;
    }

    pub(crate) fn trim(&mut self) -> bool {
        true
    }

    /// Some workers are too large to be kept.
    pub(crate) fn is_large(&self) -> bool {
        crate::pool::thread::chance(4)
    }
}

/// Returns the number of workers that exist.
pub(super) fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}

/// Sets the number of workers to 0.
pub(super) fn forget() {
    COUNT.store(0, Ordering::Relaxed);
}
