//! Planning of a change: its effect on the offsets and bytes of a frame, before anything is
//! written.

use crate::chunk::{EXTENDED_HEADER_LENGTH, Special};
use crate::frame::format::{IndexForm, checksum, index, offset};
use crate::frame::store::{Frame, Replaced, Reserved, Shift, Space, Transaction};
use crate::{Buffer, Error, Result};
use std::collections::HashSet;

/// The minimum number of offsets by which a list grows. Long lists grow by one eighth.
const MIN_GROWTH: usize = 64;

/// The stored form of a chunk.
#[derive(Clone, Copy, Debug)]
pub enum Stored<'a> {
    /// A chunk of one repeated value, whose size follows from its index.
    Special(Special),
    /// The bytes of a chunk.
    Bytes(&'a [u8]),
    /// The bytes of a chunk that may be damaged, and therefore gets no checksum.
    Unverified(&'a [u8]),
}

impl Stored<'_> {
    fn checksum(self) -> u64 {
        match self {
            Stored::Special(_) | Stored::Unverified(_) => checksum::OF_SPECIAL,
            Stored::Bytes(bytes) => checksum::of_chunk(bytes),
        }
    }
}

/// A change of the chunks of a frame.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// Inserts a chunk before the chunk with this index, or appends it if there is none.
    Insert(usize, Stored<'a>),
    /// Inserts chunks of one repeated value. The indexes are those after the change, in ascending
    /// order.
    InsertSpecial(&'a [usize], Special),
    /// Replaces a chunk.
    Update(usize, Stored<'a>),
    /// Deletes a chunk.
    Delete(usize),
    /// Deletes chunks. The indexes are those before the change, in ascending order.
    DeleteAll(&'a [usize]),
    /// Reorders the chunks: new chunk `i` is the old chunk with the index in entry `i`.
    Reorder(&'a [usize]),
    /// Fills an empty frame with this many chunks of one repeated value.
    Fill(usize, Special),
}

/// Inserts `item` so that it has each of the indexes `at`, which are in ascending order. Items move
/// only once.
///
/// # Errors
/// [`Error::MemoryAlloc`]; [`Error::InvalidParam`] for an index beyond the end; the list is then
/// unchanged.
fn insert_at_all<T: Copy>(list: &mut Vec<T>, at: &[usize], item: T) -> Result<()> {
    let mut end = list.len();
    if (0..).zip(at).any(|(before, &index)| index > end + before) {
        return Err(Error::InvalidParam);
    }
    list.try_reserve(at.len())?;
    list.resize(end + at.len(), item);
    for (before, &index) in at.iter().enumerate().rev() {
        // The items from here on are followed by one more new item than those after them.
        let first = index - before;
        list.copy_within(first..end, index + 1);
        list[index] = item;
        end = first;
    }
    Ok(())
}

/// Removes the items with the indexes `at`, which are in ascending order.
fn remove_all<T>(list: &mut Vec<T>, at: &[usize]) {
    let (mut index, mut gone) = (0, at.iter().peekable());
    list.retain(|_| {
        let is_gone = gone.next_if(|&&at| at == index).is_some();
        index += 1;
        !is_gone
    });
}

impl Change<'_> {
    /// Whether [`Change::undo`] restores lists after this change. `moves_chunks` is whether an
    /// updated chunk can move those after it.
    pub fn has_undo(self, moves_chunks: bool) -> bool {
        match self {
            Change::Insert(..) | Change::InsertSpecial(..) | Change::Delete(_) => true,
            Change::Update(..) => !moves_chunks,
            Change::DeleteAll(_) | Change::Reorder(_) | Change::Fill(..) => false,
        }
    }

    /// Restores a list to which the change was applied, if it was. `len` is the length before it,
    /// and `removed` the item that the change removed.
    pub fn undo<T>(self, list: &mut Vec<T>, len: usize, removed: Option<T>) {
        match (self, removed) {
            (Change::Insert(at, _), _) if list.len() > len => drop(list.remove(at)),
            (Change::InsertSpecial(at, _), _) if list.len() > len => remove_all(list, at),
            (Change::Delete(at), Some(removed)) if list.len() < len => list.insert(at, removed),
            (Change::Update(at, _), Some(removed)) => list[at] = removed,
            _ => {}
        }
    }

    /// Returns the index of the chunk that is replaced or deleted.
    pub fn removed(self) -> Option<usize> {
        match self {
            Change::Update(at, _) | Change::Delete(at) => Some(at),
            _ => None,
        }
    }

    /// Applies the change to the list of the checksums of the chunks.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn change_checksums(
        self,
        materialized: &[(usize, Buffer)],
        checksums: &mut Vec<u64>,
    ) -> Result<()> {
        for (nchunk, bytes) in materialized {
            checksums[*nchunk] = checksum::of_chunk(bytes);
        }
        reserve_one(checksums)?;
        match self {
            Change::Insert(at, chunk) => checksums.insert(at, chunk.checksum()),
            Change::InsertSpecial(at, _) => insert_at_all(checksums, at, checksum::OF_SPECIAL)?,
            Change::Update(at, chunk) => checksums[at] = chunk.checksum(),
            Change::Delete(at) => drop(checksums.remove(at)),
            Change::DeleteAll(at) => remove_all(checksums, at),
            Change::Reorder(order) => {
                *checksums = order.iter().map(|&from| checksums[from]).collect();
            }
            Change::Fill(nchunks, _) => {
                checksums.try_reserve_exact(nchunks)?;
                checksums.resize(nchunks, checksum::OF_SPECIAL);
            }
        }
        Ok(())
    }
}

impl Frame {
    /// Returns the sizes in bytes of the stored chunks that a change removes, in their order. If it
    /// deletes several chunks of a frame in one file, chunks that were committed earlier count as
    /// 0: their bytes are not reused.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] if there is no such chunk; [`Error::MemoryAlloc`]; the errors of
    /// reading it.
    pub(super) fn removed_lens(&self, change: Change<'_>) -> Result<Vec<u64>> {
        let mut lens = Vec::new();
        match change {
            Change::Update(at, _) | Change::Delete(at) => {
                lens.try_reserve_exact(1)?;
                lens.push(self.stored_len(at)?);
            }
            Change::DeleteAll(at) => {
                let offsets = self.offsets()?;
                let space = self.transaction.as_deref().and_then(Transaction::space);
                lens.try_reserve_exact(at.len())?;
                for &at in at {
                    let stored = offsets.get(at).ok_or(Error::InvalidParam)?;
                    let is_committed = space.is_some_and(|space| !space.contains(stored));
                    lens.push(if is_committed { 0 } else { self.stored_len(at)? });
                }
            }
            _ => {}
        }
        Ok(lens)
    }

    /// Returns the size in bytes of a stored chunk; 0 for one of a repeated value.
    fn stored_len(&self, at: usize) -> Result<u64> {
        match self.offsets()?.get(at) {
            Some(0..) => Ok(self.stored_header(at)?.cbytes.max(0) as u64),
            Some(_) => Ok(0),
            None => Err(Error::InvalidParam),
        }
    }

    /// Returns the state that [`Plan::new`] needs. `pending` are the chunks that the frame does not
    /// store yet, `old_lens` is the result of [`Frame::removed_lens`].
    pub(super) fn before<'a>(&mut self, pending: &'a [u8], old_lens: Vec<u64>) -> Before<'a> {
        let (sparse, keeps) = (self.is_sparse(), self.keeps_old_state());
        let cbytes = if keeps && !sparse {
            self.shadow_data_len()
        } else {
            self.cached_mut().counters.cbytes
        };
        let max_id = self.cached_mut().max_id;
        let open = self.transaction.as_deref();
        Before {
            sparse,
            cbytes,
            pending,
            max_id,
            old_lens,
            keeps,
            space: open.and_then(Transaction::space).cloned(),
            reserved: open.and_then(Transaction::reserved),
        }
    }
}

