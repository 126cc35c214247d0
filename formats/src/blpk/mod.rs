//! The blpk container, the format in which Bloscpack and bcolz store chunks of Blosc 1.x.
//!
//! ```text
//! version 3:  header (32) | metadata section | offsets section | chunk, digest | chunk, digest …
//! version 2:  header (32) |                    offsets section | chunk, digest | chunk, digest …
//! version 1:  header (16) |                                      chunk | chunk …
//! ```
//!
//! The header specifies whether metadata, offsets and digests are present; the sections are
//! contiguous. A chunk records its length, so a sequential reader ([`Stream`]) needs neither
//! offsets nor the size of the file; a random-access reader ([`Archive`]) uses them if they exist.
//! Both first read the [`Prelude`] and check every size in it against the available bytes, so that
//! no allocation depends on an unchecked size. Bytes after the last chunk are ignored.
//!
//! (Source of the format: the Bloscpack header format, versions 1 to 3.)

// | file | content |
// |---|---|
// | `header.rs` | the header of each version |
// | `checksum.rs` | the nine checksums |
// | `metadata.rs` | the metadata section |
// | `prelude.rs` | everything before the chunks |
// | `chunk.rs` | validation of chunks before decompression |
// | `stream.rs` | sequential access to chunks |
// | `archive.rs`, `offsets.rs` | random access to chunks; the offsets section |
// | `file.rs` | the uncompressed data as a file object |
// | `source.rs` | sources of archives |
// | `limits.rs` | the version of the format, and its limits |
// | `error.rs` | errors |

mod archive;
mod checksum;
mod chunk;
mod error;
mod file;
mod header;
mod limits;
mod metadata;
mod offsets;
mod prelude;
mod source;
mod stream;

pub use archive::{Archive, ChunkLocation};
pub use checksum::Checksum;
pub use chunk::Chunk;
pub use error::{Checked, Error, Result, bytes_repr};
pub use file::PlainFile;
pub use header::{Header, MAGIC};
pub use limits::{MAX_CHUNKS, MAX_METADATA, MAX_NBYTES, VERSION};
pub use metadata::{MetadataCodec, MetadataHeader, MetadataSection, SECTION_HEADER_LENGTH};
pub use offsets::{OFFSET_LENGTH, UNUSED_OFFSET};
pub use prelude::Prelude;
pub use source::{Bytes, Source};
pub use stream::Stream;
