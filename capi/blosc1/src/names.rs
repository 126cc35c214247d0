//! Codecs by name and number, their libraries, and the version.

use ferroblosc::Buffer;
use ferroblosc::blosc1::{self, Error};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{CStr, c_char, c_int};
use std::ptr::{null, null_mut};

/// Looks up the name of a compressor. The library owns the name.
///
/// - `compcode`: the code of the compressor.
/// - `compname`: receives the name, or NULL for an unknown code; may be NULL.
///
/// Returns the code, or -1 for an unknown code or a compressor that this build does not have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_compcode_to_compname(
    compcode: c_int,
    compname: *mut *const c_char,
) -> c_int {
    boundary!(blosc_compcode_to_compname, in_memory, Error, {
        let name = blosc1::known_compname(compcode);
        // SAFETY: the caller passes a writable pointer or NULL.
        unsafe { pointers::write_if_given(compname, name.map_or(null(), CStr::as_ptr)) };
        blosc1::compcode_to_compname(compcode).map(|_| compcode).ok_or(Error::Failure)
    })
}

/// Returns the code of a compressor, or -1 for an unknown name.
///
/// - `compname`: the name of the compressor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_compname_to_compcode(compname: *const c_char) -> c_int {
    boundary!(blosc_compname_to_compcode, in_memory, Error, {
        // SAFETY: the caller passes a NUL-terminated string or NULL.
        let name = unsafe { pointers::c_str(compname) };
        let code = name.and_then(|name| blosc1::compname_to_compcode(name.to_bytes()));
        code.map(c_int::from).ok_or(Error::Failure)
    })
}

/// Returns the names of all compressors, separated by commas. The library owns the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_list_compressors() -> *const c_char {
    boundary!(blosc_list_compressors, always, Error, { Ok(blosc1::COMPRESSORS.as_ptr()) })
}

/// Returns the version of the library, BLOSC_VERSION_STRING. The library owns the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_get_version_string() -> *const c_char {
    boundary!(blosc_get_version_string, always, Error, { Ok(blosc1::VERSION.as_ptr()) })
}

/// Looks up the name and the version of the library of a compressor.
///
/// - `compname`: the name of the compressor.
/// - `complib`: receives the name, which the caller releases with free(), or NULL for an unknown
///   compressor; may be NULL.
/// - `version`: receives the version, which the caller releases with free(), or NULL for an unknown
///   compressor; may be NULL.
///
/// Returns the code of the library, or -1 for an unknown compressor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_get_complib_info(
    compname: *const c_char,
    complib: *mut *mut c_char,
    version: *mut *mut c_char,
) -> c_int {
    boundary!(blosc_get_complib_info, Error, {
        // SAFETY: the caller passes writable pointers or NULL.
        unsafe {
            pointers::write_if_given(complib, null_mut());
            pointers::write_if_given(version, null_mut());
        }
        // SAFETY: the caller passes a NUL-terminated string or NULL.
        let name = unsafe { pointers::c_str(compname) }.ok_or(Error::Failure)?;
        let library = blosc1::library(name.to_bytes()).ok_or(Error::Failure)?;
        // Both copies are made before one is stored.
        let copy = |text: &CStr| Buffer::copy_of(text.to_bytes_with_nul());
        for (output, text) in [(complib, copy(library.name)?), (version, copy(library.version)?)] {
            if !output.is_null() {
                // SAFETY: not NULL, so the caller guarantees that it is writable.
                unsafe { output.write(text.into_raw().cast()) };
            }
        }
        Ok(library.code.into())
    })
}
