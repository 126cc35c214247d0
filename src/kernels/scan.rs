//! Running XOR and running sum, the shared decoder of delta and bytedelta.
//!
//! `out[i] = in[i] ∘ out[i - w]` combines single bytes that are one *word* of `w` bytes apart. The
//! recurrence looks serial, but within a vector log₂ steps suffice: combine the vector with itself
//! shifted by one word, by two, by four … Between vectors only the last word is carried. The total
//! of a vector does not depend on the carry, so the serial chain is one instruction per vector.

use super::vector::{LANE, LINE, Vector};

/// The operation of a scan.
pub(super) trait Combine {
    /// Combines vectors of words of any width.
    ///
    /// # Safety
    /// The contract of [`Vector`].
    unsafe fn vectors<V: Vector>(a: V, b: V) -> V;

    /// Combines two bytes.
    fn bytes(a: u8, b: u8) -> u8;
}

/// XOR.
pub(super) struct Xor;

/// Byte-wise sum modulo 256.
pub(super) struct Sum;

impl Combine for Xor {
    #[inline(always)]
    unsafe fn vectors<V: Vector>(a: V, b: V) -> V {
        // SAFETY: the caller's contract.
        unsafe { a.xor(b) }
    }

    #[inline(always)]
    fn bytes(a: u8, b: u8) -> u8 {
        a ^ b
    }
}

impl Combine for Sum {
    #[inline(always)]
    unsafe fn vectors<V: Vector>(a: V, b: V) -> V {
        // SAFETY: the caller's contract.
        unsafe { a.add(b) }
    }

    #[inline(always)]
    fn bytes(a: u8, b: u8) -> u8 {
        a.wrapping_add(b)
    }
}

/// Returns the first `W` bytes of `bytes`.
#[inline(always)]
pub(super) fn word<const W: usize>(bytes: &[u8]) -> [u8; W] {
    std::array::from_fn(|i| bytes[i])
}

/// Computes `dest[i] = src[i] ∘ dest[i - W]` for all `i < len`. `before` holds the `W` bytes that
/// precede `dest`; `W` is a power of two, at most 16.
///
/// # Safety
/// The contract of [`Vector`]; `src` is valid for reads and `dest` for writes of `len` bytes, and
/// they are equal or do not overlap.
#[inline(always)]
pub(super) unsafe fn scan<V: Vector, C: Combine, const W: usize>(
    before: &[u8; W],
    src: *const u8,
    dest: *mut u8,
    len: usize,
) {
    let words: [u8; LINE] = std::array::from_fn(|i| before[i % W]);
    // SAFETY: all accesses are at `i + BYTES <= len` in the vector loop and at `i < len` in the
    // scalar loop; no vector is longer than a line.
    unsafe {
        let mut carry = V::load(words.as_ptr());
        let mut i = 0;
        while i + V::BYTES <= len {
            let (inside, total) = scan_vector::<V, C, W>(V::load(src.add(i)));
            C::vectors(inside, carry).store(dest.add(i));
            carry = C::vectors(carry, total);
            i += V::BYTES;
        }
        while i < len {
            let last = if i < W { before[i] } else { *dest.add(i - W) };
            *dest.add(i) = C::bytes(*src.add(i), last);
            i += 1;
        }
    }
}

/// Returns the scan of one vector, and a vector that repeats its last word.
///
/// # Safety
/// The contract of [`Vector`].
#[inline(always)]
unsafe fn scan_vector<V: Vector, C: Combine, const W: usize>(v: V) -> (V, V) {
    // SAFETY: the caller's contract.
    unsafe {
        let mut inside = v;
        if W <= 1 {
            inside = C::vectors(inside, inside.shift_left_bytes::<1>());
        }
        if W <= 2 {
            inside = C::vectors(inside, inside.shift_left_bytes::<2>());
        }
        if W <= 4 {
            inside = C::vectors(inside, inside.shift_left_bytes::<4>());
        }
        if W < LANE {
            inside = C::vectors(inside, inside.shift_left_bytes::<8>());
        }
        let mut totals = inside;
        if W < LANE {
            totals = totals.broadcast_last::<W>();
        }
        if V::LANES > 1 {
            totals = C::vectors(totals, totals.shift_left_lanes::<1>());
        }
        if V::LANES > 2 {
            totals = C::vectors(totals, totals.shift_left_lanes::<2>());
        }
        if V::LANES > 1 {
            inside = C::vectors(inside, totals.shift_left_lanes::<1>());
        }
        (inside, totals.broadcast_last_lane())
    }
}
