//! The arguments and results of liblz4's functions, and its decoder.

use std::ffi::c_int;

use super::ffi;
use crate::codec::Dictionary;
use crate::{Error, Result};

/// Returns the length of a slice as liblz4 expects it.
///
/// # Errors
/// [`Error::TwoGbLimit`] for slices above LZ4's own limit.
pub(super) fn source_len(src: &[u8]) -> Result<c_int> {
    c_int::try_from(src.len()).map_err(|_| Error::TwoGbLimit)
}

/// Returns a capacity as liblz4 expects it, limited to the range it supports.
pub(super) fn capacity(dest: &[u8]) -> c_int {
    c_int::try_from(dest.len()).unwrap_or(c_int::MAX)
}

/// Converts an encoder's result; liblz4 returns 0 if the block does not fit.
pub(super) fn encoded(result: c_int) -> Result<usize> {
    usize::try_from(result).map_err(|_| Error::Data)
}

/// Decodes the block `src` with the dictionary `dict` into the first `len` bytes of `dest`. The
/// bytes after them may be overwritten with any values.
pub(super) fn decode(
    dict: Option<&Dictionary>,
    src: &[u8],
    dest: &mut [u8],
    len: usize,
) -> Result<usize> {
    match dict {
        Some(dict) => decode_with(dict, src, &mut dest[..len]),
        None => super::super::decode::decode(src, dest, len),
    }
}

/// Decodes the block `src` with a dictionary; returns the length of the output.
///
/// # Errors
/// [`Error::Data`] for an invalid block or one that does not fit into `dest`.
pub(super) fn decode_with(dict: &Dictionary, src: &[u8], dest: &mut [u8]) -> Result<usize> {
    let window = dict.bytes();
    // SAFETY: the pointers and lengths come from live slices; the decoder stays within them for any
    // `src`.
    let result = unsafe {
        ffi::LZ4_decompress_safe_usingDict(
            src.as_ptr().cast(),
            dest.as_mut_ptr().cast(),
            source_len(src)?,
            capacity(dest),
            window.as_ptr().cast(),
            source_len(window)?,
        )
    };
    usize::try_from(result).map_err(|_| Error::Data)
}
