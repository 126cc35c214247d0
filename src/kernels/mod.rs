//! Floor 0: pure byte transforms on slices.
//!
//! One folder a transform; in it `generic.rs`, the definition everything else is tested against,
//! the vector algorithm (`transpose.rs`, `vectors.rs`), where some CPUs have a better one that too
//! (`avx512.rs`, `vbmi.rs`), and a `mod.rs` that checks lengths and picks a
//! level. Algorithms are written once, over the small trait `vector::Vector`; what a SIMD level is
//! made of can be read in one place, `vector/<level>.rs`, and `compile.rs` compiles the algorithms
//! for it.
//!
//! This is the one floor full of `unsafe`. What it offers to the floors above is safe: functions on
//! slices that never read or write outside of them, whatever the arguments.
//!
//! Every transform also has an `*_at` form that takes the [`Level`], so that tests can compare all
//! levels in one process. All levels give the same bytes.
//!
//! ```
//! use ferroblosc::kernels::{Level, shuffle};
//!
//! let items: Vec<u8> = (0..64u16).flat_map(u16::to_le_bytes).collect();
//! let mut bytes = vec![0; items.len()];
//! shuffle::shuffle(2, &items, &mut bytes);
//! assert!(bytes[64..].iter().all(|&high| high == 0), "the high bytes come last, all alike");
//!
//! for level in Level::available() {
//!     let mut same = vec![0; items.len()];
//!     shuffle::shuffle_at(level, 2, &items, &mut same);
//!     assert_eq!(same, bytes);
//! }
//! ```

pub mod bitshuffle;
pub mod bytedelta;
mod cache;
mod compile;
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
mod write_combining;

pub use level::{Level, level};
pub(crate) use vector::LINE;

#[cfg(test)]
mod known_answers;
