//! The bit shuffle of items of 1, 2 and 4 bytes, for AVX-512 with GFNI.
//!
//! GFNI multiplies 8 x 8 bit matrices, one in each 8 bytes of a register; multiplying the unit
//! matrix by a transposed operand transposes. This is far less work than swapping bits across
//! registers, but the eight bytes of a matrix, byte `j` of the eight items of a group, must be
//! adjacent. So the order of steps differs from `transpose.rs`: first each group is sorted by `j`,
//! then GFNI transposes, which makes the group a sequence of the bit rows `8 j + k`. The rest is a
//! byte shuffle of groups whose planes are the rows.
//!
//! A group of 2-byte items fills one lane. Two groups of 1-byte items share a lane. A group of
//! 4-byte items fills two lanes: one for the bytes 0 and 1 of the items, the other for the bytes 2
//! and 3. So all steps happen in registers. Wider items are staged on the stack, as in `vbmi.rs`.
//!
//! A tile is [`LINE`] groups; lane `l` of register `k` holds group `16 l + k`, as in the byte
//! shuffle.

use super::transpose::{GROUP, Prefetch};
use crate::kernels::cache::second_tile;
use crate::kernels::cpu::has_fast_vpermt2b;
use crate::kernels::shuffle::transpose::{COLUMNS, rotate};
use crate::kernels::unroll::unroll;
use crate::kernels::vector::avx512::Avx512;
use crate::kernels::vector::{LANE, LINE, Vector};
use crate::kernels::write_combining::{self, BURST, Rows};
use std::arch::x86_64::*;

/// Shuffle table that sorts two groups of 1-byte items in descending order, since GFNI numbers
/// matrix rows downwards.
const SORT_1: [u8; LANE] = [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8];

/// Shuffle table that sorts a group of 2-byte items by byte, with items in descending order.
const SORT_2: [u8; LANE] = [14, 12, 10, 8, 6, 4, 2, 0, 15, 13, 11, 9, 7, 5, 3, 1];

/// Shuffle table that sorts half a group of 4-byte items by byte, with items in descending order.
const SORT_4: [u8; LANE] = [12, 8, 4, 0, 13, 9, 5, 1, 14, 10, 6, 2, 15, 11, 7, 3];

/// Shuffle table that reverses the sort by byte of half a group of 4-byte items, for items in
/// ascending order.
const UNSORT_4: [u8; LANE] = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];

/// Shuffle table that interleaves the halves of a lane.
const INTERLEAVE: [u8; LANE] = [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15];

/// Transposes the 8 x 8 bits of each 8 bytes; the operand has its rows in descending order.
///
/// # Safety
/// The CPU has the features.
#[inline(always)]
pub(super) unsafe fn transpose_bits(v: Avx512) -> Avx512 {
    const UNIT: i64 = 0x8040_2010_0804_0201_u64 as i64;
    // SAFETY: the caller's contract.
    unsafe { Avx512(_mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(UNIT), v.0)) }
}

/// Shuffles `ROWS` (8 or 16) bytes of each group from `ROWS` registers into `ROWS` rows that are
/// `rows` bytes apart.
///
/// # Safety
/// The CPU has the features; a line can be written in each row.
#[inline(always)]
unsafe fn write_rows<const ROWS: usize>(r: [Avx512; COLUMNS], dest: *mut u8, rows: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        let r = if ROWS == GROUP {
            // Both groups of a lane at once: row `k` of both is a unit of two bytes.
            let mut r = r;
            unroll!(16: k < const ROWS, { r[k] = r[k].shuffle_bytes(&INTERLEAVE) });
            rotate::<Avx512, 2>(ROWS, 3, r)
        } else {
            rotate::<Avx512, 1>(ROWS, 4, r)
        };
        unroll!(16: k < const ROWS, { r[k].store(dest.add(k * rows)) });
    }
}

/// Reverses [`write_rows`], and also transposes the bits.
///
/// # Safety
/// The CPU has the features; a line can be read in each row.
#[inline(always)]
unsafe fn read_rows<const ROWS: usize>(src: *const u8, rows: usize) -> [Avx512; COLUMNS] {
    // SAFETY: the caller's contract.
    unsafe {
        let mut r = [Avx512::splat(0); COLUMNS];
        // Rows of each matrix in descending order, for GFNI.
        unroll!(16: k < const ROWS, {
            r[k] = Avx512::load(src.add((k ^ (GROUP - 1)) * rows));
        });
        let mut r = rotate::<Avx512, 1>(ROWS, ROWS.ilog2(), r);
        unroll!(16: k < const ROWS, { r[k] = transpose_bits(r[k]) });
        r
    }
}

