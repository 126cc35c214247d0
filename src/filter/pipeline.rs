//! Running the slots of a pipeline over a block.
//!
//! The source is never written and each filter gets an input and an output that do not overlap, so the
//! stages in the middle go back and forth between two private buffers. When decompressing, the last
//! stage writes into the destination.

use super::pieces::Pieces;
use super::registry::{Callable, find, load};
use super::{Filter, FilterCall, Reference, SLOTS, Slot, bytedelta, id, shuffle, unknown};
use crate::{CallContext, Error, ErrorKind, Result};

/// A filled slot whose filter has been looked up.
struct Stage {
    slot: Slot,
    filter: Option<Callable>,
}

/// The filled slots of a pipeline, in the order of compression, with their filters at hand.
#[derive(Default)]
pub struct Pipeline {
    stages: [Option<Stage>; SLOTS],
    slots: [Slot; SLOTS],
    version: u8,
    typesize: usize,
    /// Whether all its filters are built in, so that registering others does not change it.
    is_lasting: bool,
    has_delta: bool,
    /// How many steps decompression has, and the filled slot of one of them.
    undone: u8,
    an_undone: Slot,
}

/// The two buffers a worker lends to a pipeline; kept between calls.
#[derive(Default)]
pub struct Scratch {
    a: Vec<u8>,
    b: Vec<u8>,
}

impl Scratch {
    /// Bytes of memory it holds.
    pub(crate) fn capacity(&self) -> usize {
        self.a.capacity() + self.b.capacity()
    }

    /// Makes `buffer` the first that is used; the last comes out instead.
    pub(crate) fn push_front(&mut self, buffer: &mut Vec<u8>) {
        std::mem::swap(&mut self.a, &mut self.b);
        std::mem::swap(&mut self.a, buffer);
    }

    /// Undoes `push_front`.
    pub(crate) fn pop_front(&mut self, buffer: &mut Vec<u8>) {
        std::mem::swap(&mut self.a, buffer);
        std::mem::swap(&mut self.a, &mut self.b);
    }
}

/// What a buffer has room for beyond what it is asked for. The planes of a block take so much more than the block, and a
/// buffer that served for the one is not to be moved for the other: both would be resident for a while.
pub(crate) const MARGIN: usize = 2 << 10;

/// The first `len` bytes of `buffer`, which grows (and never shrinks) to hold them.
pub(crate) fn grown(buffer: &mut Vec<u8>, len: usize) -> Result<&mut [u8]> {
    if buffer.len() < len {
        if buffer.capacity() < len {
            buffer.try_reserve_exact(len + MARGIN - buffer.len())?;
        }
        buffer.resize(len, 0);
    }
    Ok(&mut buffer[..len])
}

/// Whether a slot is a shuffle of single bytes.
fn moves_nothing(slot: Slot, typesize: usize) -> bool {
    slot.id == id::SHUFFLE && shuffle::element_size(slot.meta, typesize) == 1
}

impl Stage {
    /// Lets `work` use the filter, which is loaded if only its name was known so far; none if there is none.
    fn with_filter<T>(&self, work: impl FnOnce(&dyn Filter) -> T) -> Option<T> {
        match &self.filter {
            Some(filter) => Some(work(filter.get())),
            None => load(self.slot.id).map(|filter| work(filter.get())),
        }
    }

    /// Whether decompression has to do with it; with an unknown filter it has, and fails.
    fn is_undone(&self) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.get().is_undone())
    }
}

impl Pipeline {
    /// The pipeline of these slots in a chunk of this version, with items of `typesize` bytes. Shuffles
    /// that move nothing are left out. A filter that does not exist is an error only when it is run: many
    /// chunks name filters that they never use.
    pub fn new(slots: &[Slot; SLOTS], version: u8, typesize: usize) -> Pipeline {
        let mut pipeline = Pipeline {
            slots: *slots,
            version,
            typesize,
            is_lasting: true,
            ..Pipeline::default()
        };
        for (&slot, place) in slots.iter().zip(&mut pipeline.stages) {
            if slot.id == id::NONE || moves_nothing(slot, typesize) {
                continue;
            }
            let stage = place.insert(Stage {
                slot,
                filter: find(slot.id),
            });
            pipeline.has_delta |= slot.id == id::DELTA;
            pipeline.is_lasting &= matches!(stage.filter, Some(Callable::BuiltIn(_)));
            if stage.is_undone() {
                pipeline.undone += 1;
                pipeline.an_undone = slot;
            }
        }
        pipeline
    }

