//! Creating, opening and refreshing frames.
//!
//! Another process may change the files of a frame. Each access therefore first reads the fixed
//! part of the header; if the lengths in it differ from the cached ones, the whole frame is read
//! again.

use crate::chunk::{ChunkHeader, EXTENDED_HEADER_LENGTH};
use crate::frame::format::{
    Description, FIXED_LEN, Footer, FrameHeader, Kind, Loaded, VL_BLOCKS, header, legacy, trailer,
};
use crate::frame::store::{CachedState, Files, Frame, FrameReader, Location, Memory};
use crate::io::Durability;
use crate::io::lock::{Kind as LockKind, Lock};
use crate::os::process;
use crate::{Buffer, Error, ErrorKind, Result};
use std::borrow::Cow;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// The number of attempts to open or reload a frame while another process writes to it.
const OPEN_ATTEMPTS: usize = 50;
/// The maximum number of chunks whose headers are read to find the flags of all chunks.
const MAX_EXAMINED: usize = 16;
/// Pause between attempts, from the second on if the file was complete.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(1);

/// Everything in a frame except its chunks.
struct Read {
    cached: CachedState,
    loaded: Loaded,
    /// Whether the frame has one of the older layouts.
    legacy: bool,
    /// The state of the file before everything else was read.
    state: Option<FileState>,
}

/// Bytes of a file that show whether another handle changes it without a lock.
struct FileState {
    fixed: [u8; FIXED_LEN],
    /// The offset of the index, or of the trailer of a frame without data.
    position: u64,
    /// The bytes at `position`.
    start: Vec<u8>,
}

impl FileState {
    /// The number of bytes compared, which include the header of a chunk. The headers of a data
    /// chunk and of an index differ, and so do those of indexes of different lengths.
    const START_LEN: u64 = EXTENDED_HEADER_LENGTH as u64;

    /// Reads the state of a frame with this header.
    ///
    /// # Errors
    /// Returns the errors of reading.
    fn read(
        reader: &FrameReader,
        kind: Kind,
        fixed: [u8; FIXED_LEN],
        header: &FrameHeader,
    ) -> Result<Self> {
        let position = CachedState::of(header, 0, false).index_position(kind == Kind::Sparse);
        let len = header.frame_len.saturating_sub(position).min(Self::START_LEN);
        let start = reader.read_vec(position, len as usize)?;
        Ok(FileState { fixed, position, start })
    }

    /// Whether the file has the same state as when it was read. Every writer writes the index
    /// before the header, and a change in place begins at `position`. If both are unchanged after
    /// the rest was read, no change overlapped it.
    ///
    /// # Errors
    /// Returns the errors of reading.
    fn is_current(&self, files: &Files) -> Result<bool> {
        // A mapping is read without system calls: the earlier reads must stay before these.
        fence(Ordering::Acquire);
        let reader = files.latest()?;
        let start = reader.read_vec(self.position, self.start.len())?;
        Ok(start == self.start && reader.fixed_header()? == self.fixed)
    }
}

impl Frame {
    /// Creates an empty frame in memory.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`], and those of an invalid description.
    pub fn create_in_memory(description: &Description) -> Result<Frame> {
        let durability = Durability::of_environment();
        let footer = Footer::of_empty(description, Kind::Contiguous, durability.checksums)?;
        let bytes = footer.to_bytes()?;
        let header = FrameHeader::parse(&bytes, Kind::Contiguous)?;
        let memory = Memory::owned(Buffer::copy_of(&bytes)?);
        let cached = CachedState::of(&header, footer.trailer_len, durability.checksums);
        Ok(Frame::new(Location::Memory(memory), None, cached))
    }

