//! Views of a file in which some bytes are replaced: the state before an interrupted change
//! ([`Restored`]), and the state after a change that is not written yet ([`Staged`]).

use super::format::{Image, Record};
use crate::io::backend::{Attributes, Identity, Stream, View, WriteGranularity};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A read-only view of a file before an interrupted change: the old bytes in the journal replace
/// those in the file.
pub struct Restored {
    file: Arc<dyn Stream>,
    image: Arc<Image>,
}

impl Restored {
    /// Returns the state of `file` before the change.
    pub fn new(file: Arc<dyn Stream>, image: Arc<Image>) -> Restored {
        Restored { file, image }
    }
}

impl Stream for Restored {
    fn size(&self) -> Result<u64> {
        Ok(self.image.restored_size(self.file.size()?))
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        let there = self.size()?.saturating_sub(position).min(dest.len() as u64) as usize;
        let dest = &mut dest[..there];
        // Bytes past the end of the file are in the records.
        let read = self.file.read_at(position, dest)?;
        dest[read..].fill(0);
        let end = position + there as u64;
        for record in &self.image.records {
            let from = record.position.max(position);
            let to = record.before_end().min(end);
            if from < to {
                let source = (from - record.position) as usize..(to - record.position) as usize;
                let target = (from - position) as usize..(to - position) as usize;
                dest[target].copy_from_slice(&record.before[source]);
            }
        }
        Ok(there)
    }

    fn view(&self, position: u64, len: usize) -> Option<View> {
        let end = position.checked_add(len as u64)?;
        let is_changed = |record: &Record| record.position < end && position < record.end();
        let is_there = self.size().is_ok_and(|size| end <= size);
        if !is_there || self.image.records.iter().any(is_changed) {
            return None;
        }
        self.file.view(position, len)
    }

    fn write_at(&self, _: u64, _: &[u8], _: WriteGranularity) -> Result<()> {
        Err(Error::FileWrite)
    }

    fn truncate(&self, _: u64) -> Result<()> {
        Err(Error::FileTruncate)
    }

    fn identity(&self) -> Option<Identity> {
        self.file.identity()
    }

    fn attributes(&self) -> Option<Attributes> {
        self.file.attributes()
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// A change of a file that is kept in memory until it is complete; clones share the same change.
#[derive(Clone)]
pub struct Staged {
    pub(super) base: Arc<dyn Stream>,
    state: Arc<Mutex<StagedState>>,
}

pub(super) struct StagedState {
    /// Written bytes by offset, without overlaps.
    pub(super) written: BTreeMap<u64, Vec<u8>>,
    size: u64,
}

impl Staged {
    /// Begins an empty change of `file`.
    ///
    /// # Errors
    /// [`Error::FileRead`] when the size of the file is unknown.
    pub fn new(file: Arc<dyn Stream>) -> Result<Staged> {
        let size = file.size()?;
        Ok(Staged {
            base: file,
            state: Arc::new(Mutex::new(StagedState { written: BTreeMap::new(), size })),
        })
    }

    /// Returns the file that is changed.
    pub fn file(&self) -> &dyn Stream {
        &*self.base
    }

    /// Writes the change, the bytes at `last` after all others, and syncs it.
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn apply(&self, last: u64) -> Result<()> {
        let state = self.state();
        let (end, rest): (Vec<_>, Vec<_>) = state.written.iter().partition(|&(&at, _)| at == last);
        for (&position, bytes) in rest.into_iter().chain(end) {
            self.base.write_at(position, bytes, WriteGranularity::Bytes)?;
        }
        if self.base.size()? != state.size {
            self.base.truncate(state.size)?;
        }
        self.base.sync()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, StagedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StagedState {
    /// Returns the offset of the first written range that ends after `position`.
    fn first_after(&self, position: u64) -> Option<u64> {
        let before = self.written.range(..=position).next_back();
        let covers = before.filter(|(at, bytes)| *at + bytes.len() as u64 > position);
        let next = covers.or_else(|| self.written.range(position..).next());
        next.map(|(&at, _)| at)
    }

    fn write(&mut self, mut position: u64, mut bytes: &[u8]) -> Result<()> {
        self.size = self.size.max(position + bytes.len() as u64);
        while !bytes.is_empty() {
            let at = self.first_after(position).unwrap_or(u64::MAX);
            let len = if at <= position {
                let written = self.written.get_mut(&at).ok_or(Error::Failure)?;
                let target = &mut written[(position - at) as usize..];
                let len = target.len().min(bytes.len());
                target[..len].copy_from_slice(&bytes[..len]);
                len
            } else {
                let len = (at - position).min(bytes.len() as u64) as usize;
                let mut new = Vec::new();
                new.try_reserve_exact(len)?;
                new.extend_from_slice(&bytes[..len]);
                self.written.insert(position, new);
                len
            };
            position += len as u64;
            bytes = &bytes[len..];
        }
        Ok(())
    }

    fn truncate(&mut self, len: u64) {
        self.written.retain(|&at, bytes| {
            let kept = len.saturating_sub(at).min(bytes.len() as u64);
            bytes.truncate(kept as usize);
            kept > 0
        });
        self.size = len;
    }
}

impl Stream for Staged {
    fn size(&self) -> Result<u64> {
        Ok(self.state().size)
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        let state = self.state();
        let there = state.size.saturating_sub(position).min(dest.len() as u64) as usize;
        let dest = &mut dest[..there];
        let read = self.base.read_at(position, dest)?;
        dest[read..].fill(0);
        let end = position + there as u64;
        let first = state.first_after(position).unwrap_or(end);
        for (&at, bytes) in state.written.range(first..) {
            if at >= end {
                break;
            }
            let (from, to) = (at.max(position), (at + bytes.len() as u64).min(end));
            let source = (from - at) as usize..(to - at) as usize;
            dest[(from - position) as usize..(to - position) as usize]
                .copy_from_slice(&bytes[source]);
        }
        Ok(there)
    }

    fn write_at(&self, position: u64, bytes: &[u8], _: WriteGranularity) -> Result<()> {
        position.checked_add(bytes.len() as u64).ok_or(Error::FileWrite)?;
        self.state().write(position, bytes)
    }

    /// Truncates the file. A staged file cannot be extended without writing bytes.
    fn truncate(&self, len: u64) -> Result<()> {
        let mut state = self.state();
        if len > state.size {
            return Err(Error::FileTruncate);
        }
        state.truncate(len);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn identity(&self) -> Option<Identity> {
        self.base.identity()
    }

    fn attributes(&self) -> Option<Attributes> {
        self.base.attributes()
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
