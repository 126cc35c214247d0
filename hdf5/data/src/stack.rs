//! HDF5's error stack.

use crate::api::{Api, Guard};
use crate::error::{Error, is_missing_filter};
use std::ffi::{CStr, c_uint, c_void};

/// Returns the error of a failed call, with the reason on the error stack, which is cleared. An
/// error of the system is not caused by damaged data.
pub fn of_call(api: &Api, guard: &Guard, action: impl Into<String>) -> Error {
    let reason = reason(api, guard);
    let system = system_error(&reason);
    Error::Call {
        action: action.into(),
        is_open: system.is_none(),
        reason: system.map_or(reason, |error| error.to_string()),
    }
}

/// Returns the error of the system in a message of HDF5's file drivers.
fn system_error(reason: &str) -> Option<std::io::Error> {
    let (_, rest) = reason.split_once("errno = ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest[..end].parse().ok().filter(|&number: &i32| number > 0)?;
    Some(std::io::Error::from_raw_os_error(number))
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

/// The messages of the error stack.
#[derive(Default)]
struct Messages {
    /// The innermost one.
    innermost: String,
    /// The one that names a missing filter. Entries inside of it are about the directories in which
    /// HDF5 searched its plugin.
    missing_filter: Option<String>,
}

/// The visitor of the error stack, which records messages.
unsafe extern "C" fn record(number: c_uint, entry: *const Entry, found: *mut c_void) -> i32 {
    // SAFETY: HDF5 passes a valid entry, and `reason` a pointer to its local `Messages`, which
    // nothing else uses during the walk.
    let (entry, found) = unsafe { (&*entry, &mut *found.cast::<Messages>()) };
    if entry.text.is_null() {
        return 0;
    }
    // SAFETY: the text of an entry is a C string.
    let text = unsafe { CStr::from_ptr(entry.text) }.to_string_lossy();
    if number == 0 {
        found.innermost = text.into_owned();
    } else if found.missing_filter.is_none() && is_missing_filter(&text) {
        found.missing_filter = Some(text.into_owned());
    }
    0
}

/// Returns the reason on the error stack, and clears the stack.
fn reason(api: &Api, _: &Guard) -> String {
    const STACK: i64 = 0;
    const UPWARD: i32 = 0;
    let mut found = Messages::default();
    let visitor: unsafe extern "C" fn(c_uint, *const Entry, *mut c_void) -> i32 = record;
    // SAFETY: the visitor has the type of `H5E_walk2_t`, and receives a pointer to `found`.
    unsafe {
        (api.H5Ewalk2)(STACK, UPWARD, visitor as *const c_void, (&raw mut found).cast());
        (api.H5Eclear2)(STACK);
    }
    found.missing_filter.unwrap_or(found.innermost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_are_found_in_messages() {
        let text = "file write failed: time = Thu\n, filename = 'o.h5', file descriptor = 7, \
                    errno = 28, error message = 'No space left on device', buf = 0x1";
        assert_eq!(system_error(text).and_then(|error| error.raw_os_error()), Some(28));
        for text in ["", "errno = ", "errno = 0, error", "errno = x", "bad object header"] {
            assert!(system_error(text).is_none(), "{text}");
        }
    }
}
