//! The functions of `b2nd.h`: N-dimensional arrays.

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

/// A copy of a caller's numbers, one for each dimension. The copy is made at the start of the call,
/// since the numbers may be fields of the array that the call changes.
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

/// Copies one number for each dimension. The pointer must not be NULL, even for 0 dimensions.
///
/// # Errors
/// [`Error::NullPointer`]; [`Error::InvalidParam`] for more than [`MAX_DIM`] dimensions.
///
/// # Safety
/// `start` is NULL or points to `ndim` numbers.
unsafe fn numbers<T: Copy + Default>(start: *const T, ndim: usize) -> Result<Numbers<T>> {
    let mut values = [T::default(); MAX_DIM];
    let own = values.get_mut(..ndim).ok_or(Error::InvalidParam)?;
    // SAFETY: guaranteed by the caller.
    own.copy_from_slice(unsafe { entries(start, ndim) }?);
    Ok(Numbers { values, ndim })
}

/// Returns a caller's array as a slice. The pointer must not be NULL, even for 0 entries.
///
/// # Safety
/// `start` is NULL or points to `count` entries, which do not change during `'a`.
///
/// # Errors
/// [`Error::NullPointer`]; [`Error::InvalidParam`] for more entries than the address space holds.
unsafe fn entries<'a, T>(start: *const T, count: usize) -> Result<&'a [T]> {
    if start.is_null() {
        return Err(Error::NullPointer);
    }
    let len = count.checked_mul(size_of::<T>());
    if len.is_none_or(|len| isize::try_from(len).is_err()) {
        return Err(Error::InvalidParam);
    }
    // SAFETY: not NULL; guaranteed by the caller.
    Ok(unsafe { std::slice::from_raw_parts(start, count) })
}

/// Creates an array over a super-chunk, with a copy of the dtype. The array owns the super-chunk if
/// the call succeeds.
///
/// # Safety
/// The chunks of the super-chunk have this geometry.
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
        chunk_cache: chunk_cache_s { data: null_mut(), nchunk: -1 },
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
    // SAFETY: the struct was just created, and only this call has a pointer to it.
    unsafe { store_geometry(array, geometry) };
    Ok(array)
}

/// Copies text to a C string from `malloc`.
fn c_text(text: &[u8]) -> Result<*mut c_char> {
    let mut copy = Buffer::zeroed(text.len() + 1)?;
    copy[..text.len()].copy_from_slice(text);
    Ok(copy.into_raw().cast())
}

/// Creates an array over a super-chunk that the current call created. On failure, frees the
/// super-chunk and removes its files.
///
/// # Safety
/// The same conditions as for [`new_array`]; the current call holds the only pointer to the
/// super-chunk.
unsafe fn array_or_discard(
    sc: *mut blosc2_schunk,
    make: impl FnOnce() -> Result<*mut b2nd_array_t>,
) -> Result<*mut b2nd_array_t> {
    make().inspect_err(|_| {
        // SAFETY: guaranteed by the caller.
        unsafe { schunk::discard(sc) }
    })
}

/// Frees an array whose construction failed, and removes its files.
///
/// # Safety
/// The current call created the array and holds the only pointer to it.
unsafe fn discard(array: *mut b2nd_array_t) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        schunk::discard((*array).sc);
        libc::free((*array).dtype.cast());
        drop(Box::from_raw(array));
    }
}

/// Stores NULL in an output pointer, so that it is NULL after every error.
///
/// # Safety
/// `array` is NULL or valid for the write of a pointer.
unsafe fn cleared(array: *mut *mut b2nd_array_t) -> Result<*mut *mut b2nd_array_t> {
    if array.is_null() {
        Err(Error::NullPointer)
    } else {
        // SAFETY: not NULL; guaranteed by the caller.
        unsafe { array.write(null_mut()) };
        Ok(array)
    }
}

/// Frees an array with its super-chunk. Files are kept.
///
/// - `array`: the array. If its `sc` is NULL, only the array is freed.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_free(array: *mut b2nd_array_t) -> c_int {
    boundary!(b2nd_free, always, {
        if array.is_null() {
            return Err(Error::NullPointer);
        }
        // SAFETY: the caller passes an array that is not used again.
        unsafe {
            let _ = schunk::free((*array).sc);
            libc::free((*array).dtype.cast());
            drop(Box::from_raw(array));
        }
        Ok(0)
    })
}

/// Reloads the shape of an array if another handle or process has changed it in the file.
///
/// - `array`: the array.
///
/// Returns 1 if the shape had changed, 0 if not, or a negative error code: BLOSC2_ERROR_DATA if
/// more than the shape has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_refresh(array: *mut b2nd_array_t) -> c_int {
    boundary!(b2nd_refresh, {
        // SAFETY: the caller passes an array, or NULL.
        let array = unsafe { CArray::enter(array, Purpose::Inspect) }?;
        refresh_all(&*array).map(c_int::from)
    })
}
