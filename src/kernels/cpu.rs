//! Detection of CPU models on which the same instructions have different costs.
//!
//! The [level](super::Level) determines which instructions exist. Some kernels have two algorithms
//! for one level, because costs differ:
//!
//! - On AMD's CPUs `memcpy` is slow for some distances of source and destination (see `copy/`).
//! - AMD's CPUs are slow to write lines that conflict in the cache (see `write_combining.rs`).
//! - On AMD's CPUs a byte shuffle of 64 bytes costs the same within lanes, across lanes and from
//!   two registers: Zen 4 executes one per cycle, Zen 5 two (and four that interleave within
//!   lanes). Intel's CPUs execute one per cycle, and need two or three cycles for a shuffle from
//!   two registers (see `shuffle/vbmi.rs`).

#[cfg(target_arch = "x86_64")]
use std::sync::atomic::{AtomicU8, Ordering};

/// The value set by [`assume_amd`].
#[cfg(target_arch = "x86_64")]
static OVERRIDE: AtomicU8 = AtomicU8::new(NONE);
#[cfg(target_arch = "x86_64")]
const NONE: u8 = 2;

/// Makes the kernels assume an AMD CPU, a CPU of another vendor, or (`None`) the real CPU.
///
/// Results do not change; tests use this to run both algorithms. It has no effect outside x86-64.
#[doc(hidden)]
pub fn assume_amd(assumed: Option<bool>) {
    #[cfg(target_arch = "x86_64")]
    OVERRIDE.store(assumed.map_or(NONE, u8::from), Ordering::Relaxed);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = assumed;
}

/// Returns the assumed value, or the detected one if none is set.
#[cfg(target_arch = "x86_64")]
#[inline]
fn overridden_or(detect: impl Fn() -> bool) -> bool {
    match OVERRIDE.load(Ordering::Relaxed) {
        NONE => detect(),
        assumed => assumed == u8::from(true),
    }
}

/// Whether this is a CPU of AMD: only those have SSE4a.
#[inline]
pub(super) fn is_amd() -> bool {
    #[cfg(target_arch = "x86_64")]
    return overridden_or(|| is_x86_feature_detected!("sse4a"));
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether byte shuffles from two registers are fast: on AMD's CPUs with AVX-512 VBMI (Zen 4 and
/// later).
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn has_fast_vpermt2b() -> bool {
    overridden_or(|| is_x86_feature_detected!("sse4a") && is_x86_feature_detected!("avx512vbmi"))
}

/// Whether loads to half a 64-byte register are faster than loads to a whole one: on Zen 4, which
/// executes two of the former per cycle and one of the latter. It lacks VP2INTERSECT, which Zen 5
/// has.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn prefers_half_loads() -> bool {
    has_fast_vpermt2b() && overridden_or(|| !is_x86_feature_detected!("avx512vp2intersect"))
}
