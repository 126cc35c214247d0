//! Compression.
//!
//! | file | contents |
//! |---|---|
//! | `compressor.rs` | checked parameters, the header, uncompressed storage |
//! | `writer.rs` | the table of block starts; blocks in order, encoded by one thread or several |
//! | `block.rs` | prefilter and filters of one block; its streams, runs and calls of the codec |
//! | `dict.rs`, `instrument.rs` | the dictionary of a chunk; measurements instead of streams |
//! | `blocksize.rs`, `blosc1.rs` | block sizes and splitting, in Blosc2 and in Blosc 1.x |
//! | `special.rs` | chunks whose content is defined by the header |

pub(super) mod block;
mod blocksize;
pub(crate) mod blosc1;
pub(super) mod compressor;
mod dict;
mod instrument;
pub mod special;
mod writer;
