//! The storage of frames: buffers, files and directories, and the state of one frame.

mod cached;
mod chunk_files;
mod files;
mod frame;
mod journal;
mod memory;
mod shadow;
mod space;
mod transaction;
mod writer;

pub use cached::{CachedState, Unpublished};
pub use chunk_files::{ChunkFiles, Rewritten};
pub use files::{Files, FrameReader};
pub use frame::{Frame, Location};
pub use journal::{CommitError, describe, recover_file};
pub use memory::Memory;
pub use shadow::Shadow;
pub use space::Space;
pub use transaction::{Changes, Level, Reserved, Transaction, check_identity, cut};
pub use writer::{Replaced, Shift, change_in_place, change_in_place_and_then, check_bytes_after};
