//! A futex made of a lock and a condition variable. Like the kernel's, it orders a wait that finds
//! the expected value and a wake-up, so a lost wake-up is a deadlock, which shuttle reports.

use super::sync::AtomicU32;
use std::time::Duration;

pub(super) fn wait(word: &AtomicU32, expected: u32) {
    let queue = word.queue.lock().unwrap();
    if word.value() == expected {
        drop(word.woken.wait(queue).unwrap());
    }
}

/// Waits without a limit if it is 20 ms, at which a waiting thread only checks again whether it may
/// wait. A shorter limit may pass at any time.
pub(super) fn wait_for(word: &AtomicU32, expected: u32, limit: Duration) {
    if limit < Duration::from_millis(20) {
        return shuttle::thread::yield_now();
    }
    wait(word, expected);
}

pub(super) fn wake_one(word: &AtomicU32) {
    let _queue = word.queue.lock().unwrap();
    word.woken.notify_one();
}

pub(super) fn wake_all(word: &AtomicU32) {
    let _queue = word.queue.lock().unwrap();
    word.woken.notify_all();
}
