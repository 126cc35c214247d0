//! Engines of a context for concurrent calls of its super-chunk.

use ferroblosc::Result;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use try_lock::TryLock;

/// The number of slots for spare engines.
const SLOTS: usize = 16;

/// Engines for concurrent calls of one super-chunk, in addition to the context's own. A thread
/// reuses its engine, which caches the block that was read last.
pub struct SpareEngines<P, T> {
    params: Box<P>,
    /// NULL until a spare engine is needed. The initialisation does not wait for another thread,
    /// since that thread would not exist in a forked child.
    slots: AtomicPtr<[Spare<T>; SLOTS]>,
    /// The thread that last used the context's own engine.
    owner: AtomicUsize,
}

/// A slot with its own cache lines.
#[repr(align(128))]
struct Spare<T>(TryLock<Option<T>>);

/// Returns the number of this thread, from 1.
fn thread_number() -> usize {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        // Relaxed: the numbers only need to be distinct.
        static NUMBER: usize = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    }
    NUMBER.with(|number| *number)
}

impl<P, T> SpareEngines<P, T> {
    /// Returns an empty set of engines; `params` are the parameters of each engine.
    pub fn new(params: P) -> SpareEngines<P, T> {
        SpareEngines {
            params: Box::new(params),
            slots: AtomicPtr::new(null_mut()),
            owner: AtomicUsize::new(0),
        }
    }

    fn slot(&self, thread: usize) -> Option<&TryLock<Option<T>>> {
        // SAFETY: NULL, or the box of `all_slots`, which lives as long as `self`.
        let slots = unsafe { self.slots.load(Ordering::Acquire).as_ref() }?;
        Some(&slots[thread % SLOTS].0)
    }

    /// Returns the slots, which are allocated on first use.
    fn all_slots(&self) -> &[Spare<T>; SLOTS] {
        let (release, acquire) = (Ordering::AcqRel, Ordering::Acquire);
        let mut slots = self.slots.load(acquire);
        if slots.is_null() {
            let made = Box::new(std::array::from_fn(|_| Spare(TryLock::new(None))));
            let made = Box::into_raw(made);
            slots = match (self.slots).compare_exchange(null_mut(), made, release, acquire) {
                Ok(_) => made,
                Err(first) => {
                    // SAFETY: it was just allocated, and no other thread has its address.
                    drop(unsafe { Box::from_raw(made) });
                    first
                }
            };
        }
        // SAFETY: not NULL, and a box that lives as long as `self`.
        unsafe { &*slots }
    }

    /// Whether a call of this thread should use the context's own engine if it is idle. False if
    /// another thread used it last and this thread has a spare engine.
    pub fn prefers_own(&self) -> bool {
        let thread = thread_number();
        // Relaxed: a hint.
        if self.owner.load(Ordering::Relaxed) == thread {
            return true;
        }
        let has_engine = self
            .slot(thread)
            .is_some_and(|slot| slot.try_lock().is_none_or(|engine| engine.is_some()));
        if !has_engine {
            self.owner.store(thread, Ordering::Relaxed);
        }
        !has_engine
    }

    /// Makes the next call of this thread use the context's own engine.
    pub fn claim_own(&self) {
        self.owner.store(thread_number(), Ordering::Relaxed);
    }

    /// Runs `work` with the spare engine of this thread, which `make` creates on first use.
    pub fn work<R>(
        &self,
        make: impl FnOnce(&P) -> Result<T>,
        work: impl FnOnce(&mut T) -> Result<R>,
    ) -> Result<R> {
        let slot = &self.all_slots()[thread_number() % SLOTS].0;
        let Some(mut slot) = slot.try_lock() else {
            // Another thread uses this slot.
            return work(&mut make(&self.params)?);
        };
        let engine = match &mut *slot {
            Some(engine) => engine,
            none => none.insert(make(&self.params)?),
        };
        work(engine)
    }
}

impl<P, T> Drop for SpareEngines<P, T> {
    fn drop(&mut self) {
        let slots = *self.slots.get_mut();
        if !slots.is_null() {
            // SAFETY: the box of `all_slots`, dropped once.
            drop(unsafe { Box::from_raw(slots) });
        }
    }
}
