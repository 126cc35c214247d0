//! The frame: its storage, its cached state, and how that state is refreshed.
//!
//! Another process may change the files of a frame. Each access therefore first reads the fixed
//! part of the header; if the lengths in it differ from the cached ones, the whole frame is read
//! again.

use super::description::{Counters, Description, Loaded};
use super::directory::remove;
use super::files::{ChunksOpen, Files, FrameReader};
use super::footer::Footer;
use super::header::{FIXED_LEN, FrameHeader, Kind};
use super::memory::Memory;
use super::offsets::Offsets;
use super::section::Named;
use super::transaction::Transaction;
use super::write::Unpublished;
use super::{header, index, legacy, metalayers, trailer};
use crate::chunk::{ChunkHeader, Decompressor};
use crate::io::lock::{Held, Kind as LockKind, Lock};
use crate::io::{Durability, Stream, WriteGranularity};
use crate::{Buffer, Error, Result};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Number of attempts to open a frame while another process writes to it.
const OPEN_ATTEMPTS: usize = 50;
/// Pause between attempts.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(1);

/// A super-chunk serialized as one buffer, one file or one directory.
pub struct Frame {
    pub(super) location: Location,
    pub(super) lock: Option<Arc<Lock>>,
    pub(super) cached: Mutex<CachedState>,
    /// Held by the thread that reloads the frame.
    reloading: Mutex<()>,
    pub(super) encoder: Option<index::Encoder>,
    /// Header, index and trailer of a frame in memory that are not written yet.
    pub(super) unpublished: Option<Unpublished>,
    /// The open transaction.
    pub(super) transaction: Option<Box<Transaction>>,
    /// Whether the frame has one of the older layouts, which are read-only.
    pub(super) legacy: bool,
    pub(super) durability: Durability,
    /// End of the bytes that a failed change may have made part of the frame; 0 if there are none.
    pub(super) in_doubt: u64,
    /// Size of the data section in bytes above which a change searches for holes; 0 before the
    /// first change.
    pub(super) hole_search_threshold: i64,
    /// The most recently built trailer, while it is still in use.
    last_trailer: Mutex<Weak<Vec<u8>>>,
}

/// The storage of a frame.
pub(super) enum Location {
    Memory(Memory),
    Disk(Arc<Files>),
}

/// The state of a frame as it was last read or written.
pub(super) struct CachedState {
    /// Size of the frame in bytes.
    pub len: u64,
    pub header_len: u32,
    pub trailer_len: u32,
    pub counters: Counters,
    /// Size of an item in bytes, as the header records it.
    pub typesize: i32,
    /// The offsets of the chunks, read on first use.
    pub offsets: Option<Arc<Offsets>>,
    /// The bytes around the chunks of a frame in files, if the last change wrote all of them.
    pub footer: Option<Arc<Footer>>,
    /// Number of leading offsets that are unchanged since the encoder last encoded them.
    pub encoded: usize,
    /// Largest number of a chunk file, computed on first use.
    pub max_id: Option<i64>,
    /// Chunks without data that were added before any chunk with data; the frame does not store
    /// them yet.
    pub pending: Vec<u8>,
    /// Number of bytes before the blocks of the last chunk that was read lazily: an estimate for
    /// the next one.
    pub front_len: usize,
    /// Whether the next access must read the frame again even if the lengths match.
    pub stale: bool,
    /// Whether the frame has a fingerprint.
    pub is_fingerprinted: bool,
    /// The checksums of the chunks, read on first use; the inner option is `None` for a frame
    /// without them.
    pub checksums: Option<Option<Arc<Vec<u64>>>>,
    /// Whether an open transaction stages the changes in memory and writes one journal at its
    /// commit, so that single changes need no journal.
    pub is_journaled: bool,
    /// Whether a change in such a transaction failed, so that the staged bytes may be in neither
    /// the old nor the new state.
    pub is_torn: bool,
}

impl CachedState {
    fn of(header: &FrameHeader, trailer_len: u32) -> CachedState {
        CachedState {
            len: header.frame_len,
            header_len: header.header_len,
            trailer_len,
            counters: header.counters,
            typesize: header.recorded.typesize,
            offsets: None,
            footer: None,
            encoded: 0,
            max_id: None,
            pending: Vec::new(),
            front_len: 0,
            stale: false,
            is_fingerprinted: false,
            checksums: None,
            is_journaled: false,
            is_torn: false,
        }
    }

