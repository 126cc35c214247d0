//! Blosc 1.x: what its calls do beyond making and reading chunks.
//!
//! Today's chunk engine writes and reads the chunks of Blosc 1.x ([`HeaderForm::Blosc1`]). Old programs
//! expect more: settings for the whole process that outlive everything, environment variables that change
//! them, checks in a known order with the codes of their own ([`Error`]). A shared library keeps one
//! [`Settings`], which needs no lock, and one [`Engine`] behind a lock for the calls that wait for one
//! another; calls with arguments for everything take an engine from a [`Stock`].
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
//! | file | what |
//! |---|---|
//! | `settings.rs`, `environment.rs` | what lasts from call to call, and who may change it |
//! | `engine.rs` | compression and decompression |
//! | `check.rs` | what a header must say before its chunk is read |
//! | `inspect.rs` | what a header tells |
//! | `names.rs` | codecs by name and number, and their libraries |
//! | `error.rs`, `warn.rs` | codes for programs, messages for people |
//!
//! (Source of all rules: the behaviour of C-Blosc 1.21.)
//!
//! [`HeaderForm::Blosc1`]: crate::chunk::HeaderForm::Blosc1

mod check;
mod engine;
mod environment;
mod error;
mod inspect;
mod names;
mod settings;
#[cfg(test)]
mod tests;
mod warn;

pub use check::{Lengths, getitem_lengths, lengths};
pub use engine::{Engine, Stock, room};
pub use environment::nolock;
pub use error::{Error, Result};
pub use inspect::{Header, Sizes, complib, metainfo, sizes, validate, versions};
pub use names::{COMPRESSORS, Library, compcode_to_compname, compname_to_compcode, library};
pub use settings::{Call, Params, Settings, forced_blocksize};

/// The version of C-Blosc whose interface this is.
pub const VERSION: &std::ffi::CStr = c"1.21.6";
/// Bytes of a header, and the most a chunk can be longer than its data.
pub const HEADER_LENGTH: usize = crate::chunk::MIN_HEADER_LENGTH;
/// The most bytes a chunk can hold.
pub const MAX_BUFFERSIZE: usize = crate::chunk::blosc1::MAX_BUFFERSIZE;
/// The longest block in bytes.
pub const MAX_BLOCKSIZE: i32 = crate::chunk::blosc1::MAX_BLOCKSIZE;
/// The largest item size; larger ones count as 1.
const MAX_TYPESIZE: usize = crate::chunk::MAX_TYPESIZE;
/// The most threads that a call may ask for, where it needs any.
const MAX_THREADS: i32 = 256;
