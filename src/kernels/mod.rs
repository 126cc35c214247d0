//! Layer 0: pure byte transforms on slices.
//!
//! Each transform has a directory. `generic.rs` contains portable code, with which all other code
//! is compared in tests, `transpose.rs` or `vectors.rs` the vector algorithm, and `avx512.rs` and
//! `vbmi.rs` faster algorithms for some CPUs. `mod.rs` checks lengths and selects the level.
//! Algorithms are written once, over the trait `vector::Vector`; `vector/<level>.rs` implements it
//! for one instruction set, and `compile.rs` compiles the algorithms for each level.
//!
//! The interface is safe: functions on slices that never access memory outside them, whatever the
//! arguments.
//!
//! Transforms with several levels also have an `*_at` form that accepts the [`Level`]: tests
//! compare all levels in one process. All levels return the same bytes.
//!
//! ```
//! use ferroblosc::kernels::{Level, shuffle};
//!
//! let items: Vec<u8> = (0..64u16).flat_map(u16::to_le_bytes).collect();
//! let mut bytes = vec![0; items.len()];
//! shuffle::shuffle(2, &items, &mut bytes);
//! assert!(bytes[64..].iter().all(|&high| high == 0), "the second plane holds the high bytes");
//!
//! for level in Level::available() {
//!     let mut same = vec![0; items.len()];
//!     shuffle::shuffle_at(level, 2, &items, &mut same);
//!     assert_eq!(same, bytes);
//! }
//! ```

// On CPUs without a vector level, the vector algorithms and the code around the levels are unused.
#![cfg_attr(
    not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    )),
    allow(dead_code, unused_imports, unused_macros, unused_mut, unused_unsafe, unused_variables)
)]

pub mod bitshuffle;
pub mod bytedelta;
mod cache;
mod compile;
pub mod copy;
#[doc(hidden)]
pub mod cpu;
pub mod delta;
mod level;
pub mod run;
mod scan;
pub mod shuffle;
pub mod trunc_prec;
mod unroll;
mod vector;
mod words;
mod write_combining;

pub use level::{Level, level};
pub(crate) use vector::LINE;

#[cfg(test)]
mod known_answers;
