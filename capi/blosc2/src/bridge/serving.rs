//! The super-chunks that the active callbacks of this thread belong to.
//!
//! A callback may call the library again, also for the super-chunk whose call runs it. Such a call
//! must not wait for the outer call, so it searches this list.

use crate::types::schunk::blosc2_schunk;
use ferroblosc::cancellation;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null;

thread_local! {
    /// The innermost callback of this thread, or NULL.
    static INNERMOST: Cell<*const Serving> = const { Cell::new(null()) };
}

/// An active callback.
struct Serving {
    /// The super-chunk of the context; NULL for a context without one.
    schunk: *mut blosc2_schunk,
    /// The next outer callback of this thread, or NULL.
    outer: *const Serving,
}

impl Drop for Serving {
    fn drop(&mut self) {
        INNERMOST.set(self.outer);
    }
}

/// Runs a callback of a context of `schunk`, which may be NULL. The callback may reach a
/// cancellation point.
pub fn run_callback<T>(schunk: *mut c_void, callback: impl FnOnce() -> T) -> T {
    let serving = Serving { schunk: schunk.cast(), outer: INNERMOST.get() };
    INNERMOST.set(&raw const serving);
    let _deferred = cancellation::defer();
    let result = callback();
    drop(serving);
    result
}

/// Whether this thread is inside a callback.
pub fn is_callback() -> bool {
    !INNERMOST.get().is_null()
}

/// Whether this thread is inside a callback of a context whose super-chunk `matches`. The
/// super-chunks are alive, or NULL.
pub fn any_callback(matches: impl Fn(*mut blosc2_schunk) -> bool) -> bool {
    let mut next = INNERMOST.get();
    // SAFETY: the entries belong to active callbacks of this thread, so they are alive.
    while let Some(serving) = unsafe { next.as_ref() } {
        if matches(serving.schunk) {
            return true;
        }
        next = serving.outer;
    }
    false
}
