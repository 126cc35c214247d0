//! Use of a frame's checksums: parsed when a frame is opened, verified when a chunk is read, and
//! written with every change of a frame for which they are enabled.
//!
//! Only chunks with a known checksum are verified. When checksums are added to an existing frame,
//! each chunk written from then on has one; [`Frame::compact`] computes the others.

use super::checksum::{self, FingerprintInput, FingerprintStatus, OF_SPECIAL, Table};
use super::frame::{CachedState, Frame, Location};
use super::header::FIXED_LEN;
use super::write::{Change, Stored};
use super::{metalayers, trailer};
use crate::chunk::BasicHeader;
use crate::io::Durability;
use crate::{Buffer, Error, Result};
use std::sync::Arc;

/// The bytes of a frame that a fingerprint covers.
pub(super) struct Back {
    fixed: [u8; FIXED_LEN],
    /// The index, the bytes after it, and the trailer.
    bytes: Vec<u8>,
    index_len: usize,
    trailer_at: usize,
}

impl Back {
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

impl Frame {
    /// Adds checksums to the frame from the next change on.
    pub fn add_checksums(&mut self) {
        self.durability = self.durability.and(Durability {
            checksums: true,
            ..Durability::default()
        });
    }

    /// Returns the state of the fingerprint, and the checksums.
    ///
    /// # Errors
    /// Those of reading the frame.
    pub fn seal(&mut self) -> Result<FingerprintStatus> {
        self.flush()?;
        let cached = self.cached();
        if cached.is_fingerprinted {
            Ok(self.back(self.committed(&cached))?.inspect())
        } else {
            Ok(FingerprintStatus::Absent)
        }
    }

    /// Whether changes are written with checksums.
    pub(super) fn has_fingerprint(&self) -> bool {
        self.durability.checksums || self.cached().is_fingerprinted
    }

    /// Reads the bytes that a fingerprint covers.
    ///
    /// # Errors
    /// [`Error::FileRead`] and [`Error::InvalidHeader`] when the file is too short.
    pub(super) fn back(&self, cached: &CachedState) -> Result<Back> {
        let has_index = cached.counters.nbytes > 0;
        let trailer_at = cached.trailer_position();
        let start = if has_index {
            cached.index_position(self.is_sparse())
        } else {
            trailer_at
        };
        let end = trailer_at + u64::from(cached.trailer_len);
        let len = end.checked_sub(start).map(usize::try_from);
        let len = len.ok_or(Error::InvalidHeader)?;
        let len = len.map_err(|_| Error::InvalidHeader)?;
        let (fixed, bytes) = match &self.location {
            Location::Memory(memory) => {
                let bytes = memory.bytes();
                let start = usize::try_from(start).map_err(|_| Error::InvalidHeader)?;
                let part = bytes
                    .get(start..start + len)
                    .ok_or(Error::InvalidHeader)?
                    .to_vec();
                (*bytes.first_chunk().ok_or(Error::InvalidHeader)?, part)
            }
            Location::Disk(files) => {
                let reader = files.latest()?;
                (reader.fixed_header()?, reader.read_vec(start, len)?)
            }
        };
        let trailer_at = len.saturating_sub(cached.trailer_len as usize);
        let index_len = if has_index {
            usize::try_from(BasicHeader::parse(&bytes)?.cbytes).ok()
        } else {
            Some(0)
        };
        Ok(Back {
            fixed,
            bytes,
            index_len: index_len
                .filter(|&index_len| index_len <= trailer_at)
                .ok_or(Error::InvalidHeader)?,
            trailer_at,
        })
    }

    /// Reads the checksums of the chunks, unless they are cached.
    pub(super) fn find_sums(&self, cached: &mut CachedState, nchunks: usize) -> Result<()> {
        if cached.checksums.is_some() {
            return Ok(());
        }
        let mut checksums = None;
        if cached.is_fingerprinted
            && let FingerprintStatus::Intact(Some(table)) | FingerprintStatus::Broken(Some(table)) =
                self.back(cached)?.inspect()
        {
            checksums = Some(table.chunks).filter(|chunks| chunks.len() == nchunks);
        }
        cached.checksums = Some(checksums.map(Arc::new));
        Ok(())
    }

