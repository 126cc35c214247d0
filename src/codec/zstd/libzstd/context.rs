//! The contexts of the library: its encoder and its decoder.

use std::ptr::NonNull;

use zstd_sys::{
    ZSTD_CCtx, ZSTD_CCtx_reset, ZSTD_CCtx_setParameter, ZSTD_DCtx, ZSTD_ErrorCode,
    ZSTD_ResetDirective, ZSTD_cParameter, ZSTD_compress_usingCDict, ZSTD_compress2,
    ZSTD_compressCCtx, ZSTD_createCCtx, ZSTD_createDCtx, ZSTD_decompress_usingDDict,
    ZSTD_decompressDCtx, ZSTD_freeCCtx, ZSTD_freeDCtx, ZSTD_getErrorCode, ZSTD_isError,
};

use super::dict::{DecoderDict, EncoderDict};
use crate::{Error, Result};

/// An encoder, reset for each frame.
pub(in crate::codec::zstd) struct Encoder(pub(super) NonNull<ZSTD_CCtx>);

// SAFETY: a context is plain memory that is not bound to a thread.
unsafe impl Send for Encoder {}

impl Encoder {
    pub(in crate::codec::zstd) fn new() -> Result<Encoder> {
        // SAFETY: no preconditions; returns null if out of memory.
        let context = unsafe { ZSTD_createCCtx() };
        NonNull::new(context).map(Encoder).ok_or(Error::MemoryAlloc)
    }

    /// Sets these parameters and resets all others. Aborts any compression in progress.
    pub(super) fn set(&mut self, parameters: impl IntoIterator<Item = (ZSTD_cParameter, i32)>) {
        let context = self.0.as_ptr();
        let all = ZSTD_ResetDirective::ZSTD_reset_session_and_parameters;
        // SAFETY: the context is exclusively owned.
        unsafe { ZSTD_CCtx_reset(context, all) };
        for (parameter, value) in parameters {
            // SAFETY: the context is exclusively owned, and no compression is in progress.
            unsafe { ZSTD_CCtx_setParameter(context, parameter, value) };
        }
    }

    /// Compresses `src` into `dest` at a level of Zstd; returns the length, or 0 if it does not
    /// fit.
    pub(super) fn encode(&mut self, level: i32, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        // SAFETY: the context is exclusively owned; the pointers and lengths come from live slices.
        let result = unsafe {
            ZSTD_compressCCtx(
                self.0.as_ptr(),
                dest.as_mut_ptr().cast(),
                dest.len(),
                src.as_ptr().cast(),
                src.len(),
                level,
            )
        };
        encoded(result)
    }

    /// Like [`Encoder::encode`], with these parameters.
    pub(in crate::codec::zstd) fn encode_with_parameters(
        &mut self,
        parameters: impl IntoIterator<Item = (ZSTD_cParameter, i32)>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.set(parameters);
        // SAFETY: the context is exclusively owned; the pointers and lengths come from live slices.
        let result = unsafe {
            ZSTD_compress2(
                self.0.as_ptr(),
                dest.as_mut_ptr().cast(),
                dest.len(),
                src.as_ptr().cast(),
                src.len(),
            )
        };
        encoded(result)
    }

    /// Like [`Encoder::encode`], with a dictionary and the level it was prepared for.
    pub(super) fn encode_with(
        &mut self,
        dict: &EncoderDict,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        // SAFETY: as in `encode`; the library only reads the dictionary.
        let result = unsafe {
            ZSTD_compress_usingCDict(
                self.0.as_ptr(),
                dest.as_mut_ptr().cast(),
                dest.len(),
                src.as_ptr().cast(),
                src.len(),
                dict.0.as_ptr(),
            )
        };
        encoded(result)
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        // SAFETY: created by the library and freed once.
        unsafe { ZSTD_freeCCtx(self.0.as_ptr()) };
    }
}

/// Converts the library's result: a length, 0 if the result does not fit, or an error.
pub(super) fn encoded(result: usize) -> Result<usize> {
    // SAFETY: both functions only inspect the number.
    let error = unsafe { (ZSTD_isError(result) != 0).then(|| ZSTD_getErrorCode(result)) };
    match error {
        None => Ok(result),
        Some(ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall) => Ok(0),
        Some(ZSTD_ErrorCode::ZSTD_error_memory_allocation) => Err(Error::MemoryAlloc),
        Some(_) => Err(Error::Data),
    }
}

/// A decoder, reset for each stream.
pub(super) struct Decoder(NonNull<ZSTD_DCtx>);

// SAFETY: a context is plain memory that is not bound to a thread.
unsafe impl Send for Decoder {}

impl Decoder {
    pub(super) fn new() -> Result<Decoder> {
        // SAFETY: no preconditions; returns null if out of memory.
        let context = unsafe { ZSTD_createDCtx() };
        NonNull::new(context).map(Decoder).ok_or(Error::MemoryAlloc)
    }

    pub(super) fn decode(
        &mut self,
        dict: Option<&DecoderDict>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let context = self.0.as_ptr();
        let (out, capacity) = (dest.as_mut_ptr().cast(), dest.len());
        let (input, length) = (src.as_ptr().cast(), src.len());
        // SAFETY: the context is exclusively owned; the pointers and lengths come from live slices,
        // and the library only reads the dictionary. It validates the input and respects the
        // capacity.
        let result = unsafe {
            match dict {
                Some(dict) => {
                    let dict = dict.0.as_ptr();
                    ZSTD_decompress_usingDDict(context, out, capacity, input, length, dict)
                }
                None => ZSTD_decompressDCtx(context, out, capacity, input, length),
            }
        };
        // SAFETY: the function only inspects the number.
        if unsafe { ZSTD_isError(result) } != 0 {
            return Err(Error::Data);
        }
        Ok(result)
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: created by the library and freed once.
        unsafe { ZSTD_freeDCtx(self.0.as_ptr()) };
    }
}
