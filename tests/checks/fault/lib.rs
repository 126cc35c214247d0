//! A disk in memory with injected faults and power cuts, for the tests of frames.
//!
//! Written bytes are certainly on the disk only after the bytes of the file and the names in the
//! directory were synced, each by its own call; until then the system may have written any of them.
//! A file is therefore stored as its last synced state and the changes since then; the names are
//! stored in the same form:
//! ```text
//! synced ── change ── change ── change ── now
//!   └── after a power cut, each sector and the size have a state on this line ─┘
//! ```
//! A sector is written completely or not at all. Each name change since the last sync may be lost;
//! those that survive were applied in order.
//!
//! Every call that changes or syncs is counted; a [`Fault`] is injected into the call with a given
//! number. Random choices depend only on a seed, so every run can be repeated.

mod crash;
mod disk;

pub use crash::Survival;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of bytes that a disk writes completely or not at all.
pub const SECTOR: usize = 512;

/// The effect of a fault on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call does nothing and fails; later ones succeed.
    Fail,
    /// A write stores half of its bytes and fails, another call does nothing and fails; later ones
    /// succeed.
    Cut,
    /// The disk is full from then on: files do not grow, and no new ones are created. A write still
    /// overwrites existing bytes.
    Full,
    /// The process ends before the call: this and all later calls fail and do nothing.
    Crash,
    /// The process ends during the call: a write stores half of its bytes.
    CrashWithin,
}

/// A disk; clones share its state.
#[derive(Clone, Debug, Default)]
pub struct Disk(Arc<Mutex<State>>);

/// Usage counters of a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The number of opens of each file.
    pub opened: BTreeMap<PathBuf, usize>,
    /// The number of reads.
    pub reads: usize,
    /// The number of bytes read.
    pub bytes_read: usize,
    /// The number of bytes written.
    pub bytes_written: usize,
}

#[derive(Debug, Default)]
struct State {
    files: Vec<File>,
    names: Tree,
    /// The synced names.
    synced_names: Tree,
    /// Changes of the names since they were synced.
    name_changes: Vec<NameChange>,
    /// Descriptions of the counted calls.
    log: Vec<String>,
    planned: Option<(usize, Fault)>,
    full: bool,
    crashed: bool,
    usage: Usage,
}

/// Files and directories by path; directories have no file number.
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

/// The permitted effect of a counted call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Succeeds.
    Go,
    /// A write stores half of its bytes and fails.
    Half,
    /// Fails without an effect.
    Stop,
}

impl Disk {
    /// Returns an empty disk.
    pub fn new() -> Disk {
        Disk::default()
    }

    /// Returns a disk with these synced files, in the directories of their paths.
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

    /// Returns the files as processes see them now.
    pub fn contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let state = self.state();
        let file = |(path, file): (&PathBuf, &Option<usize>)| {
            Some((path.clone(), state.files[(*file)?].bytes.clone()))
        };
        state.names.iter().filter_map(file).collect()
    }

    /// Returns the descriptions of all counted calls.
    pub fn log(&self) -> Vec<String> {
        self.state().log.clone()
    }

    /// Returns the usage since the last call.
    pub fn take_usage(&self) -> Usage {
        std::mem::take(&mut self.state().usage)
    }

    /// Plans a fault for the call with this number in the log, replacing an earlier plan.
    pub fn plan(&self, call: usize, fault: Fault) {
        self.state().planned = Some((call, fault));
    }

    /// Ends a [`Fault::Full`] and cancels the plan.
    pub fn heal(&self) {
        let mut state = self.state();
        state.planned = None;
        state.full = false;
    }

    /// Whether the process has ended.
    pub fn has_crashed(&self) -> bool {
        self.state().crashed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add_file(&mut self, bytes: Vec<u8>) -> usize {
        self.files.push(File { synced: bytes.clone(), bytes, changes: Vec::new() });
        self.files.len() - 1
    }

    /// Counts a call and returns its permitted effect.
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

    /// Counts a call that succeeds or fails as a whole; returns whether it succeeds.
    fn may(&mut self, what: String) -> bool {
        self.count(what) == Verdict::Go
    }

    fn has_directory(&self, path: &Path) -> bool {
        is_root(path) || self.names.get(path) == Some(&None)
    }

    fn has_parent_of(&self, path: &Path) -> bool {
        path.parent().is_some_and(|parent| self.has_directory(parent))
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
    /// Applies a change of the names, if it is possible.
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
                // The entries of a directory move with it.
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
    path.parent().is_some_and(|parent| parent == directory || is_root(parent) && is_root(directory))
}
