//! Layer 3: frames. A frame is a super-chunk serialized as one buffer, one file or one directory.
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
//!
//! | file | contents |
//! |---|---|
//! | `description.rs` | the parameters, sizes and metalayers that a frame records |
//! | `header.rs`, `section.rs`, `metalayers.rs`, `trailer.rs` | the bytes around the chunks |
//! | `index.rs`, `offsets.rs` | the offsets of the chunks |
//! | `legacy.rs` | the two older layouts, read-only |
//! | `checksum.rs`, `checksum_io.rs` | checksums that other readers ignore |
//! | `files.rs`, `memory.rs` | storage of a frame: files or memory |
//! | `frame.rs`, `read.rs` | the frame, its cached state, and reading of chunks |
//! | `plan.rs`, `write.rs`, `footer.rs` | planning and applying changes; bytes around the chunks |
//! | `file.rs`, `directory.rs` | changes of the files of contiguous and sparse frames |
//! | `writer.rs`, `journal.rs`, `shadow.rs` | rollback after a failure or a crash |
//! | `transaction.rs`, `space.rs` | several changes committed as one; the bytes they may write to |
//! | `empty_chunks.rs` | chunks without data, kept outside the frame |
//! | `compact.rs` | rewriting a frame without holes |

#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod checksum;
#[cfg(not(feature = "internals"))]
pub(crate) mod checksum;
mod checksum_io;
mod compact;
mod description;
mod directory;
mod empty_chunks;
mod file;
mod files;
mod footer;
#[cfg(test)]
mod format_tests;
#[expect(
    clippy::module_inception,
    reason = "the frame is the subject of this module"
)]
mod frame;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod header;
#[cfg(not(feature = "internals"))]
pub(crate) mod header;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod index;
#[cfg(not(feature = "internals"))]
pub(crate) mod index;
mod journal;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod legacy;
#[cfg(not(feature = "internals"))]
pub(crate) mod legacy;
mod memory;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod metalayers;
#[cfg(not(feature = "internals"))]
pub(crate) mod metalayers;
mod offsets;
mod plan;
mod read;
mod section;
mod shadow;
mod space;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod trailer;
#[cfg(not(feature = "internals"))]
pub(crate) mod trailer;
mod transaction;
#[cfg(test)]
mod vectors;
mod write;
mod writer;

pub use description::{
    Counters, Description, Loaded, MAX_METALAYERS, MAX_NAME_LEN, MAX_VLMETALAYERS, Metalayer,
    StoredParams,
};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use files::Files;
#[cfg(not(feature = "internals"))]
pub(crate) use files::Files;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use frame::Frame;
#[cfg(not(feature = "internals"))]
pub(crate) use frame::Frame;
pub use frame::VL_BLOCKS;
pub use header::{FIXED_LEN as FIXED_HEADER_LEN, FrameHeader, Kind, has_magic};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use journal::{describe as describe_journal, recover_file as recover_journal};
#[cfg(not(feature = "internals"))]
pub(crate) use journal::{describe as describe_journal, recover_file as recover_journal};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use memory::Memory;
#[cfg(not(feature = "internals"))]
pub(crate) use memory::Memory;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use offsets::Offsets;
#[cfg(not(feature = "internals"))]
pub(crate) use offsets::Offsets;
pub use read::FrameChunk;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use section::Named;
#[cfg(not(feature = "internals"))]
pub(crate) use section::Named;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use transaction::NotCommitted;
#[cfg(not(feature = "internals"))]
pub(crate) use transaction::NotCommitted;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use write::{Change, Stored};
#[cfg(not(feature = "internals"))]
pub(crate) use write::{Change, Stored};
