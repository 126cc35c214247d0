//! The N-dimensional array, of `b2nd.h`.

use super::assert_layout;
use super::io::blosc2_storage;
use super::params::blosc2_cparams;
use super::schunk::{blosc2_metalayer, blosc2_schunk};
use crate::constants::metalayers::BLOSC2_MAX_METALAYERS;
use std::ffi::{CString, c_char};

/// Dimensions an array can have.
pub const B2ND_MAX_DIM: usize = 16;
/// Metalayers a user can add to an array: one is the array's own.
pub const B2ND_MAX_METALAYERS: usize = 15;
/// Version of the array's metalayer.
pub const B2ND_METALAYER_VERSION: i32 = 0;
/// Format of the dtype string: NumPy's.
pub const DTYPE_NUMPY_FORMAT: i32 = 0;
/// Format of the dtype string when none is given.
pub const B2ND_DEFAULT_DTYPE_FORMAT: i32 = 0;

const _: () = assert!(B2ND_MAX_METALAYERS + 1 == BLOSC2_MAX_METALAYERS);

/// What an array is created with.
pub struct b2nd_context_t {
    pub(crate) ndim: usize,
    pub(crate) shape: [i64; B2ND_MAX_DIM],
    pub(crate) chunkshape: [i32; B2ND_MAX_DIM],
    pub(crate) blockshape: [i32; B2ND_MAX_DIM],
    pub(crate) dtype: CString,
    pub(crate) dtype_format: i8,
    /// The caller's, but for the parameters of compression.
    pub(crate) storage: blosc2_storage,
    pub(crate) cparams: blosc2_cparams,
    /// Names and contents are the caller's.
    pub(crate) metalayers: Vec<blosc2_metalayer>,
}

/// The chunk an array decompressed last.
#[repr(C)]
pub struct chunk_cache_s {
    /// The data, or NULL.
    pub data: *mut u8,
    /// The number of the chunk.
    pub nchunk: i64,
}

assert_layout!(chunk_cache_s, size 16, align 8, { data: 0, nchunk: 8 });

/// An N-dimensional array. Its chunks are N-dimensional too, and so are their blocks. Several threads may use
/// one as they may use a super-chunk; b2nd_free() comes after all other calls.
#[repr(C)]
pub struct b2nd_array_t {
    /// The super-chunk with the data.
    pub sc: *mut blosc2_schunk,
    /// Items of the array in each dimension.
    pub shape: [i64; B2ND_MAX_DIM],
    /// Items of a chunk in each dimension.
    pub chunkshape: [i32; B2ND_MAX_DIM],
    /// The shape, padded to whole chunks.
    pub extshape: [i64; B2ND_MAX_DIM],
    /// Items of a block in each dimension.
    pub blockshape: [i32; B2ND_MAX_DIM],
    /// The chunk's shape, padded to whole blocks.
    pub extchunkshape: [i64; B2ND_MAX_DIM],
    /// Items of the array.
    pub nitems: i64,
    /// Items of a chunk.
    pub chunknitems: i32,
    /// Items of the padded array.
    pub extnitems: i64,
    /// Items of a block.
    pub blocknitems: i32,
    /// Items of a padded chunk.
    pub extchunknitems: i64,
    /// Dimensions.
    pub ndim: i8,
    /// The chunk decompressed last.
    pub chunk_cache: chunk_cache_s,
    /// Strides of items in the array.
    pub item_array_strides: [i64; B2ND_MAX_DIM],
    /// Strides of items in a chunk.
    pub item_chunk_strides: [i64; B2ND_MAX_DIM],
    /// Strides of items in a padded chunk.
    pub item_extchunk_strides: [i64; B2ND_MAX_DIM],
    /// Strides of items in a block.
    pub item_block_strides: [i64; B2ND_MAX_DIM],
    /// Strides of blocks in a chunk.
    pub block_chunk_strides: [i64; B2ND_MAX_DIM],
    /// Strides of chunks in the array.
    pub chunk_array_strides: [i64; B2ND_MAX_DIM],
    /// The type of an item, or NULL.
    pub dtype: *mut c_char,
    /// The format of dtype.
    pub dtype_format: i8,
    /// The change_tick of the super-chunk this struct was filled from.
    pub last_tick: i64,
}

assert_layout!(b2nd_array_t, size 1376, align 8, {
    sc: 0, shape: 8, chunkshape: 136, extshape: 200, blockshape: 328, extchunkshape: 392,
    nitems: 520, chunknitems: 528, extnitems: 536, blocknitems: 544, extchunknitems: 552, ndim: 560,
    chunk_cache: 568, item_array_strides: 584, item_chunk_strides: 712, item_extchunk_strides: 840,
    item_block_strides: 968, block_chunk_strides: 1096, chunk_array_strides: 1224, dtype: 1352,
    dtype_format: 1360, last_tick: 1368,
});
