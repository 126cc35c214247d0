//! The frame: its storage, its locks, its cached state, and its open transaction. `ops` implements
//! the operations on it.

use super::cached::{CachedState, Unpublished};
use super::files::{ChunksOpen, Files};
use super::memory::Memory;
use super::transaction::{Changes, Transaction};
use crate::frame::format::{Description, IndexForm, Kind, Loaded, Named, index, trailer};
use crate::io::Durability;
use crate::io::lock::{Kind as LockKind, Lock, LockGuard};
use crate::{Error, Result, trace_error};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A super-chunk serialized as one buffer, one file or one directory.
pub struct Frame {
    pub(in crate::frame) location: Location,
    pub(in crate::frame) lock: Option<Arc<Lock>>,
    cached: Mutex<CachedState>,
    /// Held by the thread that reloads the frame.
    pub(in crate::frame) reloading: Mutex<()>,
    pub(in crate::frame) encoder: Option<index::Encoder>,
    pub(in crate::frame) unpublished: Option<Unpublished>,
    pub(in crate::frame) transaction: Option<Box<Transaction>>,
    /// Whether the frame has one of the older layouts, which are read-only.
    pub(in crate::frame) legacy: bool,
    durability: Durability,
    /// The end of the bytes that a failed change may have made part of the frame; 0 if there are
    /// none.
    pub(in crate::frame) in_doubt: u64,
    /// The size of the data section in bytes above which a change searches for holes; 0 before the
    /// first change.
    pub(in crate::frame) hole_search_threshold: i64,
    /// The process that changed the frame last through this handle; `None` before the first change.
    pub(in crate::frame) changed_by: Option<u32>,
    /// The most recently built trailer, while it is still in use.
    last_trailer: Mutex<Weak<Vec<u8>>>,
}

/// The storage of a frame.
pub enum Location {
    /// One buffer.
    Memory(Memory),
    /// One file or one directory.
    Disk(Arc<Files>),
}