    /// Returns the checksums of the chunks after a change; `None` for a frame without checksums.
    pub(super) fn sums_after(
        &self,
        change: Change<'_>,
        materialized: &[(usize, Buffer)],
    ) -> Result<Option<Vec<u64>>> {
        if !self.has_fingerprint() {
            return Ok(None);
        }
        let mut checksums = self.sums_now()?;
        for (nchunk, bytes) in materialized {
            checksums[*nchunk] = checksum::of_chunk(bytes);
        }
        checksums.try_reserve(1)?;
        match change {
            Change::Insert(at, chunk) => checksums.insert(at, of_stored(chunk)),
            Change::Update(at, chunk) => checksums[at] = of_stored(chunk),
            Change::Delete(at) => {
                checksums.remove(at);
            }
            Change::Reorder(order) => {
                checksums = order.iter().map(|&from| checksums[from]).collect()
            }
            Change::Fill(nchunks, _) => {
                checksums.try_reserve_exact(nchunks)?;
                checksums.resize(nchunks, OF_SPECIAL);
            }
        }
        Ok(Some(checksums))
    }

    /// Returns the checksums to write with a change that leaves the chunks unchanged; `None` for a
    /// frame without checksums.
    pub(super) fn sums_to_write(&self) -> Result<Option<Vec<u64>>> {
        if self.has_fingerprint() {
            self.sums_now().map(Some)
        } else {
            Ok(None)
        }
    }

    /// Returns the checksums of the chunks; 0 where unknown.
    pub(super) fn sums_now(&self) -> Result<Vec<u64>> {
        let nchunks = self.offsets()?.len();
        let mut cached = self.cached();
        self.find_sums(&mut cached, nchunks)?;
        let mut checksums = Vec::new();
        checksums.try_reserve_exact(nchunks)?;
        match &cached.checksums {
            Some(Some(found)) if found.len() == nchunks => checksums.extend_from_slice(found),
            _ => checksums.resize(nchunks, OF_SPECIAL),
        }
        Ok(checksums)
    }
}

fn of_stored(chunk: Stored<'_>) -> u64 {
    match chunk {
        Stored::Special(_) => OF_SPECIAL,
        Stored::Bytes(bytes) => checksum::of_chunk(bytes),
    }
}

/// Verifies the checksum of a chunk.
///
/// # Errors
/// [`Error::Data`] if it does not match.
pub(super) fn check(chunk: &[u8], sum: u64) -> Result<()> {
    if sum == checksum::of_chunk(chunk) {
        Ok(())
    } else {
        Err(Error::Data)
    }
}

/// Returns the bytes after the index: the trailer, which is shared and not copied, or in a frame
/// with checksums the table and then the trailer.
///
/// # Errors
/// Those of reading the table; [`Error::MemoryAlloc`].
pub(super) fn rest(
    header: &[u8],
    index: &[u8],
    trailer: &Arc<Vec<u8>>,
    checksums: Option<&[u64]>,
) -> Result<Arc<Vec<u8>>> {
    let Some(checksums) = checksums else {
        return Ok(Arc::clone(trailer));
    };
    let mut slack = Vec::new();
    // Without data the trailer directly follows the header.
    if !index.is_empty() {
        let of_all = |layers: Vec<super::Metalayer>| {
            let of_one =
                |layer: &super::Metalayer| checksum::of_metalayer(&layer.name, &layer.content);
            layers.iter().map(of_one).collect()
        };
        let table = Table {
            chunks: checksums.to_vec(),
            metalayers: of_all(metalayers::parse(header)?),
            vlmetalayers: of_all(trailer::parse(trailer)?),
        };
        slack = table.to_bytes()?;
    }
    let mut trailer = trailer.as_slice().to_vec();
    trailer::reserve_fingerprint(&mut trailer)?;
    let fixed = header.first_chunk().ok_or(Error::InvalidHeader)?;
    checksum::seal(fixed, index, &slack, &mut trailer)?;
    slack.try_reserve(trailer.len())?;
    slack.extend_from_slice(&trailer);
    Ok(Arc::new(slack))
}
