//! A user's threads instead of ours.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::panics::FirstPanic;

/// Runs the jobs of the library on threads of the user's own.
pub trait Backend: Send + Sync {
    /// Calls `job(i)` exactly once for each `i < njobs`, in any threads, even one after another in
    /// the calling one, and returns after all of them have returned. `job` does not panic.
    fn run(&self, njobs: usize, job: &(dyn Fn(usize) + Sync));
}

type Shared = Arc<dyn Backend>;

/// The backend in use, or null.
static CURRENT: AtomicPtr<Shared> = AtomicPtr::new(ptr::null_mut());

/// Threads between reading `CURRENT` and having cloned what it points to.
static READERS: AtomicUsize = AtomicUsize::new(0);

/// How often `set_backend` looks whether the old backend still has a reader before it leaks it.
const READER_CHECKS: usize = 1000;

/// Sets the backend for all runs that begin from now on; `None` goes back to the internal threads.
///
/// It is read anew at each run, so contexts need not know. Runs under way end where they began. The
/// old backend is dropped when its last run ends. (Should a thread be held up just when it
/// takes hold of the old backend, its few bytes are leaked rather than waited for: the thread may
/// not exist, in a forked child.)
pub fn set_backend(backend: Option<Arc<dyn Backend>>) {
    let new = backend.map_or(ptr::null_mut(), |backend| Box::into_raw(Box::new(backend)));
    // SeqCst here, and for the accesses in `current` and below: if we see no reader after the swap,
    // a reader that comes later in the single order of all of them reads the new pointer.
    let old = CURRENT.swap(new, Ordering::SeqCst);
    if old.is_null() {
        return;
    }
    for _ in 0..READER_CHECKS {
        if READERS.load(Ordering::SeqCst) == 0 {
            // SAFETY: `old` came from `Box::into_raw`, only this swap got it out, and nobody reads
            // it any more.
            return drop(unsafe { Box::from_raw(old) });
        }
        std::hint::spin_loop();
    }
}

/// The backend to use for a run that begins now.
pub(super) fn current() -> Option<Shared> {
    // Relaxed: a first look that keeps the usual case, no backend, free of shared writes. Setting a
    // backend in one thread and running in another without any synchronisation has no order anyway.
    if CURRENT.load(Ordering::Relaxed).is_null() {
        return None;
    }
    READERS.fetch_add(1, Ordering::SeqCst);
    let current = CURRENT.load(Ordering::SeqCst);
    // SAFETY: a non-null pointer came from `Box::into_raw` in `set_backend`, which does not free it
    // while we are counted as a reader.
    let backend = unsafe { current.as_ref() }.cloned();
    READERS.fetch_sub(1, Ordering::SeqCst);
    backend
}

/// Runs `job` on a backend, and carries a panic of a share past the backend's own code, which may be
/// C.
pub(super) fn run_on(backend: &dyn Backend, njobs: usize, job: &(dyn Fn(usize) + Sync)) {
    let panics = FirstPanic::new();
    backend.run(njobs, &|index| panics.guard(|| job(index)));
    if let Some(payload) = panics.take() {
        std::panic::resume_unwind(payload);
    }
}
