//! Limits of sizes and counts.

use std::ffi::c_int;

/// Buffers smaller than this are stored as they are.
pub const BLOSC_MIN_BUFFERSIZE: c_int = 32;
/// Size of the header of a Blosc2 chunk.
pub const BLOSC_EXTENDED_HEADER_LENGTH: c_int = 32;
/// A chunk is never larger than its data by more than this.
pub const BLOSC2_MAX_OVERHEAD: c_int = 32;
/// The largest buffer a chunk can hold: INT_MAX - BLOSC2_MAX_OVERHEAD.
pub const BLOSC2_MAX_BUFFERSIZE: c_int = 2147483615;
/// The largest block.
pub const BLOSC2_MAXBLOCKSIZE: c_int = 536866816;
/// The largest typesize.
pub const BLOSC2_MAXTYPESIZE: c_int = 536866816;
/// The largest dictionary.
pub const BLOSC2_MAXDICTSIZE: c_int = 32768;
/// The smallest dictionary worth storing.
pub const BLOSC2_MINUSEFULDICT: c_int = 256;
/// Places of the filter pipeline.
pub const BLOSC2_MAX_FILTERS: usize = 6;
/// Filters a user was once able to register; today it is all ids from
/// BLOSC2_USER_REGISTERED_FILTERS_START to BLOSC2_USER_REGISTERED_FILTERS_STOP.
pub const BLOSC2_MAX_UDFILTERS: c_int = 16;
