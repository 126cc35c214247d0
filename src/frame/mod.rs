//! Frames. A frame is a super-chunk serialized as one buffer, one file or one directory.
//!
//! Super-chunks ([`SChunk`](crate::schunk::SChunk)) read and write frames. A program that only
//! inspects a frame parses its header:
//!
//! ```
//! use ferroblosc::chunk::{CParams, DParams};
//! use ferroblosc::frame::{self, FrameHeader, Kind};
//! use ferroblosc::schunk::{SChunk, Storage};
//!
//! let params = CParams::default().typesize(4);
//! let mut schunk = SChunk::create(Storage::frame(), params, DParams::default())?;
//! schunk.append(&[7; 4000])?;
//! schunk.append(&[8; 4000])?;
//! let bytes = schunk.to_bytes()?;
//!
//! assert!(frame::has_magic(&bytes));
//! let header = FrameHeader::parse(&bytes, Kind::Contiguous)?;
//! assert_eq!(header.frame_len, bytes.len() as u64);
//! assert_eq!((header.counters.nbytes, header.nchunks()), (8000, Some(2)));
//! # Ok::<(), ferroblosc::Error>(())
//! ```

// | module | contents |
// |---|---|
// | `format` | the byte format: bytes to values, and back |
// | `store` | the storage of a frame: files or memory, journals, cached state |
// | `ops` | opening, reading, changing and compacting frames; transactions |
//
// `ops` uses `store` and `format`, and `store` uses `format`; nothing is used in the other
// direction.

mod format;
mod ops;
mod store;
#[cfg(test)]
mod tests;

pub use format::{
    Counters, FIXED_LEN as FIXED_HEADER_LEN, FrameHeader, Kind, MAX_METALAYERS, MAX_NAME_LEN,
    MAX_VLMETALAYERS, StoredParams, VL_BLOCKS, has_magic,
};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use internals::*;
#[cfg(not(feature = "internals"))]
pub(crate) use internals::*;
pub use ops::FrameChunk;

/// Items that only the C libraries and the tools use (feature `internals`).
mod internals {
    pub use super::format::{
        Description, Loaded, Metalayer, Named, Offsets, checksum, header, legacy, trailer,
    };
    pub use super::ops::{Change, NotCommitted, Stored};
    pub use super::store::{Files, Frame, Memory};
    pub use super::store::{describe as describe_journal, recover_file as recover_journal};
}
