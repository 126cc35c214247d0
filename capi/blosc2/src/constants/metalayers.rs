//! Limits of the metalayers. In the header they are macros.

/// Fixed metalayers a super-chunk can have.
pub const BLOSC2_MAX_METALAYERS: usize = 16;
/// Longest name of a fixed metalayer, without its NUL.
pub const BLOSC2_METALAYER_NAME_MAXLEN: usize = 31;
/// Variable-length metalayers a super-chunk can have.
pub const BLOSC2_MAX_VLMETALAYERS: usize = 8192;
/// Longest name of a variable-length metalayer, without its NUL.
pub const BLOSC2_VLMETALAYERS_NAME_MAXLEN: usize = 31;
