//! What unit tests share.

use tempfile::TempDir;

/// Returns a new directory for the files of a test.
pub fn tempdir() -> TempDir {
    // WASI defines no directory of temporary files.
    let made =
        if cfg!(target_os = "wasi") { tempfile::tempdir_in("/tmp") } else { tempfile::tempdir() };
    made.unwrap()
}
