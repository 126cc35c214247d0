//! Versions and error texts.

use ferroblosc::Error;
use std::ffi::{CStr, c_char, c_int};

/// The version of Ferroblosc.
pub const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version is a text without NUL"),
    };

/// The version of the library, as text: that of the headers is FERROBLOSC_VERSION_STRING. Don't
/// free it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_version() -> *const c_char {
    boundary!(ferroblosc_version, always, { Ok(VERSION.as_ptr()) })
}

/// The text for an error code of a function of this library; "Unknown error" for values that are
/// none. The codes are the BLOSC2_ERROR_ ones of blosc2.h. Don't free it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_error_string(error_code: c_int) -> *const c_char {
    boundary!(ferroblosc_error_string, always, {
        Ok(Error::from_code(error_code).c_message().as_ptr())
    })
}
