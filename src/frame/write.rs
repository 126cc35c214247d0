//! Changes of a frame: its chunks, its index, and the bytes around them.
//!
//! A change is first planned on the list of offsets; then the chunks are written, and then
//! everything after the data section. `file.rs` and `directory.rs` apply changes to files. The
//! index and trailer of a frame in memory are written on the next access to its bytes.

use super::description::Description;
use super::file::{change_in_place, end_file};
use super::files::Files;
use super::footer::{Footer, check_header_len};
use super::frame::{Frame, Location, build_header, empty_frame, kind_of};
use super::header::{self, Kind};
use super::index;
use super::memory::Memory;
use super::offsets::Offsets;
use super::plan::{Before, Plan};
use crate::chunk::Special;
use crate::io::WriteGranularity;
use crate::{Buffer, Error, Result};
use std::sync::Arc;

/// The stored form of a chunk.
#[derive(Clone, Copy, Debug)]
pub enum Stored<'a> {
    /// A chunk of one repeated value, whose size follows from its number.
    Special(Special),
    /// The bytes of a chunk.
    Bytes(&'a [u8]),
}

/// A change of the chunks of a frame.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// Inserts a chunk before the chunk with this number, or appends it if there is none.
    Insert(usize, Stored<'a>),
    /// Replaces a chunk.
    Update(usize, Stored<'a>),
    /// Deletes a chunk.
    Delete(usize),
    /// Reorders the chunks: new chunk `i` is the old chunk with the number in entry `i`.
    Reorder(&'a [usize]),
    /// Fills an empty frame with this many chunks of one repeated value.
    Fill(usize, Special),
}

/// Encoding of the index.
#[derive(Clone, Copy, Debug)]
pub enum IndexForm {
    /// Compressed into at most this many bytes.
    Encoded(usize),
    /// One repeated offset.
    Fill(Special),
}

/// Bytes around the chunks of a frame in memory that are not written yet.
#[derive(Clone)]
pub(super) struct Unpublished {
    pub description: Description,
    pub form: IndexForm,
}

impl Frame {
    /// Changes the chunks and then the index, trailer and header. Before that, the chunks in
    /// `materialized`, given with their numbers, are stored as bytes, because after the change
    /// their length does not follow from their number.
    ///
    /// Returns the size in bytes of the data section, or of all chunk files.
    ///
    /// # Errors
    /// [`Error::FileOpen`], [`Error::FileWrite`], [`Error::FileTruncate`], [`Error::FileRemove`],
    /// [`Error::MemoryAlloc`]; [`Error::InvalidParam`] for frames of an older layout, and when
    /// bytes outside the frame would be overwritten; [`Error::Data`] when the metalayers do not fit
    /// the header. On an error the frame is unchanged.
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
        let old_len = self.old_len(change)?;
        let checksums = self.sums_after(change, materialized)?;
        let mut offsets = self.take_offsets()?;
        let appends = matches!(change, Change::Insert(at, _) if at == offsets.len());
        let before = if appends && materialized.is_empty() && self.cached_mut().pending.is_empty() {
            None
        } else {
            Some(offsets.clone())
        };
        let pending = std::mem::take(&mut self.cached_mut().pending);
        let sparse = self.is_sparse();
        let keeps = self.keeps_old_state();
        let shadow_data_len = (keeps && !sparse).then(|| self.shadow_data_len());
        let (space, reserved) = (self.space(), self.reserved());
        let cached = self.cached_mut();
        let state = Before {
            space,
            reserved,
            cbytes: shadow_data_len.unwrap_or(cached.counters.cbytes),
            pending: &pending,
            max_id: cached.max_id,
            old_len,
            sparse,
            keeps,
        };
        let done = Plan::new(change, materialized, &mut offsets, &state).and_then(|plan| {
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
                if checksums.is_some() {
                    cached.is_fingerprinted = true;
                }
                cached.checksums = Some(checksums.map(Arc::new));
                Ok(self.compact_if_worthwhile(cbytes))
            }
            Err(error) => {
                match before {
                    Some(before) => offsets = before,
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

    /// Returns the size in bytes of the stored chunk that a change removes.
    pub(super) fn old_len(&self, change: Change<'_>) -> Result<u64> {
        let (Change::Update(at, _) | Change::Delete(at)) = change else {
            return Ok(0);
        };
        match self.offsets()?.get(at) {
            Some(0..) => self.with_front(at, |front| {
                Ok(crate::chunk::BasicHeader::parse(front)?.cbytes.max(0) as u64)
            }),
            Some(_) => Ok(0),
            None => Err(Error::InvalidParam),
        }
    }

    /// Prepares a change; rolls an interrupted one back first.
    pub(super) fn prepare_change(&mut self) -> Result<()> {
        if self.legacy {
            return Err(Error::InvalidParam);
        }
        self.check_transaction()?;
        self.check_not_doomed()?;
        // The journal belongs to the open transaction of this handle.
        if self.cached_mut().is_journaled {
            return Ok(());
        }
        self.files().map_or(Ok(()), |files| files.recover())
    }

    pub(super) fn apply(
        &mut self,
        plan: &Plan<'_>,
        offsets: &[i64],
        description: &Description,
        checksums: Option<&[u64]>,
    ) -> Result<()> {
        let cached = self.cached_mut();
        cached.encoded = cached.encoded.min(plan.unchanged);
        let files = match &self.location {
            Location::Memory(_) => return self.change_memory(plan, description),
            Location::Disk(files) => Arc::clone(files),
        };
        if self.defers_changes() {
            return self.change_later(plan, description);
        }
        let footer = self.footer(description, offsets, plan.form, checksums)?;
        if files.is_sparse() {
            self.change_directory(&files, plan, &footer)?
        } else {
            self.change_file(&files, plan, &footer)?
        }
        let is_in_place = !self.keeps_old_state();
        let cached = self.cached_mut();
        cached.encoded = offsets.len();
        cached.footer = is_in_place.then(|| Arc::new(footer));
        Ok(())
    }

    fn change_memory(&mut self, plan: &Plan<'_>, description: &Description) -> Result<()> {
        let cached = self
            .cached
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let Location::Memory(memory) = &mut self.location else {
            return Err(Error::InvalidParam);
        };
        let header = cached.header_len as usize;
        let old_end = match cached.counters.nbytes {
            ..=0 => header,
            _ => header + cached.counters.cbytes.max(0) as usize,
        };
        let new_end = header + plan.cbytes.max(0) as usize;
        let bytes = memory.to_mut()?;
        bytes.reserve(new_end.saturating_sub(bytes.len()))?;
        // The bytes after the data are written on the next access to them.
        bytes.resize(old_end.max(new_end))?;
        if let Some(shift) = plan.shift {
            let from = header + shift.from as usize;
            bytes.copy_within(from..from + shift.len as usize, header + shift.to as usize);
        }
        let replaced = (plan.replaced.iter()).map(|replaced| (replaced.position, replaced.chunk));
        for (position, chunk) in replaced.chain(plan.writes.iter().copied()) {
            let at = header + position as usize;
            bytes[at..at + chunk.len()].copy_from_slice(chunk);
        }
        bytes.resize(new_end)?;
        self.unpublished = Some(Unpublished {
            description: description.clone(),
            form: plan.form,
        });
        Ok(())
    }

    /// Writes index, trailer and header of a frame in memory, if they are outdated.
    pub(super) fn flush(&mut self) -> Result<()> {
        let Some(unpublished) = self.unpublished.take() else {
            return Ok(());
        };
        let result = self.publish_in_memory(&unpublished);
        if result.is_err() {
            self.unpublished = Some(unpublished);
        }
        result
    }

    fn publish_in_memory(&mut self, unpublished: &Unpublished) -> Result<()> {
        let offsets = self.offsets()?;
        let checksums = self.sums_to_write()?;
        let Unpublished { description, form } = unpublished;
        let footer = self.footer(
            description,
            &offsets.as_slice()?,
            *form,
            checksums.as_deref(),
        )?;
        let cached = self
            .cached
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let Location::Memory(memory) = &mut self.location else {
            return Err(Error::InvalidParam);
        };
        let bytes = memory.to_mut()?;
        let data_end = if footer.index.is_empty() {
            footer.header.len()
        } else {
            footer.index_at as usize
        };
        bytes.resize(data_end)?;
        bytes.reserve(footer.index.len() + footer.rest.len())?;
        bytes.append(&footer.index)?;
        bytes.append(&footer.rest)?;
        bytes[..footer.header.len()].copy_from_slice(&footer.header);
        cached.written(&footer);
        cached.encoded = offsets.len();
        Ok(())
    }

    /// Defers writing the bytes around the chunks of a frame in memory until the next access to
    /// them.
    fn publish_later(&mut self, description: &Description) -> Result<()> {
        let header = build_header(description, Kind::Contiguous)?;
        let capacity = index::capacity(self.offsets()?.len());
        let cached = self.cached_mut();
        check_header_len(cached, &header)?;
        self.unpublished = Some(Unpublished {
            description: description.clone(),
            form: IndexForm::Encoded(capacity),
        });
        Ok(())
    }

    /// Rewrites the header, which keeps its length, after a change of the contents of fixed
    /// metalayers.
    ///
    /// # Errors
    /// As [`Frame::change`].
    pub fn rewrite_header(&mut self, description: &Description) -> Result<()> {
        self.prepare_change()?;
        self.flush()?;
        if self.defers_changes() {
            let header = build_header(description, self.kind())?;
            check_header_len(self.cached_mut(), &header)?;
            self.describe_later(description, None);
            return Ok(());
        }
        let is_fingerprinted = self.has_fingerprint();
        let Location::Disk(files) = &self.location else {
            if is_fingerprinted {
                return self.publish_later(description);
            }
            return self.rewrite_header_in_memory(description);
        };
        let files = Arc::clone(files);
        if is_fingerprinted || files.is_sparse() && files.is_durable() {
            let footer = self.footer_around_index(description)?;
            return self.rewrite_around_index(&files, footer);
        }
        let header = self.header_of_same_len(description)?;
        let cached = self.cached_mut();
        let old = cached.footer.clone();
        change_in_place(&files, cached, |writer| {
            writer.write(0, &header, WriteGranularity::Whole)
        })?;
        if let Some(old) = old {
            let rest = Arc::clone(&old.rest);
            self.remember_footer(Some(old), header, rest);
        }
        Ok(())
    }

    /// Reads the stored index of a frame in files; empty in a frame without data.
    fn read_index(&self) -> Result<Vec<u8>> {
        let cached = self.cached();
        if cached.counters.nbytes <= 0 {
            return Ok(Vec::new());
        }
        let files = self.files().ok_or(Error::InvalidParam)?;
        let start = cached.index_position(self.is_sparse());
        let len = cached.trailer_position().checked_sub(start);
        let len = len.and_then(|len| usize::try_from(len).ok());
        files
            .latest()?
            .read_vec(start, len.ok_or(Error::InvalidHeader)?)
    }

    /// Caches the footer of a frame without checksums after its header or trailer was rewritten, so
    /// that the next change does not read it back. `old` is the previous footer, if it was cached.
    fn remember_footer(
        &mut self,
        old: Option<Arc<Footer>>,
        header: Vec<u8>,
        trailer: Arc<Vec<u8>>,
    ) {
        let sparse = self.is_sparse();
        let index = match old {
            Some(old) => Arc::try_unwrap(old).map_or_else(|old| old.index.clone(), |old| old.index),
            None => match self.read_index() {
                Ok(index) => index,
                Err(_) => return,
            },
        };
        let cached = self.cached_mut();
        let footer = Footer {
            header,
            index_at: cached.index_position(sparse),
            index,
            trailer_len: trailer.len() as u32,
            rest: trailer,
        };
        cached.footer = (footer.frame_len() == cached.len).then(|| Arc::new(footer));
    }

    fn rewrite_header_in_memory(&mut self, description: &Description) -> Result<()> {
        let header = self.header_of_same_len(description)?;
        if let Location::Memory(memory) = &mut self.location {
            memory.to_mut()?[..header.len()].copy_from_slice(&header);
        }
        Ok(())
    }

    /// Builds a header of the same length as the current one.
    fn header_of_same_len(&mut self, description: &Description) -> Result<Vec<u8>> {
        let mut header = build_header(description, self.kind())?;
        let cached = self.cached_mut();
        check_header_len(cached, &header)?;
        header::set_frame_len(&mut header, cached.len);
        Ok(header)
    }

    /// Rewrites a frame without chunks, with other metalayers.
    ///
    /// # Errors
    /// As [`Frame::change`].
    pub fn rewrite_empty(&mut self, description: &Description) -> Result<()> {
        self.prepare_change()?;
        self.flush()?;
        let footer = empty_frame(description, self.kind(), self.has_fingerprint())?;
        let bytes = footer.to_bytes()?;
        if self.defers_changes() {
            self.replace_header_later(footer.header.len(), description);
            return Ok(());
        }
        match &mut self.location {
            Location::Memory(memory) => {
                let copy = Buffer::copy_of(&bytes)?;
                *memory.to_mut()? = copy;
            }
            Location::Disk(files) => {
                let files = Arc::clone(files);
                if files.is_replaceable() {
                    self.replace_file(&files, &bytes)?
                } else {
                    change_in_place(&files, self.cached_mut(), |writer| {
                        writer.write(0, &bytes, WriteGranularity::Whole)?;
                        end_file(writer, &files, bytes.len() as u64)
                    })?
                }
            }
        }
        let is_in_place = !self.keeps_old_state();
        let cached = self.cached_mut();
        cached.written(&footer);
        cached.header_len = footer.header.len() as u32;
        cached.counters = description.counters;
        cached.footer = is_in_place.then(|| Arc::new(footer));
        Ok(())
    }

    /// Rewrites the trailer after a change of variable-length metalayers. Returns the size in bytes
    /// of the data section, or of all chunk files.
    ///
    /// # Errors
    /// As [`Frame::change`].
    pub fn rewrite_trailer(&mut self, mut description: Description) -> Result<i64> {
        self.prepare_change()?;
        self.flush()?;
        let is_fingerprinted = self.has_fingerprint();
        if self.is_memory() {
            if is_fingerprinted {
                self.publish_later(&description)?
            } else {
                self.rewrite_trailer_in_memory(&description)?
            }
            return Ok(description.counters.cbytes);
        }
        if self.defers_changes() {
            self.describe_later(&description, None);
            return Ok(description.counters.cbytes);
        }
        let files = Arc::clone(self.files().ok_or(Error::InvalidParam)?);
        if self.has_shadows() && description.counters.nbytes > 0 {
            let offsets = self.offsets()?;
            let checksums = self.sums_to_write()?;
            description.counters.cbytes = self.shadow_data_len();
            let form = IndexForm::Encoded(index::capacity(offsets.len()));
            let footer = self.footer(
                &description,
                &offsets.as_slice()?,
                form,
                checksums.as_deref(),
            )?;
            self.shadow(&files, &[], &footer)?;
            let cached = self.cached_mut();
            cached.counters.cbytes = description.counters.cbytes;
            cached.encoded = offsets.len();
            return Ok(self.compact_if_worthwhile(description.counters.cbytes));
        }
        if is_fingerprinted || files.is_durable() {
            let footer = self.footer_around_index(&description)?;
            self.rewrite_around_index(&files, footer)?;
            return Ok(description.counters.cbytes);
        }
        let (header, position) = self.header_before_trailer(&description)?;
        let trailer = description.trailer;
        let len = position + trailer.len() as u64;
        let old = self.cached_mut().footer.clone();
        let cached = self.cached_mut();
        change_in_place(&files, cached, |writer| {
            writer.write(0, &header, WriteGranularity::Whole)?;
            writer.write(position, &trailer, WriteGranularity::Bytes)?;
            end_file(writer, &files, len)
        })?;
        cached.len = len;
        cached.trailer_len = trailer.len() as u32;
        self.remember_footer(old, header, trailer);
        Ok(description.counters.cbytes)
    }

    /// Returns the header for a frame with another trailer, and the position of that trailer.
    fn header_before_trailer(&mut self, description: &Description) -> Result<(Vec<u8>, u64)> {
        let mut header = self.header_of_same_len(description)?;
        let position = self.cached_mut().trailer_position();
        header::set_frame_len(&mut header, position + description.trailer.len() as u64);
        Ok((header, position))
    }

    fn rewrite_trailer_in_memory(&mut self, description: &Description) -> Result<()> {
        let (header, position) = self.header_before_trailer(description)?;
        let trailer = &description.trailer;
        if let Location::Memory(memory) = &mut self.location {
            let bytes = memory.to_mut()?;
            bytes.reserve(trailer.len())?;
            bytes.resize(position as usize)?;
            bytes.append(trailer)?;
            bytes[..header.len()].copy_from_slice(&header);
        }
        let cached = self.cached_mut();
        cached.len = position + trailer.len() as u64;
        cached.trailer_len = trailer.len() as u32;
        Ok(())
    }

    /// Builds the bytes around the current chunks and index.
    fn footer_around_index(&mut self, description: &Description) -> Result<Footer> {
        let header = build_header(description, self.kind())?;
        let checksums = self.sums_to_write()?;
        let sparse = self.is_sparse();
        let cached = self.cached();
        check_header_len(&cached, &header)?;
        let index = self.back(&cached)?.index().to_vec();
        let index_at = cached.index_position(sparse);
        Footer::new(
            header,
            index_at,
            index,
            &description.trailer,
            checksums.as_deref(),
        )
    }

    /// Rewrites a file except for chunks and index.
    fn rewrite_around_index(&mut self, files: &Files, footer: Footer) -> Result<()> {
        let has_chunks = !footer.index.is_empty() && !files.is_sparse();
        if files.is_replaceable() && !has_chunks {
            self.replace_file(files, &footer.to_bytes()?)?;
        } else {
            change_in_place(files, self.cached_mut(), |writer| {
                writer.write(0, &footer.header, WriteGranularity::Whole)?;
                writer.write(footer.rest_at(), &footer.rest, WriteGranularity::Bytes)?;
                end_file(writer, files, footer.frame_len())
            })?;
        }
        let is_in_place = !self.keeps_old_state();
        let cached = self.cached_mut();
        cached.written(&footer);
        cached.footer = is_in_place.then(|| Arc::new(footer));
        Ok(())
    }

    pub(super) fn kind(&self) -> Kind {
        match &self.location {
            Location::Memory(_) => Kind::Contiguous,
            Location::Disk(files) => kind_of(files),
        }
    }

    /// Returns the bytes of a frame in memory; `None` for one in files.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn memory(&mut self) -> Result<Option<&mut Memory>> {
        self.flush()?;
        match &mut self.location {
            Location::Memory(memory) => Ok(Some(memory)),
            Location::Disk(_) => Ok(None),
        }
    }
}
