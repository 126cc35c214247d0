//! Filters: registration, and the shuffle filters as functions.

use crate::bridge::filter::CFilter;
use crate::types::plugins::blosc2_filter;
use ferroblosc::filter::{self, Filter};
use ferroblosc::kernels::bitshuffle::{bitshuffle, bitunshuffle};
use ferroblosc::kernels::shuffle::{shuffle, unshuffle};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::pointers::StableSource;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// The maximum typesize of the shuffle functions in bytes.
const MAX_TYPESIZE: i32 = 256;

/// Registers a filter. Registering the same id and name again has no effect.
///
/// - `filter`: the filter. The struct is copied; the name is not and must outlive the library.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_FAILURE if the id is below
/// BLOSC2_USER_REGISTERED_FILTERS_START or registered with another name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_register_filter(filter: *mut blosc2_filter) -> c_int {
    boundary!(blosc2_register_filter, {
        // SAFETY: the caller passes a valid struct with a NUL-terminated name, or NULL.
        let (user, name) = unsafe {
            let user = pointers::reference(filter)?;
            (user, pointers::c_str(user.name).ok_or(Error::InvalidParam)?)
        };
        let functions = CFilter { forward: user.forward, backward: user.backward };
        let is_named_only = user.forward.is_none() && user.backward.is_none();
        let functions = (!is_named_only).then(|| Arc::new(functions) as Arc<dyn Filter>);
        filter::register_entry(user.id, &name.to_string_lossy(), functions)?;
        Ok(0)
    })
}

/// Transforms `blocksize` bytes at `src` into as many at `dest`.
///
/// # Safety
/// `src` is NULL or readable and `dest` is NULL or writable for `blocksize` bytes.
unsafe fn transform(
    (typesize, max_typesize): (i32, i32),
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
    kernel: fn(usize, &[u8], &mut [u8]),
) -> Result<i32> {
    if !(1..=max_typesize).contains(&typesize) {
        return Err(Error::InvalidParam);
    }
    // SAFETY: guaranteed by the caller.
    let (src, dest) = unsafe {
        pointers::bytes(src, blocksize)?;
        let src = StableSource::from((src, blocksize), (dest, blocksize))?;
        (src, pointers::bytes_mut(dest, blocksize)?)
    };
    kernel(typesize as usize, src.bytes(), dest);
    Ok(blocksize)
}

/// Shuffles bytes: the first bytes of all items, then their second bytes, and so on.
///
/// - `typesize`: the size of an item in bytes: 1 to 256.
/// - `blocksize`: the size of the data in bytes.
/// - `src`: the data; may overlap `dest`.
/// - `dest`: the destination, `blocksize` bytes, owned by the caller.
///
/// Returns `blocksize`, or BLOSC2_ERROR_INVALID_PARAM for an invalid size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_shuffle(
    typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    boundary!(blosc2_shuffle, in_memory, {
        // SAFETY: the caller passes `blocksize` readable and writable bytes, or NULL.
        unsafe { transform((typesize, MAX_TYPESIZE), blocksize, src, dest, shuffle) }
    })
}

/// Reverses blosc2_shuffle().
///
/// - `typesize`: the size of an item in bytes: 1 to 256.
/// - `blocksize`: the size of the data in bytes.
/// - `src`: the data; may overlap `dest`.
/// - `dest`: the destination, `blocksize` bytes, owned by the caller.
///
/// Returns `blocksize`, or BLOSC2_ERROR_INVALID_PARAM for an invalid size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_unshuffle(
    typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    boundary!(blosc2_unshuffle, in_memory, {
        // SAFETY: the caller passes `blocksize` readable and writable bytes, or NULL.
        unsafe { transform((typesize, MAX_TYPESIZE), blocksize, src, dest, unshuffle) }
    })
}

/// Shuffles bits: the first bits of all items, then their second bits, and so on.
///
/// - `typesize`: the size of an item in bytes: 1 to 256.
/// - `blocksize`: the size of the data in bytes.
/// - `src`: the data; may overlap `dest`.
/// - `dest`: the destination, `blocksize` bytes, owned by the caller.
///
/// Returns `blocksize`, or BLOSC2_ERROR_INVALID_PARAM for an invalid size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_bitshuffle(
    typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    boundary!(blosc2_bitshuffle, in_memory, {
        // SAFETY: the caller passes `blocksize` readable and writable bytes, or NULL.
        unsafe { transform((typesize, MAX_TYPESIZE), blocksize, src, dest, bitshuffle) }
    })
}

/// Reverses blosc2_bitshuffle().
///
/// - `typesize`: the size of an item in bytes, at least 1; unlike in blosc2_bitshuffle(), it may
///   exceed 256.
/// - `blocksize`: the size of the data in bytes.
/// - `src`: the data; may overlap `dest`.
/// - `dest`: the destination, `blocksize` bytes, owned by the caller.
///
/// Returns `blocksize`, or BLOSC2_ERROR_INVALID_PARAM for an invalid size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_bitunshuffle(
    typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    boundary!(blosc2_bitunshuffle, in_memory, {
        // SAFETY: the caller passes `blocksize` readable and writable bytes, or NULL.
        unsafe { transform((typesize, i32::MAX), blocksize, src, dest, bitunshuffle) }
    })
}
