//! The offsets and checksums of the chunks, which are read on first use.
//!
//! Only chunks with a known checksum are verified. When checksums are added to an existing frame,
//! each chunk written from then on has one; [`Frame::compact`] computes the others.

use crate::buffer::copied_to_vec;
use crate::chunk::EXTENDED_HEADER_LENGTH;
use crate::frame::format::{
    Offsets, StoredFooter, checksum::FingerprintStatus, checksum::OF_SPECIAL,
};
use crate::frame::store::{CachedState, Frame, Location};
use crate::{Error, Result};
use std::borrow::Cow;
use std::sync::Arc;

impl Frame {
    /// Returns the stored offsets of the chunks: bytes relative to the end of the header, file
    /// numbers, or negative values for chunks of one repeated value.
    ///
    /// # Errors
    /// [`Error::FileRead`], [`Error::InvalidHeader`] and [`Error::Data`] for an invalid index.
    pub fn offsets(&self) -> Result<Arc<Offsets>> {
        self.find_offsets(&mut self.cached())
    }

    /// Returns the offsets, which are read unless they are cached.
    pub(super) fn find_offsets(&self, cached: &mut CachedState) -> Result<Arc<Offsets>> {
        if let Some(offsets) = &cached.offsets {
            return Ok(Arc::clone(offsets));
        }
        let offsets = Arc::new(self.read_offsets(cached)?);
        cached.offsets = Some(Arc::clone(&offsets));
        cached.encoded = 0;
        Ok(offsets)
    }

    fn read_offsets(&self, cached: &CachedState) -> Result<Offsets> {
        let counters = &cached.counters;
        if counters.nbytes <= 0 {
            return Ok(Offsets::Each(Vec::new()));
        }
        let nchunks = match i64::from(counters.chunksize) {
            ..0 => return Err(Error::InvalidHeader),
            0 => None,
            chunksize => Some((counters.nbytes - 1) / chunksize + 1),
        };
        let last = if self.is_sparse() {
            i64::from(u32::MAX)
        } else {
            counters.cbytes - EXTENDED_HEADER_LENGTH as i64
        };
        Offsets::parse(&self.read_index(cached)?, nchunks, last)
    }

    /// Reads the index of a frame with data; other bytes may follow it.
    pub(super) fn read_index(&self, cached: &CachedState) -> Result<Cow<'_, [u8]>> {
        let start = cached.index_position(self.is_sparse());
        match &self.location {
            Location::Memory(memory) => {
                let start = usize::try_from(start).ok();
                let index = start.and_then(|start| memory.bytes().get(start..));
                Ok(Cow::Borrowed(index.unwrap_or_default()))
            }
            Location::Disk(files) => {
                let len = cached.trailer_position().checked_sub(start);
                let len = len.and_then(|len| usize::try_from(len).ok());
                let len = len.ok_or(Error::InvalidHeader)?;
                Ok(Cow::Owned(files.latest()?.read_vec(start, len)?))
            }
        }
    }

    /// Reads the bytes that a fingerprint covers.
    ///
    /// # Errors
    /// [`Error::FileRead`] and [`Error::InvalidHeader`] when the file is too short.
    pub(super) fn stored_footer(&self, cached: &CachedState) -> Result<StoredFooter> {
        let has_index = cached.counters.nbytes > 0;
        let trailer_at = cached.trailer_position();
        let start = if has_index { cached.index_position(self.is_sparse()) } else { trailer_at };
        let end = trailer_at + u64::from(cached.trailer_len);
        let len = end.checked_sub(start).map(usize::try_from);
        let len = len.ok_or(Error::InvalidHeader)?;
        let len = len.map_err(|_| Error::InvalidHeader)?;
        let (fixed, bytes) = match &self.location {
            Location::Memory(memory) => {
                let bytes = memory.bytes();
                let start = usize::try_from(start).map_err(|_| Error::InvalidHeader)?;
                let footer = bytes.get(start..start + len).ok_or(Error::InvalidHeader)?;
                let fixed = bytes.first_chunk().ok_or(Error::InvalidHeader)?;
                (*fixed, copied_to_vec(footer)?)
            }
            Location::Disk(files) => {
                let reader = files.latest()?;
                (reader.fixed_header()?, reader.read_vec(start, len)?)
            }
        };
        StoredFooter::parse(fixed, bytes, has_index, cached.trailer_len)
    }

    /// Reads the checksums of the chunks, unless they are cached.
    pub(super) fn find_checksums(&self, cached: &mut CachedState, nchunks: usize) -> Result<()> {
        if cached.checksums.is_some() {
            return Ok(());
        }
        let mut checksums = None;
        if cached.is_fingerprinted
            && let FingerprintStatus::Intact(Some(table)) | FingerprintStatus::Broken(Some(table)) =
                self.stored_footer(cached)?.inspect()
        {
            checksums = Some(table.chunks).filter(|chunks| chunks.len() == nchunks);
        }
        cached.checksums = Some(checksums.map(Arc::new));
        Ok(())
    }

    /// Returns the checksums of the chunks to write, 0 where unknown; `None` for a frame without
    /// checksums.
    pub(super) fn checksums(&self) -> Result<Option<Vec<u64>>> {
        if !self.has_fingerprint() {
            return Ok(None);
        }
        let nchunks = self.offsets()?.len();
        let mut cached = self.cached();
        self.find_checksums(&mut cached, nchunks)?;
        let mut checksums = Vec::new();
        checksums.try_reserve_exact(nchunks)?;
        match &cached.checksums {
            Some(Some(found)) if found.len() == nchunks => checksums.extend_from_slice(found),
            _ => checksums.resize(nchunks, OF_SPECIAL),
        }
        Ok(Some(checksums))
    }
}
