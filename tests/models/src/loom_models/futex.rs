//! A futex made of a lock and a condition variable. Like the kernel's, it orders a wait that finds
//! the expected value and a wake-up, so a lost wake-up is a deadlock, which loom reports.

use super::sync::{AtomicU32, Ordering};

pub(super) fn wait(word: &AtomicU32, expected: u32) {
    let queue = word.queue.lock().unwrap();
    if word.load(Ordering::Relaxed) == expected {
        drop(word.woken.wait(queue).unwrap());
    }
}

pub(super) fn wake_one(word: &AtomicU32) {
    let _queue = word.queue.lock().unwrap();
    word.woken.notify_one();
}
