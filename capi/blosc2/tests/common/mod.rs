//! What the tests of the C libraries share, for this one.

pub use ferroblosc_capi_testing::*;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A folder of that name for the files of this test.
pub fn scratch(name: &str) -> PathBuf {
    folder_below(env!("CARGO_TARGET_TMPDIR"), env!("CARGO_CRATE_NAME"), name)
}

/// The folder with `libblosc2.so` and `libblosc2.so.9`, just built, like all that is installed with them.
pub fn library_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = scratch("lib");
        build_libraries(&[("blosc2", "9")], &folder);
        folder
    })
}
