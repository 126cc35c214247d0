//! What unit tests share.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::store::{Cells, ColumnSpec, Store};

/// Returns a new directory for the files of a test.
pub fn tempdir() -> TempDir {
    // WASI defines no directory of temporary files.
    let made =
        if cfg!(target_os = "wasi") { tempfile::tempdir_in("/tmp") } else { tempfile::tempdir() };
    made.unwrap()
}

/// Creates a store with the table `/t`. Its column `a` has the numbers 0 to 9. The rows 4 and 9 are
/// deleted.
pub fn store_of_ten_rows(path: &Path) -> Store {
    let mut store = Store::create(path).unwrap();
    let mut table = store.create_table("/t", &[ColumnSpec::number("a", "int64")]).unwrap();
    let bytes: Vec<u8> = (0..10_i64).flat_map(i64::to_le_bytes).collect();
    table.append(&[("a", Cells::Items { bytes: &bytes, valid: None })]).unwrap();
    table.delete(&[4, 9]).unwrap();
    table.finish().unwrap();
    store.commit().unwrap();
    Store::open(path).unwrap()
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
