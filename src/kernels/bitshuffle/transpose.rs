//! The bit shuffle with vectors, for every level.
//!
//! Eight consecutive items form a *group* of `8 * typesize` bytes. A byte shuffle of groups moves
//! byte `j` of the `e`th item of all groups to one plane, `(e, j)`. Byte `r` of the planes
//! `(0, j) … (7, j)` is then an 8 x 8 bit matrix, and its transposition is byte `r` of the rows
//! `8 j … 8 j + 7` of the result. So bits are transposed *across* eight registers, by three rounds
//! of swaps that process all bytes of the registers at once and produce whole rows.
//!
//! A tile is [`LINE`] groups, so that each row is written (or read) one cache line at a time: rows
//! are often a large power of two apart, so that half-written lines are evicted. Items of 32 bytes
//! and more are processed 16 columns at a time. The byte planes of a tile are staged on the stack.
//! The last tile overlaps the preceding one.
//!
//! If [bursts pay](write_combining::pays), tiles have eight or four times as many groups. Their
//! bits are transposed in the staging buffer, and each row is then written (or read) in one burst.

use crate::kernels::cache::{
    CacheLevel, PREFETCH_DISTANCE, exceeds_l2, exceeds_l3, prefetch, prefetch_ahead, prefetch_pays,
    second_tile,
};
use crate::kernels::shuffle::transpose::{
    COLUMNS, read_columns, read_narrow, write_columns, write_narrow,
};
use crate::kernels::unroll::unroll;
use crate::kernels::vector::{LINE, Vector};
use crate::kernels::write_combining::{self, BURST, EVERY_OTHER_ROW, HALF_BURST, copy};
use std::hint::black_box;
use std::mem::MaybeUninit;

/// Items of a group, and bits of a byte.
pub(crate) const GROUP: usize = 8;

/// The largest items that are processed as a whole, in bytes; wider items are processed [`COLUMNS`]
/// bytes at a time.
const MAX_WHOLE_ITEM: usize = 31;

/// The largest items for which whole bursts are used, in bytes; wider items use half bursts.
const MAX_NARROW_ITEM: usize = 8;

/// The byte planes of a tile of `SPAN` groups, `SPAN` bytes each: plane `(e, j)` has index
/// `e * width + j`, where `width` is the number of bytes of each item in the tile.
#[repr(align(64))]
struct Tile<const BYTES: usize>([MaybeUninit<u8>; BYTES]);

/// Bytes of the largest tiles of [`LINE`] groups.
const TILE_BYTES: usize = GROUP * MAX_WHOLE_ITEM * LINE;

/// Bytes of the largest burst tiles: [`MAX_NARROW_ITEM`] columns of [`BURST`] groups, or twice as
/// many columns of half as many groups.
const BURST_TILE_BYTES: usize = GROUP * MAX_NARROW_ITEM * BURST;

/// The bytes `column..column + width` of each item.
#[derive(Clone, Copy)]
struct ColumnRange {
    column: usize,
    width: usize,
}

/// Returns the column ranges in which items of `typesize` bytes are processed, each with the number
/// of leading columns that it shares with the preceding range.
#[inline(always)]
fn column_ranges(typesize: usize) -> impl Iterator<Item = (ColumnRange, usize)> {
    let most = if typesize <= MAX_WHOLE_ITEM { MAX_WHOLE_ITEM } else { COLUMNS };
    let width = typesize.min(most);
    (0..typesize).step_by(most).map(move |start| {
        let column = start.min(typesize - width);
        (ColumnRange { column, width }, start - column)
    })
}

/// Transposes bits across eight registers: bit `k` of register `e` becomes bit `e` of register `k`,
/// in each byte.
///
/// # Safety
/// The contract of [`Vector`].
#[inline(always)]
unsafe fn transpose_bits<V: Vector>(mut r: [V; GROUP]) -> [V; GROUP] {
    // SAFETY: the caller's contract.
    unsafe {
        (r[0], r[4]) = r[0].swap_bits::<4>(r[4]);
        (r[1], r[5]) = r[1].swap_bits::<4>(r[5]);
        (r[2], r[6]) = r[2].swap_bits::<4>(r[6]);
        (r[3], r[7]) = r[3].swap_bits::<4>(r[7]);

        (r[0], r[2]) = r[0].swap_bits::<2>(r[2]);
        (r[1], r[3]) = r[1].swap_bits::<2>(r[3]);
        (r[4], r[6]) = r[4].swap_bits::<2>(r[6]);
        (r[5], r[7]) = r[5].swap_bits::<2>(r[7]);

        (r[0], r[1]) = r[0].swap_bits::<1>(r[1]);
        (r[2], r[3]) = r[2].swap_bits::<1>(r[3]);
        (r[4], r[5]) = r[4].swap_bits::<1>(r[5]);
        (r[6], r[7]) = r[6].swap_bits::<1>(r[7]);
        r
    }
}

