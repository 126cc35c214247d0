//! What unit tests share.

use std::path::PathBuf;

use tempfile::TempDir;

/// Returns a new directory for the files of a test.
pub fn tempdir() -> TempDir {
    // WASI defines no directory of temporary files.
    let made =
        if cfg!(target_os = "wasi") { tempfile::tempdir_in("/tmp") } else { tempfile::tempdir() };
    made.unwrap()
}

/// A directory for the files of a test, which is removed at its end.
pub struct Folder(TempDir);

impl Folder {
    /// Creates the directory.
    pub fn new() -> Folder {
        Folder(tempdir())
    }

    /// Returns the path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, in directories that need not exist. Returns its path.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }
}
