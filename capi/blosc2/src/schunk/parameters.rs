//! The compression and decompression parameters of a super-chunk.

use crate::bridge::schunk::CSchunk;
use crate::global;
use crate::types::params::{blosc2_cparams, blosc2_dparams};
use crate::types::schunk::blosc2_schunk;
use ferroblosc::{Buffer, Error, Result};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::c_int;
use std::ptr::null_mut;

/// Whether compression with `cparams` would produce the existing chunks: the parameters that
/// determine the chunks equal those of the context, and there is no prefilter or postfilter.
pub fn make_same_chunks(schunk: CSchunk, cparams: &blosc2_cparams, own: &blosc2_cparams) -> bool {
    let has_callback = schunk.cctx().is_ok_and(|context| context.cparams().prefilter.is_some())
        || schunk.dctx().is_ok_and(|context| context.dparams().postfilter.is_some());
    !has_callback
        && cparams.typesize == own.typesize
        && cparams.clevel == own.clevel
        && cparams.compcode == own.compcode
        && (cparams.use_dict != 0) == (own.use_dict != 0)
        && (cparams.blocksize == 0 || cparams.blocksize == own.blocksize)
        && cparams.filters == own.filters
        && cparams.filters_meta == own.filters_meta
}

/// Copies a value to a new block of `malloc`, which the caller frees, and stores its address in
/// `out`.
///
/// # Safety
/// `out` is NULL or valid for the write of a pointer.
unsafe fn give<T: Copy>(value: T, out: *mut *mut T) -> Result<()> {
    if out.is_null() {
        return Err(Error::InvalidParam);
    }
    let block: *mut T = Buffer::zeroed(size_of::<T>())?.into_raw().cast();
    // SAFETY: `block` comes from `malloc` and has the size of `T`; the caller guarantees that `out`
    // is writable.
    unsafe {
        block.write(value);
        out.write(block);
    }
    Ok(())
}

/// Copies the compression parameters of a super-chunk.
///
/// - `schunk`: the super-chunk.
/// - `cparams`: receives a new struct, which the caller must free(); NULL on error.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_cparams(
    schunk: *mut blosc2_schunk,
    cparams: *mut *mut blosc2_cparams,
) -> c_int {
    boundary!(blosc2_schunk_get_cparams, {
        // SAFETY: the caller passes a super-chunk and a writable pointer, or NULL.
        unsafe {
            pointers::write_if_given(cparams, null_mut());
            let schunk = CSchunk::new(schunk)?;
            let value = blosc2_cparams {
                schunk: schunk.as_ptr().cast(),
                nthreads: (schunk.cctx())
                    .map_or_else(|_| global::nthreads(), |context| context.cparams().nthreads),
                ..schunk.stored_cparams()
            };
            give(value, cparams)?;
        }
        Ok(0)
    })
}

/// Copies the decompression parameters of a super-chunk.
///
/// - `schunk`: the super-chunk.
/// - `dparams`: receives a new struct, which the caller must free(); NULL on error.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_dparams(
    schunk: *mut blosc2_schunk,
    dparams: *mut *mut blosc2_dparams,
) -> c_int {
    boundary!(blosc2_schunk_get_dparams, {
        // SAFETY: the caller passes a super-chunk and a writable pointer, or NULL.
        unsafe {
            pointers::write_if_given(dparams, null_mut());
            let schunk = CSchunk::new(schunk)?;
            let value = blosc2_dparams {
                schunk: schunk.as_ptr().cast(),
                nthreads: (schunk.dctx())
                    .map_or_else(|_| global::nthreads(), |context| context.dparams().nthreads),
                postfilter: None,
                postparams: null_mut(),
                typesize: 0,
            };
            give(value, dparams)?;
        }
        Ok(0)
    })
}
