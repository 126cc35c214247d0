//! User-provided threads that replace the pool's.

use std::ptr;
use std::sync::Arc;

use super::panics::FirstPanic;
use super::sync::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, spin_loop};

/// Runs the library's jobs on the user's threads.
pub trait Backend: Send + Sync {
    /// Calls `job(i)` exactly once for each `i < njobs` and returns after all calls have returned.
    ///
    /// The calls may be made on any threads, also one after another on the calling thread. `job`
    /// does not panic.
    fn run(&self, njobs: usize, job: &(dyn Fn(usize) + Sync));
}

type Shared = Arc<dyn Backend>;

/// The current backend, or null.
static CURRENT: AtomicPtr<Shared> = AtomicPtr::new(ptr::null_mut());

/// The number of threads that are between loading `CURRENT` and cloning its target.
static READERS: AtomicUsize = AtomicUsize::new(0);

/// The number of times `set_backend` checks for readers of the old backend before it leaks it.
const READER_CHECKS: usize = 1000;

/// Sets the backend for all runs that begin from now on; `None` restores the internal threads.
///
/// Each run loads the backend again, so contexts do not store it. Runs in progress finish on the
/// backend on which they started. The old backend is dropped when its last run ends. It is leaked
/// if another thread is still cloning it after a short spin: in a forked child that thread may not
/// exist, so this function must not wait for it.
pub fn set_backend(backend: Option<Arc<dyn Backend>>) {
    let new = backend.map_or(ptr::null_mut(), |backend| Box::into_raw(Box::new(backend)));
    // SeqCst here, and for the accesses in `current` and below: if this thread sees no reader after
    // the swap, a later reader in the total order loads the new pointer.
    let old = CURRENT.swap(new, Ordering::SeqCst);
    if old.is_null() {
        return;
    }
    for _ in 0..READER_CHECKS {
        if READERS.load(Ordering::SeqCst) == 0 {
            // SAFETY: `old` came from `Box::into_raw`, only this swap removed it, and no thread is
            // still reading it.
            return drop(unsafe { Box::from_raw(old) });
        }
        spin_loop();
    }
}

/// Returns the backend for a run that begins now.
pub(super) fn current() -> Option<Shared> {
    // Relaxed: this first check keeps the usual case, no backend, free of shared writes. Setting a
    // backend in one thread and running in another without synchronisation has no defined order
    // anyway.
    if CURRENT.load(Ordering::Relaxed).is_null() {
        return None;
    }
    READERS.fetch_add(1, Ordering::SeqCst);
    let current = CURRENT.load(Ordering::SeqCst);
    // SAFETY: a non-null pointer came from `Box::into_raw` in `set_backend`, which does not free it
    // while this thread is counted as a reader.
    let backend = unsafe { current.as_ref() }.cloned();
    READERS.fetch_sub(1, Ordering::SeqCst);
    backend
}

/// Runs `job` on a backend. A panic of a share does not unwind through the backend, which may be C
/// code; it is resumed afterwards. If the backend makes no call, for example because its threads
/// have ended, the calling thread makes one, since results would be missing without an error.
pub(super) fn run_on(backend: &dyn Backend, njobs: usize, job: &(dyn Fn(usize) + Sync)) {
    let panics = FirstPanic::new();
    let is_called = AtomicBool::new(false);
    backend.run(njobs, &|index| {
        // Relaxed: the backend returns after all calls.
        is_called.store(true, Ordering::Relaxed);
        panics.guard(|| job(index));
    });
    if !is_called.load(Ordering::Relaxed) {
        job(0);
    }
    if let Some(payload) = panics.take() {
        std::panic::resume_unwind(payload);
    }
}
