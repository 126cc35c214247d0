//! Applying a planned change: to the bytes of a frame in memory, to its file, to the files of its
//! directory, or to those of an open transaction.
//!
//! A change of the chunks of a durable file is written after the end of the frame
//! (`store/shadow.rs`). Other files are changed in place (`store/writer.rs`); so is a durable frame
//! that does not begin at offset 0 of its file, because bytes after its end could belong to other
//! data. `rewrite.rs` changes headers and trailers.

use super::plan::Plan;
use crate::chunk::MAX_OVERHEAD;
use crate::frame::format::{Description, FIXED_LEN, Footer, header, trailer};
use crate::frame::store::{
    ChunkFiles, CommitError, Files, Frame, Rewritten, Shadow, change_in_place,
    change_in_place_and_then, check_bytes_after,
};
use crate::io::WriteGranularity;
use crate::{Error, Result, kernels};
use std::sync::Arc;

impl Frame {
    /// Applies a planned change of the chunks, after which they have these offsets and checksums.
    pub(super) fn apply(
        &mut self,
        plan: &Plan<'_>,
        offsets: &[i64],
        description: &Description,
        checksums: Option<&[u64]>,
    ) -> Result<()> {
        let cached = self.cached_mut();
        cached.encoded = cached.encoded.min(plan.unchanged);
        let Some(files) = self.files().map(Arc::clone) else {
            return self.change_memory(plan, description);
        };
        if self.deferring().is_some() {
            return self.change_later(plan, description);
        }
        let footer = self.footer(description, offsets, plan.form, checksums)?;
        if files.is_sparse() {
            self.change_directory(&files, plan, &footer)?;
        } else {
            self.change_file(&files, plan, &footer)?;
        }
        self.remember_footer(footer);
        self.cached_mut().encoded = offsets.len();
        Ok(())
    }

    /// Updates the cached state after the header and the footer were written.
    pub(super) fn remember_footer(&mut self, footer: Footer) {
        let is_in_place = !self.keeps_old_state();
        let cached = self.cached_mut();
        cached.written(&footer);
        cached.footer = is_in_place.then(|| Arc::new(footer));
    }

    /// Changes the chunks of a frame in memory. The bytes after them are written on the next access
    /// to them.
    fn change_memory(&mut self, plan: &Plan<'_>, description: &Description) -> Result<()> {
        let Some((memory, cached)) = self.memory_and_cached() else {
            return Err(Error::InvalidParam);
        };
        let header = cached.header_len as usize;
        let old_end = match cached.counters.nbytes {
            ..=0 => header,
            _ => header + cached.data_len() as usize,
        };
        let new_end = usize::try_from(plan.cbytes.max(0)).ok();
        let new_end = new_end.and_then(|len| header.checked_add(len)).ok_or(Error::MemoryAlloc)?;
        let bytes = memory.to_mut()?;
        // Also for the bytes after the chunks: those that the frame has, or a trailer, and an index
        // with the new offsets.
        let rest = bytes.len().saturating_sub(old_end).max(trailer::EMPTY_LEN);
        let rest = rest + 8 * plan.writes.len() + 2 * MAX_OVERHEAD;
        bytes.reserve(new_end.saturating_add(rest).saturating_sub(bytes.len()))?;
        if let Some(shift) = plan.shift {
            bytes.resize(old_end.max(new_end))?;
            let from = header + shift.from as usize;
            bytes.copy_within(from..from + shift.len as usize, header + shift.to as usize);
        }
        let mut end = old_end;
        let replaced = (plan.replaced.iter()).map(|replaced| (replaced.position, replaced.chunk));
        for (position, chunk) in replaced.chain(plan.writes.iter().copied()) {
            let at = header + position as usize;
            let chunk_end = at + chunk.len();
            if at >= end {
                // Replaces the bytes after the chunks, and needs no zeros in its place.
                bytes.resize(at)?;
                bytes.append(chunk)?;
                end = chunk_end;
            } else {
                bytes.resize(bytes.len().max(chunk_end))?;
                kernels::copy::copy(chunk, &mut bytes[at..chunk_end]);
                end = end.max(chunk_end);
            }
        }
        bytes.resize(new_end)?;
        self.publish_later(description, Some(plan.form));
        Ok(())
    }

