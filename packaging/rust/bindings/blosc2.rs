//! The items of `blosc2.h` and `b2nd.h`, with the types that `bindgen` makes from the original
//! headers.
//!
//! The including crate defines the macro `strings`.

use ferroblosc_capi_plugins as capi;

pub use capi::b2nd::{
    b2nd_free, b2nd_refresh, copy::*, create::*, meta::*, open::*, save::*, selections::*,
    shape::*, slices::*, views::*,
};
pub use capi::chunk::*;
pub use capi::codecs::*;
pub use capi::context::*;
pub use capi::defaults::{
    blosc2_get_blosc2_cparams_defaults, blosc2_get_blosc2_dparams_defaults,
    blosc2_get_blosc2_io_defaults, blosc2_get_blosc2_stdio_mmap_defaults,
    blosc2_get_blosc2_storage_defaults,
};
pub use capi::filters::*;
pub use capi::geometry::*;
pub use capi::global::*;
pub use capi::io::*;
pub use capi::meta::*;
pub use capi::mmap::*;
pub use capi::registry::codecs::codec_info;
pub use capi::registry::filters::filter_info;
pub use capi::registry::tuners::tuner_info;
pub use capi::schunk::{
    blosc2_schunk_copy, blosc2_schunk_free, blosc2_schunk_lock, blosc2_schunk_new,
    blosc2_schunk_open, blosc2_schunk_open_offset, blosc2_schunk_open_offset_udio,
    blosc2_schunk_open_udio, blosc2_schunk_refresh, blosc2_schunk_unlock, chunks::*, frames::*,
    parameters::*, slices::*,
};
pub use capi::stdio::*;
pub use capi::threads::*;
pub use capi::tuners::*;
pub use capi::types::{
    b2nd::{b2nd_array_t, b2nd_context_t, chunk_cache_s},
    context::*,
    io::*,
    params::*,
    plugins::*,
    schunk::*,
    stdio::*,
    threads::*,
};
pub use capi::util::*;
pub use capi::vl::*;

strings! {
    BLOSC2_VERSION_STRING = capi::util::VERSION;
    BLOSC2_VERSION_DATE = c"$Date:: 2026-09-24 #$";
    BLOSC_BLOSCLZ_COMPNAME = c"blosclz";
    BLOSC_LZ4_COMPNAME = c"lz4";
    BLOSC_LZ4HC_COMPNAME = c"lz4hc";
    BLOSC_ZLIB_COMPNAME = c"zlib";
    BLOSC_ZSTD_COMPNAME = c"zstd";
    BLOSC_BLOSCLZ_LIBNAME = c"BloscLZ";
    BLOSC_LZ4_LIBNAME = c"LZ4";
    BLOSC_ZLIB_LIBNAME = c"Zlib";
    BLOSC_ZSTD_LIBNAME = c"Zstd";
    B2ND_DEFAULT_DTYPE = c"|u1";
}

pub const BLOSC2_VERSION_MAJOR: u32 = 3;
pub const BLOSC2_VERSION_MINOR: u32 = 3;
pub const BLOSC2_VERSION_RELEASE: u32 = 5;
/// The name of `B2ND_MAX_DIM` before C-Blosc2 3.0.
pub const BLOSC2_MAX_DIM: u32 = B2ND_MAX_DIM;

/// The constants of the C interface.
mod constants {
    use super::capi;

    pub use capi::constants::{
        blosc1::*, codecs::*, errors::*, filters::*, format::*, io::*, limits::*, metalayers::*,
        tuners::*,
    };
    pub use capi::registry::{codecs::*, filters::*, tuners::*};
    pub use capi::types::b2nd::*;
}

/// Defines constants that are not negative as unsigned numbers.
macro_rules! unsigned {
    ($($name:ident,)*) => {$( pub const $name: u32 = constants::$name as u32; )*};
}

/// Defines constants as signed numbers.
macro_rules! signed {
    ($($name:ident,)*) => {$( pub const $name: i32 = constants::$name; )*};
}

