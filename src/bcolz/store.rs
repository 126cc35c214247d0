//! The files and directories of an object: small files read whole, files that appear complete, trees removed
//! without following links, and the lock of a writer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::{Error, Result};
use crate::bloscpack::Value;
use crate::io::{Backend, FileKind, FileSystem, Mode, Names, Portions, Stream, journal};

/// The most bytes of a file that describes something.
const MAX_DESCRIPTION: u64 = 16 << 20;
/// The file in an object's directory that its writer locks; no name of the format's.
const LOCK: &str = ".ferroblosc-lock";
/// What the names of files begin with that get their real one when they are complete.
const TEMPORARY: &str = ".ferroblosc-new-";
/// How often the opening of a lock is tried that another process makes or removes.
const CLAIM_TRIES: usize = 4;
/// How deep directories are removed.
const MAX_DEPTH: usize = 64;

/// Distinguishes the temporary files of a process.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Where objects are kept, and how carefully they are written.
#[derive(Clone)]
pub struct Store {
    backend: Arc<dyn Backend>,
    /// Whether paths are the operating system's, which has more than files and directories.
    is_system: bool,
    durable: bool,
}

impl Default for Store {
    /// The file system; what was written reaches the disk when the system likes.
    fn default() -> Store {
        Store {
            backend: Arc::new(FileSystem),
            is_system: true,
            durable: FileSystem.care().durable,
        }
    }
}

impl Store {
    /// Another place for files.
    pub fn new(backend: Arc<dyn Backend>) -> Store {
        Store {
            backend,
            is_system: false,
            durable: false,
        }
    }

    /// Waits after each step of a change until it is on the disk, so that a power cut leaves the old state
    /// or the new one.
    pub fn durable(mut self, durable: bool) -> Store {
        self.durable = durable;
        self
    }

    fn names(&self, path: &Path) -> Result<&dyn Names> {
        let names = self.backend.names();
        names
            .ok_or(crate::Error::PluginIo)
            .map_err(Error::storage(path))
    }

    /// Whether there is something at `path`, if only a link that leads nowhere.
    pub fn exists(&self, path: &Path) -> Result<bool> {
        if self.is_system && path.symlink_metadata().is_ok() {
            return Ok(true);
        }
        Ok(self.names(path)?.identify(path).is_some())
    }

    /// Whether there is a directory at `path`.
    pub fn is_directory(&self, path: &Path) -> Result<bool> {
        Ok(self.names(path)?.list(path).is_ok())
    }

    /// The names in a directory that are text; none when there is no directory.
    pub fn list(&self, path: &Path) -> Result<Option<Vec<String>>> {
        let Ok(names) = self.names(path)?.list(path) else {
            return Ok(None);
        };
        let text = names.into_iter().filter_map(|name| name.into_string().ok());
        Ok(Some(text.collect()))
    }

