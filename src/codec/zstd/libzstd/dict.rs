//! Dictionaries prepared by the library, shared by all threads of a context.

use std::ptr::NonNull;

use zstd_sys::{
    ZDICT_isError, ZDICT_trainFromBuffer, ZSTD_CDict, ZSTD_DDict, ZSTD_createCDict,
    ZSTD_createDDict, ZSTD_dictLoadMethod_e, ZSTD_estimateCDictSize, ZSTD_estimateDDictSize,
    ZSTD_freeCDict, ZSTD_freeDDict,
};

use crate::codec::dictionary::Dictionaries;
use crate::{Buffer, Error, Result};

/// The functions for dictionaries, which are trained or raw content.
pub(super) const DICTIONARIES: Dictionaries = Dictionaries {
    train: Some(train),
    for_encoding: |bytes, _| Ok(Box::new(EncoderDict::new(bytes)?)),
    for_decoding: Some(|bytes| Ok(Box::new(DecoderDict::new(bytes)?))),
};

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
pub(super) struct EncoderDict(pub(super) NonNull<ZSTD_CDict>);

// SAFETY: immutable after creation, and not bound to a thread.
unsafe impl Send for EncoderDict {}
// SAFETY: the library documents that threads may share it.
unsafe impl Sync for EncoderDict {}

impl EncoderDict {
    fn new(bytes: &[u8]) -> Result<EncoderDict> {
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
pub(super) struct DecoderDict(pub(super) NonNull<ZSTD_DDict>);

// SAFETY: immutable after creation, and not bound to a thread.
unsafe impl Send for DecoderDict {}
// SAFETY: the library documents that threads may share it.
unsafe impl Sync for DecoderDict {}

impl DecoderDict {
    /// Prepares a copy of `bytes`. If they begin with the dictionary magic number, they must be a
    /// complete dictionary; otherwise they are raw content.
    fn new(bytes: &[u8]) -> Result<DecoderDict> {
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

/// Trains a dictionary of at most `capacity` bytes. `samples` contains the concatenated samples and
/// `sizes` their lengths in bytes.
fn train(samples: &[u8], sizes: &[usize], capacity: usize) -> Option<Vec<u8>> {
    let mut total = 0usize;
    for &size in sizes {
        total = total.checked_add(size)?;
    }
    // The trainer learns from the first three quarters of the samples and evaluates the result
    // on the others. It crashes if the former are shorter than 8 bytes in total.
    let learnt = &sizes[..sizes.len() * 3 / 4];
    if total > samples.len() || learnt.iter().sum::<usize>() < size_of::<u64>() {
        return None;
    }
    let count = u32::try_from(sizes.len()).ok()?;
    let mut dict = Vec::new();
    dict.try_reserve_exact(capacity).ok()?;
    dict.resize(capacity, 0);
    // SAFETY: the pointers and lengths come from live slices, and the sizes add up to at most
    // `samples.len()`, as checked above.
    let length = unsafe {
        ZDICT_trainFromBuffer(
            dict.as_mut_ptr().cast(),
            capacity,
            samples.as_ptr().cast(),
            sizes.as_ptr(),
            count,
        )
    };
    // SAFETY: the function only inspects the number.
    if unsafe { ZDICT_isError(length) } != 0 || length == 0 {
        return None;
    }
    dict.truncate(length);
    Some(dict)
}
