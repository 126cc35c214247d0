//! The structs of `bloscpack.h`.

use std::ffi::c_char;

/// The properties of a new container; bloscpack_args_default() fills in the defaults. NULL in a
/// field selects its default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bloscpack_args {
    /// The codec: "blosclz", "lz4", "lz4hc", "snappy", "zlib" or "zstd".
    pub codec: *const c_char,
    /// The checksum of each chunk: "None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256",
    /// "sha384" or "sha512".
    pub checksum: *const c_char,
    /// The metadata as a JSON value; NULL for none.
    pub metadata: *const c_char,
    /// The size of a chunk in bytes.
    pub chunk_size: u64,
    /// The number of appended chunks to reserve space for; negative for ten times the number of
    /// chunks.
    pub max_app_chunks: i64,
    /// The number of bytes to reserve for the metadata; negative for ten times its size.
    pub max_meta_size: i64,
    /// The size of an item in bytes. When appending, 0 selects the typesize of the container.
    pub typesize: i32,
    /// The compression level: 0 (no compression) to 9 (smallest).
    pub clevel: i32,
    /// The shuffle filter: 0 for none, 1 for byte shuffle, 2 for bit shuffle.
    pub shuffle: i32,
    /// Whether to store the offsets of the chunks; appending requires them.
    pub offsets: i32,
    /// The number of threads.
    pub nthreads: i32,
}

/// The properties of a container. Numbers that its header does not contain are -1.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct bloscpack_info {
    /// The size of the data in bytes.
    pub nbytes: i64,
    /// The size of the file in bytes.
    pub file_size: i64,
    /// The number of chunks.
    pub nchunks: i64,
    /// The number of appended chunks that the container has reserved space for.
    pub max_app_chunks: i64,
    /// The size of the data of each chunk but the last, in bytes.
    pub chunk_size: i32,
    /// The size of the data of the last chunk in bytes.
    pub last_chunk: i32,
    /// The version of the format: 1 to 3.
    pub format_version: i32,
    /// The size of an item in bytes.
    pub typesize: i32,
    /// The checksum of each chunk: 0 for none, 1 adler32, 2 crc32, 3 md5, 4 sha1, 5 sha224, 6
    /// sha256, 7 sha384, 8 sha512.
    pub checksum: i32,
    /// Whether the container stores the offsets of the chunks.
    pub offsets: i32,
    /// Whether the container has metadata.
    pub metadata: i32,
}
