//! Writes to many distant rows in bursts of several lines.
//!
//! A shuffle writes one line in turn to each of many rows. If the rows are a power of two apart,
//! their lines share a set of the L1 cache and are evicted before the next bytes of the row are
//! written. AMD's CPUs are slow at that: on Zen 5 a line that is not in L1 costs 2 ns, and each of
//! eight consecutive ones 0.6 ns. On these CPUs it pays to stage some lines of each row first. On
//! Intel's CPUs the copy costs more than it saves.

use super::cache::{CacheLevel, L1_WAYS, exceeds_l3, has_set_conflicts, prefetch};
#[cfg(target_arch = "x86_64")]
use super::cache::{exceeds_l2, second_tile};
use super::cpu::is_amd;
use super::unroll::unroll;
use super::vector::{LINE, Vector};
use std::mem::MaybeUninit;

/// Bytes of a row that are written at once.
pub(super) const BURST: usize = 8 * LINE;

/// A shorter burst, for more rows and for reading.
pub(super) const HALF_BURST: usize = BURST / 2;

/// The shortest burst, for the most rows.
#[cfg(target_arch = "x86_64")]
pub(super) const QUARTER_BURST: usize = BURST / 4;

/// A stack buffer for one burst of each of `ROWS` rows.
#[repr(align(64))]
pub(super) struct StagedRows<const ROWS: usize>([[MaybeUninit<u8>; BURST]; ROWS]);

impl<const ROWS: usize> StagedRows<ROWS> {
    /// Returns an uninitialised buffer.
    #[inline(always)]
    pub(super) fn new() -> Self {
        StagedRows([[MaybeUninit::uninit(); BURST]; ROWS])
    }

    /// Returns the address of the first row's burst; those of the other rows follow.
    #[inline(always)]
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// A number of rows such that more than [`L1_WAYS`] share a set if every second one does.
pub(super) const EVERY_OTHER_ROW: usize = 3 * L1_WAYS;

/// True if writing to `count` rows `stride` bytes apart is faster in bursts; a burst is then not
/// longer than a row. If lines stay in L1, [prefetching](super::cache::prefetch_pays) is even
/// faster; if they are in memory, it is also faster to prefetch each during other work.
#[inline]
pub(super) fn pays(stride: usize, count: usize) -> bool {
    /// The smallest stride in bytes; rows at a smaller distance rarely share a set.
    const MIN_STRIDE: usize = 1024;
    const { assert!(BURST <= MIN_STRIDE) }
    stride >= MIN_STRIDE
        && is_amd()
        && !exceeds_l3(stride * count)
        && has_set_conflicts(stride, count, L1_WAYS)
}

/// Copies a burst of `SPAN` bytes, and prefetches the following one if `prefetch_next` is set.
///
/// # Safety
/// The contract of [`Vector`]; `SPAN` bytes can be read at `from` and written at `to`, and `SPAN`
/// is a multiple of the size of a vector.
#[inline(always)]
pub(super) unsafe fn write<V: Vector, const SPAN: usize>(
    prefetch_next: bool,
    from: *const u8,
    to: *mut u8,
) {
    if prefetch_next {
        unroll!(8: i < SPAN / LINE, { prefetch(CacheLevel::L2, to.wrapping_add(SPAN + i * LINE)) });
    }
    // SAFETY: the caller's contract.
    unsafe { copy::<V>(from, to, SPAN) }
}

/// Rows, or ranges of rows, at equal distances.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Rows {
    /// The start of the first row.
    pub(super) start: *mut u8,
    /// The number of rows.
    pub(super) count: usize,
    /// Bytes of each row.
    pub(super) length: usize,
    /// Bytes between the starts of consecutive rows.
    pub(super) stride: usize,
}

#[cfg(target_arch = "x86_64")]
impl Rows {
    /// Returns rows that are adjacent in memory.
    #[inline(always)]
    pub(super) fn contiguous(start: *mut u8, count: usize, length: usize) -> Rows {
        Rows { start, count, length, stride: length }
    }
}

/// Fills rows in bursts of `SPAN` bytes.
///
/// `fill(offset, to)` writes one line of each row, the bytes from `offset`, to addresses `SPAN`
/// bytes apart, the first one at `to`. The stack buffer holds `CAPACITY` rows of a [`BURST`] each.
///
/// # Safety
/// The contract of [`Vector`]; the rows are writable and have at least `SPAN` bytes; the stack
/// buffer holds `SPAN` bytes of each row; `fill` fills the lines it is called for.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) unsafe fn fill_rows<V: Vector, const CAPACITY: usize, const SPAN: usize>(
    rows: Rows,
    fill: impl Fn(usize, *mut u8),
) {
    debug_assert!(rows.count * SPAN <= CAPACITY * BURST);
    let prefetch_next = exceeds_l2(rows.count * rows.stride);
    let mut staged = StagedRows::<CAPACITY>::new();
    let staged = staged.as_mut_ptr();
    let mut done = 0;
    let mut step = second_tile(rows.start, SPAN, rows.length);
    while done < rows.length {
        let first = done.min(rows.length - SPAN);
        for at in (0..SPAN).step_by(LINE) {
            fill(first + at, staged.wrapping_add(at));
        }
        for row in 0..rows.count {
            // SAFETY: the row has `SPAN` bytes from `first` on, and the staged bytes have just been
            // filled.
            unsafe {
                let to = rows.start.add(row * rows.stride + first);
                write::<V, SPAN>(prefetch_next, staged.add(row * SPAN), to);
            }
        }
        done = first + step;
        step = SPAN;
    }
}

/// Copies `count` bytes, a multiple of `BYTES`.
///
/// # Safety
/// The contract of [`Vector`]; `from` is valid for reads and `to` for writes of `count` bytes.
#[inline(always)]
pub(super) unsafe fn copy<V: Vector>(from: *const u8, to: *mut u8, count: usize) {
    for at in (0..count).step_by(V::BYTES) {
        // SAFETY: the caller's contract.
        unsafe { V::load(from.add(at)).store(to.add(at)) }
    }
}
