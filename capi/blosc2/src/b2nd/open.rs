//! Functions that open arrays: from super-chunks, files and frames.

use super::{cleared, new_array};
use crate::bridge::schunk::CSchunk;
use crate::schunk;
use crate::schunk::frames;
use crate::types::b2nd::b2nd_array_t;
use crate::types::flag::{Flag, is_set};
use crate::types::schunk::blosc2_schunk;
use ferroblosc::b2nd::create::{find, true_typesize};
use ferroblosc::{Error, ErrorKind, Result};
use ferroblosc_capi_common::boundary;
use std::ffi::{c_char, c_int};

/// Creates the array of a super-chunk. The array owns the super-chunk if the call succeeds.
///
/// # Safety
/// The super-chunk is alive.
unsafe fn of_schunk(sc: *mut blosc2_schunk) -> Result<*mut b2nd_array_t> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let schunk = CSchunk::new(sc)?;
        let (meta, geometry) = find(&schunk)?;
        if let Some(typesize) = true_typesize(&schunk, &meta, &geometry) {
            schunk::set_typesize(schunk, typesize)?;
        }
        new_array(sc, &geometry, meta.dtype.as_deref(), meta.dtype_format, schunk.current_version())
    }
}

/// Creates the array of a super-chunk that was just opened. On failure, frees the super-chunk.
///
/// # Safety
/// The same conditions as for [`of_schunk`]; the current call holds the only pointer to the
/// super-chunk.
unsafe fn of_opened(sc: *mut blosc2_schunk) -> Result<*mut b2nd_array_t> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        of_schunk(sc).inspect_err(|_| {
            let _ = schunk::free(sc);
        })
    }
}

/// Creates an array from a super-chunk with a b2nd metalayer.
///
/// - `schunk`: the super-chunk. The array owns it if the call succeeds; otherwise the caller keeps
///   it.
/// - `array`: receives the array, which the caller frees with b2nd_free(); NULL on error.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_from_schunk(
    schunk: *mut blosc2_schunk,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_from_schunk, {
        // SAFETY: the caller passes a super-chunk and a writable pointer, or NULL.
        unsafe {
            let array = cleared(array)?;
            array.write(of_schunk(schunk)?);
        }
        Ok(0)
    })
}

/// Opens the array in a contiguous frame in memory.
///
/// - `cframe`: the frame. Without `copy` it belongs to the caller and must outlive the array, which
///   does not write to it.
/// - `cframe_len`: the size of the frame in bytes.
/// - `copy`: whether to copy the chunks into the array.
/// - `array`: receives the array, which the caller frees with b2nd_free(); NULL on error.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_from_cframe(
    cframe: *mut u8,
    cframe_len: i64,
    copy: Flag,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_from_cframe, {
        // SAFETY: the caller passes cframe_len bytes and a writable pointer, or NULL.
        unsafe {
            let array = cleared(array)?;
            if cframe.is_null() {
                return Err(Error::NullPointer);
            }
            let opened = frames::from_buffer(cframe, cframe_len, is_set(copy));
            array.write(of_opened(opened.map_err(|error| error.recast(ErrorKind::Failure))?)?);
        }
        Ok(0)
    })
}

/// Opens the array in a file or directory.
///
/// - `urlpath`: the path of the file or directory.
/// - `array`: receives the array, which the caller frees with b2nd_free(); NULL on error.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_NULL_POINTER if no frame can be opened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_open(urlpath: *const c_char, array: *mut *mut b2nd_array_t) -> c_int {
    boundary!(b2nd_open, {
        // SAFETY: the caller passes a path and a writable pointer, or NULL.
        unsafe { open(urlpath, array, 0) }
    })
}

/// Opens the array whose frame starts at an offset in a file.
///
/// - `urlpath`: the path of the file.
/// - `array`: receives the array, which the caller frees with b2nd_free(); NULL on error.
/// - `offset`: the offset of the frame in bytes.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_NULL_POINTER if no frame can be opened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_open_offset(
    urlpath: *const c_char,
    array: *mut *mut b2nd_array_t,
    offset: i64,
) -> c_int {
    boundary!(b2nd_open_offset, {
        // SAFETY: the caller passes a path and a writable pointer, or NULL.
        unsafe { open(urlpath, array, offset) }
    })
}

/// Opens the array in a frame at an offset.
///
/// # Safety
/// `urlpath` is NULL or a C string; `array` is NULL or valid for the write of a pointer.
unsafe fn open(
    urlpath: *const c_char,
    array: *mut *mut b2nd_array_t,
    offset: i64,
) -> Result<c_int> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let array = cleared(array)?;
        let opened = schunk::open(urlpath, offset, std::ptr::null());
        array.write(of_opened(opened.map_err(|error| error.recast(ErrorKind::NullPointer))?)?);
    }
    Ok(0)
}
