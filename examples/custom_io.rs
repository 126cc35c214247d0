//! Stores a super-chunk in a storage of the program: `cargo run --example custom_io`.
//!
//! A *backend* opens files by path; a *stream* is an open file. This one keeps files in memory and
//! counts the bytes that are read. A backend for a database or a network would have the same
//! methods.

use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::io::{Backend, Mode, ReadAt, Stream, WriteGranularity};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc::{Error, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A file: its bytes, and the number of bytes that were read.
#[derive(Default)]
struct File {
    bytes: Mutex<Vec<u8>>,
    bytes_read: AtomicU64,
}

/// The backend: files by path.
#[derive(Default)]
struct Memory(Mutex<HashMap<PathBuf, Arc<File>>>);

impl Backend for Memory {
    fn open(&self, path: &Path, mode: Mode) -> Result<Box<dyn Stream>> {
        let mut files = self.0.lock().unwrap();
        let file = match mode {
            Mode::Read | Mode::Update => files.get(path).ok_or(Error::FileOpen)?,
            Mode::Create | Mode::Append => files.entry(path.to_owned()).or_default(),
        };
        if mode == Mode::Create {
            file.bytes.lock().unwrap().clear();
        }
        Ok(Box::new(Open(Arc::clone(file))))
    }
}

/// An open file. Reads and writes have positions, so it has no state of its own.
struct Open(Arc<File>);

impl Stream for Open {
    fn size(&self) -> Result<u64> {
        Ok(self.0.bytes.lock().unwrap().len() as u64)
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        // The crate implements such reads for vectors. At the end of the file they are shorter.
        let read = self.0.bytes.lock().unwrap().read_at(position, dest)?;
        self.0.bytes_read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }

    fn write_at(&self, position: u64, bytes: &[u8], _: WriteGranularity) -> Result<()> {
        let mut file = self.0.bytes.lock().unwrap();
        let (start, end) = (position as usize, position as usize + bytes.len());
        let len = file.len().max(end);
        file.resize(len, 0);
        file[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn truncate(&self, len: u64) -> Result<()> {
        self.0.bytes.lock().unwrap().resize(len as usize, 0);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn main() -> Result<()> {
    let memory = Arc::new(Memory::default());
    let path = Path::new("example-custom_io.b2frame");
    let storage = Storage::file(path).backend(memory.clone());

    let params = CParams::default().typesize(4);
    let mut written = SChunk::create(storage.clone(), params, DParams::default())?;
    for nchunk in 0..10u32 {
        let items: Vec<u32> = (nchunk * 10_000..(nchunk + 1) * 10_000).collect();
        written.append_items(&items)?;
    }
    written.close()?;
    let file = Arc::clone(&memory.0.lock().unwrap()[path]);
    let size = file.bytes.lock().unwrap().len();
    println!("the backend holds a file of {size} bytes");

    // Read one item: the library reads the header, the index and one block, not the whole file.
    file.bytes_read.store(0, Ordering::Relaxed);
    let opened = SChunk::open(storage, DParams::default())?;
    assert_eq!(opened.get::<u32>(54_321..=54_321)?, [54_321]);
    let read = file.bytes_read.load(Ordering::Relaxed);
    assert!(read < size as u64);
    println!("opening it and reading one item read {read} bytes");
    Ok(())
}
