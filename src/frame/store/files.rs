//! Storage of a frame outside memory: one file, or a directory of an index file and one file per
//! chunk.
//!
//! Shared by the frame and the readers of its lazy chunks.

use super::journal::{self, CommitError, Journal, RollbackView};
use crate::chunk::{LazySource, MIN_HEADER_LENGTH};
use crate::frame::format::{FIXED_LEN, Kind, header};
use crate::io::journal::{self as io_journal, Restored, Staged};
use crate::io::lock::Lock;
use crate::io::{
    Backend, Durability, FileKind, FileOps, FileSystem, Mode, ReadAt, Reader, Stream, View,
    WriteGranularity,
};
use crate::io::{paths, temporary};
use crate::{Buffer, Error, Result, os, trace_warning};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// File name of the index of a sparse frame.
const INDEX_NAME: &str = "chunks.b2frame";
/// Extension of the files of chunks of a sparse frame.
const CHUNK_EXTENSION: &str = "chunk";

/// Removes one trailing slash or backslash from a directory path.
fn without_trailing_slash(directory: PathBuf) -> PathBuf {
    let shorter = ["/", "\\"].iter().find_map(|slash| paths::without_suffix(&directory, slash));
    match shorter {
        Some(path) if !path.as_os_str().is_empty() => path.to_path_buf(),
        _ => directory,
    }
}

/// The files of a frame.
pub struct Files {
    backend: Arc<dyn Backend>,
    /// Path of the frame, or of the index of a sparse one.
    path: PathBuf,
    /// The directory of a sparse frame.
    directory: Option<PathBuf>,
    /// The offset of the frame in its file.
    start: u64,
    reader: Reader,
    durability: Durability,
    overlay: Mutex<Option<Overlay>>,
    /// Whether `overlay` is set.
    has_overlay: AtomicBool,
    /// Whether the directory entries of the frame survive a power cut: a [`DirectoryEntries`].
    entries: AtomicU8,
    open_chunks: Mutex<OpenChunks>,
}

/// Whether the directory entries of a frame survive a power cut.
#[repr(u8)]
enum DirectoryEntries {
    /// This handle synced them.
    Synced,
    /// Another handle may have created or replaced the file without syncing them.
    Unknown,
    /// This handle replaced the file and failed to sync its directory.
    Unsynced,
}

/// A state of the frame's file that differs from its bytes.
#[derive(Clone)]
enum Overlay {
    /// The state before an interrupted change, which readers see.
    Restored(RollbackView),
    /// The staged changes of an open transaction of a frame that is changed in place.
    Staged(Staged),
}

/// Upper bound on the chunk files that reading calls keep open at the same time.
const MAX_OPEN_CHUNKS: usize = 16;

/// The chunk files kept open for reading calls.
#[derive(Default)]
struct OpenChunks {
    /// The number of active reading calls.
    calls: usize,
    /// Chunk file numbers and files, most recently opened first.
    files: VecDeque<(u32, Arc<dyn Stream>)>,
}

/// Keeps chunk files open until it is dropped.
pub struct ChunksOpen<'a>(&'a Files);

impl Drop for ChunksOpen<'_> {
    fn drop(&mut self) {
        let mut open = self.0.open_chunks();
        open.calls -= 1;
        if open.calls == 0 {
            open.files.clear();
        }
    }
}

/// Returns the default durability of frames of a backend.
fn durability_of(backend: &dyn Backend) -> Durability {
    let mut everywhere = Durability::of_environment();
    // Durability needs rename and fsync; the environment variable is ignored for backends without
    // them.
    everywhere.durable &= backend.file_ops().is_some();
    backend.durability().and(everywhere)
}

impl Files {
    /// Returns the file of a frame at offset `start` of the file at `path`.
    pub fn contiguous(backend: Arc<dyn Backend>, path: PathBuf, start: u64) -> Files {
        Files {
            reader: Reader::new(Arc::clone(&backend), path.clone()),
            durability: durability_of(&*backend),
            backend,
            path,
            directory: None,
            start,
            overlay: Mutex::default(),
            has_overlay: AtomicBool::new(false),
            entries: AtomicU8::new(DirectoryEntries::Unknown as u8),
            open_chunks: Mutex::default(),
        }
    }

