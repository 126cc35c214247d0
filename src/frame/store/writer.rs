//! In-place changes of a frame's file that are rolled back on failure.
//!
//! Bytes of the frame are saved before they are overwritten, unless they are cached, and moves are
//! recorded. After a failure everything is restored in reverse order. This protects against full
//! disks and failing writes; only the journal of a durable file protects against a crash.
//!
//! The sections are written in the order that lock-free readers rely on: index, header, trailer.

use super::cached::CachedState;
use super::files::Files;
use crate::frame::format::{Footer, header::MARK};
use crate::io::journal::Staged;
use crate::io::{Stream, WriteGranularity};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// The number of bytes moved or compared at a time.
const SEGMENT: u64 = 1 << 20;
/// Granularity in bytes of writes within a segment.
const PAGE: usize = 4 << 10;

/// Changes the file of a frame and rolls back on failure. A durable file is changed under a
/// journal, after the whole change was staged in memory.
///
/// # Errors
/// Returns the errors of `change`, of [`check_bytes_after`], of the backend and of the journal.
pub fn change_in_place(
    files: &Files,
    cached: &mut CachedState,
    change: impl FnOnce(&mut Writer) -> Result<()>,
) -> Result<()> {
    change_in_place_and_then(files, cached, change, || Ok(()))
}

/// Changes the file like [`change_in_place`], and calls `complete` after the changed file was
/// closed, or staged. If that fails, the change is rolled back, too.
///
/// # Errors
/// Returns the errors of [`change_in_place`] and of `complete`. If the file cannot be opened again
/// for the rollback, the state is marked as stale: the file may contain the change.
pub fn change_in_place_and_then(
    files: &Files,
    cached: &mut CachedState,
    change: impl FnOnce(&mut Writer) -> Result<()>,
    complete: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let stream = files.open_for_update()?;
    check_bytes_after(&*stream, files.start(), cached.len)?;
    let skips_unchanged = files.backend().file_ops().is_some();
    let is_staged = files.is_durable() && !cached.is_journaled;
    let (stream, staged): (Box<dyn Stream>, _) = if is_staged {
        let staged = Staged::new(Arc::from(stream))?;
        (Box::new(staged.clone()), Some(staged))
    } else {
        (stream, None)
    };
    let old_footer = cached.footer.take();
    let mut writer = Writer::new(stream, files.start(), cached.len, skips_unchanged, old_footer)?;
    let result = change(&mut writer);
    let reopen = || {
        let reopened = if is_staged { Err(Error::FileOpen) } else { files.open_for_update() };
        reopened.inspect_err(|_| cached.stale |= !is_staged)
    };
    let finished = writer.finish(result, complete, reopen);
    finished.inspect_err(|_| cached.is_torn |= cached.is_journaled)?;
    staged.map_or(Ok(()), |staged| files.commit_staged(&staged, cached.len))
}

/// Checks that the bytes after a frame may be overwritten, because they do not belong to other
/// data.
///
/// # Errors
/// [`Error::InvalidParam`] if they may not.
pub fn check_bytes_after(stream: &dyn Stream, start: u64, len: u64) -> Result<()> {
    if stream.size()? <= start + len {
        return Ok(());
    }
    let mut mark = [0; MARK.len()];
    let mut is_frame = || {
        let read = stream.read_at(start + len, &mut mark);
        read == Ok(mark.len()) && mark == *MARK
    };
    if start > 0 || is_frame() {
        return Err(Error::InvalidParam);
    }
    Ok(())
}

/// A byte range that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// Old offset.
    pub from: u64,
    /// New offset.
    pub to: u64,
    /// The number of bytes.
    pub len: u64,
}

/// A chunk of a contiguous frame that is overwritten in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaced<'a> {
    /// The offset of the old and the new chunk.
    pub position: u64,
    /// The size of the old chunk in bytes.
    pub old_len: u64,
    /// The new chunk; empty to remove the old one.
    pub chunk: &'a [u8],
}

/// A frame's file during a change; offsets are relative to the start of the frame.
pub struct Writer {
    stream: Box<dyn Stream>,
    start: u64,
    /// The end of the frame before the change; bytes after it are not saved.
    old_len: u64,
    /// The size of the file before the change, in bytes.
    old_size: u64,
    /// Whether bytes that stay the same need not be written. A program's own backend is called for
    /// every section of every change, and its writes are not split.
    skips_unchanged: bool,
    /// The header and the footer before the change, if cached.
    old_footer: Option<Arc<Footer>>,
    undo: Vec<Undo>,
}

enum Undo {
    Overwritten {
        position: u64,
        bytes: Vec<u8>,
    },
    /// Bytes that the old footer contains.
    Known {
        position: u64,
        len: u64,
    },
    Moved {
        from: u64,
        to: u64,
        len: u64,
    },
}

