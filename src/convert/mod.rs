//! Floor 6: from one format to another, a chunk at a time.
//!
//! | from | to | how |
//! |---|---|---|
//! | bcolz | Bloscpack | chunks as they are, with checksums, offsets and the metadata of the array |
//! | Bloscpack | bcolz | chunks as they are, when they hold whole rows; else row by row |
//! | bcolz | `.npy` | rows as they come |
//! | `.npy` | bcolz | rows as they come; those of Fortran's order are gathered |
//!
//! Never more than some chunks are in memory. Files appear when they are complete.

mod bcolz;
mod error;

pub use bcolz::{Target, bloscpack_to_carray, carray_to_bloscpack, carray_to_npy, npy_to_carray};
pub use error::{Error, Result};
