//! The temporary files of this process, which a program removes when Ctrl-C ends it on Windows.
//!
//! On other systems the list stays empty: if another thread held its lock during a fork, the child
//! could not create files. Later programs remove the temporary files of those that were killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The locked list. It is locked while a file is created, renamed or removed.
pub struct Incomplete(Option<MutexGuard<'static, Vec<PathBuf>>>);

impl Incomplete {
    /// Locks the list.
    pub fn lock() -> Self {
        Self(cfg!(windows).then(|| FILES.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Adds a file that was created.
    pub fn add(&mut self, file: &Path) {
        self.0.iter_mut().for_each(|files| files.push(file.to_owned()));
    }

    /// Removes a file from the list, which is renamed or removed before the list is unlocked.
    pub fn forget(&mut self, file: &Path) {
        self.0.iter_mut().for_each(|files| files.retain(|listed| listed != file));
    }
}

/// Removes the temporary files of this process on Windows. The process must end then: other threads
/// that create or complete a file wait forever.
pub fn remove_incomplete() {
    let incomplete = Incomplete::lock();
    for file in incomplete.0.iter().flat_map(|files| files.iter()) {
        // Errors of the cleanup are ignored.
        let _ = fs::remove_file(file);
    }
    std::mem::forget(incomplete);
}
