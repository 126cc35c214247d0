//! Applies the slots of a pipeline to a block.
//!
//! The source is never written, and the input and output of each filter do not overlap, so
//! intermediate results alternate between two private buffers. In decompression the last stage
//! writes into the destination.

use super::fused::FusedFilters;
use super::registry::{Callable, find, load, missing};
use super::{Filter, FilterCall, FilterInfo, Fusion, Order, Reference, SLOTS, Slot, id};
use crate::{CallContext, Error, ErrorKind, Result, kernels};

/// A filled slot and its filter, if found.
struct Stage {
    slot: Slot,
    filter: Option<Callable>,
}

/// The filled slots of a pipeline in the order of compression, with their filters.
#[derive(Default)]
pub struct Pipeline {
    stages: [Option<Stage>; SLOTS],
    slots: [Slot; SLOTS],
    version: u8,
    typesize: usize,
    /// Whether all filters are built in, so that registrations do not change the pipeline.
    is_builtin_only: bool,
    /// Whether blocks depend on the first one.
    needs_reference: bool,
    /// Whether filtered blocks depend on the shape of the array.
    needs_shape: bool,
    /// The number of stages with a backward step.
    backward_steps: u8,
    /// The slot of the last stage with a backward step, whose backward step runs first.
    sole_backward_slot: Slot,
}

/// The two buffers of a worker for intermediate results, reused between calls.
#[derive(Default)]
pub struct Scratch {
    a: Vec<u8>,
    b: Vec<u8>,
}

impl Scratch {
    /// Returns the capacity of both buffers in bytes.
    pub(crate) fn capacity(&self) -> usize {
        self.a.capacity() + self.b.capacity()
    }

    /// Inserts `buffer` as the first buffer, and exchanges it for the second one.
    pub(crate) fn push_front(&mut self, buffer: &mut Vec<u8>) {
        std::mem::swap(&mut self.a, &mut self.b);
        std::mem::swap(&mut self.a, buffer);
    }

    /// Reverses `push_front`.
    pub(crate) fn pop_front(&mut self, buffer: &mut Vec<u8>) {
        std::mem::swap(&mut self.a, buffer);
        std::mem::swap(&mut self.a, &mut self.b);
    }
}

/// Extra capacity of a buffer in bytes. The planes of a block need up to this many bytes more than
/// the block. With the extra capacity a buffer allocated for a block also holds planes. Otherwise
/// it would be reallocated, with both copies resident at the same time.
pub(crate) const MARGIN: usize = 2 << 10;

/// Returns the first `len` bytes of `buffer`, which grows as needed and never shrinks.
pub(crate) fn grown(buffer: &mut Vec<u8>, len: usize) -> Result<&mut [u8]> {
    if buffer.len() < len {
        if buffer.capacity() < len {
            buffer.try_reserve_exact(len + MARGIN - buffer.len())?;
        }
        buffer.resize(len, 0);
    }
    Ok(&mut buffer[..len])
}

impl Stage {
    /// Calls `work` with the filter, loading it first if only its name is registered. Returns
    /// `None` if no code is found.
    fn with_filter<T>(&self, work: impl FnOnce(&dyn Filter) -> T) -> Option<T> {
        match &self.filter {
            Some(filter) => Some(work(filter.get())),
            None => load(self.slot.id).map(|filter| work(filter.get())),
        }
    }

    /// Returns the properties of a built-in filter.
    fn info(&self) -> Option<&'static FilterInfo> {
        match self.filter {
            Some(Callable::BuiltIn(info)) => Some(info),
            _ => None,
        }
    }

    /// Whether decompression has a step for this stage. True for an unknown filter, whose step
    /// fails.
    fn has_backward(&self) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.get().has_backward())
    }
}

impl Pipeline {
    /// Returns the pipeline of these slots for a chunk of this version with items of `typesize`
    /// bytes.
    ///
    /// Filters that change nothing are left out. An unknown filter is an error only when it runs,
    /// since many chunks contain ids of filters that they do not use.
    pub fn new(slots: &[Slot; SLOTS], version: u8, typesize: usize) -> Pipeline {
        let mut pipeline = Pipeline {
            slots: *slots,
            version,
            typesize,
            is_builtin_only: true,
            ..Pipeline::default()
        };
        for (&slot, entry) in slots.iter().zip(&mut pipeline.stages) {
            if slot.id == id::NONE {
                continue;
            }
            let filter = find(slot.id);
            if filter.as_ref().is_some_and(|filter| filter.get().is_identity(slot.meta, typesize)) {
                continue;
            }
            let stage = entry.insert(Stage { slot, filter });
            match stage.info() {
                Some(info) => {
                    pipeline.needs_reference |= info.needs_reference;
                    pipeline.needs_shape |= info.needs_shape;
                }
                None => pipeline.is_builtin_only = false,
            }
            if stage.has_backward() {
                pipeline.backward_steps += 1;
                pipeline.sole_backward_slot = slot;
            }
        }
        pipeline
    }

