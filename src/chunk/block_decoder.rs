//! Decoding of one block: its streams, then the inverse filters, straight into the destination.
//!
//! Each stream starts with a little-endian 32-bit word:
//!
//! | word | stream |
//! |---|---|
//! | 0 | a run of zeros |
//! | −255…−1 | a run of the byte −word; a token byte follows, whose bit 0 is set |
//! | the stream's uncompressed length | raw bytes |
//! | any other positive number | that many bytes of codec output |
//!
//! (Source: the C-Blosc2 chunk format.)

use super::header::{ChunkHeader, Special, div_rem};
use super::params::DParams;
use super::prefilter::PostfilterCall;
use super::view::{ChunkView, WORD};
use super::worker::{self, MAX_PLANES, Worker};
use crate::codec::{self, CodecCall};
use crate::filter::{self, Pipeline, Reference, grown};
use crate::kernels::shuffle;
use crate::{Error, ErrorKind, Result};

/// The bit of a run's token byte that must be set.
const TOKEN_RUN: u8 = 0x01;

/// The decoder of a chunk's blocks.
pub(super) struct BlockDecoder<'a> {
    pub view: &'a ChunkView<'a>,
    pub pipeline: &'a Pipeline,
    pub params: &'a DParams,
    /// Whether to use streaming stores, because the destination exceeds the caches.
    pub use_streaming_stores: bool,
}

/// A stored stream.
pub(super) enum Stream<'a> {
    Run(u8),
    Raw(&'a [u8]),
    Coded(&'a [u8]),
}

/// A reader of the streams of a block. Its bytes may extend past the block.
#[derive(Clone, Copy)]
pub(super) struct StreamReader<'a>(&'a [u8]);

