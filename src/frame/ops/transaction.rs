//! Several changes of a durable frame that are committed as one.
//!
//! A commit is one write within a sector if the header fits into a sector, otherwise one change
//! under the journal; if the header changes its length, a new file. `store/transaction.rs`
//! describes the bytes before the commit.
//!
//! Transactions can be nested: an inner rollback restores the state at the start of the inner
//! transaction, and an inner commit makes its changes part of the outer transaction. A transaction
//! belongs to the process that began it. In a forked child the handle only returns errors until it
//! rolls back, which leaves the files unchanged.

use crate::frame::format::{FIXED_LEN, Footer, IndexForm, Loaded, header, index};
use crate::frame::store::{
    CachedState, Changes, Files, Frame, Level, Shadow, Space, Transaction, Unpublished,
    check_bytes_after, check_identity, cut,
};
use crate::io::journal::Staged;
use crate::io::lock::LockGuard;
use crate::io::{Stream, WriteGranularity};
use crate::{Error, Result};
use std::sync::Arc;

/// The size in bytes of a sector, which a disk writes completely or not at all.
const SECTOR: usize = 512;

/// A failed commit.
#[derive(Debug)]
pub struct NotCommitted {
    /// The cause.
    pub error: Error,
    /// The super-chunk without the transaction; `None` if no transaction was open.
    pub loaded: Option<Box<Loaded>>,
}

impl Frame {
    /// Begins a transaction, or a nested one. `loaded` is the current super-chunk, which a rollback
    /// returns; `held` is the exclusive lock.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a frame that does not support transactions; the errors of
    /// reading, and of the journal of a frame within a file.
    pub fn begin(&mut self, held: Option<LockGuard>, loaded: Loaded) -> Result<()> {
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
        self.find_checksums(&mut self.cached(), nchunks)?;
        if self.transaction.is_none() {
            let open = self.open_transaction(files, held)?;
            self.cached_mut().is_journaled = matches!(open.changes, Changes::InPlace);
            self.cached_mut().is_torn = false;
            self.transaction = Some(Box::new(open));
        }
        let cached = self.cached().snapshot();
        if let Some(open) = &mut self.transaction {
            open.levels.push(Level {
                cached,
                unpublished: self.unpublished.clone(),
                hole_search_threshold: self.hole_search_threshold,
                loaded,
                written: open.written(),
            });
        }
        Ok(())
    }

    fn open_transaction(
        &mut self,
        files: Arc<Files>,
        held: Option<LockGuard>,
    ) -> Result<Transaction> {
        let fixed = files.acquire()?.0.fixed_header()?;
        let len = self.cached_mut().len;
        let changes = if files.is_sparse() {
            files.check_there()?;
            Changes::Directory { created: Arc::default(), dropped: Vec::new() }
        } else if files.is_replaceable() {
            let stream = files.open_for_update()?;
            check_bytes_after(&*stream, files.start(), len)?;
            let end = self.shadow_end();
            cut(&*stream, end)?;
            let header_len = u64::from(self.cached_mut().header_len);
            Changes::File { stream, end, space: Space::new(end - header_len) }
        } else {
            check_bytes_after(&*files.open_for_update()?, files.start(), len)?;
            files.stage()?;
            Changes::InPlace
        };
        Ok(Transaction::new(files, held, fixed, changes))
    }

