//! Numbers of items in arrays of several dimensions.

use ferroblosc::schunk::geometry;
use ferroblosc_capi_common::boundary::CoreError;
use ferroblosc_capi_common::{boundary, pointers};

/// Stores in index the index along each of ndim dimensions of item i of an array of this shape, rows
/// first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_unidim_to_multidim(
    ndim: u8,
    shape: *mut i64,
    i: i64,
    index: *mut i64,
) {
    boundary!(blosc2_unidim_to_multidim, in_memory, {
        let ndim = usize::from(ndim);
        if shape.is_null() && !index.is_null() {
            // SAFETY: the caller gives room for ndim numbers.
            unsafe { index.write_bytes(0, ndim) };
        }
        if ndim > 0 && !shape.is_null() && !index.is_null() {
            // SAFETY: the caller gives ndim numbers, and room for as many.
            unsafe {
                // The output may be the input.
                let shape = std::slice::from_raw_parts(shape, ndim).to_vec();
                let index = std::slice::from_raw_parts_mut(index, ndim);
                geometry::unidim_to_multidim(&shape, i, index);
            }
        }
        Ok::<(), CoreError>(())
    })
}

/// Stores in *i the sum of ndim indices times their strides.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_multidim_to_unidim(
    index: *const i64,
    ndim: i8,
    strides: *const i64,
    i: *mut i64,
) {
    boundary!(blosc2_multidim_to_unidim, in_memory, {
        let ndim = usize::try_from(ndim).unwrap_or(0);
        let known = ndim == 0 || !index.is_null() && !strides.is_null();
        if !known {
            // SAFETY: the caller gives room for a number, or NULL.
            unsafe { pointers::write_if_given(i, 0) };
        }
        if known && !i.is_null() {
            // SAFETY: the caller gives ndim indices and strides, and room for a number.
            unsafe {
                i.write(match ndim {
                    0 => 0,
                    _ => geometry::multidim_to_unidim(
                        std::slice::from_raw_parts(index, ndim),
                        std::slice::from_raw_parts(strides, ndim),
                    ),
                });
            }
        }
        Ok::<(), CoreError>(())
    })
}
