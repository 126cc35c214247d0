//! Queries on the first 16 bytes of a chunk.

use std::ffi::CStr;

use super::MAX_BUFFERSIZE;
use super::header::BasicHeader;
use crate::codec;
use crate::{Error, ErrorKind, Result};

/// The sizes in a chunk's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sizes {
    /// The uncompressed size in bytes.
    pub nbytes: i32,
    /// The size of the chunk in bytes.
    pub cbytes: i32,
    /// The block size in bytes, or the number of variable-length blocks.
    pub blocksize: i32,
}

/// Returns the sizes of a chunk.
///
/// # Errors
/// [`Error::ReadBuffer`] for fewer than 16 bytes; [`Error::InvalidHeader`] for invalid sizes.
pub fn sizes(chunk: &[u8]) -> Result<Sizes> {
    let header = BasicHeader::parse(chunk)?;
    if header.nbytes < 0 {
        return Err(Error::InvalidHeader);
    }
    Ok(Sizes {
        nbytes: header.nbytes,
        cbytes: header.cbytes,
        blocksize: header.clamped_blocksize(),
    })
}

/// Checks that `chunk` can be a whole chunk; returns its uncompressed size.
///
/// # Errors
/// [`Error::WriteBuffer`] for fewer than 16 bytes; [`Error::InvalidHeader`] if the header is
/// invalid or contains another length; [`Error::MemoryAlloc`] for an impossible uncompressed size.
pub fn validate(chunk: &[u8]) -> Result<usize> {
    let header = BasicHeader::parse(chunk).map_err(|error| match error.kind() {
        ErrorKind::ReadBuffer => error.recast(ErrorKind::WriteBuffer),
        _ => error,
    })?;
    if header.cbytes as usize != chunk.len() {
        return Err(Error::InvalidHeader);
    }
    usize::try_from(header.nbytes)
        .ok()
        .filter(|&nbytes| nbytes <= MAX_BUFFERSIZE)
        .ok_or(Error::MemoryAlloc)
}

/// Returns the name of the library that decodes the chunk's streams, or `None` for Snappy and for
/// registered codecs.
pub fn complib(header: &BasicHeader) -> Option<&'static CStr> {
    let codec = codec::info_of_format(header.format())?;
    (!codec.is_blosc1_only).then_some(codec.library)
}
