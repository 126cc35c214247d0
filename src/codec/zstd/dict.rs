//! Dictionaries prepared by the library, shared by all threads of a context.

use std::ptr::NonNull;

use zstd_sys::{
    ZSTD_CDict, ZSTD_DDict, ZSTD_createCDict, ZSTD_createDDict, ZSTD_dictLoadMethod_e,
    ZSTD_estimateCDictSize, ZSTD_estimateDDictSize, ZSTD_freeCDict, ZSTD_freeDDict,
};

use crate::{Buffer, Error, Result};

/// The level for which dictionaries are prepared, whatever the chunk's level, as in C-Blosc2.
const DICTIONARY_LEVEL: i32 = 1;

/// Returns the dictionary that `make` prepares in `size` bytes.
///
/// Zstandard returns NULL both for an invalid dictionary and if out of memory. The second attempt
/// succeeds if memory is available again. Otherwise allocating `size` bytes distinguishes the two
/// causes.
fn prepared<T>(make: impl Fn() -> *mut T, size: impl Fn() -> usize) -> Result<NonNull<T>> {
    if let Some(dict) = NonNull::new(make()).or_else(|| NonNull::new(make())) {
        return Ok(dict);
    }
    // Keeps the compiler from removing the unused allocation.
    std::hint::black_box(Buffer::zeroed(size())?);
    Err(Error::CodecDict)
}

/// A dictionary prepared for encoding.
pub(in crate::codec) struct EncoderDict(pub(super) NonNull<ZSTD_CDict>);

// SAFETY: immutable after creation, and not bound to a thread.
unsafe impl Send for EncoderDict {}
// SAFETY: the library documents that threads may share it.
unsafe impl Sync for EncoderDict {}

impl EncoderDict {
    pub(in crate::codec) fn new(bytes: &[u8]) -> Result<EncoderDict> {
        let (start, len) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: the pointer and the length come from a live slice, which the library copies.
        let make = || unsafe { ZSTD_createCDict(start, len, DICTIONARY_LEVEL) };
        // SAFETY: any length and level are valid.
        let size = || unsafe { ZSTD_estimateCDictSize(len, DICTIONARY_LEVEL) };
        prepared(make, size).map(EncoderDict)
    }
}

impl Drop for EncoderDict {
    fn drop(&mut self) {
        // SAFETY: created by the library and freed once.
        unsafe { ZSTD_freeCDict(self.0.as_ptr()) };
    }
}

/// A dictionary prepared for decoding.
pub(in crate::codec) struct DecoderDict(pub(super) NonNull<ZSTD_DDict>);

// SAFETY: immutable after creation, and not bound to a thread.
unsafe impl Send for DecoderDict {}
// SAFETY: the library documents that threads may share it.
unsafe impl Sync for DecoderDict {}

impl DecoderDict {
    /// Prepares a copy of `bytes`. If they begin with the dictionary magic number, they must be a
    /// complete dictionary; otherwise they are raw content.
    pub(in crate::codec) fn new(bytes: &[u8]) -> Result<DecoderDict> {
        let (start, len) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: the pointer and the length come from a live slice, which the library copies.
        let make = || unsafe { ZSTD_createDDict(start, len) };
        // SAFETY: any length is valid.
        let size =
            || unsafe { ZSTD_estimateDDictSize(len, ZSTD_dictLoadMethod_e::ZSTD_dlm_byCopy) };
        prepared(make, size).map(DecoderDict)
    }
}

impl Drop for DecoderDict {
    fn drop(&mut self) {
        // SAFETY: created by the library and freed once.
        unsafe { ZSTD_freeDDict(self.0.as_ptr()) };
    }
}
