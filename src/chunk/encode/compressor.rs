//! Compression of whole chunks: checks of the parameters, the header, and uncompressed storage.
//!
//! [`super::writer`] adds the blocks. The bytes of a chunk depend only on the source, the
//! parameters and the size of the destination.

use super::block::{BlockEncoder, CodecSelection, Source};
use super::blocksize::{MIN_BUFFERSIZE, blocksize, would_split};
use super::writer::write_blocks;
use super::{blosc1, dict, instrument};
use crate::chunk::callbacks::TunerCall;
use crate::chunk::format::header::{
    HeaderFields, Special, VERSION_BLOSC1, VERSION_STABLE, VERSION_VL, blosc2_flag, flag, flag2,
    flags_from_slots, is_expressible_as_flags,
};
use crate::chunk::format::limits::{
    self, EXTENDED_HEADER_LENGTH, MAX_BLOCKSIZE, MAX_BUFFERSIZE, MAX_OVERHEAD, MAX_TYPESIZE,
    MIN_HEADER_LENGTH, WORD,
};
use crate::chunk::params::{CParams, HeaderForm};
use crate::chunk::worker::cache::WorkerCache;
use crate::filter::{self, Pipeline};
use crate::{Error, Result, item, kernels, trace};

/// The maximum compression level.
const MAX_LEVEL: i32 = 9;

/// An upper bound on the bytes by which a variable-length block exceeds its data: its start, and
/// the lengths of the block and its stream.
const VL_BLOCK_OVERHEAD: usize = 4 * WORD;

/// Compresses chunks; caches codec states and buffers between calls. It owns its parameters and
/// borrows sources and destinations for one call only.
///
/// ```
/// use ferroblosc::chunk::{CParams, Compressor, MAX_OVERHEAD};
///
/// let data: Vec<u8> = (0..1000u32).flat_map(u32::to_le_bytes).collect();
/// let mut compressor = Compressor::new(CParams::default().typesize(4))?;
/// let mut chunk = vec![0; data.len() + MAX_OVERHEAD];
/// let size = compressor.compress(&data, &mut chunk)?;
/// assert!(size > 0 && size < data.len());
/// # Ok::<(), ferroblosc::Error>(())
/// ```
///
/// # Errors
///
/// All compressing methods return these errors. The content of the destination is then unspecified.
///
/// - [`Error::MaxBufsizeExceeded`] if the source is longer than [`MAX_BUFFERSIZE`] or the
///   destination shorter than 32 bytes. With [`HeaderForm::Blosc1`] a destination needs only 16
///   bytes, and [`Compressor::compress`] returns 0 instead of this error;
/// - [`Error::CodecParam`] for a level outside `0..=9`, and for a dictionary with a codec that has
///   none;
/// - [`Error::InvalidParam`] for an item size outside `1..=MAX_BLOCKSIZE`, a negative block size, a
///   prefilter with larger items than the chunk, and parameters that a short header cannot
///   represent;
/// - [`Error::CodecSupport`] if the codec does not exist or cannot encode;
/// - [`Error::FilterPipeline`] if a filter is not registered or fails, or the prefilter refuses a
///   block;
/// - [`Error::Data`] or [`Error::WriteBuffer`] if a codec fails;
/// - the error of the [`Tuner`](crate::chunk::Tuner);
/// - [`Error::MemoryAlloc`].
pub struct Compressor {
    params: CParams,
    blocksize_used: usize,
    workers: WorkerCache,
    reference: Vec<u8>,
}

impl Compressor {
    /// Creates a compressor with these parameters.
    ///
    /// # Errors
    /// - [`Error::FilterPipeline`] if the pipeline contains an invalid filter id. All other
    ///   parameters are checked on use.
    pub fn new(params: CParams) -> Result<Compressor> {
        check_filters(&params)?;
        Ok(Compressor {
            params,
            blocksize_used: 0,
            workers: WorkerCache::default(),
            reference: Vec::new(),
        })
    }

    /// Returns a compressor with the same parameters but one thread, for concurrent work on several
    /// chunks. The new compressor writes the same chunks, and both share a cache of buffers.
    pub fn clone_single_threaded(&self) -> Compressor {
        Compressor {
            params: self.params.clone().threads(1),
            blocksize_used: 0,
            workers: self.workers.clone_shared(),
            reference: Vec::new(),
        }
    }

    /// Returns the parameters.
    pub fn params(&self) -> &CParams {
        &self.params
    }

