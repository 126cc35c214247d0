//! Unshuffle of items of whole 4-byte words, for AVX-512 with VBMI.
//!
//! The cost is dominated by shuffles across registers (Intel's CPUs execute one per cycle), and by
//! stores that are not whole cache lines. 16 bytes of each of four planes are loaded into the lanes
//! of one register, which needs no such shuffle, and one byte permutation converts them to one word
//! of each of 16 consecutive items. Registers of words are then interleaved in rounds: `(a, b)`
//! becomes `a0 b0 a1 b1 …`. With `W = N << C` registers, `N` odd, `C` rounds that interleave
//! register `k` with register `k + W / 2` make units of `1 << C` words, as in `transpose.rs`. Words
//! are loaded in an order in which each unit becomes consecutive words of one item. The result is
//! `N` streams of units, which are merged line by line.
//!
//! Planes are often powers of two apart; their lines are then evicted before their next 16 bytes
//! are read. For wider items the lines are therefore staged on the stack.

use super::transpose::{self, COLUMNS, Planes, by_typesize};
use crate::kernels::cache::{
    CacheLevel, L1_WAYS, PREFETCH_DISTANCE, exceeds_l3, has_set_conflicts, prefetch, prefetch_ahead,
};
use crate::kernels::cpu::prefers_half_loads;
use crate::kernels::unroll::unroll;
use crate::kernels::vector::avx512::Avx512;
use crate::kernels::vector::{LANE, LINE, Vector};
use crate::kernels::write_combining::{self, HALF_BURST, copy};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Bytes of a word.
const WORD: usize = 4;

/// Words of a register, and items assembled at once.
const WORDS: usize = LINE / WORD;

/// The largest number of streams.
const STREAMS: usize = 7;

/// Permutation table: byte `i` of lane `p` becomes byte `p` of word `i`.
const WORDS_OF_LANES: [u8; LINE] = {
    let mut table = [0; LINE];
    let mut pos = 0;
    while pos < LINE {
        table[pos] = (pos % WORD * LANE + pos / WORD) as u8;
        pos += 1;
    }
    table
};

/// Permutation tables that interleave the words of the low halves of two registers, and of their
/// high halves.
const INTERLEAVE: [[u32; WORDS]; 2] = {
    let mut tables = [[0; WORDS]; 2];
    let mut pos = 0;
    while pos < WORDS {
        let word = (pos % 2 * WORDS + pos / 2) as u32;
        tables[0][pos] = word;
        tables[1][pos] = word + WORDS as u32 / 2;
        pos += 1;
    }
    tables
};

/// The layout of items of `W` words.
struct Shape<const W: usize>;

impl<const W: usize> Shape<W> {
    /// The number of interleaving rounds.
    const ROUNDS: u32 = W.trailing_zeros();
    /// The number of streams of units after the rounds.
    const STREAMS: usize = W >> Self::ROUNDS;
    /// The number of registers of each stream.
    const STREAM_LEN: usize = 1 << Self::ROUNDS;
    /// `[i][j]`: the permutation that adds the words of stream `j`, the second operand, to line
    /// `i`. The first operand is the line merged from the preceding streams, or stream 0.
    const LINES: [[[u32; WORDS]; STREAMS]; STREAMS] = {
        let mut tables = [[[0; WORDS]; STREAMS]; STREAMS];
        let mut at = 0;
        while at < Self::STREAMS * WORDS {
            let (line, pos) = (at / WORDS, at % WORDS);
            let unit = at / Self::STREAM_LEN;
            let word = unit / Self::STREAMS * Self::STREAM_LEN + at % Self::STREAM_LEN;
            let mut stream = 1;
            while stream < Self::STREAMS {
                let from = if unit % Self::STREAMS == stream {
                    WORDS + word
                } else if unit % Self::STREAMS == 0 && stream == 1 {
                    word
                } else {
                    pos
                };
                tables[line][stream][pos] = from as u32;
                stream += 1;
            }
            at += 1;
        }
        tables
    };
}

/// Selects words from two registers.
///
/// # Safety
/// The CPU has the features.
#[inline(always)]
unsafe fn select(a: Avx512, b: Avx512, table: &[u32; WORDS]) -> Avx512 {
    // SAFETY: the caller's contract; the table has 64 bytes.
    unsafe {
        let table = _mm512_loadu_si512(table.as_ptr().cast());
        Avx512(_mm512_permutex2var_epi32(a.0, table, b.0))
    }
}

/// Loads one word of each of 16 items from their bytes in four planes.
///
/// # Safety
/// The CPU has the features; 16 bytes can be read at each address.
#[inline(always)]
unsafe fn load_words<const HALVES: bool>(planes: [*const u8; WORD]) -> Avx512 {
    // SAFETY: the caller's contract.
    unsafe {
        let table = _mm512_loadu_si512(WORDS_OF_LANES.as_ptr().cast());
        Avx512(_mm512_permutexvar_epi8(table, Avx512::<HALVES>::from_lanes(planes).0))
    }
}

