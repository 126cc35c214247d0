//! The byte shuffle with vectors, for every level.
//!
//! A shuffle is the transposition of a matrix of bytes: items are rows, planes are columns. The
//! unit of work is a *tile*: as many items as a vector has bytes, and up to 16 columns. Lane `l`
//! processes the items `16 l ..= 16 l + 15` of the tile, so every resulting register holds `BYTES`
//! consecutive items of one plane, and no byte changes its lane.
//!
//! Within a lane a tile of 16 columns is a 16 x 16 matrix in 16 registers. Number its 256 bytes by
//! (register, index): interleaving register `k` with register `k + 8`, for all `k`, rotates that
//! 8-bit number left by one. Four such rounds swap its halves, which is the transposition. The same
//! rotation serves narrower items: log₂ `C` rounds of `C` registers (`C` a power of two) turn
//! planes into items. For the opposite direction a byte shuffle first sorts the `16 / C` items of
//! each register by column, followed by log₂ `C` rounds that interleave units of `16 / C` bytes;
//! where an instruction separates the even bytes of two registers from the odd ones, log₂ `C`
//! rounds of it suffice if the items have `C` bytes.
//!
//! Items of up to 16 bytes are processed like items of the next power of two `C`: each register is
//! loaded at the address of its items, so it also holds some bytes of the following items, which
//! are discarded. A load may therefore read a few bytes past the last item, and in the opposite
//! direction a store may write past it; the last tile uses a padded buffer. The last tile also
//! overlaps the preceding one, and writes the same bytes again.

use crate::kernels::cache::{
    CacheLevel, L1_WAYS, PREFETCH_DISTANCE, exceeds_l2, exceeds_l3, has_set_conflicts, prefetch,
    prefetch_ahead, prefetch_pays, second_tile,
};
use crate::kernels::unroll::unroll;
use crate::kernels::vector::{LANE, LINE, Vector};
use crate::kernels::write_combining::{self, BURST, HALF_BURST, StagedRows};
use std::mem::MaybeUninit;
use std::ptr::copy_nonoverlapping;

/// Columns of a tile.
pub(in crate::kernels) const COLUMNS: usize = 16;

/// The planes that an unshuffle reads.
pub(super) trait Planes: Copy {
    /// Returns the start of plane `j`.
    ///
    /// # Safety
    /// `j` is below the number of planes.
    unsafe fn plane(self, j: usize) -> *const u8;
}

/// Adjacent planes.
#[derive(Clone, Copy)]
pub(super) struct Contiguous {
    /// The start of plane 0.
    pub(super) start: *const u8,
    /// Bytes of a plane.
    pub(super) items: usize,
}

impl Planes for Contiguous {
    #[inline(always)]
    unsafe fn plane(self, j: usize) -> *const u8 {
        // SAFETY: by the caller's contract plane `j` is inside the buffer of planes.
        unsafe { self.start.add(j * self.items) }
    }
}

impl Planes for &[&[u8]] {
    #[inline(always)]
    unsafe fn plane(self, j: usize) -> *const u8 {
        // SAFETY: the caller's contract.
        unsafe { self.get_unchecked(j).as_ptr() }
    }
}

/// Returns the number of registers, a power of two, with which items of `typesize` (at most 16)
/// bytes are processed.
#[inline(always)]
const fn class<V: Vector>(typesize: usize) -> usize {
    if V::HAS_SHUFFLE_BYTES || typesize.is_power_of_two() {
        typesize.next_power_of_two()
    } else {
        COLUMNS
    }
}

/// Runs one round: interleaves register `k` with register `k + class / 2`.
///
/// # Safety
/// The contract of [`Vector`].
#[inline(always)]
unsafe fn round<V: Vector, const UNIT: usize>(class: usize, r: [V; COLUMNS]) -> [V; COLUMNS] {
    let mut out = r;
    unroll!(8: k < class / 2, {
        // SAFETY: the caller's contract.
        (out[2 * k], out[2 * k + 1]) = unsafe { r[k].interleave::<UNIT>(r[k + class / 2]) };
    });
    out
}

