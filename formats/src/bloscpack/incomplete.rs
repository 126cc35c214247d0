//! The temporary files of this process, which a program removes when a signal ends it.
//!
//! The list is empty unless the program asks for it: if another thread held its lock during a fork,
//! the child could not create files. Later programs remove the temporary files of those that were
//! killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Whether the program asked for the list.
static IS_LISTED: AtomicBool = AtomicBool::new(false);

/// The locked list. It is locked while a file is created, renamed or removed.
pub struct Incomplete(Option<MutexGuard<'static, Vec<PathBuf>>>);

impl Incomplete {
    /// Locks the list.
    pub fn lock() -> Self {
        // Relaxed: the program sets it before it creates files.
        let is_listed = IS_LISTED.load(Ordering::Relaxed);
        Self(is_listed.then(|| FILES.lock().unwrap_or_else(PoisonError::into_inner)))
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

/// Lists the temporary files from now on, for [`remove_incomplete`]. A program that calls this must
/// not create files in a child that [`fork`](https://man7.org/linux/man-pages/man2/fork.2.html)
/// made while other threads were running.
pub fn list_incomplete() {
    IS_LISTED.store(true, Ordering::Relaxed);
}

/// Removes the temporary files of this process that were created since [`list_incomplete`]. The
/// process must end then: other threads that create or complete a file wait forever.
pub fn remove_incomplete() {
    let incomplete = Incomplete::lock();
    for file in incomplete.0.iter().flat_map(|files| files.iter()) {
        // Errors of the cleanup are ignored.
        let _ = fs::remove_file(file);
    }
    std::mem::forget(incomplete);
}
