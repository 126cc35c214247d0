//! Passing a panic from the thread where it happened to the caller of the run.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;

use super::sync::{AtomicPtr, Ordering};

/// The payload of a panic.
pub(super) type Payload = Box<dyn Any + Send>;

/// Storage for the first panic of a run. A pointer instead of a mutex, since the pool has no locks.
pub(super) struct FirstPanic {
    payload: AtomicPtr<Payload>,
}

impl FirstPanic {
    pub(super) fn new() -> FirstPanic {
        FirstPanic { payload: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Runs `share`; stores its panic if it is the first one.
    ///
    /// `AssertUnwindSafe` is sound because the caller sees the panic too, so its own unwind safety
    /// covers the job's data.
    pub(super) fn guard(&self, share: impl FnOnce()) {
        let Err(payload) = panic::catch_unwind(AssertUnwindSafe(share)) else {
            return;
        };
        let payload = Box::into_raw(Box::new(payload));
        // Release: the thread that loads the pointer sees the payload. The failure value is not
        // used, so Relaxed.
        let kept = self.payload.compare_exchange(
            ptr::null_mut(),
            payload,
            Ordering::Release,
            Ordering::Relaxed,
        );
        if kept.is_err() {
            // SAFETY: `payload` came from `Box::into_raw` above and was not published.
            drop(unsafe { Box::from_raw(payload) });
        }
    }

    /// Removes and returns the stored panic.
    pub(super) fn take(&self) -> Option<Payload> {
        // The common case is a null pointer: a plain load keeps the line shared. Relaxed, because
        // the caller has synchronised with the end of every share.
        if self.payload.load(Ordering::Relaxed).is_null() {
            return None;
        }
        // Acquire: pairs with the Release that published the payload.
        let payload = self.payload.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: a non-null pointer here came from `Box::into_raw`, and the swap made this thread
        // its only owner.
        (!payload.is_null()).then(|| *unsafe { Box::from_raw(payload) })
    }
}

impl Drop for FirstPanic {
    fn drop(&mut self) {
        drop(self.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_panic_is_kept_and_the_second_dropped() {
        let panics = FirstPanic::new();
        panics.guard(|| ());
        assert!(panics.take().is_none());
        panics.guard(|| panic::resume_unwind(Box::new("first")));
        panics.guard(|| panic::resume_unwind(Box::new("second")));
        assert_eq!(panics.take().unwrap().downcast_ref(), Some(&"first"));
        assert!(panics.take().is_none());
    }
}
