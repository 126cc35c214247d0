//! Floor 5: the blpk container, in which Bloscpack and bcolz keep chunks of Blosc 1.x.
//!
//! ```text
//! version 3:  header (32) | metadata section | offsets section | chunk, digest | chunk, digest | …
//! version 2:  header (32) |                    offsets section | chunk, digest | chunk, digest | …
//! version 1:  header (16) |                                      chunk | chunk | …
//! ```
//!
//! Metadata, offsets and digests are there when the header says so; nothing lies between the parts. A
//! chunk tells its own length, so a reader that goes from front to back ([`Stream`]) needs no offsets and
//! no size of the file; one that jumps ([`Archive`]) takes them where they are. Both have read the same
//! [`Prelude`] before the first chunk, and hold every number in it against the bytes at hand: nothing is
//! allocated because a file says so. Bytes behind the last chunk belong to nobody.
//!
//! | file | what |
//! |---|---|
//! | `header.rs` | the header of each version, parsed once and built once |
//! | `checksum.rs` | the nine checksums |
//! | `metadata.rs` | the metadata section |
//! | `prelude.rs` | all that stands in front of the chunks |
//! | `chunk.rs` | what is checked of a chunk before it is read |
//! | `stream.rs` | chunks from front to back, of anything that reads |
//! | `archive.rs`, `offsets.rs` | chunks in any order, of anything that reads at a position |
//! | `file.rs` | the plain bytes as a file object |
//! | `source.rs` | what archives are read from |
//! | `error.rs` | what can be wrong |
//!
//! (Source of the format: the Bloscpack header format, versions 1 to 3.)

mod archive;
mod checksum;
mod chunk;
mod error;
mod file;
mod header;
mod metadata;
mod offsets;
mod prelude;
mod source;
mod stream;

pub use archive::{Archive, Place};
pub use checksum::Checksum;
pub use chunk::{Chunk, MAX_NBYTES};
pub use error::{Checked, Error, Result, bytes_repr};
pub use file::PlainFile;
pub use header::{Header, MAGIC, MAX_CHUNKS, VERSION};
pub use metadata::{
    MAX_METADATA, MetadataCodec, MetadataHeader, MetadataSection, SECTION_HEADER_LENGTH,
};
pub use offsets::{OFFSET_LENGTH, UNUSED_OFFSET};
pub use prelude::Prelude;
pub use source::{Bytes, Source};
pub use stream::Stream;
