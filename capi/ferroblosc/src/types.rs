//! The structs of `bloscpack.h`.

use std::ffi::c_char;

/// How containers are made; bloscpack_args_default() gives the usual. What is NULL is as usual.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bloscpack_args {
    /// The codec: "blosclz", "lz4", "lz4hc", "snappy", "zlib" or "zstd".
    pub codec: *const c_char,
    /// What follows each chunk: "None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256",
    /// "sha384" or "sha512".
    pub checksum: *const c_char,
    /// Metadata: a value as JSON; none unless it is given.
    pub metadata: *const c_char,
    /// Bytes of a chunk.
    pub chunk_size: u64,
    /// Room for so many chunks to be appended; negative: ten times those there are.
    pub max_app_chunks: i64,
    /// Bytes reserved for metadata; negative: ten times those they have.
    pub max_meta_size: i64,
    /// Bytes of an item. Of calls that append, 0 takes that of the container.
    pub typesize: i32,
    /// 0 (store) to 9 (smallest).
    pub clevel: i32,
    /// 0 none, 1 bytes, 2 bits.
    pub shuffle: i32,
    /// Whether there are offsets: without them nothing can be appended.
    pub offsets: i32,
    /// Threads.
    pub nthreads: i32,
}

/// What a container is. Numbers that it doesn't tell are -1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bloscpack_info {
    /// Bytes of the data in it.
    pub nbytes: i64,
    /// Bytes of its file.
    pub file_size: i64,
    /// Chunks.
    pub nchunks: i64,
    /// Room for so many chunks to be appended.
    pub max_app_chunks: i64,
    /// Bytes of data in each chunk but the last.
    pub chunk_size: i32,
    /// Bytes of data in the last chunk.
    pub last_chunk: i32,
    /// Version of the format: 1 to 3.
    pub format_version: i32,
    /// Bytes of an item.
    pub typesize: i32,
    /// Number of the checksum: 0 none, 1 adler32, 2 crc32, 3 md5, 4 sha1, 5 sha224, 6 sha256,
    /// 7 sha384, 8 sha512.
    pub checksum: i32,
    /// Whether there are offsets.
    pub offsets: i32,
    /// Whether there are metadata.
    pub metadata: i32,
}
