//! Stores metadata of any length with a super-chunk: `cargo run --example vlmetalayers`.
//!
//! A *variable-length metalayer* has a name and compressed content. It can be added, replaced by
//! longer or shorter content, and deleted at any time. It is in the trailer of a frame. The example
//! `metalayers` shows the kind of fixed length.

use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc::{Error, Result};

fn main() -> Result<()> {
    let params = CParams::default().typesize(4);
    let mut readings = SChunk::create(Storage::frame(), params, DParams::default())?;
    readings.append(&[0; 4000])?;

    // Chunks exist already: that does not matter for this kind of metalayer.
    readings.add_vlmetalayer("unit", b"kelvin")?;
    readings.add_vlmetalayer("log", b"created")?;
    readings.add_vlmetalayer("draft", b"to be deleted")?;

    // The new content may have any length. It is compressed, so long text is cheap.
    let before = readings.to_bytes()?.len();
    let log = "the sensor was calibrated\n".repeat(1000);
    readings.update_vlmetalayer("log", log.as_bytes())?;
    let growth = readings.to_bytes()?.len() - before;
    assert!(growth < log.len() / 10);
    println!("a log of {} bytes made the frame {growth} bytes longer", log.len());

    readings.delete_vlmetalayer("draft")?;

    // Another handle lists and reads them.
    let opened = SChunk::from_bytes(&readings.to_bytes()?, DParams::default())?;
    assert_eq!(opened.vlmetalayer_names(), ["unit", "log"]);
    for name in opened.vlmetalayer_names() {
        println!("{name}: {} bytes", opened.vlmetalayer(&name)?.len());
    }
    assert_eq!(opened.vlmetalayer("unit")?, b"kelvin");
    assert_eq!(opened.vlmetalayer("log")?, log.as_bytes());

    // A name that does not exist is an error.
    let missing = opened.vlmetalayer("draft").unwrap_err();
    assert_eq!(missing, Error::NotFound);
    println!("draft: {missing}");
    Ok(())
}
