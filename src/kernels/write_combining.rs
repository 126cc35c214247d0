//! Writing what lies scattered in bursts.
//!
//! A shuffle writes a line to each of many rows in turns. Where the rows lie a power of two apart, their lines share a
//! set of the first-level cache, and are gone again before the next bytes of the row come. CPUs of AMD are slow at that:
//! Zen 5 takes 2 ns to write a line that is not in that cache, and 0.6 ns for each of eight neighbours. So there it pays to
//! gather some lines of each row first. On Intel's the copy costs more than it saves.

use super::cache::{CacheLevel, L1_WAYS, exceeds_l2, exceeds_l3, has_set_conflicts, prefetch};
use super::cpu::is_amd;
use super::shuffle::transpose::second_tile;
use super::unroll::unroll;
use super::vector::{LINE, Vector};
use std::mem::MaybeUninit;

/// Bytes of a row that are written at once.
pub(super) const BURST: usize = 8 * LINE;

/// As many where there is no room for more, or where rows are read.
pub(super) const HALF_BURST: usize = BURST / 2;

/// As many where there is still less room.
#[cfg(target_arch = "x86_64")]
pub(super) const QUARTER_BURST: usize = BURST / 4;

/// Room on the stack for a burst of each of `ROWS` rows.
#[repr(align(64))]
pub(super) struct StagedRows<const ROWS: usize>([[MaybeUninit<u8>; BURST]; ROWS]);

impl<const ROWS: usize> StagedRows<ROWS> {
    /// With nothing in it.
    #[inline(always)]
    pub(super) fn new() -> Self {
        StagedRows([[MaybeUninit::uninit(); BURST]; ROWS])
    }

    /// Where the first row's burst begins; the others' follow.
    #[inline(always)]
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// The number of rows of which more than [`L1_WAYS`] share a set when every second one does.
pub(super) const EVERY_OTHER_ROW: usize = 3 * L1_WAYS;

/// True when what is written to `count` rows that lie `stride` bytes apart is written sooner in bursts. They are no
/// longer than the rows. Where lines stay in the cache, [fetching them](super::cache::prefetch_pays) is quicker still,
/// and where they come from memory, asking for each while others are worked on.
#[inline]
pub(super) fn pays(stride: usize, count: usize) -> bool {
    /// Rows that lie nearer are neighbours enough.
    const MIN_STRIDE: usize = 1024;
    const { assert!(BURST <= MIN_STRIDE) }
    stride >= MIN_STRIDE
        && is_amd()
        && !exceeds_l3(stride * count)
        && has_set_conflicts(stride, count, L1_WAYS)
}

/// Copies a burst of `SPAN` bytes, and asks for the one behind it if that is so far that it has to be fetched `prefetch_next`.
///
/// # Safety
/// The contract of [`Vector`].
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

/// Rows, or parts of them, that lie at equal distances.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Rows {
    /// Where the first one begins.
    pub(super) start: *mut u8,
    /// How many there are.
    pub(super) count: usize,
    /// Bytes of each.
    pub(super) length: usize,
    /// Bytes from where one begins to where the next does.
    pub(super) stride: usize,
}

#[cfg(target_arch = "x86_64")]
impl Rows {
    /// Rows that follow each other.
    #[inline(always)]
    pub(super) fn contiguous(start: *mut u8, count: usize, length: usize) -> Rows {
        Rows {
            start,
            count,
            length,
            stride: length,
        }
    }
}

/// Fills rows in bursts of `SPAN` bytes. `fill` fills a line of each, the bytes from a number on, where they lie `SPAN`
/// bytes apart. There is room for `CAPACITY` rows with a [`BURST`] of each.
///
/// # Safety
/// The contract of [`Vector`]; the rows can be written, have `SPAN` bytes at least, and there is room for so many of each;
/// `fill` fills the lines that it is asked for.
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
            // SAFETY: the row has so many bytes from the first on, and they have just been filled in.
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
/// The contract of [`Vector`].
#[inline(always)]
pub(super) unsafe fn copy<V: Vector>(from: *const u8, to: *mut u8, count: usize) {
    for at in (0..count).step_by(V::BYTES) {
        // SAFETY: the caller's contract.
        unsafe { V::load(from.add(at)).store(to.add(at)) }
    }
}