    /// Replaces the pipeline with [`Pipeline::new`] of these arguments, unless it is equal already.
    pub fn update(&mut self, slots: &[Slot; SLOTS], version: u8, typesize: usize) {
        let is_known = self.is_builtin_only
            && self.slots == *slots
            && self.version == version
            && self.typesize == typesize;
        if !is_known {
            *self = Pipeline::new(slots, version, typesize);
        }
    }

    /// Whether the pipeline stays valid when filters are registered: all of them are built in.
    pub fn is_builtin_only(&self) -> bool {
        self.is_builtin_only
    }

    /// Whether the pipeline has no stages.
    pub fn is_empty(&self) -> bool {
        self.filled().next().is_none()
    }

    /// Whether blocks depend on the first one, as with DELTA.
    pub fn needs_reference(&self) -> bool {
        self.needs_reference
    }

    /// Whether filtered blocks depend on the shape of the array.
    pub fn needs_shape(&self) -> bool {
        self.needs_shape
    }

    /// Whether decompression may return other bytes than were compressed.
    pub fn may_change_data(&self) -> bool {
        self.filled()
            .any(|stage| stage.filter.as_ref().is_none_or(|filter| filter.get().may_change_data()))
    }

    /// Returns the order of the bytes of filtered blocks, which the last filter that moves bytes
    /// determines.
    pub fn order(&self) -> Order {
        let stages = self.filled().rev();
        stages
            .map(|stage| stage.info().map_or(Order::Other, |info| info.order))
            .find(|&order| order != Order::Kept)
            .unwrap_or(Order::Kept)
    }

    /// Returns the slot of the only backward step, if there is exactly one.
    pub fn sole_backward_slot(&self) -> Option<Slot> {
        (self.backward_steps == 1).then_some(self.sole_backward_slot)
    }

    /// Whether decompression has at least one step.
    pub fn has_backward(&self) -> bool {
        self.backward_steps != 0
    }

    fn filled(&self) -> impl DoubleEndedIterator<Item = &Stage> {
        self.stages.iter().flatten()
    }

    fn backward_stages(&self) -> impl Iterator<Item = &Stage> {
        self.filled().rev().filter(|stage| stage.has_backward())
    }

