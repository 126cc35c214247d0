//! Reads and writes scattered items of an array: `cargo run --example selection`.
//!
//! An *orthogonal selection* has one list of indices for each dimension and selects all their
//! combinations, like `a[np.ix_(rows, columns)]` in NumPy. A *sparse* selection is a list of single
//! items. Both decompress each block that they need once.

use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::CParams;
use ferroblosc::schunk::Storage;
use ferroblosc::{Error, Result};

fn main() -> Result<()> {
    // The item in row r and column c is 1000 r + c.
    let layout = Layout { shape: &[300, 200], chunkshape: &[100, 100], blockshape: &[20, 20] };
    let items = (0..300).flat_map(|row| (0..200).map(move |column| 1000 * row + column));
    let items: Vec<i32> = items.collect();
    let mut array = Array::from_items(Storage::memory(), CParams::default(), &layout, &items)?;

    // Two rows and three columns select 2 × 3 items, in the order of the lists. Indices may repeat
    // and need no order.
    let rows = [250, 3];
    let columns = [7, 199, 7];
    let selected = array.get_orthogonal_items::<i32>(&[&rows, &columns])?;
    assert_eq!(selected, [250_007, 250_199, 250_007, 3_007, 3_199, 3_007]);
    println!("rows {rows:?}, columns {columns:?}: {selected:?}");

    // Writing works in the same manner: here every 100th column of the first two rows.
    let columns = [0, 100];
    array.set_orthogonal_items(&[&[0, 1], &columns], &[-1, -2, -3, -4])?;
    assert_eq!(array.get::<i32>((..2, 0))?, [-1, -3]);
    assert_eq!(array.get::<i32>((..2, 99..102))?, [99, -2, 101, 1_099, -4, 1_101]);
    println!("wrote 2 x 2 items; their neighbours are unchanged");

    // Single items by their numbers in row-major order: row * 200 + column.
    let points = [(299, 199), (0, 0), (12, 34)];
    let flat = points.map(|(row, column)| row * 200 + column);
    let selected = array.get_sparse_items::<i32>(&flat)?;
    assert_eq!(selected, [299_199, -1, 12_034]);
    println!("items {points:?}: {selected:?}");

    // Indices are checked.
    let error = array.get_orthogonal(&[&[300], &[0]]).unwrap_err();
    assert_eq!(error, Error::InvalidIndex);
    println!("row 300: {error}");
    Ok(())
}
