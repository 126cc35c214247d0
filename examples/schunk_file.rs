//! Stores chunks in a file, appends to it later and reads it: `cargo run --example schunk_file`.
//!
//! A *super-chunk* is a sequence of compressed chunks. In a file it is a *frame*: header, chunks,
//! an index of the chunks, and a trailer. Chunks are compressed and read one by one, so neither
//! writing nor reading needs all the data in memory.

use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};

/// Created in the current directory, and removed at the end.
const PATH: &str = "example-schunk_file.b2frame";
/// Numbers in a chunk.
const ITEMS: i64 = 10_000;

/// Returns the numbers of a chunk as bytes: the items are consecutive 64-bit integers.
fn numbers(nchunk: i64) -> Vec<u8> {
    (nchunk * ITEMS..(nchunk + 1) * ITEMS).flat_map(i64::to_le_bytes).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // An interrupted run may have left the file, and `create` never replaces one.
    let _ = std::fs::remove_file(PATH);

    // The parameters for compression are stored in the file: later writers use them, too.
    let params = CParams::default().typesize(8).level(7);
    let mut file = SChunk::create(Storage::file(PATH), params, DParams::default())?;
    for nchunk in 0..5 {
        file.append(&numbers(nchunk))?;
    }
    println!("created {PATH} with {} chunks", file.nchunks());
    // `close` reports errors, which dropping the super-chunk ignores.
    file.close()?;

    // Open the file again and append. After each call the file is complete.
    let mut file = SChunk::open(Storage::file(PATH), DParams::default())?;
    for nchunk in 5..8 {
        file.append(&numbers(nchunk))?;
    }
    file.close()?;

    let file = SChunk::open(Storage::file(PATH), DParams::default())?;
    assert_eq!((file.nchunks(), file.nbytes()), (8, 8 * ITEMS * 8));
    println!("{} chunks: {} bytes are stored as {}", file.nchunks(), file.nbytes(), file.cbytes());

    // Read a whole chunk …
    let mut chunk = vec![0; file.chunksize() as usize];
    let size = file.decompress(6, &mut chunk)?;
    assert_eq!(size, chunk.len());
    assert!(chunk == numbers(6));

    // … or a range of items, here around the border of two chunks. Only their blocks are read.
    let mut four = [0; 4 * 8];
    file.get_slice(2 * ITEMS - 2, 2 * ITEMS + 2, &mut four)?;
    let four: Vec<i64> = four.as_chunks().0.iter().map(|item| i64::from_le_bytes(*item)).collect();
    assert_eq!(four, [19_998, 19_999, 20_000, 20_001]);
    println!("items 19998 to 20001: {four:?}");

    drop(file);
    std::fs::remove_file(PATH)?;
    Ok(())
}
