//! The byte shuffle of items of 2, 4, 8 and 16 bytes by whole lines, for AVX-512 with VBMI.
//!
//! Number the bytes of a tile of [`LINE`] items by (register, index), with one register for each
//! line. Moving the bytes at even indices of registers `2 k` and `2 k + 1` to register `k`, and
//! those at odd indices to register `k` of the upper half, rotates that number right by one.
//! `log₂ typesize` such rounds move its lowest bits, the byte in the item, to the top: the
//! registers are then the planes. The unshuffle rotates left, as in `transpose.rs`, where bytes
//! stay in their lanes.
//!
//! So each line is loaded and stored once, with one two-register shuffle per round. `transpose.rs`
//! loads or stores lanes one by one, four to a register, and shuffles only within lanes, which is
//! fast on all CPUs.

use super::transpose::{COLUMNS, Planes, bursts_pay};
use crate::kernels::cache::{exceeds_l3, prefetch_ahead, second_tile};
use crate::kernels::cpu::prefers_half_loads;
use crate::kernels::unroll::unroll;
use crate::kernels::vector::avx512::Avx512;
use crate::kernels::vector::{LINE, Vector};
use crate::kernels::write_combining::{self, BURST, Rows};
use std::ops::RangeInclusive;

/// Permutation tables that select the bytes at even indices of two registers, and those at odd
/// indices.
const DEINTERLEAVE: [[u8; LINE]; 2] = {
    let mut tables = [[0; LINE]; 2];
    let mut pos = 0;
    while pos < LINE {
        tables[0][pos] = 2 * pos as u8;
        tables[1][pos] = 2 * pos as u8 + 1;
        pos += 1;
    }
    tables
};

/// Permutation tables that interleave the bytes of the low halves of two registers, and of their
/// high halves.
const INTERLEAVE: [[u8; LINE]; 2] = {
    let mut tables = [[0; LINE]; 2];
    let mut pos = 0;
    while pos < LINE {
        let byte = (pos % 2 * LINE + pos / 2) as u8;
        tables[0][pos] = byte;
        tables[1][pos] = byte + LINE as u8 / 2;
        pos += 1;
    }
    tables
};

/// Converts `TS` lines of items of `TS` bytes to one line of each plane.
///
/// # Safety
/// The CPU has the features.
#[inline(always)]
unsafe fn items_to_planes<const TS: usize>(mut r: [Avx512; COLUMNS]) -> [Avx512; COLUMNS] {
    unroll!(4: _round < const TS.ilog2() as usize, {
        let from = r;
        unroll!(8: k < const TS / 2, {
            let (a, b) = (from[2 * k], from[2 * k + 1]);
            // SAFETY: the caller's contract.
            unsafe {
                r[k] = a.select_bytes(b, &DEINTERLEAVE[0]);
                r[k + TS / 2] = a.select_bytes(b, &DEINTERLEAVE[1]);
            }
        });
    });
    r
}

/// Reverses [`items_to_planes`].
///
/// # Safety
/// The CPU has the features.
#[inline(always)]
unsafe fn planes_to_items<const TS: usize>(mut r: [Avx512; COLUMNS]) -> [Avx512; COLUMNS] {
    unroll!(4: _round < const TS.ilog2() as usize, {
        let from = r;
        unroll!(8: k < const TS / 2, {
            let (a, b) = (from[k], from[k + TS / 2]);
            // SAFETY: the caller's contract.
            unsafe {
                r[2 * k] = a.select_bytes(b, &INTERLEAVE[0]);
                r[2 * k + 1] = a.select_bytes(b, &INTERLEAVE[1]);
            }
        });
    });
    r
}

/// The smallest number of items that pays for an additional tile.
const MIN_ALIGNED_ITEMS: usize = 8 * LINE;

/// Shuffles [`LINE`] items of `TS` bytes into planes `step` bytes apart.
///
/// # Safety
/// The CPU has the features; the items can be read at `src`, and a line written in each plane.
#[inline(always)]
unsafe fn shuffle_tile<const TS: usize>(src: *const u8, dest: *mut u8, step: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        let mut r = [Avx512::splat(0); COLUMNS];
        unroll!(16: k < const TS, { r[k] = Avx512::load(src.add(k * LINE)) });
        let r = items_to_planes::<TS>(r);
        unroll!(16: k < const TS, { r[k].store(dest.add(k * step)) });
    }
}

/// Reverses [`shuffle_tile`], reading all planes from index `item` on.
///
/// # Safety
/// The CPU has the features; a line can be read there in each plane, and the items written at
/// `dest`.
#[inline(always)]
unsafe fn unshuffle_tile<const TS: usize>(planes: impl Planes, item: usize, dest: *mut u8) {
    // SAFETY: the caller's contract.
    unsafe {
        let mut r = [Avx512::splat(0); COLUMNS];
        unroll!(16: k < const TS, { r[k] = Avx512::load(planes.plane(k).add(item)) });
        let r = planes_to_items::<TS>(r);
        unroll!(16: k < const TS, { r[k].store(dest.add(k * LINE)) });
    }
}

