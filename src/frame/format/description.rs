//! The parameters, sizes and metalayers that a frame records about its super-chunk.

use crate::chunk::{CParams, SplitMode};
use crate::filter::{SLOTS, Slot};
use std::sync::Arc;

/// Compression parameters of a super-chunk, as the header of a frame stores them.
///
/// The values are stored unchecked; they are validated when a chunk is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredParams {
    /// Codec id.
    pub compcode: u8,
    /// Codec-specific metadata.
    pub compcode_meta: u8,
    /// Compression level.
    pub clevel: u8,
    /// Split mode, numbered as in [`crate::chunk::SplitMode`].
    pub splitmode: u8,
    /// The size of an item in bytes; may exceed 255.
    pub typesize: i32,
    /// Whether chunks are compressed with a dictionary.
    pub use_dict: bool,
    /// The filter pipeline.
    pub filters: [Slot; SLOTS],
}

impl StoredParams {
    /// Returns the stored form of `params`.
    pub(crate) fn of(params: &CParams) -> StoredParams {
        StoredParams {
            // Codec ids fit into a byte; a larger number is never a codec.
            compcode: u8::try_from(params.compcode).unwrap_or(u8::MAX),
            compcode_meta: params.compcode_meta,
            clevel: u8::try_from(params.clevel).unwrap_or(u8::MAX),
            splitmode: u8::try_from(params.splitmode.0).unwrap_or(0),
            typesize: params.typesize,
            use_dict: params.use_dict,
            filters: params.filters,
        }
    }

    /// Returns the stored parameters, with the block size of the [`Counters`].
    #[doc(hidden)]
    pub fn params(&self, blocksize: i32) -> CParams {
        CParams {
            compcode: i32::from(self.compcode),
            compcode_meta: self.compcode_meta,
            clevel: i32::from(self.clevel),
            splitmode: SplitMode(i32::from(self.splitmode)),
            typesize: self.typesize,
            use_dict: self.use_dict,
            filters: self.filters,
            blocksize,
            ..CParams::default()
        }
    }
}

/// The sizes of a super-chunk, which change with its chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// The size of every chunk but the last in bytes; 0 if the sizes differ, −1 before the first
    /// chunk.
    pub chunksize: i32,
    /// The requested block size in bytes; 0 is automatic.
    pub blocksize: i32,
    /// The flags byte 0x1E of the first chunk; 0 without chunks.
    pub flags2: u8,
    /// The number of chunks.
    pub nchunks: i64,
    /// Uncompressed size in bytes.
    pub nbytes: i64,
    /// The size of all chunks in bytes; in a contiguous frame the size of its data section, holes
    /// included.
    pub cbytes: i64,
}

impl Counters {
    /// Returns the counters of an empty super-chunk.
    pub fn empty(blocksize: i32) -> Counters {
        Counters { chunksize: -1, blocksize, flags2: 0, nchunks: 0, nbytes: 0, cbytes: 0 }
    }
}

/// Flag in [`Counters::flags2`]: the blocks of the chunks have individual lengths.
pub const VL_BLOCKS: u8 = crate::chunk::header::flag2::VL_BLOCKS;

/// A named byte string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metalayer {
    /// The name, at most [`MAX_NAME_LEN`] bytes.
    pub name: Vec<u8>,
    /// The content: the bytes of a fixed metalayer, or the chunk that holds a variable-length one.
    pub content: Vec<u8>,
}

/// Maximum length of a metalayer name in bytes.
pub const MAX_NAME_LEN: usize = 31;
/// Maximum number of fixed metalayers, and of variable-length ones in a frame that is written.
pub const MAX_METALAYERS: usize = 16;
/// Maximum number of variable-length metalayers that are read or kept in memory.
pub const MAX_VLMETALAYERS: usize = 8192;

/// Everything that is read when a frame is opened, or after another process changed it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Compression parameters.
    pub recorded: StoredParams,
    /// Sizes.
    pub counters: Counters,
    /// Fixed metalayers.
    pub metalayers: Vec<Metalayer>,
    /// Variable-length metalayers.
    pub vlmetalayers: Vec<Metalayer>,
}

/// The content of the header and the footer of a frame, except its index.
#[derive(Clone, Debug)]
pub struct Description {
    /// Compression parameters.
    pub recorded: StoredParams,
    /// Sizes. Writing a chunk sets the size of the data section.
    pub counters: Counters,
    /// The numbers of compression and decompression threads, which readers ignore.
    pub threads: (i16, i16),
    /// Fixed metalayers.
    pub metalayers: Vec<Metalayer>,
    /// Whether there are variable-length metalayers.
    pub has_vlmetalayers: bool,
    /// The trailer, which holds the variable-length metalayers.
    pub trailer: Arc<Vec<u8>>,
}
