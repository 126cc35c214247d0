//! What a frame says of the super-chunk it holds.

use crate::chunk::{CParams, SplitMode};
use crate::filter::{SLOTS, Slot};
use std::sync::Arc;

/// What a super-chunk compresses with, as its fields and the header of a frame record it.
///
/// The values are those found, sensible or not: they are judged when something is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// API number of the codec.
    pub compcode: u8,
    /// A parameter for the codec.
    pub compcode_meta: u8,
    /// Compression level.
    pub clevel: u8,
    /// Split mode, as [`crate::chunk::SplitMode`] counts.
    pub splitmode: u8,
    /// Bytes of an item; may exceed 255.
    pub typesize: i32,
    /// Whether chunks get a dictionary.
    pub use_dict: bool,
    /// The filter pipeline.
    pub filters: [Slot; SLOTS],
}

impl Recorded {
    /// What is recorded of parameters.
    pub(crate) fn of(params: &CParams) -> Recorded {
        Recorded {
            // The codecs' numbers are bytes; another number is no codec's.
            compcode: u8::try_from(params.compcode).unwrap_or(u8::MAX),
            compcode_meta: params.compcode_meta,
            clevel: u8::try_from(params.clevel).unwrap_or(u8::MAX),
            splitmode: u8::try_from(params.splitmode.0).unwrap_or(0),
            typesize: params.typesize,
            use_dict: params.use_dict,
            filters: params.filters,
        }
    }

    /// The parameters that are recorded, with the block size that stands in the [`Counters`].
    pub(crate) fn params(&self, blocksize: i32) -> CParams {
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
    /// Bytes of each chunk but the last; 0 when they differ, −1 before the first.
    pub chunksize: i32,
    /// The block size that was asked for; 0 is automatic.
    pub blocksize: i32,
    /// The flags byte 0x1E of the first chunk; 0 when there is none.
    pub flags2: u8,
    /// Chunks held.
    pub nchunks: i64,
    /// Bytes of data.
    pub nbytes: i64,
    /// Bytes of chunks; in a contiguous frame the bytes of its data section, holes included.
    pub cbytes: i64,
}

impl Counters {
    /// Those of a super-chunk without chunks.
    pub fn empty(blocksize: i32) -> Counters {
        Counters {
            chunksize: -1,
            blocksize,
            flags2: 0,
            nchunks: 0,
            nbytes: 0,
            cbytes: 0,
        }
    }
}

/// Bytes with a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metalayer {
    /// The name, at most [`MAX_NAME_LEN`] bytes.
    pub name: Vec<u8>,
    /// The content: of a fixed metalayer the bytes, of a variable-length one the chunk that holds them.
    pub content: Vec<u8>,
}

/// Bytes of the longest name of a metalayer.
pub const MAX_NAME_LEN: usize = 31;
/// The most fixed metalayers, and the most variable-length ones that a frame is written with.
pub const MAX_METALAYERS: usize = 16;
/// The most variable-length metalayers that are read, or held in memory.
pub const MAX_VLMETALAYERS: usize = 8192;

/// What is read of a frame when it is opened, or when somebody else has changed it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What it compresses with.
    pub recorded: Recorded,
    /// Its sizes.
    pub counters: Counters,
    /// Fixed metalayers.
    pub metalayers: Vec<Metalayer>,
    /// Variable-length metalayers.
    pub vlmetalayers: Vec<Metalayer>,
}

/// What is written of a super-chunk around its chunks.
#[derive(Clone, Debug)]
pub struct Description {
    /// What it compresses with.
    pub recorded: Recorded,
    /// Its sizes. The size of the data section follows from where a chunk is put, so writing fills it in.
    pub counters: Counters,
    /// Threads that compress and that decompress, which readers ignore.
    pub threads: (i16, i16),
    /// Fixed metalayers.
    pub metalayers: Vec<Metalayer>,
    /// Whether there are variable-length metalayers.
    pub has_vlmetalayers: bool,
    /// The trailer, which holds them.
    pub trailer: Arc<Vec<u8>>,
}
