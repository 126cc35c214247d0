//! The super-chunks that the active calls and callbacks of this thread belong to.
//!
//! A callback may call the library again, also for the super-chunk whose call runs it. Such a call
//! must not wait for the outer call, so it searches these lists.

use crate::types::schunk::blosc2_schunk;
use ferroblosc::cancellation;
use std::cell::Cell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::{null, null_mut};

/// The maximum number of super-chunks that the calls of one thread use at the same time, including
/// the calls of callbacks.
const MAX_USED: usize = 32;

thread_local! {
    /// The innermost callback of this thread, or NULL.
    static INNERMOST: Cell<*const ActiveCallback> = const { Cell::new(null()) };
    static USED: Used = const {
        Used {
            schunks: [const { Cell::new(null_mut()) }; MAX_USED],
            count: Cell::new(0),
            outside_io: Cell::new(0),
        }
    };
}

/// The super-chunks that calls of this thread have entered, the oldest first.
struct Used {
    schunks: [Cell<*mut blosc2_schunk>; MAX_USED],
    count: Cell<usize>,
    /// The number of super-chunks that were entered before the innermost active callback of an I/O
    /// backend.
    outside_io: Cell<usize>,
}

/// Records that a call of this thread has entered a super-chunk, until it is dropped.
pub struct Use {
    schunk: *mut blosc2_schunk,
    /// Makes the record `!Send`, since it belongs to this thread.
    of_thread: PhantomData<*const ()>,
}

impl Use {
    /// Returns `None` if the thread uses too many super-chunks.
    pub fn new(schunk: *mut blosc2_schunk) -> Option<Use> {
        USED.with(|used| {
            let count = used.count.get();
            used.schunks.get(count)?.set(schunk);
            used.count.set(count + 1);
            Some(Use { schunk, of_thread: PhantomData })
        })
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        USED.with(|used| {
            // The last one, except where a call leaves two super-chunks in the same order.
            let count = used.count.get();
            let schunks = &used.schunks[..count];
            let at = schunks.iter().rposition(|entered| entered.get() == self.schunk);
            if let Some(at) = at {
                schunks[at..].windows(2).for_each(|pair| pair[0].set(pair[1].get()));
                used.count.set(count - 1);
            }
        });
    }
}

/// An active callback.
struct ActiveCallback {
    /// The super-chunk of the context; NULL for a context without one.
    schunk: *mut blosc2_schunk,
    /// The address of the I/O backend; 0 for other callbacks.
    backend: usize,
    /// The value of [`Used::outside_io`] outside the callback.
    outside_io: usize,
    /// The next outer callback of this thread, or NULL.
    outer: *const ActiveCallback,
}

impl ActiveCallback {
    fn new(schunk: *mut blosc2_schunk, backend: usize) -> ActiveCallback {
        let outside_io = USED.with(|used| used.outside_io.get());
        ActiveCallback { schunk, backend, outside_io, outer: INNERMOST.get() }
    }
}

impl Drop for ActiveCallback {
    fn drop(&mut self) {
        INNERMOST.set(self.outer);
        USED.with(|used| used.outside_io.set(self.outside_io));
    }
}

/// Runs a callback of a context of `schunk`, which may be NULL. The callback may reach a
/// cancellation point.
pub fn run_callback<T>(schunk: *mut c_void, callback: impl FnOnce() -> T) -> T {
    let active = ActiveCallback::new(schunk.cast(), 0);
    INNERMOST.set(&raw const active);
    let _deferred = cancellation::defer();
    let result = callback();
    drop(active);
    result
}

/// Runs a callback of the I/O backend at the address `backend`. Cancellation is disabled already.
pub fn run_io<T>(backend: usize, callback: impl FnOnce() -> T) -> T {
    let active = ActiveCallback::new(null_mut(), backend);
    INNERMOST.set(&raw const active);
    USED.with(|used| used.outside_io.set(used.count.get()));
    let result = callback();
    drop(active);
    result
}

/// Whether this thread is inside a callback of the I/O backend at the address `backend`; false for
/// address 0.
pub fn is_io_of(backend: usize) -> bool {
    backend != 0 && any(|active| active.backend == backend)
}

/// Whether this thread is inside a callback of an I/O backend, and entered `schunk` outside it.
pub fn is_used_outside_io(schunk: *mut blosc2_schunk) -> bool {
    USED.with(|used| {
        let entered = &used.schunks[..used.outside_io.get()];
        entered.iter().any(|entered| entered.get() == schunk)
    })
}

/// Whether an active call of this thread entered `schunk`.
pub fn is_used(schunk: *mut blosc2_schunk) -> bool {
    USED.with(|used| {
        let entered = &used.schunks[..used.count.get()];
        entered.iter().any(|entered| entered.get() == schunk)
    })
}

/// Whether this thread is inside a callback.
pub fn is_callback() -> bool {
    !INNERMOST.get().is_null()
}

/// Whether this thread is inside a callback of a context whose super-chunk `matches`. The
/// super-chunks are alive, or NULL.
pub fn any_callback(matches: impl Fn(*mut blosc2_schunk) -> bool) -> bool {
    any(|active| matches(active.schunk))
}

/// Whether an active callback of this thread `matches`.
fn any(matches: impl Fn(&ActiveCallback) -> bool) -> bool {
    let mut next = INNERMOST.get();
    // SAFETY: the entries belong to active callbacks of this thread, so they are alive.
    while let Some(active) = unsafe { next.as_ref() } {
        if matches(active) {
            return true;
        }
        next = active.outer;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::without_provenance_mut;

    #[test]
    fn a_callback_of_a_backend_recognises_the_super_chunks_of_its_calls() {
        let [one, two, three] = [1, 2, 3].map(without_provenance_mut);
        let (first, second) = (Use::new(one).unwrap(), Use::new(two).unwrap());
        assert!(!is_used_outside_io(one), "this is no callback");
        drop(first);
        run_io(7, || {
            assert!(is_callback() && is_io_of(7) && !is_io_of(8) && !is_io_of(0));
            assert!(!is_used_outside_io(one) && is_used_outside_io(two));
            let third = Use::new(three).unwrap();
            assert!(!is_used_outside_io(three), "the callback may use it");
            run_callback(one.cast(), || assert!(!is_used_outside_io(three)));
            run_io(8, || {
                assert!(is_io_of(7) && is_io_of(8));
                assert!(is_used_outside_io(two) && is_used_outside_io(three));
            });
            assert!(!is_used_outside_io(three));
            drop(third);
        });
        drop(second);
        assert!(!is_callback() && !is_used_outside_io(two));
    }

    #[test]
    fn the_number_of_super_chunks_in_use_is_limited() {
        let schunk = without_provenance_mut(1);
        let all: Vec<_> = (0..MAX_USED).map(|_| Use::new(schunk).unwrap()).collect();
        assert!(Use::new(schunk).is_none());
        drop(all);
        assert!(Use::new(schunk).is_some());
    }
}
