//! Unshuffle of planes at any addresses: selects the level and the algorithm.

use super::generic;
use super::transpose::{self, Planes, by_typesize};
#[cfg(target_arch = "x86_64")]
use super::{avx512, vbmi};
use crate::kernels::compile::at_level;
use crate::kernels::copy::copy;
#[cfg(target_arch = "x86_64")]
use crate::kernels::cpu::has_fast_vpermt2b;
use crate::kernels::level::Level;
use crate::kernels::vector::LINE;

/// Runs [`super::unshuffle_planes`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`super::unshuffle_planes`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn unshuffle_planes_at(level: Level, planes: &[&[u8]], dest: &mut [u8]) {
    level.assert_available();
    // SAFETY: the level is available, as asserted.
    unsafe { unshuffle_planes_by(level, planes, dest) }
}

/// Runs [`super::unshuffle_planes`] at a level without checking that the CPU has it.
///
/// # Safety
/// The CPU has the level.
pub(super) unsafe fn unshuffle_planes_by(level: Level, planes: &[&[u8]], dest: &mut [u8]) {
    let items = planes.first().map_or(0, |plane| plane.len());
    // Compares all lengths without branches, as none is expected to differ.
    let difference = planes.iter().fold(0, |all, plane| all | (plane.len() ^ items));
    assert_eq!(difference, 0);
    assert_eq!(dest.len(), planes.len() * items);
    match planes {
        [] => {}
        [only] => copy(only, dest),
        // SAFETY: the caller's contract; all planes are `items` bytes, and `dest` is as long as all
        // of them.
        _ => unsafe { gather(level, planes.len(), planes, |j| planes[j], dest, items) },
    }
}

/// Unshuffles `items` items of `typesize` > 1 bytes into `dest`. `planes` is for the vector levels,
/// and the function `plane` for the generic one.
///
/// # Safety
/// The CPU has the level. There are `typesize` planes, each valid for reads of `items` bytes;
/// `dest` is `typesize * items` bytes.
pub(super) unsafe fn gather<'a>(
    level: Level,
    typesize: usize,
    planes: impl Planes,
    plane: impl Fn(usize) -> &'a [u8],
    dest: &mut [u8],
    items: usize,
) {
    let to = dest.as_mut_ptr();
    #[cfg(target_arch = "x86_64")]
    if level.for_items(items) == Level::Avx512 {
        // SAFETY: the caller's contract; the level is available, and there are enough items for it.
        let done = unsafe {
            has_fast_vpermt2b() && vbmi::unshuffle(typesize, planes, to, items)
                || avx512::unshuffle(typesize, planes, to, items)
        };
        if done {
            return;
        }
    }
    // Lanes of small items are stored one by one; two lanes need fewer shuffles than four.
    let level = if typesize <= transpose::COLUMNS / 2 {
        level.for_items(items.min(LINE - 1))
    } else {
        level.for_items(items)
    };
    // SAFETY: the caller's contract; the level is available, and its vector has at most `items`
    // bytes; spans pay only if there are enough items for one.
    unsafe {
        if transpose::spans_pay(typesize, planes, items) {
            return at_level!(
                level,
                |V| fn(typesize: usize, planes: impl Planes, to: *mut u8, items: usize) {
                    transpose::unshuffle_in_spans::<V>(typesize, planes, to, items);
                },
                generic: generic::unshuffle(typesize, plane, dest),
            );
        }
        by_typesize!(
            typesize,
            gather_narrow(level, typesize, planes, plane, dest, items),
            at_level!(
                level,
                |V| fn(typesize: usize, planes: impl Planes, to: *mut u8, items: usize) {
                    transpose::unshuffle_wide::<V>(typesize, planes, to, items);
                },
                generic: generic::unshuffle(typesize, plane, dest),
            ),
        );
    }
}

/// Unshuffles items of `TS` bytes as [`gather`] does.
///
/// # Safety
/// The same conditions as for [`gather`]; `TS` is as for [`transpose::unshuffle_narrow`], and the
/// level's vector has at most `items` bytes, fewer than a line if there are at most 8 planes.
unsafe fn gather_narrow<'a, const TS: usize>(
    level: Level,
    typesize: usize,
    planes: impl Planes,
    plane: impl Fn(usize) -> &'a [u8],
    dest: &mut [u8],
    items: usize,
) {
    let to = dest.as_mut_ptr();
    // SAFETY: the caller's contract.
    unsafe {
        at_level!(
            level,
            |V| fn<TS>(typesize: usize, planes: impl Planes, to: *mut u8, items: usize) {
                transpose::unshuffle_narrow::<V, TS>(typesize, planes, to, items);
            },
            generic: generic::unshuffle(typesize, plane, dest),
        );
    }
}
