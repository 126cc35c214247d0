//! Decompression of whole chunks.

use std::sync::{Mutex, PoisonError};

use super::block::BlockDecoder;
use super::block_cache::BlockCache;
use super::header_cache::HeaderCache;
use crate::chunk::format::header::Special;
use crate::chunk::format::special::fill_special;
use crate::chunk::format::view::{BlockSelection, ChunkView};
use crate::chunk::params::DParams;
use crate::chunk::worker::cache::{WorkerCache, home_slot};
use crate::filter::{Reference, grown};
use crate::{Error, Result, item, pool};

/// The minimum size in bytes of an output that is assumed to exceed the caches.
const BEYOND_CACHES: usize = 16 << 20;

/// Decompresses chunks; caches codec states and buffers between calls. It owns its parameters and
/// borrows chunks and destinations for one call only. Chunks may come from an untrusted source.
///
/// ```
/// use ferroblosc::chunk::{Compressor, CParams, Decompressor, DParams};
///
/// let data = vec![7u8; 100_000];
/// let chunk = Compressor::new(CParams::default())?.compress_to_vec(&data)?;
/// let mut decompressor = Decompressor::new(DParams::default().threads(2));
/// let mut back = vec![0; data.len()];
/// assert_eq!(decompressor.decompress(&chunk, &mut back)?, data.len());
/// assert_eq!(back, data);
/// # Ok::<(), ferroblosc::Error>(())
/// ```
///
/// # Errors
///
/// All decompressing methods return these errors. The content of the destination is then
/// unspecified.
///
/// - [`Error::ReadBuffer`] if the bytes end before the header, a table or a block does;
/// - [`Error::InvalidHeader`] if the header is invalid, or the bytes are shorter than the chunk;
/// - [`Error::VersionSupport`] if the chunk has a newer format;
/// - [`Error::Data`], [`Error::RunLength`], [`Error::CodecDict`] or [`Error::WriteBuffer`] if the
///   content of the chunk is damaged;
/// - [`Error::CodecSupport`] if a codec is not available;
/// - [`Error::FilterPipeline`], [`Error::Failure`] or the error of a filter of the program, if a
///   filter is not registered or fails;
/// - [`Error::Postfilter`] if the postfilter refuses a block;
/// - for lazy chunks [`Error::InvalidParam`] without [`DParams::lazy`], and the errors of its
///   source;
/// - [`Error::MemoryAlloc`].
#[derive(Default)]
pub struct Decompressor {
    pub(super) params: DParams,
    maskout: Option<Vec<bool>>,
    pub(super) workers: WorkerCache,
    pub(super) reference: Vec<u8>,
    pub(super) header_cache: HeaderCache,
    pub(super) block_cache: BlockCache,
}

/// Returns a mask for [`Decompressor::set_maskout`] that skips all blocks.
///
/// # Errors
/// [`Error::MemoryAlloc`].
pub(crate) fn mask_of_all(nblocks: usize) -> Result<Vec<bool>> {
    let mut mask = Vec::new();
    mask.try_reserve_exact(nblocks)?;
    mask.resize(nblocks, true);
    Ok(mask)
}

/// Iterates over the blocks of a contiguous destination from block `first` on, with their indices.
fn blocks_of<'a>(
    view: &'a ChunkView<'_>,
    first: usize,
    mut rest: &'a mut [u8],
) -> impl Iterator<Item = (usize, &'a mut [u8])> {
    (first..view.nblocks).map_while(move |nblock| {
        let block = rest.split_off_mut(..view.block_len(nblock))?;
        Some((nblock, block))
    })
}

impl Decompressor {
    /// Creates a decompressor with these parameters.
    pub fn new(params: DParams) -> Decompressor {
        Decompressor { params, ..Decompressor::default() }
    }

    /// Returns a decompressor with the same parameters but one thread, for concurrent work on
    /// several chunks. The new decompressor shares the cached workers.
    pub fn clone_single_threaded(&self) -> Decompressor {
        Decompressor {
            params: self.params.clone().threads(1),
            maskout: None,
            workers: self.workers.clone_shared(),
            reference: Vec::new(),
            header_cache: HeaderCache::default(),
            block_cache: BlockCache::default(),
        }
    }

