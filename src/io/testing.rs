//! A temporary directory for tests, and the contents of streams.

use super::Stream;
use std::path::{Path, PathBuf};

/// A directory for one test, removed on drop.
pub(crate) struct TempDir(tempfile::TempDir);

impl TempDir {
    /// Creates an empty directory; `name` identifies the test.
    pub(crate) fn new(name: &str) -> TempDir {
        TempDir(tempfile::TempDir::with_prefix(format!("ferroblosc-{name}-")).unwrap())
    }

    /// Returns the path of the directory.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the path of a file in the directory.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
}

/// Reads all bytes of a stream and checks that there are no more.
pub(crate) fn contents(stream: &dyn Stream) -> Vec<u8> {
    let mut bytes = vec![0; stream.size().unwrap() as usize + 1];
    let len = stream.read_at(0, &mut bytes).unwrap();
    bytes.truncate(len);
    bytes
}
