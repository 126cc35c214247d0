//! The vector registers of each SIMD level, as one small trait.
//!
//! A vector consists of 1, 2 or 4 *lanes* of 16 bytes. Nearly all operations stay within a lane, as
//! on x86 at every width, so one algorithm fits all levels: a wider level does the same to more
//! lanes. The methods are `#[inline(always)]`, so that they become single instructions inside the
//! `#[target_feature]` function that an algorithm is compiled into.

#[cfg(all(test, not(feature = "zstd"), target_arch = "x86_64"))]
pub(super) mod array;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(super) mod neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) mod simd128;
#[cfg(target_arch = "x86_64")]
pub(super) mod sse2;

use crate::kernels::unroll::unroll;

/// The table of the SIMD levels: calls the macro with `$arguments` and the rows. In each CPU family
/// slower levels are first. A row has
///
/// - the variant of [`Level`](crate::kernels::Level), which is also the name of the vector type
/// - its file, which is also its name in `FERROBLOSC_SIMD`
/// - the targets that it is compiled for
/// - the CPU features that the algorithms are compiled with
macro_rules! levels {
    (($($macro:tt)*), $arguments:tt $($first:tt)*) => {
        $($macro)*! {
            $arguments
            $($first)*
            /// SSE2, the baseline of x86-64.
            Sse2, sse2, target_arch = "x86_64", "sse2";
            /// AVX2.
            Avx2, avx2, target_arch = "x86_64", "avx2";
            /// AVX-512 with F, BW, VL and VBMI, and GFNI.
            Avx512, avx512, target_arch = "x86_64", "avx512f,avx512bw,avx512vl";
            /// NEON, the baseline of AArch64.
            Neon, neon, all(target_arch = "aarch64", target_endian = "little"), "neon";
            /// SIMD128 of WebAssembly, if the module is compiled for it.
            Simd128, simd128, all(target_arch = "wasm32", target_feature = "simd128"), "simd128";
        }
    };
}

/// Adds a level for unit tests to [`levels`]. It takes longer to compile than all others, so it is
/// part of the unit tests without default features only, which `make check-features` runs.
#[cfg(all(test, not(feature = "zstd")))]
macro_rules! all_levels {
    ($macro:tt, $arguments:tt) => {
        $crate::kernels::vector::levels! {
            $macro, $arguments
            /// Arrays.
            Array, array, target_arch = "x86_64", "sse2";
        }
    };
}

#[cfg(not(all(test, not(feature = "zstd"))))]
pub(super) use levels as all_levels;
#[cfg(all(test, not(feature = "zstd")))]
pub(super) use {all_levels, levels};

/// Bytes of a lane.
pub(super) const LANE: usize = 16;

/// Bytes of a cache line, and of the widest vector.
pub(crate) const LINE: usize = 64;

/// A register of [`Vector::LANES`] lanes.
///
/// # Safety of the methods
///
/// The CPU must have the instructions of the level. Pointers need no alignment, but must be valid
/// for the bytes that the method reads or writes.
pub(super) trait Vector: Copy {
    /// The number of lanes.
    const LANES: usize;
    /// The size of the register in bytes.
    const BYTES: usize = LANE * Self::LANES;
    /// Whether [`Vector::shuffle_bytes`] is one instruction. Otherwise hot loops avoid it.
    const HAS_SHUFFLE_BYTES: bool;
    /// Whether [`Vector::deinterleave`] is one instruction for each result. Otherwise hot loops
    /// avoid it.
    const HAS_DEINTERLEAVE: bool = false;

    /// Returns a vector whose bytes are all `byte`.
    unsafe fn splat(byte: u8) -> Self;

    /// Reads `BYTES` bytes.
    unsafe fn load(src: *const u8) -> Self;

    /// Writes `BYTES` bytes.
    unsafe fn store(self, dest: *mut u8);

    /// Reads each lane `l` from the 16 bytes at `src + l * stride`.
    unsafe fn load_lanes(src: *const u8, stride: usize) -> Self;

    /// Writes lane `L` to the 16 bytes at `dest`.
    unsafe fn store_lane<const L: usize>(self, dest: *mut u8);

