//! Changes of the file of a contiguous frame: in place, or after its end (`shadow.rs`).
//!
//! An in-place change writes in the order that lock-free readers rely on: index, header, trailer. A
//! durable frame that does not begin at offset 0 of its file is also changed in place, under a
//! journal: bytes after its end could belong to other data.

use super::files::Files;
use super::footer::Footer;
use super::frame::{CachedState, Frame};
use super::header::{self, FIXED_LEN};
use super::journal::Journal;
use super::plan::{Plan, Replaced, Shift};
use super::shadow::Shadow;
use super::writer::Writer;
use crate::io::journal::Staged;
use crate::io::{Stream, WriteGranularity};
use crate::{Error, Result};
use std::sync::Arc;

/// The first bytes of a frame.
const FRAME_MARK: &[u8] = b"\x9e\xa8b2frame\0";

impl Frame {
    /// Whether a change leaves everything that the frame refers to intact until it is committed.
    pub(super) fn keeps_old_state(&self) -> bool {
        self.files().is_some_and(|files| files.is_replaceable())
    }

    /// Whether changes are written after the end of the current frame.
    pub(super) fn has_shadows(&self) -> bool {
        self.keeps_old_state() && !self.is_sparse()
    }

    /// Returns the number of bytes from the end of the header to the first byte that a change may
    /// write.
    pub(super) fn shadow_data_len(&mut self) -> i64 {
        if let Some(space) = self.space() {
            return space.end() as i64;
        }
        let end = self.shadow_end();
        (end - u64::from(self.cached_mut().header_len)) as i64
    }

    /// Returns the position of the first byte that a change may write.
    pub(super) fn shadow_end(&mut self) -> u64 {
        let in_doubt = self.in_doubt;
        self.cached_mut().len.max(in_doubt)
    }

    /// Applies a change of the chunks.
    pub(super) fn change_file(
        &mut self,
        files: &Files,
        plan: &Plan<'_>,
        footer: &Footer,
    ) -> Result<()> {
        if self.has_shadows() {
            return if footer.index.is_empty() {
                // In a frame without data, readers expect the trailer directly after the
                // header.
                self.replace_file(files, &footer.to_bytes()?)?;
                self.cached_mut().written(footer);
                Ok(())
            } else {
                self.shadow(files, &plan.writes, footer)
            };
        }
        let cached = self.cached_mut();
        let header_len = u64::from(cached.header_len);
        let data_end = header_len + cached.counters.cbytes.max(0) as u64;
        change_in_place(files, cached, |writer| {
            if let Some(replaced) = &plan.replaced {
                replace_chunk(writer, files, replaced, plan.shift, (header_len, data_end))?;
            }
            for &(position, chunk) in &plan.writes {
                writer.write(header_len + position, chunk, WriteGranularity::Bytes)?;
            }
            publish(writer, files, footer)
        })?;
        cached.written(footer);
        Ok(())
    }

    /// Applies a change of a durable frame: chunks with their positions in the data section, and
    /// the bytes around them.
    pub(super) fn shadow(
        &mut self,
        files: &Files,
        chunks: &[(u64, &[u8])],
        footer: &Footer,
    ) -> Result<()> {
        let end = self.shadow_end();
        let cached = self.cached_mut();
        let header_len = u64::from(cached.header_len);
        let stream = files.open_for_update()?;
        check_bytes_after(&*stream, files.start(), cached.len)?;
        let old = files.latest()?.fixed_header()?;
        let mut writes: Vec<(u64, &[u8])> = Vec::new();
        writes.try_reserve_exact(chunks.len() + 2)?;
        writes.extend(chunks.iter().map(|&(at, chunk)| (header_len + at, chunk)));
        writes.push((footer.index_at, &footer.index));
        writes.push((footer.rest_at(), &footer.rest));
        let shadow = Shadow {
            stream: &*stream,
            start: files.start(),
            end,
            old: &old,
            new: footer.header.get(..FIXED_LEN).ok_or(Error::InvalidHeader)?,
        };
        match shadow.commit(&writes) {
            Ok(()) => {
                cached.written(footer);
                self.in_doubt = 0;
                Ok(())
            }
            Err(failure) => {
                if failure.in_doubt {
                    cached.stale = true;
                    self.in_doubt = end.max(footer.frame_len());
                }
                Err(failure.error)
            }
        }
    }

    /// Replaces the file of the frame, or the index of a sparse one, by a file of these bytes.
    pub(super) fn replace_file(&mut self, files: &Files, bytes: &[u8]) -> Result<()> {
        files.check_there()?;
        let replaced = files.replace(files.path(), |stream| {
            stream.write_at(0, bytes, WriteGranularity::Whole)
        });
        if let Err(error) = replaced {
            self.cached_mut().stale |= error.is_replaced;
            return Err(error.error);
        }
        Ok(())
    }
}

