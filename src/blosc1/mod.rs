//! The Blosc 1.x interface on top of the chunk engine. (Source: the behaviour of C-Blosc 1.21.)
//!
//! The chunk engine writes and reads chunks of Blosc 1.x ([`HeaderForm::Blosc1`]). The old
//! interface also has process-wide settings, environment variables that override them, and checks
//! in a fixed order with separate error codes ([`Error`]). A shared library holds one [`Settings`],
//! which needs no lock, and one [`Engine`] with a lock for calls that exclude each other.
//!
//! ```
//! use ferroblosc::blosc1::{Call, Engine, Settings};
//!
//! let settings = Settings::new();
//! settings.set_compressor(b"lz4")?;
//! let params = settings.params(Call { clevel: 5, shuffle: 1, typesize: 4 })?;
//! let data: Vec<u8> = (0..1000u32).flat_map(u32::to_le_bytes).collect();
//! let mut chunk = vec![0; data.len() + 16];
//! let mut engine = Engine::default();
//! let size = engine.compress(&params, &data, &mut chunk)?;
//! let mut back = vec![0; data.len()];
//! assert_eq!(engine.decompress(&chunk[..size], 1, &mut back)?, data.len());
//! assert_eq!(back, data);
//! # Ok::<(), ferroblosc::blosc1::Error>(())
//! ```
//!
//! [`HeaderForm::Blosc1`]: crate::chunk::HeaderForm::Blosc1

mod check;
mod engine;
mod environment;
mod error;
mod inspect;
mod names;
mod settings;
#[cfg(all(test, feature = "default"))]
mod tests;
mod warn;

pub use engine::Engine;
pub use error::{Error, Result};
pub use inspect::{Header, Sizes, metainfo, sizes, validate, versions};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use internals::*;
#[cfg(not(feature = "internals"))]
pub(crate) use internals::*;
pub use names::{compcode_to_compname, compname_to_compcode};
pub use settings::{Call, Params, Settings};

/// What the C libraries and tools use in addition.
mod internals {
    pub use super::check::{Lengths, getitem_lengths, lengths};
    pub use super::engine::{EnginePool, usable_destsize};
    pub use super::environment::nolock;
    pub use super::inspect::complib;
    pub use super::names::{COMPRESSORS, known_compname, library};
    pub use super::settings::forced_blocksize;

    /// The version of C-Blosc that the interface corresponds to.
    pub const VERSION: &std::ffi::CStr = c"1.21.6";
}

/// The size of a header in bytes, which is also the maximum overhead of a chunk.
pub const HEADER_LENGTH: usize = crate::chunk::MIN_HEADER_LENGTH;
/// The maximum data size of a chunk in bytes.
pub const MAX_BUFFERSIZE: usize = crate::chunk::limits::blosc1::MAX_BUFFERSIZE;
/// The maximum block size in bytes.
pub const MAX_BLOCKSIZE: i32 = crate::chunk::limits::blosc1::MAX_BLOCKSIZE;
/// The maximum item size in bytes; larger ones are treated as 1.
const MAX_TYPESIZE: usize = crate::chunk::MAX_TYPESIZE;
/// The maximum number of threads of a call that uses threads.
const MAX_THREADS: i32 = 256;
