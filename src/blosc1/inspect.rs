//! Access to the fields of a chunk header, with few checks except that of the version.

use std::ffi::CStr;

use super::error::{Error, Result};
use super::names::library_of_format;
use super::{HEADER_LENGTH, MAX_BUFFERSIZE};
use crate::chunk::BasicHeader;
use crate::chunk::header::{VERSION_BLOSC1, flag};

/// The bytes of a header.
pub type Header = [u8; HEADER_LENGTH];

/// The sizes in a header, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sizes {
    /// The size of the data.
    pub nbytes: i32,
    /// The size of the chunk.
    pub cbytes: i32,
    /// The size of a block.
    pub blocksize: i32,
}

/// Reads the header, or returns `None` for an unsupported version.
fn read_supported(header: &Header) -> Option<BasicHeader> {
    Some(BasicHeader::read(header)).filter(|header| header.version == VERSION_BLOSC1)
}

/// Returns the sizes, all 0 for an unsupported version. They may be negative in a hostile header.
pub fn sizes(header: &Header) -> Sizes {
    read_supported(header).map_or(Sizes::default(), |header| Sizes {
        nbytes: header.nbytes,
        cbytes: header.cbytes,
        blocksize: header.blocksize,
    })
}

/// Returns the item size in bytes, and the flags for byte shuffle, bit shuffle and uncompressed
/// data. Both are 0 for an unsupported version.
pub fn metainfo(header: &Header) -> (u8, u8) {
    const REPORTED: u8 = flag::SHUFFLE | flag::MEMCPYED | flag::BITSHUFFLE;
    read_supported(header).map_or((0, 0), |header| (header.typesize, header.flags & REPORTED))
}

/// Returns the versions of the chunk and of its streams.
pub fn versions(header: &Header) -> (u8, u8) {
    let header = BasicHeader::read(header);
    (header.version, header.versionlz)
}

/// Returns the name of the library that decodes the streams, for any version, or `None` for an
/// unknown format.
pub fn complib(header: &Header) -> Option<&'static CStr> {
    library_of_format(BasicHeader::read(header).format())
}

/// Checks whether a chunk of `cbytes` bytes can have this header.
///
/// # Errors
/// [`Error::Failure`]
pub fn validate(header: &Header, cbytes: usize) -> Result<()> {
    let sizes = sizes(header);
    let has_size = usize::try_from(sizes.cbytes) == Ok(cbytes);
    let is_in_range = usize::try_from(sizes.nbytes).is_ok_and(|nbytes| nbytes <= MAX_BUFFERSIZE);
    if has_size && is_in_range { Ok(()) } else { Err(Error::Failure) }
}
