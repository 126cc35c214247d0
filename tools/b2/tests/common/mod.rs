//! A folder in which `b2` runs.

use std::ops::Deref;

/// A folder of a test, removed with it.
pub struct Folder(ferroblosc_tools_testing::Folder);

impl Folder {
    pub fn new() -> Folder {
        Folder(ferroblosc_tools_testing::Folder::of(env!(
            "CARGO_BIN_EXE_b2"
        )))
    }
}

impl Deref for Folder {
    type Target = ferroblosc_tools_testing::Folder;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
