//! Reads a file through a memory mapping: `cargo run --example mmap`.
//!
//! A mapped file appears in the address space of the process, and the system loads its pages when
//! they are first used. Compressed chunks are then decompressed directly from the page cache,
//! without a copy. Do not map files that other processes may truncate (docs/threads.md). This needs
//! the feature `mmap` of the crate.

use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::frame::FrameChunk;
use ferroblosc::io::mmap::{DEFAULT_INITIAL_SIZE, MapMode, Mmap};
use ferroblosc::schunk::{SChunk, Storage};
use std::sync::Arc;

/// Created in the current directory, and removed at the end.
const PATH: &str = "example-mmap.b2frame";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // An interrupted run may have left the file, and `create` never replaces one.
    let _ = std::fs::remove_file(PATH);

    // Write a file with 20 chunks, with ordinary I/O.
    let params = CParams::default().typesize(4);
    let mut file = SChunk::create(Storage::file(PATH), params, DParams::default())?;
    for nchunk in 0..20u32 {
        let items: Vec<u32> = (nchunk * 50_000..(nchunk + 1) * 50_000).collect();
        file.append_items(&items)?;
    }
    file.close()?;

    // The backend performs the access to the file. It maps one file: use one backend for each.
    // The second argument matters only for files that grow.
    let backend = Arc::new(Mmap::new(MapMode::Read, DEFAULT_INITIAL_SIZE));
    let mapped = SChunk::open(Storage::file(PATH).backend(backend), DParams::default())?;
    println!("mapped {PATH}: {} chunks", mapped.nchunks());

    // A compressed chunk is borrowed from the mapping; with ordinary I/O it is a copy.
    let chunk = mapped.chunk(7)?;
    assert!(matches!(chunk, FrameChunk::Borrowed(_)));
    let ordinary = SChunk::open(Storage::file(PATH), DParams::default())?;
    let copy = ordinary.chunk(7)?;
    assert!(matches!(copy, FrameChunk::Owned(_)));
    assert!(*chunk == *copy);
    println!("chunk 7: {} bytes, borrowed from the mapping", chunk.len());

    // All other methods work as with an ordinary file.
    let items = mapped.get::<u32>(..)?;
    assert!(items.len() == 1_000_000 && items.iter().zip(0..).all(|(&item, i)| item == i));
    println!("read {} items through the mapping", items.len());

    std::fs::remove_file(PATH)?;
    Ok(())
}