/// Changes a frame's file and rolls back on failure. A durable file is changed under a journal,
/// after the whole change was staged in memory.
pub(super) fn change_in_place(
    files: &Files,
    cached: &mut CachedState,
    change: impl FnOnce(&mut Writer) -> Result<()>,
) -> Result<()> {
    let stream = files.open_for_update()?;
    check_bytes_after(&*stream, files.start(), cached.len)?;
    let old_footer = cached.footer.take();
    if !files.is_durable() || cached.is_journaled {
        let mut writer = Writer::new(stream, files.start(), cached.len, old_footer)?;
        let result = change(&mut writer);
        return writer
            .finish(result)
            .inspect_err(|_| cached.is_torn |= cached.is_journaled);
    }
    let staged = Staged::new(Arc::from(stream))?;
    let mut writer = Writer::new(
        Box::new(staged.clone()),
        files.start(),
        cached.len,
        old_footer,
    )?;
    let result = change(&mut writer);
    writer.finish(result)?;
    commit_staged(files, &staged, cached.len)
}

/// Applies a staged change of a frame of `old_len` bytes under a journal.
pub(super) fn commit_staged(files: &Files, staged: &Staged, old_len: u64) -> Result<()> {
    let mut fixed = [0; FIXED_LEN];
    if staged.read_at(files.start(), &mut fixed)? != FIXED_LEN {
        return Err(Error::InvalidHeader);
    }
    let len = (old_len, header::frame_len(&fixed));
    let journal = Journal::begin(files, len, staged)?;
    journal.end(staged.apply(files.start()))
}

/// Checks that the bytes after a frame may be overwritten, because they do not belong to other
/// data.
///
/// # Errors
/// [`Error::InvalidParam`] if they may not.
pub(super) fn check_bytes_after(stream: &dyn Stream, start: u64, len: u64) -> Result<()> {
    if stream.size()? <= start + len {
        return Ok(());
    }
    let mut mark = [0; FRAME_MARK.len()];
    let mut is_frame = || {
        let read = stream.read_at(start + len, &mut mark);
        read == Ok(mark.len()) && mark == FRAME_MARK
    };
    if start > 0 || is_frame() {
        return Err(Error::InvalidParam);
    }
    Ok(())
}

/// Overwrites a chunk with another after moving the bytes that follow it. `header_len` and
/// `data_end` are the ends of the header and of the data section before the change.
fn replace_chunk(
    writer: &mut Writer,
    files: &Files,
    replaced: &Replaced<'_>,
    shift: Option<Shift>,
    (header_len, data_end): (u64, u64),
) -> Result<()> {
    let position = header_len + replaced.position;
    let (old_len, new_len) = (replaced.old_len, replaced.chunk.len() as u64);
    // Writes through a program's own backend are not split.
    if old_len == new_len && files.backend().file_ops().is_some() {
        return writer.write_differences(position, replaced.chunk);
    }
    writer.save(position, old_len)?;
    if new_len > old_len {
        writer.save(data_end, new_len - old_len)?;
    }
    if let Some(shift) = shift {
        writer.shift(header_len + shift.from, header_len + shift.to, shift.len)?;
    }
    if replaced.chunk.is_empty() {
        return Ok(());
    }
    // All bytes that this call overwrites were saved or moved.
    writer.write_saved(position, replaced.chunk, WriteGranularity::Bytes)
}

/// Writes the index, the header and the bytes after the index.
pub(super) fn publish(writer: &mut Writer, files: &Files, footer: &Footer) -> Result<()> {
    let write = match files.backend().file_ops() {
        Some(_) => Writer::write_unless_there,
        // A program's own backend is called for every section of every change.
        None => Writer::write,
    };
    if !footer.index.is_empty() {
        write(
            writer,
            footer.index_at,
            &footer.index,
            WriteGranularity::Bytes,
        )?;
    }
    write(writer, 0, &footer.header, WriteGranularity::Whole)?;
    write(
        writer,
        footer.rest_at(),
        &footer.rest,
        WriteGranularity::Bytes,
    )?;
    end_file(writer, files, footer.frame_len())
}

/// Truncates the file at the end of the frame. A program's own backend is called every time, even
/// if there is nothing to truncate.
pub(super) fn end_file(writer: &mut Writer, files: &Files, len: u64) -> Result<()> {
    writer.truncate(len, files.backend().file_ops().is_some())
}
