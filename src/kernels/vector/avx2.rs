//! AVX2: two lanes.

use super::{LANE, Vector, low_bits};
use std::arch::x86_64::*;

/// Whether this CPU has the level.
pub(in crate::kernels) fn is_available() -> bool {
    is_x86_feature_detected!("avx2")
}

/// A 256-bit register.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Avx2(__m256i);

// SAFETY (of every block here): by the contract of the trait the CPU has the features, and pointers
// are valid for the bytes that the unaligned loads and stores access.
impl Vector for Avx2 {
    const LANES: usize = 2;
    const HAS_SHUFFLE_BYTES: bool = true;

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm256_set1_epi8(byte as i8)) }
    }

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm256_loadu_si256(src.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, dest: *mut u8) {
        // SAFETY: see the impl.
        unsafe { _mm256_storeu_si256(dest.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_lanes(src: *const u8, stride: usize) -> Self {
        // SAFETY: see the impl.
        unsafe {
            let low = _mm_loadu_si128(src.cast());
            let high = _mm_loadu_si128(src.add(stride).cast());
            Self(_mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high))
        }
    }

    #[inline(always)]
    unsafe fn store_lane<const L: usize>(self, dest: *mut u8) {
        // SAFETY: see the impl.
        unsafe {
            let lane = match L {
                0 => _mm256_castsi256_si128(self.0),
                _ => _mm256_extracti128_si256::<1>(self.0),
            };
            _mm_storeu_si128(dest.cast(), lane);
        }
    }

    #[inline(always)]
    unsafe fn interleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.0, other.0);
        // SAFETY: see the impl.
        unsafe {
            match UNIT {
                1 => (Self(_mm256_unpacklo_epi8(a, b)), Self(_mm256_unpackhi_epi8(a, b))),
                2 => (Self(_mm256_unpacklo_epi16(a, b)), Self(_mm256_unpackhi_epi16(a, b))),
                4 => (Self(_mm256_unpacklo_epi32(a, b)), Self(_mm256_unpackhi_epi32(a, b))),
                _ => (Self(_mm256_unpacklo_epi64(a, b)), Self(_mm256_unpackhi_epi64(a, b))),
            }
        }
    }

    #[inline(always)]
    unsafe fn shuffle_bytes(self, table: &[u8; LANE]) -> Self {
        // SAFETY: see the impl; the table has 16 bytes.
        unsafe {
            let table = _mm_loadu_si128(table.as_ptr().cast());
            Self(_mm256_shuffle_epi8(self.0, _mm256_broadcastsi128_si256(table)))
        }
    }

    #[inline(always)]
    unsafe fn shift_left_bytes<const N: usize>(self) -> Self {
        // SAFETY: see the impl.
        unsafe {
            Self(match N {
                1 => _mm256_slli_si256::<1>(self.0),
                2 => _mm256_slli_si256::<2>(self.0),
                4 => _mm256_slli_si256::<4>(self.0),
                _ => _mm256_slli_si256::<8>(self.0),
            })
        }
    }

    #[inline(always)]
    unsafe fn broadcast_last<const W: usize>(self) -> Self {
        // SAFETY: see the impl.
        unsafe {
            match W {
                1 => self.shuffle_bytes(&[15; LANE]),
                2 => self.shuffle_bytes(&[
                    14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15,
                ]),
                4 => Self(_mm256_shuffle_epi32::<0b11_11_11_11>(self.0)),
                _ => Self(_mm256_shuffle_epi32::<0b11_10_11_10>(self.0)),
            }
        }
    }

    #[inline(always)]
    unsafe fn shift_left_lanes<const N: usize>(self) -> Self {
        // SAFETY: see the impl.
        unsafe {
            Self(match N {
                1 => _mm256_permute2x128_si256::<0x08>(self.0, self.0),
                _ => _mm256_setzero_si256(),
            })
        }
    }

    #[inline(always)]
    unsafe fn broadcast_last_lane(self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm256_permute2x128_si256::<0x11>(self.0, self.0)) }
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm256_and_si256(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm256_xor_si256(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm256_or_si256(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm256_add_epi8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm256_sub_epi8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn is_zero(self) -> bool {
        // SAFETY: see the impl.
        unsafe { _mm256_testz_si256(self.0, self.0) == 1 }
    }

    #[inline(always)]
    unsafe fn swap_bits<const S: i32>(self, other: Self) -> (Self, Self) {
        // 16-bit shifts: bits that cross into the adjacent byte are masked away.
        // SAFETY: see the impl.
        unsafe {
            let mask = _mm256_set1_epi8(low_bits(S) as i8);
            let down = _mm256_srli_epi16::<S>(self.0);
            let differ = _mm256_and_si256(_mm256_xor_si256(down, other.0), mask);
            let up = _mm256_slli_epi16::<S>(differ);
            (Self(_mm256_xor_si256(self.0, up)), Self(_mm256_xor_si256(other.0, differ)))
        }
    }
}
