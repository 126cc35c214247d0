//! Decoding a part of a block without working on the rest of it.
//!
//! Raw and constant streams are read where the part lies in them; only streams of the codec are decoded,
//! and of a shuffled block only the items asked for are put together. Where that does not apply the whole
//! block is decoded and the part copied.

use std::ops::Range;

use super::block::{BlockDecoder, Stream};
use super::header::{Special, divided};
use super::worker::{self, MAX_PLANES, Worker};
use crate::filter::{self, Reference, bitshuffle, grown};
use crate::kernels::bitshuffle::GROUP;
use crate::{Result, kernels};

/// Fewer items than these are put together byte by byte.
const FEW_ITEMS: usize = 16;

impl BlockDecoder<'_> {
    /// Decodes the part of block `nblock` that begins `from` bytes into it, as long as `part`. The block
    /// is `block_len` bytes long and longer than the part.
    pub fn decode_part(
        &self,
        worker: &mut Worker,
        nblock: usize,
        reference: Reference<'_>,
        block_len: usize,
        from: usize,
        part: &mut [u8],
    ) -> Result<()> {
        if self.has_plain_streams() {
            let streams = self.view.streams(block_len);
            let is_sound = self.view.streams_instead(block_len).is_none();
            let typesize = self.view.header.typesize();
            let whole_items =
                divided(from, typesize).1 == 0 && divided(part.len(), typesize).1 == 0;
            if !self.pipeline.has_backward() {
                if is_sound && streams == 1 {
                    return self.copy_part(worker, nblock, block_len, from, part);
                }
            } else if is_sound && self.is_plain_shuffle() && whole_items && typesize <= MAX_PLANES {
                if streams == typesize && streams > 1 && divided(block_len, streams).1 == 0 {
                    return self.join_items(worker, nblock, block_len, from, part);
                }
                if streams == 1 && from + part.len() <= block_len - block_len % typesize {
                    return self.join_items_of_one_stream(worker, nblock, block_len, from, part);
                }
            } else if is_sound
                && divided(block_len, streams).1 == 0
                && let Some(groups) = self.bit_groups(block_len, from, part.len())
            {
                return self.join_bits(worker, nblock, block_len, &groups, from, part);
            }
        }
        let mut buffer = std::mem::take(&mut worker.part);
        let result = grown(&mut buffer, block_len).and_then(|whole| {
            self.decode(worker, nblock, 0, reference, whole)?;
            part.copy_from_slice(&whole[from..from + part.len()]);
            Ok(())
        });
        worker.part = buffer;
        result
    }

    /// The groups of eight items that hold a part, if the only filter to undo is a shuffle of their bits.
    fn bit_groups(&self, block_len: usize, from: usize, len: usize) -> Option<Range<usize>> {
        let header = &self.view.header;
        let group = GROUP * header.typesize();
        let groups = divided(from, group).0..divided(from + len - 1, group).0 + 1;
        let items = divided(block_len, header.typesize()).0;
        let is_shuffled = self.pipeline.sole_backward_slot()?.id == filter::id::BITSHUFFLE
            && !bitshuffle::is_plain_copy(header.basic.version, items);
        (is_shuffled && groups.end <= items / GROUP).then_some(groups)
    }

    /// Whether the block is made of streams whose parts can be told apart.
    fn has_plain_streams(&self) -> bool {
        let header = &self.view.header;
        self.params.postfilter.is_none()
            && header.special == Special::None
            && !header.is_memcpyed()
            && !header.instrumented
            && !header.vl_blocks
    }

    /// A part of a block of one stream that no filter has touched.
    fn copy_part(
        &self,
        worker: &mut Worker,
        nblock: usize,
        block_len: usize,
        from: usize,
        part: &mut [u8],
    ) -> Result<()> {
        let mut buffer = std::mem::take(&mut worker.streams);
        let result = self.with_stored(worker, nblock, |worker, mut stored| {
            match stored.next(block_len)? {
                Stream::Run(value) => part.fill(value),
                Stream::Raw(raw) => part.copy_from_slice(&raw[from..from + part.len()]),
                Stream::Coded(coded) => {
                    if let Some(done) = self.decode_stream_part(coded, block_len, from, part) {
                        return done;
                    }
                    worker.planes.forget();
                    let whole = grown(&mut buffer, block_len)?;
                    self.decode_stream(worker, coded, whole)?;
                    part.copy_from_slice(&whole[from..from + part.len()]);
                }
            }
            Ok(())
        });
        worker.streams = buffer;
        result
    }

    /// Items of a shuffled block whose byte planes are streams of their own.
    fn join_items(
        &self,
        worker: &mut Worker,
        nblock: usize,
        block_len: usize,
        from: usize,
        part: &mut [u8],
    ) -> Result<()> {
        let streams = self.view.header.typesize();
        let (len, _) = divided(block_len, streams);
        let (first, count) = (divided(from, streams).0, divided(part.len(), streams).0);
        let mut buffer = std::mem::take(&mut worker.streams);
        let result = self.with_stored(worker, nblock, |worker, mut stored| {
            worker.planes.set_plane_len(len);
            let places = worker::places(&mut buffer, streams, len)?;
            if count < FEW_ITEMS {
                for (number, own) in places.enumerate() {
                    let bytes = part[number..].iter_mut().step_by(streams);
                    let plane = match stored.next(len)? {
                        Stream::Raw(raw) => raw,
                        Stream::Run(value) => {
                            bytes.for_each(|byte| *byte = value);
                            continue;
                        }
                        Stream::Coded(coded) => {
                            worker.planes.forget_plane(number);
                            self.decode_stream_loosely(worker, coded, own, len)?;
                            own
                        }
                    };
                    bytes
                        .zip(&plane[first..])
                        .for_each(|(byte, &of)| *byte = of);
                }
                return Ok(());
            }
            let mut planes: [&[u8]; MAX_PLANES] = [&[]; MAX_PLANES];
            for (number, (plane, own)) in planes[..streams].iter_mut().zip(places).enumerate() {
                *plane = match stored.next(len)? {
                    Stream::Raw(raw) => &raw[first..first + count],
                    Stream::Run(value) => {
                        worker.planes.forget_plane(number);
                        let own = &mut own[..count];
                        own.fill(value);
                        own
                    }
                    Stream::Coded(coded) => {
                        worker.planes.forget_plane(number);
                        self.decode_stream_loosely(worker, coded, own, len)?;
                        &own[first..first + count]
                    }
                };
            }
            kernels::shuffle::unshuffle_planes(&planes[..streams], part);
            Ok(())
        });
        worker.streams = buffer;
        result
    }

    /// A part of a block whose bits are shuffled, of which only some groups of items are put together.
    fn join_bits(
        &self,
        worker: &mut Worker,
        nblock: usize,
        block_len: usize,
        groups: &Range<usize>,
        from: usize,
        part: &mut [u8],
    ) -> Result<()> {
        let typesize = self.view.header.typesize();
        let streams = self.view.streams(block_len);
        let group = GROUP * typesize;
        let mut buffer = std::mem::take(&mut worker.streams);
        let mut items = std::mem::take(&mut worker.part);
        let result = self.with_stored(worker, nblock, |worker, stored| {
            let len = divided(block_len, streams).0;
            let mut ahead = stored;
            let shuffled: &[u8] = match ahead.next(len)? {
                Stream::Raw(raw) if streams == 1 => raw,
                _ => {
                    worker.planes.forget();
                    let whole = grown(&mut buffer, block_len)?;
                    self.decode_into(worker, stored, len, whole)?;
                    whole
                }
            };
            let items = grown(&mut items, groups.len() * group)?;
            kernels::bitshuffle::bitunshuffle_groups(typesize, shuffled, groups.start, items);
            part.copy_from_slice(&items[from - groups.start * group..][..part.len()]);
            Ok(())
        });
        worker.streams = buffer;
        worker.part = items;
        result
    }

    /// Items of a shuffled block that is one stream.
    fn join_items_of_one_stream(
        &self,
        worker: &mut Worker,
        nblock: usize,
        block_len: usize,
        from: usize,
        part: &mut [u8],
    ) -> Result<()> {
        let typesize = self.view.header.typesize();
        let items = block_len / typesize;
        let (first, count) = (from / typesize, part.len() / typesize);
        let mut buffer = std::mem::take(&mut worker.streams);
        let result = self.with_stored(worker, nblock, |worker, mut stored| {
            let shuffled: &[u8] = match stored.next(block_len)? {
                Stream::Run(value) => {
                    part.fill(value);
                    return Ok(());
                }
                Stream::Raw(raw) => raw,
                Stream::Coded(coded) => {
                    worker.planes.forget();
                    let whole = grown(&mut buffer, block_len)?;
                    self.decode_stream(worker, coded, whole)?;
                    whole
                }
            };
            let mut planes: [&[u8]; MAX_PLANES] = [&[]; MAX_PLANES];
            for (number, plane) in planes[..typesize].iter_mut().enumerate() {
                *plane = &shuffled[number * items + first..][..count];
            }
            kernels::shuffle::unshuffle_planes(&planes[..typesize], part);
            Ok(())
        });
        worker.streams = buffer;
        result
    }
}
