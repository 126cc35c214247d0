//! Encoding of one block: prefilter, filters, then its streams in order.
//!
//! The layout of a stream is described in `format/streams.rs`.

use super::instrument::{self, Timings};
use crate::chunk::callbacks::{Prefilter, PrefilterCall, scratch_len};
use crate::chunk::format::limits::WORD;
use crate::chunk::format::streams::{TOKEN_RUN, codec_failure, run_len};
use crate::chunk::params::{CParams, HeaderForm};
use crate::chunk::worker::buffers::Encoded;
use crate::chunk::worker::state::Worker;
use crate::codec::{self, Blosc1Stream, CodecCall, Dictionary, Shuffled};
use crate::filter::{Order, Pipeline, Reference, grown};
use crate::os::process;
use crate::{CallContext, Error, Result, kernels, plugin};

/// The version byte of an unknown codec.
const UNKNOWN_VERSION: u8 = 0xFF;

/// The data to compress.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Source<'a> {
    /// One buffer, to be divided into blocks.
    Bytes(&'a [u8]),
    /// Only a size in bytes; a prefilter generates the blocks.
    Absent(usize),
    /// The blocks of a chunk with variable-length blocks.
    Blocks(&'a [&'a [u8]]),
}

impl Source<'_> {
    /// Returns the total size in bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Source::Bytes(bytes) => bytes.len(),
            Source::Absent(len) => *len,
            Source::Blocks(blocks) => blocks.iter().map(|block| block.len()).sum(),
        }
    }

    pub(super) fn is_present(&self) -> bool {
        !matches!(self, Source::Absent(_))
    }
}

/// The encoder selected by a compcode.
pub(super) enum CodecSelection {
    BuiltIn {
        compcode: u8,
        format: u8,
        version: u8,
    },
    /// A registered codec; its implementation is looked up for the first stream.
    Registered {
        compcode: u8,
        version: u8,
    },
    Unknown,
}

impl CodecSelection {
    /// Selects the encoder of a compcode.
    pub fn of(compcode: i32, form: HeaderForm) -> CodecSelection {
        let Ok(compcode) = u8::try_from(compcode) else {
            return CodecSelection::Unknown;
        };
        let is_blosc1_only = codec::info(compcode).is_some_and(|codec| codec.is_blosc1_only);
        if is_blosc1_only && form != HeaderForm::Blosc1 {
            return CodecSelection::Unknown;
        }
        if let Some(registered) = codec::registered(compcode) {
            return CodecSelection::Registered { compcode, version: registered.version() };
        }
        match (codec::wire_format(compcode), codec::wire_version(compcode)) {
            (Some(format), Some(version)) => CodecSelection::BuiltIn { compcode, format, version },
            _ => CodecSelection::Unknown,
        }
    }

    /// Returns the format code for the header.
    pub fn format(&self) -> u8 {
        match self {
            CodecSelection::BuiltIn { format, .. } => *format,
            _ => codec::format::USER,
        }
    }

    /// Returns the version byte for the header.
    pub fn version(&self) -> u8 {
        match self {
            CodecSelection::BuiltIn { version, .. }
            | CodecSelection::Registered { version, .. } => *version,
            CodecSelection::Unknown => UNKNOWN_VERSION,
        }
    }
}

/// The encoder of a chunk's blocks.
pub(super) struct BlockEncoder<'a> {
    pub params: &'a CParams,
    pub source: Source<'a>,
    /// The item size in bytes, as stored in the header.
    pub typesize: usize,
    /// The size of a full block, or of the longest variable-length block, in bytes.
    pub blocksize: usize,
    pub nbytes: usize,
    pub nblocks: usize,
    /// Whether full blocks are split into streams.
    pub split: bool,
    /// Whether constant streams are stored as runs.
    pub runs: bool,
    pub pipeline: Pipeline,
    pub codec: CodecSelection,
    pub dictionary: Option<Dictionary>,
    /// The first block as it will be decoded, if other blocks depend on it.
    pub reference: Option<&'a [u8]>,
}

impl<'a> BlockEncoder<'a> {
    pub fn is_vl(&self) -> bool {
        matches!(self.source, Source::Blocks(_))
    }

    pub fn block_len(&self, nblock: usize) -> usize {
        match self.source {
            Source::Blocks(blocks) => blocks[nblock].len(),
            _ => self.blocksize.min(self.nbytes - nblock * self.blocksize),
        }
    }

    /// Returns the number of streams of a block of `len` bytes.
    pub fn streams(&self, len: usize) -> usize {
        if self.split && len == self.blocksize { self.typesize } else { 1 }
    }

