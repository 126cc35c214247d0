//! Filters that follow each other, piece by piece.
//!
//! ```text
//! items  → DELTA, TRUNC_PREC, INT_TRUNC →  items  → SHUFFLE →  planes  → BYTEDELTA →  planes
//! ```
//!
//! Each of these filters alone reads a whole block and writes one, which by then has left the first-level cache. But all
//! of them go through the items, or the bytes of a plane, in order. So a piece of some kilobytes goes through all before
//! the next one does, and nothing needs a buffer on the way. Differences of the bytes of planes are the bytes of differences
//! of items, which are made in front of the shuffle and undone behind it.

use super::FilterCall;
use crate::Result;
use crate::kernels::{LINE, bytedelta, shuffle};
use std::ops::Range;

/// Bytes of a piece; two of them stay in the first-level cache.
const PIECE: usize = 8 << 10;
/// Bytes of the largest items. Of larger ones so few are in a piece that little is written to each plane at once.
const MAX_TYPESIZE: usize = 16;
/// Shorter blocks are in the first-level cache as a whole.
const SHORTEST: usize = 2 * PIECE;

/// A filter of which any part of a block can be done alone, from the beginning of an item to the end of one.
pub trait InParts {
    /// Makes the bytes from `from` on, as many as `dest` has, of what the filter makes of the block `src`.
    ///
    /// # Errors
    /// Those of [`forward`](super::Filter::forward).
    fn forward_part(
        &self,
        call: &FilterCall<'_>,
        src: &[u8],
        from: usize,
        dest: &mut [u8],
    ) -> Result<()>;

    /// Undoes a part of a block where it lies; what is in front of it has been undone.
    ///
    /// # Errors
    /// Those of [`backward`](super::Filter::backward).
    fn backward_part(
        &self,
        call: &FilterCall<'_>,
        block: &mut [u8],
        part: Range<usize>,
    ) -> Result<()>;
}

/// A piece, from the beginning of a line on.
#[repr(align(64))]
struct Piece([u8; PIECE]);

/// What a shuffle has before it and behind it.
pub(crate) struct Pieces<'a> {
    /// What is done to the items first.
    before: Option<(&'a dyn InParts, FilterCall<'a>)>,
    /// Bytes of an item.
    typesize: usize,
    /// Whether the planes become differences.
    differences: bool,
}

impl<'a> Pieces<'a> {
    /// Whether blocks of `len` bytes can be filtered so.
    pub fn suit(typesize: usize, len: usize) -> bool {
        len >= SHORTEST && (2..=MAX_TYPESIZE).contains(&typesize) && len.is_multiple_of(typesize)
    }

