//! Items of arrays by coordinates.

use super::{entries, numbers};
use crate::bridge::array::CArray;
use crate::bridge::lent::Reading;
use crate::bridge::schunk::Purpose;
use crate::schunk::slices::coordinates;
use crate::types::b2nd::b2nd_array_t;
use ferroblosc::b2nd::refresh;
use ferroblosc::b2nd::selection::{self, Selection};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::boundary;
use std::ffi::{c_int, c_void};

/// Reads the items of ncoords numbers, counted rows first, to buffer, one after the other. Gives 0, or an
/// error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_get_sparse_cbuffer(
    array: *const b2nd_array_t,
    ncoords: i64,
    coords: *const i64,
    buffer: *mut c_void,
    buffersize: i64,
) -> c_int {
    boundary!(b2nd_get_sparse_cbuffer, {
        // SAFETY: the caller gives an array, ncoords numbers and a buffer, or NULL.
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
            refresh(&*array)?;
            array.check_destination(buffer.cast(), len)?;
            let mut own = Vec::new();
            let coords = coordinates(coords, count, (buffer.cast(), len), &mut own)?;
            let dest = std::slice::from_raw_parts_mut(buffer.cast(), len);
            selection::get_sparse(&*array, coords, dest)?;
        }
        Ok(0)
    })
}

/// The selection of a call.
///
/// # Safety
/// `indices` and `sizes` are NULL or have an entry for each dimension, each of so many numbers.
unsafe fn selection(
    array: CArray,
    indices: *mut *mut i64,
    sizes: *mut i64,
    buffer: *const c_void,
    buffershape: *mut i64,
    buffersize: i64,
) -> Result<Selection> {
    let ndim = array.ndim()?;
    // SAFETY: promised by the caller.
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
        // This may change fields of the array that the lists are in.
        refresh(&array)?;
        let lists: Result<Vec<&[i64]>> = (lists.iter())
            .map(|&(start, size)| entries(start, size))
            .collect();
        Selection::new(&array, &lists?, &shape, buffersize)
    }
}

/// Reads the items at all combinations of indices, to a buffer of the shape buffershape, rows first.
/// selection holds the indices along each dimension, selection_size how many there are; buffersize is the
/// bytes of the items. Gives 0, or an error code.
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
        // SAFETY: the caller gives an array, lists of numbers and a buffer, or NULL.
        unsafe {
            let array = CArray::enter(array, Purpose::Read)?;
            let selection = self::selection(
                *array,
                selection,
                selection_size,
                buffer,
                buffershape,
                buffersize,
            )?;
            array.check_destination(buffer.cast(), selection.extent_bytes())?;
            let dest = std::slice::from_raw_parts_mut(buffer.cast(), selection.extent_bytes());
            selection::get(&*array, &selection, dest)?;
        }
        Ok(0)
    })
}

/// Writes the items at all combinations of indices along each dimension, as
/// b2nd_get_orthogonal_selection() reads them. Of items that are selected twice the last one stays. Gives
/// 0, or an error code.
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
        // SAFETY: the caller gives an array, lists of numbers and a buffer, or NULL.
        unsafe {
            let mut array = CArray::enter(array, Purpose::Rewrite)?;
            let selection = self::selection(
                *array,
                selection,
                selection_size,
                buffer,
                buffershape,
                buffersize,
            )?;
            let src = array.argument(buffer.cast(), selection.extent_bytes())?;
            let _reading = Reading::begin(array.schunk(), &src);
            selection::set(&mut *array, &selection, src.bytes())?;
        }
        Ok(0)
    })
}