/// Runs the rounds that rotate the byte number left by `bits`, at most 4.
///
/// # Safety
/// The contract of [`Vector`].
#[inline(always)]
pub(in crate::kernels) unsafe fn rotate<V: Vector, const UNIT: usize>(
    class: usize,
    bits: u32,
    mut r: [V; COLUMNS],
) -> [V; COLUMNS] {
    // SAFETY: the caller's contract.
    unsafe {
        if bits >= 1 {
            r = round::<V, UNIT>(class, r);
        }
        if bits >= 2 {
            r = round::<V, UNIT>(class, r);
        }
        if bits >= 3 {
            r = round::<V, UNIT>(class, r);
        }
        if bits >= 4 {
            r = round::<V, UNIT>(class, r);
        }
        r
    }
}

/// Reverses [`round`] with units of one byte: separates the bytes of registers `2 k` and `2 k + 1`.
///
/// # Safety
/// The contract of [`Vector`].
#[inline(always)]
unsafe fn reverse_round<V: Vector>(class: usize, r: [V; COLUMNS]) -> [V; COLUMNS] {
    let mut out = r;
    unroll!(8: k < class / 2, {
        // SAFETY: the caller's contract.
        (out[k], out[k + class / 2]) = unsafe { r[2 * k].deinterleave(r[2 * k + 1]) };
    });
    out
}

/// Runs the rounds that rotate the byte number right by log₂ `class` bits.
///
/// # Safety
/// The contract of [`Vector`].
#[inline(always)]
unsafe fn rotate_right<V: Vector>(class: usize, mut r: [V; COLUMNS]) -> [V; COLUMNS] {
    // SAFETY: the caller's contract.
    unsafe {
        r = reverse_round(class, r);
        if class >= 4 {
            r = reverse_round(class, r);
        }
        if class >= 8 {
            r = reverse_round(class, r);
        }
        if class >= 16 {
            r = reverse_round(class, r);
        }
        r
    }
}

/// Transposes the 16 x 16 bytes of each lane.
///
/// # Safety
/// The contract of [`Vector`].
#[inline(always)]
unsafe fn transpose<V: Vector>(r: [V; COLUMNS]) -> [V; COLUMNS] {
    // SAFETY: the caller's contract.
    unsafe { rotate::<V, 1>(COLUMNS, 4, r) }
}

/// Reads 16 columns of a tile: register `j` of the result holds byte `j` of each of the `BYTES`
/// items that start at `src` and are `stride` bytes apart.
///
/// # Safety
/// The contract of [`Vector`]; 16 bytes can be read at each item.
#[inline(always)]
pub(in crate::kernels) unsafe fn read_columns<V: Vector>(
    src: *const u8,
    stride: usize,
) -> [V; COLUMNS] {
    // SAFETY: register `k` reads 16 bytes at the items `k`, `k + 16` …, all below `BYTES`.
    unsafe {
        let mut r = [V::splat(0); COLUMNS];
        unroll!(16: k, {
            r[k] = V::load_lanes(src.add(k * stride), LANE * stride);
        });
        transpose(r)
    }
}

/// Reverses [`read_columns`]: writes 16 bytes to each of `BYTES` items.
///
/// # Safety
/// The contract of [`Vector`]; 16 bytes can be written at each item.
#[inline(always)]
pub(in crate::kernels) unsafe fn write_columns<V: Vector>(
    columns: [V; COLUMNS],
    dest: *mut u8,
    stride: usize,
) {
    // SAFETY: as in `read_columns`.
    unsafe { store_in_order(transpose(columns), COLUMNS, dest, stride) }
}

/// Writes lane `l` of register `k` at `dest + (l * class + k) * step` in ascending order, so that for
/// a `step` below 16 each store overwrites the excess bytes of the preceding one. Four
/// adjacent lanes are written as one cache line.
///
/// # Safety
/// The contract of [`Vector`]; 16 bytes can be written at each of these addresses.
#[inline(always)]
unsafe fn store_in_order<V: Vector>(r: [V; COLUMNS], class: usize, dest: *mut u8, step: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        if V::LANES == 4 && step == LANE && class >= 4 {
            unroll!(4: i < class / 4, {
                let four = [r[4 * i], r[4 * i + 1], r[4 * i + 2], r[4 * i + 3]];
                V::store_lanes(four, dest.add(4 * i * LANE), class * LANE);
            });
            return;
        }
        unroll!(16: k < class, { r[k].store_lane::<0>(dest.add(k * step)) });
        if V::LANES > 1 {
            unroll!(16: k < class, {
                r[k].store_lane::<1>(dest.add((class + k) * step));
            });
        }
        if V::LANES > 2 {
            unroll!(16: k < class, {
                r[k].store_lane::<2>(dest.add((2 * class + k) * step));
            });
            unroll!(16: k < class, {
                r[k].store_lane::<3>(dest.add((3 * class + k) * step));
            });
        }
    }
}