/// Assembles 16 items of `W` words; `byte(j)` is the address of their bytes `j`.
///
/// # Safety
/// The CPU has the features; 16 bytes can be read at each address that `byte` returns, and 16 items
/// can be written at `dest`.
#[inline(always)]
unsafe fn assemble_items<const W: usize, const HALVES: bool>(
    byte: impl Fn(usize) -> *const u8,
    dest: *mut u8,
) {
    let (streams, stream_len) = (Shape::<W>::STREAMS, Shape::<W>::STREAM_LEN);
    // SAFETY: the caller's contract.
    unsafe {
        let mut r = [Avx512::splat(0); COLUMNS];
        unroll!(16: k < const W, {
            let first = WORD * (k % streams * stream_len + k / streams);
            let bytes = [byte(first), byte(first + 1), byte(first + 2), byte(first + 3)];
            r[k] = load_words::<HALVES>(bytes);
        });
        unroll!(4: _round < const Shape::<W>::ROUNDS as usize, {
            let from = r;
            unroll!(8: k < const W / 2, {
                let (a, b) = (from[k], from[k + W / 2]);
                r[2 * k] = select(a, b, &INTERLEAVE[0]);
                r[2 * k + 1] = select(a, b, &INTERLEAVE[1]);
            });
        });
        unroll!(16: line < const W, {
            let (reg, i) = (line / streams, line % streams);
            let mut merged = r[reg];
            unroll!(7: j < const Shape::<W>::STREAMS, {
                if j > 0 {
                    merged = select(merged, r[j * stream_len + reg], &Shape::<W>::LINES[i][j]);
                }
            });
            merged.store(dest.add(line * LINE));
        });
    }
}

/// The largest number of planes with lines in one set of a 12-way L1 cache for which loads of 16
/// bytes are faster than reading whole lines. For the 8-way L1 cache of Zen 4 the limit is
/// [`L1_WAYS`].
const MAX_CONFLICTS: usize = 16;

/// The largest number of planes.
const MAX_PLANES: usize = COLUMNS * WORD;

/// A stack buffer for some lines of each plane, at most [`HALF_BURST`] bytes.
#[repr(align(64))]
struct StagedPlanes([[MaybeUninit<u8>; HALF_BURST]; MAX_PLANES]);

/// Returns the largest item index up to 16 at which a cache line of `dest` starts, or 16 if there
/// is none or there are too few items to pay for an additional step.
#[inline(always)]
fn second_step(dest: *const u8, typesize: usize, items: usize) -> usize {
    const MIN_STEPS: usize = 16;
    let begins_line = |item: &usize| (dest.addr() + item * typesize).is_multiple_of(LINE);
    if items < MIN_STEPS * WORDS {
        return WORDS;
    }
    (1..=WORDS).rev().find(begins_line).unwrap_or(WORDS)
}

/// Unshuffles `items` items of `W` words.
///
/// # Safety
/// The CPU has the features; there are `W * WORD` planes, each valid for reads of `items` bytes,
/// and `dest` is valid for writes of `items * W` words; there are at least [`LINE`] items.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
unsafe fn unshuffle_words<const W: usize, const HALVES: bool>(
    planes: impl Planes,
    dest: *mut u8,
    items: usize,
) {
    let typesize = W * WORD;
    // SAFETY: the caller's contract. There are at least 12 planes, so plane 1 exists. Spans of
    // `HALF_BURST` bytes are used only for at least as many items, those of a line for at least
    // `LINE`; `assemble` has the same `W` and features as this function. The items of each step
    // exist, as the last one starts at most at `items - WORDS`.
    unsafe {
        let stride = planes.plane(1).addr().abs_diff(planes.plane(0).addr());
        if typesize > COLUMNS {
            if items >= HALF_BURST && write_combining::pays(stride, typesize) {
                let assemble = assemble_staged::<W, HALVES>;
                return unshuffle_lines::<HALF_BURST>(typesize, planes, dest, items, assemble);
            }
            if has_set_conflicts(stride, typesize, if HALVES { L1_WAYS } else { MAX_CONFLICTS }) {
                let assemble = assemble_staged::<W, HALVES>;
                return unshuffle_lines::<LINE>(typesize, planes, dest, items, assemble);
            }
        }
        let mut done = 0;
        let mut step = second_step(dest, typesize, items);
        let far = exceeds_l3(items * typesize);
        while done < items {
            let item = done.min(items - WORDS);
            if far {
                prefetch_ahead(dest.wrapping_add(item * typesize), WORDS * typesize);
            }
            assemble_items::<W, HALVES>(|j| planes.plane(j).add(item), dest.add(item * typesize));
            done = item + step;
            step = WORDS;
        }
    }
}

/// Assembles `items` items of `W` words from staged planes.
///
/// # Safety
/// The CPU has the features; each row of `planes` has `items` initialised bytes, `dest` is valid
/// for writes of `items * W` words, and `items` is a multiple of [`WORDS`].
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
unsafe fn assemble_staged<const W: usize, const HALVES: bool>(
    planes: &StagedPlanes,
    dest: *mut u8,
    items: usize,
) {
    let planes: *const u8 = planes.0.as_ptr().cast();
    for item in (0..items).step_by(WORDS) {
        // SAFETY: the caller's contract.
        unsafe {
            let to = dest.add(item * W * WORD);
            assemble_items::<W, HALVES>(|j| planes.add(j * HALF_BURST + item), to);
        }
    }
}

