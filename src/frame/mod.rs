//! Floor 3: frames, super-chunks as one buffer, one file or one directory.
//!
//! | file | what |
//! |---|---|
//! | `description.rs` | what a frame says of its super-chunk |
//! | `header.rs`, `section.rs`, `metalayers.rs`, `trailer.rs` | the bytes around the chunks |
//! | `index.rs` | where the chunks are |
//! | `checksum.rs` | checksums that other readers don't see |

pub mod checksum;
mod description;
#[cfg(test)]
mod format_tests;
pub mod header;
pub mod index;
pub mod metalayers;
mod section;
pub mod trailer;
#[cfg(test)]
mod vectors;

pub use description::{
    Counters, MAX_METALAYERS, MAX_NAME_LEN, MAX_VLMETALAYERS, Metalayer, Recorded,
};
pub use header::{FrameHeader, Kind};
pub use section::Named;