    /// Becomes the pipeline that [`Pipeline::new`] makes of these, unless it is by now.
    pub fn renew(&mut self, slots: &[Slot; SLOTS], version: u8, typesize: usize) {
        let is_known = self.is_lasting
            && self.slots == *slots
            && self.version == version
            && self.typesize == typesize;
        if !is_known {
            *self = Pipeline::new(slots, version, typesize);
        }
    }

    /// Whether it stays the same whatever filters are registered.
    pub fn is_lasting(&self) -> bool {
        self.is_lasting
    }

    /// Whether compression has no step.
    pub fn is_empty(&self) -> bool {
        self.filled().next().is_none()
    }

    /// Whether DELTA is among the slots, so that blocks depend on the first one.
    pub fn has_delta(&self) -> bool {
        self.has_delta
    }

    /// Whether what decompression gives may differ from what compression got.
    pub fn may_change_data(&self) -> bool {
        self.filled().any(|stage| {
            stage
                .filter
                .as_ref()
                .is_none_or(|filter| filter.get().may_change_data())
        })
    }

    /// The id of the shuffle whose order what is compressed has: no filter behind it moves a byte.
    pub fn shuffle(&self) -> Option<u8> {
        const STAYING: [u8; 5] = [
            id::DELTA,
            id::TRUNC_PREC,
            id::INT_TRUNC,
            id::BYTEDELTA,
            id::BYTEDELTA_BUGGY,
        ];
        let mut ids = self.filled().rev().map(|stage| stage.slot.id);
        let last = ids.find(|id| !STAYING.contains(id));
        last.filter(|last| [id::SHUFFLE, id::BITSHUFFLE].contains(last))
    }

    /// The only step of decompression, if there is exactly one.
    pub fn only_undone(&self) -> Option<Slot> {
        (self.undone == 1).then_some(self.an_undone)
    }

    /// Whether decompression has a step at all.
    pub fn is_undone(&self) -> bool {
        self.undone != 0
    }

    fn filled(&self) -> impl DoubleEndedIterator<Item = &Stage> {
        self.stages.iter().flatten()
    }

    fn undone(&self) -> impl Iterator<Item = &Stage> {
        self.filled().rev().filter(|stage| stage.is_undone())
    }