    fn call<'a>(
        &self,
        slot: Slot,
        reference: Reference<'a>,
        ctx: &CallContext<'a>,
    ) -> FilterCall<'a> {
        FilterCall { id: slot.id, meta: slot.meta, version: self.version, reference, ctx: *ctx }
    }

    /// Returns these stages as fused filters if a block of `len` bytes can be filtered in tiles.
    fn fuse<'a>(
        &'a self,
        stages: impl Iterator<Item = &'a Stage>,
        reference: Reference<'a>,
        ctx: &CallContext<'a>,
        len: usize,
    ) -> Option<FusedFilters<'a>> {
        let typesize = ctx.typesize;
        if !FusedFilters::supports(typesize, len) {
            return None;
        }
        let mut stages = stages.map(|stage| {
            let call = self.call(stage.slot, reference, ctx);
            let fusion = match &stage.filter {
                Some(filter) => filter.get().fusion(&call),
                None => Fusion::None,
            };
            (fusion, call)
        });
        let (before, shuffle) = match stages.next()? {
            (Fusion::Items(filter), call) => (Some((filter, call)), stages.next()?.0),
            (fusion, _) => (None, fusion),
        };
        let after = stages.next().map(|(fusion, _)| fusion);
        let is_supported = matches!(shuffle, Fusion::Shuffle)
            && matches!(after, None | Some(Fusion::Differences))
            && stages.next().is_none();
        let is_alone = before.is_none() && after.is_none();
        (is_supported && !is_alone).then(|| FusedFilters::new(before, typesize, after.is_some()))
    }

    /// Returns the backward steps as fused filters if a block of `len` bytes can be decoded in
    /// tiles. Returns `None` for a shuffle alone.
    pub(crate) fn fused_backward<'a>(
        &'a self,
        reference: Reference<'a>,
        ctx: &CallContext<'a>,
        len: usize,
    ) -> Option<FusedFilters<'a>> {
        let stages = self.filled().filter(|stage| stage.has_backward());
        self.fuse(stages, reference, ctx, len).filter(FusedFilters::supports_backward)
    }

    /// Filters a block for compression. Returns a slice of `scratch`, or `src` if no filter is set.
    ///
    /// # Errors
    /// [`Error::FilterPipeline`] if a filter is unknown or fails; [`Error::MemoryAlloc`].
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
        if let Some(fused) = self.fuse(self.filled(), reference, ctx, src.len()) {
            let result = grown(&mut scratch.a, src.len())?;
            return match fused.forward(src, result) {
                Ok(()) => Ok(result),
                Err(error) => Err(failed(error)),
            };
        }
        let run = |stage: &Stage, src: &[u8], dest: &mut [u8]| {
            let call = self.call(stage.slot, reference, ctx);
            match stage.with_filter(|filter| filter.forward(&call, src, dest)) {
                Some(Ok(())) => Ok(()),
                Some(Err(error)) => Err(failed(error)),
                None => Err(Error::FilterPipeline.because(missing(stage.slot.id).to_string())),
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
    /// The error of the filter that failed; [`Error::Failure`] or [`Error::FilterPipeline`] for an
    /// unknown one; [`Error::MemoryAlloc`].
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
            match done.ok_or_else(|| missing(stage.slot.id))? {
                // A non-negative code of a user's callback, which C callers would read as success.
                Err(error) if matches!(error.kind(), ErrorKind::Callback(0..)) => {
                    Err(error.recast(ErrorKind::FilterPipeline))
                }
                result => result,
            }
        };
        if let Some(fused) = self.fused_backward(reference, ctx, src.len()) {
            return fused.backward_contiguous(src, dest);
        }
        let mut remaining = self.backward_steps;
        let mut stages = self.backward_stages();
        let Some(first) = stages.next() else {
            kernels::copy::copy(src, dest);
            return Ok(());
        };
        if remaining == 1 {
            return run(first, src, dest);
        }
        let mut result = grown(&mut scratch.a, src.len())?;
        run(first, src, result)?;
        let mut spare: &mut [u8] =
            if remaining > 2 { grown(&mut scratch.b, src.len())? } else { &mut [] };
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

/// Returns the error for a filter that failed in compression.
#[cold]
fn failed(error: Error) -> Error {
    // The cause is allocated.
    match error.kind() {
        ErrorKind::MemoryAlloc => Error::FilterPipeline,
        _ => Error::FilterPipeline.because("a filter failed").caused_by(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_reordering_filter_determines_the_byte_order() {
        let order = |ids: [(u8, u8); 3]| {
            let mut slots = [Slot::default(); SLOTS];
            for (slot, (id, meta)) in slots.iter_mut().zip(ids) {
                *slot = Slot { id, meta };
            }
            Pipeline::new(&slots, 1, 4).order()
        };
        const USER_FILTER: u8 = 200;
        let (none, moving) = ((id::NONE, 0), (id::SHUFFLE, 0));
        assert_eq!(order([none, none, moving]), Order::Bytes);
        assert_eq!(order([moving, (id::DELTA, 0), none]), Order::Bytes);
        #[cfg(feature = "plugins")]
        assert_eq!(order([moving, (id::DELTA, 0), (id::BYTEDELTA, 0)]), Order::Bytes);
        let bits = [moving, (id::BITSHUFFLE, 0), none];
        assert_eq!(order(bits), Order::Bits);
        assert_eq!(order([(id::SHUFFLE, 1), none, none]), Order::Kept);
        assert_eq!(order([moving, (USER_FILTER, 0), none]), Order::Other);
        assert_eq!(order([none, none, none]), Order::Kept);
    }

    #[test]
    fn a_block_buffer_grows_to_hold_planes_without_moving() {
        let mut buffer = Vec::new();
        let block = grown(&mut buffer, 100_000).unwrap().as_ptr();
        assert_eq!(grown(&mut buffer, 100_000 + MARGIN).unwrap().as_ptr(), block);
    }
}
