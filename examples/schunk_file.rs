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

/// Returns the numbers of a chunk: the items are consecutive 64-bit integers.
fn numbers(nchunk: i64) -> Vec<i64> {
    (nchunk * ITEMS..(nchunk + 1) * ITEMS).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // An interrupted run may have left the file, and `create` never replaces one.
    let _ = std::fs::remove_file(PATH);

    // The parameters for compression are stored in the file: later writers use them, too.
    let params = CParams::default().typesize(8).level(7);
    let mut file = SChunk::create(Storage::file(PATH), params, DParams::default())?;
    for nchunk in 0..5 {
        file.append_items(&numbers(nchunk))?;
    }
    println!("created {PATH} with {} chunks", file.nchunks());
    // `close` reports errors, which dropping the super-chunk ignores.
    file.close()?;

    // Open the file again and append. After each call the file is complete.
    let mut file = SChunk::open(Storage::file(PATH), DParams::default())?;
    for nchunk in 5..8 {
        file.append_items(&numbers(nchunk))?;
    }
    file.close()?;

    let file = SChunk::open(Storage::file(PATH), DParams::default())?;
    assert_eq!((file.nchunks(), file.nbytes()), (8, 8 * ITEMS * 8));
    println!("{} chunks: {} bytes are stored as {}", file.nchunks(), file.nbytes(), file.cbytes());

    // Read one chunk after the other, as bytes …
    let mut nbytes = 0;
    for chunk in file.chunks() {
        nbytes += chunk?.len();
    }
    assert_eq!(nbytes as i64, file.nbytes());
    assert!(file.get::<i64>(6 * ITEMS..7 * ITEMS)? == numbers(6));

    // … or a range of items, here around the border of two chunks. Only their blocks are read.
    let four = file.get::<i64>(2 * ITEMS - 2..2 * ITEMS + 2)?;
    assert_eq!(four, [19_998, 19_999, 20_000, 20_001]);
    println!("items 19998 to 20001: {four:?}");

    drop(file);
    std::fs::remove_file(PATH)?;
    Ok(())
}
