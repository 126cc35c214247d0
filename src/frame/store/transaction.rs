//! The bytes that an open transaction has written, and the states it can return to.
//!
//! While a transaction is open, the bytes that changes write are not yet part of the frame:
//!
//! | frame | change | commit | rollback |
//! |---|---|---|---|
//! | file | writes chunks after the frame | writes index, trailer, last the header | truncates |
//! | directory | creates chunk files | replaces the index, removes old files | removes new files |
//! | within a file | stages bytes in memory | writes them in place, under a journal | drops them |
//!
//! This handle reads the uncommitted state. Other handles read the committed one, since they locate
//! everything through the header or the index.

use super::cached::{CachedState, Unpublished};
use super::files::Files;
use super::journal::CommitError;
use super::space::Space;
use crate::frame::format::{FIXED_LEN, Loaded, Offsets};
use crate::io::lock::LockGuard;
use crate::io::{Stream, WriteGranularity};
use crate::os::process;
use crate::{Error, Result, trace_error, trace_warning};
use std::collections::HashSet;
use std::sync::Arc;

/// An open transaction.
pub struct Transaction {
    pub files: Arc<Files>,
    /// Id of the process that began the transaction.
    process: u32,
    /// The lock, if locking is enabled.
    held: Option<LockGuard>,
    /// The state to restore, for each level; the first is the committed state.
    pub levels: Vec<Level>,
    /// The fixed part of the committed header.
    pub fixed: [u8; FIXED_LEN],
    pub changes: Changes,
    /// Whether the transaction can only be rolled back.
    pub is_doomed: bool,
}

/// The bytes that the changes of a transaction have written.
pub enum Changes {
    /// Chunks after the committed frame.
    File {
        stream: Box<dyn Stream>,
        /// The end of the committed frame.
        end: u64,
        space: Space,
    },
    /// Files of new chunks, and those of old chunks that are removed after the commit.
    Directory {
        /// The numbers of the new files.
        created: Arc<Vec<u32>>,
        /// The numbers of the old files.
        dropped: Vec<u32>,
    },
    /// Bytes of the frame, staged in memory.
    InPlace,
}

/// The state at the start of a transaction or a nested one.
pub struct Level {
    pub cached: CachedState,
    pub unpublished: Option<Unpublished>,
    /// The size of the data section in bytes above which a change searches for holes.
    pub hole_search_threshold: i64,
    /// The super-chunk, which a rollback returns to the caller.
    pub loaded: Loaded,
    pub written: Written,
}

/// The extent of the written bytes at the start of a level.
pub struct Written {
    space: Option<Space>,
    created: usize,
    dropped: usize,
}

/// The chunk files of a directory that an open transaction must keep.
pub struct Reserved {
    committed: Arc<Offsets>,
    created: Arc<Vec<u32>>,
}

impl Reserved {
    /// Returns the file numbers.
    pub fn numbers(&self) -> impl Iterator<Item = i64> + Clone {
        let created = self.created.iter().map(|&id| i64::from(id));
        self.committed.iter().chain(created)
    }
}

impl Transaction {
    /// Returns a transaction of this process without levels. `fixed` is the fixed part of the
    /// committed header, `held` the exclusive lock.
    pub fn new(
        files: Arc<Files>,
        held: Option<LockGuard>,
        fixed: [u8; FIXED_LEN],
        changes: Changes,
    ) -> Transaction {
        Transaction {
            held,
            files,
            process: process::id(),
            levels: Vec::new(),
            fixed,
            changes,
            is_doomed: false,
        }
    }

    /// Whether this process began the transaction.
    pub fn is_ours(&self) -> bool {
        self.process == process::id()
    }

    /// Returns the committed state.
    pub fn committed(&self) -> Option<&CachedState> {
        self.levels.first().map(|level| &level.cached)
    }

    /// Returns the chunk files that must be kept; `None` for a frame in one file.
    pub fn reserved(&self) -> Option<Reserved> {
        let Changes::Directory { created, .. } = &self.changes else {
            return None;
        };
        Some(Reserved {
            committed: Arc::clone(self.committed()?.offsets.as_ref()?),
            created: Arc::clone(created),
        })
    }

