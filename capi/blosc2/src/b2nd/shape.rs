//! Arrays of other shapes.

use super::save::copy_of;
use super::{cleared, discard, numbers};
use crate::bridge::array::CArray;
use crate::bridge::lent::Reading;
use crate::bridge::schunk::{CSchunk, Entered, Purpose};
use crate::types::b2nd::{b2nd_array_t, b2nd_context_t};
use ferroblosc::b2nd::{concatenate, refresh, resize};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::boundary;
use ferroblosc_capi_common::pointers::Apart;
use std::ffi::{c_int, c_void};

/// Gives the array another shape. Along each dimension items come or go at start, or at the end for a start
/// of NULL; inside of the array that is only for whole chunks. What comes is zero, unless it was cut off
/// before inside a chunk. Gives 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_resize(
    array: *mut b2nd_array_t,
    new_shape: *const i64,
    start: *const i64,
) -> c_int {
    boundary!(b2nd_resize, {
        // SAFETY: the caller gives an array and a number for each dimension, or NULL.
        unsafe {
            let mut array = CArray::enter(array, Purpose::Rewrite)?;
            let ndim = array.ndim()?;
            let shape = numbers(new_shape, ndim)?;
            let start = match start.is_null() {
                true => None,
                false => Some(numbers(start, ndim)?),
            };
            resize::resize(&mut *array, &shape, start.as_deref())?;
        }
        Ok(0)
    })
}

/// The array and the items of a call.
///
/// # Safety
/// NULL, or an array and so many bytes.
unsafe fn items(
    array: *mut b2nd_array_t,
    buffer: *const c_void,
    buffersize: i64,
) -> Result<(Entered<CArray>, Apart)> {
    // SAFETY: promised by the caller.
    unsafe {
        let array = CArray::enter(array, Purpose::Rewrite)?;
        if buffer.is_null() {
            return Err(Error::NullPointer);
        }
        let size = usize::try_from(buffersize).map_err(|_| Error::InvalidParam)?;
        let items = array.argument(buffer.cast(), size)?;
        Ok((array, items))
    }
}

/// Inserts the items in buffer in front of those at insert_start along an axis; inside of the array that is
/// only for whole chunks. Gives 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_insert(
    array: *mut b2nd_array_t,
    buffer: *const c_void,
    buffersize: i64,
    axis: i8,
    insert_start: i64,
) -> c_int {
    boundary!(b2nd_insert, {
        // SAFETY: the caller gives an array and buffersize bytes, or NULL.
        unsafe {
            let (mut array, items) = items(array, buffer, buffersize)?;
            let _reading = Reading::begin(array.schunk(), &items);
            resize::insert(&mut *array, items.bytes(), axis, insert_start)?;
        }
        Ok(0)
    })
}

/// Adds the items in buffer behind all others along an axis. Gives 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_append(
    array: *mut b2nd_array_t,
    buffer: *const c_void,
    buffersize: i64,
    axis: i8,
) -> c_int {
    boundary!(b2nd_append, {
        // SAFETY: the caller gives an array and buffersize bytes, or NULL.
        unsafe {
            let (mut array, items) = items(array, buffer, buffersize)?;
            let _reading = Reading::begin(array.schunk(), &items);
            resize::append(&mut *array, items.bytes(), axis)?;
        }
        Ok(0)
    })
}

/// Removes delete_len items along an axis from delete_start on; inside of the array that is only for whole
/// chunks. Gives 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_delete(
    array: *mut b2nd_array_t,
    axis: i8,
    delete_start: i64,
    delete_len: i64,
) -> c_int {
    boundary!(b2nd_delete, {
        // SAFETY: the caller gives an array, or NULL.
        let mut array = unsafe { CArray::enter(array, Purpose::Rewrite) }?;
        resize::delete(&mut *array, axis, delete_start, delete_len)?;
        Ok(0)
    })
}

/// Puts src2 behind src1 along an axis. With copy that is a new array, with the partitions and the storage
/// of ctx; without, src1 itself is enlarged and given, and ctx may be NULL. Gives 0, or an error
/// code. The caller frees a new array by b2nd_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_concatenate(
    ctx: *mut b2nd_context_t,
    src1: *const b2nd_array_t,
    src2: *const b2nd_array_t,
    axis: i8,
    copy: bool,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_concatenate, {
        // SAFETY: the caller gives a context, arrays and room for a pointer, or NULL.
        unsafe {
            let array = cleared(array)?;
            let (mut first, second) = (CArray::new(src1)?, CArray::new(src2)?);
            let purpose = match copy {
                true => Purpose::Read,
                false => Purpose::Rewrite,
            };
            let _entered =
                CSchunk::both_entered((first.schunk(), purpose), (second.schunk(), Purpose::Read))?;
            refresh(&first)?;
            refresh(&second)?;
            if !copy {
                concatenate::extend(&mut first, &second, axis)?;
                array.write(first.as_ptr());
                return Ok(0);
            }
            let ctx = ctx.as_mut().ok_or(Error::NullPointer)?;
            concatenate::check(&first, &second, axis)?;
            let made = copy_of(ctx, first)?;
            let extended = CArray::new(made)
                .and_then(|mut made| concatenate::extend(&mut made, &second, axis));
            if let Err(error) = extended {
                discard(made);
                return Err(error);
            }
            array.write(made);
        }
        Ok(0)
    })
}
