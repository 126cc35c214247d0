//! Several changes of a durable frame that are committed as one.
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
//! everything through the header or the index. A commit is one write within a sector if the header
//! fits into a sector, otherwise one change under the journal; if the header changes its length, a
//! new file.
//!
//! Transactions can be nested: an inner rollback restores the state at the start of the inner
//! transaction, and an inner commit makes its changes part of the outer transaction. A transaction
//! belongs to the process that began it. In a forked child the handle only returns errors until it
//! rolls back, which leaves the files unchanged.

use super::description::{Description, Loaded};
use super::directory::remove;
use super::file::{check_bytes_after, commit_staged};
use super::files::Files;
use super::footer::{Footer, check_header_len};
use super::frame::{CachedState, Frame, build_header};
use super::header::{self, FIXED_LEN};
use super::index;
use super::offsets::Offsets;
use super::plan::Plan;
use super::shadow::Shadow;
use super::space::Space;
use super::write::{IndexForm, Unpublished};
use crate::io::journal::Staged;
use crate::io::lock::{Held, InTransaction};
use crate::io::{Stream, WriteGranularity};
use crate::{Error, Result, trace_error, trace_warning};
use std::sync::Arc;

/// Size in bytes of a sector, which a disk writes completely or not at all.
const SECTOR: usize = 512;

/// An open transaction.
pub(super) struct Transaction {
    files: Arc<Files>,
    /// Id of the process that began the transaction.
    process: u32,
    /// The lock, if locking is enabled.
    held: Option<(Held, InTransaction)>,
    /// The state to restore, for each level; the first is the committed state.
    levels: Vec<Level>,
    /// The fixed part of the committed header.
    fixed: [u8; FIXED_LEN],
    /// The bytes around the chunks after the last change; `None` before the first change.
    unpublished: Option<Arc<Unpublished>>,
    changes: Changes,
    /// Whether the transaction can only be rolled back.
    is_doomed: bool,
}

/// The bytes that the changes of a transaction have written.
enum Changes {
    /// Chunks after the committed frame.
    File {
        stream: Box<dyn Stream>,
        /// End of the committed frame.
        end: u64,
        space: Space,
    },
    /// Files of new chunks, and those of old chunks that are removed after the commit.
    Directory {
        created: Arc<Vec<u32>>,
        dropped: Vec<u32>,
    },
    /// Bytes of the frame, staged in memory.
    InPlace,
}

/// The state at the start of a transaction or a nested one.
struct Level {
    cached: CachedState,
    unpublished: Option<Arc<Unpublished>>,
    hole_search_threshold: i64,
    /// The super-chunk, which a rollback returns to the caller.
    loaded: Loaded,
    written: Written,
}

/// The extent of the written bytes at the start of a level.
enum Written {
    File(Space),
    Directory { created: usize, dropped: usize },
    InPlace,
}

/// The chunk files of a directory that an open transaction must keep.
pub struct Reserved {
    committed: Arc<Offsets>,
    created: Arc<Vec<u32>>,
}

impl Reserved {
    /// Returns the file numbers.
    pub fn numbers(&self) -> impl Iterator<Item = i64> {
        let created = self.created.iter().map(|&id| i64::from(id));
        self.committed.iter().chain(created)
    }
}

/// A failed commit.
#[derive(Debug)]
pub struct NotCommitted {
    /// The cause.
    pub error: Error,
    /// The super-chunk without the transaction; `None` if no transaction was open.
    pub loaded: Option<Box<Loaded>>,
}

impl Transaction {
    fn is_ours(&self) -> bool {
        self.process == std::process::id()
    }

