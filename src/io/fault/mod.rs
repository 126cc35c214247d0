//! A disk in memory that fails and loses power when it is told to: what the tests of frames stand on.
//!
//! What a process writes is on the disk for certain once it has synced the bytes of the file and the names
//! in the directory, each by its own call; until then the system may have written any of it. So a file is
//! kept as it was last synced with the changes since, and the names likewise:
//! ```text
//! synced ── change ── change ── change ── now
//!   └── after a power cut each sector, and the size, is as it was somewhere on this line ──┘
//! ```
//! A sector is written whole or not at all. Of the changes of names since the last sync each is there or
//! not, but those that are came in their order.
//!
//! A call that changes or syncs something is counted; a [`Fault`] strikes one of them by its number. Chance
//! comes from a seed, so every run can be repeated.

mod crash;
mod disk;

pub use crash::Survival;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that a disk writes whole or not at all.
pub const SECTOR: usize = 512;

/// What happens at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call does nothing and fails; later ones work.
    Fail,
    /// A write gets half of its bytes to the file and fails, another call does nothing and fails; later
    /// ones work.
    Cut,
    /// The disk is full from then on: files don't grow, and no new ones are made. What a write has for the
    /// bytes that a file has already gets there.
    Full,
    /// The process is gone before the call: it fails, as all later ones do, and does nothing.
    Crash,
    /// The process is gone within the call: a write gets half of its bytes to the file.
    CrashWithin,
}

/// The disk; its clones are the same disk.
#[derive(Clone, Debug, Default)]
pub struct Disk(Arc<Mutex<State>>);

/// What a disk was used for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The number of times that each file was opened.
    pub opened: BTreeMap<PathBuf, usize>,
    /// The number of reads.
    pub reads: usize,
    /// The bytes that were read.
    pub bytes_read: usize,
    /// The bytes that were written.
    pub bytes_written: usize,
}

#[derive(Debug, Default)]
struct State {
    files: Vec<File>,
    names: Tree,
    /// The names that are on the disk.
    synced_names: Tree,
    /// Changes of the names since they were synced.
    name_changes: Vec<NameChange>,
    /// What each counted call was.
    log: Vec<String>,
    planned: Option<(usize, Fault)>,
    full: bool,
    crashed: bool,
    usage: Usage,
}

/// Files and directories by path; directories are no number of a file.
type Tree = BTreeMap<PathBuf, Option<usize>>;

#[derive(Clone, Debug, Default)]
struct File {
    bytes: Vec<u8>,
    synced: Vec<u8>,
    changes: Vec<FileChange>,
}

#[derive(Clone, Debug)]
enum FileChange {
    Write(usize, Vec<u8>),
    Resize(usize),
}

#[derive(Clone, Debug)]
enum NameChange {
    Make(PathBuf, Option<usize>),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
}

/// What a counted call may do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// What it is for.
    Go,
    /// Half of it, if it is a write, but it fails.
    Half,
    /// Nothing.
    Stop,
}

impl Disk {
    /// An empty disk.
    pub fn new() -> Disk {
        Disk::default()
    }

    /// A disk with these files, synced, in the directories that their paths tell.
    pub fn holding(files: impl IntoIterator<Item = (PathBuf, Vec<u8>)>) -> Disk {
        let disk = Disk::new();
        for (path, bytes) in files {
            let mut state = disk.state();
            for directory in path.ancestors().skip(1).filter(|it| !is_root(it)) {
                state.names.insert(directory.to_owned(), None);
            }
            let file = state.add_file(bytes);
            state.names.insert(path, Some(file));
            state.synced_names = state.names.clone();
        }
        disk
    }

