//! Functions that create views: arrays that share the items of another array under other
//! dimensions.

use super::{Numbers, array_or_discard, cleared, new_array, numbers};
use crate::bridge::array::CArray;
use crate::bridge::schunk::{CSchunk, Purpose};
use crate::schunk;
use crate::types::b2nd::b2nd_array_t;
use crate::types::flag::{Flag, is_set};
use ferroblosc::b2nd::{Geometry, MAX_DIM, State, meta, refresh, view};
use ferroblosc::schunk::{Layers, State as _};
use ferroblosc::{Buffer, Error, Result};
use ferroblosc_capi_common::boundary;
use std::ffi::{CStr, c_int};

/// Creates a view of an array with this geometry.
///
/// # Safety
/// The array is alive and outlives the view.
unsafe fn view_of(base: CArray, geometry: &Geometry) -> Result<*mut b2nd_array_t> {
    // SAFETY: the array is alive; its dtype is NULL or a C string.
    let (dtype, dtype_format) = unsafe {
        let array = base.as_ptr();
        let dtype = if (*array).dtype.is_null() {
            None
        } else {
            Some(CStr::from_ptr((*array).dtype).to_bytes())
        };
        (dtype, (*array).dtype_format)
    };
    let bytes = meta::serialize(
        geometry.shape(),
        geometry.chunkshape(),
        geometry.blockshape(),
        dtype,
        dtype_format.max(0),
    )?;
    // SAFETY: guaranteed by the caller; only this call has a pointer to the view.
    unsafe {
        let sc = schunk::view_of(base.schunk())?;
        array_or_discard(sc, || {
            let mut chunks = CSchunk::new(sc)?;
            // The metalayer is not written to the frame, which belongs to the base.
            chunks.add_layer(Layers::Fixed, meta::NAME.as_bytes(), Buffer::copy_of(&bytes)?)?;
            chunks.bump_version();
            new_array(sc, geometry, dtype, dtype_format, chunks.current_version())
        })
    }
}

/// Copies one flag for each dimension, as [`numbers`].
///
/// # Safety
/// The same conditions as for [`numbers`].
unsafe fn flags(start: *const Flag, ndim: usize) -> Result<Numbers<bool>> {
    // SAFETY: guaranteed by the caller.
    let flags = unsafe { numbers(start, ndim) }?;
    Ok(Numbers { values: flags.values.map(is_set), ndim })
}

/// Creates a view of an array with additional dimensions of one item.
///
/// The view shares the chunks of the array, which must outlive it.
///
/// - `array`: the array.
/// - `view`: receives the view, which the caller frees with b2nd_free(); NULL on error.
/// - `axis`: one entry for each dimension of the view, true for a new dimension.
/// - `final_dims`: the number of dimensions of the view, at most B2ND_MAX_DIM.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_expand_dims(
    array: *const b2nd_array_t,
    view: *mut *mut b2nd_array_t,
    axis: *const Flag,
    final_dims: u8,
) -> c_int {
    boundary!(b2nd_expand_dims, {
        // SAFETY: the caller passes an array, an entry for each dimension and a writable pointer,
        // or NULL.
        unsafe {
            let out = cleared(view)?;
            let array = CArray::enter(array, Purpose::Inspect)?;
            let final_dims = usize::from(final_dims);
            if final_dims > MAX_DIM {
                return Err(Error::InvalidParam);
            }
            let is_new = flags(axis, final_dims)?;
            refresh(&*array)?;
            view::check_base(array.chunks())?;
            let geometry = view::expanded(&array.geometry()?, &is_new)?;
            out.write(view_of(*array, &geometry)?);
        }
        Ok(0)
    })
}

/// Creates a view of an array without its dimensions of one item.
///
/// The view shares the chunks of the array, which must outlive it.
///
/// - `array`: the array.
/// - `view`: receives the view, which the caller frees with b2nd_free(); NULL on error.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_squeeze(
    array: *mut b2nd_array_t,
    view: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_squeeze, {
        // SAFETY: the caller passes an array and a writable pointer, or NULL.
        unsafe {
            let out = cleared(view)?;
            let array = CArray::enter(array, Purpose::Inspect)?;
            refresh(&*array)?;
            view::check_base(array.chunks())?;
            let before = array.geometry()?;
            let geometry = view::squeezed(&before, &view::unit_dims(&before))?;
            out.write(view_of(*array, &geometry)?);
        }
        Ok(0)
    })
}

/// Creates a view of an array without the given dimensions of one item.
///
/// The view shares the chunks of the array, which must outlive it.
///
/// - `array`: the array.
/// - `view`: receives the view, which the caller frees with b2nd_free(); NULL on error.
/// - `index`: one entry for each dimension of the array, true for a dimension to remove, which must
///   have one item.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_squeeze_index(
    array: *mut b2nd_array_t,
    view: *mut *mut b2nd_array_t,
    index: *const Flag,
) -> c_int {
    boundary!(b2nd_squeeze_index, {
        // SAFETY: the caller passes an array, an entry for each dimension and a writable pointer,
        // or NULL.
        unsafe {
            let out = cleared(view)?;
            let array = CArray::enter(array, Purpose::Inspect)?;
            let is_left_out = flags(index, array.ndim()?)?;
            refresh(&*array)?;
            view::check_base(array.chunks())?;
            let geometry = view::squeezed(&array.geometry()?, &is_left_out)?;
            out.write(view_of(*array, &geometry)?);
        }
        Ok(0)
    })
}
