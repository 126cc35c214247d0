//! Helpers for the tests of this library, in addition to those of all C libraries.

pub use ferroblosc_capi_testing::*;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Returns a directory for files of this test.
pub fn scratch(name: &str) -> PathBuf {
    folder_below(env!("CARGO_TARGET_TMPDIR"), env!("CARGO_CRATE_NAME"), name)
}

/// Returns the directory with the three libraries under the names that programs use, after building
/// everything that is installed.
pub fn library_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = scratch("lib");
        let libraries = [("ferroblosc", "0"), ("blosc2", "9"), ("blosc", "1")];
        build_libraries(&libraries, &folder);
        folder
    })
}
