//! Ferroblosc reads and writes the Blosc family of compressed formats.
//!
//! Data is compressed in *chunks*. A chunk consists of *blocks*, which are filtered (shuffle,
//! bitshuffle, delta …) and then compressed by a codec (BloscLZ, LZ4, LZ4HC, Zlib, Zstandard …).
//! Blocks are compressed in parallel and can be decompressed one by one. A *super-chunk* is a
//! sequence of chunks with metadata, and an *array* is a super-chunk with a multidimensional shape.
//! A *frame* stores either of them in memory, in a file or in a directory.
//!
//! # Examples
//!
//! A buffer is compressed into a chunk:
//!
//! ```
//! use ferroblosc::Result;
//! use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
//!
//! fn main() -> Result<()> {
//!     let data: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
//!     let params = CParams::default().typesize(4).level(5);
//!     let chunk = Compressor::new(params)?.compress_to_vec(&data)?;
//!     assert!(chunk.len() < data.len());
//!
//!     let restored = Decompressor::new(DParams::default()).decompress_to_vec(&chunk)?;
//!     assert_eq!(restored, data);
//!     Ok(())
//! }
//! ```
//!
//! An array of items of a Rust type, whose chunks and blocks are chosen automatically:
//!
//! ```
//! use ferroblosc::b2nd::Array;
//! use ferroblosc::chunk::CParams;
//! use ferroblosc::schunk::Storage;
//!
//! let mut array = Array::full(Storage::memory(), CParams::default(), [2000, 3000], 0.0f32)?;
//! array.set((5, 10..13), &[1.0f32, 2.0, 3.0])?;
//! assert_eq!(array.get::<f32>((4..6, 12..14))?, [0.0, 0.0, 3.0, 0.0]);
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! An array in a file is opened again, and a slice of it is read. Only the blocks of the slice are
//! decompressed:
//!
//! ```
//! use ferroblosc::b2nd::Array;
//! use ferroblosc::chunk::{CParams, DParams};
//! use ferroblosc::schunk::Storage;
//!
//! let path = std::env::temp_dir().join(format!("table-{}.b2nd", std::process::id()));
//! let items: Vec<i32> = (0..5000).collect();
//! Array::from_items(Storage::file(&path), CParams::default(), [100, 50], &items)?.close()?;
//!
//! let array = Array::open(Storage::file(&path), DParams::default())?;
//! assert_eq!(array.get::<i32>((18, 48..))?, [948, 949]);
//! # std::fs::remove_file(&path).unwrap();
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! # Guide
//!
//! The [`guide`] has a page for each task: [chunks](guide::chunks), [files](guide::files),
//! [slices](guide::slices), [appending](guide::append), [metadata](guide::metadata),
//! [threads](guide::threads), [extensions](guide::extensions), [untrusted data](guide::untrusted),
//! and the operations of [other crates](guide::other_crates).
//!
//! # Modules
//!
//! Bloscpack, bcolz, NumPy, Zarr, CSV, HDF5 and the stores of python-blosc2 are in the crate
//! `ferroblosc-formats`.
//!
//! | to … | use |
//! |---|---|
//! | compress buffers into chunks | [`chunk`] |
//! | store many chunks with metadata | [`schunk`] |
//! | store multidimensional arrays and read slices of them | [`b2nd`] |
//! | read and write items of a type, such as `f32` or a record | [`item`], [`Item`](trait@Item) |
//! | access frames and their files directly | [`frame`], [`io`] |
//! | add codecs, filters and plugins | [`codec`], [`filter`], [`plugin`] |
//! | control worker threads | [`pool`] |
//! | use the interface of Blosc 1.x | [`blosc1`] |
//! | show diagnostics and untrusted text | [`trace`], [`escape`] |
//!
//! # Errors
//!
//! Fallible functions of chunks, super-chunks, frames and arrays return an [`Error`], whose
//! [`ErrorKind`] is one of the error codes of C-Blosc2. Its text names the operation, the file and
//! the chunk if they are known. [`blosc1`] has an error type of its own. Errors without context are
//! constants, which compare equal to any error of their kind:
//!
//! ```
//! use ferroblosc::chunk::DParams;
//! use ferroblosc::schunk::{SChunk, Storage};
//! use ferroblosc::{Error, ErrorKind};
//!
//! let missing = Storage::file("/no/such/file.b2frame");
//! let error = SChunk::open(missing, DParams::default()).err().unwrap();
//! assert_eq!(error, Error::FileOpen);
//! assert_eq!((error.kind(), error.code()), (ErrorKind::FileOpen, -15));
//! assert!(error.to_string().starts_with("cannot open /no/such/file.b2frame: "));
//! ```
//!
//! # Features
//!
//! The default features are those that the C libraries need. Without them the crate needs no C
//! compiler and has the codecs BloscLZ and LZ4; the feature `decode` adds decoders in Rust of all
//! other codecs except ZFP. A codec that is not built in is unknown by name, and using it fails
//! with [`Error::CodecSupport`]. Using a filter that is not built in fails with
//! [`Error::FilterPipeline`].
//!
//! | feature | adds |
//! |---|---|
//! | `lz4` | the codec LZ4HC, and dictionaries for LZ4; without it LZ4 is written in Rust, with the same output |
//! | `zlib`, `zstd` | the codecs Zlib and Zstd; Zstd includes `lz4` |
//! | `snappy` | the codec of old Blosc 1.x chunks |
//! | `decode` | not a default, needs no C compiler: `plugins`, `snappy`, `pure-zlib`, `pure-zstd` |
//! | `pure-zlib` | Zlib without the encoder for Blosc 1.x; `zlib` includes it |
//! | `pure-zstd` | the decoder of Zstd, if `zstd` is not selected |
//! | `zfp` | the three codecs of ZFP |
//! | `plugins` | the codec NDLZ; the filters bytedelta, int_trunc, NDCELL and NDMEAN |
//! | `mmap` | frames in files that are mapped into memory |
//! | `ndarray` | not a default: arrays of the crate `ndarray` 0.17, such as `Array::from_ndarray` |
//! | `half` | not a default: items of the type `half::f16` (`half` 2) |
//! | `num-complex` | not a default: items of the type `num_complex::Complex` (`num-complex` 0.4) |
//! | `derive` | not a default: `#[derive(Item)]` for records |
//! | `rayon` | not a default: parallel iterators of `rayon` 1, such as `SChunk::par_chunks` |
//! | `serde` | not a default: metalayers as values of `serde` 1, such as `SChunk::vlmetalayer_value` |
//! | `internals` | not a default: the interface for the C libraries and tools of this project, which may change in any release |
//!
//! # Systems
//!
//! Linux with 32 or 64 bits in either byte order, and 64-bit Windows. The crate also builds for
//! macOS and FreeBSD, where it is not tested. On `wasm32-wasip1` and `wasm32-unknown-unknown` there
//! is one thread, which also runs calls that request several. `wasm32-unknown-unknown` has no
//! files: frames are in memory, and opening a file fails with [`Error::FileOpen`]. Chunks and files
//! have the same bytes on all systems, except the items of filters and codecs that process numbers
//! in the byte order of the machine.

