//! Add codecs, filters and storage of your own.
//!
//! A codec or filter is registered for the process, under an id from 160 on. Chunks record the id,
//! so readers must register it too.
//!
//! ```
//! use ferroblosc::Result;
//! use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
//! use ferroblosc::filter::{self, Filter, FilterCall, Slot};
//!
//! /// Inverts all bits.
//! struct Invert;
//!
//! impl Filter for Invert {
//!     fn forward(&self, _: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
//!         dest.iter_mut().zip(src).for_each(|(dest, src)| *dest = !src);
//!         Ok(())
//!     }
//!
//!     fn backward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
//!         self.forward(call, src, dest)
//!     }
//! }
//!
//! filter::register(200, "invert", Invert)?;
//! let params = CParams::default().typesize(1).filters(&[Slot { id: 200, meta: 0 }]);
//! let chunk = Compressor::new(params)?.compress_to_vec(&[7; 1000])?;
//! let data = Decompressor::new(DParams::default()).decompress_to_vec(&chunk)?;
//! assert_eq!(data, [7; 1000]);
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! | to add … | implement | and use |
//! |---|---|---|
//! | a codec | [`Codec`](crate::codec::Codec) | [`codec::register`](crate::codec::register) |
//! | a filter | [`Filter`](crate::filter::Filter) | [`filter::register`](crate::filter::register) |
//! | storage | [`Backend`](crate::io::Backend) | [`Storage::backend`](crate::schunk::Storage::backend) |
//! | threads | [`pool::Backend`](crate::pool::Backend) | [`pool::set_backend`](crate::pool::set_backend) |
//! | a step before compression | [`Prefilter`](crate::chunk::Prefilter) | [`CParams`](crate::chunk::CParams) |
//! | types of items | [`Item`](trait@crate::Item) | `Array::get::<T>` |
//!
//! The examples `user_codec`, `user_filter` and `custom_io` in the package are complete programs.