/// Reads one tile of items of `TS` <= 16 bytes: register `j < TS` of the result is column `j`.
///
/// # Safety
/// The contract of [`Vector`]; `BYTES * TS` bytes can be read at `src`, and 16 more unless `TS` is
/// a power of two.
#[inline(always)]
pub(in crate::kernels) unsafe fn read_narrow<V: Vector, const TS: usize>(
    src: *const u8,
) -> [V; COLUMNS] {
    let class = class::<V>(TS);
    let group = COLUMNS / class;
    // SAFETY: a register reads at most 16 bytes from the start of its last group of items.
    unsafe {
        let mut r = [V::splat(0); COLUMNS];
        unroll!(16: k < class, {
            r[k] = V::load_lanes(src.add(k * group * TS), LANE * TS);
        });
        if V::HAS_DEINTERLEAVE && TS == class {
            return rotate_right(class, r);
        }
        if group == 1 || !V::HAS_SHUFFLE_BYTES {
            return rotate::<V, 1>(class, 4, r);
        }
        let by_column = const { sort_by_column(TS) };
        unroll!(16: k < class, { r[k] = r[k].shuffle_bytes(&by_column) });
        match group {
            2 => rotate::<V, 2>(class, 3, r),
            4 => rotate::<V, 4>(class, 2, r),
            _ => rotate::<V, 8>(class, 1, r),
        }
    }
}

/// Reverses [`read_narrow`]. Unless `TS` is a power of two it may overwrite the 16 bytes after the
/// tile.
///
/// # Safety
/// The contract of [`Vector`]; `BYTES * TS` bytes can be written at `dest`, and 16 more unless `TS`
/// is a power of two.
#[inline(always)]
pub(in crate::kernels) unsafe fn write_narrow<V: Vector, const TS: usize>(
    columns: [V; COLUMNS],
    dest: *mut u8,
) {
    let class = class::<V>(TS);
    let group = COLUMNS / class;
    // SAFETY: a register writes 16 bytes at the start of a group of items inside the tile.
    unsafe {
        let mut r = rotate::<V, 1>(class, class.ilog2(), columns);
        if TS != class && group > 1 {
            let packed = const { pack(TS) };
            unroll!(16: k < class, { r[k] = r[k].shuffle_bytes(&packed) });
        }
        store_in_order(r, class, dest, group * TS);
    }
}

/// Returns the shuffle table that sorts `16 / C` items of `ts` bytes by column: byte `j` of item
/// `g` moves to index `j * (16 / C) + g`.
const fn sort_by_column(ts: usize) -> [u8; LANE] {
    let group = COLUMNS / ts.next_power_of_two();
    let mut table = [u8::MAX; LANE];
    let mut pos = 0;
    while pos < ts * group {
        table[pos] = ((pos % group) * ts + pos / group) as u8;
        pos += 1;
    }
    table
}

/// Returns the shuffle table that packs `16 / C` items of `ts` bytes, each padded to `C` bytes.
const fn pack(ts: usize) -> [u8; LANE] {
    let class = ts.next_power_of_two();
    let mut table = [u8::MAX; LANE];
    let mut pos = 0;
    while pos < COLUMNS / class * ts {
        table[pos] = (pos / ts * class + pos % ts) as u8;
        pos += 1;
    }
    table
}

/// Returns an upper bound of the bytes that [`read_narrow`] and [`write_narrow`] access after a
/// tile.
const fn excess(typesize: usize) -> usize {
    if typesize.is_power_of_two() { 0 } else { LANE }
}

