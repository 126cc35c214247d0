//! What the CPUs of one maker are quick at, and those of others are not.
//!
//! The [level](super::Level) tells what instructions there are. Some kernels have two ways with the same instructions,
//! as what they cost differs: CPUs of AMD are slow to write lines that crowd the cache (see `bursts.rs`), and from
//! Zen 5 on do two shuffles of 64 bytes a cycle, across lanes and from two registers if need be (see the `lines.rs` of
//! the shuffles). Intel's do one, and one that takes from two registers takes two cycles, or three.

use std::sync::atomic::{AtomicU8, Ordering};

/// What [`assume_amd`] was told.
static ASSUMED: AtomicU8 = AtomicU8::new(NOTHING);
const NOTHING: u8 = 2;

/// Has the kernels do what is good for CPUs of AMD, or what is good for others, or what is good for this one. The bytes
/// are the same; this is for tests, which have both ways to try.
#[doc(hidden)]
pub fn assume_amd(assumed: Option<bool>) {
    ASSUMED.store(assumed.map_or(NOTHING, u8::from), Ordering::Relaxed);
}

/// True on CPUs of AMD, which have SSE4a, and no others.
#[inline]
pub(super) fn is_of_amd() -> bool {
    match ASSUMED.load(Ordering::Relaxed) {
        #[cfg(target_arch = "x86_64")]
        NOTHING => std::arch::is_x86_feature_detected!("sse4a"),
        assumed => assumed == u8::from(true),
    }
}