    /// Creates an empty frame in new files; the path must not exist.
    ///
    /// # Errors
    /// [`Error::FileOpen`] if the path exists or cannot be created, [`Error::FileWrite`].
    pub fn create(
        files: Files,
        lock: Option<Arc<Lock>>,
        description: &Description,
    ) -> Result<Frame> {
        files.check_durability()?;
        let is_fingerprinted = files.durability().checksums;
        let footer = Footer::of_empty(description, files.kind(), is_fingerprinted)?;
        let bytes = footer.to_bytes()?;
        let header = FrameHeader::parse(&bytes, files.kind())?;
        files.create(&bytes)?;
        let cached = CachedState::of(&header, footer.trailer_len, is_fingerprinted);
        Ok(Frame::new(Location::Disk(Arc::new(files)), lock, cached))
    }

    /// Closes a frame that this handle created, and removes its files as far as possible. An open
    /// transaction is rolled back.
    pub fn discard(mut self) {
        drop(self.transaction.take());
        if let Location::Disk(files) = &self.location {
            files.remove_created(self.lock.as_deref());
            // The first error matters more.
            let _ = files.backend().destroy();
        }
    }

    /// Opens a frame in files.
    ///
    /// # Errors
    /// [`Error::FileOpen`] and [`Error::FileRead`]; [`Error::InvalidHeader`] for a file without the
    /// magic of a frame, and for one shorter than a header; for other invalid frames
    /// [`Error::InvalidHeader`], [`Error::Data`], [`Error::FrameType`], [`Error::VersionSupport`]
    /// and those of chunks; [`Error::Lock`].
    pub fn open(files: Files, lock: Option<Arc<Lock>>) -> Result<(Frame, Loaded)> {
        let path = files.root().to_path_buf();
        Frame::open_files(files, lock).map_err(|error| error.at(path))
    }

    fn open_files(files: Files, lock: Option<Arc<Lock>>) -> Result<(Frame, Loaded)> {
        files.check_durability()?;
        let files = Arc::new(files);
        let held = match &lock {
            Some(lock) => Some(lock.acquire_guard(LockKind::Shared)?),
            None => None,
        };
        // A writer that held the lock may have left its journal.
        files.look_for_journal()?;
        let mut attempt = 0;
        let opened = loop {
            attempt += 1;
            match read_files(&files) {
                Ok(mut read) => {
                    let state = read.state.take();
                    let location = Location::Disk(Arc::clone(&files));
                    let opened = Frame::of_read(location, lock.clone(), read);
                    if is_current(state.as_ref(), &files)? {
                        break opened;
                    }
                    if attempt == OPEN_ATTEMPTS {
                        return Err(changed());
                    }
                    if attempt == 1 {
                        continue;
                    }
                }
                // A writer without locks may be at work, or the file was just created.
                Err(_) if lock.is_some() && attempt < OPEN_ATTEMPTS => {}
                Err(error) => return Err(explain(&files, error)),
            }
            process::sleep(ATTEMPT_PAUSE);
        };
        // The index and the first chunk must match the header that was read, so the lock is held
        // until here.
        drop(held);
        opened
    }

    /// Opens a frame in memory. Borrowed bytes are never written to.
    ///
    /// # Errors
    /// Returns the same errors as [`Frame::open`].
    pub fn from_memory(memory: Memory) -> Result<(Frame, Loaded)> {
        let read = read_memory(memory.bytes()).map_err(|error| {
            if header::has_magic(memory.bytes()) || error.kind() == ErrorKind::MemoryAlloc {
                error
            } else {
                Error::InvalidHeader.because("the bytes are not a Blosc2 frame")
            }
        })?;
        Frame::of_read(Location::Memory(memory), None, read)
    }

    fn of_read(
        location: Location,
        lock: Option<Arc<Lock>>,
        mut read: Read,
    ) -> Result<(Frame, Loaded)> {
        let mut frame = Frame::new(location, lock, read.cached);
        frame.legacy = read.legacy;
        frame.complete(&mut read.loaded)?;
        Ok((frame, read.loaded))
    }

    /// Adds the counters that the header does not store: the number of chunks and their flags.
    fn complete(&self, loaded: &mut Loaded) -> Result<()> {
        loaded.counters.nchunks = self.offsets()?.len() as i64;
        loaded.counters.flags2 = self.flags2()?;
        self.cached().counters = loaded.counters;
        Ok(())
    }

