//! A list that many threads read and few change, such as a registry.
//!
//! A change replaces the whole list, and no thread waits for another. A forked child therefore
//! never finds the list locked or half changed.

use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use super::sync::{AtomicPtr, AtomicUsize, Ordering, spin_loop};

/// The number of times that a change checks for readers of the old list before it leaks the list.
const READER_CHECKS: usize = 1000;

/// The list.
pub struct SharedList<T> {
    /// A reference from [`Arc::into_raw`]; null for an empty list.
    current: AtomicPtr<Vec<T>>,
    /// The number of threads that are between loading `current` and counting their reference. In a
    /// forked child it includes threads that do not exist there.
    readers: AtomicUsize,
    shares: PhantomData<Arc<Vec<T>>>,
}

impl<T: Clone> SharedList<T> {
    /// Returns an empty list.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> SharedList<T> {
        SharedList {
            current: AtomicPtr::new(ptr::null_mut()),
            readers: AtomicUsize::new(0),
            shares: PhantomData,
        }
    }

    /// Returns a copy of the first item for which `is_wanted` returns true.
    pub fn find(&self, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        self.load()?.iter().find(|item| is_wanted(item)).cloned()
    }

    /// Replaces the list by what `change` makes of a copy of it, and returns the result of
    /// `change`, which is called again if another thread changed the list in the meantime.
    pub fn update<R>(&self, mut change: impl FnMut(&mut Vec<T>) -> R) -> R {
        loop {
            // While this reference exists, no other list has the address of the old one.
            let old = self.load();
            let mut list = old.as_deref().cloned().unwrap_or_default();
            let result = change(&mut list);
            let address = old.as_ref().map_or(ptr::null(), Arc::as_ptr).cast_mut();
            let new = Arc::into_raw(Arc::new(list)).cast_mut();
            // SeqCst here, and for the accesses in `load` and below: if this thread sees no reader
            // after the exchange, a later reader in the total order loads the new pointer.
            let exchanged =
                self.current.compare_exchange(address, new, Ordering::SeqCst, Ordering::SeqCst);
            if exchanged.is_err() {
                // SAFETY: the pointer came from `Arc::into_raw` above and was not stored.
                drop(unsafe { Arc::from_raw(new) });
                continue;
            }
            if !address.is_null() && self.has_no_readers() {
                // SAFETY: the pointer came from `Arc::into_raw`. The exchange removed its reference
                // from `current`, and each thread that loaded it from there has counted its own.
                drop(unsafe { Arc::from_raw(address) });
            }
            return result;
        }
    }

    /// Returns the list, or `None` if it was never changed.
    fn load(&self) -> Option<Arc<Vec<T>>> {
        // Relaxed: this first check keeps the usual case, an empty list, free of shared writes.
        // Changing the list in one thread and reading it in another without synchronisation has no
        // defined order anyway.
        if self.current.load(Ordering::Relaxed).is_null() {
            return None;
        }
        self.readers.fetch_add(1, Ordering::SeqCst);
        let current = self.current.load(Ordering::SeqCst);
        // SAFETY: the pointer came from `Arc::into_raw` in `update`, and is not null, since a change
        // never stores null. Its reference is not dropped while this thread is counted as a reader,
        // so a further one may be made of it.
        let list = unsafe {
            Arc::increment_strong_count(current);
            Arc::from_raw(current)
        };
        self.readers.fetch_sub(1, Ordering::SeqCst);
        Some(list)
    }

    /// Whether no thread is counting its reference to an old list. Returns false after a short
    /// spin: in a forked child a reader may not exist, so this function must not wait for it.
    fn has_no_readers(&self) -> bool {
        (0..READER_CHECKS).any(|_| {
            let is_free = self.readers.load(Ordering::SeqCst) == 0;
            if !is_free {
                spin_loop();
            }
            is_free
        })
    }
}

impl<T> Drop for SharedList<T> {
    fn drop(&mut self) {
        let current = self.current.load(Ordering::Relaxed);
        if !current.is_null() {
            // SAFETY: `update` stored a pointer from `Arc::into_raw`. This is the only reference to
            // the list itself, so no thread uses the pointer any more.
            drop(unsafe { Arc::from_raw(current) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::thread;

    #[test]
    fn changes_of_several_threads_are_all_kept() {
        static LIST: SharedList<Arc<usize>> = SharedList::new();
        let barrier = Barrier::new(4);
        thread::scope(|scope| {
            for thread in 0..4 {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    for number in 0..50 {
                        let item = Arc::new(50 * thread + number);
                        LIST.update(|list| list.push(Arc::clone(&item)));
                        assert_eq!(LIST.find(|other| *other == item), Some(item));
                    }
                });
            }
        });
        let mut found = LIST.update(std::mem::take);
        found.sort_unstable();
        assert!(found.iter().map(|item| **item).eq(0..200));
        assert_eq!(LIST.find(|_| true), None);
    }

    #[test]
    fn items_are_dropped_with_the_last_list_that_contains_them() {
        let list = SharedList::new();
        let item = Arc::new(1);
        list.update(|list| list.push(Arc::clone(&item)));
        list.update(|list| list.push(Arc::new(2)));
        assert_eq!(Arc::strong_count(&item), 2);
        list.update(Vec::clear);
        assert_eq!(Arc::strong_count(&item), 1);
    }

    #[test]
    fn a_reader_that_does_not_exist_blocks_no_change() {
        let list = SharedList::new();
        list.update(|list| list.push(1));
        // As in a child of a process that forked while a thread was reading.
        list.readers.fetch_add(1, Ordering::SeqCst);
        let old = list.current.load(Ordering::Relaxed);
        list.update(|list| list.push(2));
        assert_eq!(list.find(|&item| item == 2), Some(2));
        // SAFETY: the pointer came from `Arc::into_raw`, and the change leaked this reference.
        let leaked = unsafe { Arc::from_raw(old) };
        assert_eq!((leaked.as_slice(), Arc::strong_count(&leaked)), (&[1][..], 1));
    }
}