impl Frame {
    /// Returns a frame without a transaction.
    pub(in crate::frame) fn new(
        location: Location,
        lock: Option<Arc<Lock>>,
        cached: CachedState,
    ) -> Frame {
        let durability = match &location {
            Location::Memory(_) => Durability::of_environment(),
            Location::Disk(files) => files.durability(),
        };
        Frame {
            durability,
            in_doubt: 0,
            hole_search_threshold: 0,
            changed_by: None,
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

    /// Locks the cached state.
    pub(in crate::frame) fn cached(&self) -> MutexGuard<'_, CachedState> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the cached state without locking it.
    pub(in crate::frame) fn cached_mut(&mut self) -> &mut CachedState {
        self.cached.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the bytes of a frame in memory and the cached state; `None` for a frame in files.
    pub(in crate::frame) fn memory_and_cached(
        &mut self,
    ) -> Option<(&mut Memory, &mut CachedState)> {
        let cached = self.cached.get_mut().unwrap_or_else(PoisonError::into_inner);
        match &mut self.location {
            Location::Memory(memory) => Some((memory, cached)),
            Location::Disk(_) => None,
        }
    }

    /// Returns the storage of the chunks.
    pub(in crate::frame) fn kind(&self) -> Kind {
        self.files().map_or(Kind::Contiguous, |files| files.kind())
    }

    /// Whether each chunk has its own file.
    pub fn is_sparse(&self) -> bool {
        self.kind() == Kind::Sparse
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
    /// a change of the frame overwrites, moves or frees; `None` if this is unknown. Only addresses
    /// are compared.
    pub fn lends(&self, start: *const u8, len: usize) -> Option<bool> {
        match &self.location {
            Location::Memory(memory) => Some(memory.has(start, len)),
            Location::Disk(files) => files.backend().lends(start, len),
        }
    }

    /// Returns the file or directory of the frame.
    pub fn path(&self) -> Option<PathBuf> {
        self.files().map(|files| files.root().to_path_buf())
    }

    /// Locks the frame against changes and readers of other processes until the guard is dropped.
    /// Does nothing without a lock file.
    ///
    /// # Errors
    /// [`Error::Lock`].
    pub fn lock_exclusive(&self) -> Result<Option<LockGuard>> {
        self.acquire(LockKind::Exclusive)
    }

    /// Like [`Frame::lock_exclusive`], for a call of one thread that changes several chunks: each
    /// change increments the generation in the lock file, as in C-Blosc2.
    ///
    /// # Errors
    /// [`Error::Lock`].
    pub fn lock_call(&self) -> Result<Option<LockGuard>> {
        self.acquire(LockKind::Call)
    }

    /// Locks the frame against changes while it is read.
    ///
    /// # Errors
    /// [`Error::Lock`].
    pub fn lock_shared(&self) -> Result<Option<LockGuard>> {
        self.acquire(LockKind::Shared)
    }

    fn acquire(&self, kind: LockKind) -> Result<Option<LockGuard>> {
        let Some(lock) = &self.lock else {
            return Ok(None);
        };
        lock.acquire_guard_noticing(kind, || self.cached().stale = true).map(Some)
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

    /// Returns the trailer with these metalayers. The most recently built one is reused if it has
    /// the same content and is still in use: comparing megabytes of metalayers costs far less than
    /// building a trailer.
    ///
    /// # Errors
    /// Returns the errors of [`trailer::build`].
    pub fn trailer(&self, vlmetalayers: &[Named<'_>]) -> Result<Arc<Vec<u8>>> {
        let mut last = self.last_trailer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trailer) = last.upgrade()
            && trailer::is_of(&trailer, vlmetalayers)
        {
            return Ok(trailer);
        }
        let trailer = Arc::new(trailer::build(vlmetalayers, None)?);
        *last = Arc::downgrade(&trailer);
        Ok(trailer)
    }

    /// Adds checksums to the frame from the next change on.
    pub fn add_checksums(&mut self) {
        self.durability =
            self.durability.and(Durability { checksums: true, ..Durability::default() });
    }

    /// Whether changes are written with checksums.
    pub fn has_fingerprint(&self) -> bool {
        self.durability.checksums || self.cached().is_fingerprinted
    }

    /// Whether a change leaves everything that the frame refers to intact until it is committed.
    pub(in crate::frame) fn keeps_old_state(&self) -> bool {
        self.files().is_some_and(|files| files.is_replaceable())
    }

    /// Whether changes are written after the end of the current frame.
    pub(in crate::frame) fn has_shadows(&self) -> bool {
        self.keeps_old_state() && !self.is_sparse()
    }

    /// Returns the offset of the first byte that a change may write.
    pub(in crate::frame) fn shadow_end(&mut self) -> u64 {
        let in_doubt = self.in_doubt;
        self.cached_mut().len.max(in_doubt)
    }

    /// Returns the number of bytes from the end of the header to the first byte that a change may
    /// write.
    pub(in crate::frame) fn shadow_data_len(&mut self) -> i64 {
        let open = self.transaction.as_deref();
        if let Some(space) = open.and_then(Transaction::space) {
            return space.end() as i64;
        }
        let end = self.shadow_end();
        (end - u64::from(self.cached_mut().header_len)) as i64
    }

    /// Records the contents of header and trailer, which are written later. The index keeps its
    /// encoding, unless `form` is another one.
    pub(in crate::frame) fn publish_later(
        &mut self,
        description: &Description,
        form: Option<IndexForm>,
    ) {
        let nchunks = description.counters.nchunks.max(0) as usize;
        let form = form.or(self.unpublished.as_ref().map(|before| before.form));
        self.unpublished = Some(Unpublished {
            description: description.clone(),
            form: form.unwrap_or(IndexForm::Encoded(index::capacity(nchunks))),
        });
    }

    /// Whether the frame supports transactions: durable files and directories do.
    pub fn has_transactions(&self) -> bool {
        let has = |files: &Files| files.is_durable() && !(files.is_sparse() && files.start() > 0);
        !self.legacy && self.files().is_some_and(|files| has(files))
    }

    /// Whether an open transaction keeps its changes out of the header and the index until its
    /// commit.
    pub fn defers_changes(&self) -> bool {
        self.deferring().is_some()
    }

    /// Returns the open transaction that keeps its changes out of the header and the index until
    /// its commit.
    pub(in crate::frame) fn deferring(&self) -> Option<&Transaction> {
        let open = self.transaction.as_deref();
        open.filter(|open| !matches!(open.changes, Changes::InPlace))
    }

    /// Fails if the open transaction belongs to another process.
    pub(in crate::frame) fn check_transaction(&self) -> Result<()> {
        match &self.transaction {
            Some(open) if !open.is_ours() => {
                trace_error!("a transaction belongs to the process that began it");
                Err(Error::InvalidParam)
            }
            _ => Ok(()),
        }
    }

    /// Fails if the open transaction can only be rolled back.
    pub(in crate::frame) fn check_not_doomed(&self) -> Result<()> {
        match &self.transaction {
            Some(open) if open.is_doomed => {
                trace_error!(
                    "an inner transaction was rolled back, so the outer one can only be rolled back"
                );
                Err(Error::Failure)
            }
            _ => Ok(()),
        }
    }

    /// Prepares a change; rolls an interrupted one back first.
    pub(in crate::frame) fn prepare_change(&mut self) -> Result<()> {
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

    /// Rolls back all levels of the open transaction; `is_stale` makes the next access read the
    /// frame again. Returns the super-chunk before the transaction.
    pub(in crate::frame) fn roll_back(&mut self, is_stale: bool) -> Option<Loaded> {
        let mut open = self.transaction.take()?;
        let first = std::mem::take(&mut open.levels).into_iter().next()?;
        if open.is_ours() && !(is_stale && self.in_doubt > 0) {
            open.undo(first.written);
        } else if !open.is_ours()
            && let Some(files) = self.files()
        {
            // A forked child drops its copy of the staged changes.
            files.unstage();
        }
        self.unpublished = None;
        self.hole_search_threshold = first.hole_search_threshold;
        *self.cached_mut() = CachedState {
            encoded: 0,
            stale: first.cached.stale | is_stale,
            is_journaled: false,
            is_torn: false,
            ..first.cached
        };
        Some(first.loaded)
    }
}
