//! Arrays from super-chunks, files and frames.

use super::{cleared, new_array};
use crate::bridge::schunk::CSchunk;
use crate::schunk;
use crate::schunk::frames;
use crate::types::b2nd::b2nd_array_t;
use crate::types::schunk::blosc2_schunk;
use ferroblosc::b2nd::create::{find, true_typesize};
use ferroblosc::{Error, ErrorKind, Result};
use ferroblosc_capi_common::boundary;
use std::ffi::{c_char, c_int};

/// The array that a super-chunk is; the super-chunk is the array's when the call succeeds.
///
/// # Safety
/// The super-chunk is alive.
unsafe fn of_schunk(sc: *mut blosc2_schunk) -> Result<*mut b2nd_array_t> {
    // SAFETY: promised by the caller.
    unsafe {
        let schunk = CSchunk::new(sc)?;
        let (meta, geometry) = find(&schunk)?;
        let array = new_array(
            sc,
            &geometry,
            meta.dtype.as_deref(),
            meta.dtype_format,
            (*sc).change_tick,
        )?;
        if let Some(typesize) = true_typesize(&schunk, &meta, &geometry) {
            schunk::set_typesize(schunk, typesize)?;
        }
        Ok(array)
    }
}

/// The array of a super-chunk that was just opened and is freed when it is none.
///
/// # Safety
/// As [`of_schunk`]; nobody else has seen the super-chunk.
unsafe fn of_opened(sc: *mut blosc2_schunk) -> Result<*mut b2nd_array_t> {
    // SAFETY: promised by the caller.
    unsafe {
        of_schunk(sc).inspect_err(|_| {
            let _ = schunk::free(sc);
        })
    }
}

/// Makes an array of a super-chunk that has the metalayer of one. The array owns the super-chunk when the
/// call succeeds. Gives 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_from_schunk(
    schunk: *mut blosc2_schunk,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_from_schunk, {
        // SAFETY: the caller gives a super-chunk and room for a pointer, or NULL.
        unsafe {
            let array = cleared(array)?;
            array.write(of_schunk(schunk)?);
        }
        Ok(0)
    })
}

/// Opens the array in a contiguous frame of cframe_len bytes. With copy the data are copied; without, the
/// bytes stay the caller's and must outlive the array, which never writes to them. Gives 0, or an error
/// code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_from_cframe(
    cframe: *mut u8,
    cframe_len: i64,
    copy: bool,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_from_cframe, {
        // SAFETY: the caller gives cframe_len bytes and room for a pointer, or NULL.
        unsafe {
            let array = cleared(array)?;
            if cframe.is_null() {
                return Err(Error::NullPointer);
            }
            let opened = frames::from_buffer(cframe, cframe_len, copy);
            array.write(of_opened(
                opened.map_err(|error| error.recast(ErrorKind::Failure))?,
            )?);
        }
        Ok(0)
    })
}

/// Opens the array in a file or directory. Gives 0, or an error code: BLOSC2_ERROR_NULL_POINTER when there
/// is no frame. The caller frees the array by b2nd_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_open(urlpath: *const c_char, array: *mut *mut b2nd_array_t) -> c_int {
    boundary!(b2nd_open, {
        // SAFETY: the caller gives a path and room for a pointer, or NULL.
        unsafe { open(urlpath, array, 0) }
    })
}

/// Opens the array in the frame that begins at a byte of a file. Gives 0, or an error code, as
/// b2nd_open(). The caller frees the array by b2nd_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_open_offset(
    urlpath: *const c_char,
    array: *mut *mut b2nd_array_t,
    offset: i64,
) -> c_int {
    boundary!(b2nd_open_offset, {
        // SAFETY: the caller gives a path and room for a pointer, or NULL.
        unsafe { open(urlpath, array, offset) }
    })
}

/// # Safety
/// A C string or NULL; room for a pointer or NULL.
unsafe fn open(
    urlpath: *const c_char,
    array: *mut *mut b2nd_array_t,
    offset: i64,
) -> Result<c_int> {
    // SAFETY: promised by the caller.
    unsafe {
        let array = cleared(array)?;
        let opened = schunk::open(urlpath, offset, std::ptr::null());
        array.write(of_opened(
            opened.map_err(|error| error.recast(ErrorKind::NullPointer))?,
        )?);
    }
    Ok(0)
}