    /// Returns the number of open transactions, each nested in the previous one.
    pub fn transaction_depth(&self) -> usize {
        self.transaction.as_deref().map_or(0, |open| open.levels.len())
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
        let open = self.transaction.as_deref_mut();
        let Some(open) = open.filter(|open| open.is_ours()) else {
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
        // Nothing is left to undo.
        if let Some(mut open) = self.transaction.take() {
            open.levels.clear();
        }
        self.unpublished = None;
        self.cached_mut().is_journaled = false;
        let cbytes = self.cached_mut().counters.cbytes;
        Ok(Some(self.compact_if_worthwhile(cbytes)))
    }

    /// Makes the changes of the outermost transaction part of the frame.
    fn publish(&mut self) -> Result<()> {
        let open = self.transaction.as_deref().ok_or(Error::Failure)?;
        let files = Arc::clone(&open.files);
        if matches!(open.changes, Changes::InPlace) {
            let staged = files.unstage().ok_or(Error::Failure)?;
            open.check_same_file()?;
            check_identity(&files, &staged)?;
            let committed = files.commit_staged(&staged, header::frame_len(&open.fixed));
            self.cached_mut().stale |= committed.is_err();
            return committed;
        }
        let Some(unpublished) = self.unpublished.clone() else {
            return Ok(());
        };
        open.check_same_file()?;
        let Unpublished { mut description, form } = unpublished;
        let has_data = description.counters.nbytes > 0;
        let old_header_len = open.committed().map(|committed| committed.header_len);
        if let (true, Some(space)) = (has_data, open.space()) {
            description.counters.cbytes = space.end() as i64;
            self.cached_mut().counters.cbytes = description.counters.cbytes;
        }
        let nchunks = self.offsets()?.len();
        let form = match form {
            IndexForm::Encoded(capacity) => {
                IndexForm::Encoded(capacity.max(index::capacity(nchunks)))
            }
            fill => fill,
        };
        let footer = self.footer_of_current(&description, form)?;
        let is_fingerprinted = self.has_fingerprint();
        let mut is_rewritten = false;
        if files.is_sparse() {
            self.publish_directory(&files, &footer)?;
        } else if !has_data {
            self.replace_file(&files, &footer)?;
        } else if old_header_len != Some(footer.header.len() as u32) {
            self.rewrite_file(&files, Some(&description))?;
            is_rewritten = true;
        } else {
            self.publish_file(&files, &footer)?;
        }
        let cached = self.cached_mut();
        if !is_rewritten {
            cached.written(&footer);
        }
        cached.encoded = nchunks;
        cached.is_fingerprinted |= is_fingerprinted;
        self.in_doubt = 0;
        Ok(())
    }

    /// Syncs the new chunk files, replaces the index, and removes the old chunk files.
    fn publish_directory(&mut self, files: &Files, footer: &Footer) -> Result<()> {
        let open = self.transaction.as_deref().ok_or(Error::Failure)?;
        open.sync_chunk_files()?;
        let replaced = self.replace_file(files, footer);
        if let Some(open) = self.transaction.as_deref_mut() {
            open.index_replaced(&replaced);
        }
        Ok(replaced?)
    }

    /// Writes the index and the rest, and then the header.
    fn publish_file(&mut self, files: &Files, footer: &Footer) -> Result<()> {
        let header_len = footer.header.len();
        let old = files.latest()?.read_vec(0, header_len)?;
        let open = self.transaction.as_deref().ok_or(Error::Failure)?;
        let Changes::File { stream, space, .. } = &open.changes else {
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
        let writes: [(u64, &[u8]); 2] =
            [(footer.index_at, &footer.index), (footer.rest_at(), &footer.rest)];
        let (error, in_doubt) = if written <= SECTOR {
            match shadow.commit(&writes) {
                Ok(()) => return Ok(()),
                Err(error) => (error.error, error.in_doubt),
            }
        } else {
            shadow.prepare(&writes)?;
            let staged = Staged::new(Arc::from(files.open_for_update()?))?;
            staged.write_at(0, &footer.header, WriteGranularity::Whole)?;
            match files.commit_staged(&staged, header::frame_len(&open.fixed)) {
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
        let defers = self.deferring().is_some();
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
        self.roll_back(!is_ours).ok_or(Error::Failure)
    }

    /// Restores the state at the start of the innermost transaction.
    fn return_to_level(&mut self) -> Option<Loaded> {
        let open = self.transaction.as_deref_mut()?;
        let level = open.levels.pop()?;
        open.undo(level.written);
        self.unpublished = level.unpublished;
        self.hole_search_threshold = level.hole_search_threshold;
        // The encoder may have encoded other offsets since then.
        let cached = CachedState {
            encoded: level.cached.encoded.min(self.cached_mut().encoded),
            ..level.cached
        };
        *self.cached_mut() = cached;
        Some(level.loaded)
    }
}
