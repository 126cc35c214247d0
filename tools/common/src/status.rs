//! Exit statuses; 0 is success.

/// Something is wrong with the files or the machine.
pub const ERROR: u8 = 1;
/// Something is wrong with the command line.
pub const USAGE: u8 = 2;
/// What was read is corrupt.
pub const CORRUPT: u8 = 3;
/// What was read needs a codec or filter that is missing, and is not known to be corrupt.
pub const MISSING_PLUGIN: u8 = 4;