/// Bytes of a tile of items of up to 16 bytes, with the excess.
const PADDED: usize = LINE * COLUMNS + LANE;

/// Writes the columns `skip..count` to planes `plane_stride` bytes apart.
///
/// # Safety
/// The contract of [`Vector`]; `BYTES` bytes can be written at `dest + j * plane_stride` for each
/// such column `j`.
#[inline(always)]
unsafe fn store_planes<V: Vector>(
    columns: [V; COLUMNS],
    skip: usize,
    count: usize,
    dest: *mut u8,
    plane_stride: usize,
) {
    unroll!(16: j < count, {
        if j >= skip {
            // SAFETY: the caller's contract.
            unsafe { columns[j].store(dest.add(j * plane_stride)) }
        }
    });
}

/// Reads `count` planes, the first one being plane `first`, from index `item` on.
///
/// # Safety
/// The contract of [`Vector`]; the planes exist and have `BYTES` bytes from `item` on.
#[inline(always)]
unsafe fn load_planes<V: Vector>(
    planes: impl Planes,
    first: usize,
    count: usize,
    item: usize,
) -> [V; COLUMNS] {
    // SAFETY: the caller's contract.
    unsafe {
        let mut columns = [V::splat(0); COLUMNS];
        unroll!(16: j < count, {
            columns[j] = V::load(planes.plane(first + j).add(item));
        });
        columns
    }
}

/// The value of `TS` for items of 9 to 15 bytes whose size is not a constant. They differ only in
/// addresses, and a copy of the code for each of them would not be faster.
pub(super) const ANY: usize = 0;

/// Whether a loop processes two tiles in an iteration: in one lane a tile of narrow items takes so
/// few instructions that those of the loop count.
const fn are_paired<V: Vector, const TS: usize>() -> bool {
    V::LANES == 1 && TS != ANY && TS <= 4
}

/// Reads one tile of items of `TS` bytes, or of `typesize` (9 to 15) bytes if `TS` is [`ANY`].
///
/// # Safety
/// `BYTES * typesize` bytes can be read at `src`, and 16 more unless `typesize` is a power of two.
#[inline(always)]
unsafe fn read_tile<V: Vector, const TS: usize>(typesize: usize, src: *const u8) -> [V; COLUMNS] {
    // SAFETY: the caller's contract; a load of 16 bytes at the last item ends in the 16 bytes after
    // the tile, which can be read unless the size is a power of two.
    unsafe { if TS == ANY { read_columns::<V>(src, typesize) } else { read_narrow::<V, TS>(src) } }
}

/// Reverses [`read_tile`].
///
/// # Safety
/// The same conditions as for [`write_narrow`].
#[inline(always)]
unsafe fn write_tile<V: Vector, const TS: usize>(
    typesize: usize,
    columns: [V; COLUMNS],
    dest: *mut u8,
) {
    // SAFETY: as in `read_tile`.
    unsafe {
        if TS == ANY {
            write_columns(columns, dest, typesize);
        } else {
            write_narrow::<V, TS>(columns, dest);
        }
    }
}

/// Shuffles the tile of items of `TS` bytes at `src` into planes; plane 0 begins at `dest`.
///
/// # Safety
/// The same conditions as for [`read_tile`] and [`store_planes`].
#[inline(always)]
unsafe fn shuffle_tile<V: Vector, const TS: usize>(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    plane_stride: usize,
    prefetch_next: bool,
) {
    // SAFETY: the caller's contract.
    unsafe {
        let columns = read_tile::<V, TS>(typesize, src);
        if prefetch_next {
            unroll!(16: j < typesize, {
                prefetch(CacheLevel::L1, dest.wrapping_add(j * plane_stride + LINE));
            });
        }
        store_planes(columns, 0, typesize, dest, plane_stride);
    }
}

/// Unshuffles the tile of items of `TS` bytes that begins at index `item` of the planes.
///
/// # Safety
/// The same conditions as for [`load_planes`] and [`write_tile`].
#[inline(always)]
unsafe fn unshuffle_tile<V: Vector, const TS: usize>(
    typesize: usize,
    planes: impl Planes,
    item: usize,
    dest: *mut u8,
) {
    // SAFETY: the caller's contract.
    unsafe { write_tile::<V, TS>(typesize, load_planes::<V>(planes, 0, typesize, item), dest) }
}