    /// Replaces the parameters; codec states and buffers are kept.
    pub fn set_params(&mut self, params: DParams) {
        self.params = params;
    }

    /// Returns the parameters, borrowed.
    pub fn params(&self) -> &DParams {
        &self.params
    }

    /// Skips the blocks marked `true` in the next call of [`Decompressor::decompress`] only: their
    /// bytes in the destination are left unchanged. There must be one mark for each block.
    pub fn set_maskout(&mut self, maskout: Vec<bool>) {
        self.maskout = Some(maskout);
    }

    /// Decompresses a chunk into a new vector of its uncompressed size. Chunks of kind
    /// [`Special::Uninit`] are decompressed to zeros.
    ///
    /// The size is that in the header of the chunk, which may be wrong. The memory of the vector is
    /// allocated as zeros, which most systems reserve only once they are written; to limit it,
    /// check [`sizes`](crate::chunk::sizes) first.
    ///
    /// ```
    /// use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
    ///
    /// let chunk = Compressor::new(CParams::default())?.compress_to_vec(&[7; 1000])?;
    /// let data = Decompressor::new(DParams::default()).decompress_to_vec(&chunk)?;
    /// assert_eq!(data, [7; 1000]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::Data`] if the mask of [`Decompressor::set_maskout`] does not have one mark per
    ///   block;
    /// - the [decompression errors](Decompressor#errors).
    pub fn decompress_to_vec(&mut self, src: &[u8]) -> Result<Vec<u8>> {
        // After an error the mask does not count for the next call.
        let maskout = self.maskout.take();
        self.header_cache.read(src, self.params.blosc1)?;
        let mut data = item::zeroed(self.header_cache.header().nbytes)?;
        self.maskout = maskout;
        let size = self.decompress(src, &mut data)?;
        data.truncate(size);
        Ok(data)
    }

    /// Decompresses a chunk to the start of `dest`; returns its uncompressed size in bytes. `src`
    /// may extend past the chunk, and `dest` may be larger than needed; its other bytes are
    /// unchanged. [`sizes`](crate::chunk::sizes) returns the uncompressed size. A chunk of kind
    /// [`Special::Uninit`] leaves `dest` unchanged.
    ///
    /// # Errors
    /// - [`Error::WriteBuffer`] if `dest` is too small;
    /// - [`Error::Data`] if the mask of [`Decompressor::set_maskout`] does not have one mark per
    ///   block;
    /// - the [decompression errors](Decompressor#errors).
    pub fn decompress(&mut self, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let maskout = self.maskout.take();
        self.header_cache.read(src, self.params.blosc1)?;
        let header = self.header_cache.header();
        let nbytes = header.nbytes;
        if nbytes > dest.len() {
            return Err(Error::WriteBuffer);
        }
        header.check_stored(src.len())?;
        if maskout.as_ref().is_some_and(|mask| mask.len() != self.header_cache.nblocks()) {
            return Err(Error::Data);
        }
        let dest = &mut dest[..nbytes];
        if nbytes == 0 && header.special == Special::None && header.cbytes == header.header_len() {
            return Ok(0);
        }
        let is_whole = maskout.is_none() && self.params.postfilter.is_none();
        if header.special != Special::None && is_whole {
            fill_special(src, header, 0, dest)?;
            return Ok(nbytes);
        }
        self.decode_blocks(src, maskout.as_deref(), dest)?;
        Ok(nbytes)
    }

