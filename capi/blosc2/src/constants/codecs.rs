//! Codes and id ranges of the codecs.

use std::ffi::c_int;

/// The code after the last built-in codec.
pub const BLOSC_LAST_CODEC: c_int = 6;
/// The id of the last of BLOSC2_GLOBAL_REGISTERED_CODECS codecs, as in C-Blosc2. The global registry
/// has more codecs, see `blosc2/codecs-registry.h`.
pub const BLOSC_LAST_REGISTERED_CODEC: c_int = 36;

/// First id of the built-in codecs.
pub const BLOSC2_DEFINED_CODECS_START: c_int = 0;
/// Last id of the built-in codecs.
pub const BLOSC2_DEFINED_CODECS_STOP: c_int = 31;
/// First id of the global registry.
pub const BLOSC2_GLOBAL_REGISTERED_CODECS_START: c_int = 32;
/// Last id of the global registry.
pub const BLOSC2_GLOBAL_REGISTERED_CODECS_STOP: c_int = 159;
/// The number of codecs up to BLOSC_LAST_REGISTERED_CODEC. The global registry has more codecs, see
/// `blosc2/codecs-registry.h`.
pub const BLOSC2_GLOBAL_REGISTERED_CODECS: c_int = 5;
/// The first id for users.
pub const BLOSC2_USER_REGISTERED_CODECS_START: c_int = 160;
/// The last id for users.
pub const BLOSC2_USER_REGISTERED_CODECS_STOP: c_int = 255;

/// Library code of registered codecs.
pub const BLOSC_UDCODEC_LIB: c_int = 6;
/// Library code that the format reserves; no chunk has it.
pub const BLOSC_SCHUNK_LIB: c_int = 7;
/// Format code of registered codecs in the chunk flags.
pub const BLOSC_UDCODEC_FORMAT: c_int = 6;
/// Version of the format of registered codecs that do not define a version.
pub const BLOSC_UDCODEC_VERSION_FORMAT: c_int = 1;
