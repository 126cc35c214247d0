//! A temporary directory in which `blpk` runs.

use ferroblosc_tools_testing::fixtures;
use std::ops::Deref;

/// A temporary directory of a test.
pub struct TestDir(ferroblosc_tools_testing::TestDir);

impl TestDir {
    /// Creates a directory with the files that `recorded.txt` lists.
    pub fn new() -> TestDir {
        let folder = ferroblosc_tools_testing::TestDir::new(env!("CARGO_BIN_EXE_blpk"));
        folder.write("in", &iota(300_000));
        folder.write("small", b"0123456789");
        folder.write("zero", b"");
        folder.write(
            "m.json",
            br#"{"dtype": "float64", "shape": [200000000], "container": "numpy"}"#,
        );
        folder.write("null.json", b"null");
        TestDir(folder)
    }
}

impl Deref for TestDir {
    type Target = ferroblosc_tools_testing::TestDir;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Returns consecutive little-endian numbers from 0.
pub fn iota(count: u64) -> Vec<u8> {
    (0..count).flat_map(u64::to_le_bytes).collect()
}

/// Returns a file that Bloscpack wrote.
pub fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(fixtures().join("bloscpack").join(name)).unwrap()
}
