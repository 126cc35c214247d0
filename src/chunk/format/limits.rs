//! Sizes and limits of chunks.

/// The length of the basic header, the only one of Blosc 1.x, in bytes.
pub const MIN_HEADER_LENGTH: usize = 16;
/// The length of the extended header in bytes.
pub const EXTENDED_HEADER_LENGTH: usize = 32;
/// The size in bytes of a block start, a stream size and a dictionary length.
pub(crate) const WORD: usize = 4;

/// The maximum number of bytes by which a chunk exceeds its data.
pub const MAX_OVERHEAD: usize = EXTENDED_HEADER_LENGTH;
/// The maximum uncompressed size of a chunk in bytes.
pub const MAX_BUFFERSIZE: usize = i32::MAX as usize - MAX_OVERHEAD;
/// The maximum item size a header can hold; larger items are stored as items of 1 byte.
pub const MAX_TYPESIZE: usize = 255;
/// The maximum size of a block, and of an item, in bytes.
pub const MAX_BLOCKSIZE: i32 = 536_866_816;
/// The maximum size of a dictionary in bytes.
pub(crate) const MAX_DICT_SIZE: usize = 32768;

/// The limits of chunks of Blosc 1.x. (Source: the C-Blosc 1.21 chunk format.)
pub(crate) mod blosc1 {
    /// The maximum uncompressed size of a chunk in bytes.
    pub(crate) const MAX_BUFFERSIZE: usize = i32::MAX as usize - super::MIN_HEADER_LENGTH;
    /// The maximum block size in bytes: a worker has memory for three blocks and a
    /// size of 4 bytes for each stream.
    pub(crate) const MAX_BLOCKSIZE: i32 = (i32::MAX - 4 * super::MAX_TYPESIZE as i32) / 3;
    /// The maximum number of streams of a block, so also the maximum item size for splitting.
    pub(crate) const MAX_STREAMS: usize = 16;
    /// The minimum length of a stream in bytes.
    pub(crate) const MIN_STREAM: usize = 128;
}
