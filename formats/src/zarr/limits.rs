//! Limits for untrusted data.

/// The maximum size of a metadata document in bytes.
pub const MAX_METADATA: u64 = 64 << 20;
/// The maximum number of chunks of an array.
pub const MAX_CHUNKS: u64 = 1 << 24;
/// The maximum size of a decoded chunk in bytes, that of a chunk of Blosc.
pub const MAX_CHUNK: u64 = ferroblosc::chunk::MAX_BUFFERSIZE as u64;
/// The maximum size of an item in bytes. The fill value is kept in memory, also that of an array
/// whose metadata are small.
pub const MAX_ITEM: u64 = 16 << 20;
/// The maximum number of chunks in a shard.
pub const MAX_SHARD_CHUNKS: u64 = 1 << 22;
/// The maximum number of dimensions.
pub const MAX_DIM: usize = 32;
/// The maximum number of codecs of an array.
pub const MAX_CODECS: usize = 16;
/// The maximum number of arrays and groups in a group.
pub const MAX_NODES: usize = 1 << 20;
/// The maximum depth of groups.
pub const MAX_DEPTH: usize = 64;

/// Returns the maximum size in bytes of the encoded form of `len` bytes: more than any codec needs.
pub fn max_encoded(len: usize) -> usize {
    len.saturating_add(len / 8).saturating_add(1 << 16)
}
