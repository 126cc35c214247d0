//! A folder with files in which `blpk` runs.

use ferroblosc_tools_testing::fixtures;
use std::ops::Deref;

/// A folder of a test, removed with it.
pub struct Folder(ferroblosc_tools_testing::Folder);

impl Folder {
    /// A folder with the files that `recorded.txt` names.
    pub fn new() -> Folder {
        let folder = ferroblosc_tools_testing::Folder::of(env!("CARGO_BIN_EXE_blpk"));
        folder.write("in", &iota(300_000));
        folder.write("small", b"0123456789");
        folder.write("zero", b"");
        folder.write(
            "m.json",
            br#"{"dtype": "float64", "shape": [200000000], "container": "numpy"}"#,
        );
        folder.write("null.json", b"null");
        Folder(folder)
    }
}

impl Deref for Folder {
    type Target = ferroblosc_tools_testing::Folder;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Little-endian numbers that count up.
pub fn iota(count: u64) -> Vec<u8> {
    (0..count).flat_map(u64::to_le_bytes).collect()
}

/// A file that Bloscpack wrote.
pub fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(fixtures().join("bloscpack").join(name)).unwrap()
}
