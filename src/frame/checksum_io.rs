//! Use of a frame's checksums: parsed when a frame is opened, verified when a chunk is read, and
//! written with every change of a frame for which they are enabled.
//!
//! Only chunks with a known checksum are verified. When checksums are added to an existing frame,
//! each chunk written from then on has one; [`Frame::compact`] computes the others.

use super::checksum::{self, OF_SPECIAL, Seal, Sealed, Table};
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
    pub fn inspect(&self) -> Seal {
        let sealed = Sealed {
            header: &self.fixed,
            index: self.index(),
            slack: &self.bytes[self.index_len..self.trailer_at],
            trailer: self.trailer(),
        };
        sealed.inspect()
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
    pub fn seal(&mut self) -> Result<Seal> {
        self.flush()?;
        let known = self.known();
        if known.sealed {
            Ok(self.back(self.committed(&known))?.inspect())
        } else {
            Ok(Seal::Absent)
        }
    }

    /// Whether changes are written with checksums.
    pub(super) fn is_sealed(&self) -> bool {
        self.durability.checksums || self.known().sealed
    }

    /// Reads the bytes that a fingerprint covers.
    ///
    /// # Errors
    /// [`Error::FileRead`] and [`Error::InvalidHeader`] when the file is too short.
    pub(super) fn back(&self, known: &CachedState) -> Result<Back> {
        let has_index = known.counters.nbytes > 0;
        let trailer_at = known.trailer_position();
        let start = if has_index {
            known.index_position(self.is_sparse())
        } else {
            trailer_at
        };
        let end = trailer_at + u64::from(known.trailer_len);
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
        let trailer_at = len.saturating_sub(known.trailer_len as usize);
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
    pub(super) fn find_sums(&self, known: &mut CachedState, nchunks: usize) -> Result<()> {
        if known.sums.is_some() {
            return Ok(());
        }
        let mut sums = None;
        if known.sealed
            && let Seal::Intact(Some(table)) | Seal::Broken(Some(table)) =
                self.back(known)?.inspect()
        {
            sums = Some(table.chunks).filter(|chunks| chunks.len() == nchunks);
        }
        known.sums = Some(sums.map(Arc::new));
        Ok(())
    }

    /// Returns the checksums of the chunks after a change; `None` for a frame without checksums.
    pub(super) fn sums_after(
        &self,
        change: Change<'_>,
        physical: &[(usize, Buffer)],
    ) -> Result<Option<Vec<u64>>> {
        if !self.is_sealed() {
            return Ok(None);
        }
        let mut sums = self.sums_now()?;
        for (nchunk, bytes) in physical {
            sums[*nchunk] = checksum::of_chunk(bytes);
        }
        sums.try_reserve(1)?;
        match change {
            Change::Insert(at, chunk) => sums.insert(at, of_stored(chunk)),
            Change::Update(at, chunk) => sums[at] = of_stored(chunk),
            Change::Delete(at) => {
                sums.remove(at);
            }
            Change::Reorder(order) => sums = order.iter().map(|&from| sums[from]).collect(),
            Change::Fill(nchunks, _) => {
                sums.try_reserve_exact(nchunks)?;
                sums.resize(nchunks, OF_SPECIAL);
            }
        }
        Ok(Some(sums))
    }

    /// Returns the checksums to write with a change that leaves the chunks unchanged; `None` for a
    /// frame without checksums.
    pub(super) fn sums_to_write(&self) -> Result<Option<Vec<u64>>> {
        if self.is_sealed() {
            self.sums_now().map(Some)
        } else {
            Ok(None)
        }
    }

    /// Returns the checksums of the chunks; 0 where unknown.
    pub(super) fn sums_now(&self) -> Result<Vec<u64>> {
        let nchunks = self.offsets()?.len();
        let mut known = self.known();
        self.find_sums(&mut known, nchunks)?;
        let mut sums = Vec::new();
        sums.try_reserve_exact(nchunks)?;
        match &known.sums {
            Some(Some(found)) if found.len() == nchunks => sums.extend_from_slice(found),
            _ => sums.resize(nchunks, OF_SPECIAL),
        }
        Ok(sums)
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
    sums: Option<&[u64]>,
) -> Result<Arc<Vec<u8>>> {
    let Some(sums) = sums else {
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
            chunks: sums.to_vec(),
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