    /// Returns a copy for a rollback, without the cached footer.
    pub fn snapshot(&self) -> CachedState {
        CachedState {
            offsets: self.offsets.clone(),
            pending: self.pending.clone(),
            checksums: self.checksums.clone(),
            footer: None,
            ..*self
        }
    }

    /// Updates the lengths after `footer` was written.
    pub fn written(&mut self, footer: &Footer) {
        self.len = footer.frame_len();
        self.trailer_len = footer.trailer_len;
    }

    /// Returns the position of the index.
    pub fn index_position(&self, sparse: bool) -> u64 {
        let data = if sparse {
            0
        } else {
            self.counters.cbytes.max(0) as u64
        };
        u64::from(self.header_len) + data
    }

    /// Returns the position of the trailer.
    pub fn trailer_position(&self) -> u64 {
        if self.counters.nbytes > 0 {
            self.len - u64::from(self.trailer_len)
        } else {
            u64::from(self.header_len)
        }
    }
}

/// Everything in a frame except its chunks.
struct Read {
    cached: CachedState,
    loaded: Loaded,
}

impl Frame {
    /// Creates an empty frame in memory.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`], and those of an invalid description.
    pub fn create_in_memory(description: &Description) -> Result<Frame> {
        let durability = Durability::of_environment();
        let bytes = empty_frame(description, Kind::Contiguous, durability.checksums)?.to_bytes()?;
        let header = FrameHeader::parse(&bytes, Kind::Contiguous)?;
        let trailer_len = description.trailer.len() as u32;
        let memory = Memory::owned(Buffer::copy_of(&bytes)?);
        let mut cached = CachedState::of(&header, trailer_len);
        cached.is_fingerprinted = durability.checksums;
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
        let kind = kind_of(&files);
        files.check_durability()?;
        let bytes = empty_frame(description, kind, files.durability().checksums)?.to_bytes()?;
        let header = FrameHeader::parse(&bytes, kind)?;
        if files.exist() {
            let exists = std::io::Error::from_raw_os_error(libc::EEXIST);
            let path = files.directory().unwrap_or(files.path());
            return Err(Error::FileOpen.during("create").at(path).os(exists));
        }
        files.discard_leftovers();
        if files.is_durable() {
            Frame::write_new_durably(&files, &bytes)?
        } else {
            Frame::write_new(&files, &bytes)?
        }
        let mut cached = CachedState::of(&header, description.trailer.len() as u32);
        cached.is_fingerprinted = files.durability().checksums;
        Ok(Frame::new(Location::Disk(Arc::new(files)), lock, cached))
    }

    fn write_new_durably(files: &Files, bytes: &[u8]) -> Result<()> {
        if let Some(directory) = files.directory() {
            return files.create_directory_durably(directory, bytes);
        }
        let write = |stream: &dyn Stream| stream.write_at(0, bytes, WriteGranularity::Whole);
        let created = files.replace(files.path(), write);
        if let Err(error) = created {
            if error.is_replaced {
                // The path did not exist before.
                remove(files.file_ops(), files.path());
            }
            return Err(error.error);
        }
        Ok(())
    }

    fn write_new(files: &Files, bytes: &[u8]) -> Result<()> {
        files.make_directory()?;
        let write = || {
            let stream = files.create_index()?;
            stream.write_at(0, bytes, WriteGranularity::Whole)?;
            stream.close()
        };
        if let Err(error) = write() {
            if let Some(ops) = files.backend().file_ops() {
                let _ = ops.remove(files.path());
            }
            files.remove_directory();
            return Err(error);
        }
        Ok(())
    }

    /// Opens a frame in files.
    ///
    /// # Errors
    /// [`Error::FileOpen`] and [`Error::FileRead`]; for anything that is not a frame
    /// [`Error::InvalidHeader`], [`Error::Data`], [`Error::FrameType`], [`Error::VersionSupport`]
    /// and those of chunks; [`Error::Lock`].
    pub fn open(files: Files, lock: Option<Arc<Lock>>) -> Result<(Frame, Loaded)> {
        let path = files.directory().unwrap_or(files.path()).to_path_buf();
        Frame::open_files(files, lock).map_err(|error| error.at(path))
    }

