//! Starting an operating-system thread, and disabling cancellation.
//!
//! Helpers are POSIX threads, not `std` ones. `std` acquires locks when it starts a thread (around
//! the environment, around its table of stack guards); a child forked while another thread holds
//! one could not start its own helpers. Also, a POSIX thread has the system's default stack size,
//! which a user's C callback expects.

use super::system::name_thread;
use std::ffi::{CString, c_void};
use std::mem::MaybeUninit;
use std::ptr;

/// The function that the thread runs.
type Body = Box<dyn FnOnce() + Send>;

/// The smallest stack in bytes, for systems whose default is smaller (musl: 128 KiB).
const MIN_STACK: usize = 2 << 20;

/// Signals that helpers do not block: those the processor raises for the thread's own actions. If
/// blocked, they would kill the process without calling the user's handler, for example after a
/// mapped file was truncated.
const FAULTS: [libc::c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS];

/// Starts a detached thread `ferroblosc-<number>` that blocks all signals but faults; returns
/// whether that succeeded.
pub(crate) fn start(number: usize, body: Body) -> bool {
    if cfg!(miri) {
        // Miri has no signal masks and no thread attributes.
        std::thread::spawn(body);
        return true;
    }
    with_signals_blocked(|| spawn(number, body))
}

/// Calls `f` with all signals blocked that a new thread must block; threads inherit the mask. (A
/// signal could arrive before the thread blocks it itself.)
fn with_signals_blocked<T>(f: impl FnOnce() -> T) -> T {
    let mut mask = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: sigfillset initialises `mask` before the other calls read it, the signal numbers are
    // valid, and pthread_sigmask initialises `before`.
    unsafe {
        libc::sigfillset(mask.as_mut_ptr());
        for fault in FAULTS {
            libc::sigdelset(mask.as_mut_ptr(), fault);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, mask.as_ptr(), before.as_mut_ptr());
    }
    let result = f();
    // SAFETY: `before` was initialised above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    result
}

fn spawn(number: usize, body: Body) -> bool {
    let start_args = Box::into_raw(Box::new((number, body)));
    let mut attributes = MaybeUninit::uninit();
    let mut thread = MaybeUninit::uninit();
    // SAFETY: the attributes are initialised before use and destroyed once. `main` accepts a
    // pointer of this type; the box is freed here only if no thread was started.
    unsafe {
        if libc::pthread_attr_init(attributes.as_mut_ptr()) != 0 {
            drop(Box::from_raw(start_args));
            return false;
        }
        let mut stack = 0;
        libc::pthread_attr_getstacksize(attributes.as_ptr(), &mut stack);
        if stack < MIN_STACK {
            libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), MIN_STACK);
        }
        libc::pthread_attr_setdetachstate(attributes.as_mut_ptr(), libc::PTHREAD_CREATE_DETACHED);
        let failed =
            libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), main, start_args.cast());
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        if failed != 0 {
            drop(Box::from_raw(start_args));
        }
        failed == 0
    }
}

extern "C" fn main(start_args: *mut c_void) -> *mut c_void {
    // SAFETY: `spawn` created the box with `Box::into_raw` and passed it to this thread alone.
    let (number, body) = *unsafe { Box::from_raw(start_args.cast::<(usize, Body)>()) };
    if let Ok(name) = CString::new(format!("ferroblosc-{number}")) {
        name_thread(&name);
    }
    body();
    ptr::null_mut()
}

/// The state of a thread that cannot be cancelled.
pub(crate) const CANCEL_DISABLED: i32 = system::DISABLE;

/// Sets the state of the calling thread and returns the previous one.
pub(crate) fn set_cancel_state(state: i32) -> i32 {
    let mut before = state;
    // SAFETY: the call refuses invalid states, and writes the previous one to a local variable.
    unsafe { system::pthread_setcancelstate(state, &mut before) };
    before
}

/// Declarations that the `libc` crate lacks for Linux.
#[cfg(not(any(miri, target_os = "android")))]
mod system {
    use std::ffi::c_int;

    /// `PTHREAD_CANCEL_DISABLE`.
    pub(super) const DISABLE: c_int = if cfg!(target_vendor = "apple") { 0 } else { 1 };

    unsafe extern "C" {
        pub(super) fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    }
}

/// Stubs for Android and Miri, which have no thread cancellation.
#[cfg(any(miri, target_os = "android"))]
mod system {
    use std::ffi::c_int;

    pub(super) const DISABLE: c_int = 1;

    pub(super) unsafe fn pthread_setcancelstate(_state: c_int, _before: &mut c_int) -> c_int {
        0
    }
}
