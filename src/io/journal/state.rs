//! The state of a file relative to a change, and its restoration.

use super::format::{Image, Record, UNKNOWN};
use super::overlay::Staged;
use crate::io::backend::{Attributes, Stream, WriteGranularity};
use crate::{Error, Result};
use xxhash_rust::xxh3::Xxh3;

/// The number of bytes at either end of an unchanged range that the head's checksum covers.
const EDGE: u64 = 4096;
/// The number of bytes compared at a time.
const STEP: usize = 64 << 10;

/// The relation of a file to a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The change has not begun.
    Before,
    /// The change has begun.
    Underway,
    /// The change is complete.
    After,
    /// The file matches no state of this change.
    Unrelated,
}

/// A byte range of the file that a change leaves unchanged.
type Gap = (u64, u64);

impl Image {
    /// Returns the state of a file before a staged change of the data at `start`. `len` is the size
    /// of the data in bytes before and after the change.
    ///
    /// # Errors
    /// Returns the errors of reading; [`Error::MemoryAlloc`].
    pub fn of_staged(staged: &Staged, start: u64, len: (u64, u64)) -> Result<Image> {
        let file = &*staged.base;
        let old_size = file.size()?;
        let new_size = staged.size()?;
        let mut records = Vec::new();
        for (&position, after) in &staged.state().written {
            let len = old_size.saturating_sub(position).min(after.len() as u64);
            records.push(Record {
                position,
                before: read_exact(file, position, len)?,
                after: Some(after.clone()),
            });
        }
        if new_size < old_size {
            records.push(Record {
                position: new_size,
                before: read_exact(file, new_size, old_size - new_size)?,
                after: Some(Vec::new()),
            });
        }
        Image::new(file, start, len, (old_size, new_size), records)
    }

    /// Returns the state of `file` before a change of these records, which are ordered by offset.
    ///
    /// # Errors
    /// Returns the errors of reading.
    pub fn new(
        file: &dyn Stream,
        start: u64,
        len: (u64, u64),
        size: (u64, u64),
        records: Vec<Record>,
    ) -> Result<Image> {
        let attributes = file.attributes();
        let mut image = Image {
            inode: attributes.map_or(0, |found| found.identity.inode),
            created_ns: attributes.map_or(0, |found| found.created_ns),
            start,
            len,
            size,
            beside: 0,
            records,
        };
        image.beside = image.sum_beside(file)?;
        Ok(image)
    }

    /// Whether the data begin with a mark, before the change and after it.
    pub fn has_mark(&self, mark: &[u8]) -> bool {
        let begins = |record: &&Record| record.position == self.start;
        let Some(record) = self.records.iter().find(begins) else {
            return false;
        };
        let after = record.after.as_ref();
        record.before.starts_with(mark) && after.is_none_or(|after| after.starts_with(mark))
    }

    /// Returns the first bytes of the data before the change.
    pub fn front(&self) -> &[u8] {
        let begins = |record: &&Record| record.position == self.start;
        let record = self.records.iter().find(begins);
        record.map_or(&[], |record| &record.before)
    }

    /// Whether the journal was made for a file with these attributes.
    pub(super) fn is_of(&self, file: &Attributes) -> bool {
        let is_same_birth =
            self.created_ns == 0 || file.created_ns == 0 || self.created_ns == file.created_ns;
        file.identity.inode == self.inode && is_same_birth
    }

    /// Returns the relation of the file to the change.
    ///
    /// # Errors
    /// Returns the errors of reading.
    pub fn relation(&self, file: &dyn Stream) -> Result<Relation> {
        let size = file.size()?;
        let (before, after) = self.size;
        if size < self.least_size() || self.sum_beside(file)? != self.beside {
            return Ok(Relation::Unrelated);
        }
        // Bytes that another program has appended do not belong to the change.
        let is_longer = after != UNKNOWN && size > before.max(after);
        let mut is_before = is_longer || size == before;
        let mut is_after = is_longer || size == after;
        let mut bytes = vec![0; STEP];
        for record in &self.records {
            let end = record.end();
            let mut at = record.position;
            while at < end {
                let step = (end - at).min(STEP as u64) as usize;
                let read = file.read_at(at, &mut bytes[..step])?;
                let from = (at - record.position) as usize;
                for (index, &byte) in bytes[..read].iter().enumerate() {
                    let old = record.before.get(from + index).copied();
                    let new = match &record.after {
                        Some(after) => after.get(from + index).copied(),
                        // Unknown new bytes match any byte.
                        None => Some(byte),
                    };
                    let is_hole = byte == 0 && (old.is_none() || new.is_none());
                    if old != Some(byte) && new != Some(byte) && !is_hole {
                        return Ok(Relation::Unrelated);
                    }
                    is_before &= old.is_none_or(|old| old == byte);
                    is_after &= record.after.is_some() && new.is_none_or(|new| new == byte);
                }
                if read < step {
                    break;
                }
                at += step as u64;
            }
        }
        Ok(if is_before {
            Relation::Before
        } else if is_after {
            Relation::After
        } else {
            Relation::Underway
        })
    }

    /// Returns the minimum size of the file during the change, in bytes.
    fn least_size(&self) -> u64 {
        let (before, after) = self.size;
        match self.records.last() {
            Some(last) if after == UNKNOWN && last.before_end() == before => last.position,
            _ => before.min(after),
        }
    }

    /// Returns the ranges of the data that no record covers.
    fn gaps(&self) -> Vec<Gap> {
        let (before, after) = self.size;
        let end = (self.start.saturating_add(self.len.0)).min(before.min(after));
        let mut gaps = Vec::new();
        let mut from = self.start;
        for record in &self.records {
            if record.position > from && from < end {
                gaps.push((from, record.position.min(end)));
            }
            from = from.max(record.end());
        }
        if from < end {
            gaps.push((from, end));
        }
        gaps
    }

    /// Returns the checksum of both ends of each gap.
    pub(super) fn sum_beside(&self, file: &dyn Stream) -> Result<u64> {
        let mut sum = Xxh3::new();
        let mut bytes = [0; EDGE as usize];
        for (from, end) in self.gaps() {
            let len = EDGE.min(end - from);
            for at in [from, end - len] {
                let read = file.read_at(at, &mut bytes[..len as usize])?;
                sum.update(&bytes[..read]);
            }
        }
        Ok(sum.digest())
    }

    /// Returns the size of the restored file in bytes, if its current size is `size`.
    pub(super) fn restored_size(&self, size: u64) -> u64 {
        let (before, after) = self.size;
        // Bytes that another program has appended are kept.
        if after != UNKNOWN && size > before.max(after) { size } else { before }
    }

    /// Restores the file and syncs it.
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn put_back(&self, file: &dyn Stream) -> Result<()> {
        self.restore(file)?;
        file.sync()
    }

    /// Restores the file.
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn restore(&self, file: &dyn Stream) -> Result<()> {
        let size = self.restored_size(file.size()?);
        for record in &self.records {
            file.write_at(record.position, &record.before, WriteGranularity::Bytes)?;
        }
        if file.size()? != size {
            file.truncate(size)?;
        }
        Ok(())
    }
}

/// Reads `len` bytes of a file; fails if the file has fewer.
fn read_exact(file: &dyn Stream, position: u64, len: u64) -> Result<Vec<u8>> {
    let len = usize::try_from(len).map_err(|_| Error::MemoryAlloc)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len)?;
    bytes.resize(len, 0);
    if file.read_at(position, &mut bytes)? != len {
        return Err(Error::FileRead);
    }
    Ok(bytes)
}