    fn open_files(files: Files, lock: Option<Arc<Lock>>) -> Result<(Frame, Loaded)> {
        files.check_durability()?;
        let files = Arc::new(files);
        files.look_for_journal()?;
        let guard = shared(&lock)?;
        let mut attempt = 0;
        let (read, legacy) = loop {
            attempt += 1;
            match read_files(&files) {
                Ok(read) => break read,
                // A writer without locks may be at work, or the file was just created.
                Err(_) if lock.is_some() && attempt < OPEN_ATTEMPTS => {
                    std::thread::sleep(ATTEMPT_PAUSE);
                }
                Err(error) => return Err(error),
            }
        };
        let mut frame = Frame::new(Location::Disk(files), lock, read.cached);
        frame.legacy = legacy;
        let opened = frame.complete(read.loaded);
        // The index and the first chunk must match the header that was read, so the lock is held
        // until here.
        drop(guard);
        opened
    }

    /// Opens a frame in memory. Borrowed bytes are never written to.
    ///
    /// # Errors
    /// As [`Frame::open`].
    pub fn from_memory(memory: Memory) -> Result<(Frame, Loaded)> {
        let bytes = memory.bytes();
        let (read, legacy) = if legacy::is_legacy(bytes) {
            (read_legacy_memory(bytes)?, true)
        } else {
            (read_memory(bytes)?, false)
        };
        let mut frame = Frame::new(Location::Memory(memory), None, read.cached);
        frame.legacy = legacy;
        frame.complete(read.loaded)
    }

    fn new(location: Location, lock: Option<Arc<Lock>>, cached: CachedState) -> Frame {
        let durability = match &location {
            Location::Memory(_) => Durability::of_environment(),
            Location::Disk(files) => files.durability(),
        };
        Frame {
            durability,
            in_doubt: 0,
            hole_search_threshold: 0,
            last_trailer: Mutex::default(),
            location,
            lock,
            cached: Mutex::new(cached),
            reloading: Mutex::new(()),
            encoder: None,
            unpublished: None,
            transaction: None,
            legacy: false,
        }
    }

    /// Returns the trailer with these metalayers. The most recently built one is reused if it has
    /// the same content and is still in use: comparing megabytes of metalayers costs far less than
    /// building a trailer.
    ///
    /// # Errors
    /// Those of [`trailer::build`].
    pub fn trailer(&self, vlmetalayers: &[Named<'_>]) -> Result<Arc<Vec<u8>>> {
        let mut last = self
            .last_trailer
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(trailer) = last.upgrade()
            && trailer::is_of(&trailer, vlmetalayers)
        {
            return Ok(trailer);
        }
        let trailer = Arc::new(trailer::build(vlmetalayers, None)?);
        *last = Arc::downgrade(&trailer);
        Ok(trailer)
    }

    /// Adds the counters that the header does not store: the number of chunks and their flags.
    fn complete(self, mut loaded: Loaded) -> Result<(Frame, Loaded)> {
        let offsets = self.offsets()?;
        loaded.counters.nchunks = offsets.len() as i64;
        loaded.counters.flags2 = self.flags2()?;
        let mut cached = self.cached();
        cached.counters.nchunks = loaded.counters.nchunks;
        cached.counters.flags2 = loaded.counters.flags2;
        drop(cached);
        Ok((self, loaded))
    }

    /// Returns [`VL_BLOCKS`] if the first chunk has variable-length blocks, otherwise 0. All chunks
    /// have the same flags.
    fn flags2(&self) -> Result<u8> {
        match self.offsets()?.get(0) {
            Some(0..) => match self.chunk_header(0) {
                Ok(header) if header.vl_blocks => Ok(VL_BLOCKS),
                Ok(_) => Ok(0),
                // With checksums the other chunks can still be read.
                Err(_) if self.cached().is_fingerprinted => Ok(0),
                Err(error) => Err(error),
            },
            _ => Ok(0),
        }
    }

    /// Reads the header of a stored chunk.
    fn chunk_header(&self, nchunk: usize) -> Result<ChunkHeader> {
        self.with_front(nchunk, ChunkHeader::parse)
    }

    pub(super) fn cached(&self) -> MutexGuard<'_, CachedState> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn cached_mut(&mut self) -> &mut CachedState {
        self.cached
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether each chunk has its own file.
    pub fn is_sparse(&self) -> bool {
        matches!(&self.location, Location::Disk(files) if files.is_sparse())
    }

    /// Whether the frame is in memory.
    pub fn is_memory(&self) -> bool {
        matches!(self.location, Location::Memory(_))
    }

    /// Returns the files of a frame outside memory.
    pub fn files(&self) -> Option<&Arc<Files>> {
        match &self.location {
            Location::Memory(_) => None,
            Location::Disk(files) => Some(files),
        }
    }

    /// Keeps opened chunk files open until the result is dropped, see [`Files::keep_chunks_open`].
    /// `None` for a frame in memory.
    pub fn keep_chunks_open(&self) -> Option<ChunksOpen<'_>> {
        self.files().and_then(|files| files.keep_chunks_open())
    }

