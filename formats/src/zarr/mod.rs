//! Zarr arrays of the versions 2 and 3, in directories and zip files.
//!
//! Arrays are read and written one chunk at a time. Chunks of Blosc are chunks of Blosc 1.x, which
//! callers may copy without decoding. (Source: the Zarr specifications 2 and 3.)
//!
//! ```
//! use ferroblosc_formats::zarr::{Array, arrays_in};
//!
//! let group = std::path::Path::new("tests/data/zarr/two.zarr");
//! assert_eq!(arrays_in(group, "")?, ["blosc", "inner/fortran"]);
//! let mut array = Array::open(group, "inner/fortran")?;
//! assert_eq!(array.metadata().shape, [5, 7]);
//! let chunk = array.stored_chunk(&[0, 1])?.expect("the chunk is not missing");
//! let items = array.decode(&[0, 1], chunk)?;
//! assert_eq!(items[..2], 4_i16.to_be_bytes());
//! # Ok::<(), ferroblosc_formats::zarr::Error>(())
//! ```

// | file | content |
// |---|---|
// | `storage.rs`, `limits.rs` | directories and zip files; limits of untrusted data |
// | `version.rs` | the versions of the format |
// | `metadata.rs`, `dtype.rs` | metadata; data types and fill values |
// | `codecs.rs` | decoding of chunks |
// | `array.rs`, `write.rs` | arrays that are read, and arrays that are written |
// | `zip.rs` | zip files from directories |

mod array;
mod codecs;
mod dtype;
mod error;
mod limits;
mod metadata;
mod storage;
mod version;
mod write;
mod zip;

pub use array::{Array, arrays_in, attributes, chunk_count, groups_in};
pub use codecs::{Codec, Pipeline};
pub use error::{Error, Result};
pub use metadata::{ArrayMetadata, DIMENSIONS, KeyEncoding, Sharding, is_node};
pub use storage::Storage;
pub(crate) use storage::{is_chunk_key, is_metadata_file, is_node_directory};
pub use version::Version;
pub use write::{ArrayWriter, Compression, Spec, fill_in, set_group_attributes};
pub use zip::{join_zip, version_of};

#[cfg(test)]
mod tests;
