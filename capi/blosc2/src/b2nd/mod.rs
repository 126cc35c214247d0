//! Arrays of several dimensions, of `b2nd.h`.

pub mod copy;
pub mod create;
pub mod meta;
pub mod open;
pub mod save;
pub mod selections;
pub mod shape;
pub mod slices;
pub mod views;

use crate::bridge::array::{CArray, store_geometry};
use crate::bridge::schunk::Purpose;
use crate::schunk;
use crate::types::b2nd::{b2nd_array_t, chunk_cache_s};
use crate::types::schunk::blosc2_schunk;
use ferroblosc::b2nd::{Geometry, MAX_DIM, refresh_all};
use ferroblosc::{Buffer, Error, Result};
use ferroblosc_capi_common::boundary;
use std::ffi::{c_char, c_int};
use std::ops::Deref;
use std::ptr::null_mut;

/// Numbers of a caller, one for each dimension, as they were when the call began: they may be fields of the
/// array that the call changes.
#[derive(Clone, Copy)]
struct Numbers<T> {
    values: [T; MAX_DIM],
    ndim: usize,
}

impl<T> Deref for Numbers<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[..self.ndim]
    }
}

/// Copies the numbers that a caller gives for each dimension; none are needed for no dimension, but the
/// pointer is.
///
/// # Errors
/// [`Error::NullPointer`]; [`Error::InvalidParam`] for more dimensions than arrays have.
///
/// # Safety
/// NULL, or as many numbers as there are dimensions.
unsafe fn numbers<T: Copy + Default>(start: *const T, ndim: usize) -> Result<Numbers<T>> {
    let mut values = [T::default(); MAX_DIM];
    let own = values.get_mut(..ndim).ok_or(Error::InvalidParam)?;
    // SAFETY: promised by the caller.
    own.copy_from_slice(unsafe { entries(start, ndim) }?);
    Ok(Numbers { values, ndim })
}

/// The entries of an array of a caller; the pointer is needed even for none.
///
/// # Errors
/// [`Error::NullPointer`].
///
/// # Safety
/// NULL, or as many entries, which nobody changes while `'a` lasts.
unsafe fn entries<'a, T>(start: *const T, count: usize) -> Result<&'a [T]> {
    if start.is_null() {
        return Err(Error::NullPointer);
    }
    // SAFETY: not NULL; promised by the caller.
    Ok(unsafe { std::slice::from_raw_parts(start, count) })
}

/// An array with a super-chunk, and a copy of the type of its items. The super-chunk is the array's when
/// the call succeeds.
///
/// # Safety
/// A super-chunk with chunks of this geometry.
unsafe fn new_array(
    sc: *mut blosc2_schunk,
    geometry: &Geometry,
    dtype: Option<&[u8]>,
    dtype_format: i8,
    last_tick: i64,
) -> Result<*mut b2nd_array_t> {
    let dtype = match dtype {
        None => null_mut(),
        Some(dtype) => c_text(dtype)?,
    };
    let array = Box::into_raw(Box::new(b2nd_array_t {
        sc,
        shape: [1; MAX_DIM],
        chunkshape: [1; MAX_DIM],
        extshape: [1; MAX_DIM],
        blockshape: [1; MAX_DIM],
        extchunkshape: [1; MAX_DIM],
        nitems: 1,
        chunknitems: 1,
        extnitems: 1,
        blocknitems: 1,
        extchunknitems: 1,
        ndim: 0,
        chunk_cache: chunk_cache_s {
            data: null_mut(),
            nchunk: -1,
        },
        item_array_strides: [0; MAX_DIM],
        item_chunk_strides: [0; MAX_DIM],
        item_extchunk_strides: [0; MAX_DIM],
        item_block_strides: [0; MAX_DIM],
        block_chunk_strides: [0; MAX_DIM],
        chunk_array_strides: [0; MAX_DIM],
        dtype,
        dtype_format,
        last_tick,
    }));
    // SAFETY: it was just made.
    unsafe { store_geometry(array, geometry) };
    Ok(array)
}

/// Text as a C string of malloc.
fn c_text(text: &[u8]) -> Result<*mut c_char> {
    let mut copy = Buffer::zeroed(text.len() + 1)?;
    copy[..text.len()].copy_from_slice(text);
    Ok(copy.into_raw().cast())
}

/// An array over a super-chunk of this call's, which is thrown away, with its files, when that fails.
///
/// # Safety
/// As [`new_array`]; nobody else has seen the super-chunk.
unsafe fn array_or_discard(
    sc: *mut blosc2_schunk,
    make: impl FnOnce() -> Result<*mut b2nd_array_t>,
) -> Result<*mut b2nd_array_t> {
    make().inspect_err(|_| {
        // SAFETY: promised by the caller.
        unsafe { schunk::discard(sc) }
    })
}

/// Frees an array that could not be finished, with its files.
///
/// # Safety
/// It was made by this call, and nobody else has seen it.
unsafe fn discard(array: *mut b2nd_array_t) {
    // SAFETY: promised by the caller.
    unsafe {
        schunk::discard((*array).sc);
        libc::free((*array).dtype.cast());
        drop(Box::from_raw(array));
    }
}

/// Stores NULL where an array is to come, so that it is there after every error.
///
/// # Safety
/// NULL, or room for a pointer.
unsafe fn cleared(array: *mut *mut b2nd_array_t) -> Result<*mut *mut b2nd_array_t> {
    match array.is_null() {
        true => Err(Error::NullPointer),
        false => {
            // SAFETY: not NULL; promised by the caller.
            unsafe { array.write(null_mut()) };
            Ok(array)
        }
    }
}

/// Frees an array with its super-chunk, unless sc is NULL. Gives 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_free(array: *mut b2nd_array_t) -> c_int {
    boundary!(b2nd_free, always, {
        if array.is_null() {
            return Err(Error::NullPointer);
        }
        // SAFETY: the caller gives an array that isn't used any more.
        unsafe {
            let _ = schunk::free((*array).sc);
            libc::free((*array).dtype.cast());
            drop(Box::from_raw(array));
        }
        Ok(0)
    })
}

/// Takes up the shape that another handle or process has given the array in its file. Gives 1 when there
/// was something, 0 when not, or an error code: BLOSC2_ERROR_DATA when more than the shape has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_refresh(array: *mut b2nd_array_t) -> c_int {
    boundary!(b2nd_refresh, {
        // SAFETY: the caller gives an array, or NULL.
        let array = unsafe { CArray::enter(array, Purpose::Look) }?;
        refresh_all(&*array).map(c_int::from)
    })
}
