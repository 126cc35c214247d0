//! `blosc2/tuners-registry.h`.

use std::ffi::{c_char, c_int};

/// The Btune tuner (a plugin library).
pub const BLOSC_BTUNE: c_int = 32;

/// The object `info` of a tuner's plugin library: the names of its functions.
#[repr(C)]
pub struct tuner_info {
    /// Called once per context.
    pub init: *mut c_char,
    /// Called to set the block size.
    pub next_blocksize: *mut c_char,
    /// Called to set the compression parameters.
    pub next_cparams: *mut c_char,
    /// Called with the time of a compression.
    pub update: *mut c_char,
    /// Called when the context is freed.
    pub free: *mut c_char,
}
