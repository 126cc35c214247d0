//! Deferred cancellation of threads (`pthread_cancel`).
//!
//! A C program may cancel a thread that is inside a call. The C library then ends the thread at its next
//! cancellation point: a function that may wait, such as `read`, `write`, `open` or `fsync`. glibc unwinds
//! the stack for that, which Rust's frames don't allow: the process aborts. musl leaves the frames without
//! unwinding, and the locks that they hold are never released. So no cancellation point may be reached
//! while cancellation is enabled. [`defer`] disables it until its result is dropped; a cancellation that
//! arrives meanwhile stays pending, and acts at the next cancellation point of the program.
//!
//! Two system functions a guard cost about 17 ns with glibc, so code that only computes in memory has none.
//! Allocation, locks (futex system calls, which are no cancellation points), the environment and CPU
//! detection need none.

use std::marker::PhantomData;

/// Cancellation of the calling thread is disabled while this exists.
#[must_use = "cancellation is enabled again when this is dropped"]
#[derive(Debug)]
pub struct Deferred {
    /// The state before, which may be that cancellation is disabled.
    before: i32,
    /// The state belongs to the thread, so this must not move to another one.
    of_thread: PhantomData<*const ()>,
}

/// Disables cancellation of the calling thread. Guards nest.
pub fn defer() -> Deferred {
    Deferred {
        before: set_state(system::DISABLE),
        of_thread: PhantomData,
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        set_state(self.before);
    }
}

/// Sets the state of the calling thread and returns the state before.
fn set_state(state: i32) -> i32 {
    let mut before = state;
    // SAFETY: any state of this list or of an earlier call is valid; the old one is written to a variable.
    unsafe { system::pthread_setcancelstate(state, &mut before) };
    before
}

/// What the `libc` crate doesn't declare for Linux.
#[cfg(not(any(miri, target_os = "android")))]
mod system {
    use std::ffi::c_int;

    /// `PTHREAD_CANCEL_DISABLE`.
    pub const DISABLE: c_int = if cfg!(target_vendor = "apple") { 0 } else { 1 };

    unsafe extern "C" {
        pub fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    }
}

/// No thread is ever cancelled.
#[cfg(any(miri, target_os = "android"))]
mod system {
    use std::ffi::c_int;

    pub const DISABLE: c_int = 1;

    pub unsafe fn pthread_setcancelstate(_state: c_int, _before: &mut c_int) -> c_int {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_nest_and_restore_the_state_before() {
        let enabled = set_state(system::DISABLE);
        set_state(enabled);
        {
            let _outer = defer();
            {
                let _inner = defer();
            }
            assert_eq!(set_state(system::DISABLE), system::DISABLE);
        }
        assert_eq!(set_state(enabled), enabled);
    }
}
