//! Read and write slices of arrays.
//!
//! An array is created from its shape. [`Layout::auto`](crate::b2nd::Layout::auto) chooses chunks
//! and blocks, unless a [`Layout`](crate::b2nd::Layout) is passed;
//! [`Array::builder`](crate::b2nd::Array::builder) sets each parameter by name. A slice has a range
//! or an index for each dimension ([`IntoSlice`](crate::b2nd::IntoSlice)), and items are in
//! row-major order.
//!
//! ```
//! use ferroblosc::b2nd::Array;
//! use ferroblosc::chunk::CParams;
//! use ferroblosc::schunk::Storage;
//!
//! let mut image = Array::full(Storage::memory(), CParams::default(), [1080, 1920], 0u8)?;
//! image.set((100..102, 200..203), &[1u8, 2, 3, 4, 5, 6])?;
//! assert_eq!(image.get::<u8>((101, 199..204))?, [0, 4, 5, 6, 0]);
//!
//! // Into a buffer of the program.
//! let mut row = vec![0u8; 1920];
//! image.get_into((100, ..), &mut row)?;
//! assert_eq!(row[200..203], [1, 2, 3]);
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! The type of the items must match the dtype that the array records. [`item`](crate::item) lists
//! the types for all dtypes of NumPy; `#[derive(Item)]` (feature `derive`) adds records.
//!
//! | to … | use |
//! |---|---|
//! | read single items, or combinations of indices | [`get_sparse_items`], [`get_orthogonal_items`] |
//! | iterate over chunks or blocks | [`chunks`], [`blocks`] |
//! | read the last ten rows | `get(array.shape()[0] - 10..)`; negative indices are errors |
//! | pass arrays of the crate `ndarray` in any memory order | `from_ndarray`, `set_ndarray` |
//! | read into arrays of `ndarray` | `to_ndarray`, `get_ndarray`, `get_into_ndarray` |
//! | check the type of the items first | `array.dtype().is_some_and(f32::matches)`, [`matches`] |
//! | read an array whose dtype is unknown | [`dtype`], [`get_slice`] |
//! | copy a slice to a new array | [`copy_slice`] |
//!
//! [`get_sparse_items`]: crate::b2nd::Array::get_sparse_items
//! [`get_orthogonal_items`]: crate::b2nd::Array::get_orthogonal_items
//! [`chunks`]: crate::b2nd::Array::chunks
//! [`blocks`]: crate::b2nd::Array::blocks
//! [`matches`]: crate::Item::matches
//! [`dtype`]: crate::b2nd::Array::dtype
//! [`get_slice`]: crate::b2nd::Array::get_slice
//! [`copy_slice`]: crate::b2nd::Array::copy_slice
