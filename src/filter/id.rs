//! Filter ids.

/// An empty slot.
pub const NONE: u8 = 0;
/// Byte shuffle.
pub const SHUFFLE: u8 = 1;
/// Bit shuffle.
pub const BITSHUFFLE: u8 = 2;
/// XOR with the preceding word (first block) or with the first block (all others).
pub const DELTA: u8 = 3;
/// Truncation of floats: zeroes low mantissa bits; has no backward step.
pub const TRUNC_PREC: u8 = 4;
/// The smallest id of a globally registered filter.
pub const FIRST_REGISTERED: u8 = 32;
/// Items in the order of n-dimensional cells.
pub const NDCELL: u8 = 32;
/// The mean of each n-dimensional cell.
pub const NDMEAN: u8 = 33;
/// Byte-wise differences in each channel, the variant published first.
pub const BYTEDELTA_BUGGY: u8 = 34;
/// Byte-wise differences in each channel.
pub const BYTEDELTA: u8 = 35;
/// Truncation of integers: zeroes low bits; has no backward step.
pub const INT_TRUNC: u8 = 36;
/// The smallest id a user may register.
pub const FIRST_USER: u8 = 160;