impl Undo {
    /// Returns the range that the rollback restores.
    fn range(&self) -> Range<u64> {
        match *self {
            Undo::Overwritten { position, ref bytes } => position..position + bytes.len() as u64,
            Undo::Known { position, len } => position..position + len,
            Undo::Moved { from, len, .. } => from..from + len,
        }
    }
}

/// Progress of a move.
struct Shifted {
    /// The number of bytes moved.
    done: u64,
    /// Old bytes at the source of the next segment: a failed write may have moved a prefix of that
    /// segment over the rest.
    torn: Option<Undo>,
    result: Result<()>,
}

impl Writer {
    fn new(
        stream: Box<dyn Stream>,
        start: u64,
        old_len: u64,
        skips_unchanged: bool,
        old_footer: Option<Arc<Footer>>,
    ) -> Result<Writer> {
        Ok(Writer {
            old_size: stream.size()?,
            stream,
            start,
            old_len,
            skips_unchanged,
            old_footer,
            undo: Vec::new(),
        })
    }

    /// Fills `dest` from the file.
    fn read(&self, position: u64, dest: &mut [u8]) -> Result<()> {
        if self.stream.read_at(self.start + position, dest)? == dest.len() {
            Ok(())
        } else {
            Err(Error::FileRead)
        }
    }

    /// Saves the bytes of the old frame within a range.
    fn save(&mut self, position: u64, len: u64) -> Result<()> {
        let end = (position + len).min(self.old_len);
        if position >= end {
            return Ok(());
        }
        // If the range extends from the chunks into the footer, only its bytes in the footer are
        // cached.
        let footer_at = self.old_footer.as_ref().map(|footer| footer.start());
        match footer_at.filter(|at| (position + 1..end).contains(at)) {
            Some(at) => {
                self.save_range(position, at - position)?;
                self.save_range(at, end - at)
            }
            None => self.save_range(position, end - position),
        }
    }

    /// Saves a range of the old frame. Its bytes are read unless the cached footer contains all of
    /// them.
    fn save_range(&mut self, position: u64, len: u64) -> Result<()> {
        let old_footer = self.old_footer.as_ref();
        if old_footer.is_some_and(|footer| footer.range(position, len).is_some()) {
            self.undo.push(Undo::Known { position, len });
            return Ok(());
        }
        let len = usize::try_from(len).map_err(|_| Error::MemoryAlloc)?;
        let mut bytes = Vec::new();
        resize(&mut bytes, len)?;
        self.read(position, &mut bytes)?;
        self.undo.push(Undo::Overwritten { position, bytes });
        Ok(())
    }

    /// Saves the bytes in a range, then overwrites them.
    pub fn write(
        &mut self,
        position: u64,
        bytes: &[u8],
        granularity: WriteGranularity,
    ) -> Result<()> {
        self.save(position, bytes.len() as u64)?;
        self.write_saved(position, bytes, granularity)
    }

    /// Writes the index, the header and the bytes after the index, and ends the file.
    ///
    /// # Errors
    /// Returns the errors of reading the old bytes and of the backend. The same holds for all
    /// functions of a writer.
    pub fn write_footer(&mut self, footer: &Footer) -> Result<()> {
        if !footer.index.is_empty() {
            self.write_section(footer.index_at, &footer.index, WriteGranularity::Bytes)?;
        }
        self.write_section(0, &footer.header, WriteGranularity::Whole)?;
        self.write_section(footer.rest_at(), &footer.rest, WriteGranularity::Bytes)?;
        self.end_file(footer.frame_len())
    }

    fn write_section(
        &mut self,
        position: u64,
        bytes: &[u8],
        granularity: WriteGranularity,
    ) -> Result<()> {
        match &self.old_footer {
            Some(old) if self.skips_unchanged && old.has(position, bytes) => Ok(()),
            _ => self.write(position, bytes, granularity),
        }
    }

    /// Overwrites a chunk with another after moving the bytes that follow it. `header_len` and
    /// `data_end` are the ends of the header, where the offsets of chunks begin, and of the data
    /// section before the change.
    pub fn replace_chunk(
        &mut self,
        replaced: &Replaced<'_>,
        shift: Option<Shift>,
        (header_len, data_end): (u64, u64),
    ) -> Result<()> {
        let position = header_len + replaced.position;
        let (old_len, new_len) = (replaced.old_len, replaced.chunk.len() as u64);
        if old_len == new_len && self.skips_unchanged {
            return self.write_differences(position, replaced.chunk);
        }
        self.save(position, old_len)?;
        if new_len > old_len {
            self.save(data_end, new_len - old_len)?;
        }
        if let Some(shift) = shift {
            self.shift(header_len + shift.from, header_len + shift.to, shift.len)?;
        }
        if replaced.chunk.is_empty() {
            return Ok(());
        }
        // All bytes that this call overwrites were saved or moved.
        self.write_saved(position, replaced.chunk, WriteGranularity::Bytes)
    }

