//! AVX-512 (F and BW): four lanes.

use super::{LANE, LINE, Vector, low_bits};
use crate::kernels::unroll::unroll;
use std::arch::x86_64::*;

/// Whether this CPU has the level.
pub(in crate::kernels) fn is_available() -> bool {
    super::avx2::is_available()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("gfni")
}

/// A 512-bit register.
///
/// With `HALVES` two lanes are loaded into each half and the halves combined. This costs one more
/// shuffle than loading lane by lane, but Zen 4 executes two loads to half a register per cycle,
/// and one to a whole register.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Avx512<const HALVES: bool = false>(pub(in crate::kernels) __m512i);

impl<const HALVES: bool> Avx512<HALVES> {
    /// Loads one lane from each of four addresses.
    ///
    /// # Safety
    /// The CPU has the features; 16 bytes can be read at each address.
    #[inline(always)]
    pub(in crate::kernels) unsafe fn from_lanes(sources: [*const u8; 4]) -> Self {
        // SAFETY: the caller's contract.
        unsafe {
            let lane = |i: usize| _mm_loadu_si128(sources[i].cast());
            if HALVES {
                let half = |a, b| _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
                let v = _mm512_castsi256_si512(half(lane(0), lane(1)));
                return Self(_mm512_inserti64x4::<1>(v, half(lane(2), lane(3))));
            }
            let v = _mm512_castsi128_si512(lane(0));
            let v = _mm512_inserti32x4::<1>(v, lane(1));
            let v = _mm512_inserti32x4::<2>(v, lane(2));
            Self(_mm512_inserti32x4::<3>(v, lane(3)))
        }
    }

    /// Transposes 4 x 4 lanes.
    ///
    /// # Safety
    /// The CPU has the features.
    #[inline(always)]
    pub(in crate::kernels) unsafe fn transpose_lanes(r: [Self; 4]) -> [Self; 4] {
        // SAFETY: the caller's contract.
        unsafe {
            let low_a = _mm512_shuffle_i64x2::<0b01_00_01_00>(r[0].0, r[1].0);
            let low_b = _mm512_shuffle_i64x2::<0b01_00_01_00>(r[2].0, r[3].0);
            let high_a = _mm512_shuffle_i64x2::<0b11_10_11_10>(r[0].0, r[1].0);
            let high_b = _mm512_shuffle_i64x2::<0b11_10_11_10>(r[2].0, r[3].0);
            [
                Self(_mm512_shuffle_i64x2::<0b10_00_10_00>(low_a, low_b)),
                Self(_mm512_shuffle_i64x2::<0b11_01_11_01>(low_a, low_b)),
                Self(_mm512_shuffle_i64x2::<0b10_00_10_00>(high_a, high_b)),
                Self(_mm512_shuffle_i64x2::<0b11_01_11_01>(high_a, high_b)),
            ]
        }
    }
}

impl Avx512 {
    /// Selects bytes from two registers; entries of `table` from [`LINE`] on select bytes of
    /// `other`.
    ///
    /// # Safety
    /// The CPU has the features and VBMI.
    #[inline(always)]
    pub(in crate::kernels) unsafe fn select_bytes(self, other: Self, table: &[u8; LINE]) -> Self {
        // SAFETY: the caller's contract; the table has 64 bytes.
        unsafe {
            let table = _mm512_loadu_si512(table.as_ptr().cast());
            Self(_mm512_permutex2var_epi8(self.0, table, other.0))
        }
    }
}

