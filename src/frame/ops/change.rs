//! Changes of the chunks of a frame.
//!
//! A change is first planned on the list of offsets; then the chunks are written, and then
//! everything after the data section.

use super::plan::{Change, Plan};
use crate::frame::format::index::MAX_CHUNKS;
use crate::frame::format::{Description, Offsets};
use crate::frame::store::Frame;
use crate::{Buffer, Error, Result};
use std::sync::Arc;

/// The items of a list that a change replaces.
struct Undo<T> {
    /// The length before the change.
    len: usize,
    /// The item of the chunk that the change deletes.
    removed: Option<T>,
    /// All items, unless the change has an undo.
    all: Option<Vec<T>>,
}

impl<T: Copy> Undo<T> {
    fn new(change: Change<'_>, has_undo: bool, list: Option<&Vec<T>>) -> Undo<T> {
        let at = change.removed().filter(|_| has_undo);
        Undo {
            len: list.map_or(0, Vec::len),
            removed: at.and_then(|at| list?.get(at).copied()),
            all: list.filter(|_| !has_undo).cloned(),
        }
    }

    /// Restores the list.
    fn apply(self, change: Change<'_>, list: &mut Vec<T>) {
        match self.all {
            Some(all) => *list = all,
            None => change.undo(list, self.len, self.removed),
        }
    }
}

impl Frame {
    /// Changes the chunks and then the index, trailer and header. Before that, the chunks in
    /// `materialized`, given with their numbers, are stored as bytes, because after the change
    /// their length does not follow from their number.
    ///
    /// Returns the size in bytes of the data section, or of all chunk files.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind) `InvalidParam` for frames of an older layout, for more
    /// chunks than an index can have, and when bytes outside the frame would be overwritten; `Data`
    /// when the metalayers do not fit the header; `MemoryAlloc`; the errors of the backend. On an
    /// error the frame is unchanged.
    pub fn change(
        &mut self,
        change: Change<'_>,
        materialized: &[(usize, Buffer)],
        mut description: Description,
    ) -> Result<i64> {
        self.prepare_change()?;
        let counters = &description.counters;
        if counters.nchunks > MAX_CHUNKS as i64 {
            let text = format!("a frame has at most {MAX_CHUNKS} chunks");
            return Err(Error::InvalidParam.because(text));
        }
        if counters.nbytes == 0 && counters.nchunks > 0 {
            return self.store_pending(change, description);
        }
        let old_lens = self.removed_lens(change)?;
        // Copies of the lists would make a sequence of changes quadratic.
        let moves_chunks = !self.is_sparse() && !self.keeps_old_state();
        let has_undo = change.has_undo(moves_chunks)
            && materialized.is_empty()
            && self.cached_mut().pending.is_empty();
        let mut checksums = self.take_checksums()?;
        let old_checksums = Undo::new(change, has_undo, checksums.as_ref());
        if let Some(checksums) = &mut checksums
            && let Err(error) = change.change_checksums(materialized, checksums)
        {
            old_checksums.apply(change, checksums);
            self.restore_checksums(Some(std::mem::take(checksums)));
            return Err(error);
        }
        let mut offsets = match self.take_offsets() {
            Ok(offsets) => offsets,
            Err(error) => {
                if let Some(checksums) = &mut checksums {
                    old_checksums.apply(change, checksums);
                }
                self.restore_checksums(checksums);
                return Err(error);
            }
        };
        let old_offsets = Undo::new(change, has_undo, Some(&offsets));
        let pending = std::mem::take(&mut self.cached_mut().pending);
        let before = self.before(&pending, old_lens);
        let planned = Plan::new(change, materialized, &mut offsets, &before);
        let done = planned.and_then(|plan| {
            description.counters.cbytes = plan.cbytes;
            self.apply(&plan, &offsets, &description, checksums.as_deref())?;
            Ok((plan.cbytes, plan.max_id))
        });
        let cached = self.cached_mut();
        match done {
            Ok((cbytes, max_id)) => {
                cached.counters = description.counters;
                cached.typesize = description.recorded.typesize;
                cached.max_id = max_id;
                cached.offsets = Some(Arc::new(Offsets::Each(offsets)));
                cached.is_fingerprinted |= checksums.is_some();
                cached.checksums = Some(checksums.map(Arc::new));
                Ok(self.compact_if_worthwhile(cbytes))
            }
            Err(error) => {
                old_offsets.apply(change, &mut offsets);
                cached.offsets = Some(Arc::new(Offsets::Each(offsets)));
                cached.pending = pending;
                cached.encoded = 0;
                if let Some(checksums) = &mut checksums {
                    old_checksums.apply(change, checksums);
                }
                self.restore_checksums(checksums);
                Err(error)
            }
        }
    }

    /// Moves the list of checksums out of the cache, as [`Frame::checksums`]; copies it if it is
    /// shared.
    fn take_checksums(&mut self) -> Result<Option<Vec<u64>>> {
        if !self.has_fingerprint() {
            return Ok(None);
        }
        let nchunks = self.offsets()?.len();
        if let Some(Some(found)) = &mut self.cached_mut().checksums
            && found.len() == nchunks
            && let Some(found) = Arc::get_mut(found)
        {
            return Ok(Some(std::mem::take(found)));
        }
        self.checksums()
    }

    /// Puts a list of checksums back into the cache after a change that failed.
    fn restore_checksums(&mut self, checksums: Option<Vec<u64>>) {
        if let Some(checksums) = checksums {
            self.cached_mut().checksums = Some(Some(Arc::new(checksums)));
        }
    }

    /// Moves the list of offsets out of the cache; copies it if it is shared.
    fn take_offsets(&mut self) -> Result<Vec<i64>> {
        let offsets = self.offsets()?;
        self.cached_mut().offsets = None;
        match Arc::try_unwrap(offsets) {
            Ok(Offsets::Each(offsets)) => Ok(offsets),
            Ok(same) => same.to_vec(),
            Err(shared) => shared.to_vec(),
        }
    }
}
