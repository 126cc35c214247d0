//! Filters: registration, and the shuffles as functions.

use crate::bridge::filter::CFilter;
use crate::types::plugins::blosc2_filter;
use ferroblosc::filter::{self, Filter};
use ferroblosc::kernels::{bitshuffle, shuffle};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::pointers::Apart;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// The largest item the shuffles take.
const MAX_SHUFFLED_TYPESIZE: i32 = 256;

/// Makes a filter known to the library. The struct is copied, its name is not.
///
/// Gives 0; registering the same id and name again changes nothing. An id below
/// BLOSC2_USER_REGISTERED_FILTERS_START, or one taken by another name, is refused with
/// BLOSC2_ERROR_FAILURE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_register_filter(filter: *mut blosc2_filter) -> c_int {
    boundary!(blosc2_register_filter, {
        // SAFETY: the caller gives a valid struct with a NUL-terminated name, or NULL.
        let (user, name) = unsafe {
            let user = pointers::reference(filter)?;
            (user, pointers::c_str(user.name).ok_or(Error::InvalidParam)?)
        };
        let functions = CFilter {
            forward: user.forward,
            backward: user.backward,
        };
        let is_named_only = user.forward.is_none() && user.backward.is_none();
        let functions = (!is_named_only).then(|| Arc::new(functions) as Arc<dyn Filter>);
        filter::register(user.id, &name.to_string_lossy(), functions)?;
        Ok(0)
    })
}

/// A transform of blocksize bytes at src to as many at dest.
///
/// # Safety
/// src is readable and dest writable for that many bytes.
unsafe fn transform(
    typesize: i32,
    max_typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
    kernel: fn(usize, &[u8], &mut [u8]),
) -> Result<i32> {
    if !(1..=max_typesize).contains(&typesize) {
        return Err(Error::InvalidParam);
    }
    // SAFETY: promised by the caller.
    let (src, dest) = unsafe {
        pointers::bytes(src, blocksize)?;
        let src = Apart::from((src, blocksize), (dest, blocksize))?;
        (src, pointers::bytes_mut(dest, blocksize)?)
    };
    kernel(typesize as usize, src.bytes(), dest);
    Ok(blocksize)
}

/// Shuffles bytes: the first bytes of all items, then the second ones, and so on.
///
/// src and dest have blocksize bytes and may overlap. Gives blocksize, or
/// BLOSC2_ERROR_INVALID_PARAM for a typesize outside of 1 to 256 or a negative blocksize.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_shuffle(
    typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    boundary!(blosc2_shuffle, in_memory, {
        // SAFETY: the caller promises the bytes.
        unsafe {
            transform(
                typesize,
                MAX_SHUFFLED_TYPESIZE,
                blocksize,
                src,
                dest,
                shuffle::shuffle,
            )
        }
    })
}

/// Undoes blosc2_shuffle(). Sizes and what it gives are as there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_unshuffle(
    typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    boundary!(blosc2_unshuffle, in_memory, {
        // SAFETY: the caller promises the bytes.
        unsafe {
            transform(
                typesize,
                MAX_SHUFFLED_TYPESIZE,
                blocksize,
                src,
                dest,
                shuffle::unshuffle,
            )
        }
    })
}

/// Shuffles bits: the first bits of all items, then the second ones, and so on.
///
/// src and dest have blocksize bytes and may overlap. Gives blocksize, or
/// BLOSC2_ERROR_INVALID_PARAM for a typesize outside of 1 to 256 or a negative blocksize.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_bitshuffle(
    typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    boundary!(blosc2_bitshuffle, in_memory, {
        // SAFETY: the caller promises the bytes.
        unsafe {
            transform(
                typesize,
                MAX_SHUFFLED_TYPESIZE,
                blocksize,
                src,
                dest,
                bitshuffle::bitshuffle,
            )
        }
    })
}

/// Undoes blosc2_bitshuffle(). Larger typesizes than 256 are taken here. Sizes and what it gives
/// are as there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_bitunshuffle(
    typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    boundary!(blosc2_bitunshuffle, in_memory, {
        // SAFETY: the caller promises the bytes.
        unsafe {
            transform(
                typesize,
                i32::MAX,
                blocksize,
                src,
                dest,
                bitshuffle::bitunshuffle,
            )
        }
    })
}
