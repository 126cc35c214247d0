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

pub(super) use fast::Lz4;

use std::ffi::c_int;

use super::info::{Code, Dictionaries};
use super::{CodecInfo, Dictionary, format, id};
use crate::{Error, Result};

/// The row of the fast encoder.
pub(super) const INFO: CodecInfo = CodecInfo {
    max_split_level: CodecInfo::ALL_LEVELS,
    has_large_state: false,
    dictionaries: Some(Dictionaries {
        train: None,
        for_encoding: |bytes, _| Ok(Box::new(fast::FastDict::new(bytes)?)),
        for_decoding: None,
    }),
    ..COMMON
};

/// The row of the high-compression encoder.
pub(super) const INFO_HC: CodecInfo = CodecInfo {
    id: id::LZ4HC,
    name: c"lz4hc",
    title: "LZ4HC",
    has_large_blocks: true,
    dictionaries: Some(Dictionaries {
        train: None,
        for_encoding: |bytes, level| Ok(Box::new(high::HighDict::new(bytes, level)?)),
        for_decoding: None,
    }),
    code: Code::Stream(|| Box::new(high::Lz4Hc::default())),
    ..COMMON
};

/// The properties that both encoders share. A run grows by 255 bytes per byte.
const COMMON: CodecInfo = CodecInfo {
    title: "LZ4",
    library: c"LZ4",
    library_version: c"1.10.0",
    blosc1_library_version: c"1.10.0",
    max_expansion: 255,
    ..CodecInfo::built_in(id::LZ4, c"lz4", format::LZ4, || Box::new(Lz4::default()))
};

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