    /// Writes lane `l` of the four registers as 64 consecutive bytes at `dest + l * stride`.
    #[inline(always)]
    unsafe fn store_lanes(r: [Self; 4], dest: *mut u8, stride: usize) {
        // SAFETY: the contract of the trait.
        unsafe {
            unroll!(4: k, {
                let dest = dest.add(k * LANE);
                r[k].store_lane::<0>(dest);
                if Self::LANES > 1 {
                    r[k].store_lane::<1>(dest.add(stride));
                }
                if Self::LANES > 2 {
                    r[k].store_lane::<2>(dest.add(2 * stride));
                    r[k].store_lane::<3>(dest.add(3 * stride));
                }
            });
        }
    }

    /// Interleaves units of `UNIT` bytes (1, 2, 4 or 8) in each lane: returns `a0 b0 a1 b1 …` for
    /// the low halves of the lanes, and for the high halves.
    unsafe fn interleave<const UNIT: usize>(self, other: Self) -> (Self, Self);

    /// Reverses `interleave::<1>`: returns the bytes of each lane with even indices, and those with
    /// odd ones, of `self` in the low half and of `other` in the high half.
    #[inline(always)]
    unsafe fn deinterleave(self, other: Self) -> (Self, Self) {
        let mut pair = (self, other);
        // One round rotates the 5-bit number of a byte, (register, index), left by one, so four
        // rounds rotate it right by one.
        for _ in 0..4 {
            // SAFETY: the contract of the trait.
            pair = unsafe { pair.0.interleave::<1>(pair.1) };
        }
        pair
    }

    /// Replaces byte `i` of each lane with the lane's byte `table[i]`, or with 0 if the entry is
    /// above 127. Table entries are below 16 or above 127.
    #[inline(always)]
    unsafe fn shuffle_bytes(self, table: &[u8; LANE]) -> Self {
        let mut bytes = [0u8; LINE];
        let mut shuffled = [0u8; LINE];
        // SAFETY: the trait's contract; no vector is wider than a line.
        unsafe {
            self.store(bytes.as_mut_ptr());
            for (from, to) in bytes.chunks_exact(LANE).zip(shuffled.chunks_exact_mut(LANE)) {
                for (byte, &entry) in to.iter_mut().zip(table) {
                    *byte = from.get(usize::from(entry)).copied().unwrap_or(0);
                }
            }
            Self::load(shuffled.as_ptr())
        }
    }

    /// Shifts each lane by `N` bytes (1, 2, 4 or 8) towards higher indices, filling with zeros.
    unsafe fn shift_left_bytes<const N: usize>(self) -> Self;

    /// Fills each lane with its last `W` bytes (1, 2, 4 or 8).
    unsafe fn broadcast_last<const W: usize>(self) -> Self;

    /// Shifts the vector by `N` lanes (1 or 2) towards higher indices, filling with zeros.
    unsafe fn shift_left_lanes<const N: usize>(self) -> Self;

    /// Fills all lanes with the last one.
    unsafe fn broadcast_last_lane(self) -> Self;

    /// Returns the bitwise and.
    unsafe fn and(self, other: Self) -> Self;

    /// Returns the bitwise exclusive or.
    unsafe fn xor(self, other: Self) -> Self;

    /// Returns the bitwise or.
    unsafe fn or(self, other: Self) -> Self;

    /// Returns the byte-wise sum modulo 256.
    unsafe fn add(self, other: Self) -> Self;

    /// Returns the byte-wise difference modulo 256.
    unsafe fn sub(self, other: Self) -> Self;

    /// Whether all bytes are 0.
    unsafe fn is_zero(self) -> bool;

    /// Swaps bits in each byte: bit `b + S` of `self` with bit `b` of `other`, for all `b` with
    /// `b & S == 0`. `S` is 1, 2 or 4.
    unsafe fn swap_bits<const S: i32>(self, other: Self) -> (Self, Self);
}

/// Returns the mask of the bits `b` of [`Vector::swap_bits`].
#[inline(always)]
pub(super) const fn low_bits(shift: i32) -> u8 {
    match shift {
        1 => 0x55,
        2 => 0x33,
        _ => 0x0f,
    }
}
