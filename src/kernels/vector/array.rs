//! Two lanes as arrays of bytes, for the unit tests: shows that an implementation of [`Vector`] and
//! a row in the table of levels are sufficient for a level, whatever the instruction set is.

use super::{LANE, Vector, low_bits};

const LANES: usize = 2;

/// Returns true: arrays need no instructions.
pub(in crate::kernels) fn is_available() -> bool {
    true
}

#[derive(Clone, Copy)]
pub(in crate::kernels) struct Array([[u8; LANE]; LANES]);

impl Array {
    /// Returns the vector of `byte(lane, index)`.
    fn of(mut byte: impl FnMut(usize, usize) -> u8) -> Array {
        Array(std::array::from_fn(|lane| std::array::from_fn(|i| byte(lane, i))))
    }

    /// Combines the bytes of two vectors.
    fn combine(self, other: Array, combine: impl Fn(u8, u8) -> u8) -> Array {
        Array::of(|lane, i| combine(self.0[lane][i], other.0[lane][i]))
    }
}

// SAFETY (of every block here): by the contract of the trait pointers are valid for the bytes that
// are read or written, which need no alignment.
impl Vector for Array {
    const LANES: usize = LANES;
    const HAS_SHUFFLE_BYTES: bool = true;
    const HAS_DEINTERLEAVE: bool = true;

    unsafe fn splat(byte: u8) -> Self {
        Array::of(|_, _| byte)
    }

    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: see the impl.
        Array(unsafe { src.cast::<[[u8; LANE]; LANES]>().read() })
    }

    unsafe fn store(self, dest: *mut u8) {
        // SAFETY: see the impl.
        unsafe { dest.cast::<[[u8; LANE]; LANES]>().write(self.0) }
    }

    unsafe fn load_lanes(src: *const u8, stride: usize) -> Self {
        // SAFETY: see the impl.
        Array(std::array::from_fn(|lane| unsafe {
            src.add(lane * stride).cast::<[u8; LANE]>().read()
        }))
    }

    unsafe fn store_lane<const L: usize>(self, dest: *mut u8) {
        // SAFETY: see the impl.
        unsafe { dest.cast::<[u8; LANE]>().write(self.0[L]) }
    }

    unsafe fn interleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let half = |first: usize| {
            Array::of(|lane, i| {
                let (pair, within) = (i / (2 * UNIT), i % UNIT);
                let from = if (i / UNIT).is_multiple_of(2) { &self } else { &other };
                from.0[lane][first + pair * UNIT + within]
            })
        };
        (half(0), half(LANE / 2))
    }

    unsafe fn shift_left_bytes<const N: usize>(self) -> Self {
        Array::of(|lane, i| i.checked_sub(N).map_or(0, |i| self.0[lane][i]))
    }

    unsafe fn broadcast_last<const W: usize>(self) -> Self {
        Array::of(|lane, i| self.0[lane][LANE - W + i % W])
    }

    unsafe fn shift_left_lanes<const N: usize>(self) -> Self {
        Array::of(|lane, i| lane.checked_sub(N).map_or(0, |lane| self.0[lane][i]))
    }

    unsafe fn broadcast_last_lane(self) -> Self {
        Array([self.0[LANES - 1]; LANES])
    }

    unsafe fn and(self, other: Self) -> Self {
        self.combine(other, |a, b| a & b)
    }

    unsafe fn xor(self, other: Self) -> Self {
        self.combine(other, |a, b| a ^ b)
    }

    unsafe fn or(self, other: Self) -> Self {
        self.combine(other, |a, b| a | b)
    }

    unsafe fn add(self, other: Self) -> Self {
        self.combine(other, u8::wrapping_add)
    }

    unsafe fn sub(self, other: Self) -> Self {
        self.combine(other, u8::wrapping_sub)
    }

    unsafe fn is_zero(self) -> bool {
        self.0 == [[0; LANE]; LANES]
    }

    unsafe fn swap_bits<const S: i32>(self, other: Self) -> (Self, Self) {
        let differ = self.combine(other, |a, b| (a >> S ^ b) & low_bits(S));
        (
            self.combine(differ, |a, differ| a ^ differ << S),
            other.combine(differ, |b, differ| b ^ differ),
        )
    }
}

#[path = "../../../tests/checks/kernels.rs"]
mod checks;

#[test]
fn arrays_pass_the_checks_of_every_level() {
    for (_, check) in checks::CHECKS {
        check(crate::kernels::Level::Array);
    }
}