/// Reads four registers of four lanes: lane `l` of register `k` has the offset
/// `l * stride + 16 * k` in `src`. Lanes are loaded one by one, or `BY_LINES`: whole lines are
/// loaded and transposed, which needs fewer loads and more shuffles.
///
/// # Safety
/// The CPU has the features; the lanes can be read.
#[inline(always)]
unsafe fn read_lanes<const BY_LINES: bool>(src: *const u8, stride: usize) -> [Avx512; 4] {
    // SAFETY: the caller's contract.
    unsafe {
        let mut r = [Avx512::splat(0); 4];
        if BY_LINES {
            unroll!(4: l, { r[l] = Avx512::load(src.add(l * stride)) });
            return Avx512::transpose_lanes(r);
        }
        unroll!(4: k, { r[k] = Avx512::load_lanes(src.add(k * LANE), stride) });
        r
    }
}

/// Shuffles one tile of items of `TS` bytes.
///
/// # Safety
/// The CPU has the features; `src` is valid for reads of [`LINE`] groups, `dest` for writes of a
/// line in each row.
#[inline(always)]
unsafe fn shuffle_tile<const TS: usize, const BY_LINES: bool>(
    src: *const u8,
    dest: *mut u8,
    rows: usize,
) {
    let stride = LANE * GROUP * TS;
    // SAFETY: the lanes that are read belong to the groups.
    unsafe {
        let mut r = [Avx512::splat(0); COLUMNS];
        if TS <= 2 {
            let sort = if TS == 1 { &SORT_1 } else { &SORT_2 };
            unroll!(4: m < const 2 * TS, {
                let four = read_lanes::<BY_LINES>(src.add(m * LINE), stride);
                unroll!(4: k, { r[4 * m + k] = transpose_bits(four[k].shuffle_bytes(sort)) });
            });
            if TS == 1 {
                write_rows::<8>(r, dest, rows);
            } else {
                write_rows::<16>(r, dest, rows);
            }
            return;
        }
        let mut upper = r;
        unroll!(8: m, {
            let four = read_lanes::<BY_LINES>(src.add(m * LINE), stride);
            unroll!(2: k, {
                let (first, second) = (four[2 * k], four[2 * k + 1]);
                // Items 7 to 4 of each byte precede items 3 to 0.
                let second = second.shuffle_bytes(&SORT_4);
                let first = first.shuffle_bytes(&SORT_4);
                let (bytes_01, bytes_23) = second.interleave::<4>(first);
                r[2 * m + k] = transpose_bits(bytes_01);
                upper[2 * m + k] = transpose_bits(bytes_23);
            });
        });
        write_rows::<16>(r, dest, rows);
        write_rows::<16>(upper, dest.add(COLUMNS * rows), rows);
    }
}

/// Reverses [`shuffle_tile`].
///
/// # Safety
/// The same conditions as for [`shuffle_tile`], with reading and writing exchanged.
#[inline(always)]
unsafe fn unshuffle_tile<const TS: usize>(src: *const u8, dest: *mut u8, rows: usize) {
    let stride = LANE * GROUP * TS;
    // SAFETY: the lanes that are written belong to the groups.
    unsafe {
        match TS {
            1 => {
                let r = read_rows::<8>(src, rows);
                Avx512::store_lanes([r[0], r[1], r[2], r[3]], dest, stride);
                Avx512::store_lanes([r[4], r[5], r[6], r[7]], dest.add(LINE), stride);
            }
            2 => {
                let mut r = read_rows::<16>(src, rows);
                unroll!(16: k, { r[k] = r[k].shuffle_bytes(&INTERLEAVE) });
                unroll!(4: i, {
                    let four = [r[4 * i], r[4 * i + 1], r[4 * i + 2], r[4 * i + 3]];
                    Avx512::store_lanes(four, dest.add(i * LINE), stride);
                });
            }
            _ => {
                let bytes_01 = read_rows::<16>(src, rows);
                let bytes_23 = read_rows::<16>(src.add(COLUMNS * rows), rows);
                // The two lanes of two groups are one line.
                unroll!(8: i, {
                    let (a, b) = (2 * i, 2 * i + 1);
                    let four = [
                        even_words(bytes_01[a], bytes_23[a]).shuffle_bytes(&UNSORT_4),
                        odd_words(bytes_01[a], bytes_23[a]).shuffle_bytes(&UNSORT_4),
                        even_words(bytes_01[b], bytes_23[b]).shuffle_bytes(&UNSORT_4),
                        odd_words(bytes_01[b], bytes_23[b]).shuffle_bytes(&UNSORT_4),
                    ];
                    Avx512::store_lanes(four, dest.add(i * LINE), stride);
                });
            }
        }
    }
}

/// Returns the 4-byte words at even indices in each lane of `a`, followed by those of `b`.
///
/// # Safety
/// The CPU has the features.
#[inline(always)]
unsafe fn even_words(a: Avx512, b: Avx512) -> Avx512 {
    // SAFETY: the caller's contract.
    unsafe {
        let (a, b) = (_mm512_castsi512_ps(a.0), _mm512_castsi512_ps(b.0));
        Avx512(_mm512_castps_si512(_mm512_shuffle_ps::<0b10_00_10_00>(a, b)))
    }
}

