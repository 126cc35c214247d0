//! Compression of whole chunks.
//!
//! Blocks are filtered and compressed one by one, straight into the destination; with threads, into
//! buffers that are put into the destination in the order of the blocks. The bytes of a chunk are a
//! function of the source, the parameters and the size of the destination: where the destination gets
//! short, so that an encoder's limit depends on what is in front of it, the rest is done by one thread.

use super::block_encoder::{BlockEncoder, CodecChoice, Source};
use super::blocksize::{blocksize, would_split};
use super::header::{
    EXTENDED_HEADER_LENGTH, HeaderFields, MIN_HEADER_LENGTH, Special, VERSION_BLOSC1,
    VERSION_STABLE, VERSION_VL, blosc2_flag, flag, flag2, flags_of_slots, is_said_by_flags,
};
use super::parallel_encode::Output;
use super::params::{CParams, HeaderForm};
use super::prefilter::Prefilter;
use super::tuner::TunerCall;
use super::view::WORD;
use super::worker_cache::Staff;
use super::{
    MAX_BLOCKSIZE, MAX_BUFFERSIZE, MAX_TYPESIZE, MIN_BUFFERSIZE, blosc1, dict, instrument,
};
use crate::filter::{self, Pipeline};
use crate::{Error, Result, trace};

/// Highest compression level.
const MAX_LEVEL: i32 = 9;

/// Compresses chunks; keeps codec states and buffers from one call to the next.
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
pub struct Compressor {
    params: CParams,
    blocksize_used: usize,
    staff: Staff,
    reference: Vec<u8>,
}

/// What all blocks of one compression share.
pub(super) struct Job<'a> {
    pub encoder: BlockEncoder<'a>,
    pub nbytes: usize,
    pub nblocks: usize,
    header: HeaderFields,
}

/// How a compression into blocks ended.
enum Outcome {
    /// The destination is too small.
    DoesNotFit,
    /// It is done; the chunk ends here.
    Fits { end: usize, all_zero: bool },
}

impl Compressor {
    /// A compressor with these parameters.
    ///
    /// # Errors
    /// [`Error::FilterPipeline`] when the pipeline names a filter that can't exist. All other parameters
    /// are judged when they are used.
    pub fn new(params: CParams) -> Result<Compressor> {
        if params.filters.iter().any(|slot| !filter::known(slot.id)) {
            return Err(Error::FilterPipeline);
        }
        Ok(Compressor {
            params,
            blocksize_used: 0,
            staff: Staff::default(),
            reference: Vec::new(),
        })
    }

    /// A second compressor that uses one thread, for work on several chunks at the same time. It makes the same
    /// chunks, and shares what is kept between calls.
    pub fn twin(&self) -> Compressor {
        Compressor {
            params: self.params.clone().threads(1),
            blocksize_used: 0,
            staff: self.staff.twin(),
            reference: Vec::new(),
        }
    }

    /// The parameters, as given.
    pub fn params(&self) -> &CParams {
        &self.params
    }

    /// Takes other parameters; what is kept between calls stays.
    ///
    /// # Errors
    /// Those of [`Compressor::new`]; the old parameters then stay.
    pub fn set_params(&mut self, params: CParams) -> Result<()> {
        if params.filters.iter().any(|slot| !filter::known(slot.id)) {
            return Err(Error::FilterPipeline);
        }
        self.params = params;
        Ok(())
    }

    /// The block size of the last compression in bytes; before the first, the one that was asked for.
    pub fn blocksize(&self) -> i32 {
        match self.blocksize_used {
            0 => self.params.blocksize,
            used => used as i32,
        }
    }

