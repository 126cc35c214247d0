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
        let ndim = usize::try_from(ndim).ok().filter(|&ndim| ndim <= MAX_DIM);
        let ndim = ndim.ok_or(Error::Failure)?;
        // SAFETY: the caller gives a number for each dimension, a C string or NULL, and room for a pointer.
        unsafe {
            let (shape, chunkshape, blockshape): (&[i64], &[i32], &[i32]) = match ndim {
                0 => (&[], &[], &[]),
                _ => (
                    numbers(shape, ndim)?,
                    numbers(chunkshape, ndim)?,
                    numbers(blockshape, ndim)?,
                ),
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
        let is_missing = ndim.is_null() || shape.is_null() || chunkshape.is_null();
        if smeta.is_null() || is_missing || blockshape.is_null() {
            return Err(Error::NullPointer);
        }
        let wants_dtype = !dtype.is_null() && !dtype_format.is_null();
        // SAFETY: the caller gives smeta_len bytes and room for the results.
        unsafe {
            if wants_dtype {
                dtype.write(null_mut());
                dtype_format.write(0);
            }
            let bytes = pointers::bytes(smeta.cast(), smeta_len).map_err(|_| Error::Failure)?;
            ndim.write(meta::ndim(bytes).ok_or(Error::Failure)?);
            let (shapes, at) = meta::parse_shapes(bytes)?;
            write_numbers(&shapes.shape, shape);
            write_numbers(&shapes.chunkshape, chunkshape);
            write_numbers(&shapes.blockshape, blockshape);
            if !wants_dtype {
                return length(at);
            }
            let (whole, len) = meta::parse(bytes)?;
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