    /// Returns the bytes after the committed frame that are in use; `None` for other frames.
    pub fn space(&self) -> Option<&Space> {
        match &self.changes {
            Changes::File { space, .. } => Some(space),
            _ => None,
        }
    }

    /// Writes chunks at their offsets after a header of `header_len` bytes; `used` is the space
    /// with these chunks.
    ///
    /// # Errors
    /// Returns the errors of the backend; [`Error::Failure`] for other frames than those in one
    /// file.
    pub fn write_chunks(
        &mut self,
        header_len: u64,
        chunks: &[(u64, &[u8])],
        used: Option<&Space>,
    ) -> Result<()> {
        let Changes::File { stream, space, .. } = &mut self.changes else {
            return Err(Error::Failure);
        };
        for &(position, chunk) in chunks {
            stream.write_at(header_len + position, chunk, WriteGranularity::Bytes)?;
        }
        if let Some(used) = used {
            space.clone_from(used);
        }
        // A rollback of an inner transaction needs the released bytes.
        if self.levels.len() == 1 {
            space.reclaim();
        }
        Ok(())
    }

    /// Writes new chunk files, and records that the files `unused` are not needed any more.
    ///
    /// # Errors
    /// Returns the errors of the backend; [`Error::Failure`] for other frames than those in a
    /// directory.
    pub fn write_chunk_files(&mut self, chunks: &[(u32, &[u8])], unused: &[u32]) -> Result<()> {
        let Changes::Directory { created, dropped } = &mut self.changes else {
            return Err(Error::Failure);
        };
        let first = created.len();
        let made = chunks.iter().try_for_each(|&(id, chunk)| {
            Arc::make_mut(created).push(id);
            // The commit syncs the file: syncing many files together is faster than one by one.
            let path = self.files.chunk_path(id);
            self.files.write_unreferenced(&path, chunk, false)
        });
        if let Err(error) = made {
            for id in Arc::make_mut(created).drain(first..) {
                self.files.remove(&self.files.chunk_path(id));
            }
            return Err(error);
        }
        if unused.is_empty() {
            return Ok(());
        }
        dropped.try_reserve(unused.len())?;
        // A rollback of an inner transaction needs the files.
        if self.levels.len() > 1 || created.is_empty() {
            dropped.extend(unused);
            return Ok(());
        }
        let mut rest: HashSet<u32> = unused.iter().copied().collect();
        Arc::make_mut(created).retain(|id| {
            let is_unused = rest.remove(id);
            if is_unused {
                self.files.remove(&self.files.chunk_path(*id));
            }
            !is_unused
        });
        dropped.extend(unused.iter().filter(|id| rest.contains(id)));
        Ok(())
    }

    /// Makes the new chunk files durable.
    ///
    /// # Errors
    /// Returns the errors of the backend.
    pub fn sync_chunk_files(&self) -> Result<()> {
        let Changes::Directory { created, .. } = &self.changes else {
            return Ok(());
        };
        for &id in created.iter() {
            self.files.sync_chunk_file(id)?;
        }
        if created.is_empty() {
            return Ok(());
        }
        self.files.sync_entry_at(self.files.path())
    }

    /// Removes the files of old chunks once the new index is durable.
    pub fn index_replaced(&mut self, replaced: &std::result::Result<(), CommitError>) {
        let Changes::Directory { created, dropped } = &mut self.changes else {
            return;
        };
        match replaced {
            Ok(()) => {
                for id in std::mem::take(dropped) {
                    self.files.remove(&self.files.chunk_path(id));
                }
            }
            // After a crash either index may be found, so the files of both stay.
            Err(failed) if failed.in_doubt => *created = Arc::default(),
            Err(_) => {}
        }
    }

    /// Returns the extent of the written bytes, for [`Transaction::undo`].
    pub fn written(&self) -> Written {
        let (created, dropped) = match &self.changes {
            Changes::Directory { created, dropped } => (created.len(), dropped.len()),
            _ => (0, 0),
        };
        Written { space: self.space().cloned(), created, dropped }
    }

