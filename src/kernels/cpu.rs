//! What some CPUs are quick at, and others are not.
//!
//! The [level](super::Level) tells what instructions there are. Some kernels have two ways with the same instructions,
//! as what they cost differs. CPUs of AMD are slow to write lines that crowd the cache (see `write_combining.rs`). To them a shuffle of
//! 64 bytes costs the same across lanes, and from two registers, as within lanes: Zen 4 does one a cycle, Zen 5 two (and
//! four that interleave within lanes; see the `vbmi.rs` of the shuffles). Intel's do one of any kind, and for one that
//! takes bytes from two registers they need two cycles or three.

#[cfg(target_arch = "x86_64")]
use std::sync::atomic::{AtomicU8, Ordering};

/// What [`assume_amd`] was told.
#[cfg(target_arch = "x86_64")]
static OVERRIDE: AtomicU8 = AtomicU8::new(NONE);
#[cfg(target_arch = "x86_64")]
const NONE: u8 = 2;

/// Has the kernels do what is good for CPUs of AMD, or what is good for others, or what is good for this one.
/// The bytes are the same; this is for tests, which have both ways to try. It changes nothing on other machines than x86.
#[doc(hidden)]
pub fn assume_amd(assumed: Option<bool>) {
    #[cfg(target_arch = "x86_64")]
    OVERRIDE.store(assumed.map_or(NONE, u8::from), Ordering::Relaxed);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = assumed;
}

/// What is assumed, or else what the CPU says.
#[cfg(target_arch = "x86_64")]
#[inline]
fn overridden_or(detect: impl Fn() -> bool) -> bool {
    match OVERRIDE.load(Ordering::Relaxed) {
        NONE => detect(),
        assumed => assumed == u8::from(true),
    }
}

/// True on CPUs of AMD, which have SSE4a, as Intel's have not.
#[inline]
pub(super) fn is_amd() -> bool {
    #[cfg(target_arch = "x86_64")]
    return overridden_or(|| is_x86_feature_detected!("sse4a"));
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// True on the CPUs of AMD that have AVX-512 with VBMI, from Zen 4 on.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn has_fast_vpermt2b() -> bool {
    overridden_or(|| is_x86_feature_detected!("sse4a") && is_x86_feature_detected!("avx512vbmi"))
}

/// True on Zen 4, which loads twice a cycle what goes to half a register of 64 bytes, and once what goes to a whole one; it
/// doesn't have the instruction VP2INTERSECT, which Zen 5 has.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn prefers_half_loads() -> bool {
    has_fast_vpermt2b() && overridden_or(|| !is_x86_feature_detected!("avx512vp2intersect"))
}
