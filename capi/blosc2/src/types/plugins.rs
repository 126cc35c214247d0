//! User-registered codecs, filters and tuners.

use super::assert_layout;
use super::context::blosc2_context;
use super::params::{blosc2_cparams, blosc2_dparams};
use std::ffi::{c_char, c_int, c_void};

/// The encoder of a codec. Several threads may call it concurrently.
///
/// - `input`: the bytes to compress.
/// - `input_len`: the size of `input` in bytes.
/// - `output`: the destination; it does not overlap `input`.
/// - `output_len`: the size of `output` in bytes.
/// - `meta`: the metadata byte of the codec.
/// - `cparams`: the parameters of the context, valid during the call.
/// - `chunk`: the uncompressed data of the chunk.
///
/// Returns the number of bytes written to `output`, 0 if they do not fit, or a negative error code.
pub type blosc2_codec_encoder_cb = Option<
    unsafe extern "C" fn(
        input: *const u8,
        input_len: i32,
        output: *mut u8,
        output_len: i32,
        meta: u8,
        cparams: *mut blosc2_cparams,
        chunk: *const c_void,
    ) -> c_int,
>;

/// The decoder of a codec. Several threads may call it concurrently.
///
/// - `input`: the compressed bytes.
/// - `input_len`: the size of `input` in bytes.
/// - `output`: the destination; it does not overlap `input`.
/// - `output_len`: the number of bytes to write to `output`.
/// - `meta`: the metadata byte of the codec.
/// - `dparams`: the parameters of the context, valid during the call.
/// - `chunk`: the chunk that is being decompressed.
///
/// Returns the number of bytes written to `output`, which must be `output_len`, or a negative error
/// code.
pub type blosc2_codec_decoder_cb = Option<
    unsafe extern "C" fn(
        input: *const u8,
        input_len: i32,
        output: *mut u8,
        output_len: i32,
        meta: u8,
        dparams: *mut blosc2_dparams,
        chunk: *const c_void,
    ) -> c_int,
>;

/// A user-registered codec.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_codec {
    /// The code, at least BLOSC2_USER_REGISTERED_CODECS_START.
    pub compcode: u8,
    /// The name; it is not copied, and must stay valid while the library is loaded.
    pub compname: *mut c_char,
    /// The code of its library.
    pub complib: u8,
    /// The version of its format, which is stored in chunks.
    pub version: u8,
    /// The encoder. If encoder and decoder are NULL, they are loaded from the plugin library of
    /// this name.
    pub encoder: blosc2_codec_encoder_cb,
    /// The decoder.
    pub decoder: blosc2_codec_decoder_cb,
}

assert_layout!(blosc2_codec, size 40, align 8, {
    compcode: 0, compname: 8, complib: 16, version: 17, encoder: 24, decoder: 32,
});

/// The forward function of a filter. Several threads may call it concurrently.
///
/// - `input`: the block before the filter.
/// - `output`: the destination; it does not overlap `input`.
/// - `size`: the size of `input`, and of `output`, in bytes.
/// - `meta`: the metadata byte of the filter.
/// - `cparams`: the parameters of the context, valid during the call.
/// - `id`: the id of the filter.
///
/// Returns 0 on success; other values make the compression fail.
pub type blosc2_filter_forward_cb = Option<
    unsafe extern "C" fn(
        input: *const u8,
        output: *mut u8,
        size: i32,
        meta: u8,
        cparams: *mut blosc2_cparams,
        id: u8,
    ) -> c_int,
>;

/// The backward function of a filter. Several threads may call it concurrently.
///
/// - `input`: the block after the forward function.
/// - `output`: the destination; it does not overlap `input`.
/// - `size`: the size of `input`, and of `output`, in bytes.
/// - `meta`: the metadata byte of the filter.
/// - `dparams`: the parameters of the context, valid during the call.
/// - `id`: the id of the filter.
///
/// Returns 0 on success; other values make the decompression fail.
pub type blosc2_filter_backward_cb = Option<
    unsafe extern "C" fn(
        input: *const u8,
        output: *mut u8,
        size: i32,
        meta: u8,
        dparams: *mut blosc2_dparams,
        id: u8,
    ) -> c_int,
>;

/// A user-registered filter.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_filter {
    /// The id, at least BLOSC2_USER_REGISTERED_FILTERS_START.
    pub id: u8,
    /// The name; it is not copied, and must stay valid while the library is loaded.
    pub name: *mut c_char,
    /// Its version, for information only.
    pub version: u8,
    /// Called by compression. If forward and backward are NULL, they are loaded from the plugin
    /// library of this name.
    pub forward: blosc2_filter_forward_cb,
    /// Called by decompression.
    pub backward: blosc2_filter_backward_cb,
}

assert_layout!(blosc2_filter, size 40, align 8, {
    id: 0, name: 8, version: 16, forward: 24, backward: 32,
});

/// A user-registered tuner. Its functions return 0, or a negative value on error.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_tuner {
    /// Called when a compression context is created with this tuner.
    pub init: Option<
        unsafe extern "C" fn(
            config: *mut c_void,
            cctx: *mut blosc2_context,
            dctx: *mut blosc2_context,
        ) -> c_int,
    >,
    /// Called before each compression.
    pub next_blocksize: Option<unsafe extern "C" fn(context: *mut blosc2_context) -> c_int>,
    /// Not called: tuners could use it only with the private layout of C-Blosc2's context.
    pub next_cparams: Option<unsafe extern "C" fn(context: *mut blosc2_context) -> c_int>,
    /// Not called: tuners could use it only with the private layout of C-Blosc2's context.
    pub update: Option<unsafe extern "C" fn(context: *mut blosc2_context, ctime: f64) -> c_int>,
    /// Not called: tuners could use it only with the private layout of C-Blosc2's context.
    pub free: Option<unsafe extern "C" fn(context: *mut blosc2_context) -> c_int>,
    /// The id, at least BLOSC2_USER_REGISTERED_TUNER_START.
    pub id: c_int,
    /// The name; it is not copied, and must stay valid while the library is loaded.
    pub name: *mut c_char,
}

assert_layout!(blosc2_tuner, size 56, align 8, {
    init: 0, next_blocksize: 8, next_cparams: 16, update: 24, free: 32, id: 40, name: 48,
});