    /// Returns [`VL_BLOCKS`] if the first chunk has variable-length blocks, otherwise 0. All chunks
    /// have the same flags. If the first chunk is damaged or its file is missing, the next ones are
    /// examined, so that they can be read.
    fn flags2(&self) -> Result<u8> {
        let offsets = self.offsets()?;
        let is_fingerprinted = self.cached().is_fingerprinted;
        let mut failed = None;
        for nchunk in 0..offsets.len().min(MAX_EXAMINED) {
            if !matches!(offsets.get(nchunk), Some(0..)) {
                if failed.is_none() {
                    return Ok(0);
                }
                continue;
            }
            match self.with_front(nchunk, ChunkHeader::parse) {
                Ok(header) => return Ok(if header.vl_blocks { VL_BLOCKS } else { 0 }),
                // With checksums the other chunks can be read in any case.
                Err(error) if error.is_system_error() && !is_fingerprinted => return Err(error),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        match failed {
            Some(error) if !is_fingerprinted => Err(error),
            _ => Ok(0),
        }
    }

    /// Reads the frame again if another handle or process changed it, and passes the result to
    /// `take`, one thread at a time. `typesize` is the item size in bytes of the super-chunk.
    /// Returns whether it was changed.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::open`]; [`Error::Data`] if the file was replaced by a frame of
    /// another item size. The cached state is kept.
    pub fn refresh(&self, typesize: i32, take: impl FnOnce(Loaded)) -> Result<bool> {
        let Location::Disk(files) = &self.location else {
            return Ok(false);
        };
        self.check_transaction()?;
        if self.transaction.is_some() {
            return Ok(false);
        }
        if self.cached().stale {
            // A failed change of this handle may have left its journal.
            files.look_for_journal()?;
        }
        let (reader, replaced) = files.acquire()?;
        let fixed = reader.fixed_header()?;
        if replaced {
            self.cached().replaced();
        }
        if self.is_current(&fixed) {
            return Ok(false);
        }
        let _turn = (self.reloading.lock()).unwrap_or_else(PoisonError::into_inner);
        if self.is_current(&fixed) {
            return Ok(false);
        }
        // The other writer may not have finished its change.
        files.look_for_journal()?;
        match self.reload(files, typesize) {
            Ok(loaded) => {
                take(loaded);
                Ok(true)
            }
            Err(error) => {
                // The next access must read again.
                self.cached().stale = true;
                Err(error)
            }
        }
    }

    /// Whether the cached state matches this fixed part of the header.
    fn is_current(&self, fixed: &[u8; FIXED_LEN]) -> bool {
        let cached = self.cached();
        let is_same_len = cached.len == header::frame_len(fixed);
        // Removing or changing a chunk can leave the frame length unchanged.
        let (nbytes, cbytes) = header::data_lens(fixed);
        let is_same = || {
            let counters = &cached.counters;
            self.legacy
                || counters.nbytes == nbytes && cbytes.is_none_or(|it| it == counters.cbytes)
        };
        !cached.stale && is_same_len && is_same()
    }

    /// Compares a metalayer and the sizes with those in the file. If the metalayer differs, the
    /// next [`Frame::refresh`] reads the whole frame again even if the length is the same. Returns
    /// whether the cached state is current, so that no refresh is needed.
    ///
    /// # Errors
    /// Returns the errors of reading.
    pub fn compare_metalayer(&self, name: &[u8], content: &[u8]) -> Result<bool> {
        let Location::Disk(files) = &self.location else {
            return Ok(false);
        };
        if self.legacy || self.transaction.is_some() {
            return Ok(false);
        }
        let (reader, replaced) = files.acquire()?;
        let header_len = self.cached().header_len;
        let front = reader.read_vec(0, header_len as usize)?;
        let found = header::parse_metalayers(&front)?;
        let is_same = found.iter().any(|layer| layer.name == name && layer.content == content);
        if replaced {
            self.cached().replaced();
        } else if !is_same {
            self.cached().stale = true;
        }
        Ok(front.first_chunk().is_some_and(|fixed| self.is_current(fixed)))
    }

    /// Compares the cached offsets of the chunks with those in the file, and everything else with
    /// `is_known`. After a difference the next [`Frame::refresh`] reads the whole frame again even
    /// if the header is the same.
    ///
    /// # Errors
    /// Returns the errors of reading.
    pub fn compare_all(&self, is_known: impl FnOnce(&Loaded) -> bool) -> Result<()> {
        let Location::Disk(files) = &self.location else {
            return Ok(());
        };
        if self.legacy || self.transaction.is_some() {
            return Ok(());
        }
        let cached = self.cached();
        if cached.stale || !cached.pending.is_empty() {
            // The index in the file does not contain pending chunks yet.
            return Ok(());
        }
        let before = cached.offsets.clone();
        drop(cached);
        let mut read = self.read_current(files)?;
        let mut is_same = is_known(&read.loaded);
        if is_same && let Some(before) = before {
            let now = self.find_offsets(&mut read.cached)?;
            is_same =
                now.len() == before.len() && (0..now.len()).all(|i| now.get(i) == before.get(i));
        }
        if !is_same {
            self.cached().stale = true;
        }
        Ok(())
    }

    /// Reads the metadata and the offsets, and repeats this while another handle changes the file.
    /// The cached state of a replaced file becomes stale.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::open`].
    fn read_current(&self, files: &Files) -> Result<Read> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let mut read = if self.legacy {
                read_files(files)?
            } else {
                let (reader, replaced) = files.acquire()?;
                if replaced {
                    self.cached().replaced();
                }
                read_frame(&reader, files.kind())?
            };
            let found = self.find_offsets(&mut read.cached);
            if is_current(read.state.as_ref(), files)? {
                return found.map(|_| read);
            }
            match attempt {
                1 => {}
                OPEN_ATTEMPTS => return Err(changed()),
                _ => process::sleep(ATTEMPT_PAUSE),
            }
        }
    }