    /// Replaces the parameters; codec states and buffers are kept.
    ///
    /// # Errors
    /// - [`Error::FilterPipeline`] if the pipeline contains an invalid filter id. The parameters
    ///   are then unchanged.
    pub fn set_params(&mut self, params: CParams) -> Result<()> {
        check_filters(&params)?;
        self.params = params;
        Ok(())
    }

    /// Returns the block size of the last compression in bytes, or the requested block size before
    /// the first compression.
    pub fn blocksize(&self) -> i32 {
        match self.blocksize_used {
            0 => self.params.blocksize,
            used => used as i32,
        }
    }

    /// Compresses `src` to the start of `dest`; returns the size of the chunk in bytes, or 0 if it
    /// does not fit. It always fits if `dest` is
    /// [`MAX_OVERHEAD`](crate::chunk::MAX_OVERHEAD) bytes longer than `src`. The bytes of `dest`
    /// after the chunk are unspecified.
    ///
    /// # Errors
    /// - the [compression errors](Compressor#errors).
    pub fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        self.compress_source(Source::Bytes(src), dest)
    }

    /// Compresses `src` into a new vector, whose length is the size of the chunk. Its capacity is
    /// that of an uncompressed chunk; [`Vec::shrink_to_fit`] releases the rest.
    ///
    /// # Errors
    /// - the [compression errors](Compressor#errors).
    pub fn compress_to_vec(&mut self, src: &[u8]) -> Result<Vec<u8>> {
        check_sizes(src.len(), EXTENDED_HEADER_LENGTH)?;
        let mut chunk = Vec::new();
        chunk.try_reserve_exact(src.len() + EXTENDED_HEADER_LENGTH)?;
        chunk.resize(src.len() + EXTENDED_HEADER_LENGTH, 0);
        let size = self.compress(src, &mut chunk)?;
        chunk.truncate(size);
        Ok(chunk)
    }

    /// Compresses `source` like [`Compressor::compress`]. If a prefilter generates the blocks, only
    /// the size of the source is needed ([`Source::Absent`]).
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if there is neither data nor prefilter;
    /// - the [compression errors](Compressor#errors).
    pub fn compress_source(&mut self, source: Source<'_>, dest: &mut [u8]) -> Result<usize> {
        let nbytes = source.len();
        let dest = match self.usable_dest(nbytes, dest) {
            Ok(Some(dest)) => dest,
            Ok(None) => return Ok(0),
            Err(error) => {
                self.log_params_before_error(nbytes);
                return Err(error);
            }
        };
        let has_input = nbytes == 0 || source.is_present() || self.params.prefilter.is_some();
        let typesize = check_params(&self.params, source.is_present())?;
        if !has_input {
            return Err(Error::InvalidParam);
        }
        let requested = self.requested_blocksize(nbytes, typesize)?;
        self.blocksize_used = blocksize(&self.params, nbytes, typesize, requested);
        log_params(&self.params, nbytes, typesize, self.blocksize_used);
        let (mut header, mut encoder) =
            prepare(&self.params, source, nbytes, typesize, self.blocksize_used)?;
        let store_uncompressed = self.params.clevel == 0
            || nbytes < self.params.header.min_buffersize()
            || header.header_len() + WORD * encoder.nblocks > dest.len();
        if store_uncompressed {
            header.flags = match self.params.header {
                HeaderForm::Extended => flag::EXTENDED | flag::MEMCPYED,
                HeaderForm::Short => flag::MEMCPYED,
                HeaderForm::Blosc1 => header.flags | flag::MEMCPYED,
            };
            return store_raw(header, &encoder, &mut self.workers, dest);
        }
        encoder.prepare_reference(self.workers.own(), &mut self.reference)?;
        if self.params.use_dict {
            encoder.dictionary = dict::build(&encoder, self.workers.own())?;
        }
        compress_or_store(header, &encoder, &mut self.workers, dest)
    }

    /// Compresses each of `blocks` into its own block of a chunk with variable-length blocks, at
    /// the start of `dest`; returns the size of the chunk in bytes, or 0 if it does not fit.
    ///
    /// ```
    /// use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
    ///
    /// let words: [&[u8]; 3] = [b"a", b"longer", b"words"];
    /// let mut chunk = [0; 128];
    /// let mut compressor = Compressor::new(CParams::default().typesize(1))?;
    /// let size = compressor.vl_compress(&words, &mut chunk)?;
    /// let mut decompressor = Decompressor::new(DParams::default());
    /// assert_eq!(decompressor.vl_decompress(&chunk[..size])?, words);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `blocks` or one of them is empty;
    /// - the [compression errors](Compressor#errors).
    pub fn vl_compress(&mut self, blocks: &[&[u8]], dest: &mut [u8]) -> Result<usize> {
        let nbytes = blocks
            .iter()
            .try_fold(0usize, |sum, block| sum.checked_add(block.len()))
            .ok_or(Error::MaxBufsizeExceeded)?;
        if blocks.is_empty() || blocks.iter().any(|block| block.is_empty()) {
            return Err(Error::InvalidParam);
        }
        let Some(dest) = self.usable_dest(nbytes, dest)? else {
            return Ok(0);
        };
        let typesize = check_params(&self.params, true)?;
        let longest = blocks.iter().map(|block| block.len()).max().unwrap_or(0);
        log_params(&self.params, longest, typesize, longest);
        let source = Source::Blocks(blocks);
        let (mut header, mut encoder) = prepare(&self.params, source, nbytes, typesize, longest)?;
        if header.header_len() + WORD * encoder.nblocks > dest.len() {
            return Ok(0);
        }
        header.version = VERSION_VL;
        header.flags2 = flag2::VL_BLOCKS;
        header.blocksize = blocks.len();
        header.flags |= flag::NOT_SPLIT;
        encoder.split = false;
        if self.params.use_dict && self.params.clevel > 0 {
            encoder.dictionary = dict::build(&encoder, self.workers.own())?;
        }
        compress_or_store(header, &encoder, &mut self.workers, dest)
    }

    /// Compresses each of `blocks` into its own block of a chunk with variable-length blocks, in a
    /// new vector.
    ///
    /// ```
    /// use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
    ///
    /// let words: [&[u8]; 3] = [b"a", b"longer", b"words"];
    /// let chunk = Compressor::new(CParams::default().typesize(1))?.vl_compress_to_vec(&words)?;
    /// assert_eq!(Decompressor::new(DParams::default()).vl_decompress(&chunk)?, words);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `blocks` or one of them is empty;
    /// - the [compression errors](Compressor#errors).
    pub fn vl_compress_to_vec(&mut self, blocks: &[&[u8]]) -> Result<Vec<u8>> {
        let nbytes = blocks.iter().try_fold(0usize, |sum, block| sum.checked_add(block.len()));
        let nbytes = nbytes.ok_or(Error::MaxBufsizeExceeded)?;
        check_sizes(nbytes, EXTENDED_HEADER_LENGTH)?;
        // Each block has a start, and its streams have lengths. Dictionaries and records of
        // instrumented codecs may need more.
        let mut capacity = nbytes + MAX_OVERHEAD + blocks.len() * VL_BLOCK_OVERHEAD;
        loop {
            let mut chunk = item::zeroed(capacity)?;
            match self.vl_compress(blocks, &mut chunk)? {
                0 if capacity >= MAX_BUFFERSIZE => return Err(Error::MaxBufsizeExceeded),
                0 => capacity *= 2,
                size => {
                    chunk.truncate(size);
                    return Ok(chunk);
                }
            }
        }
    }

    /// Returns the usable prefix of `dest`, or `None` for sizes for which Blosc 1.x returns 0.
    fn usable_dest<'d>(&self, nbytes: usize, dest: &'d mut [u8]) -> Result<Option<&'d mut [u8]>> {
        if self.params.header != HeaderForm::Blosc1 {
            check_sizes(nbytes, dest.len())?;
            // Offsets in a chunk are 31-bit.
            let most = dest.len().min(i32::MAX as usize);
            return Ok(Some(&mut dest[..most]));
        }
        if nbytes > limits::blosc1::MAX_BUFFERSIZE || dest.len() < MIN_HEADER_LENGTH {
            return Ok(None);
        }
        let most = dest.len().min(nbytes + MIN_HEADER_LENGTH);
        Ok(Some(&mut dest[..most]))
    }

    /// Logs the parameters of a compression that fails because its destination is too short.
    fn log_params_before_error(&self, nbytes: usize) {
        let requested = self.params.blocksize.max(0) as usize;
        if nbytes <= MAX_BUFFERSIZE
            && let Ok(typesize) = check_params(&self.params, true)
        {
            let blocksize = blocksize(&self.params, nbytes, typesize, requested);
            log_params(&self.params, nbytes, typesize, blocksize);
        }
    }

    fn requested_blocksize(&self, nbytes: usize, typesize: usize) -> Result<usize> {
        let requested = self.params.blocksize as usize;
        let Some(tuner) = &self.params.tuner else {
            return Ok(requested);
        };
        let tuned = tuner.next_blocksize(&TunerCall { nbytes, typesize })?;
        Ok(if requested != 0 { requested } else { tuned.unwrap_or(0) })
    }
}

