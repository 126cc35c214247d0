//! The files and directories of an object: atomic replacement of small files, removal of trees
//! without following links, and the writer lock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::{Error, Result};
use super::owner::Owner;
use crate::bloscpack::{Entry, Value, text_of_entries};
use ferroblosc::io::{
    Attributes, Backend, Durability, FileKind, FileOps, FileSystem, Mode, Stream, WriteGranularity,
    journal,
};

/// The maximum size of a description file in bytes.
pub(super) const MAX_DESCRIPTION: u64 = 16 << 20;
/// The lock file in an object's directory; not part of the format.
pub(super) const LOCK_FILE: &str = ".ferroblosc-lock";
/// The prefix of temporary file names.
const TEMPORARY: &str = ".ferroblosc-new-";
/// The permission bit of directories in which only the owner of a file can remove it.
const STICKY: u32 = 0o1000;
/// The number of retries if another process creates or removes the lock file.
const LOCK_RETRIES: usize = 4;
/// The maximum depth of a directory tree to remove.
const MAX_DEPTH: usize = 64;

/// Makes the names of temporary files unique within the process.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Whether a name is that of a lock file or a temporary file.
pub(super) fn is_file_of_writer(name: &str) -> bool {
    name == LOCK_FILE || name.starts_with(TEMPORARY)
}

/// The storage of objects, and the durability of writes.
#[derive(Clone)]
pub struct Store {
    backend: Arc<dyn Backend>,
    /// Whether paths are those of the operating system, which also has special files and links.
    is_system: bool,
    durable: bool,
}

impl Default for Store {
    /// The file system, with the durability that the environment sets.
    fn default() -> Store {
        Store {
            backend: Arc::new(FileSystem),
            is_system: true,
            durable: Durability::of_environment().durable,
        }
    }
}

impl Store {
    /// Returns a store on another backend.
    pub fn new(backend: Arc<dyn Backend>) -> Store {
        Store { backend, is_system: false, durable: false }
    }

    /// Sets whether each step of a change is synced to disk, so that a power failure leaves either
    /// the old or the new state.
    pub fn durable(mut self, durable: bool) -> Store {
        self.durable = durable;
        self
    }

    fn file_ops(&self, path: &Path) -> Result<&dyn FileOps> {
        let names = self.backend.file_ops();
        names.ok_or(ferroblosc::Error::PluginIo).map_err(Error::storage(path))
    }

