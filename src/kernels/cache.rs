//! Cache sizes, prefetching and alignment to cache lines.

use super::vector::LINE;

/// A cache level to prefetch into.
#[derive(Clone, Copy)]
pub(super) enum CacheLevel {
    L1,
    L2,
}

/// Prefetches the line at `at`, which may be any address. Does nothing outside x86-64.
#[inline(always)]
pub(super) fn prefetch(level: CacheLevel, at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 CPU has the instruction, which never faults.
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

/// The number of lines that one set of the L1 cache holds on every supported CPU.
pub(super) const L1_WAYS: usize = 8;

/// True if more than `ways` of `count` addresses `stride` bytes apart have nearly the same offset
/// in a page. Their lines then share a set of the L1 cache, which holds 8 or 12 of them.
#[inline(always)]
pub(super) fn has_set_conflicts(stride: usize, count: usize, ways: usize) -> bool {
    /// The distance in bytes at which lines share a set.
    const PERIOD: usize = 4096;
    /// The largest drift, in bytes, of offsets that count as equal.
    const NEAR: usize = 16;
    // If every `step`th offset is near the first one, `1 / step` of all offsets are.
    (1..count.div_ceil(ways)).any(|step| (step * stride + NEAR) % PERIOD <= 2 * NEAR)
}

/// True if two buffers of `bytes` bytes each do not fit an L2 cache of 2 MiB together.
#[inline(always)]
pub(super) fn exceeds_l2(bytes: usize) -> bool {
    const THRESHOLD: usize = 1 << 20;
    bytes >= THRESHOLD
}

/// True if two buffers of `bytes` bytes each may not fit the L3 cache, or the share of it that
/// other programs leave, so that data is loaded from memory.
#[inline(always)]
pub(super) fn exceeds_l3(bytes: usize) -> bool {
    const THRESHOLD: usize = 3 << 20;
    bytes >= THRESHOLD
}

/// The distance in bytes at which lines of rows or planes outside the L2 cache are prefetched.
/// Loading them takes longer than one tile.
pub(super) const PREFETCH_DISTANCE: usize = 3 * LINE;

/// Prefetches `count` bytes, a multiple of [`LINE`], at a fixed distance after `at`. The hardware
/// prefetcher follows consecutive lines too, but stops at the end of a page.
#[inline(always)]
pub(super) fn prefetch_ahead(at: *const u8, count: usize) {
    const DISTANCE: usize = 2048;
    for i in (0..count).step_by(LINE) {
        prefetch(CacheLevel::L2, at.wrapping_add(DISTANCE + i));
    }
}

/// True if writing one line in turn to each of `count` rows `stride` bytes apart is faster when the
/// next line of each is prefetched into L1: the lines are not in L1 yet, and are not evicted before
/// they are written.
#[inline(always)]
pub(super) fn prefetch_pays(stride: usize, count: usize) -> bool {
    /// The largest size in bytes at which all lines are in the cache in any case.
    const SMALL: usize = 16 << 10;
    stride * count > SMALL && !has_set_conflicts(stride, count, L1_WAYS)
}

/// Returns the offset of the second tile of `width` bytes in each plane. This is `width` if there
/// are too few tiles to pay for an additional one. Otherwise it is the offset of the first aligned
/// byte after the start of `dest`. If the planes have the same alignment, which is usual, only the
/// stores of the first tile then split cache lines. Split stores halve the speed outside the L1
/// cache.
#[inline(always)]
pub(super) fn second_tile(dest: *const u8, width: usize, length: usize) -> usize {
    const MIN_TILES: usize = 8;
    if length < MIN_TILES * width { width } else { width - dest.addr() % width }
}
