//! Functions that copy N-dimensional boxes of items between buffers.

use super::numbers;
use ferroblosc::b2nd::MAX_DIM;
use ferroblosc::b2nd::copy::{BoxCopy, Side};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::boundary;
use ferroblosc_capi_common::pointers::{StableSource, overlap};
use std::ffi::{c_int, c_void};

/// Copies an N-dimensional box of items between two buffers in row-major order.
///
/// The bounds of the buffers are not checked. The buffers may overlap.
///
/// - `ndim`: the number of dimensions, 0 to B2ND_MAX_DIM.
/// - `itemsize`: the size of an item in bytes.
/// - `src`: the source.
/// - `src_pad_shape`: the extent of the source in each dimension, in items.
/// - `src_start`: the first index of the box in the source.
/// - `src_stop`: the index after the last one in the source.
/// - `dst`: the destination.
/// - `dst_pad_shape`: the extent of the destination in each dimension, in items.
/// - `dst_start`: the first index of the box in the destination.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_copy_buffer2(
    ndim: i8,
    itemsize: i32,
    src: *const c_void,
    src_pad_shape: *const i64,
    src_start: *const i64,
    src_stop: *const i64,
    dst: *mut c_void,
    dst_pad_shape: *const i64,
    dst_start: *const i64,
) -> c_int {
    boundary!(b2nd_copy_buffer2, {
        let ndim = usize::try_from(ndim).ok().filter(|&ndim| ndim <= MAX_DIM);
        let ndim = ndim.ok_or(Error::InvalidParam)?;
        // SAFETY: the caller passes a number for each dimension and buffers of these shapes.
        unsafe {
            let plan = match ndim {
                0 => plan(itemsize, [&[]; 5])?,
                _ => plan(
                    itemsize,
                    [
                        &numbers(src_pad_shape, ndim)?,
                        &numbers(src_start, ndim)?,
                        &numbers(src_stop, ndim)?,
                        &numbers(dst_pad_shape, ndim)?,
                        &numbers(dst_start, ndim)?,
                    ],
                )?,
            };
            let Some(plan) = plan else {
                return Ok(0);
            };
            if src.is_null() || dst.is_null() {
                return Err(Error::NullPointer);
            }
            let from = (src.cast::<u8>(), plan.src_extent());
            let to = (dst.cast::<u8>().cast_const(), plan.dst_extent());
            let from = StableSource::new(from.0, from.1, overlap(from, to))?;
            plan.copy_raw(from.as_ptr(), dst.cast());
        }
        Ok(0)
    })
}

/// Validates the arguments of a call. Returns the copy to make, or `None` for an empty box.
fn plan(itemsize: i32, numbers: [&[i64]; 5]) -> Result<Option<BoxCopy>> {
    let ndim = numbers[0].len();
    let itemsize = usize::try_from(itemsize).map_err(|_| Error::InvalidParam)?;
    let [src_shape, src_start, src_stop, dst_shape, dst_start] = numbers;
    let is_empty = src_start.iter().zip(src_stop).any(|(start, stop)| stop <= start);
    if is_empty || itemsize == 0 {
        return Ok(None);
    }
    let counted = |numbers: &[i64]| -> Result<[usize; MAX_DIM]> {
        let mut counted = [0; MAX_DIM];
        for (counted, &number) in counted.iter_mut().zip(numbers) {
            *counted = usize::try_from(number).map_err(|_| Error::InvalidParam)?;
        }
        Ok(counted)
    };
    let (from, to) = (counted(src_start)?, counted(dst_start)?);
    let (src_shape, dst_shape) = (counted(src_shape)?, counted(dst_shape)?);
    let mut extents = counted(src_stop)?;
    for (extent, start) in extents.iter_mut().zip(&from) {
        *extent -= start;
    }
    let src = Side { shape: &src_shape[..ndim], start: &from[..ndim] };
    let dst = Side { shape: &dst_shape[..ndim], start: &to[..ndim] };
    let plan = BoxCopy::new(itemsize, &extents[..ndim], src, dst);
    plan.map(Some).ok_or(Error::InvalidParam)
}

/// Copies an N-dimensional box of items of at most 255 bytes between two buffers, like
/// b2nd_copy_buffer2().
///
/// - `ndim`: the number of dimensions, 0 to B2ND_MAX_DIM.
/// - `itemsize`: the size of an item in bytes.
/// - `src`: the source.
/// - `src_pad_shape`: the extent of the source in each dimension, in items.
/// - `src_start`: the first index of the box in the source.
/// - `src_stop`: the index after the last one in the source.
/// - `dst`: the destination.
/// - `dst_pad_shape`: the extent of the destination in each dimension, in items.
/// - `dst_start`: the first index of the box in the destination.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_copy_buffer(
    ndim: i8,
    itemsize: u8,
    src: *const c_void,
    src_pad_shape: *const i64,
    src_start: *const i64,
    src_stop: *const i64,
    dst: *mut c_void,
    dst_pad_shape: *const i64,
    dst_start: *const i64,
) -> c_int {
    boundary!(b2nd_copy_buffer, {
        // SAFETY: the caller fulfils the contract of b2nd_copy_buffer2().
        let code = unsafe {
            b2nd_copy_buffer2(
                ndim,
                i32::from(itemsize),
                src,
                src_pad_shape,
                src_start,
                src_stop,
                dst,
                dst_pad_shape,
                dst_start,
            )
        };
        match code {
            0 => Ok(0),
            code => Err(Error::from_code(code)),
        }
    })
}
