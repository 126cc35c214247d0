//! The default parameters, as functions: bindings of other languages cannot see the
//! `*_DEFAULTS` objects of the header. Their values are constants here too, so these functions have
//! nothing in them that could panic.

use crate::constants::blosc1::{BLOSC_BLOSCLZ, BLOSC_FORWARD_COMPAT_SPLIT, BLOSC_SHUFFLE};
use crate::constants::limits::BLOSC2_MAX_FILTERS;
use crate::types::params::{blosc2_cparams, blosc2_dparams};
use std::ptr::null_mut;

/// Level a compression has unless told otherwise.
const DEFAULT_CLEVEL: u8 = 5;
/// Bytes of an item unless told otherwise.
const DEFAULT_TYPESIZE: i32 = 8;

/// Compression parameters unless told otherwise.
pub const CPARAMS: blosc2_cparams = blosc2_cparams {
    compcode: BLOSC_BLOSCLZ as u8,
    compcode_meta: 0,
    clevel: DEFAULT_CLEVEL,
    use_dict: 0,
    typesize: DEFAULT_TYPESIZE,
    nthreads: 1,
    blocksize: 0,
    splitmode: BLOSC_FORWARD_COMPAT_SPLIT,
    schunk: null_mut(),
    filters: [0, 0, 0, 0, 0, BLOSC_SHUFFLE as u8],
    filters_meta: [0; BLOSC2_MAX_FILTERS],
    prefilter: None,
    preparams: null_mut(),
    tuner_params: null_mut(),
    tuner_id: 0,
    instr_codec: false,
    codec_params: null_mut(),
    filter_params: [null_mut(); BLOSC2_MAX_FILTERS],
};

/// Decompression parameters unless told otherwise.
pub const DPARAMS: blosc2_dparams = blosc2_dparams {
    nthreads: 1,
    schunk: null_mut(),
    postfilter: None,
    postparams: null_mut(),
    typesize: DEFAULT_TYPESIZE,
};

/// The value of BLOSC2_CPARAMS_DEFAULTS: BloscLZ at level 5 behind a shuffle of 8-byte items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_blosc2_cparams_defaults() -> blosc2_cparams {
    CPARAMS
}

/// The value of BLOSC2_DPARAMS_DEFAULTS: one thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_blosc2_dparams_defaults() -> blosc2_dparams {
    DPARAMS
}
