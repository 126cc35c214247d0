//! Where the crew is kept, and how a forked child gets a new one.
//!
//! After `fork`, the child has one thread and a copy of the parent's memory: helpers that do not exist,
//! slots that may be owned by threads that do not exist. A handler that `fork` runs in the child
//! forgets the crew (a leak, as its state can't be trusted) and counts the fork; the child's first
//! run founds a new crew. No lock is involved on any of these ways, so it does not matter what other
//! threads of the parent were doing.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use super::crew::Crew;

static CREW: AtomicPtr<Crew> = AtomicPtr::new(ptr::null_mut());
static FORKS: AtomicUsize = AtomicUsize::new(0);
static WATCHING: AtomicBool = AtomicBool::new(false);

/// How many forks lie between the first process that used the library and this one.
pub(super) fn count() -> usize {
    // Relaxed: the count changes only in a child that has just one thread.
    FORKS.load(Ordering::Relaxed)
}

/// The crew of this process, if it has one.
pub(super) fn existing_crew() -> Option<&'static Crew> {
    // Acquire: pairs with the Release in `found`.
    let crew = CREW.load(Ordering::Acquire);
    // SAFETY: a non-null pointer came from `Box::into_raw` in `found` and is never freed.
    (!crew.is_null()).then(|| unsafe { &*crew })
}

/// The crew of this process, founded if need be. `None` when forks could not be noticed.
pub(super) fn crew() -> Option<&'static Crew> {
    existing_crew().or_else(found)
}

#[cold]
fn found() -> Option<&'static Crew> {
    if !watch() {
        return None;
    }
    let cores = {
        // The limits of the process are read from files.
        let _deferred = crate::cancellation::defer();
        std::thread::available_parallelism().map_or(1, usize::from)
    };
    let new = Box::into_raw(Box::new(Crew::new(cores)));
    // Release: others see the crew behind the pointer. Acquire on failure: we see theirs.
    match CREW.compare_exchange(ptr::null_mut(), new, Ordering::Release, Ordering::Acquire) {
        // SAFETY: `new` came from `Box::into_raw`; it is published now and never freed.
        Ok(_) => Some(unsafe { &*new }),
        Err(first) => {
            // SAFETY: `new` was not published, so it is still ours alone; `first` was, and is never
            // freed.
            unsafe {
                drop(Box::from_raw(new));
                Some(&*first)
            }
        }
    }
}

/// Makes `fork` call [`in_child`]; false when that is not possible.
///
/// Two threads may both come here and register the handler twice, which does no harm; a `Once` would,
/// as a fork during it leaves it locked in the child.
pub(super) fn watch() -> bool {
    // Relaxed: the flag guards no memory of ours.
    // (Miri has no fork, and does not know pthread_atfork.)
    if cfg!(miri) || WATCHING.load(Ordering::Relaxed) {
        return true;
    }
    // SAFETY: `in_child` is a function of the type asked for, and stays loaded: the shared libraries
    // are linked so that they are never unloaded.
    let registered = unsafe { libc::pthread_atfork(None, None, Some(in_child)) } == 0;
    if registered {
        WATCHING.store(true, Ordering::Relaxed);
    }
    registered
}

/// Runs in a child on its only thread, before `fork` returns.
unsafe extern "C" fn in_child() {
    // Relaxed: there is no other thread to order with.
    CREW.store(ptr::null_mut(), Ordering::Relaxed);
    FORKS.fetch_add(1, Ordering::Relaxed);
}
