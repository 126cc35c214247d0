//! A temporary directory for tests, and the contents of streams.

use super::Stream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory for one test, removed on drop.
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    /// Creates an empty directory; `name` identifies the test.
    pub(crate) fn new(name: &str) -> TempDir {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        // Relaxed: only the numbers must differ.
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        let path = std::env::temp_dir().join(format!("ferroblosc-{name}-{process}-{number}"));
        std::fs::create_dir(&path).expect("a new directory");
        TempDir(path)
    }

    /// Returns the path of the directory.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the path of a file in the directory.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Reads all bytes of a stream and checks that there are no more.
pub(crate) fn contents(stream: &dyn Stream) -> Vec<u8> {
    let mut bytes = vec![0; stream.size().unwrap() as usize + 1];
    let len = stream.read_at(0, &mut bytes).unwrap();
    bytes.truncate(len);
    bytes
}