    /// Overwrites bytes of the frame with the same number of bytes. Only differing pages are saved
    /// and written, so that memory use and writes are bounded by the size of the difference.
    fn write_differences(&mut self, position: u64, bytes: &[u8]) -> Result<()> {
        let mut old = Vec::new();
        for (new, at) in
            (bytes.chunks(SEGMENT as usize)).zip((position..).step_by(SEGMENT as usize))
        {
            resize(&mut old, new.len())?;
            self.read(at, &mut old)?;
            let Some(range) = differing_pages(&old, new) else {
                continue;
            };
            let mut saved = Vec::new();
            saved.try_reserve_exact(range.len())?;
            saved.extend_from_slice(&old[range.clone()]);
            let at = at + range.start as u64;
            self.undo.push(Undo::Overwritten { position: at, bytes: saved });
            self.write_saved(at, &new[range], WriteGranularity::Bytes)?;
        }
        Ok(())
    }

    /// Overwrites bytes that were saved before.
    fn write_saved(
        &mut self,
        position: u64,
        bytes: &[u8],
        granularity: WriteGranularity,
    ) -> Result<()> {
        self.stream.write_at(self.start + position, bytes, granularity)
    }

    /// Moves `len` bytes. The caller has saved the destination, except where it overlaps the
    /// source.
    fn shift(&mut self, from: u64, to: u64, len: u64) -> Result<()> {
        let Shifted { done, torn, result } = self.shift_segments(from, to, len);
        // The bytes moved before a failure are contiguous, at one end.
        let skipped = if to > from { len - done } else { 0 };
        self.undo.push(Undo::Moved { from: from + skipped, to: to + skipped, len: done });
        self.undo.extend(torn);
        result
    }

    /// Moves segment by segment until the end or the first failure.
    fn shift_segments(&self, from: u64, to: u64, len: u64) -> Shifted {
        let mut done = 0;
        let mut torn = None;
        let result = (|| {
            let size = SEGMENT.min(len) as usize;
            let mut segment = Vec::new();
            resize(&mut segment, size)?;
            while done < len {
                let part = SEGMENT.min(len - done);
                // Starts at the end that is moved towards, so that no byte is overwritten before it
                // is read.
                let at = if to > from { len - done - part } else { done };
                segment.truncate(part as usize);
                self.read(from + at, &mut segment)?;
                let target = self.start + to + at;
                if let Err(error) = self.stream.write_at(target, &segment, WriteGranularity::Bytes)
                {
                    torn = Some(Undo::Overwritten {
                        position: from + at,
                        bytes: std::mem::take(&mut segment),
                    });
                    return Err(error);
                }
                done += part;
            }
            Ok(())
        })();
        Shifted { done, torn, result }
    }

    /// Truncates the file at the end of the frame.
    pub fn end_file(&mut self, len: u64) -> Result<()> {
        if self.skips_unchanged && self.stream.size()? == self.start + len {
            return Ok(());
        }
        self.save_rest(len)?;
        self.stream.truncate(self.start + len)
    }

    /// Saves the bytes of the old frame from `position` on that no step of the rollback restores.
    fn save_rest(&mut self, position: u64) -> Result<()> {
        let mut restored = Vec::new();
        restored.try_reserve_exact(self.undo.len() + 1)?;
        restored.extend(self.undo.iter().map(Undo::range));
        restored.push(self.old_len..self.old_len);
        restored.sort_by_key(|range: &Range<u64>| range.start);
        let mut at = position;
        for range in restored {
            self.save(at, range.start.saturating_sub(at))?;
            at = at.max(range.end);
        }
        Ok(())
    }

    /// Closes the file and calls `complete`. If the change, this or that failed, rolls the change
    /// back, if necessary in a file that `reopen` opens: the error of a file that is closed can
    /// concern all its bytes.
    fn finish(
        mut self,
        result: Result<()>,
        complete: impl FnOnce() -> Result<()>,
        reopen: impl FnOnce() -> Result<Box<dyn Stream>>,
    ) -> Result<()> {
        if let Err(error) = result {
            self.roll_back();
            return Err(error);
        }
        let Writer { stream, .. } = self;
        let ended = stream.close().and_then(|()| complete());
        if ended.is_err()
            && let Ok(stream) = reopen()
        {
            self.stream = stream;
            self.roll_back();
        }
        ended
    }