    /// A shuffle of items that these filters are around.
    pub fn new(
        before: Option<(&'a dyn InParts, FilterCall<'a>)>,
        typesize: usize,
        differences: bool,
    ) -> Pieces<'a> {
        Pieces {
            before,
            typesize,
            differences,
        }
    }

    /// Whether it can be undone so: sums are made of items whose size is a power of two.
    pub fn can_be_undone(&self) -> bool {
        !self.differences || self.typesize.is_power_of_two()
    }

    /// Filters a block that it suits. (It has a stack of its own, which a shuffle alone has no use for.)
    ///
    /// # Errors
    /// That of the filter before the shuffle.
    #[inline(never)]
    pub fn forward(&self, src: &[u8], dest: &mut [u8]) -> Result<()> {
        let typesize = self.typesize;
        let (mut items, mut differences) = (Piece([0; PIECE]), Piece([0; PIECE]));
        let mut last = [0; MAX_TYPESIZE];
        let last = &mut last[..typesize];
        // The pieces of the first plane begin with a line, and those of the others if planes are of whole lines.
        let before_line = dest.as_ptr().addr() % LINE;
        for part in self.parts(src.len() / typesize, before_line) {
            let bytes = part.start * typesize..part.end * typesize;
            let mut piece = match &self.before {
                Some((filter, call)) => {
                    let piece = &mut items.0[..bytes.len()];
                    filter.forward_part(call, src, bytes.start, piece)?;
                    piece
                }
                None => &src[bytes],
            };
            if self.differences {
                let (first, rest) = differences.0[..piece.len()].split_at_mut(typesize);
                let behind = piece.len() - typesize;
                bytedelta::encode_items(&piece[..typesize], last, first);
                bytedelta::encode_items(&piece[typesize..], &piece[..behind], rest);
                last.copy_from_slice(&piece[behind..]);
                piece = &differences.0[..piece.len()];
            }
            shuffle::shuffle_part(typesize, piece, part.start, dest);
        }
        Ok(())
    }

    /// Undoes the filters of a block that they suit, from its planes.
    ///
    /// # Errors
    /// That of the filter before the shuffle.
    pub fn backward(&self, planes: &[&[u8]], dest: &mut [u8]) -> Result<()> {
        let typesize = self.typesize;
        let mut parts: [&[u8]; MAX_TYPESIZE] = [&[]; MAX_TYPESIZE];
        let parts = &mut parts[..typesize];
        let mut last = [0; MAX_TYPESIZE];
        let last = &mut last[..typesize];
        for part in self.parts(dest.len() / typesize, 0) {
            for (to, plane) in parts.iter_mut().zip(planes) {
                *to = &plane[part.clone()];
            }
            let bytes = part.start * typesize..part.end * typesize;
            let piece = &mut dest[bytes.clone()];
            shuffle::unshuffle_planes(parts, piece);
            if self.differences {
                bytedelta::decode_items_in_place(last, piece);
                last.copy_from_slice(&piece[piece.len() - typesize..]);
            }
            if let Some((filter, call)) = &self.before {
                filter.backward_part(call, dest, bytes)?;
            }
        }
        Ok(())
    }

    /// [`Pieces::backward`] from planes that follow each other.
    ///
    /// # Errors
    /// As [`Pieces::backward`].
    pub fn backward_from(&self, src: &[u8], dest: &mut [u8]) -> Result<()> {
        let mut planes: [&[u8]; MAX_TYPESIZE] = [&[]; MAX_TYPESIZE];
        let planes = &mut planes[..self.typesize];
        for (plane, bytes) in planes
            .iter_mut()
            .zip(src.chunks_exact(src.len() / self.typesize))
        {
            *plane = bytes;
        }
        self.backward(planes, dest)
    }

    /// The items of the pieces of a block, of which the first has `fewer` than the others.
    fn parts(&self, items: usize, fewer: usize) -> impl Iterator<Item = Range<usize>> {
        let most = PIECE / self.typesize / LINE * LINE;
        let first = most - fewer;
        std::iter::successors(Some(0..first.min(items)), move |part| {
            (part.end < items).then(|| part.end..(part.end + most).min(items))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{Pipeline, Reference, SLOTS, Scratch, Slot, built_in, id};
    use crate::{CallContext, Error};

    const VERSION: u8 = 5;

    /// Bytes without a pattern.
    fn noise(len: usize, seed: u32) -> Vec<u8> {
        let mut state = seed;
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        std::iter::repeat_with(next).take(len).collect()
    }

    /// What the filters make of a block one after the other, in the order of compression or back.
    fn one_by_one(slots: &[Slot], call: &FilterCall<'_>, src: &[u8], back: bool) -> Vec<u8> {
        let mut order: Vec<Slot> = slots.to_vec();
        if back {
            order.reverse();
        }
        let mut block = src.to_vec();
        for slot in order {
            let filter = built_in(slot.id).unwrap();
            let (id, meta) = (slot.id, slot.meta);
            let call = FilterCall { id, meta, ..*call };
            let mut next = vec![0xEE; block.len()];
            match back {
                true => filter.backward(&call, &block, &mut next).unwrap(),
                false => filter.forward(&call, &block, &mut next).unwrap(),
            }
            block = next;
        }
        block
    }

    /// The filters that items may go through before the shuffle, for items of this size.
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

    fn ctx<'a>(typesize: usize) -> CallContext<'a> {
        CallContext {
            parent: None,
            user_data: None,
            chunk: &[],
            typesize,
            blocksize: 0,
        }
    }

    #[test]
    fn pieces_come_to_what_filters_make_one_by_one() {
        for typesize in 2..=MAX_TYPESIZE {
            let items = PIECE / typesize;
            for count in [2 * items + 2, 2 * items + 65, 5 * items - 1] {
                let src = noise(count * typesize, 1);
                let block = noise(count * typesize + 3, 2);
                for before in before(typesize) {
                    for differences in [false, true] {
                        let mut slots: Vec<Slot> = before.into_iter().collect();
                        let shuffle = (id::SHUFFLE, 0);
                        let bytedelta = (id::BYTEDELTA, typesize as u8);
                        for (id, meta) in [Some(shuffle), differences.then_some(bytedelta)]
                            .into_iter()
                            .flatten()
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

    /// Compares what a pipeline of these slots does to a block with what its filters do alone.
    fn check(slots: &[Slot], typesize: usize, reference: Reference<'_>, src: &[u8]) {
        let ctx = ctx(typesize);
        let call = FilterCall {
            id: id::NONE,
            meta: 0,
            version: VERSION,
            reference,
            ctx,
        };
        let mut filled = [Slot::default(); SLOTS];
        filled[..slots.len()].copy_from_slice(slots);
        let pipeline = Pipeline::new(&filled, VERSION, typesize);
        let mut scratch = Scratch::default();
        let planes = pipeline
            .forward(reference, &ctx, src, &mut scratch)
            .unwrap()
            .to_vec();
        let (ids, len) = (slots.iter().map(|slot| slot.id), src.len());
        let name = format!(
            "{:?} of {len} bytes, items of {typesize}",
            ids.collect::<Vec<_>>()
        );
        assert!(planes == one_by_one(slots, &call, src, false), "{name}");
        let mut back = vec![0xEE; len];
        pipeline
            .backward(reference, &ctx, &planes, &mut scratch, &mut back)
            .unwrap();
        assert!(back == one_by_one(slots, &call, &planes, true), "{name}");
    }

    #[test]
    fn only_shuffles_of_items_among_other_filters_go_piece_by_piece() {
        const LONG: usize = 8 * PIECE;
        let is_in_pieces = |slots: &[(u8, u8)], typesize: usize, len: usize| {
            let mut filled = [Slot::default(); SLOTS];
            for (slot, &(id, meta)) in filled.iter_mut().zip(slots) {
                *slot = Slot { id, meta };
            }
            let pipeline = Pipeline::new(&filled, VERSION, typesize);
            let pieces = pipeline.undone_in_pieces(Reference::Own, &ctx(typesize), len);
            pieces.is_some()
        };
        let (delta, shuffle) = ((id::DELTA, 0), (id::SHUFFLE, 0));
        let bytedelta = |channels| (id::BYTEDELTA, channels);
        assert!(is_in_pieces(&[delta, shuffle], 8, LONG));
        assert!(is_in_pieces(&[delta, shuffle, bytedelta(8)], 8, LONG));
        assert!(is_in_pieces(&[shuffle, bytedelta(8)], 8, LONG));
        assert!(is_in_pieces(&[delta, shuffle], 12, LONG * 3));
        assert!(!is_in_pieces(&[shuffle, bytedelta(12)], 12, LONG * 3));
        assert!(!is_in_pieces(&[shuffle, bytedelta(4)], 8, LONG));
        assert!(!is_in_pieces(&[shuffle], 8, LONG));
        assert!(!is_in_pieces(&[(id::TRUNC_PREC, 10), shuffle], 8, LONG));
        assert!(!is_in_pieces(&[shuffle, delta], 8, LONG));
        assert!(!is_in_pieces(&[delta, delta, shuffle], 8, LONG));
        assert!(!is_in_pieces(&[delta, (id::SHUFFLE, 4)], 8, LONG));
        assert!(!is_in_pieces(&[delta, (id::BITSHUFFLE, 0)], 8, LONG));
        assert!(!is_in_pieces(&[delta, shuffle], 8, SHORTEST - 8));
        assert!(!is_in_pieces(&[delta, shuffle], 8, LONG + 4));
        assert!(!is_in_pieces(&[delta, shuffle], 24, LONG * 3));
    }

    #[test]
    fn a_reference_that_is_too_short_is_an_error() {
        let (src, reference) = (noise(SHORTEST, 1), [0; 100]);
        let mut slots = [Slot::default(); SLOTS];
        (slots[0].id, slots[1].id) = (id::DELTA, id::SHUFFLE);
        let pipeline = Pipeline::new(&slots, VERSION, 8);
        let (reference, mut scratch) = (Reference::Block(&reference), Scratch::default());
        let forward = pipeline.forward(reference, &ctx(8), &src, &mut scratch);
        assert_eq!(forward.err(), Some(Error::FilterPipeline));
        let mut dest = vec![0; src.len()];
        let backward = pipeline.backward(reference, &ctx(8), &src, &mut scratch, &mut dest);
        assert_eq!(backward, Err(Error::Data));
    }
}
