//! Decoding one block: its streams, then the filters backwards, straight into its destination.
//!
//! Each stream is a little-endian word and what it announces:
//!
//! | word | the stream |
//! |---|---|
//! | 0 | zeros |
//! | −255…−1 | the byte −word over and over; a token byte follows, whose bit 0 is set |
//! | its uncompressed length | raw |
//! | another positive number | that many bytes of the codec |
//!
//! (Source: the C-Blosc2 chunk format.)

use super::header::{ChunkHeader, Special, divided};
use super::params::DParams;
use super::prefilter::PostfilterCall;
use super::view::{ChunkView, WORD};
use super::worker::{self, MAX_PLANES, Worker};
use crate::codec::{self, CodecCall};
use crate::filter::{self, Pipeline, Reference, grown};
use crate::kernels::shuffle;
use crate::{Error, ErrorKind, Result};

/// Bit of a run's token byte that must be set.
const TOKEN_RUN: u8 = 0x01;

/// What a chunk's blocks are decoded with.
pub(super) struct BlockDecoder<'a> {
    pub view: &'a ChunkView<'a>,
    pub pipeline: &'a Pipeline,
    pub params: &'a DParams,
    /// Whether blocks go to a destination that the caches have no room for.
    pub is_streamed: bool,
}

/// A stream as stored.
pub(super) enum Stream<'a> {
    Run(u8),
    Raw(&'a [u8]),
    Coded(&'a [u8]),
}

/// The stored bytes of a block, and what follows them in the chunk; read from the front.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a>(&'a [u8]);

impl<'a> Stored<'a> {
    /// What is stored at the beginning of these bytes.
    pub fn at(bytes: &'a [u8]) -> Stored<'a> {
        Stored(bytes)
    }

    /// Bytes that are left of those it begins with.
    pub fn left(&self) -> usize {
        self.0.len()
    }

    /// The next stream, of `len` uncompressed bytes.
    #[inline(always)]
    pub fn next(&mut self, len: usize) -> Result<Stream<'a>> {
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
    /// Whether blocks after the first depend on it.
    pub fn needs_reference(&self) -> bool {
        let header = &self.view.header;
        self.view.nblocks > 1
            && self.pipeline.has_delta()
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
            let offset = match self.view.header.vl_blocks {
                // Not where the block begins, but what callbacks have always been told.
                true => nblock * self.view.blocksize,
                false => self.view.block_offset(nblock),
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

    /// Bytes of an item: of the repeated value where there is one, however long.
    fn item_size(&self) -> usize {
        match self.view.header.special {
            Special::Value => self.view.header.value_width(),
            _ => self.view.header.typesize(),
        }
    }

    /// Decodes a block without the postfilter.
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
                .or_else(|error| match view.streams_instead(dest.len()) {
                    Some(streams) => {
                        self.decode_other_streams(worker, stored, streams, reference, dest)
                    }
                    None => Err(error),
                })
        })
    }

    /// [`BlockDecoder::decode_streams`] where that has failed with the number that the chunk's header gives.
    #[cold]
    #[inline(never)]
    fn decode_other_streams(
        &self,
        worker: &mut Worker,
        stored: Stored<'_>,
        streams: usize,
        reference: Reference<'_>,
        dest: &mut [u8],
    ) -> Result<()> {
        self.decode_streams(worker, stored, streams, reference, dest)
    }

    /// Hands `work` the stored bytes of a block: from the chunk, or read from where a lazy chunk says.
    #[inline(always)]
    pub fn with_stored<T>(
        &self,
        worker: &mut Worker,
        nblock: usize,
        work: impl FnOnce(&mut Worker, Stored<'_>) -> Result<T>,
    ) -> Result<T> {
        let start = match self.view.header.vl_blocks {
            true => self.view.vl_block(nblock).start,
            false => self.view.block_start(nblock)?,
        };
        let Some(lazy) = &self.view.lazy else {
            // Variable-length blocks end where the next begins; regular ones where their streams do.
            let end = match self.view.header.vl_blocks {
                true => start + self.view.vl_block(nblock).stored_len,
                false => self.view.src.len(),
            };
            return work(worker, Stored(&self.view.src[start..end]));
        };
        let mut buffer = std::mem::take(&mut worker.fetched);
        let result = lazy
            .fetch(nblock, start, &mut buffer)
            .and_then(|bytes| work(worker, Stored(bytes)));
        worker.fetched = buffer;
        result
    }

    #[inline(always)]
    fn decode_streams(
        &self,
        worker: &mut Worker,
        stored: Stored<'_>,
        streams: usize,
        reference: Reference<'_>,
        dest: &mut [u8],
    ) -> Result<()> {
        let view = self.view;
        let (len, rest) = divided(dest.len(), streams);
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
                match self.is_streamed {
                    true => shuffle::unshuffle_planes_streamed(planes, dest),
                    false => shuffle::unshuffle_planes(planes, dest),
                }
                Ok(())
            });
        }
        self.decode_and_filter(worker, stored, streams, len, reference, dest)
    }

    /// Decodes streams of `len` bytes each, and undoes what the filters did to them.
    fn decode_and_filter(
        &self,
        worker: &mut Worker,
        stored: Stored<'_>,
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
            let mut ahead = stored;
            if let Stream::Raw(raw) = ahead.next(len)? {
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
        worker.planes.forget();
        let mut buffer = std::mem::take(&mut worker.streams);
        let result = grown(&mut buffer, dest.len()).and_then(|filtered| {
            self.decode_into(worker, stored, len, filtered)?;
            self.pipeline
                .backward(reference, &ctx, filtered, &mut worker.filters, dest)
        });
        worker.streams = buffer;
        result
    }

    /// Whether the only filter to undo is a shuffle of whole items, so that streams are byte planes.
    pub fn is_plain_shuffle(&self) -> bool {
        let Some(slot) = self.pipeline.sole_backward_slot() else {
            return false;
        };
        let is_item_size = slot.meta == 0 || usize::from(slot.meta) == self.view.header.typesize();
        slot.id == filter::id::SHUFFLE && is_item_size
    }

    /// Decodes streams that are the byte planes of a shuffled block, and hands them to `work`. Raw planes are read where
    /// they lie in the chunk, and constant ones are filled in only when they differ from the last block's.
    fn with_planes(
        &self,
        worker: &mut Worker,
        mut stored: Stored<'_>,
        streams: usize,
        len: usize,
        work: impl FnOnce(&[&[u8]]) -> Result<()>,
    ) -> Result<()> {
        let mut buffer = std::mem::take(&mut worker.streams);
        let run = || {
            // Any slice will do until the planes are there; one in memory is quicker written than a constant.
            let mut planes = [stored.0; MAX_PLANES];
            worker.planes.set_plane_len(len);
            let places = worker::places(&mut buffer, streams, len)?;
            for (number, (plane, own)) in planes[..streams].iter_mut().zip(places).enumerate() {
                *plane = match stored.next(len)? {
                    Stream::Raw(raw) => raw,
                    Stream::Run(value) => {
                        worker.planes.fill(number, &mut own[..len], value);
                        &own[..len]
                    }
                    Stream::Coded(coded) => {
                        worker.planes.forget_plane(number);
                        self.decode_stream_loosely(worker, coded, own, len)?;
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
        mut stored: Stored<'_>,
        len: usize,
        dest: &mut [u8],
    ) -> Result<()> {
        for part in dest.chunks_exact_mut(len) {
            match stored.next(len)? {
                Stream::Run(value) => part.fill(value),
                Stream::Raw(raw) => part.copy_from_slice(raw),
                Stream::Coded(coded) => self.decode_stream(worker, coded, part)?,
            }
        }
        Ok(())
    }

    /// Decodes a stream of the chunk's codec, which must fill `dest` exactly.
    pub fn decode_stream(&self, worker: &mut Worker, coded: &[u8], dest: &mut [u8]) -> Result<()> {
        self.decode_stream_loosely(worker, coded, dest, dest.len())
    }

    /// Decodes a stream of the chunk's codec, which must be of `len` bytes, to the beginning of `dest`; what is behind may
    /// get any values.
    pub fn decode_stream_loosely(
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

    /// Decodes a part of a stream of `len` bytes from its byte `from` on, if the codec knows a shorter way
    /// than to decode all of it.
    pub fn decode_stream_part(
        &self,
        coded: &[u8],
        len: usize,
        from: usize,
        part: &mut [u8],
    ) -> Option<Result<()>> {
        let header = &self.view.header;
        if header.basic.format() != codec::format::USER {
            return None;
        }
        let codec = codec::implementation(header.udcodec).ok()?;
        let done = codec.decode_part(&self.codec_call(), coded, len, from, part)?;
        Some(done.map_err(codec_failure))
    }

    /// Decodes a variable-length block: one stream, and its own reference.
    fn decode_vl(&self, worker: &mut Worker, stored: Stored<'_>, dest: &mut [u8]) -> Result<()> {
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
        worker.planes.forget();
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

/// Bytes of working memory a prefilter or postfilter gets.
pub(super) fn callback_scratch(blocksize: usize, typesize: usize) -> usize {
    4 * (blocksize + 4 * typesize)
}

/// Writes the part of a special chunk that begins `offset` bytes into it.
///
/// # Errors
/// [`Error::Data`] for NaNs of an item size that is no float's, and for types this library does not know;
/// [`Error::ReadBuffer`] when the value is missing.
pub(super) fn fill_special(
    src: &[u8],
    header: &ChunkHeader,
    offset: usize,
    dest: &mut [u8],
) -> Result<()> {
    /// The quiet NaNs that chunks of 4- and 8-byte floats stand for.
    const F32_NAN: [u8; 4] = 0x7FC0_0000u32.to_le_bytes();
    const F64_NAN: [u8; 8] = 0x7FF8_0000_0000_0000u64.to_le_bytes();
    match header.special {
        Special::Zero => dest.fill(0),
        Special::Uninit => {}
        // An empty chunk has no item whose size could be wrong.
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

/// Returns the error of a stream that its codec could not decode.
#[cold]
fn codec_failure(error: Error) -> Error {
    match error.kind() {
        ErrorKind::CodecSupport | ErrorKind::MemoryAlloc => error,
        _ => error.recast(ErrorKind::Data),
    }
}

/// Fills `dest` with the part of an endless repetition of `value` that begins at `offset`.
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
