//! Decoding of a byte range of a block with as little work as possible.
//!
//! Raw and constant streams are read directly; only coded streams are decoded. Only the requested
//! items of a shuffled block are unshuffled. In all other cases the whole block is decoded and the
//! range copied.

use std::ops::Range;

use super::block::BlockDecoder;
use crate::chunk::format::header::{Special, div_rem};
use crate::chunk::format::streams::Stream;
use crate::chunk::worker::state::{MAX_PLANES, Worker, plane_buffers};
use crate::filter::{self, Reference, bitshuffle, grown};
use crate::kernels::bitshuffle::GROUP;
use crate::{Result, kernels};

/// The minimum number of items that are unshuffled with a kernel; fewer are unshuffled byte by
/// byte.
const MIN_KERNEL_ITEMS: usize = 16;

impl BlockDecoder<'_> {
    /// Decodes `dest.len()` bytes of block `nblock` from byte `from` on. The block has `block_len`
    /// bytes and is longer than the range.
    pub fn decode_range(
        &self,
        worker: &mut Worker,
        nblock: usize,
        reference: Reference<'_>,
        block_len: usize,
        from: usize,
        dest: &mut [u8],
    ) -> Result<()> {
        if self.has_regular_streams() {
            let streams = self.view.streams(block_len);
            let is_sound = self.view.alternate_streams(block_len).is_none();
            let typesize = self.view.header.typesize();
            let whole_items =
                div_rem(from, typesize).1 == 0 && div_rem(dest.len(), typesize).1 == 0;
            if !self.pipeline.has_backward() {
                if is_sound && streams == 1 {
                    return self.decode_stream_items(worker, nblock, block_len, from, dest);
                }
            } else if is_sound && self.is_plain_shuffle() && whole_items && typesize <= MAX_PLANES {
                if streams == typesize && streams > 1 && div_rem(block_len, streams).1 == 0 {
                    return self.unshuffle_planes_range(worker, nblock, block_len, from, dest);
                }
                if streams == 1 && from + dest.len() <= block_len - block_len % typesize {
                    return self.decode_stream_items(worker, nblock, block_len, from, dest);
                }
            } else if is_sound
                && div_rem(block_len, streams).1 == 0
                && let Some(groups) = self.bit_groups(block_len, from, dest.len())
            {
                return self.bitunshuffle_range(worker, nblock, block_len, &groups, from, dest);
            }
        }
        let mut buffer = std::mem::take(&mut worker.partial_block);
        let result = grown(&mut buffer, block_len).and_then(|whole| {
            self.decode(worker, nblock, 0, reference, whole)?;
            kernels::copy::copy(&whole[from..from + dest.len()], dest);
            Ok(())
        });
        worker.partial_block = buffer;
        result
    }

    /// Returns the groups of eight items that contain the range, if the only filter to invert is a
    /// bitshuffle.
    fn bit_groups(&self, block_len: usize, from: usize, len: usize) -> Option<Range<usize>> {
        let header = &self.view.header;
        let group = GROUP * header.typesize();
        let groups = div_rem(from, group).0..div_rem(from + len - 1, group).0 + 1;
        let items = div_rem(block_len, header.typesize()).0;
        let is_shuffled = self.pipeline.sole_backward_slot()?.id == filter::id::BITSHUFFLE
            && !bitshuffle::is_plain_copy(header.basic.version, items);
        (is_shuffled && groups.end <= items / GROUP).then_some(groups)
    }

    /// Whether the block consists of regular streams without a postfilter.
    fn has_regular_streams(&self) -> bool {
        let header = &self.view.header;
        self.params.postfilter.is_none()
            && header.special == Special::None
            && !header.is_memcpyed()
            && !header.instrumented
            && !header.vl_blocks
    }

    /// Decodes a range of a block that is one stream, and unfiltered or only shuffled. A range of a
    /// shuffled block consists of whole items.
    fn decode_stream_items(
        &self,
        worker: &mut Worker,
        nblock: usize,
        block_len: usize,
        from: usize,
        dest: &mut [u8],
    ) -> Result<()> {
        let mut buffer = std::mem::take(&mut worker.streams);
        let result = self.with_stored(worker, nblock, |worker, mut stored| {
            let filtered = match stored.next_stream(block_len)? {
                Stream::Run(value) => {
                    dest.fill(value);
                    return Ok(());
                }
                Stream::Raw(raw) => raw,
                Stream::Coded(coded) => {
                    if !self.pipeline.has_backward()
                        && let Some(done) = self.decode_stream_range(coded, block_len, from, dest)
                    {
                        return done;
                    }
                    worker.planes.invalidate_all();
                    let whole = grown(&mut buffer, block_len)?;
                    self.decode_stream(worker, coded, whole)?;
                    whole
                }
            };
            if !self.pipeline.has_backward() {
                kernels::copy::copy(&filtered[from..from + dest.len()], dest);
                return Ok(());
            }
            let typesize = self.view.header.typesize();
            let items = block_len / typesize;
            let (first, count) = (from / typesize, dest.len() / typesize);
            let mut planes: [&[u8]; MAX_PLANES] = [&[]; MAX_PLANES];
            for (number, plane) in planes[..typesize].iter_mut().enumerate() {
                *plane = &filtered[number * items + first..][..count];
            }
            kernels::shuffle::unshuffle_planes(&planes[..typesize], dest);
            Ok(())
        });
        worker.streams = buffer;
        result
    }

    /// Decodes a range of items of a shuffled block whose byte planes are separate streams.
    fn unshuffle_planes_range(
        &self,
        worker: &mut Worker,
        nblock: usize,
        block_len: usize,
        from: usize,
        dest: &mut [u8],
    ) -> Result<()> {
        let streams = self.view.header.typesize();
        let (len, _) = div_rem(block_len, streams);
        let (first, count) = (div_rem(from, streams).0, div_rem(dest.len(), streams).0);
        let mut buffer = std::mem::take(&mut worker.streams);
        let result = self.with_stored(worker, nblock, |worker, mut stored| {
            worker.planes.set_plane_len(len);
            let buffers = plane_buffers(&mut buffer, streams, len)?;
            if count < MIN_KERNEL_ITEMS {
                for (number, own) in buffers.enumerate() {
                    let bytes = dest[number..].iter_mut().step_by(streams);
                    let plane = match stored.next_stream(len)? {
                        Stream::Raw(raw) => raw,
                        Stream::Run(value) => {
                            bytes.for_each(|byte| *byte = value);
                            continue;
                        }
                        Stream::Coded(coded) => {
                            worker.planes.invalidate(number);
                            self.decode_stream_with_slop(worker, coded, own, len)?;
                            own
                        }
                    };
                    bytes.zip(&plane[first..]).for_each(|(byte, &of)| *byte = of);
                }
                return Ok(());
            }
            let mut planes: [&[u8]; MAX_PLANES] = [&[]; MAX_PLANES];
            for (number, (plane, own)) in planes[..streams].iter_mut().zip(buffers).enumerate() {
                *plane = match stored.next_stream(len)? {
                    Stream::Raw(raw) => &raw[first..first + count],
                    Stream::Run(value) => {
                        worker.planes.invalidate(number);
                        let own = &mut own[..count];
                        own.fill(value);
                        own
                    }
                    Stream::Coded(coded) => {
                        worker.planes.invalidate(number);
                        self.decode_stream_with_slop(worker, coded, own, len)?;
                        &own[first..first + count]
                    }
                };
            }
            kernels::shuffle::unshuffle_planes(&planes[..streams], dest);
            Ok(())
        });
        worker.streams = buffer;
        result
    }

    /// Decodes a range of a bitshuffled block by unshuffling only the groups of items that contain
    /// it.
    fn bitunshuffle_range(
        &self,
        worker: &mut Worker,
        nblock: usize,
        block_len: usize,
        groups: &Range<usize>,
        from: usize,
        dest: &mut [u8],
    ) -> Result<()> {
        let typesize = self.view.header.typesize();
        let streams = self.view.streams(block_len);
        let group = GROUP * typesize;
        let mut buffer = std::mem::take(&mut worker.streams);
        let mut items = std::mem::take(&mut worker.partial_block);
        let result = self.with_stored(worker, nblock, |worker, stored| {
            let len = div_rem(block_len, streams).0;
            let mut peek = stored;
            let shuffled: &[u8] = match peek.next_stream(len)? {
                Stream::Raw(raw) if streams == 1 => raw,
                _ => {
                    worker.planes.invalidate_all();
                    let whole = grown(&mut buffer, block_len)?;
                    self.decode_into(worker, stored, len, whole)?;
                    whole
                }
            };
            let items = grown(&mut items, groups.len() * group)?;
            kernels::bitshuffle::bitunshuffle_groups(typesize, shuffled, groups.start, items);
            kernels::copy::copy(&items[from - groups.start * group..][..dest.len()], dest);
            Ok(())
        });
        worker.streams = buffer;
        worker.partial_block = items;
        result
    }
}
