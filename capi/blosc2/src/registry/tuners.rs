//! `blosc2/tuners-registry.h`.

use std::ffi::{c_char, c_int};

/// The Btune tuner (a plugin library).
pub const BLOSC_BTUNE: c_int = 32;

/// What a tuner plugin exports under the name `info`: the names of its functions.
#[repr(C)]
pub struct tuner_info {
    /// Called once per context.
    pub init: *mut c_char,
    /// Called to set the block size.
    pub next_blocksize: *mut c_char,
    /// Called to set the compression parameters.
    pub next_cparams: *mut c_char,
    /// Called with the time a compression took.
    pub update: *mut c_char,
    /// Called when the context is freed.
    pub free: *mut c_char,
}
