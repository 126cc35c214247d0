//! Functions that change the shape of arrays.

use super::save::copy_of;
use super::{cleared, discard, numbers};
use crate::bridge::arguments::ReadGuard;
use crate::bridge::array::CArray;
use crate::bridge::schunk::{CSchunk, Entered, Purpose};
use crate::types::b2nd::{b2nd_array_t, b2nd_context_t};
use crate::types::flag::{Flag, is_set};
use ferroblosc::b2nd::{concatenate, refresh, resize};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::boundary;
use ferroblosc_capi_common::pointers::StableSource;
use std::ffi::{c_int, c_void};

/// Changes the shape of an array.
///
/// Along each dimension, items are added or removed at `start`. Inside the array, only whole chunks
/// can be added or removed. New items are 0, except where a chunk still holds items that an earlier
/// call cut off.
///
/// - `array`: the array.
/// - `new_shape`: the new extent of the array in each dimension, in items.
/// - `start`: the index of the first added or removed item in each dimension, or NULL for the end.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_resize(
    array: *mut b2nd_array_t,
    new_shape: *const i64,
    start: *const i64,
) -> c_int {
    boundary!(b2nd_resize, {
        // SAFETY: the caller passes an array and a number for each dimension, or NULL.
        unsafe {
            let mut array = CArray::enter(array, Purpose::Recompress)?;
            let ndim = array.ndim()?;
            let shape = numbers(new_shape, ndim)?;
            let start = if start.is_null() { None } else { Some(numbers(start, ndim)?) };
            resize::resize(&mut *array, &shape, start.as_deref())?;
        }
        Ok(0)
    })
}

/// Enters the array of a call to change it. Returns the array and the items.
///
/// # Safety
/// `array` is NULL or an array; `buffer` is NULL or points to `buffersize` bytes.
unsafe fn items(
    array: *mut b2nd_array_t,
    buffer: *const c_void,
    buffersize: i64,
) -> Result<(Entered<CArray>, StableSource)> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let array = CArray::enter(array, Purpose::Recompress)?;
        if buffer.is_null() {
            return Err(Error::NullPointer);
        }
        let size = usize::try_from(buffersize).map_err(|_| Error::InvalidParam)?;
        let items = array.argument(buffer.cast(), size)?;
        Ok((array, items))
    }
}

/// Inserts items into an array along an axis.
///
/// Inside the array, only whole chunks can be inserted.
///
/// - `array`: the array.
/// - `buffer`: the items to insert in row-major order, owned by the caller.
/// - `buffersize`: the size of the buffer in bytes, a whole number of indices along `axis`.
/// - `axis`: the dimension, counted from 0.
/// - `insert_start`: the index of the first new item along the axis.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_insert(
    array: *mut b2nd_array_t,
    buffer: *const c_void,
    buffersize: i64,
    axis: i8,
    insert_start: i64,
) -> c_int {
    boundary!(b2nd_insert, {
        // SAFETY: the caller passes an array and buffersize bytes, or NULL.
        unsafe {
            let (mut array, items) = items(array, buffer, buffersize)?;
            let _reading = ReadGuard::begin(array.schunk(), &items);
            resize::insert(&mut *array, items.bytes(), axis, insert_start)?;
        }
        Ok(0)
    })
}

/// Appends items to an array along an axis.
///
/// - `array`: the array.
/// - `buffer`: the items to append in row-major order, owned by the caller.
/// - `buffersize`: the size of the buffer in bytes, a whole number of indices along `axis`.
/// - `axis`: the dimension, counted from 0.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_append(
    array: *mut b2nd_array_t,
    buffer: *const c_void,
    buffersize: i64,
    axis: i8,
) -> c_int {
    boundary!(b2nd_append, {
        // SAFETY: the caller passes an array and buffersize bytes, or NULL.
        unsafe {
            let (mut array, items) = items(array, buffer, buffersize)?;
            let _reading = ReadGuard::begin(array.schunk(), &items);
            resize::append(&mut *array, items.bytes(), axis)?;
        }
        Ok(0)
    })
}

/// Removes items of an array along an axis.
///
/// Inside the array, only whole chunks can be removed.
///
/// - `array`: the array.
/// - `axis`: the dimension, counted from 0.
/// - `delete_start`: the first index to remove.
/// - `delete_len`: the number of indices to remove.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_delete(
    array: *mut b2nd_array_t,
    axis: i8,
    delete_start: i64,
    delete_len: i64,
) -> c_int {
    boundary!(b2nd_delete, {
        // SAFETY: the caller passes an array, or NULL.
        let mut array = unsafe { CArray::enter(array, Purpose::Recompress) }?;
        resize::delete(&mut *array, axis, delete_start, delete_len)?;
        Ok(0)
    })
}

/// Concatenates two arrays along an axis.
///
/// - `ctx`: the context with the chunk shape, block shape and storage of a new array. Its shape is
///   changed. It may be NULL if `copy` is false.
/// - `src1`: the first array.
/// - `src2`: the second array, with the item size of the first, and its shape except along the
///   axis.
/// - `axis`: the dimension, counted from 0.
/// - `copy`: whether to create a new array. Otherwise the items of `src2` are appended to `src1`.
/// - `array`: receives the result: a new array, which the caller frees with b2nd_free(), or `src1`.
///   NULL on error.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_concatenate(
    ctx: *mut b2nd_context_t,
    src1: *const b2nd_array_t,
    src2: *const b2nd_array_t,
    axis: i8,
    copy: Flag,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_concatenate, {
        // SAFETY: the caller passes a context, arrays and a writable pointer, or NULL.
        unsafe {
            let array = cleared(array)?;
            let copy = is_set(copy);
            let (mut first, second) = (CArray::new(src1)?, CArray::new(src2)?);
            let purpose = if copy { Purpose::Read } else { Purpose::Recompress };
            let _entered =
                CSchunk::both_entered((first.schunk(), purpose), (second.schunk(), Purpose::Read))?;
            first.check_numbers()?;
            second.check_numbers()?;
            refresh(&first)?;
            refresh(&second)?;
            if !copy {
                // The resize gives the chunks of a view other numbers.
                let source = if second.is_alias_of(first)? { first } else { second };
                first.schunk().set_sources(&[source.schunk()]);
                let extended = concatenate::extend(&mut first, &source, axis);
                first.schunk().clear_sources();
                extended?;
                array.write(first.as_ptr());
                return Ok(0);
            }
            let ctx = ctx.as_mut().ok_or(Error::NullPointer)?;
            concatenate::check(&first, &second, axis)?;
            let made = copy_of(ctx, first)?;
            let extended = CArray::new(made).and_then(|mut made| {
                made.schunk().set_sources(&[first.schunk(), second.schunk()]);
                concatenate::extend(&mut made, &second, axis)?;
                made.schunk().clear_sources();
                Ok(())
            });
            if let Err(error) = extended {
                discard(made);
                return Err(error);
            }
            array.write(made);
        }
        Ok(0)
    })
}