/// The prefetches to issue while a tile is processed.
#[derive(Clone, Copy)]
pub(super) struct Prefetch {
    /// Whether to prefetch the next line of each row into L1. The hardware prefetcher does not
    /// follow that many rows. L1 must have space for a line of each, and items must be processed as
    /// a whole.
    next: bool,
    /// Whether to prefetch the line of each row after the next two into L2: loading a line from L3
    /// or memory takes longer than processing a tile.
    far: bool,
    /// Whether to prefetch the following items.
    items: bool,
}

impl Prefetch {
    /// No prefetches.
    #[cfg(target_arch = "x86_64")]
    pub(super) const NONE: Prefetch = Prefetch { next: false, far: false, items: false };

    /// Returns the prefetches for writing bit rows of `rows` bytes.
    #[inline(always)]
    pub(super) fn for_writing(typesize: usize, rows: usize) -> Prefetch {
        let bytes = GROUP * typesize * rows;
        let next = typesize <= MAX_WHOLE_ITEM && prefetch_pays(rows, GROUP * typesize);
        Prefetch {
            next,
            far: exceeds_l3(bytes) || !next && Self::defeats_prefetcher(typesize, bytes),
            items: exceeds_l3(bytes),
        }
    }

    /// Returns the prefetches for reading `rows` bytes of each bit row.
    #[inline(always)]
    pub(super) fn for_reading(typesize: usize, rows: usize) -> Prefetch {
        let bytes = GROUP * typesize * rows;
        Prefetch {
            next: false,
            far: exceeds_l3(bytes) || Self::defeats_prefetcher(typesize, bytes),
            items: exceeds_l3(bytes),
        }
    }

    /// True if rows are in L3 or memory and too many for the hardware prefetcher, which follows
    /// only a few.
    #[inline(always)]
    fn defeats_prefetcher(typesize: usize, bytes: usize) -> bool {
        const FEW: usize = 4;
        typesize > FEW && exceeds_l2(bytes)
    }

    /// Prefetches lines of the eight rows of `step` bytes at `row`; a tile has `SPAN` bytes of
    /// each.
    #[inline(always)]
    pub(super) fn rows<const SPAN: usize>(self, row: *const u8, step: usize) {
        if self.next {
            prefetch_rows::<SPAN>(CacheLevel::L1, row.wrapping_add(SPAN), step);
        }
        if self.far {
            let distance = SPAN.max(PREFETCH_DISTANCE);
            prefetch_rows::<SPAN>(CacheLevel::L2, row.wrapping_add(distance), step);
        }
    }

    /// Prefetches the items after the tile of `groups` groups at `at`.
    #[inline(always)]
    pub(super) fn items(self, at: *const u8, groups: usize, typesize: usize) {
        if self.items {
            prefetch_ahead(at, groups * GROUP * typesize);
        }
    }
}

/// Prefetches `SPAN` bytes of each of the eight rows of `step` bytes at `row`.
#[inline(always)]
fn prefetch_rows<const SPAN: usize>(level: CacheLevel, row: *const u8, step: usize) {
    unroll!(8: k, {
        let row = row.wrapping_add(k * step);
        unroll!(8: i < SPAN / LINE, { prefetch(level, row.wrapping_add(i * LINE)) });
    });
}

