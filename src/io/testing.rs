//! A place for the files of a test, and what is in them.

use super::Stream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory of a test's own, which goes with it.
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    /// An empty directory; `name` tells tests apart.
    pub(crate) fn new(name: &str) -> TempDir {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        // Relaxed: only the numbers must differ.
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        let path = std::env::temp_dir().join(format!("ferroblosc-{name}-{process}-{number}"));
        std::fs::create_dir(&path).expect("a new directory");
        TempDir(path)
    }

    /// The path of the directory.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The path of something in it.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// All bytes of a stream, and no more than there are.
pub(crate) fn contents(stream: &dyn Stream) -> Vec<u8> {
    let mut bytes = vec![0; stream.size().unwrap() as usize + 1];
    let len = stream.read_at(0, &mut bytes).unwrap();
    bytes.truncate(len);
    bytes
}
