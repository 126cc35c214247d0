//! What lies in which cache, and asking for it before it is needed.

use super::vector::LINE;

/// A level of the cache.
#[derive(Clone, Copy)]
pub(super) enum CacheLevel {
    /// The nearest one.
    L1,
    /// The one behind it.
    L2,
}

/// Asks for the line at `at`, whatever address that is. Nothing happens on CPUs other than x86.
#[inline(always)]
pub(super) fn prefetch(level: CacheLevel, at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: all CPUs of this family have the instruction, which never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match level {
            CacheLevel::L1 => _mm_prefetch::<_MM_HINT_T0>(at.cast()),
            CacheLevel::L2 => _mm_prefetch::<_MM_HINT_T1>(at.cast()),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (level, at);
}

/// Lines that share a set of the first-level cache and stay in it, whatever CPU it is.
pub(super) const L1_WAYS: usize = 8;

/// True when more than `ways` of `count` places that lie `stride` bytes apart are nearly the same
/// number of bytes into a page. Their lines then share a set of the first-level cache, which holds 8
/// or 12 of them.
#[inline(always)]
pub(super) fn has_set_conflicts(stride: usize, count: usize, ways: usize) -> bool {
    /// Lines so far apart share a set.
    const PERIOD: usize = 4096;
    /// Places that drift so slowly do for a while.
    const NEAR: usize = 16;
    // When every `step`th place is near the first one, a `step`th of all are.
    (1..count.div_ceil(ways)).any(|step| (step * stride + NEAR) % PERIOD <= 2 * NEAR)
}

/// True when two buffers of so many bytes don't lie in the second-level cache together.
#[inline(always)]
pub(super) fn exceeds_l2(bytes: usize) -> bool {
    const MUCH: usize = 1 << 20;
    bytes >= MUCH
}

/// True when they may not lie in the third-level cache either, or in what others leave of it, and have to come from memory.
#[inline(always)]
pub(super) fn exceeds_l3(bytes: usize) -> bool {
    const MUCH: usize = 3 << 20;
    bytes >= MUCH
}

/// So many bytes further on, lines of rows or planes that don't lie in the second-level cache are asked for: they take longer
/// than a tile.
pub(super) const PREFETCH_DISTANCE: usize = 3 * LINE;

/// Asks for `count` bytes that follow `at` at a distance, a multiple of [`LINE`]. The CPU sees lines coming that follow each
/// other, but not beyond the end of a page.
#[inline(always)]
pub(super) fn prefetch_ahead(at: *const u8, count: usize) {
    const DISTANCE: usize = 2048;
    for i in (0..count).step_by(LINE) {
        prefetch(CacheLevel::L2, at.wrapping_add(DISTANCE + i));
    }
}

/// True when what is written to `count` places that lie `stride` bytes apart, a line to each in turns,
/// is written sooner if the next line of each is fetched into the first-level cache before: when it
/// is not there anyway, and not gone again until it is its turn.
#[inline(always)]
pub(super) fn prefetch_pays(stride: usize, count: usize) -> bool {
    /// Two buffers so large are in the cache.
    const SMALL: usize = 16 << 10;
    stride * count > SMALL && !has_set_conflicts(stride, count, L1_WAYS)
}
