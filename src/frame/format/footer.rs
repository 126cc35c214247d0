//! The header of a frame, before the chunks, and the footer, after them. They are written together.
//!
//! ```text
//! header | chunks | index | rest: checksums, if any, and trailer |
//! ```

use super::checksum::{self, FingerprintInput, FingerprintStatus, Table};
use super::description::{Description, Metalayer};
use super::header::{self, FIXED_LEN, Kind};
use super::trailer;
use crate::chunk::BasicHeader;
use crate::{Error, Result};
use std::sync::Arc;

/// The footer of a frame that is written, with the header that refers to it.
pub struct Footer {
    /// The whole header.
    pub header: Vec<u8>,
    /// The offset of the index.
    pub index_at: u64,
    /// The index; empty in a frame without data.
    pub index: Vec<u8>,
    /// The bytes after the index, or after the header in a frame without data. They may include
    /// large metalayers, so they are shared with the description.
    pub rest: Arc<Vec<u8>>,
    /// The size of the trailer, at the end of `rest`, in bytes.
    pub trailer_len: u32,
}

impl Footer {
    /// Assembles the sections and sets the frame length in the header. `checksums` are those of the
    /// chunks; `None` for a frame without checksums.
    ///
    /// # Errors
    /// [`Error::Data`] and [`Error::ReadBuffer`] for invalid metalayers; [`Error::MemoryAlloc`].
    pub fn new(
        header: Vec<u8>,
        index_at: u64,
        index: Vec<u8>,
        trailer: &Arc<Vec<u8>>,
        checksums: Option<&[u64]>,
    ) -> Result<Footer> {
        let rest = match checksums {
            None => Arc::clone(trailer),
            Some(checksums) => Arc::new(sealed_rest(&header, &index, trailer, checksums)?),
        };
        let mut footer =
            Footer { header, index_at, index, rest, trailer_len: trailer.len() as u32 };
        let len = footer.frame_len();
        header::set_frame_len(&mut footer.header, len);
        Ok(footer)
    }

    /// Returns the header and footer of a frame without chunks.
    ///
    /// # Errors
    /// Returns the errors of an invalid description; [`Error::MemoryAlloc`].
    pub fn of_empty(
        description: &Description,
        kind: Kind,
        is_fingerprinted: bool,
    ) -> Result<Footer> {
        let header = header::build(description, kind)?;
        let index_at = header.len() as u64;
        let checksums: Option<&[u64]> = is_fingerprinted.then_some(&[]);
        Footer::new(header, index_at, Vec::new(), &description.trailer, checksums)
    }

    /// Returns the offset of `rest`.
    pub fn rest_at(&self) -> u64 {
        if self.index.is_empty() {
            self.header.len() as u64
        } else {
            self.index_at + self.index.len() as u64
        }
    }

    /// Returns the offset after the chunks: that of the index, or of `rest` in a frame without
    /// data.
    pub fn start(&self) -> u64 {
        if self.index.is_empty() { self.rest_at() } else { self.index_at }
    }

    /// Returns the size of the frame in bytes.
    pub fn frame_len(&self) -> u64 {
        self.rest_at() + self.rest.len() as u64
    }

    /// Returns the header, the index and the rest with their offsets.
    fn sections(&self) -> [(u64, &[u8]); 3] {
        [(0, &self.header), (self.index_at, &self.index), (self.rest_at(), &self.rest)]
    }

    /// Returns the bytes of a range with their offsets; `None` if the range includes bytes of
    /// chunks, which are not cached.
    pub fn range(&self, position: u64, len: u64) -> Option<impl Iterator<Item = (u64, &[u8])>> {
        let end = position + len;
        let is_of_it = end <= self.header.len() as u64 || (self.start()..=end).contains(&position);
        is_of_it.then(|| {
            self.sections().into_iter().filter_map(move |(at, bytes)| {
                let first = position.max(at);
                let last = end.min(at + bytes.len() as u64);
                let range = first.checked_sub(at)? as usize..last.checked_sub(at)? as usize;
                Some((first, bytes.get(range)?))
            })
        })
    }

