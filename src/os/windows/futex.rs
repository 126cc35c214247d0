//! Waiting until a 32-bit word changes: `WaitOnAddress`.

use std::sync::atomic::AtomicU32;
use std::time::Duration;
use windows_sys::Win32::System::Threading::{
    INFINITE, WaitOnAddress, WakeByAddressAll, WakeByAddressSingle,
};

/// Sleeps while `word` holds `expected`. May return at any time, so the caller checks again.
pub(crate) fn wait(word: &AtomicU32, expected: u32) {
    wait_milliseconds(word, expected, INFINITE);
}

/// Sleeps like [`wait`], at most for the duration `limit`.
pub(crate) fn wait_for(word: &AtomicU32, expected: u32, limit: Duration) {
    // Rounded up: a shorter sleep would make the caller wait actively.
    let limit = limit.as_nanos().div_ceil(1_000_000);
    wait_milliseconds(word, expected, u32::try_from(limit).unwrap_or(INFINITE));
}

fn wait_milliseconds(word: &AtomicU32, expected: u32, limit: u32) {
    // SAFETY: the call reads the four bytes of both words, which are borrowed for the whole call.
    unsafe {
        WaitOnAddress(word.as_ptr().cast(), (&raw const expected).cast(), size_of::<u32>(), limit);
    }
}

/// Wakes one thread that sleeps on `word`, if there is one.
pub(crate) fn wake_one(word: &AtomicU32) {
    // SAFETY: the call uses the address as a key and does not access the memory.
    unsafe { WakeByAddressSingle(word.as_ptr().cast()) };
}

/// Wakes all threads that sleep on `word`.
pub(crate) fn wake_all(word: &AtomicU32) {
    // SAFETY: as in `wake_one`.
    unsafe { WakeByAddressAll(word.as_ptr().cast()) };
}