    /// Whether the `len` bytes at `start` overlap the frame's own bytes, in memory or mapped, which
    /// a change of the frame overwrites, moves or frees. Only addresses are compared.
    pub fn may_lend(&self, start: *const u8, len: usize) -> bool {
        match &self.location {
            Location::Memory(memory) => memory.has(start, len),
            Location::Disk(files) => files.backend().may_lend(start, len),
        }
    }

    /// Returns the file or directory of the frame.
    pub fn path(&self) -> Option<PathBuf> {
        let files = self.files()?;
        Some(files.directory().unwrap_or(files.path()).to_path_buf())
    }

    /// Locks the frame against changes and readers of other processes until the guard is dropped.
    /// Does nothing without a lock file.
    ///
    /// # Errors
    /// [`Error::Lock`].
    pub fn lock_exclusive(&self) -> Result<Option<Held>> {
        self.acquire(LockKind::Exclusive)
    }

    /// As [`Frame::lock_exclusive`], for a call of one thread that changes several chunks: each
    /// change increments the generation in the lock file, as in C-Blosc2.
    ///
    /// # Errors
    /// [`Error::Lock`].
    pub fn lock_call(&self) -> Result<Option<Held>> {
        self.acquire(LockKind::Call)
    }

    /// Locks the frame against changes while it is read.
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
        lock.hold_noticing(kind, || self.cached().stale = true)
            .map(Some)
    }

    /// Locks the frame exclusively. Each call must be followed by one call of [`Frame::unlock`].
    ///
    /// # Errors
    /// [`Error::Lock`].
    pub fn lock(&self) -> Result<()> {
        if let Some(lock) = &self.lock {
            lock.acquire_noticing(LockKind::Exclusive, || self.cached().stale = true)?;
        }
        Ok(())
    }

    /// Releases one [`Frame::lock`].
    pub fn unlock(&self) {
        if let Some(lock) = &self.lock {
            lock.release();
        }
    }

    /// Reads the frame again if another handle or process changed it, and passes the result to
    /// `take`, one thread at a time. Returns whether it was changed.
    ///
    /// # Errors
    /// Those of [`Frame::open`]; the cached state is kept.
    pub fn refresh(&self, take: impl FnOnce(Loaded)) -> Result<bool> {
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
            self.cached().stale = true;
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
        let (reader, _) = files.acquire()?;
        match self.reload(files, &reader) {
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
    /// Those of reading.
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
        let found = metalayers::parse(&front)?;
        let is_same = found
            .iter()
            .any(|layer| layer.name == name && layer.content == content);
        if replaced || !is_same {
            self.cached().stale = true;
        }
        Ok(front
            .first_chunk()
            .is_some_and(|fixed| self.is_current(fixed)))
    }

    /// Compares the cached offsets of the chunks with those in the file, and everything else with
    /// `is_known`. After a difference the next [`Frame::refresh`] reads the whole frame again even
    /// if the header is the same.
    ///
    /// # Errors
    /// Those of reading.
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
        let (reader, replaced) = files.acquire()?;
        let mut read = read_frame(&reader, kind_of(files))?;
        let mut is_same = !replaced && is_known(&read.loaded);
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

    fn reload(&self, files: &Files, reader: &FrameReader) -> Result<Loaded> {
        let read = if self.legacy {
            read_files(files)?.0
        } else {
            read_frame(reader, kind_of(files))?
        };
        let mut loaded = read.loaded;
        let previous = std::mem::replace(&mut *self.cached(), read.cached);
        let completed = self
            .offsets()
            .and_then(|offsets| Ok((offsets.len(), self.flags2()?)));
        match completed {
            Ok((nchunks, flags2)) => {
                loaded.counters.nchunks = nchunks as i64;
                loaded.counters.flags2 = flags2;
                let mut cached = self.cached();
                cached.counters = loaded.counters;
                Ok(loaded)
            }
            Err(error) => {
                *self.cached() = previous;
                Err(error)
            }
        }
    }

    /// Returns the size of the frame in bytes; for a sparse frame the size of its index file.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn frame_len(&mut self) -> Result<u64> {
        self.flush()?;
        Ok(self.cached_mut().len)
    }

    /// Closes the frame.
    ///
    /// # Errors
    /// Those of a program's own backend.
    pub fn finish(mut self) -> Result<()> {
        self.abandon();
        self.compact_on_close();
        match &self.location {
            Location::Memory(_) => Ok(()),
            Location::Disk(files) => {
                files.forget_reader();
                files.backend().destroy()
            }
        }
    }
}

