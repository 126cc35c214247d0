//! SIMD128 of WebAssembly: one lane.

use super::{LANE, Vector, low_bits};
use std::arch::wasm32::*;

/// Whether this engine has the level: without it, it does not load the module.
pub(in crate::kernels) fn is_available() -> bool {
    true
}

/// A 128-bit value.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Simd128(v128);

// SAFETY (of every block here): by the contract of the trait pointers are valid for the bytes that
// the loads and stores access, which need no alignment.
impl Vector for Simd128 {
    const LANES: usize = 1;
    const HAS_SHUFFLE_BYTES: bool = true;

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        Self(u8x16_splat(byte))
    }

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: see the impl.
        unsafe { Self(v128_load(src.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, dest: *mut u8) {
        // SAFETY: see the impl.
        unsafe { v128_store(dest.cast(), self.0) }
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
        match UNIT {
            1 => (
                Self(i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b)),
                Self(
                    i8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(
                        a, b,
                    ),
                ),
            ),
            2 => (
                Self(i16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(a, b)),
                Self(i16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(a, b)),
            ),
            4 => (Self(i32x4_shuffle::<0, 4, 1, 5>(a, b)), Self(i32x4_shuffle::<2, 6, 3, 7>(a, b))),
            _ => (Self(i64x2_shuffle::<0, 2>(a, b)), Self(i64x2_shuffle::<1, 3>(a, b))),
        }
    }

    #[inline(always)]
    unsafe fn shuffle_bytes(self, table: &[u8; LANE]) -> Self {
        // SAFETY: the table has 16 bytes.
        Self(u8x16_swizzle(self.0, unsafe { v128_load(table.as_ptr().cast()) }))
    }

    #[inline(always)]
    unsafe fn shift_left_bytes<const N: usize>(self) -> Self {
        let zero = u8x16_splat(0);
        Self(match N {
            1 => i8x16_shuffle::<0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30>(
                zero, self.0,
            ),
            2 => i16x8_shuffle::<0, 8, 9, 10, 11, 12, 13, 14>(zero, self.0),
            4 => i32x4_shuffle::<0, 4, 5, 6>(zero, self.0),
            _ => i64x2_shuffle::<0, 2>(zero, self.0),
        })
    }

    #[inline(always)]
    unsafe fn broadcast_last<const W: usize>(self) -> Self {
        let v = self.0;
        Self(match W {
            1 => u8x16_splat(u8x16_extract_lane::<15>(v)),
            2 => i16x8_shuffle::<7, 7, 7, 7, 7, 7, 7, 7>(v, v),
            4 => i32x4_shuffle::<3, 3, 3, 3>(v, v),
            _ => i64x2_shuffle::<1, 1>(v, v),
        })
    }

    #[inline(always)]
    unsafe fn shift_left_lanes<const N: usize>(self) -> Self {
        Self(u8x16_splat(0))
    }

    #[inline(always)]
    unsafe fn broadcast_last_lane(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        Self(v128_and(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        Self(v128_xor(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        Self(v128_or(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Self(u8x16_add(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Self(u8x16_sub(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn is_zero(self) -> bool {
        !v128_any_true(self.0)
    }

    #[inline(always)]
    unsafe fn swap_bits<const S: i32>(self, other: Self) -> (Self, Self) {
        let shift = S as u32;
        let low = u8x16_splat(low_bits(S));
        (
            Self(v128_bitselect(self.0, u8x16_shl(other.0, shift), low)),
            Self(v128_bitselect(u8x16_shr(self.0, shift), other.0, low)),
        )
    }
}
