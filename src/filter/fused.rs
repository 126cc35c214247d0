//! Adjacent filters that are applied together, tile by tile.
//!
//! ```text
//! items  → DELTA, TRUNC_PREC, INT_TRUNC →  items  → SHUFFLE →  planes  → BYTEDELTA →  planes
//! ```
//!
//! Applied alone, each filter reads and writes a whole block, which the L1 cache does not hold. All
//! of them process the items, or the bytes of a plane, in order. Therefore all filters can be
//! applied to one tile of 8 KiB, and then to the next, without intermediate blocks. Differences of
//! plane bytes are computed as byte-wise differences of items, before the shuffle and after the
//! unshuffle.

use super::interface::{FilterCall, PartialFilter};
use crate::Result;
use crate::kernels::{LINE, bytedelta, shuffle};
use std::ops::Range;

/// Bytes of a tile; two tiles fit the L1 cache.
const TILE: usize = 8 << 10;
/// The largest item size. A tile of larger items writes too few bytes to each plane.
const MAX_TYPESIZE: usize = 16;
/// The smallest block filtered in tiles, in bytes; smaller blocks fit the L1 cache.
const MIN_BLOCK: usize = 2 * TILE;

/// A tile buffer, aligned to a cache line.
#[repr(align(64))]
struct Tile([u8; TILE]);

/// A shuffle with the filters before and after it.
pub(crate) struct FusedFilters<'a> {
    /// The filter applied to the items before the shuffle.
    item_filter: Option<(&'a dyn PartialFilter, FilterCall<'a>)>,
    /// Bytes of an item.
    typesize: usize,
    /// Whether BYTEDELTA follows the shuffle.
    differences: bool,
}

impl<'a> FusedFilters<'a> {
    /// Whether blocks of `len` bytes can be filtered in tiles.
    pub fn supports(typesize: usize, len: usize) -> bool {
        len >= MIN_BLOCK && (2..=MAX_TYPESIZE).contains(&typesize) && len.is_multiple_of(typesize)
    }