/// Shuffles `items` items of `TS` (2 to 16, or [`ANY`]) bytes into planes `plane_stride` bytes
/// apart.
///
/// # Safety
/// The contract of [`Vector`]; `src` is valid for reads of `items * typesize` bytes, and each of
/// the `typesize` planes for writes of `items` bytes; there are at least `BYTES` items. `TS` is
/// `typesize`, or it is [`ANY`] and `typesize` is 9 to 15.
#[inline(always)]
pub(super) unsafe fn shuffle_narrow<V: Vector, const TS: usize>(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    items: usize,
    plane_stride: usize,
) {
    let ts = if TS == ANY { typesize } else { TS };
    // SAFETY: tiles of the first loops end inside `src`, including the excess they read. The others
    // start at most at item `items - BYTES`, and are read from the padded buffer.
    unsafe {
        let prefetch_next = prefetch_pays(plane_stride, ts);
        let fits = |item: usize| (item + V::BYTES) * ts + excess(ts) <= items * ts;
        let mut item = 0;
        let mut step = second_tile(dest, V::BYTES, items);
        while fits(item) {
            let tile = src.add(item * ts);
            shuffle_tile::<V, TS>(ts, tile, dest.add(item), plane_stride, prefetch_next);
            item += step;
            step = V::BYTES;
            while are_paired::<V, TS>() && fits(item + V::BYTES) {
                let (tile, to) = (src.add(item * ts), dest.add(item));
                shuffle_tile::<V, TS>(ts, tile, to, plane_stride, prefetch_next);
                let (tile, to) = (tile.add(V::BYTES * ts), to.add(V::BYTES));
                shuffle_tile::<V, TS>(ts, tile, to, plane_stride, prefetch_next);
                item += 2 * V::BYTES;
            }
        }
        while item < items {
            item = item.min(items - V::BYTES);
            let mut padded = [0u8; PADDED];
            copy_nonoverlapping(src.add(item * ts), padded.as_mut_ptr(), V::BYTES * ts);
            shuffle_tile::<V, TS>(ts, padded.as_ptr(), dest.add(item), plane_stride, false);
            item += V::BYTES;
        }
    }
}

/// Unshuffles `items` items of `TS` (2 to 16, or [`ANY`]) bytes.
///
/// # Safety
/// The contract of [`Vector`]; each plane is valid for reads of `items` bytes, `dest` for writes of
/// `items * typesize` bytes; there are at least `BYTES` items. `TS` is `typesize`, or it is [`ANY`]
/// and `typesize` is 9 to 15.
#[inline(always)]
pub(super) unsafe fn unshuffle_narrow<V: Vector, const TS: usize>(
    typesize: usize,
    planes: impl Planes,
    dest: *mut u8,
    items: usize,
) {
    // The caller has narrower vectors for small items; without this, code for them would be
    // compiled.
    assert!(V::BYTES < LINE || TS == ANY || TS > COLUMNS / 2);
    let ts = if TS == ANY { typesize } else { TS };
    // SAFETY: as in `shuffle_narrow`, with reading and writing exchanged.
    unsafe {
        let fits = |item: usize| (item + V::BYTES) * ts + excess(ts) <= items * ts;
        let mut item = 0;
        while are_paired::<V, TS>() && fits(item + V::BYTES) {
            let to = dest.add(item * ts);
            unshuffle_tile::<V, TS>(ts, planes, item, to);
            unshuffle_tile::<V, TS>(ts, planes, item + V::BYTES, to.add(V::BYTES * ts));
            item += 2 * V::BYTES;
        }
        while fits(item) {
            unshuffle_tile::<V, TS>(ts, planes, item, dest.add(item * ts));
            item += V::BYTES;
        }
        while item < items {
            item = item.min(items - V::BYTES);
            let mut padded = [MaybeUninit::<u8>::uninit(); PADDED];
            unshuffle_tile::<V, TS>(ts, planes, item, padded.as_mut_ptr().cast());
            let tile = padded.as_ptr().cast();
            copy_nonoverlapping(tile, dest.add(item * ts), V::BYTES * ts);
            item += V::BYTES;
        }
    }
}

