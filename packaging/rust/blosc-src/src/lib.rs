//! The interface of the crate `blosc-src` 0.3: the functions and constants of C-Blosc 1.21, here
//! implemented by Ferroblosc.
//!
//! The C symbols (`blosc_compress` and so on) are linked too, for C code in the same program.

#![forbid(unsafe_code)]

#[macro_use]
#[path = "../../bindings/bytes.rs"]
mod strings;
#[path = "../../bindings/blosc1.rs"]
mod blosc1;

pub use blosc1::*;

/// The version of BloscLZ.
#[deprecated(note = "the original crate keeps it only for older programs")]
pub const BLOSCLZ_VERSION_STRING: &[u8; 6] = b"2.5.1\0";
