//! The byte format of frames: bytes to checked values, and back. Nothing here reads or writes
//! files.

pub mod checksum;
mod description;
mod footer;
pub mod header;
pub mod index;
pub mod legacy;
mod section;
#[cfg(test)]
mod tests;
pub mod trailer;
#[cfg(test)]
pub mod vectors;

pub use description::{
    Counters, Description, Loaded, MAX_METALAYERS, MAX_NAME_LEN, MAX_VLMETALAYERS, Metalayer,
    StoredParams, VL_BLOCKS,
};
pub use footer::{Footer, StoredFooter};
pub use header::{FIXED_LEN, FrameHeader, Kind, has_magic};
pub use index::{IndexForm, Offsets, offset};
pub use section::Named;
