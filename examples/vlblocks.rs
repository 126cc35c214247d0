//! Stores records of different lengths in one chunk: `cargo run --example vlblocks`.
//!
//! Usually all blocks of a chunk have one length. A chunk with *variable-length blocks* has a block
//! for each record, such as a text or a picture, and each block can be decompressed alone.

use ferroblosc::Result;
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor, sizes, vl_nblocks};
use ferroblosc::schunk::{SChunk, Storage};

fn main() -> Result<()> {
    // Texts of 12 to 600 bytes.
    let texts: Vec<String> =
        (0..100).map(|i| format!("record {i:03}: ").repeat(1 + i * 7 % 50)).collect();
    let records: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let nbytes: usize = records.iter().map(|record| record.len()).sum();

    // One chunk, one block for each record.
    let params = CParams::default().typesize(1);
    let mut compressor = Compressor::new(params.clone())?;
    let chunk = compressor.vl_compress_to_vec(&records)?;
    assert_eq!(vl_nblocks(&chunk)?, 100);
    let size = chunk.len();
    println!("{} records of {nbytes} bytes became a chunk of {size} bytes", records.len());

    // Read all records, or a single one. A block does not depend on the others.
    let mut decompressor = Decompressor::new(DParams::default());
    let restored = decompressor.vl_decompress(&chunk)?;
    assert!(restored == records);
    let mut record = vec![0; decompressor.vl_block_len(&chunk, 42)?];
    decompressor.vl_decompress_block(&chunk, 42, &mut record)?;
    assert_eq!(record, records[42]);
    println!("record 42 has {} bytes: {}…", record.len(), &texts[42][..12]);

    // Ordinary decompression returns the records one after the other.
    assert_eq!(sizes(&chunk)?.nbytes as usize, nbytes);
    assert!(decompressor.decompress_to_vec(&chunk)? == records.concat());

    // A super-chunk stores such chunks, with any number of records and bytes each.
    let mut store = SChunk::create(Storage::frame(), params, DParams::default())?;
    store.append_chunk(&chunk)?;
    store.append_chunk(&compressor.vl_compress_to_vec(&[b"one", b"last"])?)?;
    assert_eq!(store.vl_block(0, 42)?, records[42]);
    assert_eq!(store.vl_block(1, 1)?, b"last");
    println!(
        "a super-chunk of {} chunks returned records 42 of chunk 0 and 1 of chunk 1",
        store.nchunks()
    );
    Ok(())
}
