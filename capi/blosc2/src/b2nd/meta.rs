//! The metalayer of arrays.

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

/// Stores the metalayer of an array of these shapes in *smeta, in memory that the caller frees. A dtype of
/// NULL is B2ND_DEFAULT_DTYPE. Gives its bytes, or an error code.
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
        // SAFETY: not NULL; the caller gives room for a pointer.
        unsafe { smeta.write(null_mut()) };
        let ndim = usize::try_from(ndim).ok().filter(|&ndim| ndim <= MAX_DIM);
        let ndim = ndim.ok_or(Error::Failure)?;
        // SAFETY: the caller gives a number for each dimension, a C string or NULL, and room for a pointer.
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
            let bytes = meta::serialise(shape, chunkshape, blockshape, dtype, dtype_format)?;
            let len = c_int::try_from(bytes.len()).map_err(|_| Error::Failure)?;
            smeta.write(Buffer::copy_of(&bytes)?.into_raw());
            Ok(len)
        }
    })
}

/// Reads the metalayer of an array. shape, chunkshape and blockshape need room for B2ND_MAX_DIM numbers;
/// the first ndim are written. dtype and dtype_format may be NULL; the caller frees dtype. Gives the bytes
/// read, or an error code.
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
        // SAFETY: the caller gives room for the results, or NULL.
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
        // SAFETY: the caller gives smeta_len bytes and room for the results.
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

/// # Safety
/// Room for as many numbers.
unsafe fn write_numbers<T: Copy>(numbers: &[T], out: *mut T) {
    // SAFETY: promised by the caller.
    unsafe { std::ptr::copy_nonoverlapping(numbers.as_ptr(), out, numbers.len()) }
}

/// Prints what the metalayer of an array says. Gives 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_print_meta(array: *const b2nd_array_t) -> c_int {
    boundary!(b2nd_print_meta, {
        // SAFETY: the caller gives an array, or NULL.
        let array = unsafe { CArray::enter(array, Purpose::Look) }?;
        let (_, bytes) = metalayer(array.chunks()).ok_or(Error::MetalayerNotFound)?;
        let (meta, _) = meta::parse(&bytes)?;
        let text = CString::new(meta::describe(&meta)).map_err(|_| Error::Failure)?;
        // SAFETY: a format and its C string. It goes through the buffer that C programs print to.
        unsafe { libc::printf(c"%s".as_ptr(), text.as_ptr()) };
        Ok(0)
    })
}
