//! Writes text to a super-chunk and reads its lines: `cargo run --example stream`.
//!
//! A *writer* collects bytes and compresses them in chunks of equal size, and a *reader* returns
//! the uncompressed bytes. They implement the traits of `std::io`, so all code that reads or writes
//! streams can use them, for instance `std::io::copy`.

use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};

/// Created in the current directory, and removed at the end.
const PATH: &str = "example-stream.b2frame";

fn main() -> io::Result<()> {
    // An interrupted run may have left the file, and `create` never replaces one.
    let _ = std::fs::remove_file(PATH);

    // Chunks of 16 KiB. Without a size they have 1 MiB.
    let params = CParams::default().typesize(1);
    let mut log = SChunk::create(Storage::file(PATH), params, DParams::default())?;
    log.set_chunksize(16 << 10)?;
    let mut writer = log.writer()?;
    for number in 0..10_000 {
        writeln!(writer, "line {number:05}")?;
    }
    // The last chunk may be shorter. A writer that is dropped without `finish` discards it.
    writer.finish()?;
    println!("{} chunks of {} bytes or less", log.nchunks(), log.chunksize());

    // A later writer completes the short chunk before it adds others.
    let mut writer = log.writer()?;
    io::copy(&mut "one more line\n".as_bytes(), &mut writer)?;
    writer.finish()?;
    log.close()?;

    // Lines may extend over two chunks. Only the chunks that are read are decompressed.
    let log = SChunk::open(Storage::file(PATH), DParams::default())?;
    let mut reader = log.reader()?;
    reader.seek(SeekFrom::Start(11 * 5_000))?;
    let mut line = String::new();
    reader.read_line(&mut line)?;
    assert_eq!(line, "line 05000\n");
    println!("after a seek: {line:?}");
    let count = reader.by_ref().lines().count();
    assert_eq!(count, 5_000);
    println!("{count} lines follow");

    // The iterator returns whole chunks. At a damaged chunk it returns an error, and continues.
    let longest = log.chunks().filter_map(Result::ok).map(|chunk| chunk.len()).max();
    assert_eq!(longest, Some(16 << 10));

    std::fs::remove_file(PATH)?;
    Ok(())
}