/// Fills the planes of a tile from `span` groups at `src`.
///
/// # Safety
/// The contract of [`Vector`]; `src` is valid for reads of `span` groups of items, `tile` is a
/// [`Tile`], and `span` is a multiple of `BYTES`, at most `SPAN`.
#[inline(always)]
unsafe fn read_groups<V: Vector, const SPAN: usize>(
    typesize: usize,
    range: ColumnRange,
    src: *const u8,
    tile: *mut u8,
    span: usize,
) {
    // `black_box` hides from the compiler that groups are equally far apart. Otherwise it computes
    // 64 addresses before the loop and runs out of registers.
    let group = black_box(GROUP * typesize);
    for at in (0..span).step_by(V::BYTES) {
        // SAFETY: all columns that are read are inside the groups `at .. at + BYTES`, and all
        // planes inside the tile.
        unsafe {
            let src = src.add(at * group);
            if typesize == 1 {
                store_planes::<V, SPAN>(read_narrow::<V, GROUP>(src), GROUP, tile.add(at));
            } else if typesize <= MAX_WHOLE_ITEM {
                for start in (0..group).step_by(COLUMNS) {
                    let column = start.min(group - COLUMNS);
                    let columns = read_columns::<V>(src.add(column), group);
                    store_planes::<V, SPAN>(columns, COLUMNS, tile.add(column * SPAN + at));
                }
            } else {
                for e in 0..GROUP {
                    let columns = read_columns::<V>(src.add(e * typesize + range.column), group);
                    store_planes::<V, SPAN>(columns, COLUMNS, tile.add(e * COLUMNS * SPAN + at));
                }
            }
        }
    }
}

/// Reverses [`read_groups`].
///
/// # Safety
/// The same conditions as for [`read_groups`], with `dest` valid for writes and the planes of the
/// tile filled.
#[inline(always)]
unsafe fn write_groups<V: Vector, const SPAN: usize>(
    typesize: usize,
    range: ColumnRange,
    tile: *const u8,
    dest: *mut u8,
    span: usize,
) {
    // As in `read_groups`.
    let group = black_box(GROUP * typesize);
    for at in (0..span).step_by(V::BYTES) {
        // SAFETY: as in `read_groups`; groups of 8 bytes are written without excess bytes.
        unsafe {
            let dest = dest.add(at * group);
            if typesize == 1 {
                write_narrow::<V, GROUP>(load_planes::<V, SPAN>(tile.add(at), GROUP), dest);
            } else if typesize <= MAX_WHOLE_ITEM {
                for start in (0..group).step_by(COLUMNS) {
                    let column = start.min(group - COLUMNS);
                    let columns = load_planes::<V, SPAN>(tile.add(column * SPAN + at), COLUMNS);
                    write_columns(columns, dest.add(column), group);
                }
            } else {
                for e in 0..GROUP {
                    let columns =
                        load_planes::<V, SPAN>(tile.add(e * COLUMNS * SPAN + at), COLUMNS);
                    write_columns(columns, dest.add(e * typesize + range.column), group);
                }
            }
        }
    }
}

/// Stores `count` registers, each at the start of a plane of `SPAN` bytes.
///
/// # Safety
/// The contract of [`Vector`]; `tile` is valid for these writes.
#[inline(always)]
unsafe fn store_planes<V: Vector, const SPAN: usize>(
    columns: [V; COLUMNS],
    count: usize,
    tile: *mut u8,
) {
    unroll!(16: j < count, {
        // SAFETY: the caller's contract.
        unsafe { columns[j].store(tile.add(j * SPAN)) }
    });
}

/// Loads `count` registers, each from the start of a plane of `SPAN` bytes.
///
/// # Safety
/// The contract of [`Vector`]; `tile` is valid for these reads.
#[inline(always)]
unsafe fn load_planes<V: Vector, const SPAN: usize>(tile: *const u8, count: usize) -> [V; COLUMNS] {
    // SAFETY: the caller's contract.
    unsafe {
        let mut columns = [V::splat(0); COLUMNS];
        unroll!(16: j < count, {
            columns[j] = V::load(tile.add(j * SPAN));
        });
        columns
    }
}

/// Copies `SPAN` bytes of each of eight rows; rows are `from_step` bytes apart in the source and
/// `to_step` in the destination.
///
/// # Safety
/// The contract of [`Vector`]; `from` is valid for these reads, `to` for these writes.
#[inline(always)]
unsafe fn copy_rows<V: Vector, const SPAN: usize>(
    from: *const u8,
    from_step: usize,
    to: *mut u8,
    to_step: usize,
) {
    for k in 0..GROUP {
        // SAFETY: the caller's contract.
        unsafe { copy::<V>(from.add(k * from_step), to.add(k * to_step), SPAN) }
    }
}

