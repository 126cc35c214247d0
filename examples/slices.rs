//! Reads and writes slices of a two-dimensional array: `cargo run --example slices`.
//!
//! An array is divided into chunks, and each chunk into blocks. Both are boxes of items. A slice is
//! a box, too, from `start` to before `stop`; reading it decompresses only the blocks that it
//! touches. Items are passed as bytes, in row-major order: the last index varies fastest.

use ferroblosc::Result;
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::CParams;
use ferroblosc::schunk::Storage;

/// Converts bytes to numbers.
fn numbers(bytes: &[u8]) -> Vec<i32> {
    bytes.as_chunks().0.iter().map(|item| i32::from_le_bytes(*item)).collect()
}

/// Converts numbers to bytes.
fn bytes(numbers: impl IntoIterator<Item = i32>) -> Vec<u8> {
    numbers.into_iter().flat_map(i32::to_le_bytes).collect()
}

fn main() -> Result<()> {
    // 100 rows and 50 columns. The item in row r and column c is 50 r + c. Chunks need not divide
    // the shape: those at the border are partly used.
    let layout = Layout { shape: &[100, 50], chunkshape: &[32, 32], blockshape: &[8, 8] };
    // "<i4" is NumPy's name of a little-endian 32-bit integer. It is stored for other programs.
    let params = CParams::default().typesize(4);
    let items = bytes(0..100 * 50);
    let mut array = Array::from_items(Storage::memory(), params.clone(), &layout, "<i4", &items)?;

    // Rows 10 and 11, columns 20 to 22.
    let slice = numbers(&array.get_slice(&[10, 20], &[12, 23])?);
    assert_eq!(slice, [520, 521, 522, 570, 571, 572]);
    println!("rows 10 and 11, columns 20 to 22: {slice:?}");

    // A column is a slice with one index along the second dimension.
    let column = numbers(&array.get_slice(&[0, 7], &[100, 8])?);
    assert!(column.iter().enumerate().all(|(row, &item)| item == 50 * row as i32 + 7));

    // Overwrite a box of 2 × 3 items. Each chunk that it touches is compressed again.
    array.set_slice(&[30, 31], &[32, 34], &bytes([-1, -2, -3, -4, -5, -6]))?;
    let around = numbers(&array.get_slice(&[30, 30], &[32, 35])?);
    assert_eq!(around, [1530, -1, -2, -3, 1534, 1580, -4, -5, -6, 1584]);
    println!("after writing a box of 2 x 3 items: {around:?}");

    // Copy a slice to a new array, which may have other chunks and another storage.
    let layout = Layout { shape: &[], chunkshape: &[10, 10], blockshape: &[5, 5] };
    let slice: (&[i64], &[i64]) = (&[50, 0], &[100, 25]);
    let copy = array.copy_slice(Storage::memory(), params, &layout, slice)?;
    assert_eq!(copy.shape(), [50, 25]);
    assert_eq!(numbers(&copy.get_slice(&[49, 24], &[50, 25])?), [50 * 99 + 24]);
    println!("a copy of rows 50 to 99, columns 0 to 24 has the shape {:?}", copy.shape());

    // A slice outside the array is an error.
    let error = array.get_slice(&[99, 0], &[101, 1]).unwrap_err();
    println!("rows 99 and 100: {error}");
    Ok(())
}
