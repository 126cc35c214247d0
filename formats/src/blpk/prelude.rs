//! Everything before the chunks: header, metadata and offsets.

use std::io::Read;

use super::error::{Error, Result};
use super::header::{Header, LENGTH, SHORT_LENGTH};
use super::metadata::MetadataSection;
use super::offsets::OFFSET_LENGTH;
use super::source::read_up_to;

/// The header, the metadata, and the offsets of the following sections.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Prelude {
    /// The header.
    pub header: Header,
    /// The metadata section, if there is one.
    pub metadata: Option<MetadataSection>,
    /// Offset of the offsets section, whether or not it exists, in bytes.
    pub offsets_start: u64,
    /// Offset of the first chunk, in bytes.
    pub chunks_start: u64,
}

impl Prelude {
    /// Reads the header and the metadata. All sizes are checked against `size`, the size of the
    /// container in bytes, if known.
    ///
    /// # Errors
    /// The errors of the header and of the metadata; [`Error::Truncated`].
    pub fn read(reader: &mut impl Read, size: Option<u64>) -> Result<Prelude> {
        let mut bytes = [0; LENGTH];
        let mut len = read_up_to(reader, &mut bytes[..SHORT_LENGTH])?;
        if !Header::is_version1(&bytes[..len]) && len == SHORT_LENGTH {
            len += read_up_to(reader, &mut bytes[SHORT_LENGTH..])?;
        }
        let header = Header::decode(&bytes[..len])?;
        let mut position = len as u64;
        let metadata = if header.metadata {
            let room = size.map(|size| size.saturating_sub(position));
            let section = MetadataSection::read(reader, room)?;
            position += section.stored_len();
            Some(section)
        } else {
            None
        };
        let offsets_start = position;
        if header.offsets {
            // If the number of chunks is unknown, the section has no entries.
            let entries = header.entries().unwrap_or(0);
            position = entries
                .checked_mul(OFFSET_LENGTH)
                .and_then(|len| len.checked_add(position))
                .filter(|&end| size.is_none_or(|size| end <= size))
                .ok_or(Error::Truncated("the offsets"))?;
        }
        Ok(Prelude { header, metadata, offsets_start, chunks_start: position })
    }
}
