//! Queries on the header of a chunk.

use std::ffi::CStr;

use super::header::{BasicHeader, ChunkHeader, Special};
use super::limits::{EXTENDED_HEADER_LENGTH, MAX_BUFFERSIZE};
use crate::codec::{self, format};
use crate::plugin::Plugin;
use crate::{Error, ErrorKind, Result, filter};

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

/// Returns the number of blocks of a chunk with variable-length blocks, read from its first 32
/// bytes.
///
/// # Errors
/// - [`Error::ReadBuffer`] for fewer bytes;
/// - [`Error::InvalidParam`] for a chunk with fixed-length blocks;
/// - [`Error::InvalidHeader`] or [`Error::VersionSupport`] for an invalid header.
pub fn vl_nblocks(src: &[u8]) -> Result<i32> {
    if src.len() < EXTENDED_HEADER_LENGTH {
        return Err(Error::ReadBuffer);
    }
    let header = ChunkHeader::parse(src)?;
    if header.vl_blocks { Ok(header.basic.blocksize) } else { Err(Error::InvalidParam) }
}

/// Returns the name of the library that decodes the chunk's streams, or `None` for Snappy and for
/// registered codecs.
pub fn complib(header: &BasicHeader) -> Option<&'static CStr> {
    let codec = codec::info_of_format(header.format())?;
    (!codec.is_blosc1_only).then_some(codec.library)
}

/// Returns the plugin that a chunk requires and this process does not have, if any. Loads plugin
/// libraries as needed, like decompression.
pub fn missing_plugin(header: &ChunkHeader) -> Option<Plugin> {
    if header.special != Special::None || header.is_memcpyed() {
        return None;
    }
    let number = header.basic.format();
    if number == format::USER {
        if codec::implementation(header.udcodec).is_err() {
            return Some(codec::missing_plugin(header.udcodec));
        }
    } else if !header.basic.has_builtin_codec() {
        return Some(Plugin::of_format(number));
    }
    let ids = header.filters.iter().map(|slot| slot.id);
    // Smaller ids are reserved for Blosc2 itself: an unknown one means that the chunk is damaged.
    let mut of_plugins = ids.filter(|&id| id >= filter::id::FIRST_REGISTERED);
    of_plugins.find(|&id| !filter::is_available(id)).map(filter::missing_plugin)
}
