//! The open handles of stores and of bcolz objects, so that a handle that was closed is refused.
//!
//! The handles are boxed values. A table has the address and the type of each one; it is compared
//! before an address becomes a reference. Calls that run while another thread closes their handle
//! are a fault of the program that this does not detect.

use ferroblosc::{Error, Result};
use ferroblosc_capi_common::global::fork_safe_global;
use std::any::TypeId;
use std::collections::BTreeMap;

fork_safe_global! {
    /// The types of the open handles, by address.
    static OPEN: BTreeMap<usize, TypeId> = BTreeMap::new();
}

/// Creates a handle, which C callers close with [`close`].
pub fn open<T: Send + 'static>(value: T) -> *mut T {
    let handle = Box::into_raw(Box::new(value));
    OPEN.with(|open| open.insert(handle.addr(), TypeId::of::<T>()));
    handle
}

fn is_open<T: 'static>(handle: *const T) -> bool {
    OPEN.with(|open| open.get(&handle.addr()) == Some(&TypeId::of::<T>()))
}

fn invalid() -> Error {
    Error::InvalidParam.because("the handle is NULL, of another type, or closed")
}

/// Returns the value of a handle.
///
/// # Errors
/// [`Error::InvalidParam`] if no handle of this type is open at the address.
///
/// # Safety
/// No other thread closes or changes the value during `'a`.
pub unsafe fn get<'a, T: 'static>(handle: *const T) -> Result<&'a T> {
    if !is_open(handle) {
        return Err(invalid());
    }
    // SAFETY: `open` made the box at this address, and `close` has not removed it.
    Ok(unsafe { &*handle })
}

/// Returns the value of a handle, to change it.
///
/// # Errors
/// Returns the same errors as [`get`].
///
/// # Safety
/// No other thread uses the value during `'a`.
pub unsafe fn get_mut<'a, T: 'static>(handle: *mut T) -> Result<&'a mut T> {
    if !is_open(handle) {
        return Err(invalid());
    }
    // SAFETY: `open` made the box at this address, and `close` has not removed it.
    Ok(unsafe { &mut *handle })
}

/// Closes a handle and returns its value; `None` for NULL.
///
/// # Errors
/// Returns the same errors as [`get`].
///
/// # Safety
/// No other thread uses the value.
pub unsafe fn close<T: 'static>(handle: *mut T) -> Result<Option<Box<T>>> {
    if handle.is_null() {
        return Ok(None);
    }
    let removed = OPEN.with(|open| {
        let is_open = open.get(&handle.addr()) == Some(&TypeId::of::<T>());
        is_open && open.remove(&handle.addr()).is_some()
    });
    if !removed {
        return Err(invalid());
    }
    // SAFETY: `open` made the box at this address, and this call removed it from the table.
    Ok(Some(unsafe { Box::from_raw(handle) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_handle_and_one_of_another_type_are_refused() {
        let handle = open(5u32);
        // SAFETY: this thread alone uses the handle; addresses that are not open are not read.
        unsafe {
            assert_eq!(get(handle), Ok(&5));
            *get_mut(handle).unwrap() += 1;
            assert!(get(handle.cast::<u64>()).is_err());
            assert!(close(handle.cast::<u64>()).is_err());
            assert_eq!(close(handle), Ok(Some(Box::new(6))));
            assert!(get(handle).is_err());
            assert!(get_mut(handle).is_err());
            assert!(close(handle).is_err());
            assert_eq!(close(std::ptr::null_mut::<u32>()), Ok(None));
            assert!(get(std::ptr::null::<u32>()).is_err());
        }
    }
}
