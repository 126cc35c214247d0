//! `blosc2/tuners-registry.h`.

use std::ffi::{c_char, c_int};

/// The Btune tuner (a plugin library).
pub const BLOSC_BTUNE: c_int = 32;

/// The object `info` of a tuner's plugin library: the names of its functions.
#[repr(C)]
pub struct tuner_info {
    /// The name of the function for `init` of blosc2_tuner.
    pub init: *mut c_char,
    /// The name of the function for `next_blocksize` of blosc2_tuner.
    pub next_blocksize: *mut c_char,
    /// The name of the function for `next_cparams`, which must be exported but is not called.
    pub next_cparams: *mut c_char,
    /// The name of the function for `update`, which must be exported but is not called.
    pub update: *mut c_char,
    /// The name of the function for `free`, which must be exported but is not called.
    pub free: *mut c_char,
}
