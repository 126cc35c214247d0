//! LZ4 and LZ4HC: two encoders of one format, the raw LZ4 block (no frame, no size before it).
//!
//! A block is a row of sequences: a token with two 4-bit lengths, literals, and a match given as a 2-byte
//! distance back. Both encoders are liblz4's, with their states kept between calls; what they write is
//! what a fresh state would write. The fast one is not asked about planes of [noise](glance). Decoding is ours, but for blocks with a dictionary.

mod decode;
mod fast;
mod ffi;
mod glance;
mod high;

pub(super) use fast::{FastDict, Lz4};
pub(super) use high::{HighDict, Lz4Hc};

use std::ffi::c_int;

use super::Dictionary;
use crate::{Error, Result};

/// A slice's length as liblz4 wants it.
///
/// # Errors
/// [`Error::TwoGbLimit`] for slices beyond LZ4's own limit.
fn source_len(src: &[u8]) -> Result<c_int> {
    c_int::try_from(src.len()).map_err(|_| Error::TwoGbLimit)
}

/// A capacity as liblz4 wants it: whatever exceeds its range can't be used by it either.
fn capacity(dest: &[u8]) -> c_int {
    c_int::try_from(dest.len()).unwrap_or(c_int::MAX)
}

/// An encoder's result: liblz4 returns 0 when the block doesn't fit.
fn encoded(result: c_int) -> Result<usize> {
    usize::try_from(result).map_err(|_| Error::Data)
}

/// Decodes the block `src`, whose window before the first byte is `dict`, into the first `len` bytes of `dest`; those behind may
/// get any values.
fn decode(dict: Option<&Dictionary>, src: &[u8], dest: &mut [u8], len: usize) -> Result<usize> {
    match dict {
        Some(dict) => decode_with(dict, src, &mut dest[..len]),
        None => decode::decode(src, dest, len),
    }
}

fn decode_with(dict: &Dictionary, src: &[u8], dest: &mut [u8]) -> Result<usize> {
    let window = dict.bytes();
    // SAFETY: pointers and lengths are those of live slices; the decoder stays inside them whatever `src` holds.
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