    fn reload(&self, files: &Files, typesize: i32) -> Result<Loaded> {
        // Other threads use the cached state, so the index is read and checked before that is
        // replaced.
        let read = self.read_current(files)?;
        let mut loaded = read.loaded;
        let found = loaded.recorded.typesize;
        let cached = self.cached();
        if cached.is_replaced && found != cached.typesize && found != typesize {
            return Err(Error::Data.because(format!(
                "the file was replaced by a frame with items of {found} bytes instead of {typesize}"
            )));
        }
        drop(cached);
        let previous = std::mem::replace(&mut *self.cached(), read.cached);
        match self.complete(&mut loaded) {
            Ok(()) => Ok(loaded),
            Err(error) => {
                *self.cached() = previous;
                Err(error)
            }
        }
    }
}

/// Whether a file still has this state; true for `None`, since older layouts have no state.
fn is_current(state: Option<&FileState>, files: &Files) -> Result<bool> {
    state.map_or(Ok(true), |state| state.is_current(files))
}

#[cold]
fn changed() -> Error {
    Error::InvalidHeader.because("another handle changed the file during each attempt to read it")
}

/// Returns the error for a file that cannot be read as a frame: a file without the magic of a frame
/// is none, and one that is shorter than a header is truncated. Readers of frames do not check the
/// magic, so reading such a file can return any error.
#[cold]
fn explain(files: &Files, error: Error) -> Error {
    if error.errno().is_some() || error.kind() == ErrorKind::MemoryAlloc {
        return error;
    }
    let mut start = [0; header::MARK.len()];
    let front = files.acquire().and_then(|(reader, _)| {
        let available = reader.available()?;
        let len = available.min(start.len() as u64) as usize;
        reader.read(0, &mut start[..len])?;
        Ok((available, len))
    });
    match front {
        Ok((_, len)) if !header::has_magic(&start[..len]) => {
            Error::InvalidHeader.because("the file is not a Blosc2 frame")
        }
        Ok((available, _)) if available < FIXED_LEN as u64 => {
            let text = format!("the file has {available} bytes, and a header has {FIXED_LEN}");
            Error::InvalidHeader.because(text)
        }
        _ => error,
    }
}