    #[inline]
    fn decode_blocks(
        &mut self,
        src: &[u8],
        maskout: Option<&[bool]>,
        dest: &mut [u8],
    ) -> Result<()> {
        self.header_cache.prepare_pipeline();
        let mut view = self.header_cache.view(src);
        view.read_tables(self.params.lazy.as_deref(), BlockSelection::All)?;
        let view = &view;
        let decoder = BlockDecoder {
            view,
            pipeline: self.header_cache.pipeline(),
            params: &self.params,
            use_streaming_stores: view.header.nbytes >= BEYOND_CACHES
                && self.params.postfilter.is_none(),
        };
        if view.nblocks == 1 && maskout.is_none() {
            return decoder.decode(self.workers.own(), 0, 0, Reference::Own, dest);
        }
        let is_masked = |nblock: usize| maskout.is_some_and(|mask| mask[nblock]);
        let workers = &mut self.workers;
        if !decoder.needs_reference() {
            let blocks = blocks_of(view, 0, dest).filter(|(nblock, _)| !is_masked(*nblock));
            return decode_all(&decoder, workers, blocks, Reference::Own);
        }
        // All other blocks depend on the first, so it is decoded before them.
        let (first, others) = dest.split_at_mut(view.block_len(0));
        let reference: &[u8] = if is_masked(0) || self.params.postfilter.is_some() {
            let plain = grown(&mut self.reference, first.len())?;
            decoder.decode_plain(workers.own(), 0, Reference::Own, plain)?;
            if !is_masked(0) {
                decoder.decode(workers.own(), 0, 0, Reference::Own, first)?;
            }
            plain
        } else {
            decoder.decode(workers.own(), 0, 0, Reference::Own, first)?;
            first
        };
        let blocks = blocks_of(view, 1, others).filter(|(nblock, _)| !is_masked(*nblock));
        decode_all(&decoder, workers, blocks, Reference::Block(reference))
    }
}

/// Decodes blocks into the given destinations. Uses the number of threads in the parameters if
/// there are at least two full blocks. Stops at the first error.
pub(super) fn decode_all<'a>(
    decoder: &BlockDecoder<'_>,
    workers: &mut WorkerCache,
    blocks: impl Iterator<Item = (usize, &'a mut [u8])> + Send,
    reference: Reference<'_>,
) -> Result<()> {
    let view = decoder.view;
    let nthreads = usize::try_from(decoder.params.nthreads).unwrap_or(1);
    if nthreads <= 1 || view.header.nbytes / view.blocksize <= 1 {
        let worker = workers.own();
        for (nblock, block) in blocks {
            decoder.decode(worker, nblock, 0, reference, block)?;
        }
        return Ok(());
    }
    let workers = workers.shared();
    let blocks = Mutex::new(Ok(blocks));
    let next = || {
        let mut blocks = blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.as_mut().ok().and_then(Iterator::next)
    };
    pool::run(nthreads, &|tid| {
        let home = home_slot();
        let mut worker = workers.take(home);
        while let Some((nblock, block)) = next() {
            if let Err(error) = decoder.decode(&mut worker, nblock, tid, reference, block) {
                let mut blocks = blocks.lock().unwrap_or_else(PoisonError::into_inner);
                if blocks.is_ok() {
                    *blocks = Err(error);
                }
            }
        }
        workers.put(home, worker);
    });
    blocks.into_inner().unwrap_or_else(PoisonError::into_inner).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{CParams, Compressor};

    #[test]
    fn a_mask_does_not_outlive_a_failed_call() {
        let params = CParams { typesize: 1, blocksize: 1000, ..CParams::default() };
        let chunk =
            Compressor::new(params).and_then(|mut c| c.compress_to_vec(&[9; 1500])).unwrap();
        let mut decompressor = Decompressor::new(DParams::default());
        decompressor.set_maskout(vec![true, false]);
        assert!(decompressor.decompress_to_vec(b"damaged").is_err());
        assert_eq!(decompressor.decompress_to_vec(&chunk).unwrap(), [9; 1500]);
    }

    #[test]
    fn output_larger_than_the_caches_is_complete() {
        let items = BEYOND_CACHES as u64 / 8 + 1001;
        let data: Vec<u8> = (0..items).flat_map(|i| (i * i).to_le_bytes()).collect();
        let params = CParams { typesize: 8, ..CParams::default() };
        let chunk =
            Compressor::new(params).and_then(|mut compressor| compressor.compress_to_vec(&data));
        let chunk = chunk.unwrap();
        for threads in [1, 2] {
            let mut decompressor = Decompressor::new(DParams::default().threads(threads));
            let mut back = vec![0xA5; data.len() + 1];
            let (dest, rest) = back.split_at_mut(data.len());
            assert_eq!(decompressor.decompress(&chunk, dest), Ok(data.len()));
            assert!(dest == data && rest == [0xA5], "{threads} threads");
        }
    }
}