/// Acquires a shared lock if locking is enabled.
fn shared(lock: &Option<Arc<Lock>>) -> Result<Option<Held>> {
    match lock {
        Some(lock) => lock.hold(LockKind::Shared).map(Some),
        None => Ok(None),
    }
}

/// Returns the expected frame type of these files.
pub(super) fn kind_of(files: &Files) -> Kind {
    if files.is_sparse() {
        Kind::Sparse
    } else {
        Kind::Contiguous
    }
}

/// Builds a frame without chunks.
pub(super) fn empty_frame(
    description: &Description,
    kind: Kind,
    is_fingerprinted: bool,
) -> Result<Footer> {
    let header = build_header(description, kind)?;
    let index_at = header.len() as u64;
    let checksums: Option<&[u64]> = is_fingerprinted.then_some(&[]);
    Footer::new(
        header,
        index_at,
        Vec::new(),
        &description.trailer,
        checksums,
    )
}

/// Builds the header of a frame, without the frame length.
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

/// Chunk flag: the blocks have individual lengths.
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
    // A frame that exceeds its file is rejected before its other lengths are used.
    if header.frame_len > reader.available()? {
        return Err(Error::InvalidHeader);
    }
    let mut tail = [0; trailer::TAIL_LEN];
    reader.read(header.frame_len - trailer::TAIL_LEN as u64, &mut tail)?;
    let cached = CachedState::of(&header, trailer::trailer_len(&tail, header.frame_len)?);
    let front = reader.read_vec(0, header.header_len as usize)?;
    let back = reader.read_vec(cached.trailer_position(), cached.trailer_len as usize)?;
    finish_reading(cached, &header, &front, &back)
}

fn read_memory(bytes: &[u8]) -> Result<Read> {
    let header = FrameHeader::parse(bytes, Kind::Contiguous)?;
    if header.frame_len != bytes.len() as u64 {
        return Err(Error::InvalidHeader);
    }
    let tail = bytes.last_chunk().ok_or(Error::ReadBuffer)?;
    let cached = CachedState::of(&header, trailer::trailer_len(tail, header.frame_len)?);
    let front = section(bytes, 0, header.header_len as usize)?;
    let back = section(
        bytes,
        cached.trailer_position(),
        cached.trailer_len as usize,
    )?;
    finish_reading(cached, &header, front, back)
}

fn section(bytes: &[u8], position: u64, len: usize) -> Result<&[u8]> {
    usize::try_from(position)
        .ok()
        .and_then(|start| bytes.get(start..start.checked_add(len)?))
        .ok_or(Error::ReadBuffer)
}

fn finish_reading(
    mut cached: CachedState,
    header: &FrameHeader,
    front: &[u8],
    back: &[u8],
) -> Result<Read> {
    cached.is_fingerprinted = trailer::fingerprint(back).is_some();
    let loaded = Loaded {
        recorded: header.recorded,
        counters: header.counters,
        metalayers: metalayers::parse(front)?,
        vlmetalayers: trailer::parse(back)?,
    };
    Ok(Read { cached, loaded })
}

/// Reads a frame of an older layout in memory.
fn read_legacy_memory(bytes: &[u8]) -> Result<Read> {
    let read = |position: u64, dest: &mut [u8]| {
        dest.copy_from_slice(section(bytes, position, dest.len())?);
        Ok(())
    };
    let legacy = legacy::read(&read, bytes.len() as u64)?;
    if legacy.header.frame_len == bytes.len() as u64 {
        Ok(take_legacy(legacy))
    } else {
        Err(Error::InvalidHeader)
    }
}

/// Converts the parsed sections of a frame of an older layout.
fn take_legacy(legacy: legacy::LegacyFrame) -> Read {
    let mut cached = CachedState::of(&legacy.header, 0);
    cached.offsets = Some(Arc::new(legacy.offsets));
    let loaded = Loaded {
        recorded: legacy.header.recorded,
        counters: legacy.header.counters,
        metalayers: legacy.metalayers,
        vlmetalayers: legacy.vlmetalayers,
    };
    Read { cached, loaded }
}

/// Returns the decompressor for indexes and metalayers, which runs no user code.
pub(super) fn reader_of_indexes() -> Decompressor {
    Decompressor::new(crate::chunk::DParams::default())
}
