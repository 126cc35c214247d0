//! Fixtures, data and temporary directories shared by the tests.

use ferroblosc_formats::bcolz::{Carray, CarraySpec, Mode, Options};
use ferroblosc_formats::bloscpack::Value;
use ferroblosc_formats::numpy::Dtype;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Returns the directory of the fixtures: directories that bcolz wrote, and handwritten ones.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bcolz")
}

/// A temporary directory, removed on drop.
pub struct Scratch(TempDir);

impl Scratch {
    pub fn new() -> Scratch {
        Scratch(tempfile::tempdir().unwrap())
    }

    /// Returns the path of an entry in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Copies a fixture into the directory.
    pub fn copy(&self, fixture: &str) -> PathBuf {
        let root = self.path(fixture);
        copy_tree(&fixtures().join(fixture), &root);
        root
    }
}

/// Copies a directory tree.
pub fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Returns all paths below a directory, files with their contents.
pub fn tree(root: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.push((path.clone(), None));
            found.extend(tree(&path));
        } else {
            found.push((path.clone(), Some(std::fs::read(&path).unwrap())));
        }
    }
    found
}

/// Returns consecutive little-endian int64 numbers.
pub fn iota(numbers: std::ops::Range<i64>) -> Vec<u8> {
    numbers.flat_map(i64::to_le_bytes).collect()
}

pub fn reader(root: &Path) -> Carray {
    Carray::open(root, Mode::Read, &Options::default()).unwrap()
}

pub fn writer(root: &Path) -> Carray {
    Carray::open(root, Mode::Append, &Options::default()).unwrap()
}

/// Reads all rows.
pub fn rows(root: &Path) -> Vec<u8> {
    let mut array = reader(root);
    let len = array.len();
    array.read(0..len).unwrap()
}

pub fn spec(dtype: &str, chunklen: u64) -> CarraySpec {
    CarraySpec { chunklen: Some(chunklen), ..CarraySpec::new(Dtype::parse(dtype).unwrap()) }
}

/// Creates an int64 array with these rows.
pub fn made(root: &Path, chunklen: u64, numbers: std::ops::Range<i64>) {
    let spec = spec("int64", chunklen);
    let mut array = Carray::create(root, &spec, Mode::Write, &Options::default()).unwrap();
    array.append(&iota(numbers)).unwrap();
    array.close().unwrap();
}

/// Parses JSON.
pub fn json(text: &str) -> Value {
    Value::parse(text.as_bytes()).unwrap()
}

/// Formats bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Merges an array's chunks into files of several chunks, as in published arrays. Each file is
/// given as its number of chunks and the number that its header records.
pub fn pack_chunks(root: &Path, counts: &[(usize, i64)]) {
    let data = root.join("data");
    let chunks: Vec<Vec<u8>> = (0..)
        .map_while(|number| std::fs::read(data.join(format!("__{number}.blp"))).ok())
        .map(|file| file[16..].to_vec())
        .collect();
    std::fs::remove_dir_all(&data).unwrap();
    std::fs::create_dir(&data).unwrap();
    let mut chunks = chunks.into_iter();
    for (file, (count, recorded)) in counts.iter().enumerate() {
        let mut bytes = b"blpk\x01\0\0\0".to_vec();
        bytes.extend(recorded.to_le_bytes());
        bytes.extend(chunks.by_ref().take(*count).flatten());
        std::fs::write(data.join(format!("__{file}.blp")), bytes).unwrap();
    }
}
