//! SSE2: one lane. It has no byte shuffle, so hot loops avoid [`Vector::shuffle_bytes`].

use super::{Vector, low_bits};
use std::arch::x86_64::*;

/// Whether this CPU has the level.
pub(in crate::kernels) fn is_available() -> bool {
    true
}

/// A 128-bit register.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Sse2(__m128i);

// SAFETY (of every block here): by the contract of the trait the CPU has the features, and pointers
// are valid for the bytes that the unaligned loads and stores access.
impl Vector for Sse2 {
    const LANES: usize = 1;
    const HAS_SHUFFLE_BYTES: bool = false;

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm_set1_epi8(byte as i8)) }
    }

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm_loadu_si128(src.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, dest: *mut u8) {
        // SAFETY: see the impl.
        unsafe { _mm_storeu_si128(dest.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_lanes(src: *const u8, _stride: usize) -> Self {
        // SAFETY: see the impl.
        unsafe { Self::load(src) }
    }

    #[inline(always)]
    unsafe fn store_lane<const L: usize>(self, dest: *mut u8) {
        // SAFETY: see the impl.
        unsafe { self.store(dest) }
    }

    #[inline(always)]
    unsafe fn interleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.0, other.0);
        // SAFETY: see the impl.
        unsafe {
            match UNIT {
                1 => (Self(_mm_unpacklo_epi8(a, b)), Self(_mm_unpackhi_epi8(a, b))),
                2 => (Self(_mm_unpacklo_epi16(a, b)), Self(_mm_unpackhi_epi16(a, b))),
                4 => (Self(_mm_unpacklo_epi32(a, b)), Self(_mm_unpackhi_epi32(a, b))),
                _ => (Self(_mm_unpacklo_epi64(a, b)), Self(_mm_unpackhi_epi64(a, b))),
            }
        }
    }

    #[inline(always)]
    unsafe fn shift_left_bytes<const N: usize>(self) -> Self {
        // SAFETY: see the impl.
        unsafe {
            Self(match N {
                1 => _mm_slli_si128::<1>(self.0),
                2 => _mm_slli_si128::<2>(self.0),
                4 => _mm_slli_si128::<4>(self.0),
                _ => _mm_slli_si128::<8>(self.0),
            })
        }
    }

    #[inline(always)]
    unsafe fn broadcast_last<const W: usize>(self) -> Self {
        // SAFETY: see the impl.
        unsafe {
            // Repeats the last word in the top bytes; each step doubles the number of copies.
            let mut top = self.0;
            if W == 1 {
                top = _mm_unpackhi_epi8(top, top);
            }
            if W <= 2 {
                top = _mm_shufflehi_epi16::<0b11_11_11_11>(top);
            }
            Self(match W {
                8 => _mm_shuffle_epi32::<0b11_10_11_10>(top),
                _ => _mm_shuffle_epi32::<0b11_11_11_11>(top),
            })
        }
    }

    #[inline(always)]
    unsafe fn shift_left_lanes<const N: usize>(self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm_setzero_si128()) }
    }

    #[inline(always)]
    unsafe fn broadcast_last_lane(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm_and_si128(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm_xor_si128(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm_or_si128(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm_add_epi8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm_sub_epi8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn is_zero(self) -> bool {
        // SAFETY: see the impl.
        unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self.0, _mm_setzero_si128())) == 0xffff }
    }

    #[inline(always)]
    unsafe fn swap_bits<const S: i32>(self, other: Self) -> (Self, Self) {
        // 16-bit shifts: bits that cross into the adjacent byte are masked away.
        // SAFETY: see the impl.
        unsafe {
            let mask = _mm_set1_epi8(low_bits(S) as i8);
            let down = _mm_srli_epi16::<S>(self.0);
            let differ = _mm_and_si128(_mm_xor_si128(down, other.0), mask);
            let up = _mm_slli_epi16::<S>(differ);
            (Self(_mm_xor_si128(self.0, up)), Self(_mm_xor_si128(other.0, differ)))
        }
    }
}