    /// Returns the number of streams of a full block.
    pub fn full_streams(&self) -> usize {
        self.streams(self.blocksize)
    }

    /// Returns the number of streams of all blocks.
    pub fn total_streams(&self) -> usize {
        (0..self.nblocks).map(|nblock| self.streams(self.block_len(nblock))).sum()
    }

    /// Returns the maximum size of an encoded block in bytes.
    pub fn max_encoded_len(&self, nblock: usize) -> usize {
        let len = self.block_len(nblock);
        let streams = self.streams(len);
        let stream = if self.params.instrument {
            instrument::RECORD_LEN.max(len / streams)
        } else {
            len / streams
        };
        streams * (WORD + stream)
    }

    /// Returns the block's bytes in the source, if there are any.
    fn input(&self, nblock: usize) -> Option<&'a [u8]> {
        match self.source {
            Source::Bytes(bytes) => {
                let start = nblock * self.blocksize;
                Some(&bytes[start..start + self.block_len(nblock)])
            }
            Source::Absent(_) => None,
            Source::Blocks(blocks) => Some(blocks[nblock]),
        }
    }

    /// Whether the output of the prefilter is ignored.
    fn is_disposable(&self) -> bool {
        self.params.prefilter.as_ref().is_some_and(|prefilter| prefilter.is_disposable())
    }

    /// Runs the prefilter into `output`, which has the block's length.
    pub fn prefilter_into(
        &self,
        prefilter: &dyn Prefilter,
        scratch: &mut Vec<u8>,
        nblock: usize,
        tid: usize,
        output: &mut [u8],
    ) -> Result<()> {
        let output_typesize = match prefilter.output_typesize() {
            size if size > 0 => size as usize,
            _ => self.typesize,
        };
        if !prefilter.is_disposable() {
            output.fill(0);
        }
        let output_len = output.len() / self.typesize * output_typesize;
        let parent = self.params.parent.as_deref();
        let mut call = PrefilterCall {
            input: self.input(nblock),
            output: &mut output[..output_len],
            output_typesize: output_typesize as i32,
            output_offset: if self.is_vl() { 0 } else { nblock * self.blocksize },
            nchunk: parent.map_or(-1, |parent| parent.current_chunk()),
            nblock,
            tid,
            scratch: grown(scratch, scratch_len(self.blocksize, self.typesize))?,
            parent,
            user_data: self.params.user_data.as_deref(),
        };
        match prefilter.apply(&mut call) {
            Err(_) if !prefilter.is_disposable() => Err(Error::FilterPipeline),
            _ => Ok(()),
        }
    }

    /// Calls `work` with the unfiltered block: that of the source or the output of the prefilter.
    fn with_block<T>(
        &self,
        worker: &mut Worker,
        nblock: usize,
        tid: usize,
        work: impl FnOnce(&mut Worker, &[u8]) -> Result<T>,
    ) -> Result<T> {
        let Some(prefilter) = &self.params.prefilter else {
            return work(worker, self.input(nblock).unwrap_or_default());
        };
        let mut buffer = std::mem::take(&mut worker.block);
        let result = grown(&mut buffer, self.block_len(nblock)).and_then(|block| {
            let scratch = &mut worker.callback;
            self.prefilter_into(prefilter.as_ref(), scratch, nblock, tid, block)?;
            work(worker, block)
        });
        worker.block = buffer;
        result
    }

    /// Calls `work` with the filtered block.
    pub fn with_filtered<T>(
        &self,
        worker: &mut Worker,
        nblock: usize,
        tid: usize,
        work: impl FnOnce(&mut Worker, &[u8]) -> Result<T>,
    ) -> Result<T> {
        self.with_block(worker, nblock, tid, |worker, block| {
            if self.pipeline.is_empty() || self.is_disposable() {
                return work(worker, block);
            }
            let reference = match self.reference {
                Some(reference) if nblock > 0 => Reference::Block(reference),
                _ => Reference::Own,
            };
            let ctx = self.call_context();
            // `worker.streams` is shared with decompression, so that a worker used for both
            // allocates it once.
            worker.planes.invalidate_all();
            let mut scratch = std::mem::take(&mut worker.filters);
            scratch.push_front(&mut worker.streams);
            let result = self
                .pipeline
                .forward(reference, &ctx, block, &mut scratch)
                .and_then(|filtered| work(worker, filtered));
            scratch.pop_front(&mut worker.streams);
            worker.filters = scratch;
            result
        })
    }

    /// Returns the context of codec and filter calls.
    fn call_context(&self) -> CallContext<'a> {
        CallContext {
            parent: self.params.parent.as_deref(),
            user_data: self.params.user_data.as_deref(),
            chunk: match self.source {
                Source::Bytes(bytes) => bytes,
                _ => &[],
            },
            typesize: self.typesize,
            blocksize: self.blocksize,
        }
    }

    /// Prepares the reference block of the DELTA filter: the first block as it will be decoded,
    /// after the prefilter and lossy filters.
    pub fn prepare_reference(
        &mut self,
        worker: &mut Worker,
        buffer: &'a mut Vec<u8>,
    ) -> Result<()> {
        if !self.pipeline.needs_reference() || self.nbytes <= self.blocksize {
            return Ok(());
        }
        let is_exact = self.params.prefilter.is_none() && !self.pipeline.may_change_data();
        if let (true, Some(block)) = (is_exact, self.input(0)) {
            self.reference = Some(block);
            return Ok(());
        }
        let reference = grown(buffer, self.blocksize)?;
        let lossy = self.pipeline.may_change_data() && !self.is_disposable();
        if lossy {
            let ctx = self.call_context();
            self.with_filtered(worker, 0, 0, |worker, filtered| {
                let scratch = &mut worker.filters;
                self.pipeline.backward(Reference::Own, &ctx, filtered, scratch, reference)
            })?;
        } else {
            self.with_block(worker, 0, 0, |_, block| {
                kernels::copy::copy(block, reference);
                Ok(())
            })?;
        }
        self.reference = Some(reference);
        Ok(())
    }

    /// Encodes a block into `dest`; returns `None` if it does not fit.
    pub fn encode(
        &self,
        worker: &mut Worker,
        nblock: usize,
        tid: usize,
        dest: &mut [u8],
    ) -> Result<Option<Encoded>> {
        let mut timings = Timings::start(self.params.instrument);
        self.with_filtered(worker, nblock, tid, |worker, filtered| {
            timings.filters_done(filtered.len());
            let streams = self.streams(filtered.len());
            let mut encoded = Encoded { len: 0, all_zero: true };
            for stream in filtered.chunks_exact(filtered.len() / streams) {
                let dest = &mut dest[encoded.len..];
                let result = if self.params.instrument {
                    self.measure_stream(worker, stream, dest, &timings)?
                } else {
                    self.encode_stream(worker, stream, dest)?
                };
                let Some(stream) = result else {
                    return Ok(None);
                };
                encoded.len += stream.len;
                encoded.all_zero &= stream.all_zero;
            }
            Ok(Some(encoded))
        })
    }

    /// Whether a chunk whose streams are all runs of zeros can be stored as a special chunk, to
    /// which no filters apply. A filter of the program may map other data to zeros.
    pub fn may_be_special(&self) -> bool {
        self.runs && !self.is_vl() && (self.pipeline.is_builtin_only() || self.is_disposable())
    }

    /// Returns the repeated byte of a constant stream, if runs may be stored.
    fn run_of(&self, stream: &[u8]) -> Option<u8> {
        if !self.runs {
            None
        } else if self.is_disposable() {
            Some(0)
        } else {
            kernels::run::constant(stream)
        }
    }

    /// Encodes a stream: its size, then the payload. The size of a variable-length block is its
    /// uncompressed size, and the payload is raw if it has that size.
    fn encode_stream(
        &self,
        worker: &mut Worker,
        stream: &[u8],
        dest: &mut [u8],
    ) -> Result<Option<Encoded>> {
        let Some((size, payload)) = dest.split_first_chunk_mut::<WORD>() else {
            return Ok(None);
        };
        let is_vl = self.is_vl();
        if !is_vl && let Some(value) = self.run_of(stream) {
            *size = (-i32::from(value)).to_le_bytes();
            if value != 0 {
                let Some(token) = payload.first_mut() else {
                    return Ok(None);
                };
                *token = TOKEN_RUN;
            }
            return Ok(Some(Encoded { len: run_len(value), all_zero: value == 0 }));
        }
        let Some(len) = self.encode_payload(worker, stream, payload)? else {
            return Ok(None);
        };
        let stored = if is_vl { stream.len() } else { len };
        *size = (stored as i32).to_le_bytes();
        Ok(Some(Encoded { len: WORD + len, all_zero: false }))
    }

    /// Compresses a stream, or copies it if the codec cannot shorten it.
    fn encode_payload(
        &self,
        worker: &mut Worker,
        stream: &[u8],
        dest: &mut [u8],
    ) -> Result<Option<usize>> {
        let limit = stream.len().min(dest.len());
        if limit == 0 {
            return Ok(None);
        }
        let len = self.run_codec(worker, stream, &mut dest[..limit])?;
        if len != 0 && len != stream.len() {
            return Ok(Some(len));
        }
        let Some(raw) = dest.get_mut(..stream.len()) else {
            return Ok(None);
        };
        kernels::copy::copy(stream, raw);
        Ok(Some(stream.len()))
    }

    /// Returns the shuffle that determines the order of the bytes in the streams.
    fn shuffled(&self) -> Shuffled {
        match self.pipeline.order() {
            _ if self.typesize <= 1 => Shuffled::No,
            Order::Bytes => Shuffled::Bytes,
            Order::Bits => Shuffled::Bits,
            _ => Shuffled::No,
        }
    }

    fn run_codec(&self, worker: &mut Worker, stream: &[u8], dest: &mut [u8]) -> Result<usize> {
        let level = self.params.clevel as u8;
        let len = match &self.codec {
            CodecSelection::BuiltIn { compcode, .. }
                if self.params.header == HeaderForm::Blosc1 =>
            {
                let kind = Blosc1Stream {
                    split: self.split,
                    shuffled: self.shuffled(),
                    typesize: self.typesize,
                };
                worker.codecs.encode_blosc1(*compcode, level, kind, stream, dest)
            }
            CodecSelection::BuiltIn { compcode, .. } => match self.dictionary.as_ref() {
                None => {
                    worker.codecs.encode_shuffled(*compcode, level, self.shuffled(), stream, dest)
                }
                dictionary => worker.codecs.encode(*compcode, level, dictionary, stream, dest),
            },
            CodecSelection::Registered { compcode, .. } => {
                let call =
                    CodecCall { level, meta: self.params.compcode_meta, ctx: self.call_context() };
                codec::implementation(*compcode).and_then(|codec| codec.encode(&call, stream, dest))
            }
            CodecSelection::Unknown => Err(plugin::unknown_codec(self.params.compcode)),
        };
        match len {
            Ok(len) if len <= dest.len() => Ok(len),
            Ok(_) => Err(Error::WriteBuffer),
            Err(error) => Err(codec_failure(error)),
        }
    }

    /// Compresses a stream and stores only the measurements.
    fn measure_stream(
        &self,
        worker: &mut Worker,
        stream: &[u8],
        dest: &mut [u8],
        timings: &Timings,
    ) -> Result<Option<Encoded>> {
        let total = WORD + instrument::RECORD_LEN;
        let Some(dest) = dest.get_mut(..total) else {
            return Ok(None);
        };
        let record = match self.run_of(stream) {
            Some(value) => timings.run(stream.len(), value),
            None => {
                let mut buffer = std::mem::take(&mut worker.compressed_stream);
                let started = process::now();
                let len = grown(&mut buffer, stream.len())
                    .and_then(|dest| self.encode_payload(worker, stream, dest));
                worker.compressed_stream = buffer;
                let time = instrument::elapsed(started);
                timings.stream(stream.len(), len?.unwrap_or(stream.len()), time)
            }
        };
        let (size, payload) = dest.split_at_mut(WORD);
        size.copy_from_slice(&(instrument::RECORD_LEN as i32).to_le_bytes());
        payload.copy_from_slice(&record);
        Ok(Some(Encoded { len: total, all_zero: false }))
    }
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use super::*;
    use crate::chunk::{Compressor, SplitMode};
    use crate::filter;
    use crate::filter::{SLOTS, Slot};

    #[test]
    fn an_identity_shuffle_does_not_mark_streams_as_shuffled() {
        // A few thousand distinct values in random order.
        let mixed = |i: u64| {
            let high = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (high ^ high >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        };
        let items = (0..1 << 17).map(|i| mixed(mixed(i) >> 20) % 8000).map(mixed);
        let data: Vec<u8> = items.flat_map(u64::to_le_bytes).collect();
        let [nothing, moves_nothing] = [(filter::id::NONE, 0), (filter::id::SHUFFLE, 1)];
        let [plain, same] = [nothing, moves_nothing].map(|(id, meta)| {
            let mut params = CParams::default().codec(codec::id::LZ4).typesize(8);
            params.filters = [Slot::default(); SLOTS];
            params.filters[SLOTS - 1] = Slot { id, meta };
            params.blocksize = 1 << 17;
            params.splitmode = SplitMode::NEVER;
            let chunk = Compressor::new(params).and_then(|mut c| c.compress_to_vec(&data));
            chunk.expect("compresses").len()
        });
        assert_eq!(plain, same);
    }
}