// Without the C interfaces, the tools, the plugins or some codecs, some functions are unused.
#![cfg_attr(
    not(all(feature = "internals", feature = "plugins", feature = "zlib", feature = "zstd")),
    allow(dead_code, unused_imports)
)]

#[cfg(not(any(
    all(unix, any(target_pointer_width = "32", target_pointer_width = "64")),
    all(windows, target_pointer_width = "64"),
    all(target_family = "wasm", any(target_os = "unknown", target_os = "wasi"))
)))]
compile_error!(
    "ferroblosc supports targets of 32 and 64 bits with a Unix interface, 64-bit Windows, wasm32-wasip1 and wasm32-unknown-unknown"
);

pub mod b2nd;
mod blockshape;
pub mod blosc1;
mod buffer;
mod call;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod cancellation;
#[cfg(not(feature = "internals"))]
pub(crate) mod cancellation;
pub mod chunk;
pub mod codec;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod elf_note;
#[cfg(not(feature = "internals"))]
pub(crate) mod elf_note;
mod environment;
mod error;
pub mod escape;
pub mod filter;
pub mod frame;
pub mod guide;
pub mod io;
pub mod item;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod kernels;
#[cfg(not(feature = "internals"))]
pub(crate) mod kernels;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod os;
#[cfg(not(feature = "internals"))]
pub(crate) mod os;
pub mod plugin;
pub mod pool;
pub mod schunk;
mod slice;
#[cfg(test)]
pub(crate) mod testing;
pub mod trace;

