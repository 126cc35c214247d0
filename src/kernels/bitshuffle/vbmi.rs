//! The bit shuffle of items of 5 to 16 and of 24 bytes by whole lines, and its inverse for items of
//! 5 to 24 bytes, for AVX-512 with VBMI and GFNI.
//!
//! A *part* of a group is up to eight bytes of each of its eight items. It is stored as one 8-byte
//! word per byte, the eight items' bytes at that index, in one register. For eight groups at a
//! time, the lines are sorted into parts, and the words of the eight registers of each part are
//! transposed, so that each register has one byte `j` of all items of the groups. The registers are
//! staged on the stack until 64 groups are complete. GFNI then transposes the 8 x 8 bits of each
//! word. The rest, for each `j`, is a byte shuffle of 64 words, whose planes are eight bit rows.
//! The inverse does the same steps in reverse order.
//!
//! This needs eight or nine shuffles per line, seven or eight in the inverse, and each line is
//! loaded and stored twice. `transpose.rs` needs fewer shuffles, but loads lanes one by one, and
//! shifts and masks bits across registers.

use super::avx512::transpose_bits;
use super::transpose::{GROUP, Prefetch, read_bursts_pay};
use crate::kernels::cache::{exceeds_l2, second_tile};
use crate::kernels::shuffle::transpose::{COLUMNS, rotate};
use crate::kernels::unroll::unroll;
use crate::kernels::vector::avx512::Avx512;
use crate::kernels::vector::{LANE, LINE, Vector};
use crate::kernels::write_combining::{
    self, BURST, HALF_BURST, QUARTER_BURST, Rows, StagedRows, copy,
};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Bytes of an item in one part.
const WORD: usize = 8;

/// The largest number of parts of a group.
const PARTS: usize = 3;

/// The smallest item size in bytes; a group of smaller items fills at most half a register.
const MIN_TYPESIZE: usize = 5;

/// The largest item size in bytes.
const MAX_TYPESIZE: usize = PARTS * WORD;

/// The number of permutations that merge the registers of all parts or lines into one.
const STEPS: usize = PARTS - 1;

/// The permutation tables for each part or line.
type Tables = [[[u8; LINE]; STEPS]; PARTS];

/// Returns the number of parts of items of `typesize` bytes, which is also the number of lines of a
/// group.
const fn parts(typesize: usize) -> usize {
    typesize.div_ceil(WORD)
}

/// Returns the offset in a group at which a line starts. The last line ends with the group.
#[inline(always)]
const fn line_start(typesize: usize, line: usize) -> usize {
    let last = (GROUP * typesize).saturating_sub(LINE);
    if line * LINE < last { line * LINE } else { last }
}

/// Returns the table entry of a step for the byte at index `pos`, which comes from byte `byte` of
/// register `from`. Step `s` merges the result of the preceding step (register 0 for step 0) with
/// register `s + 1`.
const fn entry(step: usize, pos: usize, from: usize, byte: usize) -> u8 {
    let entry = if from == step + 1 {
        LINE + byte
    } else if from == 0 && step == 0 {
        byte
    } else {
        pos
    };
    entry as u8
}

/// Permutations from the lines of a group to its parts, indexed by `[typesize][part][step]`. Items
/// are in descending order, since GFNI numbers matrix rows downwards.
static SORT: [Tables; MAX_TYPESIZE + 1] = {
    let mut all = [[[[0; LINE]; STEPS]; PARTS]; MAX_TYPESIZE + 1];
    let mut at = 0;
    while at < (MAX_TYPESIZE + 1) * PARTS * LINE {
        let (typesize, part, pos) = (at / LINE / PARTS, at / LINE % PARTS, at % LINE);
        let byte = part * WORD + pos / GROUP;
        if part < parts(typesize) && byte < typesize {
            let from = (GROUP - 1 - pos % GROUP) * typesize + byte;
            let line = from / LINE;
            let mut step = 0;
            while step < STEPS {
                let byte = from - line_start(typesize, line);
                all[typesize][part][step][pos] = entry(step, pos, line, byte);
                step += 1;
            }
        }
        at += 1;
    }
    all
};

