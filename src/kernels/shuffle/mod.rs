//! SHUFFLE: the bytes of equal significance of all items together.
//!
//! ```text
//! items    a0 a1 a2 a3 | b0 b1 b2 b3 | c0 c1 c2 c3 | tail
//! planes   a0 b0 c0 | a1 b1 c1 | a2 b2 c2 | a3 b3 c3 | tail
//! ```
//!
//! With `n` bytes and items of `typesize` bytes, byte `j` of item `i` moves to offset
//! `j * (n / typesize) + i`; the `n % typesize` bytes of the tail are copied (C-Blosc2 chunk
//! format, filter 1).

#[cfg(target_arch = "x86_64")]
mod avx512;
mod gather;
mod generic;
#[cfg(target_arch = "x86_64")]
mod streamed;
pub(super) mod transpose;
#[cfg(target_arch = "x86_64")]
mod vbmi;

pub use gather::unshuffle_planes_at;

use super::compile::at_level;
use super::copy::copy;
#[cfg(target_arch = "x86_64")]
use super::cpu::{has_fast_vpermt2b, prefers_half_loads};
use super::level::{Level, level};
use gather::{gather, unshuffle_planes_by};
use transpose::{Contiguous, by_typesize};

/// Shuffles `src` into `dest` of the same length.
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
///
/// ```
/// let mut planes = [0; 7];
/// ferroblosc::kernels::shuffle::shuffle(2, b"AaBbCc!", &mut planes);
/// assert_eq!(&planes, b"ABCabc!");
/// ```
pub fn shuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    shuffle_at(level(), typesize, src, dest);
}

/// Shuffles a range of the items of a buffer: `src` holds the items from index `first` on, and
/// `dest` the planes of all items.
///
/// # Panics
/// If `typesize` is 0, a slice is not a whole number of items, or `dest` has fewer items from
/// `first` on than `src`.
///
/// ```
/// let mut planes = *b"A..a..";
/// ferroblosc::kernels::shuffle::shuffle_range(2, b"BbCc", 1, &mut planes);
/// assert_eq!(&planes, b"ABCabc");
/// ```
pub fn shuffle_range(typesize: usize, src: &[u8], first: usize, dest: &mut [u8]) {
    shuffle_range_at(level(), typesize, src, first, dest);
}

/// Undoes [`shuffle`].
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn unshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    unshuffle_at(level(), typesize, src, dest);
}

/// Undoes [`shuffle`] for planes at any addresses: writes items of `planes.len()` bytes to `dest`.
///
/// # Panics
/// If the planes differ in length, or `dest` is not as long as all of them together.
pub fn unshuffle_planes(planes: &[&[u8]], dest: &mut [u8]) {
    // SAFETY: the CPU has the selected level.
    unsafe { unshuffle_planes_by(level(), planes, dest) }
}

/// Runs [`unshuffle_planes`] for a range of a destination that exceeds the caches. Bypasses the
/// caches if the CPU can, so that other data stays cached.
///
/// # Panics
/// Panics under the conditions of [`unshuffle_planes`].
pub fn unshuffle_planes_streamed(planes: &[&[u8]], dest: &mut [u8]) {
    unshuffle_planes_streamed_at(level(), planes, dest);
}

/// Runs [`shuffle`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`shuffle`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn shuffle_at(level: Level, typesize: usize, src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len());
    level.assert_available();
    let whole = src.len() - src.len() % typesize;
    let (src, src_tail) = src.split_at(whole);
    let (dest, dest_tail) = dest.split_at_mut(whole);
    dest_tail.copy_from_slice(src_tail);
    let items = whole / typesize;
    if typesize == 1 || items <= 1 {
        copy(src, dest);
        return;
    }
    // SAFETY: the level is available; both slices hold `items` items of `typesize` bytes.
    unsafe { scatter(level, typesize, src, 0, dest, items) }
}

/// Runs [`shuffle_range`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`shuffle_range`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn shuffle_range_at(level: Level, typesize: usize, src: &[u8], first: usize, dest: &mut [u8]) {
    level.assert_available();
    let (items, plane_stride) = (src.len() / typesize, dest.len() / typesize);
    assert_eq!(src.len(), items * typesize);
    assert_eq!(dest.len(), plane_stride * typesize);
    assert!(first <= plane_stride && items <= plane_stride - first);
    if typesize == 1 || items == 0 {
        dest[first..first + items].copy_from_slice(src);
        return;
    }
    // SAFETY: the level is available; `src` holds `items` items, and each plane of `dest` at least
    // `items` bytes from `first` on.
    unsafe { scatter(level, typesize, src, first, dest, plane_stride) }
}

