//! What the tests share: fixtures, data, and files.

use ferroblosc::bloscpack::{self, PackArgs, Value};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The folder of the files that Bloscpack wrote, and some by hand.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bloscpack")
}

/// A fixture.
pub fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(fixtures().join(name)).unwrap()
}

/// Little-endian numbers that count up.
pub fn iota(count: u64) -> Vec<u8> {
    (0..count).flat_map(u64::to_le_bytes).collect()
}

/// Bytes that compress a little.
pub fn ramp(len: u64) -> Vec<u8> {
    (0..len).map(|k| ((k * k + 3 * k) >> 4) as u8).collect()
}

/// Bytes that don't compress.
pub fn lcg(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// A folder for the files of a test, removed with it.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Scratch {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("ferroblosc-bloscpack-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    /// The path of a file there.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A file there with these bytes.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The names of the files there.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The plain bytes of a container.
pub fn unpacked(container: &[u8]) -> bloscpack::Result<Vec<u8>> {
    bloscpack::unpack_bytes_from_bytes(container, 2).map(|(plain, _)| plain)
}

/// A value.
pub fn json(text: &str) -> Value {
    Value::parse(text.as_bytes()).unwrap()
}

/// Bytes packed with chunks of this size.
pub fn packed(plain: &[u8], chunk_size: u64) -> Vec<u8> {
    let args = PackArgs {
        chunk_size,
        ..PackArgs::default()
    };
    bloscpack::pack_bytes_to_bytes(plain, &args).unwrap()
}

/// Hexadecimal digits as bytes; blanks don't count.
pub fn unhex(digits: &str) -> Vec<u8> {
    let digits: Vec<char> = digits.chars().filter(|c| !c.is_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap())
        .collect()
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
