//! Starting a thread. Windows has no cancellation of threads.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
};

/// The size of the stack in bytes, which callbacks of programs use, too.
const STACK: usize = 2 << 20;

/// Starts a detached thread `ferroblosc-<number>`; returns whether that succeeded.
pub(crate) fn start(number: usize, body: Box<dyn FnOnce() + Send>) -> bool {
    keep_loaded()
        && std::thread::Builder::new()
            .name(format!("ferroblosc-{number}"))
            .stack_size(STACK)
            .spawn(body)
            .is_ok()
}

/// Keeps the DLL with this code loaded until the process ends, since its threads may run after
/// `FreeLibrary`. Returns whether that succeeded.
pub fn keep_loaded() -> bool {
    static KEPT: AtomicBool = AtomicBool::new(false);
    // Relaxed: the flag guards no memory, and two threads may both pin the DLL.
    if KEPT.load(Ordering::Relaxed) {
        return true;
    }
    let flags = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
    let mut module = null_mut();
    // SAFETY: with these flags the name is an address in the module, which is not read.
    let kept = unsafe { GetModuleHandleExW(flags, (&raw const KEPT).cast(), &mut module) } != 0;
    KEPT.store(kept, Ordering::Relaxed);
    kept
}

/// The state of a thread that cannot be cancelled.
pub(crate) const CANCEL_DISABLED: i32 = 1;

/// Returns the state: threads cannot be cancelled.
pub(crate) fn set_cancel_state(state: i32) -> i32 {
    state
}
