//! The frame itself: where it is, what was last seen of it, and how that is brought up to date.
//!
//! Of a frame in files somebody else may be the writer. Each access therefore looks at the fixed part of the
//! header first; when the length it tells is another one than last time, everything is read anew.

use super::description::{Counters, Description, Loaded};
use super::files::{Files, FrameReader};
use super::header::{FrameHeader, Kind};
use super::memory::Memory;
use super::offsets::Offsets;
use super::write::Unpublished;
use super::{header, index, legacy, metalayers, trailer};
use crate::chunk::{ChunkHeader, Decompressor};
use crate::io::lock::{Held, Kind as LockKind, Lock};
use crate::io::{Mode, Portions};
use crate::{Buffer, Error, Result};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often the opening of a frame that somebody is writing to is tried.
const OPEN_ATTEMPTS: usize = 50;
/// The time between attempts.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(1);

/// A super-chunk as one buffer, one file or one directory.
pub struct Frame {
    pub(super) place: Place,
    pub(super) lock: Option<Arc<Lock>>,
    pub(super) known: Mutex<Known>,
    pub(super) encoder: Option<index::Encoder>,
    /// What a frame in memory still has to write around its chunks.
    pub(super) unpublished: Option<Unpublished>,
    /// Whether the frame is in one of the older layouts, which are only read.
    pub(super) legacy: bool,
}

/// Where a frame is.
pub(super) enum Place {
    Memory(Memory),
    Disk(Arc<Files>),
}

/// What was last seen of a frame.
pub(super) struct Known {
    /// Bytes of the frame.
    pub len: u64,
    pub header_len: u32,
    pub trailer_len: u32,
    pub counters: Counters,
    /// Bytes of an item, as the header says.
    pub typesize: i32,
    /// The positions of the chunks, once they were needed.
    pub offsets: Option<Arc<Offsets>>,
    /// Leading offsets that are as they were when the encoder last saw them.
    pub encoded: usize,
    /// The largest number of a chunk's file, once it was needed.
    pub max_id: Option<i64>,
    /// Chunks without data in front of any data, which have no place in a frame yet.
    pub pending: Vec<u8>,
    /// Bytes in front of the blocks of the chunk that was last read lazily: a guess for the next one.
    pub front_len: usize,
    /// Whether to read all anew whatever the length is.
    pub stale: bool,
}

impl Known {
    fn of(header: &FrameHeader, trailer_len: u32) -> Known {
        Known {
            len: header.frame_len,
            header_len: header.header_len,
            trailer_len,
            counters: header.counters,
            typesize: header.recorded.typesize,
            offsets: None,
            encoded: 0,
            max_id: None,
            pending: Vec::new(),
            front_len: 0,
            stale: false,
        }
    }

    /// Where the index begins.
    pub fn index_position(&self, sparse: bool) -> u64 {
        let data = match sparse {
            true => 0,
            false => self.counters.cbytes.max(0) as u64,
        };
        u64::from(self.header_len) + data
    }

    /// Where the trailer begins.
    pub fn trailer_position(&self) -> u64 {
        match self.counters.nbytes > 0 {
            true => self.len - u64::from(self.trailer_len),
            false => u64::from(self.header_len),
        }
    }
}

/// The whole of a frame, but for its chunks.
struct Read {
    known: Known,
    loaded: Loaded,
}

impl Frame {
    /// Writes an empty frame in memory.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`], and those of what can't be described.
    pub fn create_in_memory(description: &Description) -> Result<Frame> {
        let bytes = empty_frame(description, Kind::Contiguous)?;
        let header = FrameHeader::parse(&bytes, Kind::Contiguous)?;
        let trailer_len = description.trailer.len() as u32;
        let memory = Memory::owned(Buffer::copy_of(&bytes)?);
        Ok(Frame::new(
            Place::Memory(memory),
            None,
            Known::of(&header, trailer_len),
        ))
    }

