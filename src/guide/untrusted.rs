//! Read untrusted data.
//!
//! Damaged and hostile chunks, frames and metalayers cause no panics, no undefined behaviour and no
//! reads outside of buffers; invalid structure is an error. Changed bytes inside compressed data
//! can change items without an error, unless the file has checksums ([`Storage::checksums`]).
//! Memory is allocated in proportion to the size of the input and of the request, and running out
//! of it is an error too ([`Error::MemoryAlloc`](crate::Error::MemoryAlloc)).
//!
//! A small chunk can expand to 2 GiB, for instance if all items are zero. Compare the size in the
//! header with a limit of your own before decompression:
//!
//! ```
//! use ferroblosc::Error;
//! use ferroblosc::chunk::{self, CParams, Compressor, DParams, Decompressor};
//!
//! /// Decompresses at most 1 MiB.
//! fn read(message: &[u8]) -> Result<Vec<u8>, Error> {
//!     if chunk::sizes(message)?.nbytes > 1 << 20 {
//!         return Err(Error::MaxBufsizeExceeded);
//!     }
//!     Decompressor::new(DParams::default()).decompress_to_vec(message)
//! }
//!
//! let mut message = Compressor::new(CParams::default())?.compress_to_vec(&[5; 100_000])?;
//! assert_eq!(read(&message)?, [5; 100_000]);
//! message.truncate(20);
//! assert!(read(&message).is_err());
//! let bomb = Compressor::new(CParams::default())?.compress_to_vec(&vec![0; 2 << 20])?;
//! assert_eq!((bomb.len(), read(&bomb)), (32, Err(Error::MaxBufsizeExceeded)));
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! | to … | use |
//! |---|---|
//! | find out whether the data or the system caused an error | [`Error::is_corruption`] |
//! | know the chunk, the file and the cause | [`Error::chunk`], [`Error::path`], `source` |
//! | detect changed bytes | [`Storage::checksums`] when the file is created |
//! | find out whether a file is a frame | [`frame::has_magic`] |
//! | read a whole file and report its damage | [`SChunk::verify`] |
//! | read the other chunks of a damaged file | [`SChunk::chunks`] |
//! | print names from files | [`escape`](crate::escape) |
//! | read the names of missing plugins | [`plugin`](crate::plugin) |
//!
//! [`Error::is_corruption`]: crate::Error::is_corruption
//! [`Error::chunk`]: crate::Error::chunk
//! [`Error::path`]: crate::Error::path
//! [`Storage::checksums`]: crate::schunk::Storage::checksums
//! [`frame::has_magic`]: crate::frame::has_magic
//! [`SChunk::verify`]: crate::schunk::SChunk::verify
//! [`SChunk::chunks`]: crate::schunk::SChunk::chunks
