//! The N-dimensional array of `b2nd.h`.

use super::assert_layout;
use super::io::blosc2_storage;
use super::params::blosc2_cparams;
use super::schunk::{blosc2_metalayer, blosc2_schunk};
use crate::constants::metalayers::BLOSC2_MAX_METALAYERS;
use ferroblosc::Buffer;
use std::ffi::c_char;

/// The maximum number of dimensions of an array.
pub const B2ND_MAX_DIM: usize = 16;
/// The maximum number of metalayers that a user can add to an array. The array itself uses one
/// more.
pub const B2ND_MAX_METALAYERS: usize = 15;
/// The version of the array's metalayer.
pub const B2ND_METALAYER_VERSION: i32 = 0;
/// The format of NumPy dtype strings.
pub const DTYPE_NUMPY_FORMAT: i32 = 0;
/// The default format of the dtype string.
pub const B2ND_DEFAULT_DTYPE_FORMAT: i32 = 0;

const _: () = assert!(B2ND_MAX_METALAYERS + 1 == BLOSC2_MAX_METALAYERS);

/// The parameters of a new array.
pub struct b2nd_context_t {
    pub(crate) ndim: usize,
    pub(crate) shape: [i64; B2ND_MAX_DIM],
    pub(crate) chunkshape: [i32; B2ND_MAX_DIM],
    pub(crate) blockshape: [i32; B2ND_MAX_DIM],
    pub(crate) dtype: Buffer,
    pub(crate) dtype_format: i8,
    /// Owned by the caller, except the compression parameters.
    pub(crate) storage: blosc2_storage,
    pub(crate) cparams: blosc2_cparams,
    /// Names and contents are owned by the caller.
    pub(crate) metalayers: Vec<blosc2_metalayer>,
}

/// The chunk cache of an array in C-Blosc2. This library does not use it.
#[repr(C)]
pub struct chunk_cache_s {
    /// The data; always NULL.
    pub data: *mut u8,
    /// The index of the chunk; always -1.
    pub nchunk: i64,
}

assert_layout!(chunk_cache_s, size 16, align 8, { data: 0, nchunk: 8 });

/// An N-dimensional array with N-dimensional chunks and blocks.
///
/// Several threads may use an array concurrently, with the rules of a super-chunk. b2nd_free() must
/// not run concurrently with other calls.
#[repr(C)]
pub struct b2nd_array_t {
    /// The super-chunk with the data.
    pub sc: *mut blosc2_schunk,
    /// The shape of the array in items.
    pub shape: [i64; B2ND_MAX_DIM],
    /// The shape of a chunk in items.
    pub chunkshape: [i32; B2ND_MAX_DIM],
    /// The shape of the array, padded to whole chunks.
    pub extshape: [i64; B2ND_MAX_DIM],
    /// The shape of a block in items.
    pub blockshape: [i32; B2ND_MAX_DIM],
    /// The shape of a chunk, padded to whole blocks.
    pub extchunkshape: [i64; B2ND_MAX_DIM],
    /// The number of items of the array.
    pub nitems: i64,
    /// The number of items of a chunk.
    pub chunknitems: i32,
    /// The number of items of the padded array.
    pub extnitems: i64,
    /// The number of items of a block.
    pub blocknitems: i32,
    /// The number of items of a padded chunk.
    pub extchunknitems: i64,
    /// The number of dimensions, 0 to B2ND_MAX_DIM.
    pub ndim: i8,
    /// Not used; see chunk_cache_s.
    pub chunk_cache: chunk_cache_s,
    /// The strides of items in the array, in items.
    pub item_array_strides: [i64; B2ND_MAX_DIM],
    /// The strides of items in a chunk, in items.
    pub item_chunk_strides: [i64; B2ND_MAX_DIM],
    /// The strides of items in a padded chunk, in items.
    pub item_extchunk_strides: [i64; B2ND_MAX_DIM],
    /// The strides of items in a block, in items.
    pub item_block_strides: [i64; B2ND_MAX_DIM],
    /// The strides of blocks in a chunk, in blocks.
    pub block_chunk_strides: [i64; B2ND_MAX_DIM],
    /// For each dimension, the product of `extshape` and `chunkshape` over all later dimensions.
    /// These are not the strides of chunks.
    pub chunk_array_strides: [i64; B2ND_MAX_DIM],
    /// The type of an item, in NumPy's notation if `dtype_format` is DTYPE_NUMPY_FORMAT; or NULL.
    pub dtype: *mut c_char,
    /// The format of `dtype`.
    pub dtype_format: i8,
    /// The `change_tick` of the super-chunk when this struct was updated.
    pub last_tick: i64,
}

assert_layout!(b2nd_array_t, size 1376, align 8, {
    sc: 0, shape: 8, chunkshape: 136, extshape: 200, blockshape: 328, extchunkshape: 392,
    nitems: 520, chunknitems: 528, extnitems: 536, blocknitems: 544, extchunknitems: 552, ndim: 560,
    chunk_cache: 568, item_array_strides: 584, item_chunk_strides: 712, item_extchunk_strides: 840,
    item_block_strides: 968, block_chunk_strides: 1096, chunk_array_strides: 1224, dtype: 1352,
    dtype_format: 1360, last_tick: 1368,
});