    /// Returns the files of a frame in a directory; `start` is its offset in the index file.
    pub fn sparse(backend: Arc<dyn Backend>, directory: PathBuf, start: u64) -> Files {
        let directory = without_trailing_slash(directory);
        let index = Files::contiguous(backend, directory.join(INDEX_NAME), start);
        Files { directory: Some(directory), ..index }
    }

    /// Returns the files with this durability added.
    pub fn with_durability(mut self, durability: Durability) -> Files {
        self.durability = self.durability.and(durability);
        self
    }

    /// Returns the durability of the frame.
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Checks that the backend supports the requested durability.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for durable changes of files that cannot be renamed.
    pub fn check_durability(&self) -> Result<()> {
        if self.durability.durable && self.backend.file_ops().is_none() {
            let why = "durable changes need a backend whose files can be renamed";
            return Err(Error::InvalidParam.at(&self.path).because(why));
        }
        Ok(())
    }

    /// Whether the frame must survive an interrupted change.
    pub fn is_durable(&self) -> bool {
        self.durability.durable
    }

    /// Whether changes can be written to a new file or after the frame, because its file contains
    /// no other data.
    pub fn is_replaceable(&self) -> bool {
        self.durability.durable && self.start == 0
    }

    /// Creates the file of a new frame with these bytes, or the directory and the index of a sparse
    /// one. Files that interrupted changes of an earlier frame left beside the path are removed.
    ///
    /// # Errors
    /// [`Error::FileOpen`] if the path exists or cannot be created; the errors of the backend.
    /// Nothing is left.
    pub fn create(&self, bytes: &[u8]) -> Result<()> {
        let path = self.root();
        if self.file_ops().identify(path).is_some() {
            return Err(Error::FileOpen.during("create").at(path).os(os::files::exists()));
        }
        if let (None, Some(ops)) = (&self.directory, self.backend.file_ops()) {
            io_journal::discard(ops, &self.path, io_journal::FRAME_SUFFIX, None);
            temporary::remove_leftovers(ops, &self.path, temporary::FRAME_SUFFIX);
        }
        match &self.directory {
            Some(directory) if self.is_durable() => self.create_directory_durably(directory, bytes),
            None if self.is_durable() => self.create_file_durably(bytes),
            _ => return self.create_at_once(bytes),
        }?;
        self.entries.store(DirectoryEntries::Synced as u8, Ordering::Relaxed);
        Ok(())
    }

    fn create_at_once(&self, bytes: &[u8]) -> Result<()> {
        if let Some(directory) = &self.directory {
            self.file_ops().make_directory(directory)?;
        }
        // A dangling symbolic link is followed. Any other entry is the file of another process,
        // created since the check: it is neither truncated nor removed.
        let created = match self.backend.file_ops() {
            Some(ops) if !self.is_link() => ops.create_new(&self.path, false),
            _ => self.backend.open(&self.path, Mode::Create),
        };
        // The first error matters more than a failure to remove.
        let written = created.and_then(|stream| {
            self.reader.expect(stream.identity());
            let written =
                stream.write_at(0, bytes, WriteGranularity::Whole).and_then(|()| stream.close());
            written.inspect_err(|_| {
                if let Some(ops) = self.backend.file_ops()
                    && self.reader.is_named(ops)
                {
                    // Not the link, but its target.
                    let _ = ops.remove(&ops.resolve(&self.path));
                }
                self.reader.forget();
            })
        });
        written.inspect_err(|_| {
            if let Some(directory) = &self.directory {
                let _ = self.file_ops().remove_directory(directory);
            }
        })
    }

    /// Whether the path is a symbolic link.
    fn is_link(&self) -> bool {
        let found = self.file_ops().attributes(&self.path);
        found.is_some_and(|found| found.kind == FileKind::Link)
    }

    fn create_file_durably(&self, bytes: &[u8]) -> Result<()> {
        // A dangling symbolic link is replaced; a file that another process created since the check
        // is not.
        let is_new = !self.is_link();
        let write = |stream: &dyn Stream| stream.write_at(0, bytes, WriteGranularity::Whole);
        self.publish(write, is_new).map_err(|failed| {
            if failed.in_doubt && self.is_named() {
                self.remove(&self.path);
            }
            self.reader.forget();
            failed.error
        })
    }

