//! Parameters of compression and decompression, prefilters and postfilters.

use super::assert_layout;
use crate::constants::limits::BLOSC2_MAX_FILTERS;
use crate::context::blosc2_context;
use std::ffi::{c_int, c_void};

/// What a prefilter gets: one block, before the filters.
///
/// The struct is the callback's own for the time of the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_prefilter_params {
    /// What the user put there.
    pub user_data: *mut c_void,
    /// The block in the source buffer.
    pub input: *const u8,
    /// Where the filtered block goes.
    pub output: *mut u8,
    /// Bytes to write to output.
    pub output_size: i32,
    /// Bytes of an item of output.
    pub output_typesize: i32,
    /// Position of the block in the chunk, in bytes.
    pub output_offset: i32,
    /// Number of the chunk in its super-chunk, or -1.
    pub nchunk: i64,
    /// Number of the block in its chunk.
    pub nblock: i32,
    /// Number of the worker, 0 in serial runs.
    pub tid: i32,
    /// Scratch memory.
    pub ttmp: *mut u8,
    /// Bytes of ttmp.
    pub ttmp_nbytes: usize,
    /// The context that compresses.
    pub ctx: *mut blosc2_context,
    /// Whether the output is not going to be stored.
    pub output_is_disposable: bool,
}

assert_layout!(blosc2_prefilter_params, size 88, align 8, {
    user_data: 0, input: 8, output: 16, output_size: 24, output_typesize: 28, output_offset: 32,
    nchunk: 40, nblock: 48, tid: 52, ttmp: 56, ttmp_nbytes: 64, ctx: 72, output_is_disposable: 80,
});

/// What a postfilter gets: one block, after the filters were undone.
///
/// The struct is the callback's own for the time of the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_postfilter_params {
    /// What the user put there.
    pub user_data: *mut c_void,
    /// The decoded block.
    pub input: *const u8,
    /// Where the block goes.
    pub output: *mut u8,
    /// Bytes to write to output.
    pub size: i32,
    /// Bytes of an item.
    pub typesize: i32,
    /// Position of the block in the chunk, in bytes.
    pub offset: i32,
    /// Number of the chunk in its super-chunk, or -1.
    pub nchunk: i64,
    /// Number of the block in its chunk.
    pub nblock: i32,
    /// Number of the worker, 0 in serial runs.
    pub tid: i32,
    /// Scratch memory.
    pub ttmp: *mut u8,
    /// Bytes of ttmp.
    pub ttmp_nbytes: usize,
    /// The context that decompresses.
    pub ctx: *mut blosc2_context,
}

assert_layout!(blosc2_postfilter_params, size 80, align 8, {
    user_data: 0, input: 8, output: 16, size: 24, typesize: 28, offset: 32,
    nchunk: 40, nblock: 48, tid: 52, ttmp: 56, ttmp_nbytes: 64, ctx: 72,
});

/// A prefilter: 0 when it worked, anything else makes the compression fail.
pub type blosc2_prefilter_fn =
    Option<unsafe extern "C" fn(params: *mut blosc2_prefilter_params) -> c_int>;

/// A postfilter: 0 when it worked, anything else makes the decompression fail.
pub type blosc2_postfilter_fn =
    Option<unsafe extern "C" fn(params: *mut blosc2_postfilter_params) -> c_int>;

/// How to compress. Start from BLOSC2_CPARAMS_DEFAULTS.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_cparams {
    /// The codec.
    pub compcode: u8,
    /// A byte for the codec.
    pub compcode_meta: u8,
    /// Level from 0 (store) to 9 (smallest).
    pub clevel: u8,
    /// Whether blocks share a dictionary.
    pub use_dict: c_int,
    /// Bytes of an item.
    pub typesize: i32,
    /// Threads to use.
    pub nthreads: i16,
    /// Bytes of a block; 0 is automatic.
    pub blocksize: i32,
    /// Whether blocks are split in streams: BLOSC_ALWAYS_SPLIT and its siblings.
    pub splitmode: i32,
    /// The super-chunk the chunks are for, or NULL.
    pub schunk: *mut c_void,
    /// The filters, applied from the first to the last.
    pub filters: [u8; BLOSC2_MAX_FILTERS],
    /// A byte for each filter.
    pub filters_meta: [u8; BLOSC2_MAX_FILTERS],
    /// Called for each block before the filters, or NULL.
    pub prefilter: blosc2_prefilter_fn,
    /// Parameters of the prefilter; copied.
    pub preparams: *mut blosc2_prefilter_params,
    /// Parameters of the tuner.
    pub tuner_params: *mut c_void,
    /// The tuner.
    pub tuner_id: c_int,
    /// Whether to measure the codec instead of storing what it makes.
    pub instr_codec: bool,
    /// Parameters of the codec.
    pub codec_params: *mut c_void,
    /// Parameters of each filter.
    pub filter_params: [*mut c_void; BLOSC2_MAX_FILTERS],
}

assert_layout!(blosc2_cparams, size 136, align 8, {
    compcode: 0, compcode_meta: 1, clevel: 2, use_dict: 4, typesize: 8, nthreads: 12, blocksize: 16,
    splitmode: 20, schunk: 24, filters: 32, filters_meta: 38, prefilter: 48, preparams: 56,
    tuner_params: 64, tuner_id: 72, instr_codec: 76, codec_params: 80, filter_params: 88,
});

/// How to decompress. Start from BLOSC2_DPARAMS_DEFAULTS.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_dparams {
    /// Threads to use.
    pub nthreads: i16,
    /// The super-chunk the chunks are from, or NULL.
    pub schunk: *mut c_void,
    /// Called for each block after the filters were undone, or NULL.
    pub postfilter: blosc2_postfilter_fn,
    /// Parameters of the postfilter; copied.
    pub postparams: *mut blosc2_postfilter_params,
    /// Bytes of an item.
    pub typesize: i32,
}

assert_layout!(blosc2_dparams, size 40, align 8, {
    nthreads: 0, schunk: 8, postfilter: 16, postparams: 24, typesize: 32,
});

/// What an instrumented chunk holds for each stream in place of its data.
#[repr(C)]
pub struct blosc2_instr {
    /// Compression ratio.
    pub cratio: f32,
    /// Speed of the codec in bytes per second.
    pub cspeed: f32,
    /// Speed of the filters in bytes per second.
    pub filter_speed: f32,
    /// The first tells by its lowest bit whether the stream could not be compressed.
    pub flags: [u8; 4],
}

assert_layout!(blosc2_instr, size 16, align 4, { cratio: 0, cspeed: 4, filter_speed: 8, flags: 12 });
