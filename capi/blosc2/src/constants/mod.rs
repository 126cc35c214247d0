//! The integer constants of `blosc2.h`, one file per group.
//!
//! They are enum constants in C: each file becomes one `enum`. Constants used as array lengths in
//! Rust are `usize`, the others `c_int`.

pub mod blosc1;
pub mod codecs;
pub mod errors;
pub mod filters;
pub mod format;
pub mod io;
pub mod limits;
pub mod metalayers;
pub mod tuners;
