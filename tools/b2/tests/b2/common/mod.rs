//! A temporary directory in which `b2` runs.

use std::ops::Deref;

/// A temporary directory of a test.
pub struct TestDir(ferroblosc_tools_testing::TestDir);

impl TestDir {
    pub fn new() -> TestDir {
        TestDir(ferroblosc_tools_testing::TestDir::new(env!("CARGO_BIN_EXE_b2")))
    }
}

impl Deref for TestDir {
    type Target = ferroblosc_tools_testing::TestDir;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