/// Permutations from the parts of a group, with items in ascending order, to its lines, indexed by
/// `[typesize][line][step]`.
static UNSORT: [Tables; MAX_TYPESIZE + 1] = {
    let mut all = [[[[0; LINE]; STEPS]; PARTS]; MAX_TYPESIZE + 1];
    let mut at = 0;
    while at < (MAX_TYPESIZE + 1) * PARTS * LINE {
        let (typesize, line, pos) = (at / LINE / PARTS, at / LINE % PARTS, at % LINE);
        let to = line_start(typesize, line) + pos;
        if line < parts(typesize) && to < GROUP * typesize {
            let (item, byte) = (to / typesize, to % typesize);
            let part = byte / WORD;
            let mut step = 0;
            while step < STEPS {
                let byte = byte % WORD * GROUP + item;
                all[typesize][line][step][pos] = entry(step, pos, part, byte);
                step += 1;
            }
        }
        at += 1;
    }
    all
};

/// Returns the mask of the bytes of a line that belong to a group of items of `typesize` bytes.
#[inline(always)]
fn bytes_of_group(typesize: usize) -> __mmask64 {
    const ALL: __mmask64 = __mmask64::MAX;
    if typesize < WORD { !(ALL << (GROUP * typesize)) } else { ALL }
}

/// Merges `N` registers, returned by `register`, into one.
///
/// # Safety
/// The CPU has the features.
#[inline(always)]
unsafe fn merge<const N: usize>(
    tables: &[[u8; LINE]; STEPS],
    register: impl Fn(usize) -> Avx512,
) -> Avx512 {
    // SAFETY: the caller's contract; a table has 64 bytes.
    unsafe {
        let mut v = register(0);
        if N == 1 {
            let table = _mm512_loadu_si512(tables[0].as_ptr().cast());
            v = Avx512(_mm512_permutexvar_epi8(table, v.0));
        }
        unroll!(2: step < const N - 1, { v = v.select_bytes(register(step + 1), &tables[step]) });
        v
    }
}

/// Transposes 8 x 8 words of 8 bytes.
///
/// # Safety
/// The CPU has the features.
#[inline(always)]
unsafe fn transpose_words(r: [Avx512; GROUP]) -> [Avx512; GROUP] {
    let mut pairs = r;
    let mut out = r;
    // SAFETY: the caller's contract.
    unsafe {
        unroll!(4: i, { (pairs[i], pairs[i + 4]) = r[2 * i].interleave::<8>(r[2 * i + 1]) });
        unroll!(2: odd, {
            let four = |i: usize| pairs[4 * odd + i];
            let lanes = Avx512::transpose_lanes([four(0), four(1), four(2), four(3)]);
            unroll!(4: i, { out[2 * i + odd] = lanes[i] });
        });
    }
    out
}

/// Returns the index of the `i`th of the eight groups whose words are transposed in iteration `q`.
/// Rounds that interleave bytes stay within lanes, so each lane must hold consecutive groups in the
/// end.
#[inline(always)]
const fn group_index(q: usize, i: usize) -> usize {
    i / 2 * LANE + q * 2 + i % 2
}

/// One part of [`LINE`] groups: line `8 j + q` holds the words of byte `j` of the groups of
/// iteration `q`.
#[repr(align(64))]
struct Tile([MaybeUninit<u8>; LINE * LINE]);

impl Tile {
    const UNINIT: Tile = Tile([MaybeUninit::uninit(); LINE * LINE]);

    #[inline(always)]
    fn line(&mut self, j: usize, q: usize) -> *mut u8 {
        self.0[(j * GROUP + q) * LINE..].as_mut_ptr().cast()
    }
}

/// Returns the indices of the item bytes in a part.
#[inline(always)]
fn bytes_of_part(typesize: usize, part: usize) -> std::ops::Range<usize> {
    part * WORD..typesize.min((part + 1) * WORD)
}

