//! Conversions between item numbers and multidimensional indices.

use ferroblosc::schunk::geometry;
use ferroblosc_capi_common::boundary::CoreError;
use ferroblosc_capi_common::{boundary, pointers};

/// Converts the number of an item in row-major order to its multidimensional index.
///
/// - `ndim`: the number of dimensions.
/// - `shape`: the shape of the array, `ndim` items.
/// - `i`: the number of the item.
/// - `index`: the destination, `ndim` items, owned by the caller. It may be `shape`.
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
            // SAFETY: not NULL; the caller passes `ndim` writable numbers.
            unsafe { index.write_bytes(0, ndim) };
        }
        if ndim > 0 && !shape.is_null() && !index.is_null() {
            // SAFETY: not NULL; the caller passes `ndim` numbers each, writable at `index`.
            unsafe {
                // `index` may be `shape`.
                let shape = std::slice::from_raw_parts(shape, ndim).to_vec();
                let index = std::slice::from_raw_parts_mut(index, ndim);
                geometry::unidim_to_multidim(&shape, i, index);
            }
        }
        Ok::<(), CoreError>(())
    });
}

/// Converts a multidimensional index to the number of an item: the sum of the indices times their
/// strides.
///
/// - `index`: the index, `ndim` items.
/// - `ndim`: the number of dimensions.
/// - `strides`: the strides in items, `ndim` items.
/// - `i`: receives the number of the item.
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
            // SAFETY: the caller passes a writable number or NULL.
            unsafe { pointers::write_if_given(i, 0) };
        }
        if known && !i.is_null() {
            // SAFETY: not NULL; the caller passes `ndim` indices and strides, and a writable
            // number.
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
    });
}
