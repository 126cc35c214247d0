//! Floor 0: pure byte transforms on slices.
//!
//! One folder a transform; in it `generic.rs`, the definition all others are tested against, one file
//! per SIMD level, and a `mod.rs` that picks one.
