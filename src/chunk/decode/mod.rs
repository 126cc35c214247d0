//! Decompression.
//!
//! | file | contents |
//! |---|---|
//! | `decompressor.rs` | whole chunks, decoded by one thread or several |
//! | `getitem.rs`, `vl.rs` | ranges of items; chunks with variable-length blocks |
//! | `block.rs` | the streams of one block, the inverse filters, the postfilter |
//! | `partial.rs` | ranges of one block |
//! | `header_cache.rs`, `block_cache.rs` | the last header and the last block read |

mod block;
mod block_cache;
pub(super) mod decompressor;
mod getitem;
mod header_cache;
mod partial;
mod vl;