    /// Removes the bytes written since a level, as far as possible.
    fn undo(&mut self, written: Written) {
        let is_first = self.levels.is_empty();
        match (&mut self.changes, written) {
            (Changes::File { stream, end, space }, Written::File(before)) => {
                *space = before;
                if is_first && let Err(error) = cut_unless_changed(&**stream, *end, &self.fixed) {
                    trace_warning!("the bytes of a transaction can't be truncated: {error}");
                }
            }
            (
                Changes::Directory { created, dropped },
                Written::Directory {
                    created: first,
                    dropped: kept,
                },
            ) => {
                for &id in created.iter().skip(first) {
                    remove(self.files.file_ops(), &self.files.chunk_path(id));
                }
                Arc::make_mut(created).truncate(first);
                dropped.truncate(kept);
            }
            // The staged changes of all levels are stored together.
            (Changes::InPlace, _) => {
                drop(self.files.unstage());
                self.is_doomed = true;
            }
            _ => {}
        }
    }

    fn written(&self) -> Written {
        match &self.changes {
            Changes::File { space, .. } => Written::File(space.clone()),
            Changes::Directory { created, dropped } => Written::Directory {
                created: created.len(),
                dropped: dropped.len(),
            },
            Changes::InPlace => Written::InPlace,
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.is_ours() {
            // The lock and the files belong to the other process.
            if let Some((held, _mark)) = self.held.take() {
                std::mem::forget(held);
            }
            return;
        }
        if let Some(first) = std::mem::take(&mut self.levels).into_iter().next() {
            self.undo(first.written);
        }
    }
}

/// Truncates a file at the end of the committed frame, unless another writer has changed the frame.
fn cut_unless_changed(stream: &dyn Stream, end: u64, committed: &[u8; FIXED_LEN]) -> Result<()> {
    let mut fixed = [0; FIXED_LEN];
    let read = stream.read_at(0, &mut fixed)?;
    if read == FIXED_LEN && fixed == *committed {
        cut(stream, end)
    } else {
        Ok(())
    }
}

/// Truncates a file at the end of the frame.
fn cut(stream: &dyn Stream, end: u64) -> Result<()> {
    if stream.size()? > end {
        stream.truncate(end)
    } else {
        Ok(())
    }
}

impl Frame {
    /// Whether the frame supports transactions: durable files and directories do.
    pub fn has_transactions(&self) -> bool {
        let has = |files: &Files| files.is_durable() && !(files.is_sparse() && files.start() > 0);
        !self.legacy && self.files().is_some_and(|files| has(files))
    }

    /// Whether an open transaction keeps its changes out of the header and the index until its
    /// commit.
    pub(super) fn defers_changes(&self) -> bool {
        let is_deferred = |open: &Transaction| !matches!(open.changes, Changes::InPlace);
        self.transaction.as_deref().is_some_and(is_deferred)
    }

