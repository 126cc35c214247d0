//! Reads one file with many threads: `cargo run --example many_readers`.
//!
//! Reading a super-chunk or an array needs only `&self`, so any number of threads may share one
//! handle. They run in parallel, each with working memory of its own. Changes need `&mut self`: the
//! compiler ensures that there are no readers at that time.

use ferroblosc::Result;
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};

/// Created in the current directory, and removed at the end.
const PATH: &str = "example-many_readers.b2frame";
const CHUNKS: i64 = 40;
const ITEMS: i64 = 20_000;
const READERS: i64 = 8;

/// Adds the numbers of every eighth chunk.
fn sum(file: &SChunk, reader: i64) -> Result<i64> {
    let mut items = vec![0i64; ITEMS as usize];
    let mut sum = 0;
    for nchunk in (reader..CHUNKS).step_by(READERS as usize) {
        file.get_into(nchunk * ITEMS..(nchunk + 1) * ITEMS, &mut items)?;
        sum += items.iter().sum::<i64>();
    }
    Ok(sum)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    // An interrupted run may have left the file, and `create` never replaces one.
    let _ = std::fs::remove_file(PATH);
    let mut file = SChunk::create(Storage::file(PATH), CParams::default(), DParams::default())?;
    for nchunk in 0..CHUNKS {
        let items: Vec<i64> = (nchunk * ITEMS..(nchunk + 1) * ITEMS).collect();
        file.append_items(&items)?;
    }
    file.close()?;

    // One handle, borrowed by all threads.
    let file = SChunk::open(Storage::file(PATH), DParams::default())?;
    let sums = std::thread::scope(|scope| -> Result<Vec<i64>> {
        let start = |reader| {
            let file = &file;
            scope.spawn(move || sum(file, reader))
        };
        let readers: Vec<_> = (0..READERS).map(start).collect();
        readers.into_iter().map(|reader| reader.join().expect("no thread panics")).collect()
    })?;

    for (reader, sum) in sums.iter().enumerate() {
        println!("reader {reader}: the sum of its numbers is {sum}");
    }
    let count = CHUNKS * ITEMS;
    assert_eq!(sums.iter().sum::<i64>(), count * (count - 1) / 2);
    println!("together they read all {count} numbers");

    drop(file);
    std::fs::remove_file(PATH)?;
    Ok(())
}
