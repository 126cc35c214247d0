//! Deferred cancellation of threads (`pthread_cancel`).
//!
//! A C program may cancel a thread that is inside a call. The C library then ends the thread at its
//! next cancellation point: a function that may wait, such as `read`, `write`, `open` or `fsync`.
//! glibc unwinds the stack for that, but Rust's frames must not be unwound, so the process aborts.
//! musl ends the thread without unwinding, and the locks that its frames hold are never released.
//! Therefore no cancellation point may be reached while cancellation is enabled. [`defer`] disables
//! cancellation until its result is dropped; a request that arrives in between stays pending until
//! the next cancellation point of the program.
//!
//! A guard calls two system functions, which cost about 17 ns with glibc, so code that only
//! computes in memory has no guard. Allocation, locks (futex system calls are not cancellation
//! points), the environment and CPU detection need no guard.

use crate::os::thread::{CANCEL_DISABLED, set_cancel_state};
use std::marker::PhantomData;

/// A guard that disables cancellation of the calling thread while it exists.
#[must_use = "cancellation is enabled again when this is dropped"]
#[derive(Debug)]
pub struct Deferred {
    /// The previous state; cancellation may have been disabled already.
    before: i32,
    /// Makes the guard `!Send`, since the state belongs to the calling thread.
    of_thread: PhantomData<*const ()>,
}

/// Disables cancellation of the calling thread until the guard is dropped. Guards may be nested.
pub fn defer() -> Deferred {
    Deferred { before: set_cancel_state(CANCEL_DISABLED), of_thread: PhantomData }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        set_cancel_state(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_nest_and_restore_the_state_before() {
        let enabled = set_cancel_state(CANCEL_DISABLED);
        set_cancel_state(enabled);
        {
            let _outer = defer();
            {
                let _inner = defer();
            }
            assert_eq!(set_cancel_state(CANCEL_DISABLED), CANCEL_DISABLED);
        }
        assert_eq!(set_cancel_state(enabled), enabled);
    }
}