/// Transposes the bits of eight registers that are `from_step` bytes apart into eight that are
/// `to_step` bytes apart.
///
/// # Safety
/// The contract of [`Vector`]; `from` is valid for these reads, `to` for these writes.
#[inline(always)]
unsafe fn transpose_rows<V: Vector>(
    from: *const u8,
    from_step: usize,
    to: *mut u8,
    to_step: usize,
) {
    // SAFETY: the caller's contract.
    unsafe {
        let mut r = [V::splat(0); GROUP];
        unroll!(8: k, {
            r[k] = V::load(from.add(k * from_step));
        });
        let r = transpose_bits(r);
        unroll!(8: k, { r[k].store(to.add(k * to_step)) });
    }
}

/// Transposes the bits of `8 * rows` items into rows of `rows` bytes.
///
/// # Safety
/// The contract of [`Vector`]; `src` is valid for reads and `dest` for writes of
/// `8 * rows * typesize` bytes; `rows` is at least `BYTES`.
#[inline(always)]
pub(super) unsafe fn bitshuffle<V: Vector>(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    rows: usize,
) {
    // SAFETY: the caller's contract; `TILE_BYTES` holds one line of each plane of any column range.
    unsafe { shuffle_in_tiles::<V, LINE, TILE_BYTES>(typesize, src, dest, rows) }
}

/// True if [`bitshuffle_in_bursts`] is faster than [`bitshuffle`].
pub(super) fn bursts_pay(typesize: usize, rows: usize) -> bool {
    typesize <= COLUMNS && write_combining::pays(rows, GROUP * typesize)
}

/// Runs [`bitshuffle`] in bursts.
///
/// # Safety
/// The same conditions as for [`bitshuffle`]; `typesize` is at most [`COLUMNS`], and `rows` at
/// least [`BURST`].
#[inline(always)]
pub(super) unsafe fn bitshuffle_in_bursts<V: Vector>(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    rows: usize,
) {
    // SAFETY: the caller's contract; `BURST_TILE_BYTES` holds `MAX_NARROW_ITEM` columns of bursts,
    // or `COLUMNS`, twice as many, of half bursts.
    unsafe {
        if typesize <= MAX_NARROW_ITEM {
            shuffle_in_tiles::<V, BURST, BURST_TILE_BYTES>(typesize, src, dest, rows);
        } else {
            shuffle_in_tiles::<V, HALF_BURST, BURST_TILE_BYTES>(typesize, src, dest, rows);
        }
    }
}

/// Runs [`bitshuffle`] in tiles of `SPAN` groups and at most `BYTES` bytes.
///
/// # Safety
/// The same conditions as for [`bitshuffle`]; `BYTES` bytes hold all planes of a column range,
/// `SPAN` bytes each, and `rows` is at least `SPAN` if `SPAN` is more than a line.
#[inline(always)]
unsafe fn shuffle_in_tiles<V: Vector, const SPAN: usize, const BYTES: usize>(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    rows: usize,
) {
    let mut tile = Tile([MaybeUninit::uninit(); BYTES]);
    let tile: *mut u8 = tile.0.as_mut_ptr().cast();
    let span = if rows >= SPAN { SPAN } else { V::BYTES };
    let prefetch = Prefetch::for_writing(typesize, rows);
    let mut done = 0;
    let mut step = second_tile(dest, span, rows);
    while done < rows {
        let first = done.min(rows - span);
        for (range, skip) in column_ranges(typesize) {
            // SAFETY: groups `first .. first + span` exist, and each bit row has these bytes.
            unsafe {
                let groups = src.add(first * GROUP * typesize);
                if range.column == 0 {
                    prefetch.items(groups, span, typesize);
                }
                read_groups::<V, SPAN>(typesize, range, groups, tile, span);
                for j in skip..range.width {
                    let row = dest.add(GROUP * (range.column + j) * rows + first);
                    let plane = tile.add(j * SPAN);
                    let plane_stride = range.width * SPAN;
                    prefetch.rows::<SPAN>(row, rows);
                    if SPAN == LINE {
                        for at in (0..span).step_by(V::BYTES) {
                            transpose_rows::<V>(plane.add(at), plane_stride, row.add(at), rows);
                        }
                    } else {
                        for at in (0..span).step_by(V::BYTES) {
                            transpose_rows::<V>(
                                plane.add(at),
                                plane_stride,
                                plane.add(at),
                                plane_stride,
                            );
                        }
                        copy_rows::<V, SPAN>(plane, plane_stride, row, rows);
                    }
                }
            }
        }
        done = first + step;
        step = span;
    }
}