/// Transposes the bits of [`LINE`] groups into bit rows `step` bytes apart, with prefetches.
///
/// # Safety
/// The CPU has the features; the groups of items of `typesize` bytes, `N` parts, can be read at
/// `src`, and a line written in each row.
#[inline(always)]
unsafe fn shuffle_tile<const N: usize>(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    step: usize,
    prefetch: Prefetch,
) {
    debug_assert_eq!(parts(typesize), N);
    let tables = &SORT[typesize];
    let mask = bytes_of_group(typesize);
    let mut tiles = [Tile::UNINIT; N];
    prefetch.items(src, LINE, typesize);
    // SAFETY: the caller's contract; the lines of a group are inside it, as far as the mask permits
    // their reading; the tiles are filled before they are read.
    unsafe {
        for q in 0..GROUP {
            unroll!(3: part < const N, {
                let mut r = [Avx512::splat(0); GROUP];
                unroll!(8: i, {
                    let group = src.add(group_index(q, i) * GROUP * typesize);
                    r[i] = merge::<N>(&tables[part], |line| {
                        let line = group.add(line_start(typesize, line));
                        if N == 1 {
                            Avx512(_mm512_maskz_loadu_epi8(mask, line.cast()))
                        } else {
                            Avx512::load(line)
                        }
                    });
                });
                let r = transpose_words(r);
                unroll!(8: j, { r[j].store(tiles[part].line(j, q)) });
            });
        }
        unroll!(3: part < const N, {
            for byte in bytes_of_part(typesize, part) {
                let row = dest.add(byte * GROUP * step);
                prefetch.rows::<LINE>(row, step);
                let mut r = [Avx512::splat(0); COLUMNS];
                unroll!(8: q, {
                    r[q] = transpose_bits(Avx512::load(tiles[part].line(byte % WORD, q)));
                });
                let r = rotate::<Avx512, 1>(GROUP, 4, r);
                unroll!(8: k, { r[k].store(row.add(k * step)) });
            }
        });
    }
}

/// Zeroes the unused lines of the last tile, which [`unshuffle_tile`] reads too.
#[inline(always)]
fn zero_unused_lines<const N: usize>(typesize: usize, tiles: &mut [Tile; N]) {
    let bytes = bytes_of_part(typesize, N - 1).len();
    tiles[N - 1].0[bytes * GROUP * LINE..].fill(MaybeUninit::new(0));
}

/// Reverses [`shuffle_tile`].
///
/// # Safety
/// The same conditions as for [`shuffle_tile`], with reading and writing exchanged;
/// [`zero_unused_lines`] was called for the tiles.
#[inline(always)]
unsafe fn unshuffle_tile<const N: usize>(
    typesize: usize,
    src: *const u8,
    step: usize,
    dest: *mut u8,
    tiles: &mut [Tile; N],
    prefetch: Prefetch,
) {
    debug_assert_eq!(parts(typesize), N);
    let tables = &UNSORT[typesize];
    let mask = bytes_of_group(typesize);
    prefetch.items(dest, LINE, typesize);
    // SAFETY: the caller's contract; the lines of a group are inside it, as far as the mask permits
    // their writing; all bytes that the tables refer to have been filled.
    unsafe {
        unroll!(3: part < const N, {
            for byte in bytes_of_part(typesize, part) {
                let row = src.add(byte * GROUP * step);
                prefetch.rows::<LINE>(row, step);
                let j = byte % WORD;
                let mut r = [Avx512::splat(0); COLUMNS];
                // In descending order, since GFNI numbers matrix rows downwards.
                unroll!(8: k, { r[k] = Avx512::load(row.add((GROUP - 1 - k) * step)) });
                let r = rotate::<Avx512, 1>(GROUP, 3, r);
                unroll!(8: q, { transpose_bits(r[q]).store(tiles[part].line(j, q)) });
            }
        });
        for q in 0..GROUP {
            let mut r = [[Avx512::splat(0); GROUP]; N];
            unroll!(3: part < const N, {
                unroll!(8: j, { r[part][j] = Avx512::load(tiles[part].line(j, q)) });
                r[part] = transpose_words(r[part]);
            });
            unroll!(8: i, {
                let group = dest.add(group_index(q, i) * GROUP * typesize);
                unroll!(3: line < const N, {
                    let v = merge::<N>(&tables[line], |part| r[part][i]);
                    let line = group.add(line_start(typesize, line));
                    if N == 1 {
                        _mm512_mask_storeu_epi8(line.cast(), mask, v.0);
                    } else {
                        v.store(line);
                    }
                });
            });
        }
    }
}

