//! Metalayers of super-chunks.

use crate::bridge::lent::name_of;
use crate::bridge::schunk::{CSchunk, Entered, Purpose};
use crate::context::core_cparams;
use crate::types::params::blosc2_cparams;
use crate::types::schunk::blosc2_schunk;
use ferroblosc::chunk::CParams;
use ferroblosc::schunk::meta;
use ferroblosc::{Buffer, Error, ErrorKind, Result};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

/// The super-chunk and the name of a call.
///
/// # Safety
/// NULL, or a super-chunk and a C string.
unsafe fn named(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
    purpose: Purpose,
) -> Result<(Entered<CSchunk>, Buffer)> {
    // SAFETY: promised by the caller.
    unsafe {
        let schunk = CSchunk::enter(schunk, purpose)
            .map_err(|error| error.recast(ErrorKind::InvalidParam))?;
        Ok((schunk, name_of(name)?))
    }
}

/// The parameters to compress a content with.
///
/// # Safety
/// NULL or valid parameters.
unsafe fn parameters(cparams: *const blosc2_cparams) -> CParams {
    // SAFETY: promised by the caller.
    unsafe {
        cparams
            .as_ref()
            .map_or_else(CParams::default, |cparams| core_cparams(cparams))
    }
}

/// Adds a metalayer of content_len bytes. Super-chunks in frames take none once they have chunks. Gives
/// its number, or an error code.
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

/// Overwrites the start of the content of a metalayer; a content that is longer changes nothing. Gives
/// its number, or an error code.
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

/// The number of a variable-length metalayer, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_exists(
    schunk: *mut blosc2_schunk,
    name: *const c_char,
) -> c_int {
    boundary!(blosc2_vlmeta_exists, {
        // SAFETY: the caller passes a super-chunk and a name, or NULL.
        unsafe {
            let (schunk, name) = named(schunk, name, Purpose::Look)?;
            Ok(meta::vl_find(&*schunk, &name)? as c_int)
        }
    })
}

/// Adds a variable-length metalayer, compressed with cparams, or the defaults for NULL. Gives its number,
/// or an error code.
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
            let number = meta::vl_add(&mut *schunk, &name, content.bytes(), parameters(cparams))?;
            Ok(number as c_int)
        }
    })
}

/// Gives a variable-length metalayer another content. Gives its number, or an error code.
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
            let number =
                meta::vl_update(&mut *schunk, &name, content.bytes(), parameters(cparams))?;
            Ok(number as c_int)
        }
    })
}

/// Stores the content of a variable-length metalayer in *content, in memory that the caller frees, NULL
/// when it is empty, and its bytes in *content_len. Gives its number, or an error code.
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
            let (schunk, name) = named(schunk, name, Purpose::Look)?;
            let (number, bytes) = meta::vl_get(&*schunk, &name)?;
            if !bytes.is_empty() {
                content_len.write(i32::try_from(bytes.len()).map_err(|_| Error::Data)?);
                content.write(bytes.into_raw());
            }
            Ok(number as c_int)
        }
    })
}

/// Removes a variable-length metalayer. Gives how many are left, or an error code.
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

/// Stores the names of the variable-length metalayers in names, which has room for
/// schunk->nvlmetalayers pointers; they belong to the super-chunk. Gives their count, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlmeta_get_names(
    schunk: *mut blosc2_schunk,
    names: *mut *mut c_char,
) -> c_int {
    boundary!(blosc2_vlmeta_get_names, {
        // SAFETY: the caller passes a super-chunk and an array for the names, or NULL.
        unsafe {
            let schunk = CSchunk::enter(schunk, Purpose::Look)
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
