//! Changing the files of a sparse frame: those of the chunks first, then the index, then those that nothing
//! refers to any more.
//!
//! In a durable frame the file of a chunk is never written to again, and the index is written beside the old
//! one and put in its place. A file that no index refers to, which a crash may leave, only takes room.

use super::file::{change_in_place, publish};
use super::files::Files;
use super::frame::Frame;
use super::plan::Plan;
use super::tail::Tail;
use crate::io::{Mode, Names, Portions, temporary};
use crate::{Buffer, Result, trace_warning};
use std::path::Path;

/// The end of the name of a chunk's file that is to replace another.
const TEMPORARY: &str = ".tmp";

impl Frame {
    /// Carries out a change of the chunks.
    pub(super) fn change_directory(
        &mut self,
        files: &Files,
        plan: &Plan<'_>,
        tail: &Tail,
    ) -> Result<()> {
        let mut chunks = ChunkFiles::new(files);
        let result = match files.is_replaceable() {
            true => self.change_directory_durably(files, plan, tail, &mut chunks),
            false => (|| {
                for &(id, chunk) in &plan.created {
                    chunks.create(id, chunk)?;
                }
                if let Some((id, chunk)) = plan.rewritten {
                    chunks.rewrite(id, chunk)?;
                }
                change_in_place(files, self.known_mut(), |writer| {
                    publish(writer, files, tail)
                })
            })(),
        };
        if let Err(error) = result {
            chunks.take_back();
            return Err(error);
        }
        if let Some(id) = plan.dropped {
            chunks.drop_file(id);
        }
        self.known_mut().written(tail);
        Ok(())
    }

    fn change_directory_durably(
        &mut self,
        files: &Files,
        plan: &Plan<'_>,
        tail: &Tail,
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
        let bytes = tail.to_bytes()?;
        let replaced = files.replace(files.path(), |stream| {
            stream.write_at(0, &bytes, Portions::Whole)
        });
        if let Err(not) = replaced {
            if not.is_there {
                // Either index may be the one that is found: all files of both stay.
                chunks.created.clear();
                self.known_mut().stale = true;
            }
            return Err(not.error);
        }
        Ok(())
    }
}

/// The chunks' files of a sparse frame while it is changed.
struct ChunkFiles<'a> {
    files: &'a Files,
    created: Vec<u32>,
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

    /// Gives a file another content: at once, where files can be renamed.
    fn rewrite(&mut self, id: u32, chunk: &[u8]) -> Result<()> {
        self.rewritten = Some((id, self.files.read_chunk_file(id)?));
        self.overwrite(id, chunk)
    }

    fn overwrite(&self, id: u32, chunk: &[u8]) -> Result<()> {
        let path = self.files.chunk_path(id);
        let Some(names) = self.files.backend().names() else {
            return self.files.write_chunk_file(&path, chunk);
        };
        let (temporary, stream) = temporary::create(names, &path, TEMPORARY, false)?;
        let result = stream
            .write_at(0, chunk, Portions::Bytes)
            .and_then(|()| names.rename(&temporary, &path));
        if result.is_err() {
            remove(names, &temporary);
            return result;
        }
        stream.close()
    }

    /// Does away with the file of a chunk that nothing refers to any more. Where files can't be removed it
    /// is emptied.
    fn drop_file(&self, id: u32) {
        let path = self.files.chunk_path(id);
        match self.files.backend().names() {
            Some(names) => remove(names, &path),
            None => {
                let emptied = self.files.backend().open(&path, Mode::Create);
                let emptied = emptied.and_then(|stream| stream.truncate(0).and(stream.close()));
                if let Err(error) = emptied {
                    trace_warning!("the file {} can't be emptied: {error}", path.display());
                }
            }
        }
    }

    /// Puts back what there was, as far as that is possible.
    fn take_back(&self) {
        for &id in &self.created {
            self.drop_file(id);
        }
        if let Some((id, chunk)) = &self.rewritten
            && let Err(error) = self.overwrite(*id, chunk)
        {
            trace_warning!("the old chunk {id} can't be written back: {error}");
        }
    }
}

/// Removes a file that nothing refers to; if it can't be, it only takes room.
pub(super) fn remove(names: &dyn Names, path: &Path) {
    if let Err(error) = names.remove(path) {
        trace_warning!("the file {} can't be removed: {error}", path.display());
    }
}