    fn create_directory_durably(&self, directory: &Path, index: &[u8]) -> Result<()> {
        let ops = self.file_ops();
        let (temporary, stream) =
            temporary::create_directory(ops, directory, temporary::FRAME_SUFFIX, INDEX_NAME)?;
        let made = stream
            .write_at(0, index, WriteGranularity::Bytes)
            .and_then(|()| stream.sync())
            .and_then(|()| ops.sync_directory(&temporary));
        temporary::check(ops, &temporary.join(INDEX_NAME), &*stream)
            .map_err(|error| temporary::error_of_target(error, &temporary, directory))?;
        let identity = stream.identity();
        // The file is open, and claimed, until the directory has its name, if the system can rename
        // it then.
        let stream = os::files::RENAMES_DIRECTORIES_OF_OPEN_FILES.then_some(stream);
        let made = made.and_then(|()| ops.rename_new(&temporary, directory));
        drop(stream);
        let lasts = made
            .map_err(|error| (error, &*temporary))
            .and_then(|()| self.sync_entry_at(directory).map_err(|error| (error, directory)));
        lasts.map_err(|(error, there)| {
            let index = there.join(INDEX_NAME);
            if temporary::check_identity(ops, &index, identity).is_ok() {
                let _ = ops.remove(&index);
                let _ = ops.remove_directory(there);
            }
            temporary::error_of_target(error, &temporary, directory)
        })?;
        self.reader.expect(identity);
        Ok(())
    }

    /// Checks that the frame's file, or the index of a sparse one, still exists: a change must not
    /// restore a removed file.
    ///
    /// # Errors
    /// [`Error::FileOpen`] if it was removed.
    pub fn check_there(&self) -> Result<()> {
        match self.file_ops().identify(&self.path) {
            Some(_) => Ok(()),
            None => {
                let gone = os::files::not_found();
                Err(Error::FileOpen.during("change").at(&self.path).os(gone))
            }
        }
    }

    /// Like [`Files::replace`], with a file of these bytes.
    ///
    /// # Errors
    /// Returns the same errors as [`Files::replace`].
    pub fn replace_with(&self, bytes: &[u8]) -> std::result::Result<(), CommitError> {
        self.replace(|stream| stream.write_at(0, bytes, WriteGranularity::Whole))
    }

    /// Atomically and durably replaces or creates the frame's file, or the index of a sparse one,
    /// with a file that `write` fills.
    ///
    /// # Errors
    /// Returns the errors of `write`, and of the backend. The change is in doubt if the file was
    /// replaced, but the replacement may not survive a crash.
    pub fn replace(
        &self,
        write: impl FnOnce(&dyn Stream) -> Result<()>,
    ) -> std::result::Result<(), CommitError> {
        self.publish(write, false)
    }

    /// Like [`Files::replace`]; if `is_new`, a file at the path is an error.
    fn publish(
        &self,
        write: impl FnOnce(&dyn Stream) -> Result<()>,
        is_new: bool,
    ) -> std::result::Result<(), CommitError> {
        let ops = self.file_ops();
        let target = ops.resolve(&self.path);
        let exists = !is_new && ops.identify(&target).is_some();
        let made = temporary::create(ops, &target, temporary::FRAME_SUFFIX, exists);
        let replaced = made.and_then(|(temporary, stream)| {
            let copied = if exists { ops.copy_permissions(&target, &temporary) } else { Ok(()) };
            copied
                .and_then(|()| write(&*stream))
                .and_then(|()| stream.sync())
                .and_then(|()| temporary::check(ops, &temporary, &*stream))
                .and_then(|()| {
                    // Not all file systems of Windows can replace open files.
                    self.reader.close();
                    if is_new {
                        ops.rename_new(&temporary, &target)
                    } else {
                        ops.rename(&temporary, &target)
                    }
                })
                .inspect_err(|_| temporary::discard(ops, &temporary, &*stream))
                .map_err(|error| temporary::error_of_target(error, &temporary, &self.path))
                .map(|()| stream.identity())
        });
        let identity = replaced.map_err(CommitError::undone)?;
        self.reader.expect(identity);
        let synced = self.sync_entry_at(&target);
        if synced.is_err() {
            self.entries.store(DirectoryEntries::Unsynced as u8, Ordering::Relaxed);
        }
        synced.map_err(|error| CommitError { error, in_doubt: true })
    }

