//! NEON: one lane.

use super::{LANE, Vector, low_bits};
use std::arch::aarch64::*;

/// Whether this CPU has the level.
pub(in crate::kernels) fn is_available() -> bool {
    std::arch::is_aarch64_feature_detected!("neon")
}

/// A 128-bit register.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Neon(uint8x16_t);

// SAFETY (of every block here): by the contract of the trait the CPU has the features, and pointers
// are valid for the bytes that the loads and stores access, which need no alignment.
impl Vector for Neon {
    const LANES: usize = 1;
    const HAS_SHUFFLE_BYTES: bool = true;
    const HAS_DEINTERLEAVE: bool = true;

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(vdupq_n_u8(byte)) }
    }

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(vld1q_u8(src)) }
    }

    #[inline(always)]
    unsafe fn store(self, dest: *mut u8) {
        // SAFETY: see the impl.
        unsafe { vst1q_u8(dest, self.0) }
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
                1 => (Self(vzip1q_u8(a, b)), Self(vzip2q_u8(a, b))),
                2 => {
                    let (a, b) = (vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b));
                    let (low, high) = (vzip1q_u16(a, b), vzip2q_u16(a, b));
                    (Self(vreinterpretq_u8_u16(low)), Self(vreinterpretq_u8_u16(high)))
                }
                4 => {
                    let (a, b) = (vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b));
                    let (low, high) = (vzip1q_u32(a, b), vzip2q_u32(a, b));
                    (Self(vreinterpretq_u8_u32(low)), Self(vreinterpretq_u8_u32(high)))
                }
                _ => {
                    let (a, b) = (vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b));
                    let (low, high) = (vzip1q_u64(a, b), vzip2q_u64(a, b));
                    (Self(vreinterpretq_u8_u64(low)), Self(vreinterpretq_u8_u64(high)))
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn deinterleave(self, other: Self) -> (Self, Self) {
        // SAFETY: see the impl.
        unsafe { (Self(vuzp1q_u8(self.0, other.0)), Self(vuzp2q_u8(self.0, other.0))) }
    }

    #[inline(always)]
    unsafe fn shuffle_bytes(self, table: &[u8; LANE]) -> Self {
        // SAFETY: see the impl; the table has 16 bytes.
        unsafe { Self(vqtbl1q_u8(self.0, vld1q_u8(table.as_ptr()))) }
    }

    #[inline(always)]
    unsafe fn shift_left_bytes<const N: usize>(self) -> Self {
        // SAFETY: see the impl.
        unsafe {
            let zero = vdupq_n_u8(0);
            Self(match N {
                1 => vextq_u8::<15>(zero, self.0),
                2 => vextq_u8::<14>(zero, self.0),
                4 => vextq_u8::<12>(zero, self.0),
                _ => vextq_u8::<8>(zero, self.0),
            })
        }
    }

    #[inline(always)]
    unsafe fn broadcast_last<const W: usize>(self) -> Self {
        // SAFETY: see the impl.
        unsafe {
            Self(match W {
                1 => vdupq_laneq_u8::<15>(self.0),
                2 => vreinterpretq_u8_u16(vdupq_laneq_u16::<7>(vreinterpretq_u16_u8(self.0))),
                4 => vreinterpretq_u8_u32(vdupq_laneq_u32::<3>(vreinterpretq_u32_u8(self.0))),
                _ => vreinterpretq_u8_u64(vdupq_laneq_u64::<1>(vreinterpretq_u64_u8(self.0))),
            })
        }
    }

    #[inline(always)]
    unsafe fn shift_left_lanes<const N: usize>(self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self::splat(0) }
    }

    #[inline(always)]
    unsafe fn broadcast_last_lane(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(vandq_u8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(veorq_u8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(vorrq_u8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(vaddq_u8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(vsubq_u8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn is_zero(self) -> bool {
        // SAFETY: see the impl.
        unsafe { vmaxvq_u8(self.0) == 0 }
    }

    #[inline(always)]
    unsafe fn swap_bits<const S: i32>(self, other: Self) -> (Self, Self) {
        // SAFETY: see the impl.
        unsafe {
            let (down, up) = match S {
                1 => (vshrq_n_u8::<1>(self.0), vshlq_n_u8::<1>(other.0)),
                2 => (vshrq_n_u8::<2>(self.0), vshlq_n_u8::<2>(other.0)),
                _ => (vshrq_n_u8::<4>(self.0), vshlq_n_u8::<4>(other.0)),
            };
            let low = vdupq_n_u8(low_bits(S));
            (Self(vbslq_u8(low, self.0, up)), Self(vbslq_u8(low, down, other.0)))
        }
    }
}
