//! Storage of chunks without data until the first chunk with data is added.
//!
//! A frame whose chunks hold no bytes has no index and therefore cannot store them. The handle
//! keeps them in memory, and the first chunk with data writes them into the frame. Each has the
//! size of a chunk header; its offset is its index in the list.

use super::plan::{Change, Plan, Stored};
use crate::chunk::EXTENDED_HEADER_LENGTH;
use crate::frame::format::{Counters, Description, Offsets, checksum};
use crate::frame::store::Frame;
use crate::{Error, Result};
use std::sync::Arc;

/// A chunk without data: its header.
type EmptyChunk = [u8; EXTENDED_HEADER_LENGTH];

/// Returns a copy of a chunk without data. Chunks of one repeated value always have data.
fn without_data(chunk: Stored<'_>) -> Result<EmptyChunk> {
    match chunk {
        Stored::Bytes(bytes) | Stored::Unverified(bytes) => {
            bytes.try_into().map_err(|_| Error::Data)
        }
        Stored::Special(_) => Err(Error::InvalidParam),
    }
}

/// Returns the checksums of chunks.
fn checksums_of(chunks: &[EmptyChunk]) -> Result<Vec<u64>> {
    let mut checksums = Vec::new();
    checksums.try_reserve_exact(chunks.len())?;
    checksums.extend(chunks.iter().map(|chunk| checksum::of_chunk(chunk)));
    Ok(checksums)
}

impl Frame {
    /// Applies a change after which the frame has chunks but no data. Returns the size of the
    /// chunks in bytes.
    ///
    /// # Errors
    /// Returns the same errors as [`Frame::change`].
    pub(super) fn store_pending(
        &mut self,
        change: Change<'_>,
        mut description: Description,
    ) -> Result<i64> {
        self.flush()?;
        let before = self.cached_mut().counters;
        let chunks = self.chunks_without_data(change, &before)?;
        let checksums = self.has_fingerprint().then(|| checksums_of(&chunks)).transpose()?;
        if before.nbytes > 0 {
            self.write_without_data(change, &description)?;
        }
        let pending = chunks.into_flattened();
        description.counters.cbytes = pending.len() as i64;
        let offsets = (0..pending.len() as i64).step_by(EXTENDED_HEADER_LENGTH);
        let cached = self.cached_mut();
        cached.offsets = Some(Arc::new(Offsets::Each(offsets.collect())));
        cached.counters = description.counters;
        cached.pending = pending;
        cached.checksums = Some(checksums.map(Arc::new));
        cached.max_id = None;
        cached.encoded = 0;
        Ok(description.counters.cbytes)
    }

    /// Returns the chunks after the change.
    fn chunks_without_data(
        &self,
        change: Change<'_>,
        before: &Counters,
    ) -> Result<Vec<EmptyChunk>> {
        let gone = change.removed();
        let count = usize::try_from(before.nchunks).map_err(|_| Error::InvalidParam)?;
        let mut chunks = Vec::new();
        chunks.try_reserve_exact(count + 1)?;
        for nchunk in 0..count {
            chunks.push(if gone == Some(nchunk) {
                [0; EXTENDED_HEADER_LENGTH]
            } else {
                without_data(Stored::Bytes(&self.chunk(nchunk)?))?
            });
        }
        match change {
            Change::Insert(at, chunk) if at <= count => chunks.insert(at, without_data(chunk)?),
            Change::Update(at, chunk) if at < count => chunks[at] = without_data(chunk)?,
            Change::Delete(at) if at < count => {
                chunks.remove(at);
            }
            Change::Reorder(order) => {
                let moved = order.iter().map(|&from| chunks.get(from).copied());
                chunks = moved.collect::<Option<_>>().ok_or(Error::Data)?;
            }
            _ => return Err(Error::InvalidParam),
        }
        Ok(chunks)
    }

    /// Writes a frame without chunks after its only chunk with data was removed.
    fn write_without_data(&mut self, change: Change<'_>, description: &Description) -> Result<()> {
        let at = change.removed().ok_or(Error::InvalidParam)?;
        let old_lens = self.removed_lens(change)?;
        let stored = self.offsets()?.get(at).ok_or(Error::InvalidParam)?;
        let mut offsets = vec![stored];
        let before = self.before(&[], old_lens);
        let plan = Plan::new(Change::Delete(0), &[], &mut offsets, &before)?;
        let mut description = description.clone();
        description.counters.cbytes = plan.cbytes;
        let checksums: Option<&[u64]> = self.has_fingerprint().then_some(&[]);
        self.apply(&plan, &offsets, &description, checksums)?;
        let cached = self.cached_mut();
        cached.counters = description.counters;
        cached.offsets = Some(Arc::new(Offsets::Each(offsets)));
        self.flush()
    }
}