/// Shuffles `items` items of `TS` bytes into planes `plane_stride` bytes apart.
///
/// # Safety
/// The CPU has the features; `src` is valid for reads of `items * TS` bytes, and each of the `TS`
/// planes for writes of `items` bytes; there are at least [`LINE`] items.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
unsafe fn shuffle_items<const TS: usize>(
    src: *const u8,
    dest: *mut u8,
    items: usize,
    plane_stride: usize,
) {
    let mut done = 0;
    let mut step = second_tile(dest, LINE, items);
    while done < items {
        let item = done.min(items - LINE);
        // SAFETY: there are [`LINE`] items from `item` on.
        unsafe { shuffle_tile::<TS>(src.add(item * TS), dest.add(item), plane_stride) };
        done = item + step;
        step = LINE;
    }
}

/// Runs [`shuffle_items`] for items of [`COLUMNS`] bytes, in bursts.
///
/// # Safety
/// The same conditions as for [`shuffle_items`], with at least [`BURST`] items.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
unsafe fn shuffle_in_bursts(src: *const u8, dest: *mut u8, items: usize, plane_stride: usize) {
    let rows = Rows { start: dest, count: COLUMNS, length: items, stride: plane_stride };
    // SAFETY: the caller's contract; the stack buffer holds a burst of each plane, and `first` is
    // at most `items - LINE`.
    unsafe {
        write_combining::fill_rows::<Avx512, COLUMNS, BURST>(rows, |first, to| {
            shuffle_tile::<COLUMNS>(src.add(first * COLUMNS), to, BURST);
        });
    }
}

/// Unshuffles `items` items of `TS` bytes.
///
/// # Safety
/// The CPU has the features; there are `TS` planes, each valid for reads of `items` bytes, and
/// `dest` is valid for writes of `items * TS` bytes; there are at least [`LINE`] items.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
unsafe fn unshuffle_items<const TS: usize>(planes: impl Planes, dest: *mut u8, items: usize) {
    let mut done = 0;
    // From the second tile on, tiles start at a cache line of the destination, if any item does and
    // there are enough items.
    let mut step = if items < MIN_ALIGNED_ITEMS { LINE } else { LINE - dest.addr() % LINE / TS };
    // For narrower items prefetching costs as much as it saves.
    let far = TS >= 8 && exceeds_l3(items * TS);
    while done < items {
        let item = done.min(items - LINE);
        if far {
            prefetch_ahead(dest.wrapping_add(item * TS), LINE * TS);
        }
        // SAFETY: there are [`LINE`] items from `item` on.
        unsafe { unshuffle_tile::<TS>(planes, item, dest.add(item * TS)) };
        done = item + step;
        step = LINE;
    }
}

/// Shuffles `items` items of `typesize` bytes into planes `plane_stride` bytes apart if `typesize`
/// is supported; returns whether it did.
///
/// # Safety
/// The CPU has the features of [`Level::Avx512`](crate::kernels::Level::Avx512); `src` is valid for
/// reads of `items * typesize` bytes, and each of the `typesize` planes for writes of `items`
/// bytes; there are at least [`LINE`] items.
pub(super) unsafe fn shuffle(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    items: usize,
    plane_stride: usize,
) -> bool {
    // SAFETY: the caller's contract; bursts pay only if there are at least [`BURST`] items.
    unsafe {
        match typesize {
            2 => shuffle_items::<2>(src, dest, items, plane_stride),
            4 => shuffle_items::<4>(src, dest, items, plane_stride),
            8 => shuffle_items::<8>(src, dest, items, plane_stride),
            COLUMNS if bursts_pay(COLUMNS, items, plane_stride) => {
                shuffle_in_bursts(src, dest, items, plane_stride);
            }
            COLUMNS => shuffle_items::<COLUMNS>(src, dest, items, plane_stride),
            _ => return false,
        }
    }
    true
}

/// True if 32-byte registers unshuffle items faster than whole lines: on Zen 4 items of 8 bytes,
/// unless there are few, and items of 2 bytes within the L1 cache.
#[inline(always)]
fn prefers_avx2(typesize: usize, items: usize) -> bool {
    const FEW: usize = 4 * LINE;
    const NEAR: RangeInclusive<usize> = 4 << 10..=16 << 10;
    match typesize {
        2 => NEAR.contains(&(2 * items)) && prefers_half_loads(),
        8 => items >= FEW && prefers_half_loads(),
        _ => false,
    }
}

/// Unshuffles `items` items of `typesize` bytes if this is faster than `transpose.rs` for that
/// size; returns whether it did. Items of 4 bytes are excluded: 32-byte registers are faster
/// outside the L1 cache.
///
/// # Safety
/// The CPU has the features of [`Level::Avx512`](crate::kernels::Level::Avx512); there are
/// `typesize` planes, each valid for reads of `items` bytes, and `dest` is valid for writes of
/// `items * typesize` bytes; there are at least [`LINE`] items.
pub(super) unsafe fn unshuffle(
    typesize: usize,
    planes: impl Planes,
    dest: *mut u8,
    items: usize,
) -> bool {
    if prefers_avx2(typesize, items) {
        return false;
    }
    // SAFETY: the caller's contract.
    unsafe {
        match typesize {
            2 => unshuffle_items::<2>(planes, dest, items),
            8 => unshuffle_items::<8>(planes, dest, items),
            COLUMNS => unshuffle_items::<COLUMNS>(planes, dest, items),
            _ => return false,
        }
    }
    true
}
