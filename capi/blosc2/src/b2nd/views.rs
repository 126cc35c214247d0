//! Views: the items of an array under other dimensions.

use super::{array_or_discard, cleared, new_array, numbers};
use crate::bridge::array::CArray;
use crate::bridge::schunk::{CSchunk, Purpose};
use crate::schunk;
use crate::types::b2nd::b2nd_array_t;
use ferroblosc::b2nd::{Geometry, MAX_DIM, State, meta, refresh, view};
use ferroblosc::schunk::{Layers, State as _};
use ferroblosc::{Buffer, Error, Result};
use ferroblosc_capi_common::boundary;
use std::ffi::{CStr, c_int};

/// A view of an array with this geometry.
///
/// # Safety
/// The array is alive, and outlives the view.
unsafe fn view_of(base: CArray, geometry: &Geometry) -> Result<*mut b2nd_array_t> {
    // SAFETY: the array is alive; its type is a C string or NULL.
    let (dtype, dtype_format) = unsafe {
        let array = base.as_ptr();
        let dtype = match (*array).dtype.is_null() {
            true => None,
            false => Some(CStr::from_ptr((*array).dtype).to_bytes()),
        };
        (dtype, (*array).dtype_format)
    };
    let bytes = meta::serialise(
        geometry.shape(),
        geometry.chunkshape(),
        geometry.blockshape(),
        dtype,
        dtype_format.max(0),
    )?;
    // SAFETY: promised by the caller; the view is this call's alone.
    unsafe {
        let sc = schunk::view_of(base.schunk())?;
        array_or_discard(sc, || {
            let mut chunks = CSchunk::new(sc)?;
            // Not through the frame, which is the base's.
            chunks.add_layer(
                Layers::Fixed,
                meta::NAME.as_bytes(),
                Buffer::copy_of(&bytes)?,
            )?;
            chunks.bump_version();
            new_array(sc, geometry, dtype, dtype_format, (*sc).change_tick)
        })
    }
}

/// Stores a view of an array that has a dimension of one item for each true of the final_dims entries of
/// axis, and those of the array for the others. The array must outlive the view. Gives 0, or an
/// error code. The caller frees the view by b2nd_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_expand_dims(
    array: *const b2nd_array_t,
    view: *mut *mut b2nd_array_t,
    axis: *const bool,
    final_dims: u8,
) -> c_int {
    boundary!(b2nd_expand_dims, {
        // SAFETY: the caller gives an array, an entry for each dimension and room for a pointer, or NULL.
        unsafe {
            let out = cleared(view)?;
            let array = CArray::enter(array, Purpose::Look)?;
            let final_dims = usize::from(final_dims);
            if final_dims > MAX_DIM {
                return Err(Error::InvalidParam);
            }
            let is_new = numbers(axis, final_dims)?;
            refresh(&*array)?;
            view::check_base(array.chunks())?;
            let geometry = view::expanded(&array.geometry()?, &is_new)?;
            out.write(view_of(*array, &geometry)?);
        }
        Ok(0)
    })
}

/// Stores a view of an array without its dimensions of one item. The array must outlive the view. Gives 0,
/// or an error code. The caller frees the view by b2nd_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_squeeze(
    array: *mut b2nd_array_t,
    view: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_squeeze, {
        // SAFETY: the caller gives an array and room for a pointer, or NULL.
        unsafe {
            let out = cleared(view)?;
            let array = CArray::enter(array, Purpose::Look)?;
            refresh(&*array)?;
            view::check_base(array.chunks())?;
            let before = array.geometry()?;
            let geometry = view::squeezed(&before, &view::of_one_item(&before))?;
            out.write(view_of(*array, &geometry)?);
        }
        Ok(0)
    })
}

/// Stores a view of an array without the dimensions that are true in index, which must have one item. The
/// array must outlive the view. Gives 0, or an error code. The caller frees the view by
/// b2nd_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_squeeze_index(
    array: *mut b2nd_array_t,
    view: *mut *mut b2nd_array_t,
    index: *const bool,
) -> c_int {
    boundary!(b2nd_squeeze_index, {
        // SAFETY: the caller gives an array, an entry for each dimension and room for a pointer, or NULL.
        unsafe {
            let out = cleared(view)?;
            let array = CArray::enter(array, Purpose::Look)?;
            let is_left_out = numbers(index, array.ndim()?)?;
            refresh(&*array)?;
            view::check_base(array.chunks())?;
            let geometry = view::squeezed(&array.geometry()?, &is_left_out)?;
            out.write(view_of(*array, &geometry)?);
        }
        Ok(0)
    })
}
