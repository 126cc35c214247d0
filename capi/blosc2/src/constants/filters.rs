//! Codes and id ranges of the filters.

use std::ffi::c_int;

/// No filter.
pub const BLOSC_NOFILTER: c_int = 0;
/// XOR with the first block of the chunk.
pub const BLOSC_DELTA: c_int = 3;
/// Truncation of mantissa bits of floating-point items (lossy).
pub const BLOSC_TRUNC_PREC: c_int = 4;
/// The id after the last built-in filter.
pub const BLOSC_LAST_FILTER: c_int = 5;
/// The last filter of the global registry, see `blosc2/filters-registry.h`.
pub const BLOSC_LAST_REGISTERED_FILTER: c_int = 36;

/// First id of the built-in filters.
pub const BLOSC2_DEFINED_FILTERS_START: c_int = 0;
/// Last id of the built-in filters.
pub const BLOSC2_DEFINED_FILTERS_STOP: c_int = 31;
/// First id of the global registry.
pub const BLOSC2_GLOBAL_REGISTERED_FILTERS_START: c_int = 32;
/// Last id of the global registry.
pub const BLOSC2_GLOBAL_REGISTERED_FILTERS_STOP: c_int = 159;
/// The number of filters in the global registry.
pub const BLOSC2_GLOBAL_REGISTERED_FILTERS: c_int = 5;
/// The first id for users.
pub const BLOSC2_USER_REGISTERED_FILTERS_START: c_int = 160;
/// The last id for users.
pub const BLOSC2_USER_REGISTERED_FILTERS_STOP: c_int = 255;