/// Returns the 4-byte words at odd indices in each lane of `a`, followed by those of `b`.
///
/// # Safety
/// The CPU has the features.
#[inline(always)]
unsafe fn odd_words(a: Avx512, b: Avx512) -> Avx512 {
    // SAFETY: the caller's contract.
    unsafe {
        let (a, b) = (_mm512_castsi512_ps(a.0), _mm512_castsi512_ps(b.0));
        Avx512(_mm512_castps_si512(_mm512_shuffle_ps::<0b11_01_11_01>(a, b)))
    }
}

/// Transposes the bits of `8 * rows` items of `TS` (1, 2 or 4) bytes into rows of `rows` bytes.
///
/// # Safety
/// The CPU has the features; `src` is valid for reads and `dest` for writes of `8 * rows * TS`
/// bytes; `rows` is at least [`LINE`].
pub(super) unsafe fn bitshuffle<const TS: usize>(src: *const u8, dest: *mut u8, rows: usize) {
    // SAFETY: the caller's contract. If bursts pay, rows are at least as long as a burst.
    unsafe {
        match (write_combining::pays(rows, GROUP * TS), has_fast_vpermt2b()) {
            (true, true) => bitshuffle_in_bursts::<TS, true>(src, dest, rows),
            (true, false) => bitshuffle_in_bursts::<TS, false>(src, dest, rows),
            (false, true) => bitshuffle_in_tiles::<TS, true>(src, dest, rows),
            (false, false) => bitshuffle_in_tiles::<TS, false>(src, dest, rows),
        }
    }
}

/// Runs [`bitshuffle`] in tiles of [`LINE`] groups.
///
/// # Safety
/// The same conditions as for [`bitshuffle`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,gfni")]
unsafe fn bitshuffle_in_tiles<const TS: usize, const BY_LINES: bool>(
    src: *const u8,
    dest: *mut u8,
    rows: usize,
) {
    let mut done = 0;
    let mut step = second_tile(dest, LINE, rows);
    let prefetch = Prefetch::for_writing(TS, rows);
    while done < rows {
        let at = done.min(rows - LINE);
        // SAFETY: groups `at .. at + LINE` exist, and every row has these bytes.
        unsafe {
            let groups = src.add(at * GROUP * TS);
            prefetch.items(groups, LINE, TS);
            for byte in 0..TS {
                prefetch.rows::<LINE>(dest.add(byte * GROUP * rows + at), rows);
            }
            shuffle_tile::<TS, BY_LINES>(groups, dest.add(at), rows);
        };
        done = at + step;
        step = LINE;
    }
}

/// The largest number of rows: the number for 4-byte items.
const MAX_ROWS: usize = 4 * GROUP;

/// Runs [`bitshuffle`] in bursts.
///
/// # Safety
/// The same conditions as for [`bitshuffle`], with rows of at least [`BURST`] bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,gfni")]
unsafe fn bitshuffle_in_bursts<const TS: usize, const BY_LINES: bool>(
    src: *const u8,
    dest: *mut u8,
    rows: usize,
) {
    // SAFETY: the caller's contract; the stack buffer holds a burst of each row, and groups
    // `first .. first + LINE` exist.
    unsafe {
        let rows = Rows::contiguous(dest, GROUP * TS, rows);
        write_combining::fill_rows::<Avx512, MAX_ROWS, BURST>(rows, |first, to| {
            shuffle_tile::<TS, BY_LINES>(src.add(first * GROUP * TS), to, BURST);
        });
    }
}

/// Undoes [`bitshuffle`] for `rows` bytes of each row; rows are `step` bytes apart.
///
/// # Safety
/// The CPU has the features; `rows` is at least [`LINE`]. `rows` bytes can be read of each row, and
/// `8 * rows * TS` bytes can be written at `dest`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,gfni")]
pub(super) unsafe fn bitunshuffle<const TS: usize>(
    src: *const u8,
    step: usize,
    dest: *mut u8,
    rows: usize,
) {
    let prefetch = Prefetch::for_reading(TS, rows);
    let mut done = 0;
    while done < rows {
        let at = done.min(rows - LINE);
        // SAFETY: groups `at .. at + LINE` exist, and every row has these bytes.
        unsafe {
            let groups = dest.add(at * GROUP * TS);
            prefetch.items(groups, LINE, TS);
            for byte in 0..TS {
                prefetch.rows::<LINE>(src.add(byte * GROUP * step + at), step);
            }
            unshuffle_tile::<TS>(src.add(at), groups, step);
        }
        done = at + LINE;
    }
}
