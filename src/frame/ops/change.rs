//! Changes of the chunks of a frame.
//!
//! A change is first planned on the list of offsets; then the chunks are written, and then
//! everything after the data section.

use super::plan::{Change, Plan};
use crate::frame::format::{Description, Offsets};
use crate::frame::store::Frame;
use crate::{Buffer, Result};
use std::sync::Arc;

impl Frame {
    /// Changes the chunks and then the index, trailer and header. Before that, the chunks in
    /// `materialized`, given with their numbers, are stored as bytes, because after the change
    /// their length does not follow from their number.
    ///
    /// Returns the size in bytes of the data section, or of all chunk files.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind) `InvalidParam` for frames of an older layout, and when bytes
    /// outside the frame would be overwritten; `Data` when the metalayers do not fit the header;
    /// `MemoryAlloc`; those of the backend. On an error the frame is unchanged.
    pub fn change(
        &mut self,
        change: Change<'_>,
        materialized: &[(usize, Buffer)],
        mut description: Description,
    ) -> Result<i64> {
        self.prepare_change()?;
        let counters = &description.counters;
        if counters.nbytes == 0 && counters.nchunks > 0 {
            return self.store_pending(change, description);
        }
        let old_len = self.removed_len(change)?;
        let mut checksums = self.checksums()?;
        if let Some(checksums) = &mut checksums {
            change.change_checksums(materialized, checksums)?;
        }
        let mut offsets = self.take_offsets()?;
        let appends = matches!(change, Change::Insert(at, _) if at == offsets.len());
        let is_undone_by_truncation =
            appends && materialized.is_empty() && self.cached_mut().pending.is_empty();
        let old_offsets = (!is_undone_by_truncation).then(|| offsets.clone());
        let pending = std::mem::take(&mut self.cached_mut().pending);
        let before = self.before(&pending, old_len);
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
                match old_offsets {
                    Some(old_offsets) => offsets = old_offsets,
                    None => offsets.truncate(cached.counters.nchunks.max(0) as usize),
                }
                cached.offsets = Some(Arc::new(Offsets::Each(offsets)));
                cached.pending = pending;
                cached.encoded = 0;
                Err(error)
            }
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
