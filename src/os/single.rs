//! Systems with one thread.

/// Waiting for other threads, which do not exist: nothing waits, and each function returns at once.
pub(crate) mod futex {
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    pub(crate) fn wait(_word: &AtomicU32, _expected: u32) {}

    pub(crate) fn wait_for(_word: &AtomicU32, _expected: u32, _limit: Duration) {}

    pub(crate) fn wake_one(_word: &AtomicU32) {}

    pub(crate) fn wake_all(_word: &AtomicU32) {}
}

/// The only thread, which cannot be cancelled.
pub(crate) mod thread {
    /// The state of a thread that cannot be cancelled.
    pub(crate) const CANCEL_DISABLED: i32 = 1;

    /// Returns `false`: no thread can be started.
    pub(crate) fn start(_number: usize, _body: Box<dyn FnOnce() + Send>) -> bool {
        false
    }

    pub(crate) fn set_cancel_state(state: i32) -> i32 {
        state
    }
}
