//! The integer constants of `blosc2.h`, one file per group.
//!
//! C clients use them as enum constants, and so the header has them: each file becomes one `enum`.
//! Constants whose Rust side is an array length are `usize`; the others are `c_int`.

pub mod blosc1;
pub mod codecs;
pub mod errors;
pub mod filters;
pub mod format;
pub mod io;
pub mod limits;
pub mod metalayers;
pub mod tuners;
