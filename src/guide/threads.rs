//! Use several threads.
//!
//! `CParams::threads` and `DParams::threads` set the number of threads for each call; the bytes of
//! chunks do not depend on it. All calls of the process share one pool of threads
//! ([`pool`](crate::pool)).
//!
//! The types of the crate are [`Send`] and [`Sync`]. Many threads can read one
//! [`Array`](crate::b2nd::Array) or [`SChunk`](crate::schunk::SChunk) in parallel, through `&self`.
//! Changes, compressors and decompressors need `&mut self`: each thread has a context of its own.
//!
//! ```
//! use ferroblosc::b2nd::Array;
//! use ferroblosc::chunk::CParams;
//! use ferroblosc::schunk::Storage;
//!
//! let items: Vec<u32> = (0..100_000).collect();
//! let params = CParams::default().threads(4);
//! let array = Array::from_items(Storage::memory(), params, [1000, 100], &items)?;
//! let array = &array;
//! std::thread::scope(|scope| {
//!     for row in [3, 500, 999] {
//!         scope.spawn(move || {
//!             assert_eq!(array.get::<u32>((row, 7)).unwrap(), [row as u32 * 100 + 7]);
//!         });
//!     }
//! });
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! The feature `rayon` adds parallel iterators: `Array::par_chunks`, `Array::par_blocks` and
//! `SChunk::par_chunks`. Their order is that of the chunks.
//!
//! After `fork`, a child process can use the crate; it starts threads of its own. Several processes
//! share a file with [`Storage::locking`](crate::schunk::Storage::locking).