impl<'a> StreamReader<'a> {
    /// Creates a reader at the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> StreamReader<'a> {
        StreamReader(bytes)
    }

    /// Returns the number of unread bytes.
    pub fn remaining(&self) -> usize {
        self.0.len()
    }

    /// Reads the next stream, of `len` uncompressed bytes.
    #[inline(always)]
    pub fn next_stream(&mut self, len: usize) -> Result<Stream<'a>> {
        let (size, rest) = self
            .0
            .split_first_chunk::<WORD>()
            .ok_or(Error::ReadBuffer)?;
        let size = i32::from_le_bytes(*size);
        if size == 0 {
            self.0 = rest;
            return Ok(Stream::Run(0));
        }
        if size < 0 {
            let (&token, rest) = rest.split_first().ok_or(Error::ReadBuffer)?;
            self.0 = rest;
            let value = u8::try_from(-i64::from(size)).map_err(|_| Error::RunLength)?;
            let is_run = token & TOKEN_RUN != 0;
            return if is_run {
                Ok(Stream::Run(value))
            } else {
                Err(Error::RunLength)
            };
        }
        let size = size as usize;
        let (bytes, rest) = rest.split_at_checked(size).ok_or(Error::ReadBuffer)?;
        self.0 = rest;
        Ok(if size == len {
            Stream::Raw(bytes)
        } else {
            Stream::Coded(bytes)
        })
    }
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
                    callback_scratch(self.view.blocksize, self.view.header.typesize()),
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
            let raw = view
                .src
                .get(start..start + dest.len())
                .ok_or(Error::ReadBuffer)?;
            dest.copy_from_slice(raw);
            return Ok(());
        }
        self.with_stored(worker, nblock, |worker, stored| {
            if view.header.vl_blocks {
                return self.decode_vl(worker, stored, dest);
            }
            self.decode_streams(worker, stored, view.streams(dest.len()), reference, dest)
                .or_else(|error| match view.alternate_streams(dest.len()) {
                    Some(streams) => self.retry_streams(worker, stored, streams, reference, dest),
                    None => Err(error),
                })
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
                    shuffle::unshuffle_planes_streamed(planes, dest)
                } else {
                    shuffle::unshuffle_planes(planes, dest)
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
        let ctx = self
            .params
            .call_context(view.src, view.header.typesize(), view.blocksize);
        if streams == 1 {
            let mut peek = stored;
            if let Stream::Raw(raw) = peek.next_stream(len)? {
                return self
                    .pipeline
                    .backward(reference, &ctx, raw, &mut worker.filters, dest);
            }
        } else if streams <= MAX_PLANES
            && streams == view.header.typesize()
            && let Some(pieces) = self.pipeline.fused_backward(reference, &ctx, dest.len())
        {
            return self.with_planes(worker, stored, streams, len, |planes| {
                pieces.backward(planes, dest)
            });
        }
        worker.planes.invalidate_all();
        let mut buffer = std::mem::take(&mut worker.streams);
        let result = grown(&mut buffer, dest.len()).and_then(|filtered| {
            self.decode_into(worker, stored, len, filtered)?;
            self.pipeline
                .backward(reference, &ctx, filtered, &mut worker.filters, dest)
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
            let buffers = worker::plane_buffers(&mut buffer, streams, len)?;
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
                Stream::Raw(raw) => stream_dest.copy_from_slice(raw),
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
        if !self.view.supports_format() {
            return Err(Error::CodecSupport);
        }
        let decoded = if header.basic.format() == codec::format::USER {
            let codec = codec::implementation(header.udcodec)?;
            codec.decode(&self.codec_call(), coded, &mut dest[..len])
        } else {
            let dictionary = self.view.dictionary.as_ref();
            worker
                .codecs
                .decode_with_slop(header.basic.format(), dictionary, coded, dest, len)
        };
        match decoded {
            Ok(produced) if produced == len => Ok(()),
            Ok(_) => Err(Error::Data),
            Err(error) => Err(codec_failure(error)),
        }
    }

    fn codec_call(&self) -> CodecCall<'_> {
        let header = &self.view.header;
        CodecCall {
            level: 0,
            meta: header.codec_meta,
            ctx: self
                .params
                .call_context(self.view.src, header.typesize(), self.view.blocksize),
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
        let view = self.view;
        let payload = stored.0.get(WORD..).ok_or(Error::Data)?;
        let is_raw = payload.len() == dest.len();
        if !self.pipeline.has_backward() {
            if is_raw {
                dest.copy_from_slice(payload);
                return Ok(());
            }
            return self.decode_stream(worker, payload, dest);
        }
        let ctx = self
            .params
            .call_context(view.src, view.header.typesize(), view.blocksize);
        let own = Reference::Own;
        if is_raw {
            return self
                .pipeline
                .backward(own, &ctx, payload, &mut worker.filters, dest);
        }
        worker.planes.invalidate_all();
        let mut buffer = std::mem::take(&mut worker.streams);
        let result = grown(&mut buffer, dest.len()).and_then(|filtered| {
            self.decode_stream(worker, payload, filtered)?;
            self.pipeline
                .backward(own, &ctx, filtered, &mut worker.filters, dest)
        });
        worker.streams = buffer;
        result
    }
}

/// Returns the size of the scratch memory of prefilters and postfilters, in bytes.
pub(super) fn callback_scratch(blocksize: usize, typesize: usize) -> usize {
    4 * (blocksize + 4 * typesize)
}

/// Fills `dest` with the content of a special chunk from `offset` on.
///
/// # Errors
/// [`Error::Data`] for NaNs whose item size is not that of a float, and for unknown types;
/// [`Error::ReadBuffer`] if the value is missing.
pub(super) fn fill_special(
    src: &[u8],
    header: &ChunkHeader,
    offset: usize,
    dest: &mut [u8],
) -> Result<()> {
    /// The quiet NaNs of 4- and 8-byte floats.
    const F32_NAN: [u8; 4] = 0x7FC0_0000u32.to_le_bytes();
    const F64_NAN: [u8; 8] = 0x7FF8_0000_0000_0000u64.to_le_bytes();
    match header.special {
        Special::Zero => dest.fill(0),
        Special::Uninit => {}
        // The item size does not matter in an empty chunk.
        Special::Nan if dest.is_empty() => {}
        Special::Nan => match header.typesize() {
            4 => repeat(&F32_NAN, offset, dest),
            8 => repeat(&F64_NAN, offset, dest),
            _ => return Err(Error::Data),
        },
        Special::Value => {
            let value = src
                .get(header.header_len()..header.cbytes)
                .ok_or(Error::ReadBuffer)?;
            repeat(value, offset, dest);
        }
        Special::None | Special::Unknown => return Err(Error::Data),
    }
    Ok(())
}

/// Maps the error of a codec that failed to decode a stream.
#[cold]
fn codec_failure(error: Error) -> Error {
    match error.kind() {
        ErrorKind::CodecSupport | ErrorKind::MemoryAlloc => error,
        _ => error.recast(ErrorKind::Data),
    }
}

/// Fills `dest` with the bytes from `offset` on of an endless repetition of `value`.
fn repeat(value: &[u8], offset: usize, dest: &mut [u8]) {
    let phase = offset % value.len();
    let mut filled = dest.len().min(value.len());
    for (i, byte) in dest[..filled].iter_mut().enumerate() {
        *byte = value[(phase + i) % value.len()];
    }
    // Doubling a whole number of periods keeps the phase.
    while filled < dest.len() {
        let more = filled.min(dest.len() - filled);
        dest.copy_within(..more, filled);
        filled += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_value_keeps_its_phase() {
        for width in [1, 3, 8, 300] {
            let value: Vec<u8> = (0..width).map(|i| i as u8).collect();
            for offset in [0, 1, 5, 299, 1000] {
                let mut dest = vec![0; 2000];
                repeat(&value, offset, &mut dest);
                for (i, &byte) in dest.iter().enumerate() {
                    assert_eq!(byte, value[(offset + i) % width]);
                }
            }
        }
    }
}