/// Prefetches [`COLUMNS`] planes from `column` on, three lines after the tile at `plane(j)`.
#[inline(always)]
fn prefetch_columns(column: usize, plane: impl Fn(usize) -> *const u8) {
    unroll!(16: j, { prefetch(CacheLevel::L2, plane(column + j).wrapping_add(PREFETCH_DISTANCE)) });
}

/// Shuffles `items` items of more than 16 bytes into planes `plane_stride` bytes apart.
///
/// # Safety
/// `typesize` is at least [`COLUMNS`]; otherwise the same conditions as for [`shuffle_narrow`].
#[inline(always)]
pub(super) unsafe fn shuffle_wide<V: Vector>(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    items: usize,
    plane_stride: usize,
) {
    let (last_item, last_column) = (items - V::BYTES, typesize - COLUMNS);
    let mut done = 0;
    let mut step = second_tile(dest, V::BYTES, items);
    let far = exceeds_l3(plane_stride * typesize);
    while done < items {
        let item = done.min(last_item);
        if far {
            prefetch_ahead(src.wrapping_add(item * typesize), V::BYTES * typesize);
        }
        for start in (0..typesize).step_by(COLUMNS) {
            let column = start.min(last_column);
            // SAFETY: the tile has `BYTES` items from `item` on and 16 columns from `column` on.
            unsafe {
                if far {
                    prefetch_columns(column, |j| dest.wrapping_add(j * plane_stride + item));
                }
                let columns = read_columns::<V>(src.add(item * typesize + column), typesize);
                let plane = dest.add(column * plane_stride + item);
                store_planes(columns, start - column, COLUMNS, plane, plane_stride);
            }
        }
        done = item + step;
        step = V::BYTES;
    }
}

/// True if [`shuffle_in_bursts`] is faster than the other functions.
pub(super) fn bursts_pay(typesize: usize, items: usize, plane_stride: usize) -> bool {
    typesize >= COLUMNS && items >= BURST && write_combining::pays(plane_stride, typesize)
}

/// Shuffles `items` items of at least 16 bytes into planes `plane_stride` bytes apart, staging
/// [`BURST`] bytes of each before they are written.
///
/// # Safety
/// The same conditions as for [`shuffle_narrow`], with at least [`BURST`] items of at least
/// [`COLUMNS`] bytes.
#[inline(always)]
pub(super) unsafe fn shuffle_in_bursts<V: Vector>(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    items: usize,
    plane_stride: usize,
) {
    let prefetch_next = exceeds_l2(plane_stride * typesize);
    let mut staged = StagedRows::<COLUMNS>::new();
    let staged = staged.as_mut_ptr();
    let (last_item, last_column) = (items - BURST, typesize - COLUMNS);
    let mut done = 0;
    let mut step = second_tile(dest, BURST, items);
    while done < items {
        let item = done.min(last_item);
        for start in (0..typesize).step_by(COLUMNS) {
            let column = start.min(last_column);
            // SAFETY: there are `BURST` items from `item` on and 16 columns from `column` on; the
            // staged bytes are filled before they are copied.
            unsafe {
                for at in (0..BURST).step_by(V::BYTES) {
                    let from = src.add((item + at) * typesize + column);
                    let columns = read_columns::<V>(from, typesize);
                    store_planes(columns, 0, COLUMNS, staged.add(at), BURST);
                }
                for j in start - column..COLUMNS {
                    let plane = dest.add((column + j) * plane_stride + item);
                    write_combining::write::<V, BURST>(prefetch_next, staged.add(j * BURST), plane);
                }
            }
        }
        done = item + step;
        step = BURST;
    }
}