    /// Whether there is anything at `path`, including a dangling link.
    ///
    /// # Errors
    /// An error of the system other than a missing file or directory: then the answer is unknown.
    pub(crate) fn exists(&self, path: &Path) -> Result<bool> {
        use std::io::ErrorKind;
        if !self.is_system {
            return Ok(self.file_ops(path)?.identify(path).is_some());
        }
        match path.symlink_metadata() {
            Ok(_) => Ok(true),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(false)
            }
            Err(error) => Err(Error::storage(path)(ferroblosc::Error::FileOpen.os(error))),
        }
    }

    /// Whether there is a directory at `path`.
    ///
    /// # Errors
    /// [`Error`] if the storage cannot be read.
    pub fn is_directory(&self, path: &Path) -> Result<bool> {
        if self.is_system {
            return Ok(self.exists(path)? && path.is_dir());
        }
        Ok(self.file_ops(path)?.list(path).is_ok())
    }

    /// Returns the kind of the file at `path`; a symbolic link is not followed.
    pub(super) fn kind(&self, path: &Path) -> Result<Option<FileKind>> {
        Ok(self.file_ops(path)?.attributes(path).map(|found| found.kind))
    }

    /// Whether other users can create files in a directory, but not change those of its owner.
    pub(super) fn is_sticky(&self, directory: &Path) -> Result<bool> {
        let ops = self.file_ops(directory)?;
        let found = ops.attributes(&ops.resolve(directory));
        Ok(found.is_some_and(|found| found.mode & STICKY != 0))
    }

    /// Returns the UTF-8 names in a directory, or `None` if nothing exists at `path`.
    ///
    /// # Errors
    /// [`Error::Storage`] if the directory cannot be read.
    pub(crate) fn list(&self, path: &Path) -> Result<Option<Vec<String>>> {
        let names = match self.file_ops(path)?.list(path) {
            Ok(names) => names,
            Err(_) if !self.exists(path)? => return Ok(None),
            Err(error) => return Err(Error::storage(path)(error)),
        };
        let text = names.into_iter().filter_map(|name| name.into_string().ok());
        Ok(Some(text.collect()))
    }

    /// Whether there is a directory at `path`, and `is_allowed` holds for all names in it.
    ///
    /// # Errors
    /// [`Error::Storage`] if the directory cannot be read; the errors of `is_allowed`.
    pub(super) fn has_only(
        &self,
        path: &Path,
        is_allowed: impl Fn(&str) -> Result<bool>,
    ) -> Result<bool> {
        if !self.is_directory(path)? {
            return Ok(false);
        }
        for name in self.file_ops(path)?.list(path).map_err(Error::storage(path))? {
            // Only names of this library are allowed, which are UTF-8.
            let Some(name) = name.to_str() else {
                return Ok(false);
            };
            if !is_allowed(name)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the absolute path, with its links.
    pub(super) fn absolute(&self, path: &Path) -> PathBuf {
        let absolute = if self.is_system { std::path::absolute(path).ok() } else { None };
        absolute.unwrap_or_else(|| path.to_owned())
    }

    /// Returns the path with links resolved.
    pub(crate) fn resolve(&self, path: &Path) -> Result<PathBuf> {
        Ok(self.file_ops(path)?.resolve(path))
    }

    /// Opens a file for reading, or returns `None` if it does not exist.
    pub(crate) fn open(&self, path: &Path) -> Result<Option<Box<dyn Stream>>> {
        if !self.exists(path)? {
            return Ok(None);
        }
        // Reading a FIFO would block.
        let is_special = self.is_system && path.metadata().is_ok_and(|found| !found.is_file());
        if is_special {
            return Err(Error::storage(path)(ferroblosc::Error::FileOpen));
        }
        let stream = self.backend.open(path, Mode::Read);
        stream.map(Some).map_err(Error::storage(path))
    }

    /// Reads the JSON file that describes how to complete an interrupted change in the directory.
    /// Returns `None` if the file does not exist or fails the checks for trusted journals.
    pub(crate) fn read_trusted_json(&self, path: &Path, directory: &Path) -> Result<Option<Value>> {
        let ops = self.file_ops(path)?;
        let owner = ops.attributes(&ops.resolve(directory));
        let stream = match journal::open(ops, path, owner.as_ref(), false) {
            Ok(opened) => opened.stream,
            Err(None) => return Ok(None),
            Err(Some(reason)) => {
                ferroblosc::trace_warning!("the file {} is not used: {reason}", path.display());
                return Ok(None);
            }
        };
        let bytes = read_all(&*stream, path)?;
        // An incomplete file was written before the change began.
        Ok(Value::parse(&bytes).ok())
    }

    /// Returns the content of a description file, or `None` if it does not exist.
    pub(crate) fn read_small(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        let Some(stream) = self.open(path)? else {
            return Ok(None);
        };
        read_all(&*stream, path).map(Some)
    }

    /// Returns the JSON value in a file, or `None` if the file does not exist.
    pub(crate) fn read_json(&self, path: &Path) -> Result<Option<Value>> {
        let Some(bytes) = self.read_small(path)? else {
            return Ok(None);
        };
        if bytes.is_empty() {
            return Err(Error::Incomplete(path.to_owned()));
        }
        Value::parse(&bytes)
            .map(Some)
            .map_err(|error| Error::Description { path: path.to_owned(), why: error.to_string() })
    }

    /// Atomically replaces the file at `path`.
    pub(crate) fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        self.stage(path, bytes)?.commit()
    }

    /// Writes the new content of the file at `path` to a temporary file.
    pub(super) fn stage(&self, path: &Path, bytes: &[u8]) -> Result<StagedFile> {
        let ops = self.file_ops(path)?;
        let temporary = loop {
            // Relaxed: the counter only has to return unique numbers.
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let name = format!("{TEMPORARY}{}-{number}", ferroblosc::os::process_id());
            let temporary = path.with_file_name(name);
            if ops.attributes(&temporary).is_none() {
                break temporary;
            }
        };
        let stream = ops.create_new(&temporary, false).map_err(Error::storage(&temporary))?;
        let staged =
            StagedFile { store: self.clone(), temporary, path: path.to_owned(), is_renamed: false };
        self.write_new(stream, &staged.temporary, bytes)?;
        Ok(staged)
    }

    fn write_new(&self, stream: Box<dyn Stream>, path: &Path, bytes: &[u8]) -> Result<()> {
        let write = || {
            stream.write_at(0, bytes, WriteGranularity::Whole)?;
            if self.durable {
                stream.sync()?;
            }
            stream.close()
        };
        write().map_err(Error::storage(path))
    }

    /// Atomically replaces the JSON file at `path` with a single line, in bcolz's format.
    pub(crate) fn replace_json(&self, path: &Path, value: &Value) -> Result<()> {
        self.stage_json(path, value)?.commit()
    }

    /// Returns the entries of the JSON object in a file, or `None` if the file does not exist.
    pub(super) fn read_entries(&self, path: &Path) -> Result<Option<Vec<Entry>>> {
        let Some(bytes) = self.read_small(path)? else {
            return Ok(None);
        };
        if bytes.is_empty() {
            return Err(Error::Incomplete(path.to_owned()));
        }
        let error = |why| Error::Description { path: path.to_owned(), why };
        let entries = Value::parse_entries(&bytes).map_err(|found| error(found.to_string()))?;
        entries.map(Some).ok_or_else(|| error("it is not an object".to_owned()))
    }

    /// Atomically replaces the JSON file at `path` by an object with these entries.
    pub(super) fn replace_entries(&self, path: &Path, entries: &[Entry]) -> Result<()> {
        let text = checked(text_of_entries(entries))?;
        Value::parse_entries(text.as_bytes()).map_err(|error| Error::Argument(error.why))?;
        self.replace(path, text.as_bytes())
    }

    /// Writes the new content of the JSON file at `path` to a temporary file.
    pub(super) fn stage_json(&self, path: &Path, value: &Value) -> Result<StagedFile> {
        self.stage(path, description_of(value)?.as_bytes())
    }

    fn sync_parent(&self, path: &Path) -> Result<()> {
        match path.parent() {
            Some(parent) if self.durable => {
                let synced = self.file_ops(path)?.sync_directory(parent);
                synced.map_err(Error::storage(parent))
            }
            _ => Ok(()),
        }
    }

    /// Removes a file.
    pub fn remove(&self, path: &Path) -> Result<()> {
        self.file_ops(path)?.remove(path).map_err(Error::storage(path))
    }

    /// Renames a file or a directory.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let renamed = self.file_ops(from)?.rename(from, to);
        renamed.map_err(Error::storage(from))?;
        self.sync_parent(to)
    }

    /// Creates a directory.
    pub(crate) fn make_directory(&self, path: &Path) -> Result<()> {
        let ops = self.file_ops(path)?;
        ops.make_directory(path).map_err(Error::storage(path))?;
        self.sync_parent(path).inspect_err(|_| {
            // Errors of the cleanup are ignored.
            let _ = ops.remove_directory(path);
        })
    }

    /// Removes an empty directory.
    pub(super) fn remove_directory(&self, path: &Path) -> Result<()> {
        self.file_ops(path)?.remove_directory(path).map_err(Error::storage(path))
    }

    /// Removes a directory tree. Symbolic links are removed, not followed.
    pub(crate) fn remove_tree(&self, path: &Path) -> Result<()> {
        self.remove_tree_at(path, 0)
    }

    fn remove_tree_at(&self, path: &Path, depth: usize) -> Result<()> {
        let ops = self.file_ops(path)?;
        // Anything but a directory is removed as a file, including a link to a directory.
        if ops.remove(path).is_ok() {
            return Ok(());
        }
        if depth > MAX_DEPTH {
            return Err(Error::storage(path)(ferroblosc::Error::FileRemove));
        }
        for name in ops.list(path).map_err(Error::storage(path))? {
            self.remove_tree_at(&path.join(name), depth + 1)?;
        }
        ops.remove_directory(path).map_err(Error::storage(path))
    }

    /// Removes the entries of a directory, except those whose names are kept.
    pub(super) fn remove_content(&self, path: &Path, is_kept: impl Fn(&str) -> bool) -> Result<()> {
        for name in self.file_ops(path)?.list(path).map_err(Error::storage(path))? {
            if !name.to_str().is_some_and(&is_kept) {
                self.remove_tree(&path.join(name))?;
            }
        }
        Ok(())
    }

    /// Removes temporary files of an interrupted change. The caller must hold the writer lock.
    pub(crate) fn remove_leftovers(&self, directory: &Path) -> Result<()> {
        for name in self.list(directory)?.unwrap_or_default() {
            if is_temporary(&name) {
                // A leftover file is harmless.
                let _ = self.file_ops(directory)?.remove(&directory.join(name));
            }
        }
        Ok(())
    }

    /// Whether the file with these attributes, in the directory at `root`, can be a lock file. With
    /// several names it can be that of a copied directory, or any file that another user linked
    /// there: it must be empty, and belong to this user or to the owner of the directory.
    fn is_lock(&self, root: &Path, found: &Attributes) -> Result<bool> {
        if found.kind != FileKind::Regular || found.links == 1 {
            return Ok(found.kind == FileKind::Regular);
        }
        let ops = self.file_ops(root)?;
        let directory = ops.attributes(&ops.resolve(root));
        let is_owned = found.owner == ferroblosc::os::user_id()
            || directory.is_some_and(|directory| directory.owner == found.owner);
        Ok(is_owned && found.size == 0)
    }

    /// Whether the object at `root` has a writer. Creates no lock file.
    pub(super) fn is_locked(&self, root: &Path) -> Result<bool> {
        let path = root.join(LOCK_FILE);
        let ops = self.file_ops(root)?;
        // A writer locks no other files.
        let Some(found) = ops.attributes(&path) else {
            return Ok(false);
        };
        if !self.is_lock(root, &found)? {
            return Ok(false);
        }
        match ops.open_unfollowed(&path, false) {
            Ok(stream) => stream.is_claimed().map_err(Error::storage(&path)),
            // The writer has removed it in the meantime.
            Err(_) if ops.attributes(&path).is_none() => Ok(false),
            Err(error) => Err(Error::storage(&path)(error)),
        }
    }

    /// Locks the directory at `root` for writing. Objects are locked by
    /// [`lock_object`](super::root::lock_object).
    ///
    /// # Errors
    /// [`Error::Busy`]
    pub(crate) fn lock(&self, root: &Path) -> Result<WriterLock> {
        let path = root.join(LOCK_FILE);
        let ops = self.file_ops(root)?;
        for retries in (0..=LOCK_RETRIES).rev() {
            let stream = match ops.attributes(&path) {
                Some(found) if self.is_lock(root, &found)? => ops.open_unfollowed(&path, true),
                // Do not write through a link or special file.
                Some(_) => Err(ferroblosc::Error::FileOpen.because("it is not a lock file")),
                None => ops.create_new(&path, false),
            };
            let stream = match stream {
                // Another process created or removed the file in the meantime.
                Err(_) if retries > 0 => continue,
                stream => stream.map_err(Error::storage(&path))?,
            };
            if !stream.claim().map_err(Error::storage(&path))? {
                break;
            }
            // The previous owner may have removed this file when it released the lock. A file
            // system whose identities change would repeat this without end.
            if ops.identify(&path) == stream.identity() {
                return Ok(WriterLock {
                    store: self.clone(),
                    path,
                    stream: Some(stream),
                    owner: Owner::this_process(),
                });
            }
        }
        Err(Error::Busy(root.to_owned()))
    }
}

