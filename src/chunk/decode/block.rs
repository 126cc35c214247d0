//! Decoding of one block: its streams, then the inverse filters, straight into the destination.
//!
//! The layout of a stream is described in `format/streams.rs`.

use crate::chunk::callbacks::{PostfilterCall, scratch_len};
use crate::chunk::format::header::{Special, div_rem};
use crate::chunk::format::limits::WORD;
use crate::chunk::format::special::fill_special;
use crate::chunk::format::streams::{Stream, StreamReader, codec_failure};
use crate::chunk::format::view::ChunkView;
use crate::chunk::params::DParams;
use crate::chunk::worker::state::{MAX_PLANES, Worker, plane_buffers};
use crate::codec::{self, CodecCall};
use crate::filter::{self, Pipeline, Reference, grown};
use crate::kernels::shuffle;
use crate::{CallContext, Error, Result, kernels};

/// The decoder of a chunk's blocks.
pub(super) struct BlockDecoder<'a> {
    pub view: &'a ChunkView<'a>,
    pub pipeline: &'a Pipeline,
    pub params: &'a DParams,
    /// Whether to use streaming stores, because the destination exceeds the caches.
    pub use_streaming_stores: bool,
}

impl BlockDecoder<'_> {
    /// Whether later blocks depend on the first.
    pub fn needs_reference(&self) -> bool {
        let header = &self.view.header;
        self.view.nblocks > 1
            && self.pipeline.needs_reference()
            && !header.vl_blocks
            && !header.is_memcpyed()
            && !header.instrumented
            && header.special == Special::None
    }

    /// Decodes the first block into `buffer`, if later blocks depend on it.
    pub fn reference<'b>(
        &self,
        worker: &mut Worker,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Reference<'b>> {
        if !self.needs_reference() {
            return Ok(Reference::Own);
        }
        let block = grown(buffer, self.view.block_len(0))?;
        self.decode_plain(worker, 0, Reference::Own, block)?;
        Ok(Reference::Block(block))
    }

    /// Decodes block `nblock` into `dest`, which has its length, and runs the postfilter.
    #[inline]
    pub fn decode(
        &self,
        worker: &mut Worker,
        nblock: usize,
        tid: usize,
        reference: Reference<'_>,
        dest: &mut [u8],
    ) -> Result<()> {
        let postfilter = match &self.params.postfilter {
            Some(postfilter) if !self.view.header.instrumented => postfilter,
            _ => return self.decode_plain(worker, nblock, reference, dest),
        };
        let mut block = std::mem::take(&mut worker.block);
        let mut scratch = std::mem::take(&mut worker.callback);
        let mut run = || {
            let input = grown(&mut block, dest.len())?;
            if self.view.header.special == Special::Uninit {
                input.fill(0);
            }
            self.decode_plain(worker, nblock, reference, input)?;
            let parent = self.params.parent.as_deref();
            let offset = if self.view.header.vl_blocks {
                // Not the block's offset, but the value that the reference passes.
                nblock * self.view.blocksize
            } else {
                self.view.block_offset(nblock)
            };
            let mut call = PostfilterCall {
                input,
                output: dest,
                typesize: self.item_size(),
                offset,
                nchunk: parent.map_or(-1, |parent| parent.current_chunk()),
                nblock,
                tid,
                scratch: grown(
                    &mut scratch,
                    scratch_len(self.view.blocksize, self.view.header.typesize()),
                )?,
                parent,
                user_data: self.params.user_data.as_deref(),
            };
            postfilter.apply(&mut call).map_err(|_| Error::Postfilter)
        };
        let result = run();
        worker.block = block;
        worker.callback = scratch;
        result
    }

    /// Returns the item size in bytes; for chunks of a repeated value, the length of the value.
    fn item_size(&self) -> usize {
        match self.view.header.special {
            Special::Value => self.view.header.value_width(),
            _ => self.view.header.typesize(),
        }
    }

    /// Decodes a block without running the postfilter.
    #[inline(always)]
    pub fn decode_plain(
        &self,
        worker: &mut Worker,
        nblock: usize,
        reference: Reference<'_>,
        dest: &mut [u8],
    ) -> Result<()> {
        let view = self.view;
        if view.header.special != Special::None {
            return fill_special(view.src, view.header, view.block_offset(nblock), dest);
        }
        if view.header.is_memcpyed() {
            let start = view.header.header_len() + view.block_offset(nblock);
            if let Some(lazy) = &view.lazy {
                return lazy.read(start, dest, Error::ReadBuffer);
            }
            let raw = view.src.get(start..start + dest.len()).ok_or(Error::ReadBuffer)?;
            if self.use_streaming_stores {
                kernels::copy::copy_streamed(raw, dest);
            } else {
                kernels::copy::copy(raw, dest);
            }
            return Ok(());
        }
        self.with_stored(worker, nblock, |worker, stored| {
            if view.header.vl_blocks {
                return self.decode_vl(worker, stored, dest);
            }
            self.decode_streams(worker, stored, view.streams(dest.len()), reference, dest).or_else(
                |error| match view.alternate_streams(dest.len()) {
                    Some(streams) => self.retry_streams(worker, stored, streams, reference, dest),
                    None => Err(error),
                },
            )
        })
    }

    /// Calls [`BlockDecoder::decode_streams`] again with another number of streams, out of line.
    #[cold]
    #[inline(never)]
    fn retry_streams(
        &self,
        worker: &mut Worker,
        stored: StreamReader<'_>,
        streams: usize,
        reference: Reference<'_>,
        dest: &mut [u8],
    ) -> Result<()> {
        self.decode_streams(worker, stored, streams, reference, dest)
    }

    /// Calls `work` with the stored bytes of a block, which are read from the file for a lazy
    /// chunk.
    #[inline(always)]
    pub fn with_stored<T>(
        &self,
        worker: &mut Worker,
        nblock: usize,
        work: impl FnOnce(&mut Worker, StreamReader<'_>) -> Result<T>,
    ) -> Result<T> {
        let start = if self.view.header.vl_blocks {
            self.view.vl_block(nblock).start
        } else {
            self.view.block_start(nblock)?
        };
        let Some(lazy) = &self.view.lazy else {
            // Variable-length blocks end at the next one; regular blocks end with their last
            // stream.
            let end = if self.view.header.vl_blocks {
                start + self.view.vl_block(nblock).stored_len
            } else {
                self.view.src.len()
            };
            return work(worker, StreamReader(&self.view.src[start..end]));
        };
        let mut buffer = std::mem::take(&mut worker.fetched);
        let result = lazy
            .fetch(nblock, start, &mut buffer)
            .and_then(|bytes| work(worker, StreamReader(bytes)));
        worker.fetched = buffer;
        result
    }

    #[inline(always)]
    fn decode_streams(
        &self,
        worker: &mut Worker,
        stored: StreamReader<'_>,
        streams: usize,
        reference: Reference<'_>,
        dest: &mut [u8],
    ) -> Result<()> {
        let view = self.view;
        let (len, rest) = div_rem(dest.len(), streams);
        if len == 0 {
            return Err(Error::WriteBuffer);
        }
        if rest != 0 {
            return Err(Error::Data);
        }
        if view.header.instrumented || !self.pipeline.has_backward() {
            return self.decode_into(worker, stored, len, dest);
        }
        if (2..=MAX_PLANES).contains(&streams) && self.is_plain_shuffle() {
            return self.with_planes(worker, stored, streams, len, |planes| {
                if self.use_streaming_stores {
                    shuffle::unshuffle_planes_streamed(planes, dest);
                } else {
                    shuffle::unshuffle_planes(planes, dest);
                }
                Ok(())
            });
        }
        self.decode_and_filter(worker, stored, streams, len, reference, dest)
    }

    /// Decodes streams of `len` bytes each and applies the inverse filters.
    fn decode_and_filter(
        &self,
        worker: &mut Worker,
        stored: StreamReader<'_>,
        streams: usize,
        len: usize,
        reference: Reference<'_>,
        dest: &mut [u8],
    ) -> Result<()> {
        let view = self.view;
        let ctx = self.call_context();
        if streams == 1 {
            let mut peek = stored;
            if let Stream::Raw(raw) = peek.next_stream(len)? {
                return self.pipeline.backward(reference, &ctx, raw, &mut worker.filters, dest);
            }
        } else if streams <= MAX_PLANES
            && streams == view.header.typesize()
            && let Some(pieces) = self.pipeline.fused_backward(reference, &ctx, dest.len())
        {
            return self
                .with_planes(worker, stored, streams, len, |planes| pieces.backward(planes, dest));
        }
        self.filter_decoded(worker, reference, dest, |worker, filtered| {
            self.decode_into(worker, stored, len, filtered)
        })
    }

    /// Calls `decode` to fill a buffer with the filtered block, and applies the inverse filters.
    fn filter_decoded(
        &self,
        worker: &mut Worker,
        reference: Reference<'_>,
        dest: &mut [u8],
        decode: impl FnOnce(&mut Worker, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        worker.planes.invalidate_all();
        let mut buffer = std::mem::take(&mut worker.streams);
        let result = grown(&mut buffer, dest.len()).and_then(|filtered| {
            decode(worker, filtered)?;
            let scratch = &mut worker.filters;
            self.pipeline.backward(reference, &self.call_context(), filtered, scratch, dest)
        });
        worker.streams = buffer;
        result
    }

    /// Whether the only filter to invert is a shuffle of whole items, so that streams are byte
    /// planes.
    pub fn is_plain_shuffle(&self) -> bool {
        let Some(slot) = self.pipeline.sole_backward_slot() else {
            return false;
        };
        let is_item_size = slot.meta == 0 || usize::from(slot.meta) == self.view.header.typesize();
        slot.id == filter::id::SHUFFLE && is_item_size
    }

    /// Calls `work` with the byte planes of a shuffled block. Raw planes are borrowed from the
    /// chunk; constant planes are filled only if they differ from those of the last block.
    fn with_planes(
        &self,
        worker: &mut Worker,
        mut stored: StreamReader<'_>,
        streams: usize,
        len: usize,
        work: impl FnOnce(&[&[u8]]) -> Result<()>,
    ) -> Result<()> {
        let mut buffer = std::mem::take(&mut worker.streams);
        let run = || {
            // Any slice serves as a placeholder; copying one from memory is faster than writing a
            // constant.
            let mut planes = [stored.0; MAX_PLANES];
            worker.planes.set_plane_len(len);
            let buffers = plane_buffers(&mut buffer, streams, len)?;
            for (number, (plane, own)) in planes[..streams].iter_mut().zip(buffers).enumerate() {
                *plane = match stored.next_stream(len)? {
                    Stream::Raw(raw) => raw,
                    Stream::Run(value) => {
                        worker.planes.fill(number, &mut own[..len], value);
                        &own[..len]
                    }
                    Stream::Coded(coded) => {
                        worker.planes.invalidate(number);
                        self.decode_stream_with_slop(worker, coded, own, len)?;
                        &own[..len]
                    }
                };
            }
            work(&planes[..streams])
        };
        let result = run();
        worker.streams = buffer;
        result
    }

    /// Decodes consecutive streams of `len` bytes each until `dest` is full.
    pub fn decode_into(
        &self,
        worker: &mut Worker,
        mut stored: StreamReader<'_>,
        len: usize,
        dest: &mut [u8],
    ) -> Result<()> {
        for stream_dest in dest.chunks_exact_mut(len) {
            match stored.next_stream(len)? {
                Stream::Run(value) => stream_dest.fill(value),
                Stream::Raw(raw) => kernels::copy::copy(raw, stream_dest),
                Stream::Coded(coded) => self.decode_stream(worker, coded, stream_dest)?,
            }
        }
        Ok(())
    }

    /// Decodes a stream of the chunk's codec, which must fill `dest` exactly.
    pub fn decode_stream(&self, worker: &mut Worker, coded: &[u8], dest: &mut [u8]) -> Result<()> {
        self.decode_stream_with_slop(worker, coded, dest, dest.len())
    }

    /// Decodes a stream of the chunk's codec, which must produce `len` bytes, to the beginning of
    /// `dest`. The bytes after those may be overwritten.
    pub fn decode_stream_with_slop(
        &self,
        worker: &mut Worker,
        coded: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Result<()> {
        let header = &self.view.header;
        if !header.basic.allows_format() {
            return Err(Error::CodecSupport);
        }
        let decoded = if header.basic.format() == codec::format::USER {
            let codec = codec::implementation(header.udcodec)?;
            codec.decode(&self.codec_call(), coded, &mut dest[..len])
        } else {
            let dictionary = self.view.dictionary.as_ref();
            worker.codecs.decode_with_slop(header.basic.format(), dictionary, coded, dest, len)
        };
        match decoded {
            Ok(produced) if produced == len => Ok(()),
            Ok(_) => Err(Error::Data),
            Err(error) => Err(codec_failure(error)),
        }
    }

    fn codec_call(&self) -> CodecCall<'_> {
        CodecCall { level: 0, meta: self.view.header.codec_meta, ctx: self.call_context() }
    }

    /// Returns the context of codec and filter calls.
    fn call_context(&self) -> CallContext<'_> {
        CallContext {
            parent: self.params.parent.as_deref(),
            user_data: self.params.user_data.as_deref(),
            chunk: self.view.src,
            typesize: self.view.header.typesize(),
            blocksize: self.view.blocksize,
        }
    }

    /// Decodes the range of a stream of `len` bytes that begins at `from`, if the codec can do so
    /// without decoding all of it.
    pub fn decode_stream_range(
        &self,
        coded: &[u8],
        len: usize,
        from: usize,
        dest: &mut [u8],
    ) -> Option<Result<()>> {
        let header = &self.view.header;
        if header.basic.format() != codec::format::USER {
            return None;
        }
        let codec = codec::implementation(header.udcodec).ok()?;
        let done = codec.decode_part(&self.codec_call(), coded, len, from, dest)?;
        Some(done.map_err(codec_failure))
    }

    /// Decodes a variable-length block, which is one stream and its own reference.
    fn decode_vl(
        &self,
        worker: &mut Worker,
        stored: StreamReader<'_>,
        dest: &mut [u8],
    ) -> Result<()> {
        let payload = stored.0.get(WORD..).ok_or(Error::Data)?;
        let is_raw = payload.len() == dest.len();
        let is_filtered = self.pipeline.has_backward() && !self.view.header.instrumented;
        match (is_raw, is_filtered) {
            (true, false) => {
                kernels::copy::copy(payload, dest);
                Ok(())
            }
            (false, false) => self.decode_stream(worker, payload, dest),
            (true, true) => {
                let scratch = &mut worker.filters;
                self.pipeline.backward(Reference::Own, &self.call_context(), payload, scratch, dest)
            }
            (false, true) => {
                self.filter_decoded(worker, Reference::Own, dest, |worker, filtered| {
                    self.decode_stream(worker, payload, filtered)
                })
            }
        }
    }
}
