//! Codecs: names, libraries, registration.

use crate::bridge::codec::CCodec;
use crate::types::plugins::blosc2_codec;
use ferroblosc::{Buffer, Error, codec};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{CStr, c_char, c_int};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// The names of the built-in codecs, separated by commas. Don't free it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_list_compressors() -> *const c_char {
    boundary!(blosc2_list_compressors, always, {
        Ok(codec::BUILTIN_NAMES.as_ptr())
    })
}

/// The code of the codec with this name, built in or registered; -1 when there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_compname_to_compcode(compname: *const c_char) -> c_int {
    boundary!(blosc2_compname_to_compcode, in_memory, {
        // SAFETY: the caller gives a NUL-terminated string, or NULL.
        let name = unsafe { pointers::c_str(compname) }.ok_or(Error::Failure)?;
        let code = codec::compname_to_compcode(name.to_bytes()).ok_or(Error::Failure)?;
        Ok(c_int::from(code))
    })
}

/// Stores the name of the codec with this code in *compname; don't free it.
///
/// Gives the code; -1 when there is no such codec, and the name is NULL then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_compcode_to_compname(
    compcode: c_int,
    compname: *mut *const c_char,
) -> c_int {
    boundary!(blosc2_compcode_to_compname, in_memory, {
        let name = u8::try_from(compcode)
            .ok()
            .and_then(codec::compcode_to_compname);
        // SAFETY: the caller gives room for a pointer, or NULL.
        unsafe { pointers::write_if_given(compname, name.map_or(null(), |name| name.as_ptr())) };
        name.map(|_| compcode).ok_or(Error::Failure)
    })
}

/// Stores the name and the version of the library behind a codec in *complib and *version; the
/// caller frees them.
///
/// Gives the code of the library; -1 when there is no such codec, and both are NULL then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_complib_info(
    compname: *const c_char,
    complib: *mut *mut c_char,
    version: *mut *mut c_char,
) -> c_int {
    boundary!(blosc2_get_complib_info, {
        // SAFETY: the caller gives room for pointers, or NULL.
        unsafe {
            pointers::write_if_given(complib, null_mut());
            pointers::write_if_given(version, null_mut());
        }
        // SAFETY: the caller gives a NUL-terminated string, or NULL.
        let name = unsafe { pointers::c_str(compname) }.ok_or(Error::Failure)?;
        let library = codec::library_info(name.to_bytes()).ok_or(Error::Failure)?;
        // Both are made before one is handed over.
        let copy = |text: &CStr| Buffer::copy_of(text.to_bytes_with_nul());
        for (output, text) in [
            (complib, copy(library.name)?),
            (version, copy(library.version)?),
        ] {
            if !output.is_null() {
                // SAFETY: not NULL, so that there is room for a pointer.
                unsafe { output.write(text.into_raw().cast()) };
            }
        }
        Ok(c_int::from(library.code))
    })
}

/// Makes a codec known to the library. The struct is copied, its name is not.
///
/// Gives 0; registering the same code and name again changes nothing. A code below
/// BLOSC2_USER_REGISTERED_CODECS_START, or one taken by another name, is refused with
/// BLOSC2_ERROR_CODEC_PARAM.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_register_codec(codec: *mut blosc2_codec) -> c_int {
    boundary!(blosc2_register_codec, {
        // SAFETY: the caller gives a valid struct with a NUL-terminated name, or NULL.
        let (user, name) = unsafe {
            let user = pointers::reference(codec)?;
            (
                user,
                pointers::c_str(user.compname).ok_or(Error::InvalidParam)?,
            )
        };
        let functions = CCodec {
            encoder: user.encoder,
            decoder: user.decoder,
        };
        let is_named_only = user.encoder.is_none() && user.decoder.is_none();
        let functions = (!is_named_only).then(|| Arc::new(functions) as Arc<dyn codec::Codec>);
        codec::register(user.compcode, name, user.complib, user.version, functions)?;
        Ok(0)
    })
}
