//! User-registered codecs, filters and tuners.

use super::assert_layout;
use super::params::{blosc2_cparams, blosc2_dparams};
use crate::context::blosc2_context;
use std::ffi::{c_char, c_int, c_void};

/// A codec's encoder: gives the bytes written to output, 0 when they don't fit, or an error code.
///
/// cparams are those of the context, valid during the call; chunk is the buffer being compressed.
/// Called from several threads at once.
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

/// A codec's decoder: gives the bytes written to output, which must be output_len, or an error code.
///
/// dparams are those of the context, valid during the call; chunk is the chunk being decompressed.
/// Called from several threads at once.
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

/// A codec of the user.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_codec {
    /// Its code, from BLOSC2_USER_REGISTERED_CODECS_START on.
    pub compcode: u8,
    /// Its name; must outlive the library.
    pub compname: *mut c_char,
    /// The code of its library.
    pub complib: u8,
    /// The version of its format; chunks record it.
    pub version: u8,
    /// The encoder; with NULL, a plugin library of the codec's name is looked for.
    pub encoder: blosc2_codec_encoder_cb,
    /// The decoder.
    pub decoder: blosc2_codec_decoder_cb,
}

assert_layout!(blosc2_codec, size 40, align 8, {
    compcode: 0, compname: 8, complib: 16, version: 17, encoder: 24, decoder: 32,
});

/// A filter's forward function: 0 when it worked.
///
/// input and output have size bytes and don't overlap. Called from several threads at once.
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

/// A filter's backward function: 0 when it worked.
///
/// input and output have size bytes and don't overlap. Called from several threads at once.
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

/// A filter of the user.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_filter {
    /// Its id, from BLOSC2_USER_REGISTERED_FILTERS_START on.
    pub id: u8,
    /// Its name; must outlive the library.
    pub name: *mut c_char,
    /// Its version, for people.
    pub version: u8,
    /// What compression calls; with NULL, a plugin library of the filter's name is looked for.
    pub forward: blosc2_filter_forward_cb,
    /// What decompression calls.
    pub backward: blosc2_filter_backward_cb,
}

assert_layout!(blosc2_filter, size 40, align 8, {
    id: 0, name: 8, version: 16, forward: 24, backward: 32,
});

/// A tuner of the user. Each function gives 0, or a negative value when it failed.
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
    /// For tuners that keep their state in the context, which needs the private layout.
    pub next_cparams: Option<unsafe extern "C" fn(context: *mut blosc2_context) -> c_int>,
    /// For tuners that keep their state in the context, which needs the private layout.
    pub update: Option<unsafe extern "C" fn(context: *mut blosc2_context, ctime: f64) -> c_int>,
    /// For tuners that keep their state in the context, which needs the private layout.
    pub free: Option<unsafe extern "C" fn(context: *mut blosc2_context) -> c_int>,
    /// Its id, from BLOSC2_USER_REGISTERED_TUNER_START on.
    pub id: c_int,
    /// Its name; must outlive the library.
    pub name: *mut c_char,
}

assert_layout!(blosc2_tuner, size 56, align 8, {
    init: 0, next_blocksize: 8, next_cparams: 16, update: 24, free: 32, id: 40, name: 48,
});
