//! Compresses with several threads, in two ways: `cargo run --example contexts_threads`.
//!
//! `Compressor` and `Decompressor` are *contexts*: they hold parameters and working memory. Create
//! them once and use them for many calls. A context serves one call at a time.

use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
use ferroblosc::{Result, codec};
use std::time::Instant;

fn main() -> Result<()> {
    // The library sees bytes; `typesize` is the size of an item in bytes.
    let items = (0..1_000_000).map(|i| 20.0 + f64::from(i % 1000) * 0.01);
    let data: Vec<u8> = items.flat_map(f64::to_le_bytes).collect();
    let params = CParams::default().codec(codec::id::ZSTD).level(5).typesize(8);

    // 1. One call that uses several threads: the calling thread and those of the library's pool,
    //    which compress different blocks of the chunk.
    let mut chunks = Vec::new();
    for threads in [1, 2, 4] {
        let mut compressor = Compressor::new(params.clone().threads(threads))?;
        let start = Instant::now();
        let chunk = compressor.compress_to_vec(&data)?;
        let time = start.elapsed();
        println!("threads: {threads}, {} bytes became {} in {time:.1?}", data.len(), chunk.len());
        chunks.push(chunk);
    }
    // The number of threads has no influence on the result.
    assert!(chunks.iter().all(|chunk| *chunk == chunks[0]));

    let mut decompressor = Decompressor::new(DParams::default().threads(4));
    let mut restored = vec![0; data.len()];
    let size = decompressor.decompress(&chunks[0], &mut restored)?;
    assert_eq!(size, data.len());
    assert!(restored == data);
    println!("decompressed with 4 threads: {size} bytes, equal to the original");

    // 2. Threads of the program: each has a context of its own and compresses a quarter of the
    //    data. `clone_single_threaded` returns a context that shares idle working memory.
    let compressor = Compressor::new(params)?;
    let quarters: Vec<&[u8]> = data.chunks(data.len() / 4).collect();
    let compressed = std::thread::scope(|scope| -> Result<Vec<Vec<u8>>> {
        let start = |quarter| {
            let mut own = compressor.clone_single_threaded();
            scope.spawn(move || own.compress_to_vec(quarter))
        };
        let threads: Vec<_> = quarters.iter().map(|&quarter| start(quarter)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    })?;
    for (chunk, quarter) in compressed.iter().zip(&quarters) {
        let size = decompressor.decompress(chunk, &mut restored)?;
        assert!(restored[..size] == **quarter);
    }
    println!("compressed by 4 threads of the program: {} chunks", compressed.len());
    Ok(())
}