/// Transposes the bits of `8 * rows` items of `typesize` bytes, `N` parts, into rows of `rows`
/// bytes.
///
/// # Safety
/// The CPU has the features; `src` is valid for reads and `dest` for writes of
/// `8 * rows * typesize` bytes; `rows` is at least [`LINE`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
unsafe fn shuffle_parts<const N: usize>(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    rows: usize,
) {
    let prefetch = Prefetch::for_writing(typesize, rows);
    let mut done = 0;
    let mut step = second_tile(dest, LINE, rows);
    while done < rows {
        let at = done.min(rows - LINE);
        // SAFETY: groups `at .. at + LINE` exist, and every row has these bytes.
        unsafe {
            let groups = src.add(at * GROUP * typesize);
            shuffle_tile::<N>(typesize, groups, dest.add(at), rows, prefetch);
        }
        done = at + step;
        step = LINE;
    }
}

/// The number of rows of one part. The stack buffer holds a [`BURST`] of each; with more parts,
/// bursts are shorter.
const ROWS: usize = WORD * GROUP;

/// Runs [`shuffle_parts`] in bursts of `SPAN` bytes.
///
/// # Safety
/// The same conditions as for [`shuffle_parts`], with rows of at least `SPAN` bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
unsafe fn shuffle_in_bursts<const N: usize, const SPAN: usize>(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    rows: usize,
) {
    const { assert!(N * SPAN <= BURST) }
    let group = GROUP * typesize;
    // SAFETY: the caller's contract; the stack buffer holds a burst of each row, and groups
    // `first .. first + LINE` exist.
    unsafe {
        let rows = Rows::contiguous(dest, group, rows);
        write_combining::fill_rows::<Avx512, ROWS, SPAN>(rows, |first, to| {
            shuffle_tile::<N>(typesize, src.add(first * group), to, SPAN, Prefetch::NONE);
        });
    }
}

/// Undoes [`shuffle_parts`] for `rows` bytes of each row; rows are `step` bytes apart.
///
/// # Safety
/// The CPU has the features; `rows` is at least [`LINE`]. `rows` bytes can be read of each row, and
/// `8 * rows * typesize` bytes can be written at `dest`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
unsafe fn unshuffle_parts<const N: usize>(
    typesize: usize,
    src: *const u8,
    step: usize,
    dest: *mut u8,
    rows: usize,
) {
    let prefetch = Prefetch::for_reading(typesize, rows);
    let mut tiles = [Tile::UNINIT; N];
    zero_unused_lines(typesize, &mut tiles);
    let mut done = 0;
    while done < rows {
        let at = done.min(rows - LINE);
        // SAFETY: groups `at .. at + LINE` exist, and every row has these bytes; unused lines of
        // the tiles are zeroed.
        unsafe {
            let groups = dest.add(at * GROUP * typesize);
            unshuffle_tile::<N>(typesize, src.add(at), step, groups, &mut tiles, prefetch);
        }
        done = at + LINE;
    }
}