/// A temporary file with the new content of a file. It is removed on drop, unless it was renamed.
pub(super) struct StagedFile {
    store: Store,
    temporary: PathBuf,
    path: PathBuf,
    is_renamed: bool,
}

impl StagedFile {
    /// Renames the temporary file to the path of the file, which needs no more space on the disk.
    pub fn commit(mut self) -> Result<()> {
        let ops = self.store.file_ops(&self.path)?;
        ops.rename(&self.temporary, &self.path).map_err(Error::storage(&self.path))?;
        self.is_renamed = true;
        self.store.sync_parent(&self.path)
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if !self.is_renamed {
            // Errors of the cleanup are ignored.
            let _ = self.store.remove(&self.temporary);
        }
    }
}

/// Returns the content of the JSON file of a value: a single line, in bcolz's format.
///
/// # Errors
/// [`Error::Argument`] for a value that could not be read again.
pub(super) fn description_of(value: &Value) -> Result<String> {
    let text = checked(value.to_spaced_json())?;
    // A value that was parsed alone is nested more deeply in the file.
    Value::parse(text.as_bytes()).map_err(|error| Error::Argument(error.why))?;
    Ok(text)
}

/// Returns the line with a text, unless it is too long to be read again.
fn checked(mut text: String) -> Result<String> {
    text.push('\n');
    if text.len() as u64 > MAX_DESCRIPTION {
        return Err(Error::Argument("the attributes or the description would exceed 16 MiB"));
    }
    Ok(text)
}

/// Reads a description file.
fn read_all(stream: &dyn Stream, path: &Path) -> Result<Vec<u8>> {
    let size = stream.size().map_err(Error::storage(path))?;
    if size > MAX_DESCRIPTION {
        return Err(Error::Description {
            path: path.to_owned(),
            why: format!("its size of {size} bytes is too large"),
        });
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size as usize)?;
    bytes.resize(size as usize, 0);
    let read = stream.read_at(0, &mut bytes).map_err(Error::storage(path))?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Whether this is the name of a temporary file.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY)
}

/// The lock of an object's writer, released on drop.
pub(crate) struct WriterLock {
    store: Store,
    path: PathBuf,
    stream: Option<Box<dyn Stream>>,
    owner: Owner,
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // The lock of a parent process lasts.
        if !self.owner.is_this_process() {
            return;
        }
        let ours = self.stream.as_ref().map(|stream| stream.identity());
        let found = self.store.file_ops(&self.path).map(|ops| ops.identify(&self.path));
        // The object may have been removed together with the lock file, and another process may
        // have created and locked a new one.
        if found.is_ok_and(|found| Some(found) == ours) {
            let _ = self.store.remove(&self.path);
        }
        self.stream = None;
    }
}