/// Runs [`unshuffle_words`], reading `SPAN` bytes, one line or more, of each plane at a time.
/// `assemble` is [`assemble_staged`] for this typesize: a pointer, so that this function is not
/// compiled for each one.
///
/// # Safety
/// The same conditions as for [`unshuffle_words`], with at least `SPAN` items. `assemble` is
/// [`assemble_staged`] with `W * WORD == typesize`.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
unsafe fn unshuffle_lines<const SPAN: usize>(
    typesize: usize,
    planes: impl Planes,
    dest: *mut u8,
    items: usize,
    assemble: unsafe fn(&StagedPlanes, *mut u8, usize),
) {
    const { assert!(SPAN.is_multiple_of(WORDS) && SPAN.is_multiple_of(LINE) && SPAN <= HALF_BURST) }
    let mut staged = StagedPlanes([[MaybeUninit::uninit(); HALF_BURST]; MAX_PLANES]);
    let far = exceeds_l3(items * typesize);
    let mut done = 0;
    while done < items {
        let first = done.min(items - SPAN);
        if far {
            prefetch_ahead(dest.wrapping_add(first * typesize), SPAN * typesize);
        }
        // SAFETY: `SPAN` items exist from `first` on, and a row of `staged` has room for them. All
        // rows that `assemble` reads, one for each of the `typesize` planes, are filled before.
        unsafe {
            for j in 0..typesize {
                let plane = planes.plane(j).add(first);
                if far {
                    prefetch(CacheLevel::L2, plane.wrapping_add(PREFETCH_DISTANCE));
                }
                copy::<Avx512>(plane, staged.0[j].as_mut_ptr().cast(), SPAN);
            }
            assemble(&staged, dest.add(first * typesize), SPAN);
        }
        done = first + SPAN;
    }
}

/// Unshuffles `items` items of `typesize` bytes if this is faster than `transpose.rs` for that
/// size; returns whether it did. Items of 4 and 8 bytes are excluded: on a Xeon memory limits their
/// speed.
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
    // SAFETY: the caller's contract.
    unsafe {
        if prefers_half_loads() {
            unshuffle_with::<true>(typesize, planes, dest, items)
        } else {
            unshuffle_with::<false>(typesize, planes, dest, items)
        }
    }
}

/// Runs [`unshuffle`], with half or whole register loads.
///
/// # Safety
/// The same conditions as for [`unshuffle`].
unsafe fn unshuffle_with<const HALVES: bool>(
    typesize: usize,
    planes: impl Planes,
    dest: *mut u8,
    items: usize,
) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        match typesize {
            12 => unshuffle_words::<3, HALVES>(planes, dest, items),
            16 => unshuffle_words::<4, HALVES>(planes, dest, items),
            20 => unshuffle_words::<5, HALVES>(planes, dest, items),
            24 => unshuffle_words::<6, HALVES>(planes, dest, items),
            28 => unshuffle_words::<7, HALVES>(planes, dest, items),
            32 => unshuffle_words::<8, HALVES>(planes, dest, items),
            40 => unshuffle_words::<10, HALVES>(planes, dest, items),
            48 => unshuffle_words::<12, HALVES>(planes, dest, items),
            56 => unshuffle_words::<14, HALVES>(planes, dest, items),
            64 => unshuffle_words::<16, HALVES>(planes, dest, items),
            _ => return false,
        }
    }
    true
}

/// Shuffles `items` items of `typesize` (2 or more) bytes into planes `plane_stride` bytes apart,
/// with loads to half registers.
///
/// # Safety
/// The same conditions as for [`transpose::shuffle_narrow`].
pub(super) unsafe fn shuffle_half_loads(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    items: usize,
    plane_stride: usize,
) {
    // SAFETY: the caller's contract.
    unsafe {
        by_typesize!(
            typesize,
            shuffle_narrow(typesize, src, dest, items, plane_stride),
            shuffle_wide(typesize, src, dest, items, plane_stride),
        );
    }
}

/// Runs [`shuffle_half_loads`] for items of `TS` bytes.
///
/// # Safety
/// The same conditions as for [`transpose::shuffle_narrow`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn shuffle_narrow<const TS: usize>(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    items: usize,
    plane_stride: usize,
) {
    // SAFETY: the caller's contract.
    unsafe {
        transpose::shuffle_narrow::<Avx512<true>, TS>(typesize, src, dest, items, plane_stride);
    }
}

/// Runs [`shuffle_half_loads`] for items of more than 16 bytes.
///
/// # Safety
/// The same conditions as for [`transpose::shuffle_wide`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn shuffle_wide(
    typesize: usize,
    src: *const u8,
    dest: *mut u8,
    items: usize,
    plane_stride: usize,
) {
    // SAFETY: the caller's contract.
    unsafe { transpose::shuffle_wide::<Avx512<true>>(typesize, src, dest, items, plane_stride) }
}
