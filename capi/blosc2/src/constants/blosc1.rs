//! Constants that C-Blosc 1.x's `blosc.h` defines, too, with the same values.
//!
//! There they are macros, so this group is omitted if `blosc.h` was included before.

use std::ffi::c_int;

/// The size of the header of a Blosc1 chunk in bytes, and the minimum size of any chunk.
pub const BLOSC_MIN_HEADER_LENGTH: c_int = 16;
/// The maximum typesize a chunk header can represent; larger ones are stored as 1.
pub const BLOSC_MAX_TYPESIZE: c_int = 255;

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

/// Code of the BloscLZ codec.
pub const BLOSC_BLOSCLZ: c_int = 0;
/// Code of the LZ4 codec.
pub const BLOSC_LZ4: c_int = 1;
/// Code of the LZ4HC codec.
pub const BLOSC_LZ4HC: c_int = 2;
/// Code of the Zlib codec.
pub const BLOSC_ZLIB: c_int = 4;
/// Code of the Zstd codec.
pub const BLOSC_ZSTD: c_int = 5;

/// Code of the BloscLZ library.
pub const BLOSC_BLOSCLZ_LIB: c_int = 0;
/// Code of the LZ4 library.
pub const BLOSC_LZ4_LIB: c_int = 1;
/// Code of the Zlib library.
pub const BLOSC_ZLIB_LIB: c_int = 3;
/// Code of the Zstd library.
pub const BLOSC_ZSTD_LIB: c_int = 4;

/// Format code of BloscLZ in the chunk flags.
pub const BLOSC_BLOSCLZ_FORMAT: c_int = 0;
/// Format code of LZ4 in the chunk flags.
pub const BLOSC_LZ4_FORMAT: c_int = 1;
/// Format code of LZ4HC in the chunk flags: it writes the LZ4 format.
pub const BLOSC_LZ4HC_FORMAT: c_int = 1;
/// Format code of Zlib in the chunk flags.
pub const BLOSC_ZLIB_FORMAT: c_int = 3;
/// Format code of Zstd in the chunk flags.
pub const BLOSC_ZSTD_FORMAT: c_int = 4;

/// Version of the BloscLZ format.
pub const BLOSC_BLOSCLZ_VERSION_FORMAT: c_int = 1;
/// Version of the LZ4 format.
pub const BLOSC_LZ4_VERSION_FORMAT: c_int = 1;
/// Version of the LZ4 format as LZ4HC writes it.
pub const BLOSC_LZ4HC_VERSION_FORMAT: c_int = 1;
/// Version of the Zlib format.
pub const BLOSC_ZLIB_VERSION_FORMAT: c_int = 1;
/// Version of the Zstd format.
pub const BLOSC_ZSTD_VERSION_FORMAT: c_int = 1;

/// Blocks are always split into one stream per byte of the typesize.
pub const BLOSC_ALWAYS_SPLIT: c_int = 1;
/// Blocks are never split.
pub const BLOSC_NEVER_SPLIT: c_int = 2;
/// Blocks are split if that improves compression with the codec and level.
pub const BLOSC_AUTO_SPLIT: c_int = 3;
/// Blocks are split in the mode that older versions of the library expect (default).
pub const BLOSC_FORWARD_COMPAT_SPLIT: c_int = 4;
