//! The super-chunk.

use super::assert_layout;
use super::io::blosc2_storage;
use crate::constants::limits::BLOSC2_MAX_FILTERS;
use crate::constants::metalayers::{BLOSC2_MAX_METALAYERS, BLOSC2_MAX_VLMETALAYERS};
use crate::context::blosc2_context;
use std::ffi::{c_char, c_int, c_void};

/// A frame: a super-chunk as one buffer, one file or one directory.
pub struct blosc2_frame {
    pub(crate) frame: ferroblosc::frame::Frame,
}

/// A metalayer: bytes with a name.
#[repr(C)]
pub struct blosc2_metalayer {
    /// The name.
    pub name: *mut c_char,
    /// The bytes.
    pub content: *mut u8,
    /// Their count.
    pub content_len: i32,
}

assert_layout!(blosc2_metalayer, size 24, align 8, { name: 0, content: 8, content_len: 16 });

/// A super-chunk: a sequence of chunks with parameters and metadata.
///
/// Any number of threads may read one at the same time, and calls that change it wait for their turn; a call
/// that would have to wait for a prefilter, postfilter or tuner of the program gives
/// BLOSC2_ERROR_INVALID_PARAM. Not to be called beside others are blosc2_schunk_free(), the inline functions
/// blosc2_meta_get() and blosc2_meta_exists() beside a change of metalayers, and the functions of contexts
/// with cctx or dctx. Fields are read and replaced between calls only.
#[repr(C)]
pub struct blosc2_schunk {
    /// Version of the format.
    pub version: u8,
    /// The codec.
    pub compcode: u8,
    /// A byte for the codec.
    pub compcode_meta: u8,
    /// The compression level.
    pub clevel: u8,
    /// The split mode.
    pub splitmode: u8,
    /// Bytes of an item.
    pub typesize: i32,
    /// Bytes of a block; 0 is automatic.
    pub blocksize: i32,
    /// Bytes of a chunk; 0 when the chunks differ.
    pub chunksize: i32,
    /// Flags of the chunks.
    pub flags2: u8,
    /// Whether chunks hold a dictionary.
    pub use_dict: u8,
    /// The filters.
    pub filters: [u8; BLOSC2_MAX_FILTERS],
    /// A byte for each filter.
    pub filters_meta: [u8; BLOSC2_MAX_FILTERS],
    /// Chunks held.
    pub nchunks: i64,
    /// The chunk being worked on.
    pub current_nchunk: i64,
    /// Bytes of data.
    pub nbytes: i64,
    /// Bytes of data, compressed.
    pub cbytes: i64,
    /// The chunks, when they are in memory and apart.
    pub data: *mut *mut u8,
    /// Bytes of the array at data.
    pub data_len: usize,
    /// Where and how it is stored.
    pub storage: *mut blosc2_storage,
    /// The frame, or NULL.
    pub frame: *mut blosc2_frame,
    /// The context that compresses.
    pub cctx: *mut blosc2_context,
    /// The context that decompresses.
    pub dctx: *mut blosc2_context,
    /// The fixed metalayers.
    pub metalayers: [*mut blosc2_metalayer; BLOSC2_MAX_METALAYERS],
    /// Their count.
    pub nmetalayers: u16,
    /// The variable-length metalayers.
    pub vlmetalayers: [*mut blosc2_metalayer; BLOSC2_MAX_VLMETALAYERS],
    /// Their count.
    pub nvlmetalayers: i16,
    /// Parameters of the tuner.
    pub tuner_params: *mut c_void,
    /// The tuner.
    pub tuner_id: c_int,
    /// Dimensions of the array, or 0.
    pub ndim: i8,
    /// The shape of its blocks.
    pub blockshape: *mut i64,
    /// Whether the chunks belong to another super-chunk.
    pub view: bool,
    /// Counts the changes of the metadata.
    pub change_tick: i64,
}

assert_layout!(blosc2_schunk, size 65840, align 8, {
    version: 0, compcode: 1, compcode_meta: 2, clevel: 3, splitmode: 4, typesize: 8, blocksize: 12,
    chunksize: 16, flags2: 20, use_dict: 21, filters: 22, filters_meta: 28, nchunks: 40,
    current_nchunk: 48, nbytes: 56, cbytes: 64, data: 72, data_len: 80, storage: 88, frame: 96,
    cctx: 104, dctx: 112, metalayers: 120, nmetalayers: 248, vlmetalayers: 256,
    nvlmetalayers: 65792, tuner_params: 65800, tuner_id: 65808, ndim: 65812, blockshape: 65816,
    view: 65824, change_tick: 65832,
});