/// Checks the filter ids.
///
/// # Errors
/// [`Error::FilterPipeline`]
pub(super) fn check_filters(params: &CParams) -> Result<()> {
    match params.filters.iter().find(|slot| !filter::known(slot.id)) {
        None => Ok(()),
        Some(slot) => Err(Error::FilterPipeline.because(format!("there is no filter {}", slot.id))),
    }
}

/// Checks the parameters, in the reference's order; returns the unclamped item size.
pub(super) fn check_params(params: &CParams, has_source: bool) -> Result<usize> {
    if !(0..=MAX_LEVEL).contains(&params.clevel) {
        let text = format!("the compression level {} is not in 0..={MAX_LEVEL}", params.clevel);
        return Err(Error::CodecParam.because(text));
    }
    if params.use_dict && has_source && !dict::is_supported(params.compcode) {
        return Err(Error::CodecParam);
    }
    if !(1..=MAX_BLOCKSIZE).contains(&params.typesize) || params.blocksize < 0 {
        return Err(Error::InvalidParam);
    }
    if let Some(prefilter) = &params.prefilter {
        let typesize = header_typesize(params.typesize as usize);
        if prefilter.output_typesize() > i32::from(typesize) {
            return Err(Error::InvalidParam);
        }
    }
    Ok(params.typesize as usize)
}

