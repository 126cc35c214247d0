//! Appends rows to an array and changes its shape: `cargo run --example append_resize`.
//!
//! The shape of an array may change at any time, also in a file. Growing and shrinking add or
//! remove whole chunks; no existing chunk is compressed again, except that a partly filled last
//! chunk receives the items appended to it.

use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::Storage;

/// Created in the current directory, and removed at the end.
const PATH: &str = "example-append_resize.b2nd";
const COLUMNS: i32 = 6;

/// Returns the items of some rows: the item in row r and column c is 10 r + c.
fn rows(range: std::ops::Range<i32>) -> Vec<i32> {
    range.flat_map(|row| (0..COLUMNS).map(move |column| 10 * row + column)).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // An interrupted run may have left the file, and arrays never replace one.
    let _ = std::fs::remove_file(PATH);

    // An array without rows. Chunks have 4 rows: that is the unit in which the file grows.
    let layout = Layout { shape: &[0, 6], chunkshape: &[4, 6], blockshape: &[2, 6] };
    let mut array = Array::full(Storage::file(PATH), CParams::default(), &layout, 0i32)?;

    // Append along axis 0. A call may add any number of whole rows.
    array.append_items(&rows(0..4), 0)?;
    array.append_items(&rows(4..9), 0)?;
    assert_eq!(array.shape(), [9, 6]);
    assert!(array.get::<i32>(..)? == rows(0..9));
    println!("appended 4 and 5 rows: {:?}, {} chunks", array.shape(), array.schunk().nchunks());

    // Another handle sees the new shape.
    let reader = Array::open(Storage::file(PATH), DParams::default())?;
    assert_eq!(reader.shape(), [9, 6]);

    // Grow in both dimensions. The new items are zero.
    array.resize(&[10, 8], None)?;
    let last = array.get::<i32>((8.., 4..))?;
    assert_eq!(last, [84, 85, 0, 0, 0, 0, 0, 0]);
    println!("resized to {:?}: the last items are {last:?}", array.shape());

    // Shrink: items outside the new shape are removed.
    array.resize(&[8, 6], None)?;
    assert!(array.get::<i32>(..)? == rows(0..8));

    // Inside the array whole chunks can be inserted and deleted: here 4 rows before row 4, and then
    // rows 0 to 3.
    array.insert_items(&rows(100..104), 0, 4)?;
    array.delete(0, 0, 4)?;
    assert!(array.get::<i32>(..)? == [rows(100..104), rows(4..8)].concat());
    println!("inserted and deleted 4 rows: {:?}", array.shape());

    drop((array, reader));
    std::fs::remove_file(PATH)?;
    Ok(())
}