/// Undoes [`bitshuffle`] for `rows` bytes of each row; rows are `step` bytes apart.
///
/// # Safety
/// The contract of [`Vector`]; `rows` is at least `BYTES`. `rows` bytes can be read of each row,
/// and `8 * rows * typesize` bytes can be written at `dest`.
#[inline(always)]
pub(super) unsafe fn bitunshuffle<V: Vector>(
    typesize: usize,
    src: *const u8,
    step: usize,
    dest: *mut u8,
    rows: usize,
) {
    // SAFETY: the caller's contract; `TILE_BYTES` holds one line of each plane of any column range.
    unsafe { unshuffle_in_tiles::<V, LINE, TILE_BYTES>(typesize, src, step, dest, rows) }
}

/// True if [`bitunshuffle_in_bursts`] is faster than [`bitunshuffle`]: at least every second row
/// conflicts in the L1 cache, and all rows are in L2.
pub(super) fn read_bursts_pay(typesize: usize, step: usize, rows: usize) -> bool {
    typesize <= COLUMNS
        && rows >= HALF_BURST
        && write_combining::pays(step, EVERY_OTHER_ROW)
        && !exceeds_l2(GROUP * typesize * step)
}

/// Runs [`bitunshuffle`] in bursts.
///
/// # Safety
/// The same conditions as for [`bitunshuffle`]; `typesize` is at most [`COLUMNS`], and `rows` at
/// least [`HALF_BURST`].
#[inline(always)]
pub(super) unsafe fn bitunshuffle_in_bursts<V: Vector>(
    typesize: usize,
    src: *const u8,
    step: usize,
    dest: *mut u8,
    rows: usize,
) {
    // SAFETY: the caller's contract; `BURST_TILE_BYTES` holds `COLUMNS` columns of half bursts.
    unsafe {
        unshuffle_in_tiles::<V, HALF_BURST, BURST_TILE_BYTES>(typesize, src, step, dest, rows);
    }
}

/// Runs [`bitunshuffle`] in tiles of `SPAN` groups and at most `BYTES` bytes.
///
/// # Safety
/// The same conditions as for [`bitunshuffle`]; `BYTES` bytes hold all planes of a column range,
/// `SPAN` bytes each, and `rows` is at least `SPAN` if `SPAN` is more than a line.
#[inline(always)]
unsafe fn unshuffle_in_tiles<V: Vector, const SPAN: usize, const BYTES: usize>(
    typesize: usize,
    src: *const u8,
    step: usize,
    dest: *mut u8,
    rows: usize,
) {
    let mut tile = Tile([MaybeUninit::uninit(); BYTES]);
    let tile: *mut u8 = tile.0.as_mut_ptr().cast();
    let span = if rows >= SPAN { SPAN } else { V::BYTES };
    let prefetch = Prefetch::for_reading(typesize, rows);
    let mut done = 0;
    while done < rows {
        let first = done.min(rows - span);
        for (range, _) in column_ranges(typesize) {
            // SAFETY: groups `first .. first + span` exist, and each bit row has these bytes; all
            // planes of the range are filled before they are read.
            unsafe {
                for j in 0..range.width {
                    let row = src.add(GROUP * (range.column + j) * step + first);
                    let plane = tile.add(j * SPAN);
                    let plane_stride = range.width * SPAN;
                    prefetch.rows::<SPAN>(row, step);
                    if SPAN == LINE {
                        for at in (0..span).step_by(V::BYTES) {
                            transpose_rows::<V>(row.add(at), step, plane.add(at), plane_stride);
                        }
                    } else {
                        copy_rows::<V, SPAN>(row, step, plane, plane_stride);
                        for at in (0..span).step_by(V::BYTES) {
                            transpose_rows::<V>(
                                plane.add(at),
                                plane_stride,
                                plane.add(at),
                                plane_stride,
                            );
                        }
                    }
                }
                let groups = dest.add(first * GROUP * typesize);
                if range.column == 0 {
                    prefetch.items(groups, span, typesize);
                }
                write_groups::<V, SPAN>(typesize, range, tile, groups, span);
            }
        }
        done = first + span;
    }
}
