//! The numeric macros of `blosc.h`.

use std::ffi::c_int;

/// The version of the chunk format.
pub const BLOSC_VERSION_FORMAT: c_int = 2;

/// The size of a chunk's header in bytes.
pub const BLOSC_MIN_HEADER_LENGTH: c_int = 16;
/// The maximum number of bytes by which a chunk exceeds its data.
pub const BLOSC_MAX_OVERHEAD: c_int = 16;
/// The maximum size of the data of a chunk in bytes: INT_MAX - BLOSC_MAX_OVERHEAD.
pub const BLOSC_MAX_BUFFERSIZE: c_int = 2147483631;
/// The maximum typesize a chunk can represent; larger ones are stored as 1.
pub const BLOSC_MAX_TYPESIZE: c_int = 255;
/// The maximum size of a block in bytes.
pub const BLOSC_MAX_BLOCKSIZE: c_int = 715827542;
/// The maximum number of threads.
pub const BLOSC_MAX_THREADS: c_int = 256;

/// No shuffle.
pub const BLOSC_NOSHUFFLE: c_int = 0;
/// Byte-wise shuffle.
pub const BLOSC_SHUFFLE: c_int = 1;
/// Bit-wise shuffle.
pub const BLOSC_BITSHUFFLE: c_int = 2;

/// Chunk flag: byte-wise shuffle.
pub const BLOSC_DOSHUFFLE: c_int = 0x1;
/// Chunk flag: the data is stored uncompressed.
pub const BLOSC_MEMCPYED: c_int = 0x2;
/// Chunk flag: bit-wise shuffle.
pub const BLOSC_DOBITSHUFFLE: c_int = 0x4;

/// Code of the BloscLZ compressor.
pub const BLOSC_BLOSCLZ: c_int = 0;
/// Code of the LZ4 compressor.
pub const BLOSC_LZ4: c_int = 1;
/// Code of the LZ4HC compressor.
pub const BLOSC_LZ4HC: c_int = 2;
/// Code of the Snappy compressor.
pub const BLOSC_SNAPPY: c_int = 3;
/// Code of the Zlib compressor.
pub const BLOSC_ZLIB: c_int = 4;
/// Code of the Zstd compressor.
pub const BLOSC_ZSTD: c_int = 5;

/// Code of the BloscLZ library.
pub const BLOSC_BLOSCLZ_LIB: c_int = 0;
/// Code of the LZ4 library.
pub const BLOSC_LZ4_LIB: c_int = 1;
/// Code of the Snappy library.
pub const BLOSC_SNAPPY_LIB: c_int = 2;
/// Code of the Zlib library.
pub const BLOSC_ZLIB_LIB: c_int = 3;
/// Code of the Zstd library.
pub const BLOSC_ZSTD_LIB: c_int = 4;

/// Code of the BloscLZ format in the flags of a chunk.
pub const BLOSC_BLOSCLZ_FORMAT: c_int = 0;
/// Code of the LZ4 format in the flags of a chunk.
pub const BLOSC_LZ4_FORMAT: c_int = 1;
/// Code of the LZ4HC format in the flags of a chunk, the same as that of LZ4.
pub const BLOSC_LZ4HC_FORMAT: c_int = 1;
/// Code of the Snappy format in the flags of a chunk.
pub const BLOSC_SNAPPY_FORMAT: c_int = 2;
/// Code of the Zlib format in the flags of a chunk.
pub const BLOSC_ZLIB_FORMAT: c_int = 3;
/// Code of the Zstd format in the flags of a chunk.
pub const BLOSC_ZSTD_FORMAT: c_int = 4;

/// Version of the BloscLZ format.
pub const BLOSC_BLOSCLZ_VERSION_FORMAT: c_int = 1;
/// Version of the LZ4 format.
pub const BLOSC_LZ4_VERSION_FORMAT: c_int = 1;
/// Version of the LZ4HC format.
pub const BLOSC_LZ4HC_VERSION_FORMAT: c_int = 1;
/// Version of the Snappy format.
pub const BLOSC_SNAPPY_VERSION_FORMAT: c_int = 1;
/// Version of the Zlib format.
pub const BLOSC_ZLIB_VERSION_FORMAT: c_int = 1;
/// Version of the Zstd format.
pub const BLOSC_ZSTD_VERSION_FORMAT: c_int = 1;

/// Blocks are split into one stream per byte of an item whenever possible.
pub const BLOSC_ALWAYS_SPLIT: c_int = 1;
/// Blocks are never split.
pub const BLOSC_NEVER_SPLIT: c_int = 2;
/// Blocks are split if that tends to improve compression with the compressor.
pub const BLOSC_AUTO_SPLIT: c_int = 3;
/// Blocks are split such that old versions of the library can read them (default).
pub const BLOSC_FORWARD_COMPAT_SPLIT: c_int = 4;
