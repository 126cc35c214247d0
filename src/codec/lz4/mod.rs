//! LZ4 and LZ4HC: two encoders for one format, the raw LZ4 block (no frame, no size prefix).
//!
//! A block is a list of sequences: a token with two 4-bit lengths, literals, and a match with a
//! 2-byte distance. Both encoders are liblz4's. Their states are reused between calls; the output
//! is that of a new state. The fast encoder is skipped for [incompressible](sample) planes. The
//! decoder is our own, except for blocks with a dictionary.

mod decode;
mod fast;
mod ffi;
mod high;
mod sample;

pub(super) use fast::{FastDict, Lz4};
pub(super) use high::{HighDict, Lz4Hc};

use std::ffi::c_int;

use super::Dictionary;
use crate::{Error, Result};

/// Returns the length of a slice as liblz4 expects it.
///
/// # Errors
/// [`Error::TwoGbLimit`] for slices above LZ4's own limit.
fn source_len(src: &[u8]) -> Result<c_int> {
    c_int::try_from(src.len()).map_err(|_| Error::TwoGbLimit)
}

/// Returns a capacity as liblz4 expects it, limited to the range it supports.
fn capacity(dest: &[u8]) -> c_int {
    c_int::try_from(dest.len()).unwrap_or(c_int::MAX)
}

/// Converts an encoder's result; liblz4 returns 0 if the block does not fit.
fn encoded(result: c_int) -> Result<usize> {
    usize::try_from(result).map_err(|_| Error::Data)
}

/// Decodes the block `src` with the dictionary `dict` into the first `len` bytes of `dest`. The
/// bytes after them may be overwritten with any values.
fn decode(dict: Option<&Dictionary>, src: &[u8], dest: &mut [u8], len: usize) -> Result<usize> {
    match dict {
        Some(dict) => decode_with(dict, src, &mut dest[..len]),
        None => decode::decode(src, dest, len),
    }
}

fn decode_with(dict: &Dictionary, src: &[u8], dest: &mut [u8]) -> Result<usize> {
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
