//! Changes of the files of a sparse frame: new chunk files first, then the index, then the removal
//! of unreferenced files.
//!
//! In a durable frame chunk files are never overwritten. The new index is written to a temporary
//! file and renamed over the old one. A crash may leave files that no index refers to; they are
//! harmless.

use super::file::{change_in_place, publish};
use super::files::Files;
use super::footer::Footer;
use super::frame::Frame;
use super::plan::Plan;
use crate::io::{FileOps, Mode, Stream, WriteGranularity, temporary};
use crate::{Buffer, Error, Result, trace_warning};
use std::path::{Path, PathBuf};

/// Suffix of the temporary file that replaces a chunk file.
const TEMPORARY: &str = ".tmp";

impl Frame {
    /// Applies a change of the chunks.
    pub(super) fn change_directory(
        &mut self,
        files: &Files,
        plan: &Plan<'_>,
        footer: &Footer,
    ) -> Result<()> {
        let mut chunks = ChunkFiles::new(files);
        let result = if files.is_replaceable() {
            self.change_directory_durably(files, plan, footer, &mut chunks)
        } else {
            (|| {
                for &(id, chunk) in &plan.created {
                    chunks.create(id, chunk)?;
                }
                let rewritten = match plan.rewritten {
                    Some((id, chunk)) => chunks.rewrite(id, chunk)?,
                    None => None,
                };
                change_in_place(files, self.cached_mut(), |writer| {
                    publish(writer, files, footer)?;
                    rewritten.map_or(Ok(()), Rewritten::commit)
                })
            })()
        };
        if let Err(error) = result {
            chunks.roll_back();
            return Err(error);
        }
        if let Some(id) = plan.dropped {
            chunks.drop_file(id);
        }
        self.cached_mut().written(footer);
        Ok(())
    }

    fn change_directory_durably(
        &mut self,
        files: &Files,
        plan: &Plan<'_>,
        footer: &Footer,
        chunks: &mut ChunkFiles<'_>,
    ) -> Result<()> {
        files.check_there()?;
        for &(id, chunk) in &plan.created {
            chunks.created.push(id);
            files.write_chunk_file_durably(id, chunk)?;
        }
        if !plan.created.is_empty() {
            files.sync_names_at(files.path())?;
        }
        let bytes = footer.to_bytes()?;
        let replaced = files.replace(files.path(), |stream| {
            stream.write_at(0, &bytes, WriteGranularity::Whole)
        });
        if let Err(error) = replaced {
            if error.is_replaced {
                // After a crash either index may be found, so the files of both stay.
                chunks.created.clear();
                self.cached_mut().stale = true;
            }
            return Err(error.error);
        }
        Ok(())
    }
}

/// The chunk files of a sparse frame during a change.
struct ChunkFiles<'a> {
    files: &'a Files,
    created: Vec<u32>,
    /// Number and old content of an overwritten chunk file.
    rewritten: Option<(u32, Buffer)>,
}

impl<'a> ChunkFiles<'a> {
    fn new(files: &'a Files) -> ChunkFiles<'a> {
        ChunkFiles {
            files,
            created: Vec::new(),
            rewritten: None,
        }
    }

    fn create(&mut self, id: u32, chunk: &[u8]) -> Result<()> {
        self.created.push(id);
        self.files
            .write_chunk_file(&self.files.chunk_path(id), chunk)
    }

    /// Replaces the content of a chunk file. If the backend can rename files, the result must be
    /// committed; otherwise the file is overwritten at once and its old content is kept in memory
    /// for a rollback. A durable frame also overwrites at once, because its index cannot be rolled
    /// back afterwards.
    fn rewrite(&mut self, id: u32, chunk: &[u8]) -> Result<Option<Rewritten<'a>>> {
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
            None => (self.files).write_chunk_file(&self.files.chunk_path(id), chunk),
        }
    }

    /// Writes the new content of a chunk file to a temporary file.
    fn write_beside(&self, ops: &'a dyn FileOps, id: u32, chunk: &[u8]) -> Result<Rewritten<'a>> {
        let path = self.files.chunk_path(id);
        let (temporary, stream) = temporary::create(ops, &path, TEMPORARY, false)?;
        let rewritten = Rewritten {
            ops,
            temporary,
            path,
            stream: Some(stream),
        };
        rewritten.write(chunk)?;
        Ok(rewritten)
    }

    /// Removes an unreferenced chunk file, or empties it if the backend cannot remove files.
    fn drop_file(&self, id: u32) {
        let path = self.files.chunk_path(id);
        match self.files.backend().file_ops() {
            Some(ops) => remove(ops, &path),
            None => {
                let emptied = self.files.backend().open(&path, Mode::Create);
                let emptied = emptied.and_then(|stream| stream.truncate(0).and(stream.close()));
                if let Err(error) = emptied {
                    trace_warning!("the file {} can't be emptied: {error}", path.display());
                }
            }
        }
    }

    /// Restores the old files, as far as possible.
    fn roll_back(&self) {
        for &id in &self.created {
            self.drop_file(id);
        }
        if let Some((id, chunk)) = &self.rewritten
            && let Err(error) = self.overwrite(*id, chunk)
        {
            trace_warning!("the old chunk {id} can't be restored: {error}");
        }
    }
}

/// The new content of a chunk file in a temporary file, which is removed unless it is committed.
struct Rewritten<'a> {
    ops: &'a dyn FileOps,
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

    /// Renames the temporary file over the old one.
    fn commit(mut self) -> Result<()> {
        self.ops.rename(&self.temporary, &self.path)?;
        self.stream.take().map_or(Ok(()), Stream::close)
    }
}

impl Drop for Rewritten<'_> {
    fn drop(&mut self) {
        if self.stream.take().is_some() {
            remove(self.ops, &self.temporary);
        }
    }
}

/// Removes an unreferenced file. A failure is harmless: the file only uses disk space.
pub(super) fn remove(ops: &dyn FileOps, path: &Path) {
    if let Err(error) = ops.remove(path) {
        trace_warning!("the file {} can't be removed: {error}", path.display());
    }
}
