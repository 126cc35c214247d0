//! BITSHUFFLE: the bits of equal significance of all items together.
//!
//! With `n` bytes, `m` is the number of whole items rounded down to a multiple of 8. Bit `k` (0 is
//! the lowest) of byte `j` of item `i < m` becomes bit `i % 8` of byte
//! `(8 * j + k) * (m / 8) + i / 8`; the bytes after these items are copied (C-Blosc2 chunk format,
//! filter 2).

#[cfg(target_arch = "x86_64")]
mod avx512;
mod generic;
mod transpose;
#[cfg(target_arch = "x86_64")]
mod vbmi;

use super::compile::at_level;
#[cfg(target_arch = "x86_64")]
use super::cpu::has_fast_vpermt2b;
use super::level::{Level, level};
pub(crate) use transpose::GROUP;

/// Bit-shuffles `src` into `dest` of the same length.
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
///
/// ```
/// let mut rows = [0; 9];
/// ferroblosc::kernels::bitshuffle::bitshuffle(1, &[1, 1, 1, 3, 1, 1, 1, 1, 99], &mut rows);
/// assert_eq!(rows, [0xff, 0x08, 0, 0, 0, 0, 0, 0, 99]);
/// ```
pub fn bitshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    bitshuffle_at(level(), typesize, src, dest);
}

/// Undoes [`bitshuffle`].
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn bitunshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    bitunshuffle_at(level(), typesize, src, dest);
}

/// Undoes [`bitshuffle`] for a range of groups of eight items: those from index `first` on that fit
/// `dest`.
///
/// # Panics
/// If `dest` is not a whole number of groups, `src` has fewer from `first` on, or `typesize` is 0.
///
/// ```
/// let mut items = [0; 8];
/// let rows = [0, 255, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// ferroblosc::kernels::bitshuffle::bitunshuffle_groups(1, &rows, 1, &mut items);
/// assert_eq!(items, [1, 1, 1, 3, 1, 1, 1, 1]);
/// ```
pub fn bitunshuffle_groups(typesize: usize, src: &[u8], first: usize, dest: &mut [u8]) {
    bitunshuffle_groups_at(level(), typesize, src, first, dest);
}

/// Runs [`bitshuffle`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`bitshuffle`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn bitshuffle_at(level: Level, typesize: usize, src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len());
    level.assert_available();
    let rows = src.len() / typesize / GROUP;
    let (src, src_rest) = src.split_at(rows * GROUP * typesize);
    let (dest, dest_rest) = dest.split_at_mut(src.len());
    dest_rest.copy_from_slice(src_rest);
    let (from, to) = (src.as_ptr(), dest.as_mut_ptr());
    // SAFETY: the level is available, both slices hold `8 * rows` items of `typesize` bytes, and
    // the vector has at most `rows` bytes; if bursts pay, a burst has at most `rows` bytes, and
    // `typesize` is within the limit of their tiles.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if level.for_items(rows) == Level::Avx512 {
            match typesize {
                1 => return avx512::bitshuffle::<1>(from, to, rows),
                2 => return avx512::bitshuffle::<2>(from, to, rows),
                4 => return avx512::bitshuffle::<4>(from, to, rows),
                _ if has_fast_vpermt2b() && vbmi::bitshuffle(typesize, from, to, rows) => {
                    return;
                }
                _ => {}
            }
        }
        if transpose::bursts_pay(typesize, rows) {
            return at_level!(
                level.for_items(rows),
                |V| fn(typesize: usize, from: *const u8, to: *mut u8, rows: usize) {
                    transpose::bitshuffle_in_bursts::<V>(typesize, from, to, rows);
                },
                generic: generic::bitshuffle(typesize, src, dest, rows),
            );
        }
        at_level!(
            level.for_items(rows),
            |V| fn(typesize: usize, from: *const u8, to: *mut u8, rows: usize) {
                transpose::bitshuffle::<V>(typesize, from, to, rows);
            },
            generic: generic::bitshuffle(typesize, src, dest, rows),
        );
    }
}

/// Runs [`bitunshuffle`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`bitunshuffle`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn bitunshuffle_at(level: Level, typesize: usize, src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len());
    let rows = src.len() / typesize / GROUP;
    let (groups, dest_rest) = dest.split_at_mut(rows * GROUP * typesize);
    dest_rest.copy_from_slice(&src[groups.len()..]);
    bitunshuffle_groups_at(level, typesize, src, 0, groups);
}

/// Runs [`bitunshuffle_groups`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`bitunshuffle_groups`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn bitunshuffle_groups_at(
    level: Level,
    typesize: usize,
    src: &[u8],
    first: usize,
    dest: &mut [u8],
) {
    level.assert_available();
    let step = src.len() / typesize / GROUP;
    let rows = dest.len() / typesize / GROUP;
    assert_eq!(dest.len(), rows * GROUP * typesize);
    assert!(first <= step && rows <= step - first);
    let src = &src[first..];
    let (from, to) = (src.as_ptr(), dest.as_mut_ptr());
    // SAFETY: the level is available; `dest` holds `8 * rows` items of `typesize` bytes, and `src`
    // has `rows` bytes of each bit row, `step` bytes apart. The vector has at most `rows` bytes; if
    // bursts pay, so does a burst, and `typesize` is within the limit of their tiles.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if level.for_items(rows) == Level::Avx512 {
            match typesize {
                1 => return avx512::bitunshuffle::<1>(from, step, to, rows),
                2 => return avx512::bitunshuffle::<2>(from, step, to, rows),
                4 => return avx512::bitunshuffle::<4>(from, step, to, rows),
                _ if has_fast_vpermt2b() && vbmi::bitunshuffle(typesize, from, step, to, rows) => {
                    return;
                }
                _ => {}
            }
        }
        if transpose::read_bursts_pay(typesize, step, rows) {
            return at_level!(
                level.for_items(rows),
                |V| fn(typesize: usize, from: *const u8, step: usize, to: *mut u8, rows: usize) {
                    transpose::bitunshuffle_in_bursts::<V>(typesize, from, step, to, rows);
                },
                generic: generic::bitunshuffle(typesize, src, step, dest),
            );
        }
        at_level!(
            level.for_items(rows),
            |V| fn(typesize: usize, from: *const u8, step: usize, to: *mut u8, rows: usize) {
                transpose::bitunshuffle::<V>(typesize, from, step, to, rows);
            },
            generic: generic::bitunshuffle(typesize, src, step, dest),
        );
    }
}
