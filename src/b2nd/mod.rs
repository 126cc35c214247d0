//! Floor 5: arrays of several dimensions on a super-chunk.
//!
//! An array is a super-chunk with one more metalayer, which tells its shapes. Its chunks are boxes of
//! items, and so are their blocks; all else is a matter of where an item is.
//!
//! ```
//! use ferroblosc::b2nd::{Array, Layout};
//! use ferroblosc::chunk::CParams;
//! use ferroblosc::schunk::Storage;
//!
//! let items: Vec<u8> = (0..60i16).flat_map(i16::to_le_bytes).collect();
//! let layout = Layout { shape: &[6, 10], chunkshape: &[4, 4], blockshape: &[2, 2] };
//! let params = CParams::default().typesize(2);
//! let array = Array::from_items(Storage::memory(), params, &layout, "<i2", &items)?;
//! let box_of_four = array.get_slice(&[3, 8], &[5, 10])?;
//! assert_eq!(box_of_four, [38i16, 39, 48, 49].map(i16::to_le_bytes).concat());
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! | file | what |
//! |---|---|
//! | `meta.rs` | the bytes of the metalayer |
//! | `geometry.rs` | shapes, and what follows from them |
//! | `state.rs`, `sync.rs` | what an array is made of; following other writers |
//! | `create.rs` | making a super-chunk an array, and finding that it is one |
//! | `copy.rs` | moving boxes of items |
//! | `request.rs`, `get.rs`, `set.rs` | slices: checked, read, written |
//! | `share.rs` | the chunks of a call, shared out among threads |
//! | `selection.rs` | items by coordinates |
//! | `resize.rs`, `concatenate.rs` | other shapes |
//! | `transaction.rs` | several changes that become one |
//! | `view.rs` | the same items under other dimensions |
//! | `array.rs` | the array of Rust programs |

mod array;
pub mod concatenate;
pub mod copy;
pub mod create;
pub mod geometry;
pub mod get;
pub mod meta;
pub mod request;
pub mod resize;
pub mod selection;
pub mod set;
mod share;
mod state;
mod sync;
pub mod transaction;
pub mod view;

pub use array::{Array, Layout, Transaction, View};
pub use geometry::Geometry;
pub use state::{Chunks, State};
pub use sync::{refresh, refresh_all, refresh_locked};

/// Dimensions an array can have.
pub const MAX_DIM: usize = 16;
