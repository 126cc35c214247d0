//! New and replaced files: a file is written under a temporary name, synced and renamed.
//!
//! The temporary file of a file in a directory store is beside the directory, because
//! python-blosc2 lists every frame in it as a leaf. Existing files are never opened for writing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ferroblosc::io::temporary::{self, FRAME_SUFFIX};
use ferroblosc::io::{Backend, FileKind, FileOps, Stream, WriteGranularity, journal};
use ferroblosc::os::files;

use super::content::Content;
use super::error::{Error, LINK, Result};
use super::keys::EMBED_FILE;

/// The files of a store that is written.
#[derive(Clone)]
pub struct Files {
    backend: Arc<dyn Backend>,
}

/// Whether a file is created or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// It must not exist.
    New,
    /// It is replaced, and its permissions are kept.
    Existing,
}

/// Returns the directory of a path.
pub fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns the description of a type of file.
pub fn kind_text(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Regular => "a file",
        FileKind::Directory => "a directory",
        FileKind::Link => LINK,
        FileKind::Special => "a FIFO, a socket or a device",
    }
}

/// Writes content to a new file.
fn write(stream: &dyn Stream, path: &Path, content: &Content) -> Result<()> {
    let mut at = 0;
    content.visit(&mut |bytes| {
        stream.write_at(at, bytes, WriteGranularity::Bytes).map_err(Error::file(path))?;
        at += bytes.len() as u64;
        Ok(())
    })
}

impl Files {
    /// Returns the files of a backend.
    pub fn new(backend: Arc<dyn Backend>) -> Files {
        Files { backend }
    }

    fn ops(&self, path: &Path) -> Result<&dyn FileOps> {
        self.backend.file_ops().ok_or(ferroblosc::Error::PluginIo).map_err(Error::file(path))
    }

    /// Returns the type of the file at a path; links are not followed.
    pub fn kind(&self, path: &Path) -> Result<Option<FileKind>> {
        Ok(self.ops(path)?.attributes(path).map(|found| found.kind))
    }

    /// Checks that there is nothing at a path, not even a dangling link.
    ///
    /// # Errors
    /// [`Error::Exists`]
    pub fn check_free(&self, path: &Path) -> Result<()> {
        match self.kind(path)? {
            None => Ok(()),
            Some(kind) => Err(Error::Exists { path: path.to_owned(), kind: kind_text(kind) }),
        }
    }

    /// Creates or replaces `target` with the bytes that `fill` writes. The temporary file is
    /// `beside` with a suffix. `check` is called after the sync, directly before the rename.
    ///
    /// # Errors
    /// [`Error::Exists`] for a new target that exists; the errors of `fill` and `check`;
    /// [`Error::Storage`]. The target is unchanged, unless the sync of its directory failed.
    pub fn put(
        &self,
        beside: &Path,
        target: &Path,
        kind: Target,
        fill: impl FnOnce(&dyn Stream) -> Result<()>,
        check: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let ops = self.ops(target)?;
        let created = temporary::create(ops, beside, FRAME_SUFFIX, false);
        let (path, stream) = created.map_err(Error::file(target))?;
        let written = fill(&*stream)
            .and_then(|()| {
                if kind == Target::Existing {
                    ops.copy_permissions(target, &path).map_err(Error::file(target))?;
                }
                stream.sync().map_err(Error::file(target))
            })
            .and_then(|()| check())
            .and_then(|()| temporary::check(ops, &path, &*stream).map_err(Error::file(target)))
            .and_then(|()| match kind {
                Target::New => self.rename_new(&path, target),
                Target::Existing => ops.rename(&path, target).map_err(Error::file(target)),
            });
        if let Err(error) = written {
            temporary::discard(ops, &path, &*stream);
            return Err(error.of_target(&path, target));
        }
        journal::discard_all(target);
        self.sync_directory(parent_of(target))
    }

    /// As [`Files::put`], for content.
    ///
    /// # Errors
    /// The errors of [`Files::put`].
    pub fn put_content(
        &self,
        beside: &Path,
        target: &Path,
        kind: Target,
        content: &Content,
        check: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        self.put(beside, target, kind, |stream| write(stream, target, content), check)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        self.check_free(to)?;
        self.ops(to)?.rename_new(from, to).map_err(Error::file(to))
    }

    /// Waits until the names in a directory are on the disk, if the file system supports it.
    pub fn sync_directory(&self, path: &Path) -> Result<()> {
        match self.ops(path)?.sync_directory(path) {
            Err(error) if error.errno().is_some_and(files::cannot_sync_directories) => Ok(()),
            synced => synced.map_err(Error::file(path)),
        }
    }