// constants::blosc1
unsigned! {
    BLOSC_MIN_HEADER_LENGTH, BLOSC_MAX_TYPESIZE, BLOSC_NOSHUFFLE, BLOSC_SHUFFLE,
    BLOSC_BITSHUFFLE, BLOSC_DOSHUFFLE, BLOSC_MEMCPYED, BLOSC_DOBITSHUFFLE, BLOSC_BLOSCLZ,
    BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD, BLOSC_BLOSCLZ_LIB, BLOSC_LZ4_LIB,
    BLOSC_ZLIB_LIB, BLOSC_ZSTD_LIB, BLOSC_BLOSCLZ_FORMAT, BLOSC_LZ4_FORMAT,
    BLOSC_LZ4HC_FORMAT, BLOSC_ZLIB_FORMAT, BLOSC_ZSTD_FORMAT, BLOSC_BLOSCLZ_VERSION_FORMAT,
    BLOSC_LZ4_VERSION_FORMAT, BLOSC_LZ4HC_VERSION_FORMAT, BLOSC_ZLIB_VERSION_FORMAT,
    BLOSC_ZSTD_VERSION_FORMAT, BLOSC_ALWAYS_SPLIT, BLOSC_NEVER_SPLIT, BLOSC_AUTO_SPLIT,
    BLOSC_FORWARD_COMPAT_SPLIT,
}

// constants::codecs
unsigned! {
    BLOSC_LAST_CODEC, BLOSC_LAST_REGISTERED_CODEC, BLOSC2_DEFINED_CODECS_START,
    BLOSC2_DEFINED_CODECS_STOP, BLOSC2_GLOBAL_REGISTERED_CODECS_START,
    BLOSC2_GLOBAL_REGISTERED_CODECS_STOP, BLOSC2_GLOBAL_REGISTERED_CODECS,
    BLOSC2_USER_REGISTERED_CODECS_START, BLOSC2_USER_REGISTERED_CODECS_STOP,
    BLOSC_UDCODEC_LIB, BLOSC_SCHUNK_LIB, BLOSC_UDCODEC_FORMAT, BLOSC_UDCODEC_VERSION_FORMAT,
}

// constants::filters
unsigned! {
    BLOSC_NOFILTER, BLOSC_DELTA, BLOSC_TRUNC_PREC, BLOSC_LAST_FILTER,
    BLOSC_LAST_REGISTERED_FILTER, BLOSC2_DEFINED_FILTERS_START, BLOSC2_DEFINED_FILTERS_STOP,
    BLOSC2_GLOBAL_REGISTERED_FILTERS_START, BLOSC2_GLOBAL_REGISTERED_FILTERS_STOP,
    BLOSC2_GLOBAL_REGISTERED_FILTERS, BLOSC2_USER_REGISTERED_FILTERS_START,
    BLOSC2_USER_REGISTERED_FILTERS_STOP,
}

// constants::format
unsigned! {
    BLOSC1_VERSION_FORMAT_PRE1, BLOSC1_VERSION_FORMAT, BLOSC2_VERSION_FORMAT_ALPHA,
    BLOSC2_VERSION_FORMAT_BETA1, BLOSC2_VERSION_FORMAT_STABLE,
    BLOSC2_VERSION_FORMAT_VL_BLOCKS, BLOSC2_VERSION_FORMAT,
    BLOSC2_VERSION_FRAME_FORMAT_BETA2, BLOSC2_VERSION_FRAME_FORMAT_RC1,
    BLOSC2_VERSION_FRAME_FORMAT_VL_BLOCKS, BLOSC2_VERSION_FRAME_FORMAT, BLOSC2_CHUNK_VERSION,
    BLOSC2_CHUNK_VERSIONLZ, BLOSC2_CHUNK_FLAGS, BLOSC2_CHUNK_TYPESIZE, BLOSC2_CHUNK_NBYTES,
    BLOSC2_CHUNK_BLOCKSIZE, BLOSC2_CHUNK_CBYTES, BLOSC2_CHUNK_FILTER_CODES,
    BLOSC2_CHUNK_FILTER_META, BLOSC2_CHUNK_BLOSC2_FLAGS2, BLOSC2_CHUNK_BLOSC2_FLAGS,
    BLOSC_DODELTA, BLOSC2_USEDICT, BLOSC2_BIGENDIAN, BLOSC2_INSTR_CODEC, BLOSC2_VL_BLOCKS,
    BLOSC2_NO_SPECIAL, BLOSC2_SPECIAL_ZERO, BLOSC2_SPECIAL_NAN, BLOSC2_SPECIAL_VALUE,
    BLOSC2_SPECIAL_UNINIT, BLOSC2_SPECIAL_LASTID, BLOSC2_SPECIAL_MASK,
}

// constants::io
unsigned! {
    BLOSC2_IO_FILESYSTEM, BLOSC2_IO_FILESYSTEM_MMAP, BLOSC_IO_LAST_BLOSC_DEFINED,
    BLOSC2_IO_BLOSC_DEFINED, BLOSC_IO_LAST_REGISTERED, BLOSC2_IO_REGISTERED,
    BLOSC2_IO_USER_DEFINED,
}

