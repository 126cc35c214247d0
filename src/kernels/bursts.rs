//! Writing what lies scattered in bursts.
//!
//! A shuffle writes a line to each of many rows in turns. Where the rows lie a power of two apart, their lines share a
//! set of the first-level cache, and are gone again before the next bytes of the row come. CPUs of AMD are slow at that:
//! Zen 5 takes 2 ns to write a line that is not in that cache, and 0.6 ns for each of eight neighbours. So there it pays to
//! gather some lines of each row first. On Intel's the copy costs more than it saves.

use super::cpu::is_of_amd;
use super::unroll::unroll;
use super::vector::{LINE, Nearness, Vector, WAYS, crowded, fetch};
use std::mem::MaybeUninit;

/// Bytes of a row that are written at once.
pub(super) const BURST: usize = 8 * LINE;

/// As many where there is no room for more, or where rows are read.
pub(super) const HALF_BURST: usize = BURST / 2;

/// Room on the stack for a burst of each of `ROWS` rows.
#[repr(align(64))]
pub(super) struct Gathered<const ROWS: usize>([[MaybeUninit<u8>; BURST]; ROWS]);

impl<const ROWS: usize> Gathered<ROWS> {
    /// With nothing in it.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Gathered([[MaybeUninit::uninit(); BURST]; ROWS])
    }

    /// Where the first row's burst begins; the others' follow.
    #[inline(always)]
    pub(super) fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// The number of rows of which more than [`WAYS`] share a set when every second one does.
pub(super) const EVERY_SECOND: usize = 3 * WAYS;

/// True when what is written to `count` rows that lie `stride` bytes apart is written sooner in bursts. They are no
/// longer than the rows. Where lines stay in the cache, [fetching them](super::vector::worth_fetching) is quicker still,
/// and a few long rows, beyond the caches, the CPU sees coming by itself.
#[inline]
pub(super) fn pay(stride: usize, count: usize) -> bool {
    /// Rows that lie nearer are neighbours enough.
    const APART: usize = 1024;
    const FEW: usize = 16;
    const LONG: usize = 256 << 10;
    const { assert!(BURST <= APART) }
    stride >= APART && is_of_amd() && (count > FEW || stride < LONG) && crowded(stride, count, WAYS)
}

/// Copies a burst of `SPAN` bytes, and asks for the one behind it if that is so far that it has to be fetched `ahead`.
///
/// # Safety
/// The contract of [`Vector`].
#[inline(always)]
pub(super) unsafe fn write<V: Vector, const SPAN: usize>(
    ahead: bool,
    from: *const u8,
    to: *mut u8,
) {
    if ahead {
        unroll!(8: i < SPAN / LINE, { fetch(Nearness::Second, to.wrapping_add(SPAN + i * LINE)) });
    }
    // SAFETY: the caller's contract.
    unsafe { copy::<V>(from, to, SPAN) }
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