    /// Removes the bytes written since a level, as far as possible.
    pub fn undo(&mut self, written: Written) {
        let is_first = self.levels.is_empty();
        match &mut self.changes {
            Changes::File { stream, end, space } => {
                if let Some(before) = written.space {
                    *space = before;
                }
                if is_first && let Err(error) = cut_unless_changed(&**stream, *end, &self.fixed) {
                    trace_warning!("the bytes of a transaction cannot be truncated: {error}");
                }
            }
            Changes::Directory { created, dropped } => {
                let has_files = created.len() > written.created;
                if has_files && is_unchanged(&self.files, &self.fixed) {
                    for &id in created.iter().skip(written.created) {
                        self.files.remove(&self.files.chunk_path(id));
                    }
                }
                Arc::make_mut(created).truncate(written.created);
                dropped.truncate(written.dropped);
            }
            // The staged changes of all levels are stored together.
            Changes::InPlace => {
                drop(self.files.unstage());
                self.is_doomed = true;
            }
        }
    }

    /// Checks that the frame was neither changed nor replaced since the transaction began.
    ///
    /// # Errors
    /// [`Error::FileOpen`] if it was replaced, [`Error::FileWrite`] if it was changed; the errors
    /// of reading.
    pub fn check_same_file(&self) -> Result<()> {
        let files = &self.files;
        files.check_there()?;
        if let Changes::File { stream, .. } = &self.changes {
            check_identity(files, &**stream)?;
        }
        if let Changes::Directory { created, .. } = &self.changes {
            // Another frame may have been created at the same path.
            let ops = files.file_ops();
            let is_gone = |&id: &u32| ops.identify(&files.chunk_path(id)).is_none();
            if created.iter().any(is_gone) {
                let text = "a chunk file of the transaction is missing";
                trace_error!("{text}");
                return Err(Error::FileOpen.because(text).at(files.path()));
            }
        }
        if files.acquire()?.0.fixed_header()? != self.fixed {
            let text = "another writer changed the frame during the transaction";
            trace_error!("{text}");
            return Err(Error::FileWrite.because(text).at(files.path()));
        }
        Ok(())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.is_ours() {
            // The lock and the files belong to the other process.
            std::mem::forget(self.held.take());
            return;
        }
        if let Some(first) = std::mem::take(&mut self.levels).into_iter().next() {
            self.undo(first.written);
        }
    }
}

/// Checks that `stream` is still the file at the path of the frame.
///
/// # Errors
/// [`Error::FileOpen`] if it is not.
pub fn check_identity(files: &Files, stream: &dyn Stream) -> Result<()> {
    if files.file_ops().identify(files.path()) == stream.identity() {
        return Ok(());
    }
    let text = "the file was replaced by another one during the transaction";
    trace_error!("{text}");
    Err(Error::FileOpen.because(text).at(files.path()))
}

/// Whether the index of a directory is the committed one. Otherwise another writer may have given
/// the numbers of the new chunk files to chunks of its own.
fn is_unchanged(files: &Files, committed: &[u8; FIXED_LEN]) -> bool {
    let current = files.acquire().and_then(|(stream, _)| stream.fixed_header());
    match current {
        Ok(fixed) if fixed == *committed => true,
        Ok(_) => {
            trace_warning!("chunk files of a transaction remain: another writer changed the index");
            false
        }
        Err(error) => {
            trace_warning!("chunk files of a transaction remain: {error}");
            false
        }
    }
}

/// Truncates a file at the end of the committed frame, unless another writer has changed the frame.
fn cut_unless_changed(stream: &dyn Stream, end: u64, committed: &[u8; FIXED_LEN]) -> Result<()> {
    let mut fixed = [0; FIXED_LEN];
    let read = stream.read_at(0, &mut fixed)?;
    if read == FIXED_LEN && fixed == *committed { cut(stream, end) } else { Ok(()) }
}

/// Truncates a file at the end of the frame.
///
/// # Errors
/// Returns the errors of the backend.
pub fn cut(stream: &dyn Stream, end: u64) -> Result<()> {
    if stream.size()? > end { stream.truncate(end) } else { Ok(()) }
}
