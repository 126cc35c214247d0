//! The chunk format: versions, offsets in the header, flags, special values.

use std::ffi::c_int;

/// Chunks of Blosc before 1.0.
pub const BLOSC1_VERSION_FORMAT_PRE1: c_int = 1;
/// Chunks of Blosc 1.x.
pub const BLOSC1_VERSION_FORMAT: c_int = 2;
/// Chunks of the Blosc2 alphas.
pub const BLOSC2_VERSION_FORMAT_ALPHA: c_int = 3;
/// Chunks of the first Blosc2 beta.
pub const BLOSC2_VERSION_FORMAT_BETA1: c_int = 4;
/// Chunks of the stable Blosc2.
pub const BLOSC2_VERSION_FORMAT_STABLE: c_int = 5;
/// Chunks with variable-length blocks.
pub const BLOSC2_VERSION_FORMAT_VL_BLOCKS: c_int = 6;
/// The newest chunk version this library reads and writes.
pub const BLOSC2_VERSION_FORMAT: c_int = 6;

/// Frames of the second Blosc2 beta.
pub const BLOSC2_VERSION_FRAME_FORMAT_BETA2: c_int = 1;
/// Frames of the first release candidate and later.
pub const BLOSC2_VERSION_FRAME_FORMAT_RC1: c_int = 2;
/// Frames that may contain chunks with variable-length blocks.
pub const BLOSC2_VERSION_FRAME_FORMAT_VL_BLOCKS: c_int = 3;
/// The newest frame version this library reads and writes.
pub const BLOSC2_VERSION_FRAME_FORMAT: c_int = 3;

/// The offset of the chunk version (1 byte).
pub const BLOSC2_CHUNK_VERSION: c_int = 0x0;
/// The offset of the version of the codec's format (1 byte).
pub const BLOSC2_CHUNK_VERSIONLZ: c_int = 0x1;
/// The offset of the flags and the codec's format code (1 byte).
pub const BLOSC2_CHUNK_FLAGS: c_int = 0x2;
/// The offset of the typesize (1 byte).
pub const BLOSC2_CHUNK_TYPESIZE: c_int = 0x3;
/// The offset of the uncompressed size (4 bytes).
pub const BLOSC2_CHUNK_NBYTES: c_int = 0x4;
/// The offset of the block size (4 bytes).
pub const BLOSC2_CHUNK_BLOCKSIZE: c_int = 0x8;
/// The offset of the compressed size including the header (4 bytes).
pub const BLOSC2_CHUNK_CBYTES: c_int = 0xC;
/// The offset of the filter codes (6 bytes).
pub const BLOSC2_CHUNK_FILTER_CODES: c_int = 0x10;
/// The offset of the meta bytes of the filters (6 bytes).
pub const BLOSC2_CHUNK_FILTER_META: c_int = 0x18;
/// The offset of the second Blosc2 flags (1 byte).
pub const BLOSC2_CHUNK_BLOSC2_FLAGS2: c_int = 0x1E;
/// The offset of the Blosc2 flags (1 byte).
pub const BLOSC2_CHUNK_BLOSC2_FLAGS: c_int = 0x1F;

/// Chunk flag: delta filter.
pub const BLOSC_DODELTA: c_int = 0x8;
/// Blosc2 flag: the chunk contains a dictionary.
pub const BLOSC2_USEDICT: c_int = 0x1;
/// Blosc2 flag: the data is big-endian.
pub const BLOSC2_BIGENDIAN: c_int = 0x2;
/// Blosc2 flag: the blocks contain measurements of the codec instead of data.
pub const BLOSC2_INSTR_CODEC: c_int = 0x80;
/// Second Blosc2 flag: the blocks have variable lengths.
pub const BLOSC2_VL_BLOCKS: c_int = 0x1;

/// A regular chunk without special value.
pub const BLOSC2_NO_SPECIAL: c_int = 0x0;
/// All bytes are zero.
pub const BLOSC2_SPECIAL_ZERO: c_int = 0x1;
/// All items are NaN (typesize 4 or 8).
pub const BLOSC2_SPECIAL_NAN: c_int = 0x2;
/// All items equal the value after the header.
pub const BLOSC2_SPECIAL_VALUE: c_int = 0x3;
/// The items are uninitialised.
pub const BLOSC2_SPECIAL_UNINIT: c_int = 0x4;
/// The last special value.
pub const BLOSC2_SPECIAL_LASTID: c_int = 0x4;
/// Mask of the special value in the Blosc2 flags after a right shift by 4.
pub const BLOSC2_SPECIAL_MASK: c_int = 0x7;