    /// Compresses `src` into `dest`; returns the size of the chunk, or 0 when it does not fit. It always
    /// fits when `dest` is [`MAX_OVERHEAD`](super::MAX_OVERHEAD) bytes longer than `src`.
    ///
    /// # Errors
    /// [`Error::MaxBufsizeExceeded`] when `src` is longer than [`MAX_BUFFERSIZE`] or `dest` shorter than
    /// 32 bytes, [`Error::CodecParam`], [`Error::InvalidParam`], [`Error::CodecSupport`] for parameters out
    /// of range, [`Error::FilterPipeline`] and [`Error::Data`] when a filter or a codec fails.
    pub fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        self.compress_source(Source::Bytes(src), dest)
    }

    /// Compresses `src` into a buffer of its own.
    ///
    /// # Errors
    /// Those of [`Compressor::compress`], and [`Error::MemoryAlloc`].
    pub fn compress_to_vec(&mut self, src: &[u8]) -> Result<Vec<u8>> {
        check_sizes(src.len(), EXTENDED_HEADER_LENGTH)?;
        let mut chunk = Vec::new();
        chunk.try_reserve_exact(src.len() + EXTENDED_HEADER_LENGTH)?;
        chunk.resize(src.len() + EXTENDED_HEADER_LENGTH, 0);
        let size = self.compress(src, &mut chunk)?;
        chunk.truncate(size);
        Ok(chunk)
    }

    /// As [`Compressor::compress`], for a source that may be known by its size only, because a prefilter
    /// makes its blocks.
    ///
    /// # Errors
    /// Those of [`Compressor::compress`]; [`Error::InvalidParam`] when there is neither source nor
    /// prefilter.
    pub fn compress_source(&mut self, source: Source<'_>, dest: &mut [u8]) -> Result<usize> {
        let nbytes = source.len();
        let dest = match self.usable(nbytes, dest) {
            Ok(Some(dest)) => dest,
            Ok(None) => return Ok(0),
            Err(error) => {
                self.inform_in_vain(nbytes);
                return Err(error);
            }
        };
        let has_data = nbytes == 0 || source.is_present() || self.params.prefilter.is_some();
        let typesize = self.check_params(source.is_present())?;
        if !has_data {
            return Err(Error::InvalidParam);
        }
        let requested = self.requested_blocksize(nbytes, typesize)?;
        self.blocksize_used = blocksize(&self.params, nbytes, typesize, requested);
        inform(&self.params, nbytes, typesize, self.blocksize_used);
        let mut job = Job::new(&self.params, source, nbytes, typesize, self.blocksize_used)?;
        let store_at_once = self.params.clevel == 0
            || nbytes < self.params.header.min_buffersize()
            || job.header.header_len() + WORD * job.nblocks > dest.len();
        if store_at_once {
            job.header.flags = match self.params.header {
                HeaderForm::Extended => flag::EXTENDED | flag::MEMCPYED,
                HeaderForm::Short => flag::MEMCPYED,
                HeaderForm::Blosc1 => job.header.flags | flag::MEMCPYED,
            };
            return job.store(&mut self.staff, dest);
        }
        job.encoder
            .prepare_reference(self.staff.own(), &mut self.reference)?;
        if self.params.use_dict {
            job.encoder.dictionary = dict::for_blocks(&job, self.staff.own())?;
        }
        job.compress(&mut self.staff, dest)
    }

    /// Compresses each of `blocks` into a block of its own, of a chunk with variable-length blocks;
    /// returns the size of the chunk, or 0 when it does not fit.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] when there is no block or an empty one; those of [`Compressor::compress`].
    pub fn vl_compress(&mut self, blocks: &[&[u8]], dest: &mut [u8]) -> Result<usize> {
        let nbytes = blocks
            .iter()
            .try_fold(0usize, |sum, block| sum.checked_add(block.len()))
            .ok_or(Error::MaxBufsizeExceeded)?;
        if blocks.is_empty() || blocks.iter().any(|block| block.is_empty()) {
            return Err(Error::InvalidParam);
        }
        let Some(dest) = self.usable(nbytes, dest)? else {
            return Ok(0);
        };
        let typesize = self.check_params(true)?;
        let longest = blocks.iter().map(|block| block.len()).max().unwrap_or(0);
        inform(&self.params, longest, typesize, longest);
        let mut job = Job::new(
            &self.params,
            Source::Blocks(blocks),
            nbytes,
            typesize,
            longest,
        )?;
        job.nblocks = blocks.len();
        if job.header.header_len() + WORD * job.nblocks > dest.len() {
            return Ok(0);
        }
        job.header.version = VERSION_VL;
        job.header.flags2 = flag2::VL_BLOCKS;
        job.header.blocksize = blocks.len();
        job.header.flags |= flag::NOT_SPLIT;
        job.encoder.split = false;
        if self.params.use_dict && self.params.clevel > 0 {
            job.encoder.dictionary = dict::for_vl_blocks(&job, self.staff.own())?;
        }
        job.compress(&mut self.staff, dest)
    }

    /// The part of `dest` a chunk may take; none when the data or the destination are of a size that Blosc
    /// 1.x refuses without an error.
    fn usable<'d>(&self, nbytes: usize, dest: &'d mut [u8]) -> Result<Option<&'d mut [u8]>> {
        if self.params.header != HeaderForm::Blosc1 {
            check_sizes(nbytes, dest.len())?;
            // The numbers in a chunk have 31 bits.
            let most = dest.len().min(i32::MAX as usize);
            return Ok(Some(&mut dest[..most]));
        }
        if nbytes > blosc1::MAX_BUFFERSIZE || dest.len() < MIN_HEADER_LENGTH {
            return Ok(None);
        }
        let most = dest.len().min(nbytes + MIN_HEADER_LENGTH);
        Ok(Some(&mut dest[..most]))
    }

    /// Writes the parameters of a compression whose destination is too short for a header.
    fn inform_in_vain(&self, nbytes: usize) {
        let requested = self.params.blocksize.max(0) as usize;
        if nbytes <= MAX_BUFFERSIZE
            && let Ok(typesize) = self.check_params(true)
        {
            let blocksize = blocksize(&self.params, nbytes, typesize, requested);
            inform(&self.params, nbytes, typesize, blocksize);
        }
    }

    /// Judges the parameters, in the order callers know; returns the true item size.
    pub(super) fn check_params(&self, has_source: bool) -> Result<usize> {
        let params = &self.params;
        if !(0..=MAX_LEVEL).contains(&params.clevel) {
            return Err(Error::CodecParam);
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

    fn requested_blocksize(&self, nbytes: usize, typesize: usize) -> Result<usize> {
        let requested = self.params.blocksize as usize;
        let Some(tuner) = &self.params.tuner else {
            return Ok(requested);
        };
        let tuned = tuner.next_blocksize(&TunerCall { nbytes, typesize })?;
        Ok(if requested != 0 {
            requested
        } else {
            tuned.unwrap_or(0)
        })
    }
}

/// Writes the parameters of a compression if `BLOSC_INFO` asks for them. A buffer without a whole item has no
/// line, as in C-Blosc2.
pub(super) fn inform(params: &CParams, nbytes: usize, typesize: usize, blocksize: usize) {
    if nbytes == 0 || nbytes < typesize || !trace::informs() {
        return;
    }
    trace::inform(format_args!(
        "compcode: {}, clevel: {}, blocksize: {blocksize}, splitmode: {}, typesize: {typesize}",
        params.compcode,
        params.clevel,
        u8::from(would_split(params, typesize, blocksize)),
    ));
}

/// Judges the sizes of source and destination.
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
    /// Fewer bytes than these are stored as they are.
    fn min_buffersize(self) -> usize {
        match self {
            HeaderForm::Extended | HeaderForm::Short => MIN_BUFFERSIZE,
            HeaderForm::Blosc1 => blosc1::MIN_BUFFERSIZE,
        }
    }
}

