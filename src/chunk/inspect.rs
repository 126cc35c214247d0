//! What the first 16 bytes of a chunk tell.

use std::ffi::CStr;

use super::MAX_BUFFERSIZE;
use super::header::BasicHeader;
use crate::codec::format;
use crate::{Error, ErrorKind, Result};

/// The sizes in a chunk's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Uncompressed bytes.
    pub nbytes: i32,
    /// Bytes of the chunk.
    pub cbytes: i32,
    /// Bytes of a block, or the number of variable-length blocks.
    pub blocksize: i32,
}

/// Reads the sizes of a chunk.
///
/// # Errors
/// [`Error::ReadBuffer`] for fewer than 16 bytes, [`Error::InvalidHeader`] for sizes that can't be.
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

/// Whether these can be all the bytes of a chunk; returns the uncompressed size.
///
/// # Errors
/// [`Error::WriteBuffer`] for fewer than 16 bytes, [`Error::InvalidHeader`] when the header can't be or
/// says another length, [`Error::MemoryAlloc`] when it says an uncompressed size no chunk has.
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

/// The name of the library that decodes the chunk's streams, as its flags say; none for formats that have
/// no built-in codec.
pub fn complib(header: &BasicHeader) -> Option<&'static CStr> {
    Some(match header.format() {
        format::BLOSCLZ => c"BloscLZ",
        format::LZ4 => c"LZ4",
        format::ZLIB => c"Zlib",
        format::ZSTD => c"Zstd",
        _ => return None,
    })
}
