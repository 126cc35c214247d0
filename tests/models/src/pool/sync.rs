//! The types of shuttle instead of `src/pool/sync.rs`. Every access is a point where another thread
//! may run, and where a thread of the parent process ends if the process has forked.

use std::cell::Cell as StdCell;
use std::time::Duration;

pub(crate) use shuttle::hint::spin_loop;
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
pub(crate) use shuttle::thread::yield_now;
pub(crate) use std::cell::Cell;
pub(crate) use std::sync::atomic::Ordering;

/// Declares an atomic type with the operations of integers that the sources use.
macro_rules! atomic {
    ($name:ident $(of $parameter:ident)?: $value:ty $(, $operation:ident)*) => {
        pub struct $name$(<$parameter>)?(pub(super) shuttle::sync::atomic::$name$(<$parameter>)?);

        impl$(<$parameter>)? $name$(<$parameter>)? {
            pub(crate) const fn new(value: $value) -> Self {
                $name(shuttle::sync::atomic::$name::new(value))
            }

            /// The thread may be preempted before it uses the value.
            pub(crate) fn load(&self, order: Ordering) -> $value {
                let value = $crate::pool::thread::access(|| self.0.load(order));
                if $crate::pool::thread::chance(8) {
                    shuttle::thread::yield_now();
                }
                value
            }

            pub(crate) fn store(&self, value: $value, order: Ordering) {
                $crate::pool::thread::access(|| self.0.store(value, order))
            }

            pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                $crate::pool::thread::access(|| self.0.swap(value, order))
            }

            pub(crate) fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                $crate::pool::thread::access(|| self.0.compare_exchange(current, new, success, failure))
            }

            /// May fail although the value is the expected one.
            pub(crate) fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                if $crate::pool::thread::chance(8) {
                    return Err(self.load(failure));
                }
                self.compare_exchange(current, new, success, failure)
            }

            $(pub(crate) fn $operation(&self, value: $value, order: Ordering) -> $value {
                $crate::pool::thread::access(|| self.0.$operation(value, order))
            })*
        }

        impl$(<$parameter>)? std::fmt::Debug for $name$(<$parameter>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

atomic! { AtomicBool: bool }
atomic! { AtomicPtr of T: *mut T }
atomic! { AtomicU64: u64, fetch_and, fetch_or }
atomic! { AtomicUsize: usize, fetch_add, fetch_sub }

impl Default for AtomicU64 {
    fn default() -> AtomicU64 {
        AtomicU64::new(0)
    }
}

impl AtomicU64 {
    pub(crate) fn fetch_update(
        &self,
        success: Ordering,
        failure: Ordering,
        mut change: impl FnMut(u64) -> Option<u64>,
    ) -> Result<u64, u64> {
        let mut current = self.load(failure);
        while let Some(new) = change(current) {
            match self.compare_exchange_weak(current, new, success, failure) {
                Ok(previous) => return Ok(previous),
                Err(now) => current = now,
            }
        }
        Err(current)
    }
}

/// The word of [`AtomicU32`].
mod word {
    use super::Ordering;

    atomic! { AtomicU32: u32, fetch_add, fetch_and }
}

/// A word, and the threads that sleep on it.
#[derive(Debug)]
pub struct AtomicU32 {
    word: word::AtomicU32,
    pub(super) queue: Mutex<()>,
    pub(super) woken: Condvar,
}

impl AtomicU32 {
    pub(crate) const fn new(word: u32) -> AtomicU32 {
        AtomicU32 { word: word::AtomicU32::new(word), queue: Mutex::new(()), woken: Condvar::new() }
    }

    /// Returns the value for the kernel, in which no thread stops at a fork.
    pub(super) fn value(&self) -> u32 {
        self.word.0.load(Ordering::SeqCst)
    }
}

impl Default for AtomicU32 {
    fn default() -> AtomicU32 {
        AtomicU32::new(0)
    }
}

impl std::ops::Deref for AtomicU32 {
    type Target = word::AtomicU32;

    fn deref(&self) -> &Self::Target {
        &self.word
    }
}

/// A thread that waits may spin some times before it sleeps.
pub(crate) struct Backoff;

impl Backoff {
    pub(crate) fn new() -> Backoff {
        Backoff
    }

    pub(crate) fn is_completed(&self) -> bool {
        crate::pool::thread::chance(2)
    }

    pub(crate) fn snooze(&self) {
        yield_now();
    }
}

/// A clock that advances with each look.
pub(crate) struct Instant(StdCell<u32>);

// SAFETY: threads of a model are coroutines of one thread.
unsafe impl Sync for Instant {}

impl Instant {
    pub(crate) fn now() -> Instant {
        Instant(StdCell::new(0))
    }

    /// Returns 15 µs more at each call: less than the time for which helpers spin at first.
    pub(crate) fn elapsed(&self) -> Duration {
        self.0.set(self.0.get() + 15);
        Duration::from_micros(self.0.get().into())
    }
}

/// Returns one number for all threads, so that runs repeat and threads compete for the same slots.
pub(crate) fn thread_number() -> usize {
    0
}
