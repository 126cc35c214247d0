//! Versions and error texts.

use ferroblosc::Error;
use std::ffi::{CStr, c_char, c_int};

/// The version of Ferroblosc.
pub const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version is a text without NUL"),
    };

/// Returns the version of the library as text. FERROBLOSC_VERSION_STRING is the version of the
/// headers. The library owns the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_version() -> *const c_char {
    boundary!(ferroblosc_version, always, { Ok(VERSION.as_ptr()) })
}

/// Returns the text of an error code, or "Unknown error" for other values. The library owns the
/// text.
///
/// - `error_code`: a code returned by a function of this library. The codes are the BLOSC2_ERROR_
///   constants of blosc2.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_error_string(error_code: c_int) -> *const c_char {
    boundary!(ferroblosc_error_string, unrecorded, {
        Ok(Error::from_code(error_code).c_message().as_ptr())
    })
}