    fn call<'a>(
        &self,
        slot: Slot,
        reference: Reference<'a>,
        ctx: &CallContext<'a>,
    ) -> FilterCall<'a> {
        FilterCall {
            id: slot.id,
            meta: slot.meta,
            version: self.version,
            reference,
            ctx: *ctx,
        }
    }

    /// How a block of `len` bytes goes through these stages piece by piece, if it does.
    fn in_pieces<'a>(
        &'a self,
        stages: impl Iterator<Item = &'a Stage>,
        reference: Reference<'a>,
        ctx: &CallContext<'a>,
        len: usize,
    ) -> Option<Pieces<'a>> {
        let typesize = ctx.typesize;
        if !Pieces::suit(typesize, len) {
            return None;
        }
        let shuffles_items = |stage: &Stage| {
            let size = shuffle::element_size(stage.slot.meta, typesize);
            stage.slot.id == id::SHUFFLE && size == typesize
        };
        let call = |stage: &Stage| self.call(stage.slot, reference, ctx);
        let mut stages = stages.peekable();
        let mut before = None;
        if let Some(stage) = stages.next_if(|stage| !shuffles_items(stage)) {
            before = Some((stage.filter.as_ref()?.get().in_parts()?, call(stage)));
        }
        stages.next_if(|stage| shuffles_items(stage))?;
        let differences = stages.next_if(|stage| {
            stage.slot.id == id::BYTEDELTA && bytedelta::channels(&call(stage)) == Ok(typesize)
        });
        let is_all = stages.next().is_none();
        let is_alone = before.is_none() && differences.is_none();
        (is_all && !is_alone).then(|| Pieces::new(before, typesize, differences.is_some()))
    }

    /// How a block of `len` bytes, of which the planes are known, is undone piece by piece, if it is. A shuffle alone
    /// isn't.
    pub(crate) fn undone_in_pieces<'a>(
        &'a self,
        reference: Reference<'a>,
        ctx: &CallContext<'a>,
        len: usize,
    ) -> Option<Pieces<'a>> {
        let stages = self.filled().filter(|stage| stage.is_undone());
        self.in_pieces(stages, reference, ctx, len)
            .filter(Pieces::can_be_undone)
    }

    /// Filters a block for compression. The result lies in `scratch` or, when no filter is set, is `src`
    /// itself.
    ///
    /// # Errors
    /// [`Error::FilterPipeline`] when a filter is unknown or fails, [`Error::MemoryAlloc`].
    pub fn forward<'a>(
        &self,
        reference: Reference<'_>,
        ctx: &CallContext<'_>,
        src: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8]> {
        let mut stages = self.filled().peekable();
        let Some(first) = stages.next() else {
            return Ok(src);
        };
        if let Some(pieces) = self.in_pieces(self.filled(), reference, ctx, src.len()) {
            let result = grown(&mut scratch.a, src.len())?;
            return match pieces.forward(src, result) {
                Ok(()) => Ok(result),
                Err(_) => Err(Error::FilterPipeline),
            };
        }
        let run = |stage: &Stage, src: &[u8], dest: &mut [u8]| {
            let call = self.call(stage.slot, reference, ctx);
            match stage.with_filter(|filter| filter.forward(&call, src, dest)) {
                Some(Ok(())) => Ok(()),
                _ => Err(Error::FilterPipeline),
            }
        };
        let mut result = grown(&mut scratch.a, src.len())?;
        run(first, src, result)?;
        let mut spare: &mut [u8] = match stages.peek() {
            Some(_) => grown(&mut scratch.b, src.len())?,
            None => &mut [],
        };
        for stage in stages {
            run(stage, result, spare)?;
            std::mem::swap(&mut result, &mut spare);
        }
        Ok(result)
    }

    /// Undoes the pipeline on the block `src`, into `dest` of the same length.
    ///
    /// # Errors
    /// That of the filter that failed; [`Error::Failure`] or [`Error::FilterPipeline`] for one that does
    /// not exist; [`Error::MemoryAlloc`].
    pub fn backward(
        &self,
        reference: Reference<'_>,
        ctx: &CallContext<'_>,
        src: &[u8],
        scratch: &mut Scratch,
        dest: &mut [u8],
    ) -> Result<()> {
        let run = |stage: &Stage, src: &[u8], dest: &mut [u8]| {
            let call = self.call(stage.slot, reference, ctx);
            let done = stage.with_filter(|filter| filter.backward(&call, src, dest));
            match done.ok_or_else(|| unknown(stage.slot.id))? {
                // A user's own number that callers would take for a success.
                Err(error) if matches!(error.kind(), ErrorKind::Callback(0..)) => {
                    Err(error.recast(ErrorKind::FilterPipeline))
                }
                result => result,
            }
        };
        if let Some(pieces) = self.undone_in_pieces(reference, ctx, src.len()) {
            return pieces.backward_from(src, dest);
        }
        let mut remaining = self.undone;
        let mut stages = self.undone();
        let Some(first) = stages.next() else {
            dest.copy_from_slice(src);
            return Ok(());
        };
        if remaining == 1 {
            return run(first, src, dest);
        }
        let mut result = grown(&mut scratch.a, src.len())?;
        run(first, src, result)?;
        let mut spare: &mut [u8] = if remaining > 2 {
            grown(&mut scratch.b, src.len())?
        } else {
            &mut []
        };
        for stage in stages {
            remaining -= 1;
            if remaining == 1 {
                return run(stage, result, dest);
            }
            run(stage, result, spare)?;
            std::mem::swap(&mut result, &mut spare);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_filter_that_moves_bytes_says_how_they_stand() {
        let shuffle = |ids: [(u8, u8); 3]| {
            let mut slots = [Slot::default(); SLOTS];
            for (slot, (id, meta)) in slots.iter_mut().zip(ids) {
                *slot = Slot { id, meta };
            }
            Pipeline::new(&slots, 1, 4).shuffle()
        };
        const USERS: u8 = 200;
        let (none, moving) = ((id::NONE, 0), (id::SHUFFLE, 0));
        assert_eq!(shuffle([none, none, moving]), Some(id::SHUFFLE));
        let behind = [moving, (id::DELTA, 0), (id::BYTEDELTA, 0)];
        assert_eq!(shuffle(behind), Some(id::SHUFFLE));
        let bits = [moving, (id::BITSHUFFLE, 0), none];
        assert_eq!(shuffle(bits), Some(id::BITSHUFFLE));
        assert_eq!(shuffle([(id::SHUFFLE, 1), none, none]), None);
        assert_eq!(shuffle([moving, (USERS, 0), none]), None);
        assert_eq!(shuffle([none, none, none]), None);
    }

    #[test]
    fn a_buffer_for_a_block_is_not_moved_for_its_planes() {
        let mut buffer = Vec::new();
        let block = grown(&mut buffer, 100_000).unwrap().as_ptr();
        assert_eq!(
            grown(&mut buffer, 100_000 + MARGIN).unwrap().as_ptr(),
            block
        );
    }
}
