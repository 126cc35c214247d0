//! The metadata section: an optionally compressed byte string, with reserved space.
//!
//! ```text
//! header (32) | stored bytes | zeros up to the reserved size | digest of the stored bytes
//! ```
//!
//! | bytes | of the section's header |
//! |---|---|
//! | 0 | format of the content: `JSON`, padded with NUL (other writers pad with blanks) |
//! | 8 | options |
//! | 9 | checksum |
//! | 10 | codec: 0 none, 1 zlib |
//! | 11 | level |
//! | 12 | uncompressed size, u32 |
//! | 16 | reserved size, u32 |
//! | 20 | stored size, u32 |
//! | 24 | a user-defined codec, as text |

use std::io::{Read, Write};

use zlib_rs::{Inflate, InflateFlush, Status};

use super::checksum::Checksum;
use super::error::{Checked, Error, Result};
use super::limits::MAX_METADATA;
use super::source::read_exactly;

/// Length of the section's header, in bytes.
pub const SECTION_HEADER_LENGTH: usize = 32;

/// Upper bound on the expansion factor of a Deflate stream; zlib's framing lowers it further.
const MAX_EXPANSION: u64 = 1032;
/// The window size of zlib's streams, as a power of two.
const WINDOW_BITS: u8 = 15;
/// Bytes per read; the buffer grows as bytes arrive.
const STEP: usize = 64 << 10;
static ZEROS: [u8; STEP] = [0; STEP];
/// The name of the section in errors.
const SECTION: &str = "the metadata";

mod offset {
    pub const OPTIONS: usize = 8;
    pub const CHECKSUM: usize = 9;
    pub const CODEC: usize = 10;
    pub const LEVEL: usize = 11;
    pub const SIZE: usize = 12;
    pub const RESERVED: usize = 16;
    pub const STORED: usize = 20;
    pub const USER_CODEC: usize = 24;
}

/// The compression of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum MetadataCodec {
    /// Uncompressed.
    None = 0,
    /// A zlib stream.
    Zlib = 1,
}

impl MetadataCodec {
    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            MetadataCodec::None => "None",
            MetadataCodec::Zlib => "zlib",
        }
    }

    /// Returns the codec with this name.
    pub fn from_name(name: &str) -> Option<MetadataCodec> {
        let all = [MetadataCodec::None, MetadataCodec::Zlib];
        all.into_iter().find(|codec| codec.name() == name)
    }
}

/// The header of the section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataHeader {
    /// The format of the content, padded to eight bytes.
    pub magic_format: [u8; 8],
    /// Options; none is defined.
    pub options: u8,
    /// The checksum of the digest that follows the section.
    pub checksum: Checksum,
    /// The codec.
    pub codec: MetadataCodec,
    /// The compression level that was requested.
    pub level: u8,
    /// Uncompressed size in bytes.
    pub size: u32,
    /// Reserved size in bytes.
    pub reserved: u32,
    /// Stored size in bytes.
    pub stored: u32,
    /// A user-defined codec.
    pub user_codec: [u8; 8],
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn eight_at(bytes: &[u8], at: usize) -> [u8; 8] {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    eight
}

impl MetadataHeader {
    /// Decodes the header of a section.
    ///
    /// # Errors
    /// [`Error::ChecksumId`], [`Error::MetadataCodec`], [`Error::MetadataSize`] and
    /// [`Error::MetadataSection`].
    pub fn decode(bytes: &[u8; SECTION_HEADER_LENGTH]) -> Result<MetadataHeader> {
        let header = MetadataHeader {
            magic_format: eight_at(bytes, 0),
            options: bytes[offset::OPTIONS],
            checksum: Checksum::from_id(bytes[offset::CHECKSUM])?,
            codec: match bytes[offset::CODEC] {
                0 => MetadataCodec::None,
                1 => MetadataCodec::Zlib,
                other => return Err(Error::MetadataCodec(other)),
            },
            level: bytes[offset::LEVEL],
            size: u32_at(bytes, offset::SIZE),
            reserved: u32_at(bytes, offset::RESERVED),
            stored: u32_at(bytes, offset::STORED),
            user_codec: eight_at(bytes, offset::USER_CODEC),
        };
        if header.stored > header.reserved {
            return Err(Error::MetadataSection("it is larger than its reserved space"));
        }
        if header.size > MAX_METADATA || header.stored > MAX_METADATA {
            return Err(Error::MetadataSize(header.size.max(header.stored)));
        }
        if header.codec == MetadataCodec::None && header.size != header.stored {
            return Err(Error::MetadataSection("the sizes of plain bytes differ"));
        }
        if u64::from(header.size) > u64::from(header.stored) * MAX_EXPANSION {
            return Err(Error::MetadataSection("it is larger than its maximum size"));
        }
        Ok(header)
    }

    /// Encodes the header.
    pub fn encode(&self) -> [u8; SECTION_HEADER_LENGTH] {
        let mut bytes = [0; SECTION_HEADER_LENGTH];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &self.magic_format);
        put(offset::OPTIONS, &[self.options]);
        put(offset::CHECKSUM, &[self.checksum.id()]);
        put(offset::CODEC, &[self.codec as u8]);
        put(offset::LEVEL, &[self.level]);
        put(offset::SIZE, &self.size.to_le_bytes());
        put(offset::RESERVED, &self.reserved.to_le_bytes());
        put(offset::STORED, &self.stored.to_le_bytes());
        put(offset::USER_CODEC, &self.user_codec);
        bytes
    }

    /// Returns the format of the content, without padding.
    pub fn kind(&self) -> &[u8] {
        trimmed(&self.magic_format)
    }
}

