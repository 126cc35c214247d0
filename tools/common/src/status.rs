//! Exit statuses of the programs. 0 is success.

/// A file or the system caused an error.
pub const ERROR: u8 = 1;
/// The command line is invalid.
pub const USAGE: u8 = 2;
/// The input is corrupt.
pub const CORRUPT: u8 = 3;
/// The input needs a codec or filter that is not available. It is not known to be corrupt.
pub const MISSING_PLUGIN: u8 = 4;
