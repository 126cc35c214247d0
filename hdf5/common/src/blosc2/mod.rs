//! Filter 32026, which stores each dataset chunk as a Blosc2 frame.
//!
//! | file | content |
//! |---|---|
//! | `filter.rs`, `parameters.rs` | the filter; its values |
//! | `encode.rs`, `decode.rs` | conversion between chunks and frames |
//! | `blockshape.rs` | the block shape of multidimensional chunks |

mod blockshape;
mod decode;
mod encode;
mod filter;
mod parameters;

pub use blockshape::{automatic_blocksize, blockshape};
pub use filter::Blosc2;