    /// Makes the directory entries of the frame durable, unless this handle did so before.
    ///
    /// # Errors
    /// Returns the errors of the backend. A directory that this process may not read, or whose file
    /// system does not sync directories, cannot be synced; that is an error only if this handle
    /// replaced the file.
    fn sync_entries(&self) -> Result<()> {
        // Relaxed: at worst two changes sync the entries.
        let entries = self.entries.load(Ordering::Relaxed);
        if entries == DirectoryEntries::Synced as u8 {
            return Ok(());
        }
        let ops = self.file_ops();
        let paths = [Some(&self.path), self.directory.as_ref()];
        let synced =
            paths.into_iter().flatten().try_for_each(|path| self.sync_entry_at(&ops.resolve(path)));
        let can_sync = |error: &Error| !error.errno().is_some_and(os::files::is_sync_unsupported);
        match synced {
            Err(error) if entries == DirectoryEntries::Unsynced as u8 || can_sync(&error) => {
                Err(error)
            }
            _ => {
                self.entries.store(DirectoryEntries::Synced as u8, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// Makes the directory entry of a file durable.
    pub fn sync_entry_at(&self, path: &Path) -> Result<()> {
        let directory = path.parent().unwrap_or(Path::new(""));
        self.file_ops().sync_directory(directory)
    }

    /// Removes an unreferenced file. A failure is harmless: the file only uses disk space.
    pub fn remove(&self, path: &Path) {
        if let Err(error) = self.file_ops().remove(path) {
            trace_warning!("the file {} cannot be removed: {error}", path.display());
        }
    }

    /// Whether the path names the file that this handle created or read last.
    pub fn is_named(&self) -> bool {
        self.reader.is_named(self.file_ops())
    }

    /// Removes the files of a frame that this handle created and the lock file that it opened, as
    /// far as possible. Without file operations of the backend they stay, as does another file that
    /// was renamed to the path.
    pub fn remove_created(&self, lock: Option<&Lock>) {
        let Some(ops) = self.backend.file_ops() else {
            return;
        };
        let is_ours = self.is_named() && self.start == 0;
        self.forget_reader();
        if !is_ours {
            return;
        }
        if let Some(lock) = lock {
            lock.remove();
        }
        let Some(directory) = &self.directory else {
            // Not the link, but its target.
            return self.remove(&ops.resolve(&self.path));
        };
        for name in ops.list(directory).unwrap_or_default() {
            let path = directory.join(name);
            if path == self.path || path.extension().is_some_and(|it| it == CHUNK_EXTENSION) {
                self.remove(&path);
            }
        }
        if let Err(error) = ops.remove_directory(directory) {
            trace_warning!("the directory {} cannot be removed: {error}", directory.display());
        }
    }

    /// Returns the file operations of the backend, or those of the file system if the backend has
    /// none.
    pub fn file_ops(&self) -> &dyn FileOps {
        self.backend.file_ops().unwrap_or(&FileSystem)
    }

    /// Returns the backend of the files.
    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// Returns the path of the frame, or of the index of a sparse one.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the frame: its file or its directory.
    pub fn root(&self) -> &Path {
        self.directory.as_deref().unwrap_or(&self.path)
    }

    /// Returns the directory of a sparse frame.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Returns the kind of frame in these files.
    pub fn kind(&self) -> Kind {
        if self.is_sparse() { Kind::Sparse } else { Kind::Contiguous }
    }

    /// Whether each chunk has its own file.
    pub fn is_sparse(&self) -> bool {
        self.directory.is_some()
    }

    /// Returns the offset of the frame in its file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Looks for the journal of the frame. If it records an interrupted change, readers see the
    /// state before that change. Not called while changes are staged.
    ///
    /// # Errors
    /// Returns the errors of reading the frame's file or the journal.
    pub fn look_for_journal(&self) -> Result<()> {
        debug_assert!(self.staged().is_none());
        let found = journal::inspect(self.backend(), &self.path)?;
        self.set_overlay(&mut self.overlay(), found.map(Overlay::Restored));
        Ok(())
    }

    /// Rolls back an interrupted change, and makes the name of a replaced file durable, before the
    /// frame is changed again. Not called while changes are staged.
    ///
    /// # Errors
    /// [`Error::Lock`] while another process is changing it; the errors of the backend.
    pub fn recover(&self) -> Result<()> {
        debug_assert!(self.staged().is_none());
        if self.is_durable() {
            self.sync_entries()?;
        }
        let mut overlay = self.overlay();
        let shown = match &*overlay {
            Some(Overlay::Restored(shown)) => Some(shown),
            _ => None,
        };
        journal::recover(self.backend(), &self.path, shown)?;
        self.set_overlay(&mut overlay, None);
        Ok(())
    }

    /// Writes a staged change of a frame of `old_len` bytes under a journal.
    ///
    /// # Errors
    /// [`Error::InvalidHeader`] if the change has no header; the errors of the journal and the
    /// backend.
    pub fn commit_staged(&self, staged: &Staged, old_len: u64) -> Result<()> {
        let mut fixed = [0; FIXED_LEN];
        if staged.read_at(self.start, &mut fixed)? != FIXED_LEN {
            return Err(Error::InvalidHeader);
        }
        let len = (old_len, header::frame_len(&fixed));
        let journal = Journal::begin(self.backend(), &self.path, self.start, len, staged)?;
        let ended = journal.end(staged.apply(self.start));
        ended.map_err(|failed| {
            // This handle must also see the state before the change.
            if failed.in_doubt
                && let Err(error) = self.look_for_journal()
            {
                trace_warning!("the journal cannot be read: {error}");
            }
            failed.error
        })
    }

    /// Stages all following changes of the file in memory, where this handle reads them.
    ///
    /// # Errors
    /// Returns the errors of opening the file.
    pub fn stage(&self) -> Result<()> {
        let staged = Staged::new(Arc::from(self.open_for_update()?))?;
        self.set_overlay(&mut self.overlay(), Some(Overlay::Staged(staged)));
        Ok(())
    }

    /// Ends [`Files::stage`] and returns the staged changes.
    pub fn unstage(&self) -> Option<Staged> {
        let staged = self.staged()?;
        self.set_overlay(&mut self.overlay(), None);
        Some(staged)
    }

    fn overlay(&self) -> MutexGuard<'_, Option<Overlay>> {
        self.overlay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_overlay(&self, overlay: &mut Option<Overlay>, new: Option<Overlay>) {
        self.has_overlay.store(new.is_some(), Ordering::Release);
        *overlay = new;
    }

    /// Returns a copy of the overlay; does not lock if there is none.
    fn current_overlay(&self) -> Option<Overlay> {
        let has_overlay = self.has_overlay.load(Ordering::Acquire);
        has_overlay.then(|| self.overlay().clone()).flatten()
    }

    /// Returns the staged changes of an open transaction.
    fn staged(&self) -> Option<Staged> {
        match self.current_overlay()? {
            Overlay::Staged(staged) => Some(staged),
            Overlay::Restored(_) => None,
        }
    }

    /// Returns a reader of the frame's file as readers must see it.
    fn reader_of(&self, stream: Arc<dyn Stream>) -> FrameReader {
        FrameReader {
            stream: match self.current_overlay() {
                Some(Overlay::Staged(staged)) => Arc::new(staged),
                Some(Overlay::Restored(state)) => Arc::new(Restored::new(stream, state.image)),
                None => stream,
            },
            start: self.start,
        }
    }

    /// Opens the frame, or the index of a sparse one; also returns whether the file, or the state
    /// that readers must see, was replaced since the last call.
    pub fn acquire(&self) -> Result<(FrameReader, bool)> {
        let (stream, mut replaced) = self.reader.acquire()?;
        if self.has_overlay.load(Ordering::Acquire) {
            let mut overlay = self.overlay();
            if let Some(Overlay::Restored(state)) = &*overlay
                && (replaced || !state.is_current(self.file_ops()))
            {
                self.set_overlay(&mut overlay, None);
                replaced = true;
            }
        }
        Ok((self.reader_of(stream), replaced))
    }

    /// Returns the most recently acquired frame file, or index of a sparse frame.
    pub fn latest(&self) -> Result<FrameReader> {
        Ok(self.reader_of(self.reader.latest()?))
    }

    /// Drops the cached file after it was replaced.
    pub fn forget_reader(&self) {
        self.reader.forget();
    }

    /// Opens the frame, or the index of a sparse one, for writing.
    ///
    /// # Errors
    /// [`Error::FileOpen`] if another file was renamed to the path since the last
    /// [`Files::acquire`]: a change made for the old file would damage the new one. Those of the
    /// backend.
    pub fn open_for_update(&self) -> Result<Box<dyn Stream>> {
        if let Some(staged) = self.staged() {
            return Ok(Box::new(staged));
        }
        let stream = self.backend.open(&self.path, Mode::Update)?;
        if self.reader.is_another(&*stream) {
            let why = "another file was renamed to its path since it was read";
            return Err(Error::FileOpen.at(&self.path).because(why));
        }
        Ok(stream)
    }

    /// Returns the path of a chunk file.
    pub fn chunk_path(&self, id: u32) -> PathBuf {
        let name = format!("{id:08X}.{CHUNK_EXTENSION}");
        self.directory.as_deref().unwrap_or(Path::new("")).join(name)
    }

    /// Returns the error for a chunk file that is shorter than the header of its chunk records.
    #[cold]
    pub fn short_chunk_file(&self, id: u32) -> Error {
        ends_early().during("read").at(self.chunk_path(id))
    }

    /// Opens a chunk file. While reading calls are active, the file stays open for them.
    ///
    /// # Errors
    /// [`Error::FileOpen`] if it does not exist.
    pub fn open_chunk(&self, id: u32) -> Result<Arc<dyn Stream>> {
        let stream: Arc<dyn Stream> =
            Arc::from(self.backend.open(&self.chunk_path(id), Mode::Read)?);
        let mut open = self.open_chunks();
        if open.calls > 0 {
            // A file that was opened before may have been replaced.
            open.files.retain(|&(other, _)| other != id);
            open.files.truncate(MAX_OPEN_CHUNKS - 1);
            open.files.push_front((id, Arc::clone(&stream)));
        }
        Ok(stream)
    }

    /// Keeps opened chunk files open until the result is dropped, at most `MAX_OPEN_CHUNKS` of
    /// them. `None` for a contiguous frame, and for a program's own backend, whose streams must not
    /// be shared between threads.
    pub fn keep_chunks_open(&self) -> Option<ChunksOpen<'_>> {
        if self.directory.is_none() || self.backend.file_ops().is_none() {
            return None;
        }
        self.open_chunks().calls += 1;
        Some(ChunksOpen(self))
    }

    fn open_chunks(&self) -> MutexGuard<'_, OpenChunks> {
        self.open_chunks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a whole chunk file into `scratch`, which grows if needed; returns its size in bytes.
    ///
    /// # Errors
    /// [`Error::FileOpen`] if it does not exist, [`Error::FileRead`] if it is too short for a
    /// chunk.
    pub fn read_chunk_file(&self, id: u32, scratch: &mut Buffer) -> Result<usize> {
        let stream = self.backend.open(&self.chunk_path(id), Mode::Read)?;
        let len = usize::try_from(stream.size()?).map_err(|_| Error::FileRead)?;
        let short = |id| {
            let error = Error::FileRead.during("read").at(self.chunk_path(id));
            error.because("its size is not that of a chunk")
        };
        if len < MIN_HEADER_LENGTH || i32::try_from(len).is_err() {
            return Err(short(id));
        }
        if stream.read_at(0, scratch.ensure_len(len)?)? != len {
            return Err(short(id));
        }
        Ok(len)
    }

    /// Syncs a chunk file.
    pub fn sync_chunk_file(&self, id: u32) -> Result<()> {
        let stream = self.backend.open(&self.chunk_path(id), Mode::Update)?;
        stream.sync()
    }

    /// Writes a file that no index refers to yet, and syncs it if `is_durable`. An existing file at
    /// its path is removed first; symbolic links are not followed. On a backend without file
    /// operations an existing file is overwritten.
    pub fn write_unreferenced(&self, path: &Path, bytes: &[u8], is_durable: bool) -> Result<()> {
        let stream = match self.backend.file_ops() {
            None => self.backend.open(path, Mode::Create)?,
            Some(ops) => {
                if ops.attributes(path).is_some() {
                    ops.remove(path)?;
                }
                ops.create_new(path, false)?
            }
        };
        stream.write_at(0, bytes, WriteGranularity::Bytes)?;
        if is_durable {
            stream.sync()?;
        }
        stream.close()
    }
}

impl LazySource for Files {
    fn open(&self, nchunk: i32, offset: u64) -> Result<(Arc<dyn ReadAt>, u64)> {
        if self.is_sparse() {
            // The trailer of a lazy chunk holds the file number as raw bits, signed or not.
            let id = nchunk as u32;
            let is_it = |&&(other, _): &&(u32, _)| other == id;
            let found = self.open_chunks().files.iter().find(is_it).cloned();
            let stream = match found {
                Some((_, stream)) => stream,
                None => self.open_chunk(id)?,
            };
            return Ok((Arc::new(stream), 0));
        }
        let position = self.start.checked_add(offset).ok_or(Error::InvalidHeader)?;
        if self.backend.file_ops().is_some() || self.has_overlay.load(Ordering::Acquire) {
            return Ok((Arc::new(self.latest()?.stream), position));
        }
        // Streams of a program's own backend are not shared by threads.
        let each = OpenedAtEachRead { backend: Arc::clone(&self.backend), path: self.path.clone() };
        Ok((Arc::new(each), position))
    }
}

/// A file that is opened for each read.
struct OpenedAtEachRead {
    backend: Arc<dyn Backend>,
    path: PathBuf,
}

impl ReadAt for OpenedAtEachRead {
    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        let stream = self.backend.open(&self.path, Mode::Read)?;
        stream.read_at(position, dest)
    }
}

/// The open file of a frame; offsets are relative to the start of the frame.
pub struct FrameReader {
    stream: Arc<dyn Stream>,
    start: u64,
}

impl FrameReader {
    /// Returns a reader of one chunk file of a sparse frame.
    pub fn of_chunk_file(stream: Arc<dyn Stream>) -> FrameReader {
        FrameReader { stream, start: 0 }
    }

    fn position(&self, position: u64) -> Result<u64> {
        self.start.checked_add(position).ok_or(Error::InvalidHeader)
    }

    /// Fills `dest`.
    ///
    /// # Errors
    /// [`Error::FileRead`] at the end of the file.
    pub fn read(&self, position: u64, dest: &mut [u8]) -> Result<()> {
        if self.stream.read_at(self.position(position)?, dest)? == dest.len() {
            Ok(())
        } else {
            Err(ends_early())
        }
    }

    /// Reads `len` bytes into a new vector. The caller has checked `len` against the file size.
    pub fn read_vec(&self, position: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len)?;
        bytes.resize(len, 0);
        self.read(position, &mut bytes)?;
        Ok(bytes)
    }

    /// Borrows the bytes from a backend that keeps files in memory.
    pub fn view(&self, position: u64, len: usize) -> Option<View> {
        self.stream.view(self.position(position).ok()?, len)
    }

    /// Reads the fixed-length start of the header.
    pub fn fixed_header(&self) -> Result<[u8; FIXED_LEN]> {
        let mut bytes = [0; FIXED_LEN];
        self.read(0, &mut bytes)?;
        Ok(bytes)
    }

    /// Returns the number of bytes from the start of the frame to the end of the file.
    pub fn available(&self) -> Result<u64> {
        let size = self.stream.size()?;
        size.checked_sub(self.start).ok_or_else(ends_early)
    }
}

/// Returns the error for a file shorter than its header records.
#[cold]
fn ends_early() -> Error {
    Error::FileRead.because("the file is shorter than its header records")
}

#[cfg(test)]
mod tests;