/// Runs [`unshuffle_parts`], reading [`HALF_BURST`] bytes of each row at a time.
///
/// # Safety
/// The same conditions as for [`unshuffle_parts`], with at least [`HALF_BURST`] bytes of each row.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
unsafe fn unshuffle_in_bursts<const N: usize>(
    typesize: usize,
    src: *const u8,
    step: usize,
    dest: *mut u8,
    rows: usize,
) {
    const { assert!(N * HALF_BURST <= BURST) }
    let mut staged = StagedRows::<ROWS>::new();
    let staged = staged.as_mut_ptr();
    let mut tiles = [Tile::UNINIT; N];
    zero_unused_lines(typesize, &mut tiles);
    let mut done = 0;
    while done < rows {
        let first = done.min(rows - HALF_BURST);
        // SAFETY: groups `first .. first + HALF_BURST` exist, and each row has these bytes, which
        // are staged before they are read; the stack buffer holds them, as asserted; unused lines
        // of the tiles are zeroed.
        unsafe {
            for row in 0..GROUP * typesize {
                let to = staged.add(row * HALF_BURST);
                copy::<Avx512>(src.add(row * step + first), to, HALF_BURST);
            }
            for at in (0..HALF_BURST).step_by(LINE) {
                let groups = dest.add((first + at) * GROUP * typesize);
                unshuffle_tile::<N>(
                    typesize,
                    staged.add(at),
                    HALF_BURST,
                    groups,
                    &mut tiles,
                    Prefetch::NONE,
                );
            }
        }
        done = first + HALF_BURST;
    }
}

/// Transposes the bits of `8 * rows` items of `typesize` bytes into rows of `rows` bytes if this is
/// faster than `transpose.rs`; returns whether it did.
///
/// # Safety
/// The CPU has the features of [`Level::Avx512`](crate::kernels::Level::Avx512); `src` is valid for
/// reads and `dest` for writes of `8 * rows * typesize` bytes; `rows` is at least [`LINE`].
pub(super) unsafe fn bitshuffle(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    rows: usize,
) -> bool {
    if !(MIN_TYPESIZE..=MAX_TYPESIZE).contains(&typesize) {
        return false;
    }
    let in_bursts = write_combining::pays(rows, GROUP * typesize);
    let near = !exceeds_l2(GROUP * typesize * rows);
    // SAFETY: the caller's contract; if bursts pay, rows are at least as long as a burst, and the
    // stack buffer holds an `N`th of a burst of each row of `N` parts.
    unsafe {
        match parts(typesize) {
            1 if in_bursts => shuffle_in_bursts::<1, BURST>(typesize, src, dest, rows),
            1 => shuffle_parts::<1>(typesize, src, dest, rows),
            // Shorter bursts do not pay outside L2.
            2 if in_bursts && near => shuffle_in_bursts::<2, HALF_BURST>(typesize, src, dest, rows),
            2 => shuffle_parts::<2>(typesize, src, dest, rows),
            // Three partially filled lines cost as much as three full ones.
            3 if typesize < MAX_TYPESIZE => return false,
            3 if in_bursts && near => {
                shuffle_in_bursts::<3, QUARTER_BURST>(typesize, src, dest, rows);
            }
            3 => shuffle_parts::<3>(typesize, src, dest, rows),
            _ => return false,
        }
    }
    true
}

/// Undoes [`bitshuffle`] for `rows` bytes of each row, `step` bytes apart, if this is faster than
/// `transpose.rs`; returns whether it did.
///
/// # Safety
/// The CPU has the features of [`Level::Avx512`](crate::kernels::Level::Avx512); `rows` is at least
/// [`LINE`]. `rows` bytes can be read of each row, and `8 * rows * typesize` bytes can be written
/// at `dest`.
pub(super) unsafe fn bitunshuffle(
    typesize: usize,
    src: *const u8,
    step: usize,
    dest: *mut u8,
    rows: usize,
) -> bool {
    if !(MIN_TYPESIZE..=MAX_TYPESIZE).contains(&typesize) {
        return false;
    }
    let in_bursts = read_bursts_pay(typesize, step, rows);
    // SAFETY: the caller's contract; if bursts pay, rows have at least half a burst, and the stack
    // buffer holds half bursts of the rows of two parts.
    unsafe {
        match parts(typesize) {
            1 if in_bursts => unshuffle_in_bursts::<1>(typesize, src, step, dest, rows),
            1 => unshuffle_parts::<1>(typesize, src, step, dest, rows),
            2 if in_bursts => unshuffle_in_bursts::<2>(typesize, src, step, dest, rows),
            2 => unshuffle_parts::<2>(typesize, src, step, dest, rows),
            3 => unshuffle_parts::<3>(typesize, src, step, dest, rows),
            _ => return false,
        }
    }
    true
}
