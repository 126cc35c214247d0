//! The interface of the crate `blosc-rs-sys` 0.2: the functions and constants of C-Blosc 1.21, here
//! implemented by Ferroblosc.
//!
//! The C symbols (`blosc_compress` and so on) are linked too, for C code in the same program.

#![forbid(unsafe_code)]

#[macro_use]
#[path = "../../bindings/c_str.rs"]
mod strings;
#[path = "../../bindings/blosc1.rs"]
mod blosc1;

pub use blosc1::*;
