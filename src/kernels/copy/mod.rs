//! Copies of large blocks.
//!
//! For mid-size copies the `memcpy` of glibc uses the instruction `rep movsb`, if the CPU claims to
//! have a fast one. On AMD's Zen 4 it falls to 3.5 GB/s if the destination is 1 to 15 bytes after
//! the source, modulo the size of a page (page aliasing), and to half its speed up to 63 bytes
//! after it. Loops over vector registers are always fast there, so [`copy`] has its own on AMD's
//! CPUs. Other CPUs, and short copies, are left to `memcpy`.

#[cfg(target_arch = "x86_64")]
pub(super) mod streamed;
mod vectors;

use super::compile::at_level;
use super::cpu;
use super::level::{Level, level};

/// The smallest copy in bytes that is not left to `memcpy`. glibc 2.36 uses `rep movsb` for more
/// than 2112 bytes.
const MIN_LEN: usize = 2048;

/// The smallest copy in bytes that bypasses the caches: source and destination exceed an L3 cache.
#[cfg(target_arch = "x86_64")]
const STREAMED_LEN: usize = 16 << 20;

/// Copies `src` to `dest`.
///
/// ```
/// let src = vec![7; 5000];
/// let mut dest = vec![0; 5000];
/// ferroblosc::kernels::copy::copy(&src, &mut dest);
/// assert_eq!(dest, src);
/// ```
///
/// # Panics
/// If the lengths differ.
#[inline]
pub fn copy(src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len());
    // SAFETY: the slices are valid for their common length, and references to different bytes.
    unsafe { copy_nonoverlapping(src.as_ptr(), dest.as_mut_ptr(), src.len()) }
}

/// Appends `src` to `dest`, as [`Vec::extend_from_slice`] does.
pub fn append(src: &[u8], dest: &mut Vec<u8>) {
    dest.reserve(src.len());
    // SAFETY: there is capacity for `src.len()` bytes after the old ones, which are initialised
    // before the length includes them. `src` cannot be in memory that `dest` owns.
    unsafe {
        let end = dest.as_mut_ptr().add(dest.len());
        copy_nonoverlapping(src.as_ptr(), end, src.len());
        dest.set_len(dest.len() + src.len());
    }
}

/// Returns a copy of `src`, as `<[u8]>::to_vec` does.
pub fn to_vec(src: &[u8]) -> Vec<u8> {
    let mut copied = Vec::with_capacity(src.len());
    append(src, &mut copied);
    copied
}

/// Copies `len` bytes.
///
/// # Safety
/// `src` is valid for reads and `dest` for writes of `len` bytes, and the two do not overlap.
#[inline]
pub unsafe fn copy_nonoverlapping(src: *const u8, dest: *mut u8, len: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        if len < MIN_LEN {
            std::ptr::copy_nonoverlapping(src, dest, len);
        } else {
            copy_large(src, dest, len);
        }
    }
}

/// Copies a range of a destination that exceeds the caches. Bypasses the caches if this is faster,
/// so that other data stays cached.
///
/// # Panics
/// If the lengths differ.
pub fn copy_streamed(src: &[u8], dest: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if best_level() != Level::Generic {
        streamed::copy(src, dest);
        return;
    }
    copy(src, dest);
}

/// Runs [`copy`] at a given level: `memcpy` at the generic level and for less than a vector, the
/// vectors' loops otherwise.
///
/// # Panics
/// Panics under the conditions of [`copy`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn copy_at(level: Level, src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len());
    level.assert_available();
    let level = level.for_items(src.len());
    // SAFETY: the slices are valid for their common length, and references to different bytes. The
    // CPU has the level, whose vector is not longer than the slices.
    unsafe { copy_by(level, src.as_ptr(), dest.as_mut_ptr(), src.len()) }
}

/// Returns the level of the fastest loops, or the generic one if `memcpy` is faster.
fn best_level() -> Level {
    // Registers of 64 bytes are not faster than those of 32, and those of 16 half as fast.
    match level() {
        Level::Avx2 | Level::Avx512 if cpu::is_amd() => Level::Avx2,
        _ => Level::Generic,
    }
}