// constants::limits
unsigned! {
    BLOSC_MIN_BUFFERSIZE, BLOSC_EXTENDED_HEADER_LENGTH, BLOSC2_MAX_OVERHEAD,
    BLOSC2_MAX_BUFFERSIZE, BLOSC2_MAXBLOCKSIZE, BLOSC2_MAXTYPESIZE, BLOSC2_MAXDICTSIZE,
    BLOSC2_MINUSEFULDICT, BLOSC2_MAX_FILTERS, BLOSC2_MAX_UDFILTERS,
}

// constants::metalayers
unsigned! {
    BLOSC2_MAX_METALAYERS, BLOSC2_METALAYER_NAME_MAXLEN, BLOSC2_MAX_VLMETALAYERS,
    BLOSC2_VLMETALAYERS_NAME_MAXLEN,
}

// constants::tuners
unsigned! {
    BLOSC_STUNE, BLOSC_LAST_TUNER, BLOSC_LAST_REGISTERED_TUNE, BLOSC2_DEFINED_TUNER_START,
    BLOSC2_DEFINED_TUNER_STOP, BLOSC2_GLOBAL_REGISTERED_TUNER_START,
    BLOSC2_GLOBAL_REGISTERED_TUNER_STOP, BLOSC2_GLOBAL_REGISTERED_TUNERS,
    BLOSC2_USER_REGISTERED_TUNER_START, BLOSC2_USER_REGISTERED_TUNER_STOP,
}

// registry::codecs
unsigned! {
    BLOSC_CODEC_NDLZ, BLOSC_CODEC_ZFP_FIXED_ACCURACY, BLOSC_CODEC_ZFP_FIXED_PRECISION,
    BLOSC_CODEC_ZFP_FIXED_RATE, BLOSC_CODEC_OPENHTJ2K, BLOSC_CODEC_GROK, BLOSC_CODEC_OPENZL,
    BLOSC_CODEC_J2K, BLOSC_CODEC_HTJ2K,
}

// registry::filters
unsigned! {
    BLOSC_FILTER_NDCELL, BLOSC_FILTER_NDMEAN, BLOSC_FILTER_BYTEDELTA_BUGGY,
    BLOSC_FILTER_BYTEDELTA, BLOSC_FILTER_INT_TRUNC,
}

// registry::tuners
unsigned! {
    BLOSC_BTUNE,
}

// types::b2nd
unsigned! {
    B2ND_MAX_DIM, B2ND_MAX_METALAYERS, B2ND_METALAYER_VERSION, DTYPE_NUMPY_FORMAT,
    B2ND_DEFAULT_DTYPE_FORMAT,
}

// constants::errors
signed! {
    BLOSC2_ERROR_SUCCESS, BLOSC2_ERROR_FAILURE, BLOSC2_ERROR_STREAM, BLOSC2_ERROR_DATA,
    BLOSC2_ERROR_MEMORY_ALLOC, BLOSC2_ERROR_READ_BUFFER, BLOSC2_ERROR_WRITE_BUFFER,
    BLOSC2_ERROR_CODEC_SUPPORT, BLOSC2_ERROR_CODEC_PARAM, BLOSC2_ERROR_CODEC_DICT,
    BLOSC2_ERROR_VERSION_SUPPORT, BLOSC2_ERROR_INVALID_HEADER, BLOSC2_ERROR_INVALID_PARAM,
    BLOSC2_ERROR_FILE_READ, BLOSC2_ERROR_FILE_WRITE, BLOSC2_ERROR_FILE_OPEN,
    BLOSC2_ERROR_NOT_FOUND, BLOSC2_ERROR_RUN_LENGTH, BLOSC2_ERROR_FILTER_PIPELINE,
    BLOSC2_ERROR_CHUNK_INSERT, BLOSC2_ERROR_CHUNK_APPEND, BLOSC2_ERROR_CHUNK_UPDATE,
    BLOSC2_ERROR_2GB_LIMIT, BLOSC2_ERROR_SCHUNK_COPY, BLOSC2_ERROR_FRAME_TYPE,
    BLOSC2_ERROR_FILE_TRUNCATE, BLOSC2_ERROR_THREAD_CREATE, BLOSC2_ERROR_POSTFILTER,
    BLOSC2_ERROR_FRAME_SPECIAL, BLOSC2_ERROR_SCHUNK_SPECIAL, BLOSC2_ERROR_PLUGIN_IO,
    BLOSC2_ERROR_FILE_REMOVE, BLOSC2_ERROR_NULL_POINTER, BLOSC2_ERROR_INVALID_INDEX,
    BLOSC2_ERROR_METALAYER_NOT_FOUND, BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED, BLOSC2_ERROR_TUNER,
    BLOSC2_ERROR_LOCK,
}
