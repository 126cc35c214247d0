//! Functions that read and write items by their indices.

use super::{entries, numbers};
use crate::bridge::arguments::ReadGuard;
use crate::bridge::array::CArray;
use crate::bridge::schunk::Purpose;
use crate::schunk::slices::coordinates;
use crate::types::b2nd::b2nd_array_t;
use ferroblosc::b2nd::refresh_locked;
use ferroblosc::b2nd::selection::{self, Selection};
use ferroblosc::io::lock::{Kind as LockKind, LockGuard};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::boundary;
use std::ffi::{c_int, c_void};

/// Decompresses the items at a list of flat indices into a buffer.
///
/// - `array`: the array.
/// - `ncoords`: the number of indices.
/// - `coords`: the indices of the items in row-major order, in any order.
/// - `buffer`: the destination, outside the memory of the array; receives the items in the order of
///   `coords`.
/// - `buffersize`: the size of the buffer in bytes, at least that of the items.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_get_sparse_cbuffer(
    array: *const b2nd_array_t,
    ncoords: i64,
    coords: *const i64,
    buffer: *mut c_void,
    buffersize: i64,
) -> c_int {
    boundary!(b2nd_get_sparse_cbuffer, {
        // SAFETY: the caller passes an array, ncoords numbers and a buffer, or NULL.
        unsafe {
            let array = CArray::enter(array, Purpose::Read)?;
            let count = usize::try_from(ncoords).map_err(|_| Error::InvalidParam)?;
            if count == 0 {
                return Ok(0);
            }
            if coords.is_null() || buffer.is_null() {
                return Err(Error::NullPointer);
            }
            let len = array.typesize()?.checked_mul(count);
            let len = len.filter(|&len| i64::try_from(len).is_ok_and(|len| len <= buffersize));
            let len = len.ok_or(Error::InvalidParam)?;
            let _held = refresh_locked(&*array, LockKind::Shared)?;
            array.check_destination(buffer.cast(), len)?;
            let mut own = Vec::new();
            let coords = coordinates(coords, count, (buffer.cast(), len), &mut own)?;
            let dest = std::slice::from_raw_parts_mut(buffer.cast(), len);
            selection::get_sparse(&*array, coords, dest)?;
        }
        Ok(0)
    })
}

/// Returns the selection of a call, and the lock to hold during the call.
///
/// # Safety
/// `indices` and `sizes` are NULL or have one entry for each dimension: a list of indices and its
/// length.
unsafe fn selection(
    array: CArray,
    indices: *mut *mut i64,
    sizes: *mut i64,
    buffer: *const c_void,
    buffershape: *mut i64,
    buffersize: i64,
    kind: LockKind,
) -> Result<(Selection, Option<LockGuard>)> {
    let ndim = array.ndim()?;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (starts, sizes) = (entries(indices, ndim)?, numbers(sizes, ndim)?);
        let shape = numbers(buffershape, ndim)?;
        if buffer.is_null() {
            return Err(Error::NullPointer);
        }
        let mut lists = Vec::new();
        for (&start, &size) in starts.iter().zip(sizes.iter()) {
            let size = usize::try_from(size).map_err(|_| Error::InvalidParam)?;
            lists.push((start.cast_const(), size));
            entries(start.cast_const(), size)?;
        }
        // The reload may change fields of the array, and the lists may be among these fields.
        let held = refresh_locked(&array, kind)?;
        let lists: Result<Vec<&[i64]>> =
            (lists.iter()).map(|&(start, size)| entries(start, size)).collect();
        Ok((Selection::new(&array, &lists?, &shape, buffersize)?, held))
    }
}

/// Decompresses the items at all combinations of indices along each dimension into a buffer.
///
/// - `array`: the array.
/// - `selection`: one list of indices for each dimension.
/// - `selection_size`: the number of indices of each list.
/// - `buffer`: the destination, outside the memory of the array; receives the items in row-major
///   order.
/// - `buffershape`: the extent of the buffer in each dimension, in items; at least the number of
///   selected indices.
/// - `buffersize`: the size of the selected items in bytes.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_INVALID_INDEX for an index outside the array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_get_orthogonal_selection(
    array: *const b2nd_array_t,
    selection: *mut *mut i64,
    selection_size: *mut i64,
    buffer: *mut c_void,
    buffershape: *mut i64,
    buffersize: i64,
) -> c_int {
    boundary!(b2nd_get_orthogonal_selection, {
        // SAFETY: the caller passes an array, lists of numbers and a buffer, or NULL.
        unsafe {
            let array = CArray::enter(array, Purpose::Read)?;
            let (selection, _held) = self::selection(
                *array,
                selection,
                selection_size,
                buffer,
                buffershape,
                buffersize,
                LockKind::Shared,
            )?;
            array.check_destination(buffer.cast(), selection.extent_bytes())?;
            let dest = std::slice::from_raw_parts_mut(buffer.cast(), selection.extent_bytes());
            selection::get(&*array, &selection, dest)?;
        }
        Ok(0)
    })
}

/// Overwrites the items at all combinations of indices along each dimension from a buffer.
///
/// If an item is selected more than once, its last value in the buffer is stored.
///
/// - `array`: the array.
/// - `selection`: one list of indices for each dimension.
/// - `selection_size`: the number of indices of each list.
/// - `buffer`: the new items in row-major order, owned by the caller.
/// - `buffershape`: the extent of the buffer in each dimension, in items; at least the number of
///   selected indices.
/// - `buffersize`: the size of the selected items in bytes.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_INVALID_INDEX for an index outside the array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_set_orthogonal_selection(
    array: *mut b2nd_array_t,
    selection: *mut *mut i64,
    selection_size: *mut i64,
    buffer: *const c_void,
    buffershape: *mut i64,
    buffersize: i64,
) -> c_int {
    boundary!(b2nd_set_orthogonal_selection, {
        // SAFETY: the caller passes an array, lists of numbers and a buffer, or NULL.
        unsafe {
            let mut array = CArray::enter(array, Purpose::Recompress)?;
            let (selection, _held) = self::selection(
                *array,
                selection,
                selection_size,
                buffer,
                buffershape,
                buffersize,
                LockKind::Exclusive,
            )?;
            let src = array.argument(buffer.cast(), selection.extent_bytes())?;
            let _reading = ReadGuard::begin(array.schunk(), &src);
            selection::set(&mut *array, &selection, src.bytes())?;
        }
        Ok(0)
    })
}
