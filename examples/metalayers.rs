//! Stores small metadata of fixed length with a super-chunk: `cargo run --example metalayers`.
//!
//! A *fixed metalayer* has a name and bytes whose number never changes. It is in the header of a
//! frame, so programs read it without touching the data. It must be added before the first chunk;
//! its content can be overwritten later. The example `vlmetalayers` shows the flexible kind.

use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc::{Error, Result};

fn main() -> Result<()> {
    // A frame in memory; `Storage::file` would store the same bytes in a file.
    let params = CParams::default().typesize(4);
    let mut readings = SChunk::create(Storage::frame(), params, DParams::default())?;

    // The library does not interpret the content. Here: 4 bytes for the version of the program's
    // format, and 8 bytes for a counter.
    readings.add_metalayer("version", &1u32.to_le_bytes())?;
    readings.add_metalayer("counter", &0u64.to_le_bytes())?;
    println!("added two metalayers of 4 and 8 bytes");

    for day in 0..3i32 {
        let items: Vec<i32> = (day * 1000..(day + 1) * 1000).collect();
        readings.append_items(&items)?;
        // An update does not rewrite the chunks.
        readings.update_metalayer("counter", &(readings.nchunks() as u64).to_le_bytes())?;
    }

    // After the first chunk no fixed metalayer can be added.
    let refused = readings.add_metalayer("late", b"too late").unwrap_err();
    assert_eq!(refused, Error::InvalidParam);
    println!("adding one after the first chunk: {refused}");

    // A longer content does not fit, and changes nothing.
    let refused = readings.update_metalayer("version", b"longer than four bytes").unwrap_err();
    assert_eq!(refused, Error::InvalidParam);
    println!("updating one with a longer content: {refused}");
    assert_eq!(readings.metalayer("version").unwrap(), 1u32.to_le_bytes());

    // The metalayers are part of the frame: another handle, or another program, reads them.
    let frame = readings.to_bytes()?;
    let opened = SChunk::from_bytes(&frame, DParams::default())?;
    let counter = opened.metalayer("counter").expect("the metalayer was added");
    let counter = u64::from_le_bytes(counter.try_into().expect("8 bytes"));
    assert_eq!(counter, 3);
    assert_eq!(opened.metalayer("late"), None);
    println!("the copy of the frame has version 1 and counter {counter}");
    Ok(())
}