    /// Writes an empty frame to new files: nothing may be at the path.
    ///
    /// # Errors
    /// [`Error::FileOpen`] when something is there or it can't be made, [`Error::FileWrite`].
    pub fn create(
        files: Files,
        lock: Option<Arc<Lock>>,
        description: &Description,
    ) -> Result<Frame> {
        let kind = kind_of(&files);
        let bytes = empty_frame(description, kind)?;
        let header = FrameHeader::parse(&bytes, kind)?;
        if files.exist() {
            return Err(Error::FileOpen);
        }
        files.make_directory()?;
        let write = || {
            let stream = files.backend().open(files.path(), Mode::Create)?;
            stream.write_at(0, &bytes, Portions::Whole)?;
            stream.close()
        };
        if let Err(error) = write() {
            if let Some(names) = files.backend().names() {
                let _ = names.remove(files.path());
            }
            files.remove_directory();
            return Err(error);
        }
        let known = Known::of(&header, description.trailer.len() as u32);
        Ok(Frame::new(Place::Disk(Arc::new(files)), lock, known))
    }

    /// Opens a frame in files.
    ///
    /// # Errors
    /// [`Error::FileOpen`] and [`Error::FileRead`]; [`Error::InvalidHeader`], [`Error::Data`],
    /// [`Error::FrameType`], [`Error::VersionSupport`] and those of chunks for what is no frame;
    /// [`Error::Lock`].
    pub fn open(files: Files, lock: Option<Arc<Lock>>) -> Result<(Frame, Loaded)> {
        let files = Arc::new(files);
        let guard = shared(&lock)?;
        let mut attempt = 0;
        let (read, legacy) = loop {
            attempt += 1;
            match read_files(&files) {
                Ok(read) => break read,
                // A writer that doesn't know locks, or a file that was just created.
                Err(_) if lock.is_some() && attempt < OPEN_ATTEMPTS => {
                    std::thread::sleep(ATTEMPT_PAUSE);
                }
                Err(error) => return Err(error),
            }
        };
        drop(guard);
        let mut frame = Frame::new(Place::Disk(files), lock, read.known);
        frame.legacy = legacy;
        frame.complete(read.loaded)
    }

    /// Opens a frame in memory: bytes of the caller's, which are never written to, or bytes to own.
    ///
    /// # Errors
    /// As [`Frame::open`].
    pub fn from_memory(memory: Memory) -> Result<(Frame, Loaded)> {
        let bytes = memory.bytes();
        let (read, legacy) = match legacy::is_legacy(bytes) {
            true => (read_legacy_memory(bytes)?, true),
            false => (read_memory(bytes)?, false),
        };
        let mut frame = Frame::new(Place::Memory(memory), None, read.known);
        frame.legacy = legacy;
        frame.complete(read.loaded)
    }

    fn new(place: Place, lock: Option<Arc<Lock>>, known: Known) -> Frame {
        Frame {
            place,
            lock,
            known: Mutex::new(known),
            encoder: None,
            unpublished: None,
            legacy: false,
        }
    }

    /// Adds to what was read what only the chunks tell.
    fn complete(self, mut loaded: Loaded) -> Result<(Frame, Loaded)> {
        let offsets = self.offsets()?;
        loaded.counters.nchunks = offsets.len() as i64;
        loaded.counters.flags2 = self.flags2()?;
        let mut known = self.known();
        known.counters.nchunks = loaded.counters.nchunks;
        known.counters.flags2 = loaded.counters.flags2;
        drop(known);
        Ok((self, loaded))
    }

    /// The flags of the first chunk, which are those of all.
    fn flags2(&self) -> Result<u8> {
        match self.offsets()?.get(0) {
            Some(0..) => Ok(match self.chunk_header(0)?.vl_blocks {
                true => VL_BLOCKS,
                false => 0,
            }),
            _ => Ok(0),
        }
    }

