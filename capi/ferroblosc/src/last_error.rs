//! The last error of a thread, of this library and of libblosc2.
//!
//! libblosc2 keeps the last error of both, if it is linked with the program; each library keeps its own
//! otherwise.

use crate::extensions::{extensions, linked_extensions};
use ferroblosc_capi_common::last_error as own;
use std::ffi::{c_char, c_int};

/// Lets libblosc2 know how a call of this library ended.
pub(crate) fn forward() {
    if let Some(table) = linked_extensions() {
        // SAFETY: the text is NULL or NUL-terminated.
        unsafe { (table.set_last_error)(own::text(), own::errno()) };
    }
}

/// Why the last call of this thread failed, as one line of text: the operation, the path or chunk, and
/// the reason of the system. NULL when the call succeeded, and before the first one.
///
/// The call is one of a function of libblosc2 or of this library; functions of libblosc (Blosc 1.x),
/// and callbacks that you wrote, don't count. Each thread has its own last error. The text stays in
/// place until the next such call of the same thread; don't free it. Asking changes nothing.
///
/// Of calls of libblosc2 it is known if that is the one of Ferroblosc, and if the process can see it: a
/// library that was opened with RTLD_LOCAL, as Python does, is not seen.
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

/// The error number of the system (`errno`) that made the last call of this thread fail; 0 when it
/// succeeded, and when it failed for another reason. Calls are those of ferroblosc_last_error().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_last_errno() -> c_int {
    boundary!(ferroblosc_last_errno, unrecorded, {
        if own::text().is_null() || linked_extensions().is_some() {
            return Ok(extensions().map_or(own::errno(), |table| (table.last_errno)()));
        }
        Ok(own::errno())
    })
}