/// Logs the parameters of a compression if `BLOSC_INFO` is set. Buffers without a whole item are
/// not logged, as in C-Blosc2.
pub(super) fn log_params(params: &CParams, nbytes: usize, typesize: usize, blocksize: usize) {
    if nbytes == 0 || nbytes < typesize || !trace::info_enabled() {
        return;
    }
    trace::write_info(format_args!(
        "compcode: {}, clevel: {}, blocksize: {blocksize}, splitmode: {}, typesize: {typesize}",
        params.compcode,
        params.clevel,
        u8::from(would_split(params, typesize, blocksize)),
    ));
}

/// Checks the sizes of source and destination.
///
/// # Errors
/// [`Error::MaxBufsizeExceeded`]
pub(super) fn check_sizes(nbytes: usize, destsize: usize) -> Result<()> {
    if nbytes > MAX_BUFFERSIZE || destsize < EXTENDED_HEADER_LENGTH {
        return Err(Error::MaxBufsizeExceeded);
    }
    Ok(())
}

impl HeaderForm {
    /// Returns the minimum size in bytes of buffers that are compressed.
    fn min_buffersize(self) -> usize {
        match self {
            HeaderForm::Extended | HeaderForm::Short => MIN_BUFFERSIZE,
            HeaderForm::Blosc1 => blosc1::MIN_BUFFERSIZE,
        }
    }
}

/// Returns the item size for the header, or 1 if the header cannot hold it.
pub(super) fn header_typesize(typesize: usize) -> u8 {
    if typesize > MAX_TYPESIZE { 1 } else { typesize as u8 }
}

/// Returns the header and the block encoder of a regular chunk.
#[inline]
fn prepare<'a>(
    params: &'a CParams,
    source: Source<'a>,
    nbytes: usize,
    typesize: usize,
    blocksize: usize,
) -> Result<(HeaderFields, BlockEncoder<'a>)> {
    let typesize = header_typesize(typesize);
    let items = usize::from(typesize);
    let split = blocksize >= items && would_split(params, items, blocksize);
    let codec = CodecSelection::of(params.compcode, params.header);
    params.warn_about_shuffle();
    let is_extended = params.header == HeaderForm::Extended;
    let version = match params.header {
        HeaderForm::Extended | HeaderForm::Short => VERSION_STABLE,
        HeaderForm::Blosc1 => VERSION_BLOSC1,
    };
    let nblocks = match source {
        Source::Blocks(blocks) => blocks.len(),
        _ => nbytes.div_ceil(blocksize),
    };
    let needs_extension = params.use_dict
        || params.instrument
        || matches!(source, Source::Blocks(_))
        || matches!(codec, CodecSelection::Registered { .. })
        || !is_expressible_as_flags(&params.filters);
    if needs_extension && !is_extended {
        return Err(Error::InvalidParam);
    }
    let mut flags = codec.format() << flag::FORMAT_SHIFT | flags_from_slots(&params.filters);
    if is_extended {
        flags |= flag::EXTENDED;
    }
    if !split {
        flags |= flag::NOT_SPLIT;
    }
    let header = HeaderFields {
        version,
        versionlz: codec.version(),
        flags,
        typesize,
        nbytes,
        blocksize,
        cbytes: 0,
        filters: params.filters,
        udcodec: params.compcode as u8,
        codec_meta: params.compcode_meta,
        flags2: 0,
        blosc2_flags: 0,
    };
    let encoder = BlockEncoder {
        params,
        source,
        typesize: items,
        blocksize,
        nbytes,
        nblocks,
        split,
        runs: is_extended,
        pipeline: Pipeline::new(&params.filters, version, items),
        codec,
        dictionary: None,
        reference: None,
    };
    Ok((header, encoder))
}