    /// Whether the header, the index or the rest is at this offset and equals `bytes`. Contents are
    /// compared only if they are not the same slice.
    pub fn has(&self, position: u64, bytes: &[u8]) -> bool {
        self.sections().into_iter().any(|(at, section)| {
            at == position && (std::ptr::eq(section, bytes) || section == bytes)
        })
    }

    /// Returns the header, the index and the rest as one buffer: a contiguous frame without chunks,
    /// or the index file of a sparse frame.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(self.header.len() + self.index.len() + self.rest.len())?;
        for (_, section) in self.sections() {
            bytes.extend_from_slice(section);
        }
        Ok(bytes)
    }
}

/// Returns the bytes after the index in a frame with checksums: the table of checksums, if there is
/// an index, and the trailer with a fingerprint.
fn sealed_rest(header: &[u8], index: &[u8], trailer: &[u8], checksums: &[u64]) -> Result<Vec<u8>> {
    let mut slack = Vec::new();
    // Without data the trailer directly follows the header.
    if !index.is_empty() {
        let of_all = |layers: Vec<Metalayer>| {
            let of_one = |layer: &Metalayer| checksum::of_metalayer(&layer.name, &layer.content);
            layers.iter().map(of_one).collect()
        };
        let table = Table {
            chunks: checksums.to_vec(),
            metalayers: of_all(header::parse_metalayers(header)?),
            vlmetalayers: of_all(trailer::parse(trailer)?),
        };
        slack = table.to_bytes()?;
    }
    let mut trailer = trailer.to_vec();
    trailer::reserve_fingerprint(&mut trailer)?;
    let fixed = header.first_chunk().ok_or(Error::InvalidHeader)?;
    checksum::seal(fixed, index, &slack, &mut trailer)?;
    slack.try_reserve(trailer.len())?;
    slack.extend_from_slice(&trailer);
    Ok(slack)
}

/// The footer of a stored frame, as far as a fingerprint covers it.
pub struct StoredFooter {
    fixed: [u8; FIXED_LEN],
    /// The index, the bytes after it, and the trailer.
    bytes: Vec<u8>,
    index_len: usize,
    trailer_at: usize,
}

impl StoredFooter {
    /// Splits the bytes from the start of the index, if there is one, to the end of a trailer of
    /// `trailer_len` bytes.
    ///
    /// # Errors
    /// [`Error::InvalidHeader`] if the index overlaps the trailer; the errors of an invalid index.
    pub fn parse(
        fixed: [u8; FIXED_LEN],
        bytes: Vec<u8>,
        has_index: bool,
        trailer_len: u32,
    ) -> Result<StoredFooter> {
        let trailer_at = bytes.len().saturating_sub(trailer_len as usize);
        let index_len = if has_index {
            usize::try_from(BasicHeader::parse(&bytes)?.cbytes).ok()
        } else {
            Some(0)
        };
        let index_len = index_len.filter(|&index_len| index_len <= trailer_at);
        Ok(StoredFooter {
            fixed,
            bytes,
            index_len: index_len.ok_or(Error::InvalidHeader)?,
            trailer_at,
        })
    }

    /// Verifies the fingerprint of the frame.
    pub fn inspect(&self) -> FingerprintStatus {
        let input = FingerprintInput {
            header: &self.fixed,
            index: self.index(),
            slack: &self.bytes[self.index_len..self.trailer_at],
            trailer: self.trailer(),
        };
        input.inspect()
    }

    /// Returns the index.
    pub fn index(&self) -> &[u8] {
        &self.bytes[..self.index_len]
    }

    /// Returns the trailer.
    pub fn trailer(&self) -> &[u8] {
        &self.bytes[self.trailer_at..]
    }
}