    /// Returns the filters around a shuffle of items of `typesize` bytes.
    pub fn new(
        item_filter: Option<(&'a dyn PartialFilter, FilterCall<'a>)>,
        typesize: usize,
        differences: bool,
    ) -> FusedFilters<'a> {
        FusedFilters { item_filter, typesize, differences }
    }

    /// Whether decompression can be done in tiles: the running sum needs an item size that is a
    /// power of two.
    pub fn supports_backward(&self) -> bool {
        !self.differences || self.typesize.is_power_of_two()
    }

    /// Filters a block of a [supported](Self::supports) size. Not inlined, so that callers do not
    /// reserve stack for the tiles when they only shuffle.
    ///
    /// # Errors
    /// Returns the errors of the filter before the shuffle.
    #[inline(never)]
    pub fn forward(&self, src: &[u8], dest: &mut [u8]) -> Result<()> {
        let typesize = self.typesize;
        let (mut items, mut differences) = (Tile([0; TILE]), Tile([0; TILE]));
        let mut last = [0; MAX_TYPESIZE];
        let last = &mut last[..typesize];
        // Aligns the tiles of the first plane to cache lines, and those of the other planes if the
        // size of a plane is a multiple of a line.
        let before_line = dest.as_ptr().addr() % LINE;
        for range in self.ranges(src.len() / typesize, before_line) {
            let bytes = range.start * typesize..range.end * typesize;
            let mut tile = match &self.item_filter {
                Some((filter, call)) => {
                    let tile = &mut items.0[..bytes.len()];
                    filter.forward_range(call, src, bytes.start, tile)?;
                    tile
                }
                None => &src[bytes],
            };
            if self.differences {
                let (first, rest) = differences.0[..tile.len()].split_at_mut(typesize);
                let tail_start = tile.len() - typesize;
                bytedelta::encode_items(&tile[..typesize], last, first);
                bytedelta::encode_items(&tile[typesize..], &tile[..tail_start], rest);
                last.copy_from_slice(&tile[tail_start..]);
                tile = &differences.0[..tile.len()];
            }
            shuffle::shuffle_range(typesize, tile, range.start, dest);
        }
        Ok(())
    }

    /// Undoes the filters for a block of a [supported](Self::supports) size, given its planes.
    ///
    /// # Errors
    /// Returns the errors of the filter before the shuffle.
    pub fn backward(&self, planes: &[&[u8]], dest: &mut [u8]) -> Result<()> {
        let typesize = self.typesize;
        let mut ranges: [&[u8]; MAX_TYPESIZE] = [&[]; MAX_TYPESIZE];
        let ranges = &mut ranges[..typesize];
        let mut last = [0; MAX_TYPESIZE];
        let last = &mut last[..typesize];
        for range in self.ranges(dest.len() / typesize, 0) {
            for (to, plane) in ranges.iter_mut().zip(planes) {
                *to = &plane[range.clone()];
            }
            let bytes = range.start * typesize..range.end * typesize;
            let tile = &mut dest[bytes.clone()];
            shuffle::unshuffle_planes(ranges, tile);
            if self.differences {
                bytedelta::decode_items_in_place(last, tile);
                last.copy_from_slice(&tile[tile.len() - typesize..]);
            }
            if let Some((filter, call)) = &self.item_filter {
                filter.backward_range(call, dest, bytes)?;
            }
        }
        Ok(())
    }

    /// Undoes the filters for a block whose planes are adjacent in `src`.
    ///
    /// # Errors
    /// Returns the errors of [`FusedFilters::backward`].
    pub fn backward_contiguous(&self, src: &[u8], dest: &mut [u8]) -> Result<()> {
        let mut planes: [&[u8]; MAX_TYPESIZE] = [&[]; MAX_TYPESIZE];
        let planes = &mut planes[..self.typesize];
        for (plane, bytes) in planes.iter_mut().zip(src.chunks_exact(src.len() / self.typesize)) {
            *plane = bytes;
        }
        self.backward(planes, dest)
    }

    /// Returns the item ranges of the tiles of a block; the first tile has `alignment` items fewer.
    fn ranges(&self, items: usize, alignment: usize) -> impl Iterator<Item = Range<usize>> {
        let max_items = TILE / self.typesize / LINE * LINE;
        let first = max_items - alignment;
        std::iter::successors(Some(0..first.min(items)), move |range| {
            (range.end < items).then(|| range.end..(range.end + max_items).min(items))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{Pipeline, Reference, SLOTS, Scratch, Slot, id, info};
    use crate::{CallContext, Error};

    const VERSION: u8 = 5;

    /// Returns pseudo-random bytes.
    fn noise(len: usize, seed: u32) -> Vec<u8> {
        let mut state = seed;
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        std::iter::repeat_with(next).take(len).collect()
    }

    /// Applies the filters to a block one after the other, in the order of compression or, if
    /// `back`, of decompression.
    fn apply_separately(slots: &[Slot], call: &FilterCall<'_>, src: &[u8], back: bool) -> Vec<u8> {
        let mut order: Vec<Slot> = slots.to_vec();
        if back {
            order.reverse();
        }
        let mut block = src.to_vec();
        for slot in order {
            let filter = info(slot.id).unwrap().filter;
            let (id, meta) = (slot.id, slot.meta);
            let call = FilterCall { id, meta, ..*call };
            let mut next = vec![0xEE; block.len()];
            if back {
                filter.backward(&call, &block, &mut next).unwrap();
            } else {
                filter.forward(&call, &block, &mut next).unwrap();
            }
            block = next;
        }
        block
    }

    /// Returns the filters that can precede the shuffle of items of this size.
    fn before(typesize: usize) -> Vec<Option<Slot>> {
        let slot = |id, meta| Some(Slot { id, meta });
        let mut before = vec![None, slot(id::DELTA, 0)];
        if matches!(typesize, 4 | 8) {
            before.push(slot(id::TRUNC_PREC, 10));
        }
        if matches!(typesize, 2 | 4 | 8) {
            before.push(slot(id::INT_TRUNC, -3i8 as u8));
        }
        before
    }

    fn context<'a>(typesize: usize) -> CallContext<'a> {
        CallContext { parent: None, user_data: None, chunk: &[], typesize, blocksize: 0 }
    }

    #[test]
    #[cfg(feature = "plugins")]
    fn fused_filters_equal_separate_ones() {
        for typesize in 2..=MAX_TYPESIZE {
            let items = TILE / typesize;
            for count in [2 * items + 2, 2 * items + 65, 5 * items - 1] {
                let src = noise(count * typesize, 1);
                let block = noise(count * typesize + 3, 2);
                for before in before(typesize) {
                    for differences in [false, true] {
                        let mut slots: Vec<Slot> = before.into_iter().collect();
                        let shuffle = (id::SHUFFLE, 0);
                        let bytedelta = (id::BYTEDELTA, typesize as u8);
                        for (id, meta) in
                            [Some(shuffle), differences.then_some(bytedelta)].into_iter().flatten()
                        {
                            slots.push(Slot { id, meta });
                        }
                        for reference in [Reference::Own, Reference::Block(&block)] {
                            check(&slots, typesize, reference, &src);
                        }
                    }
                }
            }
        }
    }

    /// Compares a pipeline of these slots with its filters applied one by one.
    fn check(slots: &[Slot], typesize: usize, reference: Reference<'_>, src: &[u8]) {
        let ctx = context(typesize);
        let call = FilterCall { id: id::NONE, meta: 0, version: VERSION, reference, ctx };
        let mut filled = [Slot::default(); SLOTS];
        filled[..slots.len()].copy_from_slice(slots);
        let pipeline = Pipeline::new(&filled, VERSION, typesize);
        let mut scratch = Scratch::default();
        let planes = pipeline.forward(reference, &ctx, src, &mut scratch).unwrap().to_vec();
        let (ids, len) = (slots.iter().map(|slot| slot.id), src.len());
        let name = format!("{:?} of {len} bytes, items of {typesize}", ids.collect::<Vec<_>>());
        assert!(planes == apply_separately(slots, &call, src, false), "{name}");
        let mut back = vec![0xEE; len];
        pipeline.backward(reference, &ctx, &planes, &mut scratch, &mut back).unwrap();
        assert!(back == apply_separately(slots, &call, &planes, true), "{name}");
    }

    #[test]
    #[cfg(feature = "plugins")]
    fn only_item_shuffles_next_to_other_filters_are_fused() {
        const LONG: usize = 8 * TILE;
        let is_fused = |slots: &[(u8, u8)], typesize: usize, len: usize| {
            let mut filled = [Slot::default(); SLOTS];
            for (slot, &(id, meta)) in filled.iter_mut().zip(slots) {
                *slot = Slot { id, meta };
            }
            let pipeline = Pipeline::new(&filled, VERSION, typesize);
            let fused = pipeline.fused_backward(Reference::Own, &context(typesize), len);
            fused.is_some()
        };
        let (delta, shuffle) = ((id::DELTA, 0), (id::SHUFFLE, 0));
        let bytedelta = |channels| (id::BYTEDELTA, channels);
        assert!(is_fused(&[delta, shuffle], 8, LONG));
        assert!(is_fused(&[delta, shuffle, bytedelta(8)], 8, LONG));
        assert!(is_fused(&[shuffle, bytedelta(8)], 8, LONG));
        assert!(is_fused(&[delta, shuffle], 12, LONG * 3));
        assert!(!is_fused(&[shuffle, bytedelta(12)], 12, LONG * 3));
        assert!(!is_fused(&[shuffle, bytedelta(4)], 8, LONG));
        assert!(!is_fused(&[shuffle], 8, LONG));
        assert!(!is_fused(&[(id::TRUNC_PREC, 10), shuffle], 8, LONG));
        assert!(!is_fused(&[shuffle, delta], 8, LONG));
        assert!(!is_fused(&[delta, delta, shuffle], 8, LONG));
        assert!(!is_fused(&[delta, (id::SHUFFLE, 4)], 8, LONG));
        assert!(!is_fused(&[delta, (id::BITSHUFFLE, 0)], 8, LONG));
        assert!(!is_fused(&[delta, shuffle], 8, MIN_BLOCK - 8));
        assert!(!is_fused(&[delta, shuffle], 8, LONG + 4));
        assert!(!is_fused(&[delta, shuffle], 24, LONG * 3));
    }

    #[test]
    fn a_short_reference_is_an_error() {
        let (src, reference) = (noise(MIN_BLOCK, 1), [0; 100]);
        let mut slots = [Slot::default(); SLOTS];
        (slots[0].id, slots[1].id) = (id::DELTA, id::SHUFFLE);
        let pipeline = Pipeline::new(&slots, VERSION, 8);
        let (reference, mut scratch) = (Reference::Block(&reference), Scratch::default());
        let forward = pipeline.forward(reference, &context(8), &src, &mut scratch);
        assert_eq!(forward.err(), Some(Error::FilterPipeline));
        let mut dest = vec![0; src.len()];
        let backward = pipeline.backward(reference, &context(8), &src, &mut scratch, &mut dest);
        assert_eq!(backward, Err(Error::Data));
    }
}