/// Strips trailing NULs and blanks.
fn trimmed(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| !matches!(byte, 0 | b' '));
    &bytes[..end.map_or(0, |at| at + 1)]
}

/// A metadata section. [`MetadataSection::read`] verifies its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataSection {
    /// The header of the section.
    pub header: MetadataHeader,
    /// The stored content.
    pub stored: Vec<u8>,
}

impl MetadataSection {
    /// Returns the length of the section in bytes.
    pub fn stored_len(&self) -> u64 {
        SECTION_HEADER_LENGTH as u64
            + u64::from(self.header.reserved)
            + self.header.checksum.size() as u64
    }

    /// Reads a section, which must fit into `available` bytes, if known.
    ///
    /// # Errors
    /// The errors of [`MetadataHeader::decode`], [`Error::Truncated`], [`Error::Checksum`].
    pub fn read(reader: &mut impl Read, available: Option<u64>) -> Result<MetadataSection> {
        let mut bytes = [0; SECTION_HEADER_LENGTH];
        read_exactly(reader, &mut bytes, SECTION)?;
        let header = MetadataHeader::decode(&bytes)?;
        let mut section = MetadataSection { header, stored: Vec::new() };
        if available.is_some_and(|available| section.stored_len() > available) {
            return Err(Error::Truncated(SECTION));
        }
        let mut left = header.stored as usize;
        while left > 0 {
            let step = left.min(STEP);
            let filled = section.stored.len();
            section.stored.try_reserve(step)?;
            section.stored.resize(filled + step, 0);
            read_exactly(reader, &mut section.stored[filled..], SECTION)?;
            left -= step;
        }
        skip(reader, u64::from(header.reserved - header.stored), SECTION)?;
        let mut digest = vec![0; header.checksum.size()];
        read_exactly(reader, &mut digest, SECTION)?;
        let checksum = header.checksum;
        checksum.verify(&section.stored, &digest, Checked::Metadata)?;
        Ok(section)
    }

    /// Encodes the section.
    ///
    /// # Errors
    /// [`Error::Memory`]
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let reserved = self.header.reserved as usize;
        let size = SECTION_HEADER_LENGTH + reserved + self.header.checksum.size();
        bytes.try_reserve_exact(size)?;
        self.write(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes the encoded section. The reserved space, which can be gigabytes, is not in memory.
    ///
    /// # Errors
    /// The errors of writing.
    pub(crate) fn write(&self, output: &mut impl Write) -> Result<()> {
        output.write_all(&self.header.encode())?;
        output.write_all(&self.stored)?;
        let mut left = (self.header.reserved as usize).saturating_sub(self.stored.len());
        while left > 0 {
            let step = left.min(ZEROS.len());
            output.write_all(&ZEROS[..step])?;
            left -= step;
        }
        Ok(output.write_all(&self.header.checksum.digest(&self.stored))?)
    }

    /// Returns the uncompressed content.
    ///
    /// # Errors
    /// [`Error::MetadataData`] if its size contradicts the header; [`Error::Memory`].
    pub fn plain(&self) -> Result<Vec<u8>> {
        if self.header.codec == MetadataCodec::None {
            let mut plain = Vec::new();
            plain.try_reserve_exact(self.stored.len())?;
            plain.extend_from_slice(&self.stored);
            return Ok(plain);
        }
        // One byte more than recorded, to detect a longer stream.
        let mut plain = Vec::new();
        plain.try_reserve_exact(self.header.size as usize + 1)?;
        plain.resize(self.header.size as usize + 1, 0);
        let mut inflate = Inflate::new(true, WINDOW_BITS);
        let status = inflate.decompress(&self.stored, &mut plain, InflateFlush::Finish);
        let is_whole = matches!(status, Ok(Status::StreamEnd))
            && inflate.total_out() == u64::from(self.header.size);
        if !is_whole {
            return Err(Error::MetadataData);
        }
        plain.truncate(self.header.size as usize);
        Ok(plain)
    }
}

/// Skips `len` bytes.
pub(super) fn skip(reader: &mut impl Read, len: u64, what: &'static str) -> Result<()> {
    let skipped = std::io::copy(&mut reader.take(len), &mut std::io::sink())?;
    if skipped == len { Ok(()) } else { Err(Error::Truncated(what)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts bytes, and fails for a large buffer.
    struct Counter(u64);

    impl Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            assert!(bytes.len() <= STEP);
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_reserved_space_is_written_in_small_steps() {
        let mut header = MetadataHeader::decode(&[0; SECTION_HEADER_LENGTH]).unwrap();
        header.stored = 3;
        for reserved in [3, 4, STEP as u32, u32::MAX] {
            header.reserved = reserved;
            let section = MetadataSection { header, stored: vec![1, 2, 3] };
            let mut counter = Counter(0);
            section.write(&mut counter).unwrap();
            assert_eq!(counter.0, section.stored_len());
        }
    }
}