/// The item size as a header can hold it: 1 stands for all it can't.
pub(super) fn header_typesize(typesize: usize) -> u8 {
    if typesize > MAX_TYPESIZE {
        1
    } else {
        typesize as u8
    }
}

impl<'a> Job<'a> {
    /// A job for a regular chunk.
    #[inline]
    fn new(
        params: &'a CParams,
        source: Source<'a>,
        nbytes: usize,
        typesize: usize,
        blocksize: usize,
    ) -> Result<Job<'a>> {
        let typesize = header_typesize(typesize);
        let items = usize::from(typesize);
        let split = blocksize >= items && would_split(params, items, blocksize);
        let choice = CodecChoice::of(params.compcode, params.header);
        params.warn_of_shuffled_floats();
        let is_extended = params.header == HeaderForm::Extended;
        let version = match params.header {
            HeaderForm::Extended | HeaderForm::Short => VERSION_STABLE,
            HeaderForm::Blosc1 => VERSION_BLOSC1,
        };
        let needs_extension = params.use_dict
            || params.instrument
            || matches!(source, Source::Blocks(_))
            || matches!(choice, CodecChoice::Registered { .. })
            || !is_said_by_flags(&params.filters);
        if needs_extension && !is_extended {
            return Err(Error::InvalidParam);
        }
        let mut flags = choice.format() << flag::FORMAT_SHIFT | flags_of_slots(&params.filters);
        if is_extended {
            flags |= flag::EXTENDED;
        }
        if !split {
            flags |= flag::NOT_SPLIT;
        }
        let header = HeaderFields {
            version,
            versionlz: choice.version(),
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
            split,
            runs: is_extended,
            pipeline: Pipeline::new(&params.filters, version, items),
            choice,
            dictionary: None,
            reference: None,
        };
        Ok(Job {
            encoder,
            nbytes,
            nblocks: nbytes.div_ceil(blocksize),
            header,
        })
    }

    /// Where the first stream goes.
    fn data_start(&self) -> usize {
        let dictionary = self.encoder.dictionary.as_ref();
        self.header.header_len()
            + WORD * self.nblocks
            + dictionary.map_or(0, |dictionary| WORD + dictionary.bytes().len())
    }

    /// How many streams all blocks have together.
    fn total_streams(&self) -> usize {
        (0..self.nblocks)
            .map(|nblock| self.encoder.streams(self.encoder.block_len(nblock)))
            .sum()
    }

    /// Compresses the blocks into a chunk in `dest`; returns its size, or 0 when neither the compressed
    /// nor the raw data fit.
    fn compress(&mut self, staff: &mut Staff, dest: &mut [u8]) -> Result<usize> {
        match self.compress_blocks(staff, dest)? {
            Outcome::DoesNotFit if self.header.flags2 & flag2::VL_BLOCKS != 0 => Ok(0),
            Outcome::DoesNotFit => {
                self.header.flags |= flag::MEMCPYED;
                self.store(staff, dest)
            }
            Outcome::Fits { all_zero: true, .. } if self.may_be_special() => {
                self.header.blosc2_flags = Special::Zero.bits();
                self.header.cbytes = self.header.header_len();
                self.header.write(dest);
                Ok(self.header.cbytes)
            }
            Outcome::Fits { end, .. } => {
                if self.encoder.dictionary.is_some() {
                    self.header.blosc2_flags |= blosc2_flag::USE_DICT;
                }
                if self.encoder.params.instrument {
                    self.header.blosc2_flags |= blosc2_flag::INSTRUMENTED;
                    let streams = if self.encoder.split {
                        self.encoder.typesize
                    } else {
                        1
                    };
                    self.header.blocksize = instrument::RECORD_LEN * streams;
                    self.header.nbytes = instrument::RECORD_LEN * self.total_streams();
                }
                self.header.cbytes = end;
                self.header.write(dest);
                Ok(end)
            }
        }
    }

    /// Whether a chunk of zeros is stored as its header only.
    fn may_be_special(&self) -> bool {
        self.encoder.runs && !self.encoder.is_vl() && !self.encoder.params.instrument
    }

    fn compress_blocks(&self, staff: &mut Staff, dest: &mut [u8]) -> Result<Outcome> {
        let start = self.data_start();
        if start > dest.len() {
            return Ok(Outcome::DoesNotFit);
        }
        let (front, data) = dest.split_at_mut(start);
        let (_, front) = front.split_at_mut(self.header.header_len());
        let (starts, dictionary_area) = front.split_at_mut(WORD * self.nblocks);
        if let Some(dictionary) = &self.encoder.dictionary {
            let (size, bytes) = dictionary_area.split_at_mut(WORD);
            size.copy_from_slice(&(dictionary.bytes().len() as i32).to_le_bytes());
            bytes.copy_from_slice(dictionary.bytes());
        }
        let mut output = Output::new(starts, start, data);
        let nthreads = usize::try_from(self.encoder.params.nthreads).unwrap_or(1);
        if nthreads > 1 && self.nbytes / self.encoder.blocksize > 1 {
            output = output.encode_in_threads(&self.encoder, self.nblocks, nthreads, staff)?;
        }
        if !output.encode(&self.encoder, self.nblocks, staff)? {
            return Ok(Outcome::DoesNotFit);
        }
        let (end, all_zero) = output.end();
        Ok(Outcome::Fits { end, all_zero })
    }

    /// Stores the data as they are, behind a header whose flags say so.
    fn store(&mut self, staff: &mut Staff, dest: &mut [u8]) -> Result<usize> {
        let header_len = self.header.header_len();
        let cbytes = header_len + self.nbytes;
        if cbytes > dest.len() {
            return Ok(0);
        }
        let body = &mut dest[header_len..cbytes];
        match (&self.encoder.params.prefilter, self.encoder.source) {
            (Some(prefilter), _) => self.store_prefiltered(staff, prefilter.as_ref(), body)?,
            (None, Source::Bytes(src)) => body.copy_from_slice(src),
            (None, _) => {}
        }
        self.header.cbytes = cbytes;
        self.header.write(dest);
        Ok(cbytes)
    }

    fn store_prefiltered(
        &self,
        staff: &mut Staff,
        prefilter: &dyn Prefilter,
        body: &mut [u8],
    ) -> Result<()> {
        let worker = staff.own();
        for (nblock, block) in body.chunks_mut(self.encoder.blocksize).enumerate() {
            self.encoder
                .prefilter_into(prefilter, &mut worker.callback, nblock, 0, block)?;
        }
        Ok(())
    }
}
