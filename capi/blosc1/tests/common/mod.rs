//! Shared test helpers of the C libraries, configured for this one.

pub use ferroblosc_capi_testing::*;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Returns a folder for the files of a test.
pub fn scratch(name: &str) -> PathBuf {
    folder_below(env!("CARGO_TARGET_TMPDIR"), env!("CARGO_CRATE_NAME"), name)
}

/// Returns a folder with the newly built libraries under their usual names. Also builds everything
/// that is installed with them.
pub fn library_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = scratch("lib");
        build_libraries(&[("blosc", "1"), ("blosc2", "9")], &folder);
        folder
    })
}
