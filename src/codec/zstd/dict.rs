//! Dictionaries prepared by the library, which every thread of a context uses.

use std::ptr::NonNull;

use zstd_sys::{
    ZSTD_CDict, ZSTD_DDict, ZSTD_createCDict, ZSTD_createDDict, ZSTD_freeCDict, ZSTD_freeDDict,
};

use crate::{Error, Result};

/// The level dictionaries are prepared for, whatever level the chunk has: what C-Blosc2 does.
const DICTIONARY_LEVEL: i32 = 1;

/// A dictionary prepared for encoding.
pub(in crate::codec) struct EncoderDict(pub(super) NonNull<ZSTD_CDict>);

// SAFETY: immutable after it was made, and not tied to a thread.
unsafe impl Send for EncoderDict {}
// SAFETY: the library documents that threads may share it.
unsafe impl Sync for EncoderDict {}

impl EncoderDict {
    /// Prepares `bytes`, which are copied.
    pub(in crate::codec) fn new(bytes: &[u8]) -> Result<EncoderDict> {
        // SAFETY: pointer and length are those of a live slice, which the library copies.
        let dict =
            unsafe { ZSTD_createCDict(bytes.as_ptr().cast(), bytes.len(), DICTIONARY_LEVEL) };
        NonNull::new(dict).map(EncoderDict).ok_or(Error::CodecDict)
    }
}

impl Drop for EncoderDict {
    fn drop(&mut self) {
        // SAFETY: made by the library, freed once.
        unsafe { ZSTD_freeCDict(self.0.as_ptr()) };
    }
}

/// A dictionary prepared for decoding.
pub(in crate::codec) struct DecoderDict(pub(super) NonNull<ZSTD_DDict>);

// SAFETY: immutable after it was made, and not tied to a thread.
unsafe impl Send for DecoderDict {}
// SAFETY: the library documents that threads may share it.
unsafe impl Sync for DecoderDict {}

impl DecoderDict {
    /// Prepares `bytes`, which are copied. Bytes that begin with the dictionary magic must be a whole
    /// dictionary, others are taken as plain content.
    pub(in crate::codec) fn new(bytes: &[u8]) -> Result<DecoderDict> {
        // SAFETY: pointer and length are those of a live slice, which the library copies.
        let dict = unsafe { ZSTD_createDDict(bytes.as_ptr().cast(), bytes.len()) };
        NonNull::new(dict).map(DecoderDict).ok_or(Error::CodecDict)
    }
}

impl Drop for DecoderDict {
    fn drop(&mut self) {
        // SAFETY: made by the library, freed once.
        unsafe { ZSTD_freeDDict(self.0.as_ptr()) };
    }
}
