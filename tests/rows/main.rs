//! The chunk engine against its decision rows: bugs of the reference that must not be repeated, and
//! behaviour that must be kept because of existing data.
//!
//! A test of row C19 has `row_c19_` in its name. Unusual and hostile chunks are handwritten from
//! the format's description (`common::Made`), so that encoder and decoder cannot agree on a
//! mistake.

#[path = "../../src/testing.rs"]
mod testing;
#[path = "../checks/vectors.rs"]
mod vectors;

mod blocksize;
mod callbacks;
mod codecs;
mod common;
mod decode;
mod delta;
mod dictionaries;
mod filters;
mod getitem;
mod hostile;
mod memory;
mod special;
mod threads;
mod vl;
