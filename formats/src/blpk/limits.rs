//! The version of the format, and its limits.

use ferroblosc::blosc1;

/// The format version that is written.
pub const VERSION: u8 = 3;
/// Upper bound on the number of chunks, including reserved ones.
pub const MAX_CHUNKS: u64 = i64::MAX as u64;
/// Upper bound on the uncompressed size of a chunk, in bytes.
pub const MAX_NBYTES: u32 = blosc1::MAX_BUFFERSIZE as u32;
/// Upper bound on the uncompressed size of metadata that readers accept, in bytes.
pub const MAX_METADATA: u32 = 64 << 20;
