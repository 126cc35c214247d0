//! The process-wide pool, and its replacement in a forked child.
//!
//! After `fork`, the child has one thread and a copy of the parent's memory: helpers that do not
//! exist, and slots that may be owned by threads that do not exist. An atfork handler in the child
//! discards the pool (a leak, as its state cannot be trusted) and counts the fork; the child's
//! first run creates a new pool. No lock is involved, so the state of the parent's other threads
//! does not matter.

use std::ptr;

use super::fork;
use super::helpers::Pool;
use super::sync::{AtomicBool, AtomicPtr, Ordering};
use crate::os;

static POOL: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// Returns the pool of this process, if it has one.
pub(super) fn existing_pool() -> Option<&'static Pool> {
    // Acquire: pairs with the Release in `create`.
    let pool = POOL.load(Ordering::Acquire);
    // SAFETY: a non-null pointer came from `Box::into_raw` in `create` and is never freed.
    (!pool.is_null()).then(|| unsafe { &*pool })
}

/// Returns the pool of this process, creating it if necessary. Returns `None` if the atfork handler
/// cannot be registered.
pub(super) fn pool() -> Option<&'static Pool> {
    existing_pool().or_else(create)
}

#[cold]
fn create() -> Option<&'static Pool> {
    if !register_handler() {
        return None;
    }
    let cores = {
        // The limits of the process are read from files.
        let _deferred = crate::cancellation::defer();
        std::thread::available_parallelism().map_or(1, usize::from)
    };
    let new = Box::into_raw(Box::new(Pool::new(cores)));
    // Release: others see the pool that the pointer refers to. Acquire on failure: we see theirs.
    match POOL.compare_exchange(ptr::null_mut(), new, Ordering::Release, Ordering::Acquire) {
        // SAFETY: `new` came from `Box::into_raw`; it is published now and never freed.
        Ok(_) => Some(unsafe { &*new }),
        Err(first) => {
            // SAFETY: `new` was not published, so this thread still owns it; `first` was published,
            // and is never freed.
            unsafe {
                drop(Box::from_raw(new));
                Some(&*first)
            }
        }
    }
}

/// Registers [`in_child`] as an atfork handler; returns whether that succeeded.
///
/// Two threads may both register it, which is harmless. A `Once` would not be: a fork during it
/// leaves it locked in the child.
pub(super) fn register_handler() -> bool {
    // Relaxed: the flag guards no memory of ours. (Miri has no fork and no pthread_atfork.)
    if cfg!(miri) || REGISTERED.load(Ordering::Relaxed) {
        return true;
    }
    // SAFETY: `in_child` stays loaded, since the shared libraries are linked so that they are never
    // unloaded; it only stores to atomic variables.
    let registered = unsafe { os::process::call_in_child(in_child) };
    if registered {
        REGISTERED.store(true, Ordering::Relaxed);
    }
    registered
}

/// Runs in the child on its only thread, before `fork` returns.
pub(super) unsafe extern "C" fn in_child() {
    // Relaxed: there are no other threads to order with.
    POOL.store(ptr::null_mut(), Ordering::Relaxed);
    fork::increment();
}
