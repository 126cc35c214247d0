//! Limits of sizes and numbers.

use std::ffi::c_int;

/// The minimum size of data that is compressed, in bytes; smaller data is stored uncompressed.
pub const BLOSC_MIN_BUFFERSIZE: c_int = 32;
/// The size of the header of a Blosc2 chunk in bytes.
pub const BLOSC_EXTENDED_HEADER_LENGTH: c_int = 32;
/// The maximum number of bytes by which a chunk exceeds its data.
pub const BLOSC2_MAX_OVERHEAD: c_int = 32;
/// The maximum size of the data of a chunk in bytes: INT_MAX - BLOSC2_MAX_OVERHEAD.
pub const BLOSC2_MAX_BUFFERSIZE: c_int = 2147483615;
/// The maximum size of a block in bytes.
pub const BLOSC2_MAXBLOCKSIZE: c_int = 536866816;
/// The maximum typesize in bytes.
pub const BLOSC2_MAXTYPESIZE: c_int = 536866816;
/// The maximum size of a dictionary in bytes.
pub const BLOSC2_MAXDICTSIZE: c_int = 32768;
/// The minimum size of a dictionary that is stored, in bytes.
pub const BLOSC2_MINUSEFULDICT: c_int = 256;
/// The number of slots of the filter pipeline.
pub const BLOSC2_MAX_FILTERS: usize = 6;
/// The former maximum number of registered filters. All ids from
/// BLOSC2_USER_REGISTERED_FILTERS_START to BLOSC2_USER_REGISTERED_FILTERS_STOP can be registered.
pub const BLOSC2_MAX_UDFILTERS: c_int = 16;