    /// The path without links.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf> {
        Ok(self.names(path)?.resolve(path))
    }

    /// Opens a file for reading; none when there is none.
    pub fn open(&self, path: &Path) -> Result<Option<Box<dyn Stream>>> {
        if self.names(path)?.identify(path).is_none() {
            return Ok(None);
        }
        // A pipe would keep its reader waiting.
        let is_other = self.is_system && path.metadata().is_ok_and(|found| !found.is_file());
        if is_other {
            return Err(Error::storage(path)(crate::Error::FileOpen));
        }
        let stream = self.backend.open(path, Mode::Read);
        stream.map(Some).map_err(Error::storage(path))
    }

    /// The JSON in a file that says how an interrupted change in the directory is finished; none when
    /// there is no file, or none that is trusted by the rules for journals.
    pub fn read_note(&self, path: &Path, directory: &Path) -> Result<Option<Value>> {
        let names = self.names(path)?;
        let owner = names.attributes(&names.resolve(directory));
        let stream = match journal::open(names, path, owner.as_ref(), false) {
            Ok(opened) => opened.stream,
            Err(None) => return Ok(None),
            Err(Some(reason)) => {
                crate::trace_warning!("the file {} is not used: {reason}", path.display());
                return Ok(None);
            }
        };
        let bytes = read_all(&*stream, path)?;
        // One that is not whole was being written when the change had not begun.
        Ok(Value::parse(&bytes).ok())
    }

    /// The bytes of a file that describes something; none when there is no file.
    pub fn read_small(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        let Some(stream) = self.open(path)? else {
            return Ok(None);
        };
        read_all(&*stream, path).map(Some)
    }

    /// The JSON in a file; none when there is no file.
    pub fn read_json(&self, path: &Path) -> Result<Option<Value>> {
        let Some(bytes) = self.read_small(path)? else {
            return Ok(None);
        };
        if bytes.is_empty() {
            return Err(Error::Incomplete(path.to_owned()));
        }
        Value::parse(&bytes)
            .map(Some)
            .map_err(|error| Error::Description {
                path: path.to_owned(),
                why: error.to_string(),
            })
    }

    /// Puts a file with these bytes at `path`, at once, in place of what was there.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let names = self.names(path)?;
        let temporary = loop {
            // Relaxed: the number only has to be another one each time.
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let name = format!("{TEMPORARY}{}-{number}", std::process::id());
            let temporary = path.with_file_name(name);
            if names.attributes(&temporary).is_none() {
                break temporary;
            }
        };
        let stream = names
            .create_new(&temporary, false)
            .map_err(Error::storage(&temporary))?;
        let written = self
            .write_new(stream, &temporary, bytes)
            .and_then(|()| names.rename(&temporary, path).map_err(Error::storage(path)));
        if written.is_err() {
            // Nothing more can be done about a file that can't be removed.
            let _ = names.remove(&temporary);
            return written;
        }
        self.sync_parent(path)
    }

    fn write_new(&self, stream: Box<dyn Stream>, path: &Path, bytes: &[u8]) -> Result<()> {
        let put = || {
            stream.write_at(0, bytes, Portions::Whole)?;
            if self.durable {
                stream.sync()?;
            }
            stream.close()
        };
        put().map_err(Error::storage(path))
    }

    /// Puts JSON at `path`, on a line, as bcolz writes it.
    pub fn replace_json(&self, path: &Path, value: &Value) -> Result<()> {
        let mut text = value.to_spaced_json();
        text.push('\n');
        self.replace(path, text.as_bytes())
    }

    fn sync_parent(&self, path: &Path) -> Result<()> {
        match path.parent() {
            Some(parent) if self.durable => {
                let synced = self.names(path)?.sync_directory(parent);
                synced.map_err(Error::storage(parent))
            }
            _ => Ok(()),
        }
    }

    /// Removes a file.
    pub fn remove(&self, path: &Path) -> Result<()> {
        self.names(path)?.remove(path).map_err(Error::storage(path))
    }

    /// Renames a file or a directory.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let renamed = self.names(from)?.rename(from, to);
        renamed.map_err(Error::storage(from))?;
        self.sync_parent(to)
    }

    /// Makes a directory.
    pub fn make_directory(&self, path: &Path) -> Result<()> {
        let made = self.names(path)?.make_directory(path);
        made.map_err(Error::storage(path))?;
        self.sync_parent(path)
    }

    /// Removes a directory and all in it. Links are removed, and what they lead to stays.
    pub fn remove_tree(&self, path: &Path) -> Result<()> {
        self.remove_tree_at(path, 0)
    }

    fn remove_tree_at(&self, path: &Path, depth: usize) -> Result<()> {
        let names = self.names(path)?;
        // What is no directory can be removed as a file, a link to a directory among it.
        if names.remove(path).is_ok() {
            return Ok(());
        }
        if depth > MAX_DEPTH {
            return Err(Error::storage(path)(crate::Error::FileRemove));
        }
        for name in names.list(path).map_err(Error::storage(path))? {
            self.remove_tree_at(&path.join(name), depth + 1)?;
        }
        names.remove_directory(path).map_err(Error::storage(path))
    }

    /// Removes temporary files that an interrupted change left in a directory; only its writer may.
    pub fn sweep(&self, directory: &Path) -> Result<()> {
        for name in self.list(directory)?.unwrap_or_default() {
            if is_temporary(&name) {
                // One that stays harms nobody.
                let _ = self.names(directory)?.remove(&directory.join(name));
            }
        }
        Ok(())
    }

    /// Claims the object at `root` for one writer.
    ///
    /// # Errors
    /// [`Error::Busy`]
    pub fn claim(&self, root: &Path) -> Result<Claim> {
        let path = root.join(LOCK);
        let names = self.names(root)?;
        let mut tries = CLAIM_TRIES;
        loop {
            let stream = match names.attributes(&path) {
                Some(found) if found.kind == FileKind::Regular && found.links == 1 => {
                    names.open_unfollowed(&path, true)
                }
                // What was put there by someone else is not written through.
                Some(_) => Err(crate::Error::FileOpen),
                None => names.create_new(&path, false),
            };
            let stream = match stream {
                // Another process has made it, or removed it, in between.
                Err(_) if tries > 0 => {
                    tries -= 1;
                    continue;
                }
                stream => stream.map_err(Error::storage(&path))?,
            };
            if !stream.claim().map_err(Error::storage(&path))? {
                return Err(Error::Busy(root.to_owned()));
            }
            // Whoever ends his claim removes the file, which may have been this one.
            if names.identify(&path) == stream.identity() {
                return Ok(Claim {
                    store: self.clone(),
                    path,
                    stream: Some(stream),
                });
            }
        }
    }
}

/// All bytes of a file that describes something.
fn read_all(stream: &dyn Stream, path: &Path) -> Result<Vec<u8>> {
    let size = stream.size().map_err(Error::storage(path))?;
    if size > MAX_DESCRIPTION {
        return Err(Error::Description {
            path: path.to_owned(),
            why: format!("its {size} bytes are more than are read"),
        });
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size as usize)?;
    bytes.resize(size as usize, 0);
    let read = stream
        .read_at(0, &mut bytes)
        .map_err(Error::storage(path))?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Whether a file of this name is one that was not completed.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY)
}

/// An object claimed by its writer.
pub struct Claim {
    store: Store,
    path: PathBuf,
    stream: Option<Box<dyn Stream>>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        // The object may be gone, and the lock with it.
        let _ = self.store.remove(&self.path);
        self.stream = None;
    }
}
