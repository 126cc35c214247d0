//! The operations on frames. A file may use those above it in this table:
//!
//! | file | contents |
//! |---|---|
//! | `index.rs` | the offsets and checksums of the chunks |
//! | `read.rs` | reading of chunks |
//! | `open.rs` | creating, opening and refreshing frames |
//! | `footer.rs` | building the header and the footer |
//! | `plan.rs` | the effect of a change on offsets and bytes |
//! | `commit.rs` | applying a planned change |
//! | `compact.rs` | rewriting a frame without holes, and closing it |
//! | `empty_chunks.rs` | chunks without data, kept outside the frame |
//! | `change.rs`, `rewrite.rs` | changes of chunks and of metalayers |
//! | `transaction.rs` | several changes committed as one |

mod change;
mod commit;
mod compact;
mod empty_chunks;
mod footer;
mod index;
mod open;
mod plan;
mod read;
mod rewrite;
mod transaction;

pub use plan::{Change, Stored};
pub use read::FrameChunk;
pub use transaction::NotCommitted;