// SAFETY (of every block here): by the contract of the trait the CPU has the features, and pointers
// are valid for the bytes that the unaligned loads and stores access.
impl<const HALVES: bool> Vector for Avx512<HALVES> {
    const LANES: usize = 4;
    const HAS_SHUFFLE_BYTES: bool = true;

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm512_set1_epi8(byte as i8)) }
    }

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm512_loadu_si512(src.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, dest: *mut u8) {
        // SAFETY: see the impl.
        unsafe { _mm512_storeu_si512(dest.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_lanes(src: *const u8, stride: usize) -> Self {
        // SAFETY: see the impl.
        unsafe {
            Self::from_lanes([src, src.add(stride), src.add(2 * stride), src.add(3 * stride)])
        }
    }

    #[inline(always)]
    unsafe fn store_lane<const L: usize>(self, dest: *mut u8) {
        // SAFETY: see the impl.
        unsafe {
            let lane = match L {
                0 => _mm512_castsi512_si128(self.0),
                1 => _mm512_extracti32x4_epi32::<1>(self.0),
                2 => _mm512_extracti32x4_epi32::<2>(self.0),
                _ => _mm512_extracti32x4_epi32::<3>(self.0),
            };
            _mm_storeu_si128(dest.cast(), lane);
        }
    }

    #[inline(always)]
    unsafe fn store_lanes(r: [Self; 4], dest: *mut u8, stride: usize) {
        // SAFETY: see the impl.
        unsafe {
            let lanes = Self::transpose_lanes(r);
            unroll!(4: l, { lanes[l].store(dest.add(l * stride)) });
        }
    }

    #[inline(always)]
    unsafe fn interleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.0, other.0);
        // SAFETY: see the impl.
        unsafe {
            match UNIT {
                1 => (Self(_mm512_unpacklo_epi8(a, b)), Self(_mm512_unpackhi_epi8(a, b))),
                2 => (Self(_mm512_unpacklo_epi16(a, b)), Self(_mm512_unpackhi_epi16(a, b))),
                4 => (Self(_mm512_unpacklo_epi32(a, b)), Self(_mm512_unpackhi_epi32(a, b))),
                _ => (Self(_mm512_unpacklo_epi64(a, b)), Self(_mm512_unpackhi_epi64(a, b))),
            }
        }
    }

    #[inline(always)]
    unsafe fn shuffle_bytes(self, table: &[u8; LANE]) -> Self {
        // SAFETY: see the impl; the table has 16 bytes.
        unsafe {
            let table = _mm_loadu_si128(table.as_ptr().cast());
            Self(_mm512_shuffle_epi8(self.0, _mm512_broadcast_i32x4(table)))
        }
    }

    #[inline(always)]
    unsafe fn shift_left_bytes<const N: usize>(self) -> Self {
        // SAFETY: see the impl.
        unsafe {
            Self(match N {
                1 => _mm512_bslli_epi128::<1>(self.0),
                2 => _mm512_bslli_epi128::<2>(self.0),
                4 => _mm512_bslli_epi128::<4>(self.0),
                _ => _mm512_bslli_epi128::<8>(self.0),
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
                4 => Self(_mm512_shuffle_epi32::<0b11_11_11_11>(self.0)),
                _ => Self(_mm512_shuffle_epi32::<0b11_10_11_10>(self.0)),
            }
        }
    }

    #[inline(always)]
    unsafe fn shift_left_lanes<const N: usize>(self) -> Self {
        // SAFETY: see the impl.
        unsafe {
            let zero = _mm512_setzero_si512();
            Self(match N {
                1 => _mm512_alignr_epi64::<6>(self.0, zero),
                _ => _mm512_alignr_epi64::<4>(self.0, zero),
            })
        }
    }

    #[inline(always)]
    unsafe fn broadcast_last_lane(self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm512_shuffle_i64x2::<0b11_11_11_11>(self.0, self.0)) }
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm512_and_si512(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm512_xor_si512(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm512_or_si512(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm512_add_epi8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(_mm512_sub_epi8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn is_zero(self) -> bool {
        // SAFETY: see the impl.
        unsafe { _mm512_test_epi8_mask(self.0, self.0) == 0 }
    }

    #[inline(always)]
    unsafe fn swap_bits<const S: i32>(self, other: Self) -> (Self, Self) {
        /// Truth table of bitwise `a ? b : c`.
        const SELECT: i32 = 0xca;
        // 16-bit shifts: bits that cross into the adjacent byte are not selected.
        // SAFETY: see the impl.
        unsafe {
            let low = _mm512_set1_epi8(low_bits(S) as i8);
            let high = _mm512_set1_epi8(!low_bits(S) as i8);
            let (down, up) = match S {
                1 => (_mm512_srli_epi16::<1>(self.0), _mm512_slli_epi16::<1>(other.0)),
                2 => (_mm512_srli_epi16::<2>(self.0), _mm512_slli_epi16::<2>(other.0)),
                _ => (_mm512_srli_epi16::<4>(self.0), _mm512_slli_epi16::<4>(other.0)),
            };
            let a = _mm512_ternarylogic_epi64::<SELECT>(high, up, self.0);
            let b = _mm512_ternarylogic_epi64::<SELECT>(low, down, other.0);
            (Self(a), Self(b))
        }
    }
}
