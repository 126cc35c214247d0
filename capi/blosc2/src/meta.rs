//! Functions for the metalayers of super-chunks.

use crate::bridge::arguments::name_of;
use crate::bridge::origin::{CompressionOrigin, OwnCopy};
use crate::bridge::params::core_cparams;
use crate::bridge::schunk::{CSchunk, Entered, Purpose};
use crate::types::params::blosc2_cparams;
use crate::types::schunk::blosc2_schunk;
use ferroblosc::chunk::CParams;
use ferroblosc::schunk::meta;
use ferroblosc::{Buffer, Error, ErrorKind, Result};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_char, c_int};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// Enters the super-chunk of a call. Returns it with a copy of the name.
///
/// # Safety
/// `schunk` is NULL or a super-chunk; `name` is NULL or a C string.
unsafe fn named(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
    purpose: Purpose,
) -> Result<(Entered<CSchunk>, Buffer)> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let schunk = CSchunk::enter(schunk, purpose)
            .map_err(|error| error.recast(ErrorKind::InvalidParam))?;
        Ok((schunk, name_of(name)?))
    }
}

/// Returns the parameters for compressing a metalayer's content. Callbacks receive those of the
/// program, with the super-chunk of the call unless they name another one.
///
/// # Safety
/// `cparams` is NULL or valid.
unsafe fn parameters(schunk: CSchunk, cparams: *const blosc2_cparams) -> CParams {
    // SAFETY: guaranteed by the caller.
    let Some(cparams) = (unsafe { cparams.as_ref() }) else {
        return CParams::default();
    };
    // SAFETY: guaranteed by the caller.
    let mut params = unsafe { core_cparams(cparams) };
    let mut own = *cparams;
    if own.schunk.is_null() {
        own.schunk = schunk.as_ptr().cast();
    }
    // SAFETY: NULL is not copied.
    let preparams = unsafe { OwnCopy::of(null()) };
    params.user_data = Some(Arc::new(CompressionOrigin::new(own, preparams)));
    params
}

/// Adds a fixed-length metalayer.
///
/// A super-chunk in a frame accepts metalayers only while it has no chunks.
///
/// - `schunk`: the super-chunk.
/// - `name`: the name of the metalayer.
/// - `content`: the content, which is copied.
/// - `content_len`: the size of the content in bytes.
///
/// Returns the index of the metalayer, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_meta_add(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
    content: *mut u8,
    content_len: i32,
) -> c_int {
    boundary!(blosc2_meta_add, {
        // SAFETY: the caller passes a super-chunk, a name and a content, or NULL.
        unsafe {
            let (mut schunk, name) = named(schunk, name, Purpose::Change)?;
            let content = schunk.argument(content.cast(), content_len)?;
            Ok(meta::add(&mut *schunk, &name, content.bytes())? as c_int)
        }
    })
}

/// Overwrites the first bytes of the content of a fixed-length metalayer.
///
/// If the content is longer than the metalayer's, the call has no effect and is not an error.
///
/// - `schunk`: the super-chunk.
/// - `name`: the name of the metalayer.
/// - `content`: the new bytes, which are copied.
/// - `content_len`: the number of bytes.
///
/// Returns the index of the metalayer, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_meta_update(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
    content: *mut u8,
    content_len: i32,
) -> c_int {
    boundary!(blosc2_meta_update, {
        // SAFETY: the caller passes a super-chunk, a name and a content, or NULL.
        unsafe {
            let (mut schunk, name) = named(schunk, name, Purpose::Change)?;
            let content = schunk.argument(content.cast(), content_len)?;
            Ok(meta::update(&mut *schunk, &name, content.bytes())? as c_int)
        }
    })
}

/// Returns the index of a variable-length metalayer.
///
/// - `schunk`: the super-chunk.
/// - `name`: the name of the metalayer.
///
/// Returns the index, or a negative error code: BLOSC2_ERROR_NOT_FOUND if it does not exist.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_exists(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
) -> c_int {
    boundary!(blosc2_vlmeta_exists, {
        // SAFETY: the caller passes a super-chunk and a name, or NULL.
        unsafe {
            let (schunk, name) = named(schunk, name, Purpose::Inspect)?;
            Ok(meta::vl_find(&*schunk, &name)? as c_int)
        }
    })
}

