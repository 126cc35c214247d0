//! Codecs: names, libraries and registration.

use crate::bridge::codec::CCodec;
use crate::types::plugins::blosc2_codec;
use ferroblosc::{Buffer, Error, codec};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{CStr, c_char, c_int};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// Returns the names of the built-in codecs, separated by commas. The library owns the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_list_compressors() -> *const c_char {
    boundary!(blosc2_list_compressors, always, { Ok(codec::BUILTIN_NAMES.as_ptr()) })
}

/// Returns the code of a built-in or registered codec, or -1 for an unknown one.
///
/// - `compname`: the name of the codec.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_compname_to_compcode(compname: *const c_char) -> c_int {
    boundary!(blosc2_compname_to_compcode, in_memory, {
        // SAFETY: the caller passes a NUL-terminated string or NULL.
        let name = unsafe { pointers::c_str(compname) }.ok_or(Error::Failure)?;
        let code = codec::compname_to_compcode(name.to_bytes()).ok_or(Error::Failure)?;
        Ok(c_int::from(code))
    })
}

/// Looks up the name of a built-in or registered codec. The library owns the name.
///
/// - `compcode`: the code of the codec.
/// - `compname`: receives the name, or NULL for an unknown codec; may be NULL.
///
/// Returns the code, or -1 for an unknown codec.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_compcode_to_compname(
    compcode: c_int,
    compname: *mut *const c_char,
) -> c_int {
    boundary!(blosc2_compcode_to_compname, in_memory, {
        let name = u8::try_from(compcode).ok().and_then(codec::compcode_to_compname);
        // SAFETY: the caller passes a writable pointer or NULL.
        unsafe { pointers::write_if_given(compname, name.map_or(null(), |name| name.as_ptr())) };
        name.map(|_| compcode).ok_or(Error::Failure)
    })
}

/// Looks up the name and the version of the library of a codec.
///
/// - `compname`: the name of the codec.
/// - `complib`: receives the name, which the caller releases with free(), or NULL for an unknown
///   codec; may be NULL.
/// - `version`: receives the version, which the caller releases with free(), or NULL for an unknown
///   codec; may be NULL.
///
/// Returns the code of the library, or -1 for an unknown codec.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_complib_info(
    compname: *const c_char,
    complib: *mut *mut c_char,
    version: *mut *mut c_char,
) -> c_int {
    boundary!(blosc2_get_complib_info, {
        // SAFETY: the caller passes writable pointers or NULL.
        unsafe {
            pointers::write_if_given(complib, null_mut());
            pointers::write_if_given(version, null_mut());
        }
        // SAFETY: the caller passes a NUL-terminated string or NULL.
        let name = unsafe { pointers::c_str(compname) }.ok_or(Error::Failure)?;
        let library = codec::library_info(name.to_bytes()).ok_or(Error::Failure)?;
        // Both copies are made before one is stored.
        let copy = |text: &CStr| Buffer::copy_of(text.to_bytes_with_nul());
        for (output, text) in [(complib, copy(library.name)?), (version, copy(library.version)?)] {
            if !output.is_null() {
                // SAFETY: not NULL, so a pointer can be written.
                unsafe { output.write(text.into_raw().cast()) };
            }
        }
        Ok(c_int::from(library.code))
    })
}

/// Registers a codec. Registering the same code and name again has no effect.
///
/// - `codec`: the codec. The struct is copied; the name is not and must outlive the library.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_CODEC_PARAM if the code is below
/// BLOSC2_USER_REGISTERED_CODECS_START or registered with another name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_register_codec(codec: *mut blosc2_codec) -> c_int {
    boundary!(blosc2_register_codec, {
        // SAFETY: the caller passes a valid struct with a NUL-terminated name, or NULL.
        let (user, name) = unsafe {
            let user = pointers::reference(codec)?;
            (user, pointers::c_str(user.compname).ok_or(Error::InvalidParam)?)
        };
        let functions = CCodec { encoder: user.encoder, decoder: user.decoder };
        let is_named_only = user.encoder.is_none() && user.decoder.is_none();
        let functions = (!is_named_only).then(|| Arc::new(functions) as Arc<dyn codec::Codec>);
        codec::register_entry(user.compcode, name, user.complib, user.version, functions)?;
        Ok(0)
    })
}
