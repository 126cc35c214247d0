//! Changing a frame: its chunks, its index, and what is around them.
//!
//! A change is planned on the list of positions first; then the chunks are written, and then all that
//! follows the data section, in the order that readers without locks rely on: index, header, trailer.
//! A frame in memory gets its index and trailer when somebody looks at its bytes.

use super::description::Description;
use super::files::Files;
use super::frame::{Frame, Known, Place, build_header, empty_frame, kind_of};
use super::header::{self, Kind};
use super::index;
use super::memory::Memory;
use super::offsets::Offsets;
use super::plan::{Before, Plan};
use super::writer::Writer;
use crate::chunk::Special;
use crate::io::{Mode, Names, Portions};
use crate::{Buffer, Error, Result, trace_warning};
use std::path::Path;
use std::sync::Arc;

/// What a frame begins with.
const FRAME_MARK: &[u8] = b"\x9e\xa8b2frame\0";

/// What a frame keeps of a chunk.
#[derive(Clone, Copy, Debug)]
pub enum Stored<'a> {
    /// All is said by where the chunk is and by its one value.
    Special(Special),
    /// The chunk.
    Bytes(&'a [u8]),
}

/// What is done to the chunks of a frame.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// A chunk in front of the one of this number, or behind all.
    Insert(usize, Stored<'a>),
    /// A chunk in the place of another.
    Update(usize, Stored<'a>),
    /// One chunk fewer.
    Delete(usize),
    /// Each chunk becomes the one that had this number.
    Reorder(&'a [usize]),
    /// So many chunks that are all one value, in an empty frame.
    Fill(usize, Special),
}

/// How the index is written.
#[derive(Clone, Copy, Debug)]
pub enum IndexForm {
    /// Compressed into at most so many bytes.
    Encoded(usize),
    /// One position, over and over.
    Fill(Special),
}

/// What of a frame in memory is still to be written around its chunks.
pub(super) struct Unpublished {
    description: Description,
    form: IndexForm,
}

impl Frame {
    /// Changes the chunks, and then all that tells of them. Before that, chunks whose length their place
    /// won't tell any more are stored as the chunks in `physical`, which come with their numbers.
    ///
    /// Returns the bytes of the data section, or of all the chunks' files.
    ///
    /// # Errors
    /// [`Error::FileOpen`], [`Error::FileWrite`], [`Error::FileTruncate`], [`Error::FileRemove`],
    /// [`Error::MemoryAlloc`]; [`Error::InvalidParam`] for frames in an older layout, and when something
    /// that isn't the frame's would be overwritten; [`Error::Data`] when the metalayers don't fit the
    /// header. The frame is as before then.
    pub fn change(
        &mut self,
        change: Change<'_>,
        physical: &[(usize, Buffer)],
        mut description: Description,
    ) -> Result<i64> {
        self.check_writable()?;
        let old_len = self.old_len(change)?;
        let mut offsets = self.take_offsets()?;
        let appends = matches!(change, Change::Insert(at, _) if at == offsets.len());
        let before = match appends && physical.is_empty() && self.known_mut().pending.is_empty() {
            true => None,
            false => Some(offsets.clone()),
        };
        let pending = std::mem::take(&mut self.known_mut().pending);
        let counters = &description.counters;
        let has_no_data = counters.nbytes == 0 && counters.nchunks > 0;
        let sparse = self.is_sparse() && !has_no_data;
        let known = self.known_mut();
        let state = Before {
            cbytes: known.counters.cbytes,
            pending: &pending,
            max_id: known.max_id,
            old_len,
            sparse,
        };
        let done = Plan::new(change, physical, &mut offsets, &state).and_then(|plan| {
            description.counters.cbytes = plan.cbytes;
            match has_no_data {
                true => self.set_aside(&plan)?,
                false => self.carry_out(&plan, &offsets, &description)?,
            }
            Ok((plan.cbytes, plan.max_id))
        });
        let known = self.known_mut();
        match done {
            Ok((cbytes, max_id)) => {
                known.counters = description.counters;
                known.typesize = description.recorded.typesize;
                known.max_id = max_id;
                known.offsets = Some(Arc::new(Offsets::Each(offsets)));
                Ok(cbytes)
            }
            Err(error) => {
                match before {
                    Some(before) => offsets = before,
                    None => offsets.truncate(known.counters.nchunks.max(0) as usize),
                }
                known.offsets = Some(Arc::new(Offsets::Each(offsets)));
                known.pending = pending;
                known.encoded = 0;
                Err(error)
            }
        }
    }

    /// The offsets, with nobody else holding them.
    fn take_offsets(&mut self) -> Result<Vec<i64>> {
        let offsets = self.offsets()?;
        self.known_mut().offsets = None;
        match Arc::try_unwrap(offsets) {
            Ok(Offsets::Each(offsets)) => Ok(offsets),
            Ok(same) => same.to_vec(),
            Err(shared) => shared.to_vec(),
        }
    }

    /// Bytes of the stored chunk that a change does away with.
    fn old_len(&self, change: Change<'_>) -> Result<u64> {
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

    fn check_writable(&self) -> Result<()> {
        match self.legacy {
            true => Err(Error::InvalidParam),
            false => Ok(()),
        }
    }

    /// Keeps chunks without data in memory, as long as no chunk has any: a frame without data has no index.
    fn set_aside(&mut self, plan: &Plan<'_>) -> Result<()> {
        let mut pending = Vec::new();
        let len = plan.cbytes.max(0) as usize;
        pending.try_reserve_exact(len)?;
        pending.resize(len, 0);
        for &(position, chunk) in &plan.writes {
            let at = position as usize;
            pending[at..at + chunk.len()].copy_from_slice(chunk);
        }
        self.known_mut().pending = pending;
        Ok(())
    }

    fn carry_out(
        &mut self,
        plan: &Plan<'_>,
        offsets: &[i64],
        description: &Description,
    ) -> Result<()> {
        let known = self.known_mut();
        known.encoded = known.encoded.min(plan.unchanged);
        match &self.place {
            Place::Memory(_) => self.change_memory(plan, description),
            Place::Disk(files) => {
                let files = Arc::clone(files);
                match files.is_sparse() {
                    true => self.change_directory(&files, plan, offsets, description),
                    false => self.change_file(&files, plan, offsets, description),
                }
            }
        }
    }

    fn change_memory(&mut self, plan: &Plan<'_>, description: &Description) -> Result<()> {
        let known = self
            .known
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let Place::Memory(memory) = &mut self.place else {
            return Err(Error::InvalidParam);
        };
        let header = known.header_len as usize;
        let old_end = match known.counters.nbytes {
            ..=0 => header,
            _ => header + known.counters.cbytes.max(0) as usize,
        };
        let new_end = header + plan.cbytes.max(0) as usize;
        let bytes = memory.to_mut()?;
        bytes.reserve(new_end.saturating_sub(bytes.len()))?;
        // What follows the data is written when somebody wants to see it.
        bytes.resize(old_end.max(new_end))?;
        if let Some(shift) = plan.shift {
            let from = header + shift.from as usize;
            bytes.copy_within(from..from + shift.len as usize, header + shift.to as usize);
        }
        for &(position, chunk) in &plan.writes {
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

    /// Writes index, trailer and header of a frame in memory, if they are behind.
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
        let Unpublished { description, form } = unpublished;
        let mut header = build_header(description, Kind::Contiguous)?;
        let index = match &*offsets {
            Offsets::Each(offsets) => self.encode_index(offsets, *form, description)?,
            same => self.encode_index(&same.to_vec()?, *form, description)?,
        };
        let known = self
            .known
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let Place::Memory(memory) = &mut self.place else {
            return Err(Error::InvalidParam);
        };
        check_header_len(known, &header)?;
        let bytes = memory.to_mut()?;
        let data_end = header.len() + description.counters.cbytes.max(0) as usize;
        bytes.resize(data_end)?;
        bytes.reserve(index.len() + description.trailer.len())?;
        bytes.append(&index)?;
        bytes.append(&description.trailer)?;
        let len = bytes.len() as u64;
        header::set_frame_len(&mut header, len);
        bytes[..header.len()].copy_from_slice(&header);
        known.len = len;
        known.trailer_len = description.trailer.len() as u32;
        known.encoded = offsets.len();
        Ok(())
    }

    /// The index chunk; empty for a frame without data.
    fn encode_index(
        &mut self,
        offsets: &[i64],
        form: IndexForm,
        description: &Description,
    ) -> Result<Vec<u8>> {
        if description.counters.nbytes == 0 {
            return Ok(Vec::new());
        }
        let unchanged = self.known_mut().encoded;
        match form {
            IndexForm::Encoded(room) => {
                let encoder = match &mut self.encoder {
                    Some(encoder) => encoder,
                    none => none.insert(index::Encoder::new()?),
                };
                Ok(encoder.encode(offsets, unchanged, room)?.to_vec())
            }
            IndexForm::Fill(kind) => index::fill(offsets.len(), kind),
        }
    }

    fn change_file(
        &mut self,
        files: &Files,
        plan: &Plan<'_>,
        offsets: &[i64],
        description: &Description,
    ) -> Result<()> {
        let index = self.encode_index(offsets, plan.form, description)?;
        let header = build_header(description, Kind::Contiguous)?;
        let known = self.known_mut();
        check_header_len(known, &header)?;
        let header_len = u64::from(known.header_len);
        let data_end = header_len + known.counters.cbytes.max(0) as u64;
        let mut writer = open_writer(files, known)?;
        let result = (|| {
            if let Some((position, len)) = plan.replaced {
                writer.save(header_len + position, len)?;
            }
            if let Some(shift) = plan.shift {
                if shift.to > shift.from {
                    writer.save(data_end, shift.to - shift.from)?;
                }
                writer.shift(header_len + shift.from, header_len + shift.to, shift.len)?;
            }
            for &(position, chunk) in &plan.writes {
                writer.write(header_len + position, chunk, Portions::Bytes)?;
            }
            let index_at = header_len + plan.cbytes.max(0) as u64;
            publish(
                &mut writer,
                files,
                header,
                (index_at, &index),
                &description.trailer,
            )
        })();
        let len = finish(writer, result)?;
        self.published(len, description, offsets.len());
        Ok(())
    }

    fn change_directory(
        &mut self,
        files: &Files,
        plan: &Plan<'_>,
        offsets: &[i64],
        description: &Description,
    ) -> Result<()> {
        let index = self.encode_index(offsets, plan.form, description)?;
        let header = build_header(description, Kind::Sparse)?;
        let known = self.known_mut();
        check_header_len(known, &header)?;
        let header_len = u64::from(known.header_len);
        let mut chunks = ChunkFiles::new(files);
        let result = (|| {
            for &(id, chunk) in &plan.created {
                chunks.create(id, chunk)?;
            }
            if let Some((id, chunk)) = plan.rewritten {
                chunks.rewrite(id, chunk)?;
            }
            let mut writer = open_writer(files, known)?;
            let index = (header_len, &index[..]);
            let result = publish(&mut writer, files, header, index, &description.trailer);
            finish(writer, result)
        })();
        let len = match result {
            Ok(len) => len,
            Err(error) => {
                chunks.take_back();
                return Err(error);
            }
        };
        if let Some(id) = plan.dropped {
            chunks.drop_file(id);
        }
        self.published(len, description, offsets.len());
        Ok(())
    }

    fn published(&mut self, len: u64, description: &Description, encoded: usize) {
        let known = self.known_mut();
        known.len = len;
        known.trailer_len = description.trailer.len() as u32;
        known.encoded = encoded;
    }

    /// Writes the header anew, of the same length as it was: fixed metalayers have other contents.
    ///
    /// # Errors
    /// As [`Frame::change`].
    pub fn rewrite_header(&mut self, description: &Description) -> Result<()> {
        self.check_writable()?;
        self.flush()?;
        let kind = self.kind();
        let mut header = build_header(description, kind)?;
        let known = self
            .known
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        check_header_len(known, &header)?;
        header::set_frame_len(&mut header, known.len);
        match &mut self.place {
            Place::Memory(memory) => memory.to_mut()?[..header.len()].copy_from_slice(&header),
            Place::Disk(files) => {
                let mut writer = open_writer(files, known)?;
                let result = writer.write(0, &header, Portions::Whole);
                finish(writer, result)?;
            }
        }
        Ok(())
    }

    /// Writes a frame without chunks anew, with other metalayers.
    ///
    /// # Errors
    /// As [`Frame::change`].
    pub fn rewrite_empty(&mut self, description: &Description) -> Result<()> {
        self.check_writable()?;
        self.flush()?;
        let bytes = empty_frame(description, self.kind())?;
        let known = self
            .known
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match &mut self.place {
            Place::Memory(memory) => {
                let copy = Buffer::copy_of(&bytes)?;
                *memory.to_mut()? = copy;
            }
            Place::Disk(files) => {
                let mut writer = open_writer(files, known)?;
                let result = writer
                    .write(0, &bytes, Portions::Whole)
                    .and_then(|()| end_file(&mut writer, files, bytes.len() as u64));
                finish(writer, result)?;
            }
        }
        known.len = bytes.len() as u64;
        known.trailer_len = description.trailer.len() as u32;
        known.header_len = (bytes.len() - description.trailer.len()) as u32;
        known.counters = description.counters;
        Ok(())
    }

    /// Writes the trailer anew: the variable-length metalayers are others.
    ///
    /// # Errors
    /// As [`Frame::change`].
    pub fn rewrite_trailer(&mut self, description: &Description) -> Result<()> {
        self.check_writable()?;
        self.flush()?;
        let mut header = build_header(description, self.kind())?;
        let known = self
            .known
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        check_header_len(known, &header)?;
        let trailer = &description.trailer;
        let position = known.trailer_position();
        let len = position + trailer.len() as u64;
        header::set_frame_len(&mut header, len);
        match &mut self.place {
            Place::Memory(memory) => {
                let bytes = memory.to_mut()?;
                bytes.reserve(trailer.len())?;
                bytes.resize(position as usize)?;
                bytes.append(trailer)?;
                bytes[..header.len()].copy_from_slice(&header);
            }
            Place::Disk(files) => {
                let mut writer = open_writer(files, known)?;
                let result = (|| {
                    writer.write(0, &header, Portions::Whole)?;
                    writer.write(position, trailer, Portions::Bytes)?;
                    end_file(&mut writer, files, len)
                })();
                finish(writer, result)?;
            }
        }
        known.len = len;
        known.trailer_len = trailer.len() as u32;
        Ok(())
    }

    fn kind(&self) -> Kind {
        match &self.place {
            Place::Memory(_) => Kind::Contiguous,
            Place::Disk(files) => kind_of(files),
        }
    }

    /// The bytes of a frame in memory; none of one in files.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn memory(&mut self) -> Result<Option<&mut Memory>> {
        self.flush()?;
        match &mut self.place {
            Place::Memory(memory) => Ok(Some(memory)),
            Place::Disk(_) => Ok(None),
        }
    }
}

/// The header of a frame keeps its length while there are chunks behind it.
fn check_header_len(known: &Known, header: &[u8]) -> Result<()> {
    match header.len() == known.header_len as usize {
        true => Ok(()),
        false => Err(Error::Data),
    }
}

/// Opens a frame's file to change it, unless something lies behind the frame that isn't the frame's.
fn open_writer(files: &Files, known: &Known) -> Result<Writer> {
    let writer = Writer::new(files.open_for_update()?, files.start(), known.len)?;
    if writer.trailing() > 0 {
        let mut mark = [0; FRAME_MARK.len()];
        let mut is_frame = || writer.read(known.len, &mut mark).is_ok() && mark == FRAME_MARK;
        if files.start() > 0 || is_frame() {
            return Err(Error::InvalidParam);
        }
    }
    Ok(writer)
}

/// Writes what follows the chunks; gives the length of the frame.
fn publish(
    writer: &mut Writer,
    files: &Files,
    mut header: Vec<u8>,
    (index_at, index): (u64, &[u8]),
    trailer: &[u8],
) -> Result<u64> {
    let trailer_at = match index.is_empty() {
        true => header.len() as u64,
        false => index_at + index.len() as u64,
    };
    let len = trailer_at + trailer.len() as u64;
    header::set_frame_len(&mut header, len);
    if !index.is_empty() {
        writer.write(index_at, index, Portions::Bytes)?;
    }
    writer.write(0, &header, Portions::Whole)?;
    writer.write(trailer_at, trailer, Portions::Bytes)?;
    end_file(writer, files, len)?;
    Ok(len)
}

/// Cuts the file behind the frame. User's backends are told each time, whether there is something to cut or
/// not.
fn end_file(writer: &mut Writer, files: &Files, len: u64) -> Result<()> {
    writer.truncate(len, files.backend().names().is_some())
}

/// Ends a change of a file, or takes it back.
fn finish<T>(writer: Writer, result: Result<T>) -> Result<T> {
    match result {
        Ok(value) => writer.finish(Ok(())).map(|()| value),
        Err(error) => writer.finish(Err(error)).and(Err(error)),
    }
}

/// The chunks' files of a sparse frame while it is changed.
struct ChunkFiles<'a> {
    files: &'a Files,
    created: Vec<u32>,
    rewritten: Option<(u32, Buffer)>,
}

impl<'a> ChunkFiles<'a> {
    fn new(files: &'a Files) -> ChunkFiles<'a> {
        ChunkFiles {
            files,
            created: Vec::new(),
            rewritten: None,
        }
    }

    fn create(&mut self, id: u32, chunk: &[u8]) -> Result<()> {
        self.created.push(id);
        self.files
            .write_chunk_file(&self.files.chunk_path(id), chunk)
    }

    /// Gives a file another content: at once, where files can be renamed.
    fn rewrite(&mut self, id: u32, chunk: &[u8]) -> Result<()> {
        self.rewritten = Some((id, self.files.read_chunk_file(id)?));
        self.overwrite(id, chunk)
    }

    fn overwrite(&self, id: u32, chunk: &[u8]) -> Result<()> {
        let path = self.files.chunk_path(id);
        let Some(names) = self.files.backend().names() else {
            return self.files.write_chunk_file(&path, chunk);
        };
        let temporary = path.with_extension("chunk.tmp");
        let result = self
            .files
            .write_chunk_file(&temporary, chunk)
            .and_then(|()| names.rename(&temporary, &path));
        if result.is_err() {
            remove(names, &temporary);
        }
        result
    }

    /// Does away with the file of a chunk that nothing refers to any more. Where files can't be removed it
    /// is emptied.
    fn drop_file(&self, id: u32) {
        let path = self.files.chunk_path(id);
        match self.files.backend().names() {
            Some(names) => remove(names, &path),
            None => {
                let emptied = self.files.backend().open(&path, Mode::Create);
                let emptied = emptied.and_then(|stream| stream.truncate(0).and(stream.close()));
                if let Err(error) = emptied {
                    trace_warning!("the file {} can't be emptied: {error}", path.display());
                }
            }
        }
    }

    /// Puts back what there was, as far as that is possible.
    fn take_back(&self) {
        for &id in &self.created {
            self.drop_file(id);
        }
        if let Some((id, chunk)) = &self.rewritten
            && let Err(error) = self.overwrite(*id, chunk)
        {
            trace_warning!("the old chunk {id} can't be written back: {error}");
        }
    }
}

/// Removes a file that nothing refers to; if it can't be, it only takes room.
fn remove(names: &dyn Names, path: &Path) {
    if let Err(error) = names.remove(path) {
        trace_warning!("the file {} can't be removed: {error}", path.display());
    }
}