/// Unshuffles `items` items of more than 16 bytes.
///
/// # Safety
/// `typesize` is at least [`COLUMNS`]; otherwise the same conditions as for [`unshuffle_narrow`].
#[inline(always)]
pub(super) unsafe fn unshuffle_wide<V: Vector>(
    typesize: usize,
    planes: impl Planes,
    dest: *mut u8,
    items: usize,
) {
    let (last_item, last_column) = (items - V::BYTES, typesize - COLUMNS);
    let far = exceeds_l3(items * typesize);
    let mut done = 0;
    while done < items {
        let item = done.min(last_item);
        if far {
            prefetch_ahead(dest.wrapping_add(item * typesize), V::BYTES * typesize);
        }
        for start in (0..typesize).step_by(COLUMNS) {
            let column = start.min(last_column);
            // SAFETY: as in `shuffle_wide`.
            unsafe {
                if far {
                    prefetch_columns(column, |j| planes.plane(j).wrapping_add(item));
                }
                let columns = load_planes::<V>(planes, column, COLUMNS, item);
                write_columns(columns, dest.add(item * typesize + column), typesize);
            }
        }
        done = item + V::BYTES;
    }
}

/// True if [`unshuffle_in_spans`] is faster than the other functions: the planes are in the L2 or
/// L3 cache, and more of their lines share a set of the L1 cache than it holds. Each line is then
/// evicted before all its bytes are read.
///
/// # Safety
/// There are `typesize` planes.
#[inline(always)]
pub(super) unsafe fn spans_pay(typesize: usize, planes: impl Planes, items: usize) -> bool {
    if typesize < COLUMNS || items < HALF_BURST || exceeds_l3(items * typesize) {
        return false;
    }
    // SAFETY: by the caller's contract there are `typesize` planes, at least 16.
    let stride = unsafe { planes.plane(1).addr().abs_diff(planes.plane(0).addr()) };
    has_set_conflicts(stride, typesize, L1_WAYS)
}

/// Unshuffles `items` items of at least 16 bytes. [`HALF_BURST`] bytes of each plane are copied to
/// the stack before they are used.
///
/// # Safety
/// The same conditions as for [`unshuffle_narrow`], with at least [`HALF_BURST`] items of at least
/// [`COLUMNS`] bytes.
#[inline(always)]
pub(super) unsafe fn unshuffle_in_spans<V: Vector>(
    typesize: usize,
    planes: impl Planes,
    dest: *mut u8,
    items: usize,
) {
    let mut staged = StagedRows::<COLUMNS>::new();
    let staged = staged.as_mut_ptr();
    let (last_item, last_column) = (items - HALF_BURST, typesize - COLUMNS);
    for start in (0..items).step_by(HALF_BURST) {
        let item = start.min(last_item);
        for start in (0..typesize).step_by(COLUMNS) {
            let column = start.min(last_column);
            // SAFETY: there are `HALF_BURST` items from `item` on and 16 planes from `column` on;
            // the staged bytes are filled before they are read.
            unsafe {
                for j in 0..COLUMNS {
                    let plane = planes.plane(column + j).add(item);
                    write_combining::copy::<V>(plane, staged.add(j * BURST), HALF_BURST);
                }
                let rows = Contiguous { start: staged, items: BURST };
                for at in (0..HALF_BURST).step_by(V::BYTES) {
                    let columns = load_planes::<V>(rows, 0, COLUMNS, at);
                    write_columns(columns, dest.add((item + at) * typesize + column), typesize);
                }
            }
        }
    }
}

/// Calls `$narrow` for a typesize from 2 to 16 with the constant for it, and evaluates `$wide` for
/// larger ones. Each constant has a function of its own at each level: without optimisation, the
/// stack frame of one function for all of them would be larger than the stack of a thread.
macro_rules! by_typesize {
    ($typesize:expr, $narrow:ident($($argument:expr),* $(,)?), $wide:expr $(,)?) => {
        match $typesize {
            2 => $narrow::<2>($($argument),*),
            3 => $narrow::<3>($($argument),*),
            4 => $narrow::<4>($($argument),*),
            5 => $narrow::<5>($($argument),*),
            6 => $narrow::<6>($($argument),*),
            7 => $narrow::<7>($($argument),*),
            8 => $narrow::<8>($($argument),*),
            12 => $narrow::<12>($($argument),*),
            16 => $narrow::<16>($($argument),*),
            9..=15 => $narrow::<{ $crate::kernels::shuffle::transpose::ANY }>($($argument),*),
            _ => $wide,
        }
    };
}

pub(super) use by_typesize;
