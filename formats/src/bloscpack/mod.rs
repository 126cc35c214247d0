//! Bloscpack, which packs files, bytes and arrays into blpk containers.
//!
//! ```
//! use ferroblosc_formats::bloscpack::{self, PackArgs, Value};
//!
//! # fn main() -> bloscpack::Result<()> {
//! let data = b"some text, some text, some text, some text".repeat(100);
//! let args = PackArgs {
//!     metadata: Some(Value::parse(br#"{"kind": "text"}"#)?),
//!     nthreads: 2,
//!     ..PackArgs::default()
//! };
//! let packed = bloscpack::pack_bytes_to_bytes(&data, &args)?;
//! let (back, unpacked) = bloscpack::unpack_bytes_from_bytes(&packed, 2)?;
//! assert_eq!(back, data);
//! assert_eq!(unpacked.metadata.unwrap().value(), args.metadata.as_ref());
//! # Ok(())
//! # }
//! ```
//!
//! Chunks go through a pipeline: reading, compression and writing overlap, and the output does not
//! depend on the number of threads. New files are created atomically. A failed append restores the
//! previous file.
//!
//! [`blpk`](crate::blpk) implements the container format and random access. (Source of the rules:
//! the behaviour of Bloscpack 0.16.)

// | file | content |
// |---|---|
// | `args.rs` | parameters of a container |
// | `chunking.rs` | division into chunks; human-readable sizes |
// | `pack.rs`, `unpack.rs` | sequential writing and reading: files, bytes, pipes |
// | `append.rs`, `journal.rs` | changes in place and their rollback |
// | `verify.rs` | verification of containers |
// | `replacement.rs` | atomic creation of files |
// | `incomplete.rs` | the temporary files to remove when a program is interrupted |
// | `pipeline.rs` | ordered parallel processing |
// | `metadata.rs`, `json.rs`, `python.rs` | metadata values, compatible with Python's JSON |
// | `numpy/` | arrays: their metadata, and `.npy` files |
// | `error.rs` | errors with Bloscpack's messages |

mod append;
mod args;
mod arrays;
mod chunking;
mod error;
mod incomplete;
mod journal;
mod json;
mod metadata;
mod pack;
mod pipeline;
mod python;
mod replacement;
mod unpack;
mod verify;

pub use append::{AppendArgs, Appended, append, append_file, update_metadata};
pub use args::{BloscArgs, BloscpackArgs, Codec, MetadataArgs, PackArgs, Reserve, Shuffle};
pub use arrays::{
    Array, npy_to_file, pack_ndarray_to_bytes, pack_ndarray_to_file, pack_npy, pack_npy_file,
    unpack_ndarray_from_bytes, unpack_ndarray_from_file, unpack_npy_file,
};
pub use chunking::{
    Chunking, DEFAULT_CHUNK_SIZE, SizeError, double_pretty_size, parse_size, pretty_size,
};
pub use error::{Error, Result};
pub use incomplete::{list_incomplete, remove_incomplete};
pub use journal::{check as check_complete, describe_journal, journal_path, recover};
pub(crate) use json::{Entry, text_of_entries};
pub use json::{JsonError, Value};
pub use metadata::{Metadata, section_for, zlib_size};
pub use pack::{
    ChunkReport, Observer, Packed, pack, pack_bytes_to_bytes, pack_bytes_to_file,
    pack_file_to_file, pack_stream, pack_to_file,
};
pub(crate) use replacement::FinalPath;
pub use replacement::{Replacement, Steps, check_different};
pub use unpack::{
    Unpacked, Unpacking, open_file, unpack_bytes_from_bytes, unpack_bytes_from_file,
    unpack_file_from_file, unpack_to_file,
};
pub use verify::{Report, verify};
