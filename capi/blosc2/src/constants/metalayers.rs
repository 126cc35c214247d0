//! Limits of metalayers. They are macros in the header.

/// The maximum number of fixed metalayers of a super-chunk.
pub const BLOSC2_MAX_METALAYERS: usize = 16;
/// The maximum length of the name of a fixed metalayer in bytes, without its NUL.
pub const BLOSC2_METALAYER_NAME_MAXLEN: usize = 31;
/// The maximum number of variable-length metalayers of a super-chunk.
pub const BLOSC2_MAX_VLMETALAYERS: usize = 8192;
/// The maximum length of the name of a variable-length metalayer in bytes, without its NUL.
pub const BLOSC2_VLMETALAYERS_NAME_MAXLEN: usize = 31;
