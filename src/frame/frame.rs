//! The frame itself: where it is, what was last seen of it, and how that is brought up to date.
//!
//! Of a frame in files somebody else may be the writer. Each access therefore looks at the fixed part of the
//! header first; when the length it tells is another one than last time, everything is read anew.

use super::description::{Counters, Description, Loaded};
use super::directory::remove;
use super::files::{ChunksOpen, Files, FrameReader};
use super::header::{FIXED_LEN, FrameHeader, Kind};
use super::memory::Memory;
use super::offsets::Offsets;
use super::section::Named;
use super::tail::Tail;
use super::transaction::Transaction;
use super::write::Unpublished;
use super::{header, index, legacy, metalayers, trailer};
use crate::chunk::{ChunkHeader, Decompressor};
use crate::io::lock::{Held, Kind as LockKind, Lock};
use crate::io::{Care, Portions, Stream};
use crate::{Buffer, Error, Result};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
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
    /// Held by the thread that reads all anew.
    reloading: Mutex<()>,
    pub(super) encoder: Option<index::Encoder>,
    /// What a frame in memory still has to write around its chunks.
    pub(super) unpublished: Option<Unpublished>,
    /// The changes that are not committed yet.
    pub(super) transaction: Option<Box<Transaction>>,
    /// Whether the frame is in one of the older layouts, which are only read.
    pub(super) legacy: bool,
    pub(super) care: Care,
    /// The end of what a change may have made part of the frame although it failed; else 0.
    pub(super) in_doubt: u64,
    /// The bytes of the data section from which on holes are looked for; 0 before the first change.
    pub(super) look_for_holes_at: i64,
    /// The trailer that was built last, as long as something holds it.
    last_trailer: Mutex<Weak<Vec<u8>>>,
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
    /// What is around the chunks of a frame in files, if the last change wrote all of it where it is.
    pub tail: Option<Arc<Tail>>,
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
    /// Whether the frame has a fingerprint.
    pub sealed: bool,
    /// The checksums of the chunks, once they were needed, if the frame has them.
    pub sums: Option<Option<Arc<Vec<u64>>>>,
    /// Whether a journal of the whole frame guards its changes, so that they need none of their own.
    pub is_journaled: bool,
    /// Whether a change under that journal failed, so that the frame may be neither old nor new.
    pub is_torn: bool,
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
            tail: None,
            encoded: 0,
            max_id: None,
            pending: Vec::new(),
            front_len: 0,
            stale: false,
            sealed: false,
            sums: None,
            is_journaled: false,
            is_torn: false,
        }
    }

    /// A copy to return to, without what is only kept for speed.
    pub fn snapshot(&self) -> Known {
        Known {
            offsets: self.offsets.clone(),
            pending: self.pending.clone(),
            sums: self.sums.clone(),
            tail: None,
            ..*self
        }
    }

    /// Notes what was written around the chunks.
    pub fn written(&mut self, tail: &Tail) {
        self.len = tail.frame_len();
        self.trailer_len = tail.trailer_len;
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
        let care = Care::of_environment();
        let bytes = empty_frame(description, Kind::Contiguous, care.checksums)?.to_bytes()?;
        let header = FrameHeader::parse(&bytes, Kind::Contiguous)?;
        let trailer_len = description.trailer.len() as u32;
        let memory = Memory::owned(Buffer::copy_of(&bytes)?);
        let mut known = Known::of(&header, trailer_len);
        known.sealed = care.checksums;
        Ok(Frame::new(Place::Memory(memory), None, known))
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
        files.check_care()?;
        let bytes = empty_frame(description, kind, files.care().checksums)?.to_bytes()?;
        let header = FrameHeader::parse(&bytes, kind)?;
        if files.exist() {
            let exists = std::io::Error::from_raw_os_error(libc::EEXIST);
            let path = files.directory().unwrap_or(files.path());
            return Err(Error::FileOpen.during("create").at(path).os(exists));
        }
        files.discard_leftovers();
        match files.is_durable() {
            true => Frame::write_new_durably(&files, &bytes)?,
            false => Frame::write_new(&files, &bytes)?,
        }
        let mut known = Known::of(&header, description.trailer.len() as u32);
        known.sealed = files.care().checksums;
        Ok(Frame::new(Place::Disk(Arc::new(files)), lock, known))
    }

    fn write_new_durably(files: &Files, bytes: &[u8]) -> Result<()> {
        if let Some(directory) = files.directory() {
            return files.create_directory_durably(directory, bytes);
        }
        let write = |stream: &dyn Stream| stream.write_at(0, bytes, Portions::Whole);
        let created = files.replace(files.path(), write);
        if let Err(not) = created {
            if not.is_there {
                // Nothing was there before.
                remove(files.names(), files.path());
            }
            return Err(not.error);
        }
        Ok(())
    }

    fn write_new(files: &Files, bytes: &[u8]) -> Result<()> {
        files.make_directory()?;
        let write = || {
            let stream = files.create_index()?;
            stream.write_at(0, bytes, Portions::Whole)?;
            stream.close()
        };
        if let Err(error) = write() {
            if let Some(names) = files.backend().names() {
                let _ = names.remove(files.path());
            }
            files.remove_directory();
            return Err(error);
        }
        Ok(())
    }

    /// Opens a frame in files.
    ///
    /// # Errors
    /// [`Error::FileOpen`] and [`Error::FileRead`]; [`Error::InvalidHeader`], [`Error::Data`],
    /// [`Error::FrameType`], [`Error::VersionSupport`] and those of chunks for what is no frame;
    /// [`Error::Lock`].
    pub fn open(files: Files, lock: Option<Arc<Lock>>) -> Result<(Frame, Loaded)> {
        let path = files.directory().unwrap_or(files.path()).to_path_buf();
        Frame::open_files(files, lock).map_err(|error| error.at(path))
    }

    fn open_files(files: Files, lock: Option<Arc<Lock>>) -> Result<(Frame, Loaded)> {
        files.check_care()?;
        let files = Arc::new(files);
        files.look_for_journal()?;
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
        let mut frame = Frame::new(Place::Disk(files), lock, read.known);
        frame.legacy = legacy;
        let opened = frame.complete(read.loaded);
        // The index and the first chunk belong to the header that was read.
        drop(guard);
        opened
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
        let care = match &place {
            Place::Memory(_) => Care::of_environment(),
            Place::Disk(files) => files.care(),
        };
        Frame {
            care,
            in_doubt: 0,
            look_for_holes_at: 0,
            last_trailer: Mutex::default(),
            place,
            lock,
            known: Mutex::new(known),
            reloading: Mutex::new(()),
            encoder: None,
            unpublished: None,
            transaction: None,
            legacy: false,
        }
    }

    /// The trailer with these metalayers: the one that was built last, if it holds the same and is still in use.
    /// Comparing megabytes of metalayers costs far less than building a trailer of them.
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
            Some(0..) => match self.chunk_header(0) {
                Ok(header) if header.vl_blocks => Ok(VL_BLOCKS),
                Ok(_) => Ok(0),
                // Of a frame with checksums the other chunks can be read nevertheless.
                Err(_) if self.known().sealed => Ok(0),
                Err(error) => Err(error),
            },
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

    /// Keeps the files of chunks open that are read until the result is dropped, so that no file is opened twice; none
    /// for frames whose chunks are not files.
    pub fn keep_chunks_open(&self) -> Option<ChunksOpen<'_>> {
        self.files().and_then(|files| files.keep_chunks_open())
    }

    /// Whether one of the `len` bytes at `start` may be one of the frame's, in memory or mapped, which a
    /// change of the frame overwrites, moves or frees. Only addresses are compared.
    pub fn may_lend(&self, start: *const u8, len: usize) -> bool {
        match &self.place {
            Place::Memory(memory) => memory.has(start, len),
            Place::Disk(files) => files.backend().may_lend(start, len),
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
        lock.hold_noticing(kind, || self.known().stale = true)
            .map(Some)
    }

    /// Keeps others from changing the frame until [`Frame::unlock`] was called as often.
    ///
    /// # Errors
    /// [`Error::Lock`].
    pub fn lock(&self) -> Result<()> {
        if let Some(lock) = &self.lock {
            lock.acquire_noticing(LockKind::Exclusive, || self.known().stale = true)?;
        }
        Ok(())
    }

    /// Takes a [`Frame::lock`] back.
    pub fn unlock(&self) {
        if let Some(lock) = &self.lock {
            lock.release();
        }
    }

    /// Reads what somebody else has changed, and calls `take` with it, one thread at a time; returns whether
    /// there was something.
    ///
    /// # Errors
    /// Those of [`Frame::open`]; what was known stays.
    pub fn refresh(&self, take: impl FnOnce(Loaded)) -> Result<bool> {
        let Place::Disk(files) = &self.place else {
            return Ok(false);
        };
        self.check_transaction()?;
        if self.transaction.is_some() {
            return Ok(false);
        }
        if self.known().stale {
            // A change of this handle may have failed, with its journal left.
            files.look_for_journal()?;
        }
        let (reader, replaced) = files.acquire()?;
        let fixed = reader.fixed_header()?;
        if replaced {
            self.known().stale = true;
        }
        if self.is_current(&fixed) {
            return Ok(false);
        }
        let _turn = (self.reloading.lock()).unwrap_or_else(PoisonError::into_inner);
        if self.is_current(&fixed) {
            return Ok(false);
        }
        // The other writer may not have come to the end of its change.
        files.look_for_journal()?;
        let (reader, _) = files.acquire()?;
        match self.reload(files, &reader) {
            Ok(loaded) => {
                take(loaded);
                Ok(true)
            }
            Err(error) => {
                // The next access must look again.
                self.known().stale = true;
                Err(error)
            }
        }
    }

    /// Whether a frame with this fixed part of the header is the one that is known.
    fn is_current(&self, fixed: &[u8; FIXED_LEN]) -> bool {
        let known = self.known();
        let is_same_len = known.len == header::frame_len(fixed);
        // A chunk that is removed or changed can leave the length unchanged.
        let (nbytes, cbytes) = header::data_lens(fixed);
        let is_same = || {
            let counters = &known.counters;
            self.legacy
                || counters.nbytes == nbytes && cbytes.is_none_or(|it| it == counters.cbytes)
        };
        !known.stale && is_same_len && is_same()
    }

    /// Compares a metalayer, and the sizes, with those in the file; when the metalayers differ, the next
    /// [`Frame::refresh`] reads the whole frame again, though the length of the frame is the same. Returns whether
    /// all is known to be the same, so that there is nothing to refresh.
    ///
    /// # Errors
    /// Those of reading.
    pub fn compare_metalayer(&self, name: &[u8], content: &[u8]) -> Result<bool> {
        let Place::Disk(files) = &self.place else {
            return Ok(false);
        };
        if self.legacy || self.transaction.is_some() {
            return Ok(false);
        }
        let (reader, replaced) = files.acquire()?;
        let header_len = self.known().header_len;
        let front = reader.read_vec(0, header_len as usize)?;
        let found = metalayers::parse(&front)?;
        let is_same = found
            .iter()
            .any(|layer| layer.name == name && layer.content == content);
        if replaced || !is_same {
            self.known().stale = true;
        }
        Ok(front
            .first_chunk()
            .is_some_and(|fixed| self.is_current(fixed)))
    }

    /// Compares the positions of the chunks with those that the file has, and lets `is_known` compare the rest.
    /// After a difference the next [`Frame::refresh`] reads everything again, even if the header is the same.
    ///
    /// # Errors
    /// Those of reading.
    pub fn compare_all(&self, is_known: impl FnOnce(&Loaded) -> bool) -> Result<()> {
        let Place::Disk(files) = &self.place else {
            return Ok(());
        };
        if self.legacy || self.transaction.is_some() {
            return Ok(());
        }
        let known = self.known();
        if known.stale || !known.pending.is_empty() {
            // The index of the file does not have pending chunks yet.
            return Ok(());
        }
        let before = known.offsets.clone();
        drop(known);
        let (reader, replaced) = files.acquire()?;
        let mut read = read_frame(&reader, kind_of(files))?;
        let mut is_same = !replaced && is_known(&read.loaded);
        if is_same && let Some(before) = before {
            let now = self.find_offsets(&mut read.known)?;
            is_same =
                now.len() == before.len() && (0..now.len()).all(|i| now.get(i) == before.get(i));
        }
        if !is_same {
            self.known().stale = true;
        }
        Ok(())
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
    pub fn finish(mut self) -> Result<()> {
        self.abandon();
        self.tidy();
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
pub(super) fn empty_frame(description: &Description, kind: Kind, sealed: bool) -> Result<Tail> {
    let header = build_header(description, kind)?;
    let index_at = header.len() as u64;
    let sums: Option<&[u64]> = sealed.then_some(&[]);
    Tail::new(header, index_at, Vec::new(), &description.trailer, sums)
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

fn finish_reading(
    mut known: Known,
    header: &FrameHeader,
    front: &[u8],
    back: &[u8],
) -> Result<Read> {
    known.sealed = trailer::fingerprint(back).is_some();
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
    known.offsets = Some(Arc::new(legacy.offsets));
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
