//! Store data in files and directories.
//!
//! [`Storage`](crate::schunk::Storage) selects memory, a file or a directory. `create` never
//! replaces a file, and `open` never creates one: to replace a file, remove it first; to continue
//! one, open it and append.
//!
//! ```
//! use ferroblosc::chunk::{CParams, DParams};
//! use ferroblosc::schunk::{SChunk, Storage};
//!
//! # let path = std::env::temp_dir().join(format!("guide-{}.b2frame", std::process::id()));
//! let params = CParams::default().typesize(8);
//! let mut file = SChunk::create(Storage::file(&path), params, DParams::default())?;
//! file.append_items(&[1.5f64, 2.5, 3.5])?;
//! file.close()?;
//!
//! let file = SChunk::open(Storage::file(&path), DParams::default())?;
//! assert_eq!(file.get::<f64>(1..)?, [2.5, 3.5]);
//! # std::fs::remove_file(&path).unwrap();
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! | to … | use |
//! |---|---|
//! | keep files sound when the program or the system crashes | [`Storage::durable`] |
//! | change several things at once or not at all | [`SChunk::transaction`] |
//! | detect damage | [`Storage::checksums`], [`SChunk::verify`] |
//! | use a file in several processes | [`Storage::locking`] |
//! | map a file into memory | `io::mmap` (feature `mmap`) |
//! | send a frame over a network | [`SChunk::to_bytes`], [`SChunk::from_bytes`] |
//! | read and write files of Bloscpack, bcolz, NumPy and Zarr | the crate `ferroblosc-formats` |
//!
//! Errors name the file, the operation and the cause:
//!
//! ```
//! use ferroblosc::b2nd::Array;
//! use ferroblosc::chunk::DParams;
//! use ferroblosc::schunk::Storage;
//!
//! let error = Array::open(Storage::file("missing.b2nd"), DParams::default()).err().unwrap();
//! let text = "cannot open missing.b2nd: No such file or directory (os error 2)";
//! assert_eq!(error.to_string(), text);
//! assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::NotFound);
//! ```
//!
//! [`Storage::durable`]: crate::schunk::Storage::durable
//! [`Storage::checksums`]: crate::schunk::Storage::checksums
//! [`Storage::locking`]: crate::schunk::Storage::locking
//! [`SChunk::transaction`]: crate::schunk::SChunk::transaction
//! [`SChunk::verify`]: crate::schunk::SChunk::verify
//! [`SChunk::to_bytes`]: crate::schunk::SChunk::to_bytes
//! [`SChunk::from_bytes`]: crate::schunk::SChunk::from_bytes