    /// Reads the header of a stored chunk.
    fn chunk_header(&self, nchunk: usize) -> Result<ChunkHeader> {
        self.with_front(nchunk, ChunkHeader::parse)
    }

    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn known_mut(&mut self) -> &mut Known {
        self.known.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether each chunk is a file of its own.
    pub fn is_sparse(&self) -> bool {
        matches!(&self.place, Place::Disk(files) if files.is_sparse())
    }

    /// Whether the frame is in memory.
    pub fn is_memory(&self) -> bool {
        matches!(self.place, Place::Memory(_))
    }

    /// The files, of a frame that isn't in memory.
    pub fn files(&self) -> Option<&Arc<Files>> {
        match &self.place {
            Place::Memory(_) => None,
            Place::Disk(files) => Some(files),
        }
    }

    /// The file or directory of the frame.
    pub fn path(&self) -> Option<PathBuf> {
        let files = self.files()?;
        Some(files.directory().unwrap_or(files.path()).to_path_buf())
    }

    /// Keeps others from changing the frame until the guard is dropped; nothing happens unless locks were
    /// asked for.
    ///
    /// # Errors
    /// [`Error::Lock`].
    pub fn lock_exclusive(&self) -> Result<Option<Held>> {
        self.acquire(LockKind::Exclusive)
    }

    /// Keeps others from changing the frame while it is read.
    ///
    /// # Errors
    /// [`Error::Lock`].
    pub fn lock_shared(&self) -> Result<Option<Held>> {
        self.acquire(LockKind::Shared)
    }

    fn acquire(&self, kind: LockKind) -> Result<Option<Held>> {
        let Some(lock) = &self.lock else {
            return Ok(None);
        };
        let held = lock.hold(kind)?;
        if held.changed() {
            self.known().stale = true;
        }
        Ok(Some(held))
    }

    /// Keeps others from changing the frame until [`Frame::unlock`] was called as often.
    ///
    /// # Errors
    /// [`Error::Lock`].
    pub fn lock(&self) -> Result<()> {
        if let Some(lock) = &self.lock
            && lock.acquire(LockKind::Exclusive)?
        {
            self.known().stale = true;
        }
        Ok(())
    }

    /// Takes a [`Frame::lock`] back.
    pub fn unlock(&self) {
        if let Some(lock) = &self.lock {
            lock.release();
        }
    }

    /// Takes up what somebody else has changed: all that is known anew, or none when nothing has.
    ///
    /// # Errors
    /// Those of [`Frame::open`]; what was known stays.
    pub fn refresh(&self) -> Result<Option<Loaded>> {
        let Place::Disk(files) = &self.place else {
            return Ok(None);
        };
        let (reader, replaced) = files.acquire()?;
        let fixed = reader.fixed_header()?;
        let len = header::frame_len(&fixed);
        {
            let known = self.known();
            if !replaced && !known.stale && known.len == len {
                return Ok(None);
            }
        }
        match self.reload(files, &reader) {
            Ok(loaded) => Ok(Some(loaded)),
            Err(error) => {
                // The next access must look again.
                self.known().stale = true;
                Err(error)
            }
        }
    }

    fn reload(&self, files: &Files, reader: &FrameReader) -> Result<Loaded> {
        let read = match self.legacy {
            true => read_files(files)?.0,
            false => read_frame(reader, kind_of(files))?,
        };
        let mut loaded = read.loaded;
        let previous = std::mem::replace(&mut *self.known(), read.known);
        let completed = self
            .offsets()
            .and_then(|offsets| Ok((offsets.len(), self.flags2()?)));
        match completed {
            Ok((nchunks, flags2)) => {
                loaded.counters.nchunks = nchunks as i64;
                loaded.counters.flags2 = flags2;
                let mut known = self.known();
                known.counters = loaded.counters;
                Ok(loaded)
            }
            Err(error) => {
                *self.known() = previous;
                Err(error)
            }
        }
    }

    /// Bytes of the frame; of a sparse one those of its index file.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn frame_len(&mut self) -> Result<u64> {
        self.flush()?;
        Ok(self.known_mut().len)
    }

    /// Ends the use of the frame.
    ///
    /// # Errors
    /// What a user's backend answers.
    pub fn finish(self) -> Result<()> {
        match &self.place {
            Place::Memory(_) => Ok(()),
            Place::Disk(files) => {
                files.forget_reader();
                files.backend().destroy()
            }
        }
    }
}

/// The lock for reading, when there are locks.
fn shared(lock: &Option<Arc<Lock>>) -> Result<Option<Held>> {
    match lock {
        Some(lock) => lock.hold(LockKind::Shared).map(Some),
        None => Ok(None),
    }
}

/// What the frame type byte of these files must be.
pub(super) fn kind_of(files: &Files) -> Kind {
    match files.is_sparse() {
        true => Kind::Sparse,
        false => Kind::Contiguous,
    }
}

/// A header and a trailer.
pub(super) fn empty_frame(description: &Description, kind: Kind) -> Result<Vec<u8>> {
    let mut bytes = build_header(description, kind)?;
    let len = (bytes.len() + description.trailer.len()) as u64;
    header::set_frame_len(&mut bytes, len);
    bytes.extend_from_slice(&description.trailer);
    Ok(bytes)
}