    /// Writes the chunks of a change in a transaction. The commit writes the bytes around them.
    fn change_later(&mut self, plan: &Plan<'_>, description: &Description) -> Result<()> {
        let header = header::build(description, self.kind())?;
        self.cached_mut().check_header_len(&header)?;
        let open = self.transaction.as_deref_mut().ok_or(Error::Failure)?;
        if open.files.is_sparse() {
            open.write_chunk_files(&plan.created, &plan.dropped)?;
        } else {
            open.write_chunks(header.len() as u64, &plan.writes, plan.space.as_ref())?;
        }
        self.publish_later(description, Some(plan.form));
        Ok(())
    }

    fn change_file(&mut self, files: &Files, plan: &Plan<'_>, footer: &Footer) -> Result<()> {
        if self.has_shadows() {
            // In a frame without data, readers expect the trailer directly after the header.
            return if footer.index.is_empty() {
                Ok(self.replace_file(files, footer)?)
            } else {
                self.shadow(files, &plan.writes, footer)
            };
        }
        let cached = self.cached_mut();
        let header_len = u64::from(cached.header_len);
        let data_end = header_len + cached.data_len();
        change_in_place(files, cached, |writer| {
            if let Some(replaced) = &plan.replaced {
                writer.replace_chunk(replaced, plan.shift, (header_len, data_end))?;
            }
            for &(position, chunk) in &plan.writes {
                writer.write(header_len + position, chunk, WriteGranularity::Bytes)?;
            }
            writer.write_footer(footer)
        })
    }

    fn change_directory(&mut self, files: &Files, plan: &Plan<'_>, footer: &Footer) -> Result<()> {
        let mut chunks = ChunkFiles::new(files);
        let changed = self.write_directory(&mut chunks, files, plan, footer);
        if let Err(error) = changed {
            // If the state is stale, the index in the file may refer to the new files.
            if !self.cached_mut().stale {
                chunks.roll_back();
            }
            return Err(error);
        }
        plan.dropped.iter().for_each(|&id| chunks.drop_file(id));
        Ok(())
    }

    /// Writes chunk files, and then the index.
    fn write_directory(
        &mut self,
        chunks: &mut ChunkFiles<'_>,
        files: &Files,
        plan: &Plan<'_>,
        footer: &Footer,
    ) -> Result<()> {
        let is_replaced = files.is_replaceable();
        if is_replaced {
            files.check_there()?;
        }
        for &(id, chunk) in &plan.created {
            chunks.create(id, chunk)?;
        }
        if is_replaced {
            if !plan.created.is_empty() {
                files.sync_entry_at(files.path())?;
            }
            return self.replace_file(files, footer).map_err(|failed| {
                if failed.in_doubt {
                    // After a crash either index may be found, so the files of both stay.
                    chunks.created.clear();
                }
                failed.error
            });
        }
        let rewritten = match plan.rewritten {
            Some((id, chunk)) => chunks.rewrite(id, chunk)?,
            None => None,
        };
        change_in_place_and_then(
            files,
            self.cached_mut(),
            |writer| writer.write_footer(footer),
            || rewritten.map_or(Ok(()), Rewritten::commit),
        )
    }

    /// Writes a change of a durable file after the end of the frame: chunks with their offsets in
    /// the data section, and the bytes around them.
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

    /// Replaces the file of a frame without data, or the index of a sparse one, by another file.
    pub(super) fn replace_file(
        &mut self,
        files: &Files,
        footer: &Footer,
    ) -> std::result::Result<(), CommitError> {
        files.check_there().map_err(CommitError::undone)?;
        let bytes = footer.to_bytes().map_err(CommitError::undone)?;
        files.replace_with(&bytes).inspect_err(|failed| {
            self.cached_mut().stale |= failed.in_doubt;
        })
    }
}