/// The frame before the change.
pub struct Before<'a> {
    /// Whether each chunk has its own file.
    pub sparse: bool,
    /// The size of the data section, or of all chunk files, in bytes.
    pub cbytes: i64,
    /// Chunks without data that the frame does not store yet.
    pub pending: &'a [u8],
    /// Largest number of a chunk file, if known.
    pub max_id: Option<i64>,
    /// The sizes in bytes of the chunks that are replaced or deleted, 0 for those that are not
    /// stored.
    pub old_lens: Vec<u64>,
    /// Whether bytes that the frame refers to must not be overwritten: new chunks are then written
    /// after `cbytes`, or to new files.
    pub keeps: bool,
    /// The bytes of the data section that an open transaction may write to; `None` without a
    /// transaction, and for a sparse frame.
    pub space: Option<Space>,
    /// Chunk files that an open transaction of a sparse frame must keep.
    pub reserved: Option<Reserved>,
}

impl Before<'_> {
    /// The size in bytes of the only chunk that is replaced or deleted, 0 if it is not stored.
    fn old_len(&self) -> u64 {
        self.old_lens.first().copied().unwrap_or(0)
    }
}

/// A planned change. Offsets are relative to the end of the header.
pub struct Plan<'a> {
    before: &'a Before<'a>,
    /// The number of leading offsets that stay the same.
    pub unchanged: usize,
    /// The size of the data section, or of all chunk files, in bytes after the change.
    pub cbytes: i64,
    /// Largest number of a chunk file after the change, if known.
    pub max_id: Option<i64>,
    /// The chunk that is overwritten.
    pub replaced: Option<Replaced<'a>>,
    /// The bytes that move to fit the new chunk.
    pub shift: Option<Shift>,
    /// Chunks and their offsets in the data section.
    pub writes: Vec<(u64, &'a [u8])>,
    /// Chunk files to create.
    pub created: Vec<(u32, &'a [u8])>,
    /// The chunk file to overwrite.
    pub rewritten: Option<(u32, &'a [u8])>,
    /// The chunk files to remove.
    pub dropped: Vec<u32>,
    /// Encoding of the index.
    pub form: IndexForm,
    /// The bytes that an open transaction may write to after the change.
    pub space: Option<Space>,
}

/// Reserves memory for one more item. The list grows by a fraction of its size, so that it is
/// seldom reallocated and little memory is unused.
fn reserve_one<T>(list: &mut Vec<T>) -> Result<()> {
    if list.len() == list.capacity() {
        list.try_reserve_exact(list.len() / 8 + MIN_GROWTH)?;
    }
    Ok(())
}

/// Returns the offset of a chunk of one repeated value.
fn special_offset(kind: Special) -> Result<i64> {
    offset::of_special(kind).ok_or(Error::InvalidParam)
}

impl<'a> Plan<'a> {
    /// Plans a change and applies it to the list of offsets.
    ///
    /// # Errors
    /// [`Error::Data`] when chunks overlap and therefore cannot be moved, and when offsets and
    /// sizes are inconsistent; [`Error::InvalidHeader`] when there is no free file number;
    /// [`Error::MemoryAlloc`].
    pub fn new(
        change: Change<'a>,
        materialized: &'a [(usize, Buffer)],
        offsets: &mut Vec<i64>,
        before: &'a Before<'a>,
    ) -> Result<Plan<'a>> {
        let appends_only = before.keeps && !before.sparse;
        let mut plan = Plan {
            before,
            unchanged: offsets.len(),
            cbytes: if offsets.is_empty() && !appends_only { 0 } else { before.cbytes },
            max_id: before.max_id,
            replaced: None,
            shift: None,
            writes: Vec::new(),
            created: Vec::new(),
            rewritten: None,
            dropped: Vec::new(),
            form: IndexForm::Encoded(0),
            space: before.space.clone(),
        };
        if !before.pending.is_empty() {
            plan.place_pending(offsets, change.removed())?;
        }
        reserve_one(offsets)?;
        if let Change::Update(at, chunk) = change {
            plan.update(offsets, at, chunk)?;
        }
        for (nchunk, bytes) in materialized {
            plan.unchanged = plan.unchanged.min(*nchunk);
            offsets[*nchunk] = plan.assign_offset(offsets, bytes)?;
        }
        // The shorter index may use as many bytes as before: a deletion never makes it larger than
        // its space.
        let mut spare = 0;
        match change {
            Change::Update(..) => {}
            Change::Insert(at, chunk) => {
                let stored = plan.store(offsets, chunk)?;
                offsets.insert(at, stored);
                plan.unchanged = plan.unchanged.min(at);
            }
            Change::InsertSpecial(at, kind) => {
                insert_at_all(offsets, at, special_offset(kind)?)?;
                plan.unchanged = plan.unchanged.min(at.first().copied().unwrap_or(0));
            }
            Change::Delete(at) => {
                plan.delete(offsets, at)?;
                spare = 1;
            }
            Change::DeleteAll(at) => {
                plan.delete_all(offsets, at)?;
                spare = 1;
            }
            Change::Reorder(order) => {
                let old = offsets.clone();
                for (new, &from) in offsets.iter_mut().zip(order) {
                    *new = old[from];
                }
                plan.unchanged = 0;
            }
            Change::Fill(nchunks, kind) => {
                offsets.try_reserve_exact(nchunks)?;
                offsets.resize(nchunks, special_offset(kind)?);
                plan.unchanged = 0;
                plan.form = IndexForm::Fill(kind);
                return Ok(plan);
            }
        }
        plan.form = IndexForm::Encoded(index::capacity(offsets.len() + spare));
        plan.check()?;
        Ok(plan)
    }

    /// Rejects a plan that exceeds the data section. Inconsistent offsets and sizes in a damaged
    /// frame can cause one.
    fn check(&self) -> Result<()> {
        if self.before.sparse {
            return Ok(());
        }
        let old_end = self.before.cbytes.max(0) as u64;
        let end = u64::try_from(self.cbytes).map_err(|_| Error::Data)?;
        let is_within =
            |start: u64, len: u64, end: u64| start.checked_add(len).is_some_and(|stop| stop <= end);
        let shifts = self.shift.iter().all(|shift| {
            is_within(shift.from, shift.len, old_end) && is_within(shift.to, shift.len, end)
        });
        let writes = (self.writes.iter())
            .all(|&(position, bytes)| is_within(position, bytes.len() as u64, end));
        let replaced = (self.replaced.iter()).all(|replaced| {
            is_within(replaced.position, replaced.old_len, old_end)
                && is_within(replaced.position, replaced.chunk.len() as u64, end)
        });
        if shifts && writes && replaced { Ok(()) } else { Err(Error::Data) }
    }

    /// Assigns offsets to the pending chunks, except for one that this change removes.
    fn place_pending(&mut self, offsets: &mut [i64], gone: Option<usize>) -> Result<()> {
        let before = self.before;
        self.unchanged = 0;
        self.max_id = None;
        if before.sparse || !before.keeps {
            self.cbytes = 0;
        }
        let mut placed = Vec::new();
        placed.try_reserve_exact(offsets.len())?;
        for (nchunk, &stored) in offsets.iter().enumerate() {
            if gone == Some(nchunk) {
                // The change then removes it like a chunk that is not stored.
                placed.push(special_offset(Special::Zero)?);
                continue;
            }
            let start = usize::try_from(stored).map_err(|_| Error::Data)?;
            let chunk =
                before.pending.get(start..start + EXTENDED_HEADER_LENGTH).ok_or(Error::Data)?;
            let offset = self.assign_offset(&placed, chunk)?;
            placed.push(offset);
        }
        offsets.copy_from_slice(&placed);
        Ok(())
    }

    /// Returns the offset of a new chunk.
    fn store(&mut self, offsets: &[i64], chunk: Stored<'a>) -> Result<i64> {
        match chunk {
            Stored::Special(kind) => special_offset(kind),
            Stored::Bytes(bytes) | Stored::Unverified(bytes) => self.assign_offset(offsets, bytes),
        }
    }

    /// Assigns an offset or a file number to a new chunk. Without a transaction the offset is after
    /// all other chunks.
    fn assign_offset(&mut self, offsets: &[i64], bytes: &'a [u8]) -> Result<i64> {
        if let Some(space) = &mut self.space {
            let position = space.allocate(bytes.len() as u64);
            self.cbytes = space.end() as i64;
            self.writes.push((position, bytes));
            return Ok(position as i64);
        }
        let position = self.cbytes;
        self.cbytes += bytes.len() as i64;
        if !self.before.sparse {
            self.writes.push((position.max(0) as u64, bytes));
            return Ok(position);
        }
        let id = self.free_id(offsets);
        self.created.push((offset::file_id(id)?, bytes));
        self.max_id = self.max_id.map(|max| max.max(id));
        Ok(id)
    }

    /// Returns the file number of a new chunk: one above the largest, or the lowest free one if
    /// C-Blosc2 would mistake that number for an offset outside the data.
    fn free_id(&mut self, offsets: &[i64]) -> i64 {
        let kept = self.before.reserved.iter().flat_map(Reserved::numbers);
        let used = offsets.iter().copied().chain(kept);
        let max = match self.max_id {
            Some(max) => max,
            None => used.clone().max().unwrap_or(-1).max(-1),
        };
        self.max_id = Some(max);
        let next = max + 1;
        if next <= self.cbytes - EXTENDED_HEADER_LENGTH as i64 {
            return next;
        }
        let taken: HashSet<i64> = used.collect();
        (0..next).find(|id| !taken.contains(id)).unwrap_or(next)
    }

    fn update(&mut self, offsets: &mut [i64], at: usize, chunk: Stored<'a>) -> Result<()> {
        let old = offsets[at];
        let old_len = self.before.old_len();
        self.unchanged = self.unchanged.min(at);
        if old < 0 {
            offsets[at] = self.store(offsets, chunk)?;
            return Ok(());
        }
        let before = self.before;
        if before.keeps {
            if before.sparse {
                self.drop_file(old, old_len)?;
            }
            offsets[at] = self.store(offsets, chunk)?;
            self.release(old, old_len);
            self.max_id = None;
            return Ok(());
        }
        match chunk {
            Stored::Bytes(bytes) | Stored::Unverified(bytes) if before.sparse => {
                self.cbytes += bytes.len() as i64 - old_len as i64;
                self.rewritten = Some((offset::file_id(old)?, bytes));
            }
            Stored::Bytes(bytes) | Stored::Unverified(bytes) => {
                self.replace(offsets, old, bytes)?;
            }
            Stored::Special(kind) => {
                if before.sparse {
                    self.drop_file(old, old_len)?;
                    self.max_id = None;
                } else {
                    self.replace(offsets, old, &[])?;
                }
                offsets[at] = special_offset(kind)?;
            }
        }
        Ok(())
    }

    /// Marks the bytes of a chunk of this size as unused, if a transaction wrote them.
    fn release(&mut self, old: i64, len: u64) {
        if let (Some(space), Ok(position)) = (&mut self.space, u64::try_from(old)) {
            space.release(position, len);
        }
    }

    /// Removes the file of a chunk of this size.
    fn drop_file(&mut self, old: i64, len: u64) -> Result<()> {
        self.cbytes -= len as i64;
        self.dropped.try_reserve(1)?;
        self.dropped.push(offset::file_id(old)?);
        Ok(())
    }

    /// Resizes the space of a chunk to the size of the new one by moving the bytes after it.
    fn replace(&mut self, offsets: &mut [i64], old: i64, chunk: &'a [u8]) -> Result<()> {
        let (start, old_len, new_len) = (old as u64, self.before.old_len(), chunk.len() as u64);
        let end = self.cbytes.max(0) as u64;
        // A chunk that exceeds the data section cannot be cut out of it.
        let rest = start
            .checked_add(old_len)
            .and_then(|old_end| end.checked_sub(old_end))
            .ok_or(Error::Data)?;
        self.replaced = Some(Replaced { position: start, old_len, chunk });
        if old_len == new_len {
            return Ok(());
        }
        let by = new_len as i64 - old_len as i64;
        self.shift =
            (rest > 0).then_some(Shift { from: start + old_len, to: start + new_len, len: rest });
        self.cbytes += by;
        for (nchunk, stored) in offsets.iter_mut().enumerate().filter(|(_, o)| **o > old) {
            *stored += by;
            self.unchanged = self.unchanged.min(nchunk);
            // Chunks that overlap this one cannot be moved with it.
            if *stored < (start + new_len) as i64 {
                return Err(Error::Data);
            }
        }
        Ok(())
    }

    fn delete(&mut self, offsets: &mut Vec<i64>, at: usize) -> Result<()> {
        let old = offsets.remove(at);
        self.unchanged = self.unchanged.min(at);
        self.forget(old, self.before.old_len())?;
        if offsets.is_empty() {
            self.cbytes = 0;
        }
        Ok(())
    }

    fn delete_all(&mut self, offsets: &mut Vec<i64>, at: &[usize]) -> Result<()> {
        let before = self.before;
        let Some(&first) = at.first() else {
            return Ok(());
        };
        self.unchanged = self.unchanged.min(first);
        for (&at, &len) in at.iter().zip(&before.old_lens) {
            self.forget(offsets[at], len)?;
        }
        remove_all(offsets, at);
        if offsets.is_empty() {
            self.cbytes = 0;
        }
        Ok(())
    }

    /// Drops the file of a deleted chunk of a sparse frame. In a transaction, marks the bytes of a
    /// chunk as unused; otherwise they remain in the frame.
    fn forget(&mut self, old: i64, len: u64) -> Result<()> {
        if self.before.sparse && old >= 0 {
            self.drop_file(old, len)?;
            self.max_id = None;
        }
        self.release(old, len);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_items_are_inserted_and_removed_as_one_after_another() {
        let numbers: [&[usize]; 7] =
            [&[], &[0], &[5], &[0, 1, 2], &[0, 2, 4, 6, 8], &[3, 4, 7], &[5, 6, 7, 8]];
        for at in numbers {
            let mut list = vec![1, 2, 3, 4, 5];
            let mut expected = list.clone();
            at.iter().for_each(|&number| expected.insert(number, 0));
            insert_at_all(&mut list, at, 0).unwrap();
            assert_eq!(list, expected, "{at:?}");
            remove_all(&mut list, at);
            assert_eq!(list, [1, 2, 3, 4, 5], "{at:?}");
        }
        let mut list = vec![1, 2];
        assert!(insert_at_all(&mut list, &[0, 4], 0).is_err());
        assert_eq!(list, [1, 2]);
    }
}
