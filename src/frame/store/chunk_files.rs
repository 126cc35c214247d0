//! The chunk files of a sparse frame during a change, which are restored if it fails.
//!
//! New chunk files are written first, then the index, and then unreferenced files are removed. In a
//! durable frame chunk files are never overwritten, and the new index is written to a temporary
//! file and renamed over the old one. A crash may leave files that no index refers to; they are
//! harmless.

use super::files::Files;
use crate::io::{FileOps, Mode, Stream, WriteGranularity, temporary};
use crate::{Buffer, Error, Result, trace_warning};
use std::path::PathBuf;

/// Suffix of the temporary file that replaces a chunk file.
const TEMPORARY: &str = ".tmp";

/// The chunk files of a sparse frame during a change.
pub struct ChunkFiles<'a> {
    files: &'a Files,
    /// The numbers of the files that a failure removes.
    pub created: Vec<u32>,
    /// Number and old content of an overwritten chunk file.
    rewritten: Option<(u32, Buffer)>,
}

impl<'a> ChunkFiles<'a> {
    /// Begins a change.
    pub fn new(files: &'a Files) -> ChunkFiles<'a> {
        ChunkFiles { files, created: Vec::new(), rewritten: None }
    }

    /// Writes a new chunk file, which is synced if the frame is durable.
    ///
    /// # Errors
    /// Returns the errors of the backend. The same holds for all functions here.
    pub fn create(&mut self, id: u32, chunk: &[u8]) -> Result<()> {
        self.created.push(id);
        let path = self.files.chunk_path(id);
        self.files.write_unreferenced(&path, chunk, self.files.is_replaceable())
    }

    /// Replaces the content of a chunk file. If the backend can rename files, the result must be
    /// committed; otherwise the file is overwritten at once and its old content is kept in memory
    /// for a rollback. A durable frame also overwrites at once, because its index cannot be rolled
    /// back afterwards.
    pub fn rewrite(&mut self, id: u32, chunk: &[u8]) -> Result<Option<Rewritten<'a>>> {
        if let Some(ops) = self.files.backend().file_ops()
            && !self.files.is_durable()
        {
            return self.write_beside(ops, id, chunk).map(Some);
        }
        let mut old = Buffer::new();
        self.files.read_chunk_file(id, &mut old)?;
        self.rewritten = Some((id, old));
        self.overwrite(id, chunk)?;
        Ok(None)
    }

    /// Replaces the content of a chunk file at once.
    fn overwrite(&self, id: u32, chunk: &[u8]) -> Result<()> {
        match self.files.backend().file_ops() {
            Some(ops) => self.write_beside(ops, id, chunk)?.commit(),
            None => {
                let path = self.files.chunk_path(id);
                self.files.write_unreferenced(&path, chunk, false)
            }
        }
    }

    /// Writes the new content of a chunk file to a temporary file.
    fn write_beside(&self, ops: &dyn FileOps, id: u32, chunk: &[u8]) -> Result<Rewritten<'a>> {
        let path = self.files.chunk_path(id);
        let (temporary, stream) = temporary::create(ops, &path, TEMPORARY, false)?;
        let rewritten = Rewritten { files: self.files, temporary, path, stream: Some(stream) };
        rewritten.write(chunk)?;
        Ok(rewritten)
    }

    /// Removes an unreferenced chunk file, or empties it if the backend cannot remove files.
    pub fn drop_file(&self, id: u32) {
        let path = self.files.chunk_path(id);
        match self.files.backend().file_ops() {
            Some(_) => self.files.remove(&path),
            None => {
                let emptied = self.files.backend().open(&path, Mode::Create);
                let emptied = emptied.and_then(|stream| stream.truncate(0).and(stream.close()));
                if let Err(error) = emptied {
                    trace_warning!("the file {} cannot be emptied: {error}", path.display());
                }
            }
        }
    }

    /// Restores the old files, as far as possible.
    pub fn roll_back(&self) {
        for &id in &self.created {
            self.drop_file(id);
        }
        if let Some((id, chunk)) = &self.rewritten
            && let Err(error) = self.overwrite(*id, chunk)
        {
            trace_warning!("the old chunk {id} cannot be restored: {error}");
        }
    }
}

/// The new content of a chunk file in a temporary file, which is removed unless it is committed.
pub struct Rewritten<'a> {
    files: &'a Files,
    temporary: PathBuf,
    path: PathBuf,
    /// The temporary file; `None` after it was renamed.
    stream: Option<Box<dyn Stream>>,
}

impl Rewritten<'_> {
    fn write(&self, chunk: &[u8]) -> Result<()> {
        let stream = self.stream.as_ref().ok_or(Error::FileWrite)?;
        stream.write_at(0, chunk, WriteGranularity::Bytes)
    }

    /// Closes the temporary file and renames it over the old one. The error of closing it is found
    /// while the old file still exists.
    pub fn commit(mut self) -> Result<()> {
        let ops = self.files.file_ops();
        let stream = self.stream.take().ok_or(Error::FileWrite)?;
        let identity = stream.identity();
        let renamed = temporary::check(ops, &self.temporary, &*stream)
            .and_then(|()| stream.close())
            .and_then(|()| temporary::check_identity(ops, &self.temporary, identity))
            .and_then(|()| ops.rename(&self.temporary, &self.path));
        renamed.inspect_err(|_| {
            if temporary::check_identity(ops, &self.temporary, identity).is_ok() {
                let _ = ops.remove(&self.temporary);
            }
        })
    }
}

impl Drop for Rewritten<'_> {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            temporary::discard(self.files.file_ops(), &self.temporary, &*stream);
        }
    }
}
