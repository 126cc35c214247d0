//! Functions for the b2nd metalayer of arrays.

use super::{c_text, numbers};
use crate::bridge::array::CArray;
use crate::bridge::schunk::Purpose;
use crate::types::b2nd::b2nd_array_t;
use ferroblosc::b2nd::create::metalayer;
use ferroblosc::b2nd::{MAX_DIM, State, meta};
use ferroblosc::{Buffer, Error, Result};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{CString, c_char, c_int};
use std::ptr::null_mut;

/// Serialises the b2nd metalayer of an array.
///
/// - `ndim`: the number of dimensions, 0 to B2ND_MAX_DIM.
/// - `shape`: the extent of the array in each dimension, in items.
/// - `chunkshape`: the extent of a chunk in each dimension, in items.
/// - `blockshape`: the extent of a block in each dimension, in items.
/// - `dtype`: the type of an item, or NULL for B2ND_DEFAULT_DTYPE.
/// - `dtype_format`: the format of `dtype`.
/// - `smeta`: receives a new buffer, which the caller must free(); NULL on error.
///
/// Returns the size of the metalayer in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_serialize_meta(
    ndim: i8,
    shape: *const i64,
    chunkshape: *const i32,
    blockshape: *const i32,
    dtype: *const c_char,
    dtype_format: i8,
    smeta: *mut *mut u8,
) -> c_int {
    boundary!(b2nd_serialize_meta, {
        if smeta.is_null() {
            return Err(Error::NullPointer);
        }
        // SAFETY: not NULL; the caller guarantees that it is writable.
        unsafe { smeta.write(null_mut()) };
        let ndim = usize::try_from(ndim).ok().filter(|&ndim| ndim <= MAX_DIM);
        let ndim = ndim.ok_or(Error::Failure)?;
        // SAFETY: the caller passes a number for each dimension, a C string or NULL, and a writable
        // pointer.
        unsafe {
            let (own_shape, own_chunkshape, own_blockshape);
            let (shape, chunkshape, blockshape): (&[i64], &[i32], &[i32]) = if ndim == 0 {
                (&[], &[], &[])
            } else {
                own_shape = numbers(shape, ndim)?;
                own_chunkshape = numbers(chunkshape, ndim)?;
                own_blockshape = numbers(blockshape, ndim)?;
                (&own_shape, &own_chunkshape, &own_blockshape)
            };
            let dtype = pointers::c_str(dtype).map(|dtype| dtype.to_bytes());
            let bytes = meta::serialize(shape, chunkshape, blockshape, dtype, dtype_format)?;
            let len = c_int::try_from(bytes.len()).map_err(|_| Error::Failure)?;
            smeta.write(Buffer::copy_of(&bytes)?.into_raw());
            Ok(len)
        }
    })
}

/// Parses the b2nd metalayer of an array.
///
/// - `smeta`: the metalayer.
/// - `smeta_len`: the size of the metalayer in bytes.
/// - `ndim`: receives the number of dimensions.
/// - `shape`: an array of B2ND_MAX_DIM numbers; receives the extent of the array in each dimension,
///   in items.
/// - `chunkshape`: an array of B2ND_MAX_DIM numbers; receives the extent of a chunk in each
///   dimension, in items.
/// - `blockshape`: an array of B2ND_MAX_DIM numbers; receives the extent of a block in each
///   dimension, in items.
/// - `dtype`: receives a new string, which the caller must free(), or NULL if there is none. May be
///   NULL.
/// - `dtype_format`: receives the format of the dtype. May be NULL; then no dtype is returned.
///
/// Returns the number of bytes parsed, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_deserialize_meta(
    smeta: *const u8,
    smeta_len: i32,
    ndim: *mut i8,
    shape: *mut i64,
    chunkshape: *mut i32,
    blockshape: *mut i32,
    dtype: *mut *mut c_char,
    dtype_format: *mut i8,
) -> c_int {
    boundary!(b2nd_deserialize_meta, {
        // SAFETY: the caller passes result pointers, or NULL.
        unsafe {
            pointers::write_if_given(ndim, 0);
            pointers::write_if_given(dtype, null_mut());
            pointers::write_if_given(dtype_format, 0);
        }
        let is_missing = ndim.is_null() || shape.is_null() || chunkshape.is_null();
        if smeta.is_null() || is_missing || blockshape.is_null() {
            return Err(Error::NullPointer);
        }
        let wants_dtype = !dtype.is_null() && !dtype_format.is_null();
        // SAFETY: the caller passes smeta_len bytes and result pointers.
        unsafe {
            let bytes = pointers::bytes(smeta.cast(), smeta_len).map_err(|_| Error::Failure)?;
            let dimensions = meta::ndim(bytes).ok_or(Error::Failure)?;
            if let Some(count) = usize::try_from(dimensions).ok().filter(|&n| n <= MAX_DIM) {
                shape.write_bytes(0, count);
                chunkshape.write_bytes(0, count);
                blockshape.write_bytes(0, count);
            }
            let (shapes, at) = meta::parse_shapes(bytes)?;
            let whole = wants_dtype.then(|| meta::parse(bytes)).transpose()?;
            ndim.write(dimensions);
            write_numbers(&shapes.shape, shape);
            write_numbers(&shapes.chunkshape, chunkshape);
            write_numbers(&shapes.blockshape, blockshape);
            let Some((whole, len)) = whole else {
                return length(at);
            };
            dtype_format.write(whole.dtype_format);
            if let Some(text) = whole.dtype {
                dtype.write(c_text(&text)?);
            }
            length(len)
        }
    })
}

fn length(len: usize) -> Result<c_int> {
    c_int::try_from(len).map_err(|_| Error::Failure)
}

/// Writes numbers to a caller's array.
///
/// # Safety
/// `out` is valid for the write of `numbers.len()` numbers.
unsafe fn write_numbers<T: Copy>(numbers: &[T], out: *mut T) {
    // SAFETY: guaranteed by the caller.
    unsafe { std::ptr::copy_nonoverlapping(numbers.as_ptr(), out, numbers.len()) }
}

/// Prints the b2nd metalayer of an array to the standard output.
///
/// - `array`: the array.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_print_meta(array: *const b2nd_array_t) -> c_int {
    boundary!(b2nd_print_meta, {
        // SAFETY: the caller passes an array, or NULL.
        let array = unsafe { CArray::enter(array, Purpose::Inspect) }?;
        let (_, bytes) = metalayer(array.chunks())?;
        let (meta, _) = meta::parse(&bytes)?;
        let text = CString::new(meta::describe(&meta)).map_err(|_| Error::Failure)?;
        // SAFETY: the arguments are a format and its C string. The output is written to the C
        // library's buffer, in order with the output of C programs.
        unsafe { libc::printf(c"%s".as_ptr(), text.as_ptr()) };
        Ok(0)
    })
}
