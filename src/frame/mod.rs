//! Floor 3: frames, super-chunks as one buffer, one file or one directory.
//!
//! Super-chunks ([`SChunk`](crate::schunk::SChunk)) do all this by themselves. Whoever only wants to know what a frame is reads its header:
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
//! | file | what |
//! |---|---|
//! | `description.rs` | what a frame says of its super-chunk |
//! | `header.rs`, `section.rs`, `metalayers.rs`, `trailer.rs` | the bytes around the chunks |
//! | `index.rs`, `offsets.rs` | where the chunks are |
//! | `legacy.rs` | the two older layouts, which are only read |
//! | `checksum.rs`, `seal.rs` | checksums that other readers don't see |
//! | `files.rs`, `memory.rs` | where a frame is |
//! | `frame.rs`, `read.rs` | the frame, what is known of it, and its chunks |
//! | `plan.rs`, `write.rs`, `tail.rs` | changing it: thought through, carried out; what is around the chunks |
//! | `file.rs`, `directory.rs` | how files are changed |
//! | `writer.rs`, `journal.rs`, `shadow.rs` | how a change is taken back, by who fails or by who comes after a crash |
//! | `transaction.rs`, `space.rs` | several changes that become one; the bytes they may write to |
//! | `compact.rs` | putting it together anew, without holes |

pub mod checksum;
mod compact;
mod description;
mod directory;
mod file;
mod files;
#[cfg(test)]
mod format_tests;
#[expect(
    clippy::module_inception,
    reason = "the frame is what the room is about"
)]
mod frame;
pub mod header;
pub mod index;
mod journal;
pub mod legacy;
mod memory;
pub mod metalayers;
mod offsets;
mod pending;
mod plan;
mod read;
mod seal;
mod section;
mod shadow;
mod space;
mod tail;
pub mod trailer;
mod transaction;
#[cfg(test)]
mod vectors;
mod write;
mod writer;

pub use description::{
    Counters, Description, Loaded, MAX_METALAYERS, MAX_NAME_LEN, MAX_VLMETALAYERS, Metalayer,
    Recorded,
};
pub use files::Files;
pub use frame::{Frame, VL_BLOCKS};
pub use header::{FIXED_LEN as FIXED_HEADER_LEN, FrameHeader, Kind, has_magic};
pub use journal::{describe as describe_journal, settle_file as settle_journal};
pub use memory::Memory;
pub use offsets::Offsets;
pub use read::FrameChunk;
pub use section::Named;
pub use transaction::NotCommitted;
pub use write::{Change, Stored};
