//! A pointer through which threads pass one boxed value: null, or the value of the last successful
//! `fill` that no `take` has returned.
//!
//! Values are swapped, never locked, so the pointer stays usable in a forked child.

use std::ptr::null_mut;

use super::sync::{AtomicPtr, Ordering};

/// Takes the content of a slot, if any.
///
/// # Safety
/// Only this function and [`fill`] have changed the slot since it was null.
pub(crate) unsafe fn take<T: Send>(slot: &AtomicPtr<T>) -> Option<Box<T>> {
    // Relaxed: a hint that avoids a needless write; the slot may change at any time.
    if slot.load(Ordering::Relaxed).is_null() {
        return None;
    }
    // Acquire: makes the writes of the last user visible.
    let item = slot.swap(null_mut(), Ordering::Acquire);
    // SAFETY: by the caller's contract the pointer came from `Box::into_raw` in `fill`; the swap
    // made this call its only owner.
    (!item.is_null()).then(|| unsafe { Box::from_raw(item) })
}

/// Fills an empty slot; returns the item if the slot is full.
pub(crate) fn fill<T: Send>(slot: &AtomicPtr<T>, item: Box<T>) -> Result<(), Box<T>> {
    if !slot.load(Ordering::Relaxed).is_null() {
        return Err(item);
    }
    let item = Box::into_raw(item);
    // Release: makes the writes to the item visible to its next user.
    match slot.compare_exchange(null_mut(), item, Ordering::Release, Ordering::Relaxed) {
        Ok(_) => Ok(()),
        // SAFETY: the pointer came from `Box::into_raw` above and was not stored.
        Err(_) => Err(unsafe { Box::from_raw(item) }),
    }
}
