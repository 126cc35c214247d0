//! Fixtures, data and temporary files shared by the tests.

use ferroblosc_formats::bloscpack::{self, PackArgs, Value};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Returns the directory of the fixtures: files that Bloscpack wrote, and handwritten ones.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bloscpack")
}

/// Reads a fixture.
pub fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(fixtures().join(name)).unwrap()
}

/// Returns consecutive little-endian numbers.
pub fn iota(count: u64) -> Vec<u8> {
    (0..count).flat_map(u64::to_le_bytes).collect()
}

/// Returns slightly compressible bytes.
pub fn ramp(len: u64) -> Vec<u8> {
    (0..len).map(|k| ((k * k + 3 * k) >> 4) as u8).collect()
}

/// Returns incompressible bytes.
pub fn lcg(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// A temporary directory, removed on drop.
pub struct Scratch(TempDir);

impl Scratch {
    pub fn new() -> Scratch {
        Scratch(tempfile::tempdir().unwrap())
    }

    /// Returns the path of a file in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Creates a file in the directory.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Returns the names of the files in the directory.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Unpacks a container.
pub fn unpacked(container: &[u8]) -> bloscpack::Result<Vec<u8>> {
    bloscpack::unpack_bytes_from_bytes(container, 2).map(|(plain, _)| plain)
}

/// Parses JSON.
pub fn json(text: &str) -> Value {
    Value::parse(text.as_bytes()).unwrap()
}

/// Packs bytes with this chunk size.
pub fn packed(plain: &[u8], chunk_size: u64) -> Vec<u8> {
    let args = PackArgs { chunk_size, ..PackArgs::default() };
    bloscpack::pack_bytes_to_bytes(plain, &args).unwrap()
}

/// Parses hexadecimal digits, ignoring spaces.
pub fn unhex(digits: &str) -> Vec<u8> {
    let digits: Vec<char> = digits.chars().filter(|c| !c.is_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap())
        .collect()
}

/// Formats bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