/// The header of a described frame, without its length.
pub(super) fn build_header(description: &Description, kind: Kind) -> Result<Vec<u8>> {
    let fixed = FrameHeader {
        header_len: 0,
        frame_len: 0,
        recorded: description.recorded,
        counters: description.counters,
        threads: description.threads,
        has_vlmetalayers: description.has_vlmetalayers,
        vl_blocks: description.counters.flags2 & VL_BLOCKS != 0,
    };
    let layers: Vec<(&[u8], &[u8])> = description
        .metalayers
        .iter()
        .map(|layer| (&layer.name[..], &layer.content[..]))
        .collect();
    fixed.build(kind, &layers)
}

/// The bit of a chunk's second flags that says that its blocks have lengths of their own.
pub const VL_BLOCKS: u8 = crate::chunk::header::flag2::VL_BLOCKS;

fn read_files(files: &Files) -> Result<(Read, bool)> {
    let (reader, _) = files.acquire()?;
    if !files.is_sparse() && legacy::is_legacy(&reader.fixed_header()?) {
        let read = |position, dest: &mut [u8]| reader.read(position, dest);
        return Ok((take_legacy(legacy::read(&read, reader.available()?)?), true));
    }
    Ok((read_frame(&reader, kind_of(files))?, false))
}

fn read_frame(reader: &FrameReader, kind: Kind) -> Result<Read> {
    let header = FrameHeader::parse(&reader.fixed_header()?, kind)?;
    // Lengths are believed only as far as there are bytes for them.
    if header.frame_len > reader.available()? {
        return Err(Error::InvalidHeader);
    }
    let mut tail = [0; trailer::TAIL_LEN];
    reader.read(header.frame_len - trailer::TAIL_LEN as u64, &mut tail)?;
    let known = Known::of(&header, trailer::trailer_len(&tail, header.frame_len)?);
    let front = reader.read_vec(0, header.header_len as usize)?;
    let back = reader.read_vec(known.trailer_position(), known.trailer_len as usize)?;
    finish_reading(known, &header, &front, &back)
}

fn read_memory(bytes: &[u8]) -> Result<Read> {
    let header = FrameHeader::parse(bytes, Kind::Contiguous)?;
    if header.frame_len != bytes.len() as u64 {
        return Err(Error::InvalidHeader);
    }
    let tail = bytes.last_chunk().ok_or(Error::ReadBuffer)?;
    let known = Known::of(&header, trailer::trailer_len(tail, header.frame_len)?);
    let front = part(bytes, 0, header.header_len as usize)?;
    let back = part(bytes, known.trailer_position(), known.trailer_len as usize)?;
    finish_reading(known, &header, front, back)
}

fn part(bytes: &[u8], position: u64, len: usize) -> Result<&[u8]> {
    usize::try_from(position)
        .ok()
        .and_then(|start| bytes.get(start..start.checked_add(len)?))
        .ok_or(Error::ReadBuffer)
}

fn finish_reading(known: Known, header: &FrameHeader, front: &[u8], back: &[u8]) -> Result<Read> {
    let loaded = Loaded {
        recorded: header.recorded,
        counters: header.counters,
        metalayers: metalayers::parse(front)?,
        vlmetalayers: trailer::parse(back)?,
    };
    Ok(Read { known, loaded })
}

/// A frame in one of the older layouts, in memory.
fn read_legacy_memory(bytes: &[u8]) -> Result<Read> {
    let read = |position: u64, dest: &mut [u8]| {
        dest.copy_from_slice(part(bytes, position, dest.len())?);
        Ok(())
    };
    let legacy = legacy::read(&read, bytes.len() as u64)?;
    match legacy.header.frame_len == bytes.len() as u64 {
        true => Ok(take_legacy(legacy)),
        false => Err(Error::InvalidHeader),
    }
}

/// A frame in one of the older layouts, of which all but the chunks was read.
fn take_legacy(legacy: legacy::LegacyFrame) -> Read {
    let mut known = Known::of(&legacy.header, 0);
    known.offsets = Some(Arc::new(Offsets::Each(legacy.offsets)));
    let loaded = Loaded {
        recorded: legacy.header.recorded,
        counters: legacy.header.counters,
        metalayers: legacy.metalayers,
        vlmetalayers: legacy.vlmetalayers,
    };
    Read { known, loaded }
}

/// Reads indexes and metalayers: nothing of the user's takes part.
pub(super) fn reader_of_indexes() -> Decompressor {
    Decompressor::new(crate::chunk::DParams::default())
}
