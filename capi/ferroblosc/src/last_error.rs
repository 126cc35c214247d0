//! The last error of a thread, across this library and libblosc2.
//!
//! libblosc2 stores the last error of both if it is linked with the program; otherwise each library
//! stores its own.

use crate::extensions::{extensions, linked_extensions};
use ferroblosc_capi_common::last_error as own;
use std::ffi::{c_char, c_int};

/// Passes the result of a call of this library to libblosc2.
pub(crate) fn forward() {
    if let Some(table) = linked_extensions() {
        // SAFETY: the text is NULL or NUL-terminated.
        unsafe { (table.set_last_error)(own::text(), own::errno()) };
    }
}

/// Returns the message of this thread's last call if it failed, otherwise NULL. The message is one
/// line of text with the operation, the path or chunk, and the reason of the system.
///
/// Calls are those of the functions of libblosc2 and of this library, except this one,
/// ferroblosc_last_errno() and the functions that return the text of a code. Functions of libblosc
/// (Blosc 1.x) and user callbacks are not included. The library owns the text: it is valid until
/// the next call of the same thread.
///
/// Calls of libblosc2 are included if it is Ferroblosc's and its symbols are visible in the
/// process: a library opened with RTLD_LOCAL, as Python does, is not visible.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_last_error() -> *const c_char {
    boundary!(ferroblosc_last_error, unrecorded, {
        let text = own::text();
        if text.is_null() || linked_extensions().is_some() {
            return Ok(extensions().map_or(text, |table| (table.last_error)()));
        }
        Ok(text)
    })
}

/// Returns the `errno` of this thread's last call if the system made it fail, otherwise 0. Calls
/// are those of ferroblosc_last_error().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_last_errno() -> c_int {
    boundary!(ferroblosc_last_errno, unrecorded, {
        if own::text().is_null() || linked_extensions().is_some() {
            return Ok(extensions().map_or(own::errno(), |table| (table.last_errno)()));
        }
        Ok(own::errno())
    })
}
