//! Compress and decompress buffers.
//!
//! A [`Compressor`](crate::chunk::Compressor) and a [`Decompressor`](crate::chunk::Decompressor)
//! keep their working memory, so use one for many calls. The item size matters most: bytes of equal
//! significance are compressed together.
//!
//! ```
//! use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
//! use ferroblosc::codec;
//!
//! let data: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
//! let params = CParams::default().typesize(4).codec(codec::id::LZ4).level(9);
//! let chunk = Compressor::new(params)?.compress_to_vec(&data)?;
//! assert!(chunk.len() < data.len() / 10);
//!
//! let mut decompressor = Decompressor::new(DParams::default());
//! assert_eq!(decompressor.decompress_to_vec(&chunk)?, data);
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! A range of items is decompressed alone, with the blocks that contain it:
//!
//! ```
//! # use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
//! # let data: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
//! # let chunk = Compressor::new(CParams::default().typesize(4))?.compress_to_vec(&data)?;
//! let mut two = [0; 8];
//! Decompressor::new(DParams::default()).getitem(&chunk, 50_000, 2, &mut two)?;
//! assert_eq!(two, [50_000, 50_001].map(u32::to_le_bytes).concat()[..]);
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! | parameter | default | method of [`CParams`](crate::chunk::CParams) |
//! |---|---|---|
//! | codec | BloscLZ | `codec` |
//! | level, `0..=9` | 5 | `level` |
//! | item size in bytes | 8 | `typesize` |
//! | filters | shuffle | `filters` |
//! | threads | 1 | `threads` |
//! | block size in bytes | automatic | `blocksize` |
//! | dictionary for many small blocks | no | `use_dict` |
//!
//! Chunks of Blosc 1.x, such as those of HDF5 filters, are read too. [`blosc1`](crate::blosc1)
//! writes them.
