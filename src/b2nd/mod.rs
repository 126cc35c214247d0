//! Multidimensional arrays on a super-chunk.
//!
//! An array is a super-chunk with a metalayer that records its shapes. Its chunks are boxes of
//! items, and each chunk consists of smaller boxes, its blocks.
//!
//! ```
//! use ferroblosc::b2nd::{Array, Layout};
//! use ferroblosc::chunk::CParams;
//! use ferroblosc::schunk::Storage;
//!
//! let items: Vec<i16> = (0..60).collect();
//! let layout = Layout { shape: &[6, 10], chunkshape: &[4, 4], blockshape: &[2, 2] };
//! let array = Array::from_items(Storage::memory(), CParams::default(), &layout, &items)?;
//! assert_eq!(array.get::<i16>((3..5, 8..))?, [38, 39, 48, 49]);
//! # Ok::<(), ferroblosc::Error>(())
//! ```

// | file | content |
// |---|---|
// | `meta.rs` | serialisation of the array metalayer |
// | `geometry.rs` | shapes and derived sizes |
// | `state.rs`, `sync.rs` | the trait that all operations are generic over; other writers |
// | `create.rs` | creating and recognising arrays |
// | `copy.rs` | the kernel that copies boxes of items |
// | `request.rs`, `get.rs`, `set.rs` | slices: validation, reading, writing |
// | `parallel.rs` | parallel reads and writes of chunks |
// | `parts.rs` | iterators over chunks and blocks |
// | `selection.rs` | items by coordinates |
// | `resize.rs`, `concatenate.rs` | resizing; concatenation |
// | `transaction.rs` | transactions |
// | `verify.rs` | chunks that are not those of the array |
// | `view.rs` | views with added or removed dimensions |
// | `layout.rs` | the shapes of new arrays |
// | `array.rs`, `items.rs` | the API for Rust programs: bytes; items of a type |
// | `builder.rs` | new arrays with parameters that are set by name |
// | `ndarray.rs` | conversions from and to the crate `ndarray` |
// | `values.rs` | metalayers as values in MessagePack |

mod array;
mod builder;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod concatenate;
#[cfg(not(feature = "internals"))]
pub(crate) mod concatenate;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod copy;
#[cfg(not(feature = "internals"))]
pub(crate) mod copy;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod create;
#[cfg(not(feature = "internals"))]
pub(crate) mod create;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod geometry;
#[cfg(not(feature = "internals"))]
pub(crate) mod geometry;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod get;
#[cfg(not(feature = "internals"))]
pub(crate) mod get;
mod items;
mod layout;
#[cfg(test)]
mod limit_tests;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod meta;
#[cfg(not(feature = "internals"))]
pub(crate) mod meta;
#[cfg(feature = "ndarray")]
mod ndarray;
mod parallel;
mod parts;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod request;
#[cfg(not(feature = "internals"))]
pub(crate) mod request;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod resize;
#[cfg(not(feature = "internals"))]
pub(crate) mod resize;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod selection;
#[cfg(not(feature = "internals"))]
pub(crate) mod selection;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod set;
#[cfg(not(feature = "internals"))]
pub(crate) mod set;
mod slices;
mod state;
mod sync;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod transaction;
#[cfg(not(feature = "internals"))]
pub(crate) mod transaction;
#[cfg(feature = "serde")]
mod values;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod verify;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod view;
#[cfg(not(feature = "internals"))]
pub(crate) mod view;

pub use crate::slice::{AxisRange, IntoSlice, MAX_DIM, Slice};
pub use array::{Array, Transaction, View};
pub use builder::ArrayBuilder;
pub use create::Fill;
pub use geometry::{Geometry, Strides};
pub use layout::{IntoGeometry, Layout};
pub use parts::Parts;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use state::{Chunks, State};
#[cfg(not(feature = "internals"))]
pub(crate) use state::{Chunks, State};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use sync::{refresh, refresh_all, refresh_locked};
#[cfg(not(feature = "internals"))]
pub(crate) use sync::{refresh, refresh_all, refresh_locked};