/// Compresses the blocks into a chunk in `dest`, or stores the data uncompressed if the blocks do
/// not fit; returns the size of the chunk, or 0 if neither fits.
fn compress_or_store(
    mut header: HeaderFields,
    encoder: &BlockEncoder<'_>,
    workers: &mut WorkerCache,
    dest: &mut [u8],
) -> Result<usize> {
    let Some(written) = write_blocks(encoder, header.header_len(), workers, dest)? else {
        if encoder.is_vl() {
            return Ok(0);
        }
        header.flags |= flag::MEMCPYED;
        return store_raw(header, encoder, workers, dest);
    };
    let is_instrumented = encoder.params.instrument;
    header.cbytes = written.len;
    if written.all_zero && encoder.may_be_special() && !is_instrumented {
        header.blosc2_flags = Special::Zero.bits();
        header.cbytes = header.header_len();
    } else {
        if encoder.dictionary.is_some() {
            header.blosc2_flags |= blosc2_flag::USE_DICT;
        }
        if is_instrumented {
            header.blosc2_flags |= blosc2_flag::INSTRUMENTED;
            header.nbytes = instrument::RECORD_LEN * encoder.total_streams();
            // In a chunk with variable-length blocks, the field holds the number of blocks.
            if !encoder.is_vl() {
                header.blocksize = instrument::RECORD_LEN * encoder.full_streams();
            }
        }
    }
    header.write(dest);
    Ok(header.cbytes)
}

/// Stores the data uncompressed; returns the size of the chunk, or 0 if it does not fit.
fn store_raw(
    mut header: HeaderFields,
    encoder: &BlockEncoder<'_>,
    workers: &mut WorkerCache,
    dest: &mut [u8],
) -> Result<usize> {
    let header_len = header.header_len();
    header.cbytes = header_len + encoder.nbytes;
    if header.cbytes > dest.len() {
        return Ok(0);
    }
    let body = &mut dest[header_len..header.cbytes];
    if let Some(prefilter) = encoder.params.prefilter.as_deref() {
        let scratch = &mut workers.own().callback;
        for (nblock, block) in body.chunks_mut(encoder.blocksize).enumerate() {
            encoder.prefilter_into(prefilter, scratch, nblock, 0, block)?;
        }
    } else if let Source::Bytes(src) = encoder.source {
        kernels::copy::copy(src, body);
    }
    header.write(dest);
    Ok(header.cbytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{DParams, Decompressor};

    #[test]
    fn vectors_hold_incompressible_blocks_of_any_length() {
        let bytes: Vec<u8> =
            (0..2000u32).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
        for len in [1, 2, 7, 500] {
            let blocks: Vec<&[u8]> = bytes.chunks(len).collect();
            for level in [0, 5] {
                let params = CParams::default().typesize(1).level(level);
                let chunk = Compressor::new(params).unwrap().vl_compress_to_vec(&blocks).unwrap();
                let mut decompressor = Decompressor::new(DParams::default());
                assert_eq!(decompressor.vl_decompress(&chunk).unwrap(), blocks);
            }
        }
    }

    #[test]
    fn empty_blocks_are_refused() {
        let mut compressor = Compressor::new(CParams::default()).unwrap();
        assert_eq!(compressor.vl_compress_to_vec(&[]), Err(Error::InvalidParam));
        assert_eq!(compressor.vl_compress_to_vec(&[b"a", b""]), Err(Error::InvalidParam));
    }
}
