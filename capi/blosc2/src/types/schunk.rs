//! The super-chunk.

use super::assert_layout;
use super::context::blosc2_context;
use super::io::blosc2_storage;
use crate::constants::limits::BLOSC2_MAX_FILTERS;
use crate::constants::metalayers::{BLOSC2_MAX_METALAYERS, BLOSC2_MAX_VLMETALAYERS};
use std::ffi::{c_char, c_int, c_void};

/// A frame: a super-chunk as one buffer, file or directory.
pub struct blosc2_frame {
    pub(crate) frame: ferroblosc::frame::Frame,
}

/// A metalayer: named content.
#[repr(C)]
pub struct blosc2_metalayer {
    /// The name.
    pub name: *mut c_char,
    /// The content.
    pub content: *mut u8,
    /// The size of the content in bytes.
    pub content_len: i32,
}

assert_layout!(blosc2_metalayer, size 24, align 8, { name: 0, content: 8, content_len: 16 });

/// A super-chunk: a sequence of chunks with parameters and metadata.
///
/// Several threads may read a super-chunk concurrently; calls that change it wait until they have
/// exclusive access. A call that would have to wait for a prefilter, postfilter or tuner of the
/// program returns BLOSC2_ERROR_INVALID_PARAM. These functions must not run concurrently with other
/// calls: blosc2_schunk_free(); the inline functions blosc2_meta_get() and blosc2_meta_exists(), if
/// the other call changes metalayers; the functions of contexts with `cctx` or `dctx`. Fields may
/// only be read and replaced between calls.
#[repr(C)]
pub struct blosc2_schunk {
    /// The version of the format.
    pub version: u8,
    /// The code of the codec, such as BLOSC_LZ4.
    pub compcode: u8,
    /// The metadata byte of the codec.
    pub compcode_meta: u8,
    /// The compression level, 0 to 9.
    pub clevel: u8,
    /// The split mode, BLOSC_ALWAYS_SPLIT to BLOSC_FORWARD_COMPAT_SPLIT.
    pub splitmode: u8,
    /// The size of an item in bytes.
    pub typesize: i32,
    /// The size of a block in bytes; 0 for an automatic one.
    pub blocksize: i32,
    /// The size of the data of every chunk but the last in bytes; 0 if the chunks differ, -1 before
    /// the first chunk.
    pub chunksize: i32,
    /// The byte BLOSC2_CHUNK_BLOSC2_FLAGS2 of the chunks. Bit 0: blocks of variable length.
    pub flags2: u8,
    /// Whether the chunks have a dictionary: 0 or 1.
    pub use_dict: u8,
    /// The ids of the filters, applied from first to last.
    pub filters: [u8; BLOSC2_MAX_FILTERS],
    /// The metadata byte of each filter.
    pub filters_meta: [u8; BLOSC2_MAX_FILTERS],
    /// The number of chunks.
    pub nchunks: i64,
    /// The index of the chunk that was used last.
    pub current_nchunk: i64,
    /// The uncompressed size of all chunks in bytes.
    pub nbytes: i64,
    /// The compressed size of all chunks in bytes.
    pub cbytes: i64,
    /// The chunks, if they are in memory and separate; otherwise NULL.
    pub data: *mut *mut u8,
    /// The size of the array `data` in bytes.
    pub data_len: usize,
    /// The storage.
    pub storage: *mut blosc2_storage,
    /// The frame, or NULL.
    pub frame: *mut blosc2_frame,
    /// The context for compression.
    pub cctx: *mut blosc2_context,
    /// The context for decompression.
    pub dctx: *mut blosc2_context,
    /// The fixed metalayers; the first `nmetalayers` pointers are set.
    pub metalayers: [*mut blosc2_metalayer; BLOSC2_MAX_METALAYERS],
    /// The number of fixed metalayers.
    pub nmetalayers: u16,
    /// The variable-length metalayers; the first `nvlmetalayers` pointers are set.
    pub vlmetalayers: [*mut blosc2_metalayer; BLOSC2_MAX_VLMETALAYERS],
    /// The number of variable-length metalayers.
    pub nvlmetalayers: i16,
    /// The parameters of the tuner, owned by the caller; NULL for none.
    pub tuner_params: *mut c_void,
    /// The id of the tuner, 0 to 255.
    pub tuner_id: c_int,
    /// Not set by the library: 0, also for arrays.
    pub ndim: i8,
    /// Not set by the library: NULL, also for arrays. blosc2_schunk_free() passes it to free().
    pub blockshape: *mut i64,
    /// Whether this is a view: another super-chunk owns the chunks.
    pub view: bool,
    /// The number of changes of the metadata.
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
