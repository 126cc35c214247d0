//! HDF5's error stack.

use crate::api::{Api, Guard};
use crate::error::Error;
use std::ffi::{CStr, c_uint, c_void};

/// Returns the error of a failed call, with the reason on the error stack, which is cleared.
pub fn of_call(api: &Api, guard: &Guard, action: impl Into<String>) -> Error {
    Error::Call { action: action.into(), reason: reason(api, guard), is_open: true }
}

/// `H5E_error2_t`.
#[repr(C)]
struct Entry {
    class: i64,
    major: i64,
    minor: i64,
    line: c_uint,
    function: *const std::ffi::c_char,
    file: *const std::ffi::c_char,
    text: *const std::ffi::c_char,
}

/// The visitor of the error stack, which records the message of the innermost entry.
unsafe extern "C" fn record(number: c_uint, entry: *const Entry, found: *mut c_void) -> i32 {
    // SAFETY: HDF5 passes a valid entry, and `reason` a pointer to its local variable, which
    // nothing else uses during the walk.
    let (entry, found) = unsafe { (&*entry, &mut *found.cast::<String>()) };
    if number == 0 && !entry.text.is_null() {
        // SAFETY: the text of an entry is a C string.
        *found = unsafe { CStr::from_ptr(entry.text) }.to_string_lossy().into_owned();
    }
    0
}

/// Returns the innermost message of the error stack, and clears the stack.
fn reason(api: &Api, _: &Guard) -> String {
    const STACK: i64 = 0;
    const UPWARD: i32 = 0;
    let mut found = String::new();
    let visitor: unsafe extern "C" fn(c_uint, *const Entry, *mut c_void) -> i32 = record;
    // SAFETY: the visitor has the type of `H5E_walk2_t`, and receives a pointer to `found`.
    unsafe {
        (api.H5Ewalk2)(STACK, UPWARD, visitor as *const c_void, (&raw mut found).cast());
        (api.H5Eclear2)(STACK);
    }
    found
}
