//! Append data, one item or many at a time.
//!
//! Arrays grow along a dimension:
//!
//! ```
//! use ferroblosc::b2nd::Array;
//! use ferroblosc::chunk::CParams;
//! use ferroblosc::schunk::Storage;
//!
//! let mut table = Array::full(Storage::memory(), CParams::default(), [0, 3], 0f32)?;
//! table.append_items(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], 0)?;
//! table.append_iter((0..300).map(|i| i as f32))?;
//! assert_eq!(table.shape(), [102, 3]);
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! Super-chunks grow by chunks, by items of an iterator, or by bytes of a stream:
//!
//! ```
//! use ferroblosc::chunk::{CParams, DParams};
//! use ferroblosc::schunk::{SChunk, Storage};
//! use std::io::{BufRead, Write};
//!
//! # fn main() -> std::io::Result<()> {
//! let params = CParams::default().typesize(1);
//! let mut log = SChunk::create(Storage::memory(), params, DParams::default())?;
//! let mut writer = log.writer()?;
//! for day in 1..=1000 {
//!     writeln!(writer, "day {day}: sunny")?;
//! }
//! writer.finish()?;
//! assert_eq!(log.reader()?.lines().nth(99).unwrap()?, "day 100: sunny");
//! # Ok(())
//! # }
//! ```
//!
//! | to append … | use |
//! |---|---|
//! | one chunk | [`SChunk::append_items`], [`SChunk::append`] |
//! | items of an iterator | [`SChunk::extend`], [`Array::append_iter`] |
//! | a stream of bytes | [`SChunk::writer`] |
//! | along another dimension, or another array | [`Array::append_items`], [`Array::extend`] |
//! | a compressed chunk | [`SChunk::append_chunk`] |
//!
//! Each call compresses the last, incomplete chunk again, and in a file the old one becomes a hole,
//! which `close` removes: append whole chunks, if possible.
//!
//! In a durable file each call is one change on the disk. [`SChunk::transaction`] and
//! [`Array::transaction`] make one change of many calls.
//!
//! [`SChunk::append`]: crate::schunk::SChunk::append
//! [`SChunk::append_items`]: crate::schunk::SChunk::append_items
//! [`SChunk::append_chunk`]: crate::schunk::SChunk::append_chunk
//! [`SChunk::extend`]: crate::schunk::SChunk::extend
//! [`SChunk::writer`]: crate::schunk::SChunk::writer
//! [`SChunk::transaction`]: crate::schunk::SChunk::transaction
//! [`Array::append_items`]: crate::b2nd::Array::append_items
//! [`Array::append_iter`]: crate::b2nd::Array::append_iter
//! [`Array::extend`]: crate::b2nd::Array::extend
//! [`Array::transaction`]: crate::b2nd::Array::transaction
