//! The number of forks, by which the state of a parent process is recognised in a child.

use super::sync::{AtomicUsize, Ordering};

static FORKS: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of forks between the first process that used the library and this one.
pub(super) fn count() -> usize {
    // Relaxed: the count changes only in a child that has a single thread.
    FORKS.load(Ordering::Relaxed)
}

/// Counts a fork. Called in the child on its only thread, before `fork` returns.
pub(super) fn increment() {
    // Relaxed: there are no other threads to order with.
    FORKS.fetch_add(1, Ordering::Relaxed);
}
