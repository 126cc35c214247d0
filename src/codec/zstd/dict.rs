//! Dictionaries prepared by the library, which every thread of a context uses.

use std::ptr::NonNull;

use zstd_sys::{
    ZSTD_CDict, ZSTD_DDict, ZSTD_createCDict, ZSTD_createDDict, ZSTD_dictLoadMethod_e,
    ZSTD_estimateCDictSize, ZSTD_estimateDDictSize, ZSTD_freeCDict, ZSTD_freeDDict,
};

use crate::{Buffer, Error, Result};

/// The level dictionaries are prepared for, whatever level the chunk has: what C-Blosc2 does.
const DICTIONARY_LEVEL: i32 = 1;

/// Returns the dictionary that `make` prepares in `size` bytes.
///
/// Zstandard returns NULL both for a wrong dictionary and without memory. A second attempt succeeds if
/// memory is there again; otherwise the same number of bytes is asked for, to name the cause.
fn prepared<T>(make: impl Fn() -> *mut T, size: impl Fn() -> usize) -> Result<NonNull<T>> {
    if let Some(dict) = NonNull::new(make()).or_else(|| NonNull::new(make())) {
        return Ok(dict);
    }
    // The compiler may drop memory that is not looked at, and then asking for it never fails.
    std::hint::black_box(Buffer::zeroed(size())?);
    Err(Error::CodecDict)
}

/// A dictionary prepared for encoding.
pub(in crate::codec) struct EncoderDict(pub(super) NonNull<ZSTD_CDict>);

// SAFETY: immutable after it was made, and not tied to a thread.
unsafe impl Send for EncoderDict {}
// SAFETY: the library documents that threads may share it.
unsafe impl Sync for EncoderDict {}

impl EncoderDict {
    /// Prepares `bytes`, which are copied.
    pub(in crate::codec) fn new(bytes: &[u8]) -> Result<EncoderDict> {
        let (start, len) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: pointer and length are those of a live slice, which the library copies.
        let make = || unsafe { ZSTD_createCDict(start, len, DICTIONARY_LEVEL) };
        // SAFETY: any length and level may be asked about.
        let size = || unsafe { ZSTD_estimateCDictSize(len, DICTIONARY_LEVEL) };
        prepared(make, size).map(EncoderDict)
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
        let (start, len) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: pointer and length are those of a live slice, which the library copies.
        let make = || unsafe { ZSTD_createDDict(start, len) };
        // SAFETY: any length may be asked about.
        let size =
            || unsafe { ZSTD_estimateDDictSize(len, ZSTD_dictLoadMethod_e::ZSTD_dlm_byCopy) };
        prepared(make, size).map(DecoderDict)
    }
}

impl Drop for DecoderDict {
    fn drop(&mut self) {
        // SAFETY: made by the library, freed once.
        unsafe { ZSTD_freeDDict(self.0.as_ptr()) };
    }
}