fn read_files(files: &Files) -> Result<Read> {
    let (reader, _) = files.acquire()?;
    if !files.is_sparse() && legacy::is_legacy(&reader.fixed_header()?) {
        let read = |position, dest: &mut [u8]| reader.read(position, dest);
        return Ok(read_legacy(legacy::read(&read, reader.available()?)?));
    }
    read_frame(&reader, files.kind())
}

fn read_frame(reader: &FrameReader, kind: Kind) -> Result<Read> {
    let fixed = reader.fixed_header()?;
    let header = FrameHeader::parse(&fixed, kind)?;
    // A frame that exceeds its file is rejected before its other lengths are used.
    let available = reader.available()?;
    if header.frame_len > available {
        let len = header.frame_len;
        let text = format!("the file has {available} bytes, but its header records {len}");
        return Err(Error::InvalidHeader.because(text));
    }
    let state = FileState::read(reader, kind, fixed, &header)?;
    let read =
        read_sections(&header, |position, len| reader.read_vec(position, len).map(Cow::Owned))?;
    Ok(Read { state: Some(state), ..read })
}

fn read_memory(bytes: &[u8]) -> Result<Read> {
    let section = |position: u64, len: usize| {
        usize::try_from(position)
            .ok()
            .and_then(|start| bytes.get(start..start.checked_add(len)?))
            .ok_or(Error::ReadBuffer)
    };
    let check_len = |header: &FrameHeader| {
        if header.frame_len == bytes.len() as u64 {
            return Ok(());
        }
        let (len, recorded) = (bytes.len(), header.frame_len);
        let text = format!("the frame has {len} bytes, but its header records {recorded}");
        Err(Error::InvalidHeader.because(text))
    };
    if legacy::is_legacy(bytes) {
        let read = |position: u64, dest: &mut [u8]| {
            dest.copy_from_slice(section(position, dest.len())?);
            Ok(())
        };
        let legacy = legacy::read(&read, bytes.len() as u64)?;
        check_len(&legacy.header)?;
        return Ok(read_legacy(legacy));
    }
    let header = FrameHeader::parse(bytes, Kind::Contiguous)?;
    check_len(&header)?;
    read_sections(&header, |position, len| section(position, len).map(Cow::Borrowed))
}

/// Reads the sections of a frame with this header, except the chunks. `read` returns a number of
/// bytes at an offset.
fn read_sections<'a>(
    header: &FrameHeader,
    read: impl Fn(u64, usize) -> Result<Cow<'a, [u8]>>,
) -> Result<Read> {
    let tail = read(header.frame_len - trailer::TAIL_LEN as u64, trailer::TAIL_LEN)?;
    let tail = tail.last_chunk().ok_or(Error::ReadBuffer)?;
    let trailer_len = trailer::trailer_len(tail, header.frame_len)?;
    let mut cached = CachedState::of(header, trailer_len, false);
    let front = read(0, header.header_len as usize)?;
    let back = read(cached.trailer_position(), trailer_len as usize)?;
    cached.is_fingerprinted = trailer::fingerprint(&back).is_some();
    let loaded = Loaded {
        recorded: header.recorded,
        counters: header.counters,
        metalayers: header::parse_metalayers(&front)?,
        vlmetalayers: trailer::parse(&back)?,
    };
    Ok(Read { cached, loaded, legacy: false, state: None })
}

/// Converts the parsed sections of a frame of an older layout.
fn read_legacy(legacy: legacy::LegacyFrame) -> Read {
    let mut cached = CachedState::of(&legacy.header, 0, false);
    cached.offsets = Some(Arc::new(legacy.offsets));
    Read {
        cached,
        loaded: Loaded {
            recorded: legacy.header.recorded,
            counters: legacy.header.counters,
            metalayers: legacy.metalayers,
            vlmetalayers: legacy.vlmetalayers,
        },
        legacy: true,
        state: None,
    }
}