/// Shuffles the items of `src` into the planes of `plane_stride` bytes that `dest` consists of,
/// from byte `first` of each plane on.
///
/// # Safety
/// The CPU has the level. `src` is a whole number of items of `typesize` > 1 bytes, at least one;
/// `dest` is `typesize` planes of `plane_stride` bytes; each plane has a byte for every
/// item from `first` on.
unsafe fn scatter(
    level: Level,
    typesize: usize,
    src: &[u8],
    first: usize,
    dest: &mut [u8],
    plane_stride: usize,
) {
    let items = src.len() / typesize;
    let (from, to) = (src.as_ptr(), dest[first..].as_mut_ptr());
    let in_bursts = transpose::bursts_pay(typesize, items, plane_stride);
    // SAFETY: the caller's contract, and the vector has at most as many bytes as there are items;
    // if bursts pay, there are at least `BURST` items of at least 16 bytes.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if level.for_items(items) == Level::Avx512 {
            if has_fast_vpermt2b() && vbmi::shuffle(typesize, from, to, items, plane_stride) {
                return;
            }
            if prefers_half_loads() && !in_bursts {
                return avx512::shuffle_half_loads(typesize, from, to, items, plane_stride);
            }
        }
        if in_bursts {
            return at_level!(
                level.for_items(items),
                |V| fn(
                    typesize: usize,
                    from: *const u8,
                    to: *mut u8,
                    items: usize,
                    plane_stride: usize,
                ) {
                    transpose::shuffle_in_bursts::<V>(typesize, from, to, items, plane_stride);
                },
                generic: generic::shuffle(typesize, src, first, dest, plane_stride),
            );
        }
        by_typesize!(
            typesize,
            scatter_narrow(level, typesize, src, first, dest, plane_stride),
            at_level!(
                level.for_items(items),
                |V| fn(
                    typesize: usize,
                    from: *const u8,
                    to: *mut u8,
                    items: usize,
                    plane_stride: usize,
                ) {
                    transpose::shuffle_wide::<V>(typesize, from, to, items, plane_stride);
                },
                generic: generic::shuffle(typesize, src, first, dest, plane_stride),
            ),
        );
    }
}

/// Shuffles items of `TS` bytes as [`scatter`] does.
///
/// # Safety
/// The same conditions as for [`scatter`]; `TS` is as for [`transpose::shuffle_narrow`].
unsafe fn scatter_narrow<const TS: usize>(
    level: Level,
    typesize: usize,
    src: &[u8],
    first: usize,
    dest: &mut [u8],
    plane_stride: usize,
) {
    let items = src.len() / typesize;
    let (from, to) = (src.as_ptr(), dest[first..].as_mut_ptr());
    // SAFETY: the caller's contract, and the vector has at most as many bytes as there are items.
    unsafe {
        at_level!(
            level.for_items(items),
            |V| fn<TS>(
                typesize: usize,
                from: *const u8,
                to: *mut u8,
                items: usize,
                plane_stride: usize,
            ) {
                transpose::shuffle_narrow::<V, TS>(typesize, from, to, items, plane_stride);
            },
            generic: generic::shuffle(typesize, src, first, dest, plane_stride),
        );
    }
}

/// Runs [`unshuffle`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`unshuffle`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn unshuffle_at(level: Level, typesize: usize, src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len());
    level.assert_available();
    let whole = src.len() - src.len() % typesize;
    let (src, src_tail) = src.split_at(whole);
    let (dest, dest_tail) = dest.split_at_mut(whole);
    dest_tail.copy_from_slice(src_tail);
    let items = whole / typesize;
    if typesize == 1 || items <= 1 {
        copy(src, dest);
        return;
    }
    let planes = Contiguous { start: src.as_ptr(), items };
    let plane = |j: usize| &src[j * items..][..items];
    // SAFETY: the level is available; `src` holds `typesize` planes of `items` bytes, `dest` as
    // many bytes.
    unsafe { gather(level, typesize, planes, plane, dest, items) }
}

/// Runs [`unshuffle_planes_streamed`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`unshuffle_planes`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn unshuffle_planes_streamed_at(level: Level, planes: &[&[u8]], dest: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if (2..=streamed::MAX_PLANES).contains(&planes.len()) {
        return streamed::unshuffle_planes_at(level, planes, dest);
    }
    unshuffle_planes_at(level, planes, dest);
}