    /// Checks that the directories from `root` to the file `name` in it are neither links nor
    /// files.
    ///
    /// # Errors
    /// [`Error::FileType`]
    pub fn check_folders(&self, root: &Path, name: &str) -> Result<()> {
        for (at, _) in name.match_indices('/') {
            let path = root.join(&name[..at]);
            match self.kind(&path)? {
                None => return Ok(()),
                Some(FileKind::Directory) => {}
                Some(kind) => {
                    let (kind, wanted) = (kind_text(kind), kind_text(FileKind::Directory));
                    return Err(Error::FileType { path, kind, wanted });
                }
            }
        }
        Ok(())
    }

    /// Creates the missing directories from `root` to the file `name` in it.
    ///
    /// # Errors
    /// [`Error::Storage`]
    pub fn make_folders(&self, root: &Path, name: &str) -> Result<()> {
        let ops = self.ops(root)?;
        for (at, _) in name.match_indices('/') {
            let path = root.join(&name[..at]);
            if ops.attributes(&path).is_none() {
                ops.make_directory(&path).map_err(Error::file(&path))?;
                self.sync_directory(parent_of(&path))?;
            }
        }
        Ok(())
    }

    /// Removes a file of the store, and the directories below `root` that are empty then.
    ///
    /// # Errors
    /// [`Error::Storage`]
    pub fn remove(&self, root: &Path, name: &str) -> Result<()> {
        let ops = self.ops(root)?;
        let path = root.join(name);
        if ops.attributes(&path).is_some() {
            ops.remove(&path).map_err(Error::file(&path))?;
            journal::discard_all(&path);
        }
        let mut folder = parent_of(&path).to_owned();
        while folder != root && ops.remove_directory(&folder).is_ok() {
            folder = parent_of(&folder).to_owned();
        }
        self.sync_directory(&folder)
    }

    /// Creates the directory `root` with these files, which include `embed.b2e`. It appears under
    /// its name when it is complete.
    ///
    /// # Errors
    /// [`Error::Exists`]; [`Error::Storage`]; the errors of reading the content.
    pub fn create_directory(&self, root: &Path, files: &[(String, Content)]) -> Result<()> {
        let ops = self.ops(root)?;
        let staged = temporary::create_directory(ops, root, FRAME_SUFFIX, EMBED_FILE);
        // The open file is the claim on the directory.
        let (staged, embed) = staged.map_err(Error::file(root))?;
        let embed_path = staged.join(EMBED_FILE);
        let mut made = Made { ops, files: vec![embed_path], folders: vec![staged.clone()] };
        let created = self.fill_directory(&staged, &*embed, files, &mut made).and_then(|()| {
            self.rename_new(&staged, root)?;
            made.files.clear();
            made.folders.clear();
            self.sync_directory(parent_of(root))
        });
        drop(made);
        created.map_err(|error| error.of_target(&staged, root))
    }

    fn fill_directory(
        &self,
        staged: &Path,
        embed: &dyn Stream,
        files: &[(String, Content)],
        made: &mut Made<'_>,
    ) -> Result<()> {
        let ops = self.ops(staged)?;
        for (name, content) in files {
            for (at, _) in name.match_indices('/') {
                let path = staged.join(&name[..at]);
                if ops.attributes(&path).is_none() {
                    ops.make_directory(&path).map_err(Error::file(&path))?;
                    made.folders.push(path);
                }
            }
            // An empty directory of a zip file.
            if name.ends_with('/') {
                continue;
            }
            let path = staged.join(name);
            if name == EMBED_FILE {
                write(embed, &path, content)?;
                embed.sync().map_err(Error::file(&path))?;
                continue;
            }
            let stream = ops.create_new(&path, false).map_err(Error::file(&path))?;
            made.files.push(path.clone());
            write(&*stream, &path, content)?;
            stream.sync().and_then(|()| stream.close()).map_err(Error::file(&path))?;
        }
        made.folders.iter().try_for_each(|folder| self.sync_directory(folder))
    }
}

/// Files and directories that are removed on drop, in the reverse order of their creation.
struct Made<'o> {
    ops: &'o dyn FileOps,
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        for path in self.files.iter().rev() {
            let _ = self.ops.remove(path);
        }
        for path in self.folders.iter().rev() {
            let _ = self.ops.remove_directory(path);
        }
    }
}
