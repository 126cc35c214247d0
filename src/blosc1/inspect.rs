//! What the header of a chunk tells, judged by hardly more than its version.

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
pub struct Sizes {
    /// Of the data.
    pub nbytes: i32,
    /// Of the chunk.
    pub cbytes: i32,
    /// Of a block.
    pub blocksize: i32,
}

/// The header, unless it is of another version.
fn current(header: &Header) -> Option<BasicHeader> {
    Some(BasicHeader::read(header)).filter(|header| header.version == VERSION_BLOSC1)
}

/// The sizes; all 0 for another version. A hostile header may say negative numbers.
pub fn sizes(header: &Header) -> Sizes {
    current(header).map_or(Sizes::default(), |header| Sizes {
        nbytes: header.nbytes,
        cbytes: header.cbytes,
        blocksize: header.blocksize,
    })
}

/// The bytes of an item, and the flags that say whether the data are shuffled, stored or bitshuffled; 0 for
/// another version.
pub fn metainfo(header: &Header) -> (u8, u8) {
    const SHOWN: u8 = flag::SHUFFLE | flag::MEMCPYED | flag::BITSHUFFLE;
    current(header).map_or((0, 0), |header| (header.typesize, header.flags & SHOWN))
}

/// The versions of the chunk and of the streams in it.
pub fn versions(header: &Header) -> (u8, u8) {
    let header = BasicHeader::read(header);
    (header.version, header.versionlz)
}

/// The name of the library that reads the streams, whatever the version; none for a format without one.
pub fn complib(header: &Header) -> Option<&'static CStr> {
    library_of_format(BasicHeader::read(header).format()).map(|library| library.name)
}

/// Whether a chunk with this header can have `cbytes` bytes.
///
/// # Errors
/// [`Error::Failure`]
pub fn validate(header: &Header, cbytes: usize) -> Result<()> {
    let sizes = sizes(header);
    let has_size = usize::try_from(sizes.cbytes) == Ok(cbytes);
    let can_be = usize::try_from(sizes.nbytes).is_ok_and(|nbytes| nbytes <= MAX_BUFFERSIZE);
    if has_size && can_be {
        Ok(())
    } else {
        Err(Error::Failure)
    }
}
