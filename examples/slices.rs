//! Reads and writes slices of a two-dimensional array: `cargo run --example slices`.
//!
//! An array is divided into chunks, and each chunk into blocks. Both are boxes of items. A slice is
//! a box, too: a range of indices, or one index, for each dimension. Reading it decompresses only
//! the blocks that it touches. Items are in row-major order: the last index varies fastest.

use ferroblosc::Result;
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::CParams;
use ferroblosc::schunk::Storage;

fn main() -> Result<()> {
    // 100 rows and 50 columns. The item in row r and column c is 50 r + c. Chunks need not divide
    // the shape: those at the border are partly used. With `[100, 50]` in place of the layout,
    // chunks and blocks would be chosen automatically.
    let layout = Layout { shape: &[100, 50], chunkshape: &[32, 32], blockshape: &[8, 8] };
    let params = CParams::default();
    let items: Vec<i32> = (0..100 * 50).collect();
    let mut array = Array::from_items(Storage::memory(), params.clone(), &layout, &items)?;
    // NumPy's name of a little-endian 32-bit integer is stored for other programs.
    assert_eq!(array.dtype(), Some("<i4"));

    // Rows 10 and 11, columns 20 to 22.
    let slice = array.get::<i32>((10..12, 20..23))?;
    assert_eq!(slice, [520, 521, 522, 570, 571, 572]);
    println!("rows 10 and 11, columns 20 to 22: {slice:?}");

    // A column has one index along the second dimension.
    let column = array.get::<i32>((.., 7))?;
    assert!(column.iter().enumerate().all(|(row, &item)| item == 50 * row as i32 + 7));

    // Overwrite a box of 2 × 3 items. Each chunk that it touches is compressed again.
    array.set((30..32, 31..34), &[-1, -2, -3, -4, -5, -6])?;
    let around = array.get::<i32>((30..32, 30..35))?;
    assert_eq!(around, [1530, -1, -2, -3, 1534, 1580, -4, -5, -6, 1584]);
    println!("after writing a box of 2 x 3 items: {around:?}");

    // Copy a slice to a new array, which may have other chunks and another storage.
    let layout = Layout { shape: &[], chunkshape: &[10, 10], blockshape: &[5, 5] };
    let slice: (&[i64], &[i64]) = (&[50, 0], &[100, 25]);
    let copy = array.copy_slice(Storage::memory(), params.typesize(4), &layout, slice)?;
    assert_eq!(copy.shape(), [50, 25]);
    assert_eq!(copy.get::<i32>((49, 24))?, [50 * 99 + 24]);
    println!("a copy of rows 50 to 99, columns 0 to 24 has the shape {:?}", copy.shape());

    // A slice outside the array is an error, and so are items of another type.
    let error = array.get::<i32>((99..101, 0)).unwrap_err();
    println!("rows 99 and 100: {error}");
    let error = array.get::<f32>(..).unwrap_err();
    println!("floats: {error}");
    Ok(())
}
