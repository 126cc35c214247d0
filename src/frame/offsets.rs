//! Where the chunks of a frame are.

use crate::{Error, Result};
use std::borrow::Cow;
use std::slice;

/// The offsets of a frame's chunks, as it stores them: positions from the end of the header on, or numbers of
/// files, or negative for chunks that are all one value.
///
/// A few bytes of a file can say that very many chunks have the same offset, so such a list is not written
/// out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offsets {
    /// One for each chunk.
    Each(Vec<i64>),
    /// The same for all.
    Same {
        /// Chunks.
        count: usize,
        /// Their offset.
        offset: i64,
    },
}

impl Offsets {
    /// The number of chunks.
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

    /// The offset of a chunk.
    pub fn get(&self, nchunk: usize) -> Option<i64> {
        match self {
            Offsets::Each(offsets) => offsets.get(nchunk).copied(),
            Offsets::Same { count, offset } => (nchunk < *count).then_some(*offset),
        }
    }

    /// The offsets in order.
    pub fn iter(&self) -> impl Iterator<Item = i64> {
        (0..self.len()).filter_map(|nchunk| self.get(nchunk))
    }

    /// Every offset there is, as often as it is kept.
    pub fn kept(&self) -> &[i64] {
        match self {
            Offsets::Each(offsets) => offsets,
            Offsets::Same { offset, .. } => slice::from_ref(offset),
        }
    }

    /// The same, to be changed.
    pub fn kept_mut(&mut self) -> &mut [i64] {
        match self {
            Offsets::Each(offsets) => offsets,
            Offsets::Same { offset, .. } => slice::from_mut(offset),
        }
    }

    /// The offsets, written out if they aren't.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn as_slice(&self) -> Result<Cow<'_, [i64]>> {
        match self {
            Offsets::Each(offsets) => Ok(Cow::Borrowed(offsets)),
            Offsets::Same { .. } => self.to_vec().map(Cow::Owned),
        }
    }

    /// The offsets, written out.
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