// The name of the crate in the checks of `tests/`, which the unit tests share.
#[cfg(test)]
extern crate self as ferroblosc;

pub use buffer::Buffer;
pub use call::{CallContext, Parent, UserData};
pub use error::{Error, ErrorKind, Result};
#[cfg(feature = "derive")]
/// Implements the trait [`Item`](trait@Item) for a record (feature `derive`).
///
/// ```
/// use ferroblosc::Item;
/// use ferroblosc::b2nd::Array;
/// use ferroblosc::chunk::CParams;
/// use ferroblosc::item::{DateTime64, FixedBytes, unit};
/// use ferroblosc::schunk::Storage;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Item)]
/// #[repr(C)]
/// struct Reading {
///     time: DateTime64<unit::Second>,
///     station: FixedBytes<7>,
///     is_valid: bool,
///     wind: [f32; 2],
/// }
///
/// let station = FixedBytes::new("EDDF")?;
/// let reading = Reading { time: DateTime64::new(0), station, is_valid: true, wind: [3.5, -1.0] };
/// let array = Array::from_items(Storage::memory(), CParams::default(), [1], &[reading])?;
/// let dtype = "[('time', '<M8[s]'), ('station', '|S7'), ('is_valid', '|b1'), ('wind', '<f4', (2,))]";
/// assert_eq!(array.dtype(), Some(dtype));
/// assert_eq!(array.get::<Reading>(0)?, [reading]);
/// # Ok::<(), ferroblosc::Error>(())
/// ```
///
/// The type must be `Copy`, and have one of these representations:
///
/// - `#[repr(C)]`, without padding;
/// - `#[repr(C, packed)]`, which never has padding;
/// - `#[repr(transparent)]` with one field: the dtype is that of the field.
///
/// All fields must be [items](trait@Item), or arrays of items. In a record, an array `[T; N]` is an
/// array in the dtype too, also `[u8; N]` and `[f32; 2]`. The fields of a tuple have the names
/// `f0`, `f1`, …. A record can be the field of another. Fields of a type with invalid values, such
/// as `char` or an enumeration, are errors of the compiler.
///
/// When an array is read, the names, offsets and types of its dtype must be those of the record, in
/// any of NumPy's notations.
///
/// # Padding
///
/// If the alignment of a field would need padding, the compiler reports it:
///
/// ```compile_fail
/// #[derive(Clone, Copy, ferroblosc::Item)]
/// #[repr(C)]
/// struct Padded {
///     flag: u8,
///     value: f64,
/// }
/// ```
///
/// Add a field for the padding. It has no name in the dtype:
///
/// ```
/// use ferroblosc::Item;
///
/// #[derive(Clone, Copy, Item)]
/// #[repr(C)]
/// struct Padded {
///     flag: u8,
///     #[item(padding)]
///     _padding: [u8; 7],
///     value: f64,
/// }
///
/// let dtype = "{'names': ['flag', 'value'], 'formats': ['|u1', '<f8'], \
///              'offsets': [0, 8], 'itemsize': 16}";
/// assert_eq!(Padded::dtype(), dtype);
/// ```
pub use ferroblosc_derive::Item;
pub use item::Item;
pub use slice::AxisRange;

/// The version of Ferroblosc, which is independent of the C-Blosc and C-Blosc2 versions that its
/// libraries report.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
