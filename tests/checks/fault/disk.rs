//! The disk as a backend.

use super::{Disk, FileChange, NameChange, Verdict, is_parent, is_root};
use ferroblosc::io::{
    Attributes, Backend, FileKind, FileOps, Identity, Mode, ReadAt, Stream, WriteGranularity,
};
use ferroblosc::{Error, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The device number of all files.
const DEVICE: u64 = 1 << 32;

impl Disk {
    /// Returns the attributes of a file by its number. All files have one owner and no times.
    fn attributes_of(&self, file: usize) -> Attributes {
        let state = self.state();
        let found = state.files.get(file);
        Attributes {
            kind: FileKind::Regular,
            owner: 0,
            group: 0,
            mode: 0o644,
            links: 1,
            size: found.map_or(0, |file| file.bytes.len() as u64),
            modified: 0,
            created_ns: 0,
            identity: Identity { device: DEVICE, inode: file as u64 },
        }
    }
}

impl Backend for Disk {
    fn open(&self, path: &Path, mode: Mode) -> Result<Box<dyn Stream>> {
        let mut state = self.state();
        if state.crashed {
            return Err(Error::FileOpen);
        }
        let file = match state.names.get(path) {
            Some(None) => return Err(Error::FileOpen),
            Some(&Some(file)) => {
                let empties = mode == Mode::Create && !state.files[file].bytes.is_empty();
                if empties && !state.may(format!("empty {}", path.display())) {
                    return Err(Error::FileOpen);
                }
                if empties {
                    state.files[file].change(FileChange::Resize(0));
                }
                file
            }
            None if matches!(mode, Mode::Read | Mode::Update) => return Err(Error::FileOpen),
            None => {
                let made = state.has_parent_of(path)
                    && state.may(format!("make {}", path.display()))
                    && !state.full;
                if !made {
                    return Err(Error::FileOpen);
                }
                let file = state.add_file(Vec::new());
                state.change_names(NameChange::Make(path.to_owned(), Some(file)));
                file
            }
        };
        *state.usage.opened.entry(path.to_owned()).or_default() += 1;
        let (disk, path) = (self.clone(), path.to_owned());
        Ok(Box::new(Opened { disk, file, mode, path, is_changed: AtomicBool::new(false) }))
    }

    fn file_ops(&self) -> Option<&dyn FileOps> {
        Some(self)
    }
}

impl FileOps for Disk {
    fn identify(&self, path: &Path) -> Option<Identity> {
        let state = self.state();
        let found = if is_root(path) { &None } else { state.names.get(path)? };
        Some(Identity {
            device: DEVICE,
            // Directories are never compared.
            inode: found.map_or(u64::MAX, |file| file as u64),
        })
    }

    fn attributes(&self, path: &Path) -> Option<Attributes> {
        let found = self.state().names.get(path).copied()?;
        match found {
            Some(file) => Some(self.attributes_of(file)),
            None => Some(Attributes {
                kind: FileKind::Directory,
                identity: Identity { device: DEVICE, inode: u64::MAX },
                size: 0,
                ..self.attributes_of(usize::MAX)
            }),
        }
    }

    fn open_unfollowed(&self, path: &Path, writes: bool) -> Result<Box<dyn Stream>> {
        self.open(path, if writes { Mode::Update } else { Mode::Read })
    }

    fn create_new(&self, path: &Path, _: bool) -> Result<Box<dyn Stream>> {
        if self.state().names.contains_key(path) {
            return Err(Error::FileOpen);
        }
        self.open(path, Mode::Create)?;
        self.open(path, Mode::Update)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let mut state = self.state();
        let possible = match state.names.get(from) {
            Some(Some(_)) => state.names.get(to) != Some(&None),
            Some(None) => !state.names.contains_key(to),
            None => false,
        };
        let possible = possible && state.has_parent_of(to);
        if !possible || !state.may(format!("rename {} to {}", from.display(), to.display())) {
            return Err(Error::FileWrite);
        }
        state.change_names(NameChange::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn remove(&self, path: &Path) -> Result<()> {
        let mut state = self.state();
        let is_file = matches!(state.names.get(path), Some(Some(_)));
        if !is_file || !state.may(format!("remove {}", path.display())) {
            return Err(Error::FileRemove);
        }
        state.change_names(NameChange::Remove(path.to_owned()));
        Ok(())
    }

    fn make_directory(&self, path: &Path) -> Result<()> {
        let mut state = self.state();
        let possible = !state.names.contains_key(path) && state.has_parent_of(path);
        let made = possible && state.may(format!("make {}/", path.display())) && !state.full;
        if !made {
            return Err(Error::FileOpen);
        }
        state.change_names(NameChange::Make(path.to_owned(), None));
        Ok(())
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        let mut state = self.state();
        let is_empty = state.names.get(path) == Some(&None)
            && !state.names.keys().any(|name| is_parent(path, name));
        if !is_empty || !state.may(format!("remove {}/", path.display())) {
            return Err(Error::FileRemove);
        }
        state.change_names(NameChange::Remove(path.to_owned()));
        Ok(())
    }

    fn list(&self, directory: &Path) -> Result<Vec<OsString>> {
        let state = self.state();
        if state.crashed || !state.has_directory(directory) {
            return Err(Error::FileOpen);
        }
        let inside = |path: &&PathBuf| is_parent(directory, path);
        let name = |path: &PathBuf| path.file_name().map(OsString::from);
        Ok(state.names.keys().filter(inside).filter_map(name).collect())
    }

    fn sync_directory(&self, directory: &Path) -> Result<()> {
        let mut state = self.state();
        let there = state.has_directory(directory);
        if !there || !state.may(format!("sync {}/", directory.display())) {
            return Err(Error::FileWrite);
        }
        let changes = std::mem::take(&mut state.name_changes);
        let (now, later) = changes.into_iter().partition(|change| change.is_in(directory));
        let now: Vec<NameChange> = now;
        for change in now {
            change.apply(&mut state.synced_names);
        }
        state.name_changes = later;
        Ok(())
    }
}

/// An open file, which stays usable after its name was removed.
struct Opened {
    disk: Disk,
    file: usize,
    mode: Mode,
    path: PathBuf,
    is_changed: AtomicBool,
}

impl Opened {
    fn reads(&self) -> bool {
        matches!(self.mode, Mode::Read | Mode::Update)
    }
}

impl Stream for Opened {
    fn size(&self) -> Result<u64> {
        let state = self.disk.state();
        if state.crashed {
            Err(Error::FileRead)
        } else {
            Ok(state.files[self.file].bytes.len() as u64)
        }
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        let mut state = self.disk.state();
        if state.crashed || !self.reads() {
            return Err(Error::FileRead);
        }
        let read = ReadAt::read_at(&state.files[self.file].bytes, position, dest)?;
        state.usage.reads += 1;
        state.usage.bytes_read += read;
        Ok(read)
    }

    fn write_at(&self, position: u64, bytes: &[u8], _: WriteGranularity) -> Result<()> {
        let mut state = self.disk.state();
        if self.mode == Mode::Read {
            return Err(Error::FileWrite);
        }
        let size = state.files[self.file].bytes.len();
        let at = match self.mode {
            Mode::Append => size,
            _ => usize::try_from(position).map_err(|_| Error::FileWrite)?,
        };
        let what = format!("write {} at {at} of {}", bytes.len(), self.path.display());
        let written = match state.count(what) {
            Verdict::Go if state.full => size.saturating_sub(at).min(bytes.len()),
            Verdict::Go => bytes.len(),
            Verdict::Half => bytes.len() / 2,
            Verdict::Stop => 0,
        };
        state.usage.bytes_written += written;
        self.is_changed.store(true, Ordering::Relaxed);
        if written > 0 {
            let change = FileChange::Write(at, bytes[..written].to_vec());
            state.files[self.file].change(change);
        }
        if written == bytes.len() && !state.crashed { Ok(()) } else { Err(Error::FileWrite) }
    }

    fn truncate(&self, len: u64) -> Result<()> {
        let mut state = self.disk.state();
        let len = usize::try_from(len).map_err(|_| Error::FileTruncate)?;
        let what = format!("resize {} to {len}", self.path.display());
        let possible = self.mode != Mode::Read && state.may(what);
        if !possible || state.full && len > state.files[self.file].bytes.len() {
            return Err(Error::FileTruncate);
        }
        state.files[self.file].change(FileChange::Resize(len));
        self.is_changed.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        let mut state = self.disk.state();
        if !state.may(format!("sync {}", self.path.display())) {
            return Err(Error::FileWrite);
        }
        let file = &mut state.files[self.file];
        file.synced.clone_from(&file.bytes);
        file.changes.clear();
        Ok(())
    }

    fn identity(&self) -> Option<Identity> {
        Some(Identity { device: DEVICE, inode: self.file as u64 })
    }

    fn attributes(&self) -> Option<Attributes> {
        Some(self.disk.attributes_of(self.file))
    }

    fn close(self: Box<Self>) -> Result<()> {
        let mut state = self.disk.state();
        // File systems report only the errors of earlier writes.
        let is_changed = self.is_changed.load(Ordering::Relaxed);
        let closed = !is_changed || state.may(format!("close {}", self.path.display()));
        if closed && !state.crashed { Ok(()) } else { Err(Error::FileWrite) }
    }
}