    /// Fails if the open transaction can only be rolled back.
    pub(super) fn check_not_doomed(&self) -> Result<()> {
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

    /// Fails if the open transaction belongs to another process.
    pub(super) fn check_transaction(&self) -> Result<()> {
        match &self.transaction {
            Some(open) if !open.is_ours() => {
                trace_error!("a transaction belongs to the process that began it");
                Err(Error::InvalidParam)
            }
            _ => Ok(()),
        }
    }

    /// Returns the bytes that the open transaction may write to; `None` without one, and for
    /// directories.
    pub(super) fn space(&self) -> Option<Space> {
        match &self.transaction.as_deref()?.changes {
            Changes::File { space, .. } => Some(space.clone()),
            _ => None,
        }
    }

    /// Returns the chunk files that the open transaction must keep.
    pub(super) fn reserved(&self) -> Option<Reserved> {
        let open = self.transaction.as_deref()?;
        let Changes::Directory { created, .. } = &open.changes else {
            return None;
        };
        Some(Reserved {
            committed: Arc::clone(open.levels.first()?.cached.offsets.as_ref()?),
            created: Arc::clone(created),
        })
    }

    /// Returns the state in the file: the committed one while a transaction defers its changes,
    /// otherwise `cached`.
    pub(super) fn committed<'a>(&'a self, cached: &'a CachedState) -> &'a CachedState {
        match &self.transaction {
            Some(open) if self.defers_changes() => {
                open.levels.first().map_or(cached, |level| &level.cached)
            }
            _ => cached,
        }
    }

    /// Begins a transaction, or a nested one. `loaded` is the current super-chunk, which a rollback
    /// returns; `held` is the exclusive lock.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a frame that does not support transactions; those of reading,
    /// and of the journal of a frame within a file.
    pub fn begin(&mut self, held: Option<Held>, loaded: Loaded) -> Result<()> {
        self.check_transaction()?;
        let files = match self.files() {
            Some(files) if self.has_transactions() => Arc::clone(files),
            _ => return Err(Error::InvalidParam),
        };
        self.check_not_doomed()?;
        if self.transaction.is_none() {
            files.recover()?;
        }
        // The committed state must be cached completely, because it is not read again during the
        // transaction.
        let nchunks = self.offsets()?.len();
        self.find_sums(&mut self.cached(), nchunks)?;
        if self.transaction.is_none() {
            let open = self.open_transaction(files, held)?;
            self.cached_mut().is_journaled = matches!(open.changes, Changes::InPlace);
            self.cached_mut().is_torn = false;
            self.transaction = Some(Box::new(open));
        }
        let cached = self.cached().snapshot();
        let hole_search_threshold = self.hole_search_threshold;
        if let Some(open) = &mut self.transaction {
            open.levels.push(Level {
                cached,
                unpublished: open.unpublished.clone(),
                hole_search_threshold,
                loaded,
                written: open.written(),
            });
        }
        Ok(())
    }

    fn open_transaction(&mut self, files: Arc<Files>, held: Option<Held>) -> Result<Transaction> {
        let fixed = files.acquire()?.0.fixed_header()?;
        let len = self.cached_mut().len;
        let changes = if files.is_sparse() {
            files.check_there()?;
            Changes::Directory {
                created: Arc::default(),
                dropped: Vec::new(),
            }
        } else if files.is_replaceable() {
            let stream = files.open_for_update()?;
            check_bytes_after(&*stream, files.start(), len)?;
            let end = self.shadow_end();
            cut(&*stream, end)?;
            let header_len = u64::from(self.cached_mut().header_len);
            Changes::File {
                stream,
                end,
                space: Space::new(end - header_len),
            }
        } else {
            check_bytes_after(&*files.open_for_update()?, files.start(), len)?;
            files.stage()?;
            Changes::InPlace
        };
        Ok(Transaction {
            held: held.map(|held| {
                let mark = held.in_transaction();
                (held, mark)
            }),
            files,
            process: std::process::id(),
            levels: Vec::new(),
            fixed,
            unpublished: None,
            changes,
            is_doomed: false,
        })
    }

    /// Applies a change of the chunks without updating index, trailer and header.
    pub(super) fn change_later(
        &mut self,
        plan: &Plan<'_>,
        description: &Description,
    ) -> Result<()> {
        let header = build_header(description, self.kind())?;
        check_header_len(self.cached_mut(), &header)?;
        let header_len = header.len() as u64;
        let open = self.transaction.as_deref_mut().ok_or(Error::Failure)?;
        match &mut open.changes {
            Changes::File { stream, space, .. } => {
                for &(position, chunk) in &plan.writes {
                    stream.write_at(header_len + position, chunk, WriteGranularity::Bytes)?;
                }
                if let Some(used) = &plan.space {
                    space.clone_from(used);
                }
                // A rollback of an inner transaction needs the released bytes.
                if open.levels.len() == 1 {
                    space.reclaim();
                }
            }
            Changes::Directory { created, dropped } => {
                let first = created.len();
                let made = plan.created.iter().try_for_each(|&(id, chunk)| {
                    Arc::make_mut(created).push(id);
                    // The commit syncs the file: syncing many files together is faster than one by
                    // one.
                    let path = open.files.chunk_path(id);
                    open.files.write_chunk_file(&path, chunk)
                });
                if let Err(error) = made {
                    for id in Arc::make_mut(created).drain(first..) {
                        remove(open.files.file_ops(), &open.files.chunk_path(id));
                    }
                    return Err(error);
                }
                if let Some(id) = plan.dropped {
                    let at = created.iter().position(|&made| made == id);
                    match at {
                        Some(at) if open.levels.len() == 1 => {
                            Arc::make_mut(created).swap_remove(at);
                            remove(open.files.file_ops(), &open.files.chunk_path(id));
                        }
                        _ => dropped.push(id),
                    }
                }
            }
            Changes::InPlace => return Err(Error::Failure),
        }
        self.describe_later(description, Some(plan.form));
        Ok(())
    }

    /// Records the bytes around the chunks for the commit.
    pub(super) fn describe_later(&mut self, description: &Description, form: Option<IndexForm>) {
        let nchunks = description.counters.nchunks.max(0) as usize;
        if let Some(open) = self.transaction.as_deref_mut() {
            let before = open.unpublished.as_ref().map(|before| before.form);
            let form = form.or(before);
            open.unpublished = Some(Arc::new(Unpublished {
                description: description.clone(),
                form: form.unwrap_or(IndexForm::Encoded(index::capacity(nchunks))),
            }));
        }
    }

    /// Records a new header of a frame without chunks.
    pub(super) fn replace_header_later(&mut self, header_len: usize, description: &Description) {
        let cached = self.cached_mut();
        let old_len = u64::from(cached.header_len);
        cached.header_len = header_len as u32;
        cached.counters = description.counters;
        let header_len = header_len as u64;
        if let Some(open) = self.transaction.as_deref_mut()
            && let Changes::File { space, .. } = &mut open.changes
        {
            // A rollback of an inner transaction may restore chunks up to this position.
            let end = (old_len + space.end()).max(header_len);
            *space = Space::new(end - header_len);
        }
        self.describe_later(description, None);
    }

    /// Commits the innermost transaction. If it is the outermost one, returns the size in bytes of
    /// the data section, or of all chunk files.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] without a transaction, and in a process that did not begin it;
    /// [`Error::FileOpen`] if the file was replaced since the transaction began, and
    /// [`Error::FileWrite`] if another writer has changed it; otherwise as [`Frame::change`]. On an
    /// error the outermost transaction is rolled back.
    pub fn commit(&mut self) -> std::result::Result<Option<i64>, NotCommitted> {
        let Some(open) = self
            .transaction
            .as_deref_mut()
            .filter(|open| open.is_ours())
        else {
            return Err(NotCommitted {
                error: Error::InvalidParam,
                loaded: self.rollback().ok().map(Box::new),
            });
        };
        if open.levels.len() > 1 {
            open.levels.pop();
            if let (1, Changes::File { space, .. }) = (open.levels.len(), &mut open.changes) {
                space.reclaim();
            }
            return Ok(None);
        }
        let is_doomed = open.is_doomed;
        let published = if is_doomed || self.cached_mut().is_torn {
            Err(Error::Failure)
        } else {
            self.publish()
        };
        if let Err(error) = published {
            // Bytes that a failed commit may have made part of the frame stay until the frame is
            // read again.
            let is_stale = self.cached_mut().stale;
            let loaded = self.roll_back(is_stale).map(Box::new);
            return Err(NotCommitted { error, loaded });
        }
        self.close_transaction();
        let cbytes = self.cached_mut().counters.cbytes;
        Ok(Some(self.compact_if_worthwhile(cbytes)))
    }

    /// Closes a transaction that has nothing left to undo.
    fn close_transaction(&mut self) {
        if let Some(mut open) = self.transaction.take() {
            open.levels.clear();
        }
        self.cached_mut().is_journaled = false;
    }

    /// Makes the changes of the outermost transaction part of the frame.
    fn publish(&mut self) -> Result<()> {
        let open = self.transaction.as_deref_mut().ok_or(Error::Failure)?;
        let files = Arc::clone(&open.files);
        if matches!(open.changes, Changes::InPlace) {
            let old_len = header::frame_len(&open.fixed);
            let staged = files.unstage().ok_or(Error::Failure)?;
            self.check_same_file(&files)?;
            if files.file_ops().identify(files.path()) != staged.identity() {
                trace_error!("the file of a transaction was replaced by another one");
                return Err(Error::FileOpen);
            }
            let committed = commit_staged(&files, &staged, old_len);
            self.cached_mut().stale |= committed.is_err();
            return committed;
        }
        let Some(unpublished) = open.unpublished.clone() else {
            return Ok(());
        };
        self.check_same_file(&files)?;
        let Unpublished {
            mut description,
            form,
        } = Arc::unwrap_or_clone(unpublished);
        let has_data = description.counters.nbytes > 0;
        if let (true, Some(space)) = (has_data, self.space()) {
            description.counters.cbytes = space.end() as i64;
            self.cached_mut().counters.cbytes = description.counters.cbytes;
        }
        let offsets = self.offsets()?;
        let checksums = self.sums_to_write()?;
        let form = match form {
            IndexForm::Encoded(capacity) => {
                IndexForm::Encoded(capacity.max(index::capacity(offsets.len())))
            }
            fill => fill,
        };
        let footer = self.footer(
            &description,
            &offsets.as_slice()?,
            form,
            checksums.as_deref(),
        )?;
        if files.is_sparse() {
            self.publish_directory(&files, &footer)?;
        } else if !has_data {
            self.replace_file(&files, &footer.to_bytes()?)?;
        } else if self.committed_header_len() != footer.header.len() {
            self.rewrite_file(&files, Some(&description))?;
            self.cached_mut().is_fingerprinted |= checksums.is_some();
            return Ok(());
        } else {
            self.publish_file(&files, &footer)?;
        }
        let cached = self.cached_mut();
        cached.written(&footer);
        cached.encoded = offsets.len();
        cached.is_fingerprinted |= checksums.is_some();
        self.in_doubt = 0;
        Ok(())
    }

    fn committed_header_len(&self) -> usize {
        let open = self.transaction.as_deref();
        let first = open.and_then(|open| open.levels.first());
        first.map_or(0, |level| level.cached.header_len as usize)
    }

    /// Fails if the file was changed or replaced since the transaction began.
    fn check_same_file(&self, files: &Files) -> Result<()> {
        let open = self.transaction.as_deref().ok_or(Error::Failure)?;
        files.check_there()?;
        if let Changes::File { stream, .. } = &open.changes {
            let ops = files.backend().file_ops().ok_or(Error::InvalidParam)?;
            if ops.identify(files.path()) != stream.identity() {
                trace_error!("the file of a transaction was replaced by another one");
                return Err(Error::FileOpen);
            }
        }
        if let Changes::Directory { created, .. } = &open.changes {
            // Another frame may have been created at the same path.
            let ops = files.file_ops();
            let is_gone = |&id: &u32| ops.identify(&files.chunk_path(id)).is_none();
            if created.iter().any(is_gone) {
                trace_error!("a chunk file of a transaction is missing");
                return Err(Error::FileOpen);
            }
        }
        if files.acquire()?.0.fixed_header()? != open.fixed {
            trace_error!("a file was changed by another writer during a transaction");
            return Err(Error::FileWrite);
        }
        Ok(())
    }

    fn publish_directory(&mut self, files: &Files, footer: &Footer) -> Result<()> {
        let Some(Changes::Directory { created, dropped }) = self
            .transaction
            .as_deref_mut()
            .map(|open| &mut open.changes)
        else {
            return Err(Error::Failure);
        };
        for &id in created.iter() {
            files.sync_chunk_file(id)?;
        }
        if !created.is_empty() {
            files.sync_names_at(files.path())?;
        }
        let bytes = footer.to_bytes()?;
        let replaced = files.replace(files.path(), |stream| {
            stream.write_at(0, &bytes, WriteGranularity::Whole)
        });
        if let Err(error) = replaced {
            if error.is_replaced {
                // After a crash either index may be found, so the files of both stay.
                *created = Arc::default();
                self.cached_mut().stale = true;
            }
            return Err(error.error);
        }
        for id in std::mem::take(dropped) {
            remove(files.file_ops(), &files.chunk_path(id));
        }
        Ok(())
    }

    /// Writes the index and the rest, and then the header.
    fn publish_file(&mut self, files: &Files, footer: &Footer) -> Result<()> {
        let header_len = footer.header.len();
        let old = files.latest()?.read_vec(0, header_len)?;
        let old_len = self.committed(&self.cached()).len;
        let Some(Changes::File { stream, space, .. }) =
            self.transaction.as_deref().map(|open| &open.changes)
        else {
            return Err(Error::Failure);
        };
        let is_fixed_part = old[FIXED_LEN..] == footer.header[FIXED_LEN..];
        let written = if is_fixed_part { FIXED_LEN } else { header_len };
        let shadow = Shadow {
            stream: &**stream,
            start: 0,
            end: header_len as u64 + space.end(),
            old: &old[..written],
            new: &footer.header[..written],
        };
        let writes: [(u64, &[u8]); 2] = [
            (footer.index_at, &footer.index),
            (footer.rest_at(), &footer.rest),
        ];
        let (error, in_doubt) = if written <= SECTOR {
            match shadow.commit(&writes) {
                Ok(()) => return Ok(()),
                Err(error) => (error.error, error.in_doubt),
            }
        } else {
            shadow.prepare(&writes)?;
            let staged = Staged::new(Arc::from(files.open_for_update()?))?;
            staged.write_at(0, &footer.header, WriteGranularity::Whole)?;
            match commit_staged(files, &staged, old_len) {
                Ok(()) => return Ok(()),
                // Either header may be in the file, depending on whether the journal could be used.
                Err(error) => (error, true),
            }
        };
        if in_doubt {
            self.cached_mut().stale = true;
            self.in_doubt = footer.frame_len();
        }
        Err(error)
    }

    /// Rolls the innermost transaction back; returns the super-chunk at its start.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] without a transaction.
    pub fn rollback(&mut self) -> Result<Loaded> {
        let defers = self.defers_changes();
        let open = self.transaction.as_deref_mut().ok_or(Error::InvalidParam)?;
        let is_ours = open.is_ours();
        if open.levels.len() > 1 && is_ours {
            if defers {
                return self.return_to_level().ok_or(Error::Failure);
            }
            // In-place transactions keep no intermediate states.
            let level = open.levels.pop().ok_or(Error::Failure)?;
            open.undo(level.written);
            let first = open.levels.first().ok_or(Error::Failure)?;
            let (cached, loaded) = (first.cached.snapshot(), first.loaded.clone());
            *self.cached_mut() = cached;
            return Ok(loaded);
        }
        if !is_ours {
            // The lock in this process is a copy of the other process's lock.
            self.lock = self.lock.as_ref().map(|lock| Arc::new(lock.separate()));
        }
        self.roll_back(!is_ours).ok_or(Error::Failure)
    }

    /// Restores the state at the start of the innermost transaction.
    fn return_to_level(&mut self) -> Option<Loaded> {
        let open = self.transaction.as_deref_mut()?;
        let level = open.levels.pop()?;
        open.undo(level.written);
        open.unpublished = level.unpublished;
        self.hole_search_threshold = level.hole_search_threshold;
        // The encoder may have encoded other offsets since then.
        let cached = CachedState {
            encoded: level.cached.encoded.min(self.cached_mut().encoded),
            ..level.cached
        };
        *self.cached_mut() = cached;
        Some(level.loaded)
    }

    /// Rolls back all levels; `is_stale` makes the next access read the frame again.
    fn roll_back(&mut self, is_stale: bool) -> Option<Loaded> {
        let mut open = self.transaction.take()?;
        let first = std::mem::take(&mut open.levels).into_iter().next()?;
        if open.is_ours() && !(is_stale && self.in_doubt > 0) {
            open.undo(first.written);
        }
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

    /// Rolls an open transaction back before the frame is closed.
    pub(super) fn abandon(&mut self) {
        if self.transaction.is_some() {
            let is_ours = self.check_transaction().is_ok();
            self.roll_back(!is_ours);
        }
    }
}
