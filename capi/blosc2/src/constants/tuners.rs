//! Codes and id ranges of the tuners.

use std::ffi::c_int;

/// The built-in tuner.
pub const BLOSC_STUNE: c_int = 0;
/// The id after the last built-in tuner.
pub const BLOSC_LAST_TUNER: c_int = 1;
/// The last tuner before the global registry, see `blosc2/tuners-registry.h`.
pub const BLOSC_LAST_REGISTERED_TUNE: c_int = 31;

/// First id of the built-in tuners.
pub const BLOSC2_DEFINED_TUNER_START: c_int = 0;
/// Last id of the built-in tuners.
pub const BLOSC2_DEFINED_TUNER_STOP: c_int = 31;
/// First id of the global registry.
pub const BLOSC2_GLOBAL_REGISTERED_TUNER_START: c_int = 32;
/// Last id of the global registry.
pub const BLOSC2_GLOBAL_REGISTERED_TUNER_STOP: c_int = 159;
/// The number of built-in tuners of the global registry.
pub const BLOSC2_GLOBAL_REGISTERED_TUNERS: c_int = 0;
/// The first id for users.
pub const BLOSC2_USER_REGISTERED_TUNER_START: c_int = 160;
/// The last id for users.
pub const BLOSC2_USER_REGISTERED_TUNER_STOP: c_int = 255;
