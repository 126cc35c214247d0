//! The WebAssembly modules of the npm package `ferroblosc`: one for chunks, and one that also has
//! frames and the registered codecs and filters (feature `frames`).
//!
//! The exports have plain numbers as arguments and results. JavaScript copies bytes into memory of
//! the module, calls an export and copies the result out.
//!
//! | file | exports |
//! |---|---|
//! | `memory.rs` | memory that JavaScript fills, and the text of the last error |
//! | `chunk.rs` | compression and decompression of a chunk |
//! | `ranges.rs` | (none) the bytes of a source that JavaScript has supplied |
//! | `frame.rs` | opening a frame, and its properties |
//! | `read.rs` | reading a chunk or a slice of a frame |
//! | `scan.rs` | the header of a frame that is read as a stream, and the check of its index |
//!
//! A frame is read from a source that only JavaScript can access, asynchronously. An export that
//! needs bytes that are not there returns [`NEED`], and lists the missing ranges. JavaScript reads
//! them, passes them to the module, and calls the export again.

pub mod chunk;
#[cfg(feature = "frames")]
pub mod frame;
pub mod memory;
#[cfg(feature = "frames")]
pub mod ranges;
#[cfg(feature = "frames")]
pub mod read;
#[cfg(feature = "frames")]
pub mod scan;

/// The call was successful.
pub const DONE: i32 = 0;
/// Bytes of the source are missing; the call must be repeated after they have been supplied.
pub const NEED: i32 = 1;
/// The code of a result that exceeds the caller's limit, which is none of
/// [`ferroblosc::ErrorKind`].
pub const LIMIT: i32 = -100;
