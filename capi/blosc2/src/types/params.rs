//! Parameters of compression and decompression, prefilters and postfilters.

use super::assert_layout;
use super::context::blosc2_context;
use super::flag::Flag;
use crate::constants::limits::BLOSC2_MAX_FILTERS;
use std::ffi::{c_int, c_void};

/// The arguments of a prefilter: one block, before the filters.
///
/// The callback may modify the struct, which is valid during the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_prefilter_params {
    /// The pointer set by the user.
    pub user_data: *mut c_void,
    /// The block in the source buffer.
    pub input: *const u8,
    /// The destination of the filtered block.
    pub output: *mut u8,
    /// The size of `output` in bytes.
    pub output_size: i32,
    /// The size of an item of `output` in bytes.
    pub output_typesize: i32,
    /// The offset of the block in the data of the chunk, in bytes.
    pub output_offset: i32,
    /// The index of the chunk in its super-chunk, or -1.
    pub nchunk: i64,
    /// The index of the block in its chunk.
    pub nblock: i32,
    /// The index of the worker thread; 0 with one thread.
    pub tid: i32,
    /// Scratch memory.
    pub ttmp: *mut u8,
    /// The size of `ttmp` in bytes.
    pub ttmp_nbytes: usize,
    /// The context for compression.
    pub ctx: *mut blosc2_context,
    /// Whether the output is ignored: the chunk is stored as zeros.
    pub output_is_disposable: Flag,
}

assert_layout!(blosc2_prefilter_params, size 88, align 8, {
    user_data: 0, input: 8, output: 16, output_size: 24, output_typesize: 28, output_offset: 32,
    nchunk: 40, nblock: 48, tid: 52, ttmp: 56, ttmp_nbytes: 64, ctx: 72, output_is_disposable: 80,
});

/// A prefilter. Several threads may call it concurrently.
///
/// - `params`: the arguments, valid during the call.
///
/// Returns 0 on success; other values make the compression fail.
pub type blosc2_prefilter_fn =
    Option<unsafe extern "C" fn(params: *mut blosc2_prefilter_params) -> c_int>;

/// The compression parameters. Start from BLOSC2_CPARAMS_DEFAULTS.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_cparams {
    /// The code of the codec, such as BLOSC_LZ4.
    pub compcode: u8,
    /// The metadata byte of the codec; 0 for codecs without one.
    pub compcode_meta: u8,
    /// The compression level: 0 (no compression) to 9 (smallest).
    pub clevel: u8,
    /// Whether the blocks of a chunk share a dictionary: 0 or 1.
    pub use_dict: c_int,
    /// The size of an item in bytes, 1 to BLOSC2_MAXBLOCKSIZE. Above BLOSC_MAX_TYPESIZE, chunks
    /// have items of 1 byte.
    pub typesize: i32,
    /// The number of threads; values below 2 select the calling thread alone.
    pub nthreads: i16,
    /// The size of a block in bytes, at most BLOSC2_MAXBLOCKSIZE; 0 for an automatic one.
    pub blocksize: i32,
    /// The mode in which blocks are split into streams, such as BLOSC_ALWAYS_SPLIT.
    pub splitmode: i32,
    /// The super-chunk of the chunks, or NULL.
    pub schunk: *mut c_void,
    /// The ids of the filters, applied from first to last; BLOSC_NOFILTER for an unused slot.
    pub filters: [u8; BLOSC2_MAX_FILTERS],
    /// The metadata byte of each filter.
    pub filters_meta: [u8; BLOSC2_MAX_FILTERS],
    /// Called for each block before the filters; may be NULL.
    pub prefilter: blosc2_prefilter_fn,
    /// The parameters of the prefilter; copied.
    pub preparams: *mut blosc2_prefilter_params,
    /// The parameters of the tuner, owned by the caller; NULL for none.
    pub tuner_params: *mut c_void,
    /// The id of the tuner, 0 to 255; BLOSC_STUNE for the built-in one.
    pub tuner_id: c_int,
    /// Whether to store measurements of the codec instead of its output.
    pub instr_codec: Flag,
    /// The parameters of the codec, owned by the caller; NULL for none.
    pub codec_params: *mut c_void,
    /// The parameters of each filter, owned by the caller; NULL for none.
    pub filter_params: [*mut c_void; BLOSC2_MAX_FILTERS],
}

assert_layout!(blosc2_cparams, size 136, align 8, {
    compcode: 0, compcode_meta: 1, clevel: 2, use_dict: 4, typesize: 8, nthreads: 12, blocksize: 16,
    splitmode: 20, schunk: 24, filters: 32, filters_meta: 38, prefilter: 48, preparams: 56,
    tuner_params: 64, tuner_id: 72, instr_codec: 76, codec_params: 80, filter_params: 88,
});

/// The arguments of a postfilter: one block, after the filters were reversed.
///
/// The callback may modify the struct, which is valid during the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_postfilter_params {
    /// The pointer set by the user.
    pub user_data: *mut c_void,
    /// The decoded block.
    pub input: *const u8,
    /// The destination of the block.
    pub output: *mut u8,
    /// The size of `output` in bytes.
    pub size: i32,
    /// The size of an item in bytes.
    pub typesize: i32,
    /// The offset of the block in the data of the chunk, in bytes.
    pub offset: i32,
    /// The index of the chunk in its super-chunk, or -1.
    pub nchunk: i64,
    /// The index of the block in its chunk.
    pub nblock: i32,
    /// The index of the worker thread; 0 with one thread.
    pub tid: i32,
    /// Scratch memory.
    pub ttmp: *mut u8,
    /// The size of `ttmp` in bytes.
    pub ttmp_nbytes: usize,
    /// The context for decompression.
    pub ctx: *mut blosc2_context,
}

assert_layout!(blosc2_postfilter_params, size 80, align 8, {
    user_data: 0, input: 8, output: 16, size: 24, typesize: 28, offset: 32,
    nchunk: 40, nblock: 48, tid: 52, ttmp: 56, ttmp_nbytes: 64, ctx: 72,
});

/// A postfilter. Several threads may call it concurrently.
///
/// - `params`: the arguments, valid during the call.
///
/// Returns 0 on success; other values make the decompression fail.
pub type blosc2_postfilter_fn =
    Option<unsafe extern "C" fn(params: *mut blosc2_postfilter_params) -> c_int>;

/// The decompression parameters. Start from BLOSC2_DPARAMS_DEFAULTS.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_dparams {
    /// The number of threads; values below 2 select the calling thread alone.
    pub nthreads: i16,
    /// The super-chunk of the chunks, or NULL.
    pub schunk: *mut c_void,
    /// Called for each block after the filters were reversed; may be NULL.
    pub postfilter: blosc2_postfilter_fn,
    /// The parameters of the postfilter; copied.
    pub postparams: *mut blosc2_postfilter_params,
    /// The size of an item in bytes.
    pub typesize: i32,
}

assert_layout!(blosc2_dparams, size 40, align 8, {
    nthreads: 0, schunk: 8, postfilter: 16, postparams: 24, typesize: 32,
});

/// The contents of each stream of an instrumented chunk.
#[repr(C)]
pub struct blosc2_instr {
    /// The compression ratio: the uncompressed size divided by the compressed size.
    pub cratio: f32,
    /// The speed of the codec in bytes per second.
    pub cspeed: f32,
    /// The speed of the filters in bytes per second.
    pub filter_speed: f32,
    /// Bit 0 of the first byte is set if the stream was incompressible.
    pub flags: [u8; 4],
}

assert_layout!(blosc2_instr, size 16, align 4, { cratio: 0, cspeed: 4, filter_speed: 8, flags: 12 });