    /// Writes a range of the old footer.
    fn write_known(&self, position: u64, len: u64) -> Result<()> {
        let parts = self.old_footer.iter().filter_map(|footer| footer.range(position, len));
        for (at, bytes) in parts.flatten() {
            self.stream.write_at(self.start + at, bytes, WriteGranularity::Bytes)?;
        }
        Ok(())
    }

    /// Restores the old bytes, as far as possible.
    fn roll_back(mut self) {
        while let Some(undo) = self.undo.pop() {
            let _ = match undo {
                Undo::Overwritten { position, bytes } => {
                    self.write_saved(position, &bytes, WriteGranularity::Bytes)
                }
                Undo::Known { position, len } => self.write_known(position, len),
                Undo::Moved { from, to, len } => self.shift_segments(to, from, len).result,
            };
        }
        let _ = self.stream.truncate(self.old_size);
        let _ = self.stream.close();
    }
}

/// Returns the range from the first page that differs to the last one; `None` if all bytes are
/// equal.
fn differing_pages(old: &[u8], new: &[u8]) -> Option<Range<usize>> {
    let pages = || old.chunks(PAGE).zip(new.chunks(PAGE));
    let first = pages().position(|(old, new)| old != new)?;
    let last = pages().rposition(|(old, new)| old != new)?;
    Some(first * PAGE..new.len().min((last + 1) * PAGE))
}

fn resize(bytes: &mut Vec<u8>, len: usize) -> Result<()> {
    bytes.try_reserve_exact(len.saturating_sub(bytes.len()))?;
    bytes.resize(len, 0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::fault::{Disk, Fault};
    use crate::io::{Backend, Mode};
    use std::path::Path;

    const LEN: u64 = 5 * SEGMENT / 2;

    fn frame() -> Vec<u8> {
        (0..LEN).map(|i| (i % 251) as u8).collect()
    }

    /// Moves the end of the data, like an update of a chunk.
    fn change(disk: &Disk, from: u64, to: u64) -> Result<()> {
        let stream = disk.open(Path::new("f"), Mode::Update)?;
        let mut writer = Writer::new(stream, 0, LEN, false, None)?;
        let len = LEN - from;
        let result = (|| {
            writer.save(to.min(from), from.saturating_sub(to))?;
            writer.shift(from, to, len)?;
            writer.write(0, &[7; 100], WriteGranularity::Whole)?;
            writer.end_file(to + len)
        })();
        writer.finish(result, || Ok(()), || disk.open(Path::new("f"), Mode::Update))
    }

    /// Overwrites bytes in two of three segments.
    fn overwrite(disk: &Disk) -> Result<()> {
        let stream = disk.open(Path::new("f"), Mode::Update)?;
        let mut writer = Writer::new(stream, 0, LEN, false, None)?;
        let mut new = frame();
        new[5000] ^= 1;
        new[LEN as usize - 1] ^= 1;
        let result = writer.write_differences(1, &new[1..]);
        writer.finish(result, || Ok(()), || disk.open(Path::new("f"), Mode::Update))
    }

    #[test]
    fn only_differing_pages_are_written_and_a_failure_restores_them() {
        let base = || Disk::holding([("f".into(), frame())]);
        let disk = base();
        overwrite(&disk).unwrap();
        let left = disk.contents().remove(Path::new("f")).unwrap();
        let before = frame();
        let changed: Vec<usize> = (0..LEN as usize).filter(|&i| left[i] != before[i]).collect();
        assert_eq!(changed, [5000, LEN as usize - 1]);
        let usage = disk.take_usage();
        assert!(usage.bytes_written <= 2 * PAGE, "{usage:?}");
        for call in 0..disk.log().len() {
            for fault in [Fault::Fail, Fault::Cut] {
                let disk = base();
                disk.plan(call, fault);
                assert!(overwrite(&disk).is_err());
                let left = disk.contents().remove(Path::new("f")).unwrap();
                assert!(left == frame(), "{fault:?} at {call}");
            }
        }
    }

    #[test]
    fn a_move_that_fails_at_any_call_is_rolled_back() {
        let base = || Disk::holding([("f".into(), frame())]);
        for (from, to) in [(1000, 1000 + SEGMENT / 3), (1000 + SEGMENT / 3, 1000)] {
            let disk = base();
            change(&disk, from, to).unwrap();
            let moved = disk.contents().remove(Path::new("f")).unwrap();
            assert!(moved[to as usize..] == frame()[from as usize..]);
            for call in 0..disk.log().len() {
                for fault in [Fault::Fail, Fault::Cut] {
                    let disk = base();
                    disk.plan(call, fault);
                    assert!(change(&disk, from, to).is_err());
                    let left = disk.contents().remove(Path::new("f")).unwrap();
                    assert!(left == frame(), "{fault:?} at {call}, {from} to {to}");
                }
            }
        }
    }
}
