//! The list of the chunk offsets of a frame.

use crate::{Error, Result};
use std::borrow::Cow;
use std::slice;

/// The stored offsets of a frame's chunks: positions relative to the end of the header, file
/// numbers, or negative values for chunks of one repeated value.
///
/// A few bytes of a file can describe a huge number of chunks with the same offset, so such a list
/// is not expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offsets {
    /// One offset per chunk.
    Each(Vec<i64>),
    /// The same offset for all chunks.
    Same {
        /// Number of chunks.
        count: usize,
        /// The offset.
        offset: i64,
    },
}

impl Offsets {
    /// Returns the number of chunks.
    pub fn len(&self) -> usize {
        match self {
            Offsets::Each(offsets) => offsets.len(),
            Offsets::Same { count, .. } => *count,
        }
    }

    /// Whether there are no chunks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the offset of a chunk.
    pub fn get(&self, nchunk: usize) -> Option<i64> {
        match self {
            Offsets::Each(offsets) => offsets.get(nchunk).copied(),
            Offsets::Same { count, offset } => (nchunk < *count).then_some(*offset),
        }
    }

    /// Iterates over the offsets in order.
    pub fn iter(&self) -> impl Iterator<Item = i64> {
        (0..self.len()).filter_map(|nchunk| self.get(nchunk))
    }

    /// Returns the offsets that are held in memory: one, if all chunks share it.
    pub fn kept(&self) -> &[i64] {
        match self {
            Offsets::Each(offsets) => offsets,
            Offsets::Same { offset, .. } => slice::from_ref(offset),
        }
    }

    /// As [`Offsets::kept`], but mutable.
    pub fn kept_mut(&mut self) -> &mut [i64] {
        match self {
            Offsets::Each(offsets) => offsets,
            Offsets::Same { offset, .. } => slice::from_mut(offset),
        }
    }

    /// Returns the offsets, expanded if necessary.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn as_slice(&self) -> Result<Cow<'_, [i64]>> {
        match self {
            Offsets::Each(offsets) => Ok(Cow::Borrowed(offsets)),
            Offsets::Same { .. } => self.to_vec().map(Cow::Owned),
        }
    }

    /// Returns the expanded offsets.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn to_vec(&self) -> Result<Vec<i64>> {
        let mut offsets = Vec::new();
        offsets
            .try_reserve_exact(self.len())
            .map_err(|_| Error::MemoryAlloc)?;
        offsets.extend(self.iter());
        Ok(offsets)
    }
}