/// Adds a variable-length metalayer.
///
/// - `schunk`: the super-chunk.
/// - `name`: the name of the metalayer.
/// - `content`: the content, which is compressed into a copy.
/// - `content_len`: the size of the content in bytes.
/// - `cparams`: the parameters to compress with, or NULL for the defaults.
///
/// Returns the index of the metalayer, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_add(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
    content: *mut u8,
    content_len: i32,
    cparams: *mut blosc2_cparams,
) -> c_int {
    boundary!(blosc2_vlmeta_add, {
        // SAFETY: the caller passes a super-chunk, a name, a content and parameters, or NULL.
        unsafe {
            let (mut schunk, name) = named(schunk, name, Purpose::Change)?;
            let content = schunk.argument(content.cast(), content_len)?;
            let params = parameters(*schunk, cparams);
            let number = meta::vl_add(&mut *schunk, &name, content.bytes(), params)?;
            Ok(number as c_int)
        }
    })
}

/// Replaces the content of a variable-length metalayer.
///
/// - `schunk`: the super-chunk.
/// - `name`: the name of the metalayer.
/// - `content`: the new content, which is compressed into a copy.
/// - `content_len`: the size of the content in bytes.
/// - `cparams`: the parameters to compress with, or NULL for the defaults.
///
/// Returns the index of the metalayer, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_update(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
    content: *mut u8,
    content_len: i32,
    cparams: *mut blosc2_cparams,
) -> c_int {
    boundary!(blosc2_vlmeta_update, {
        // SAFETY: the caller passes a super-chunk, a name, a content and parameters, or NULL.
        unsafe {
            let (mut schunk, name) = named(schunk, name, Purpose::Change)?;
            let content = schunk.argument(content.cast(), content_len)?;
            let params = parameters(*schunk, cparams);
            let number = meta::vl_update(&mut *schunk, &name, content.bytes(), params)?;
            Ok(number as c_int)
        }
    })
}

/// Decompresses the content of a variable-length metalayer.
///
/// - `schunk`: the super-chunk.
/// - `name`: the name of the metalayer.
/// - `content`: receives a new buffer, which the caller must free(); NULL on error or for an empty
///   content.
/// - `content_len`: receives the size of the content in bytes, 0 on error.
///
/// Returns the index of the metalayer, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_get(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
    content: *mut *mut u8,
    content_len: *mut i32,
) -> c_int {
    boundary!(blosc2_vlmeta_get, {
        // SAFETY: the caller passes a super-chunk, a name and result pointers, or NULL.
        unsafe {
            pointers::write_if_given(content, null_mut());
            pointers::write_if_given(content_len, 0);
            if content.is_null() || content_len.is_null() {
                return Err(Error::InvalidParam);
            }
            let (schunk, name) = named(schunk, name, Purpose::Inspect)?;
            let (number, bytes) = meta::vl_get(&*schunk, &name)?;
            if !bytes.is_empty() {
                content_len.write(i32::try_from(bytes.len()).map_err(|_| Error::Data)?);
                content.write(bytes.into_raw());
            }
            Ok(number as c_int)
        }
    })
}

/// Removes a variable-length metalayer.
///
/// - `schunk`: the super-chunk.
/// - `name`: the name of the metalayer.
///
/// Returns the new number of variable-length metalayers, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_delete(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
) -> c_int {
    boundary!(blosc2_vlmeta_delete, {
        // SAFETY: the caller passes a super-chunk and a name, or NULL.
        unsafe {
            let (mut schunk, name) = named(schunk, name, Purpose::Change)?;
            Ok(meta::vl_delete(&mut *schunk, &name)? as c_int)
        }
    })
}

/// Returns the names of the variable-length metalayers.
///
/// - `schunk`: the super-chunk.
/// - `names`: an array of `schunk->nvlmetalayers` pointers; receives the names, which belong to the
///   super-chunk and are valid until its metalayers change.
///
/// Returns the number of names, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_get_names(
    schunk: *mut blosc2_schunk,
    names: *mut *mut c_char,
) -> c_int {
    boundary!(blosc2_vlmeta_get_names, {
        // SAFETY: the caller passes a super-chunk and an array for the names, or NULL.
        unsafe {
            let schunk = CSchunk::enter(schunk, Purpose::Inspect)
                .map_err(|error| error.recast(ErrorKind::InvalidParam))?;
            let found = schunk.vlmetalayer_names();
            if names.is_null() && !found.is_empty() {
                return Err(Error::InvalidParam);
            }
            for (i, name) in found.iter().enumerate() {
                names.add(i).write(*name);
            }
            Ok(found.len() as c_int)
        }
    })
}