/// # Safety
/// The same conditions as for [`copy_nonoverlapping`]; `len` is at least [`MIN_LEN`].
#[inline(never)]
unsafe fn copy_large(src: *const u8, dest: *mut u8, len: usize) {
    let level = best_level();
    // SAFETY: the caller's contract; the CPU has the level, whose vector is shorter than `len`.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if len >= STREAMED_LEN && level != Level::Generic {
            streamed::copy_nonoverlapping(src, dest, len);
            return;
        }
        copy_by(level, src, dest, len);
    }
}

/// # Safety
/// The same conditions as for [`copy_nonoverlapping`]; the CPU has the level, and `len` is at least
/// the size of its vector.
unsafe fn copy_by(level: Level, src: *const u8, dest: *mut u8, len: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        at_level!(
            level,
            |V| fn(src: *const u8, dest: *mut u8, len: usize) {
                vectors::copy::<V>(src, dest, len);
            },
            generic: std::ptr::copy_nonoverlapping(src, dest, len),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::GuardedBuf;
    use proptest::prelude::*;

    /// Bytes of a page.
    const PAGE: usize = 4096;

    /// Returns bytes that differ from those a page, a line or a vector away.
    fn bytes(len: usize) -> Vec<u8> {
        (0..len as u32).map(|i| (i.wrapping_mul(0x9E37_79B1) >> 21) as u8).collect()
    }

    /// Checks that `copy` fills exactly the range of `len` bytes at `to` with those at `from`. Both
    /// buffers end at inaccessible pages if there are no bytes after the ranges.
    fn check(from: usize, to: usize, len: usize, after: usize, copy: impl Fn(&[u8], &mut [u8])) {
        let src = GuardedBuf::copy_of(&bytes(from + len + after));
        let mut dest = GuardedBuf::copy_of(&vec![0xA5; to + len + after]);
        copy(&src[from..from + len], &mut dest[to..to + len]);
        assert!(dest[to..to + len] == src[from..from + len], "{from} {to} {len} {after}");
        let rest = dest[..to].iter().chain(&dest[to + len..]);
        assert!(rest.clone().all(|&byte| byte == 0xA5), "{from} {to} {len} {after}");
    }

    fn append_to_some(src: &[u8], dest: &mut [u8]) {
        let mut vec = vec![1, 2, 3];
        append(src, &mut vec);
        assert_eq!(vec[..3], [1, 2, 3]);
        dest.copy_from_slice(&vec[3..]);
    }

    #[test]
    fn all_lengths_up_to_some_vectors_are_copied() {
        for level in Level::available() {
            for len in 0..700 {
                check(0, 0, len, 0, |src, dest| copy_at(level, src, dest));
            }
        }
    }

    #[test]
    fn lengths_around_the_thresholds_are_copied() {
        for len in MIN_LEN - 3..MIN_LEN + 3 {
            check(0, 0, len, 0, copy);
            check(3, 1, len, 5, append_to_some);
        }
        #[cfg(target_arch = "x86_64")]
        for len in [STREAMED_LEN - 1, STREAMED_LEN, STREAMED_LEN + 77] {
            check(1, 0, len, 0, copy);
            check(0, 5, len, 3, copy);
        }
    }

    #[test]
    fn all_alignments_are_copied() {
        for level in Level::available() {
            for from in 0..64 {
                for to in 0..64 {
                    check(0, 0, 1000 + from, 64 - to, |src, dest| copy_at(level, src, dest));
                    check(from, to, 777, 0, |src, dest| copy_at(level, src, dest));
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn copies_equal_their_sources_at_all_offsets_in_a_page(
            from in 0..PAGE,
            to in 0..PAGE,
            len in 0..5 * PAGE,
            after in prop_oneof![Just(0), 0..PAGE],
        ) {
            for level in Level::available() {
                check(from, to, len, after, |src, dest| copy_at(level, src, dest));
            }
            check(from, to, len, after, copy);
            check(from, to, len, after, copy_streamed);
            check(from, to, len, after, append_to_some);
        }
    }

    #[test]
    #[should_panic(expected = "left == right")]
    fn different_lengths_are_refused() {
        copy(&[0; 3000], &mut [0; 2999]);
    }
}