    /// The files, as processes see them now.
    pub fn contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let state = self.state();
        let file = |(path, file): (&PathBuf, &Option<usize>)| {
            Some((path.clone(), state.files[(*file)?].bytes.clone()))
        };
        state.names.iter().filter_map(file).collect()
    }

    /// What was done by each call that counts.
    pub fn log(&self) -> Vec<String> {
        self.state().log.clone()
    }

    /// Returns what the disk was used for since the last call.
    pub fn take_usage(&self) -> Usage {
        std::mem::take(&mut self.state().usage)
    }

    /// Lets the call with this number in the log meet a fault, in place of what was planned before.
    pub fn plan(&self, call: usize, fault: Fault) {
        self.state().planned = Some((call, fault));
    }

    /// Ends what a [`Fault::Full`] began, and plans nothing.
    pub fn heal(&self) {
        let mut state = self.state();
        state.planned = None;
        state.full = false;
    }

    /// Whether the process is gone.
    pub fn has_crashed(&self) -> bool {
        self.state().crashed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add_file(&mut self, bytes: Vec<u8>) -> usize {
        self.files.push(File {
            synced: bytes.clone(),
            bytes,
            changes: Vec::new(),
        });
        self.files.len() - 1
    }

    /// Counts a call, and says what becomes of it.
    fn count(&mut self, what: String) -> Verdict {
        if self.crashed {
            return Verdict::Stop;
        }
        let number = self.log.len();
        self.log.push(what);
        let Some((_, fault)) = self.planned.take_if(|(planned, _)| *planned == number) else {
            return Verdict::Go;
        };
        self.crashed = matches!(fault, Fault::Crash | Fault::CrashWithin);
        self.full = fault == Fault::Full;
        match fault {
            Fault::Full => Verdict::Go,
            Fault::Cut | Fault::CrashWithin => Verdict::Half,
            Fault::Fail | Fault::Crash => Verdict::Stop,
        }
    }

    /// As [`State::count`], for a call that does all or nothing; whether it may.
    fn may(&mut self, what: String) -> bool {
        self.count(what) == Verdict::Go
    }

    fn has_directory(&self, path: &Path) -> bool {
        is_root(path) || self.names.get(path) == Some(&None)
    }

    fn has_parent_of(&self, path: &Path) -> bool {
        path.parent()
            .is_some_and(|parent| self.has_directory(parent))
    }

    fn change_names(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.name_changes.push(change);
    }
}

impl File {
    fn change(&mut self, change: FileChange) {
        change.apply(&mut self.bytes);
        self.changes.push(change);
    }
}

impl FileChange {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            FileChange::Write(at, new) => {
                let end = at + new.len();
                bytes.resize(bytes.len().max(end), 0);
                bytes[*at..end].copy_from_slice(new);
            }
            FileChange::Resize(len) => bytes.resize(*len, 0),
        }
    }
}

impl NameChange {
    /// Changes the names, if that can be done with those there are.
    fn apply(&self, names: &mut Tree) {
        match self {
            NameChange::Make(path, file) => {
                names.insert(path.clone(), *file);
            }
            NameChange::Remove(path) => {
                names.remove(path);
            }
            NameChange::Rename(from, to) => {
                if let Some(file) = names.remove(from) {
                    names.insert(to.clone(), file);
                }
                // What is in a directory goes with it.
                let inside = |path: &&PathBuf| path.starts_with(from);
                let inside: Vec<PathBuf> = names.keys().filter(inside).cloned().collect();
                for path in inside {
                    if let (Ok(rest), Some(file)) = (path.strip_prefix(from), names.remove(&path)) {
                        names.insert(to.join(rest), file);
                    }
                }
            }
        }
    }

    fn is_in(&self, directory: &Path) -> bool {
        match self {
            NameChange::Make(path, _) | NameChange::Remove(path) => is_parent(directory, path),
            NameChange::Rename(from, to) => is_parent(directory, from) || is_parent(directory, to),
        }
    }
}

fn is_root(path: &Path) -> bool {
    path.as_os_str().is_empty() || path == Path::new("/") || path == Path::new(".")
}

fn is_parent(directory: &Path, path: &Path) -> bool {
    path.parent()
        .is_some_and(|parent| parent == directory || is_root(parent) && is_root(directory))
}

#[cfg(test)]
mod tests;
