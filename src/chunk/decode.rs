//! Decompression of whole chunks.

use std::sync::{Mutex, PoisonError};

use super::block_cache::RecentBlock;
use super::block_decoder::{BlockDecoder, fill_special};
use super::header::Special;
use super::header_cache::KnownHeader;
use super::params::DParams;
use super::view::{ChunkView, Wanted};
use super::worker_cache::Staff;
use crate::filter::{Reference, grown};
use crate::{Error, Result, pool};

/// Bytes that come out of a chunk from which on they are not expected to be in a cache when they are used.
const BEYOND_CACHES: usize = 16 << 20;

/// Decompresses chunks; keeps codec states and buffers from one call to the next.
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
#[derive(Default)]
pub struct Decompressor {
    pub(super) params: DParams,
    maskout: Option<Vec<bool>>,
    pub(super) staff: Staff,
    pub(super) reference: Vec<u8>,
    /// What is known from the last chunk.
    pub(super) known: KnownHeader,
    /// The block that items were last read from several times.
    pub(super) recent: RecentBlock,
}

/// The blocks of a destination that holds them one after another, with their numbers.
struct Blocks<'a> {
    view: &'a ChunkView<'a>,
    next: usize,
    rest: &'a mut [u8],
}

impl<'a> Iterator for Blocks<'a> {
    type Item = (usize, &'a mut [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let nblock = self.next;
        if nblock == self.view.nblocks {
            return None;
        }
        self.next += 1;
        Some((
            nblock,
            self.rest.split_off_mut(..self.view.block_len(nblock))?,
        ))
    }
}

impl Decompressor {
    /// A decompressor with these parameters.
    pub fn new(params: DParams) -> Decompressor {
        Decompressor {
            params,
            ..Decompressor::default()
        }
    }

    /// A second decompressor that uses one thread, for work on several chunks at the same time. It shares what is
    /// kept between calls.
    pub fn twin(&self) -> Decompressor {
        Decompressor {
            params: self.params.clone().threads(1),
            maskout: None,
            staff: self.staff.twin(),
            reference: Vec::new(),
            known: KnownHeader::default(),
            recent: RecentBlock::default(),
        }
    }

    /// Takes other parameters; what is kept between calls stays.
    pub fn set_params(&mut self, params: DParams) {
        self.params = params;
    }

    /// The parameters.
    pub fn params(&self) -> &DParams {
        &self.params
    }

    /// Leaves out the blocks marked `true` in the next call of [`Decompressor::decompress`], and only in
    /// that: their bytes in the destination stay as they are. There must be one mark for each block.
    pub fn set_maskout(&mut self, maskout: Vec<bool>) {
        self.maskout = Some(maskout);
    }

    /// Decompresses a chunk; returns its uncompressed size. `src` may go on behind the chunk, and `dest`
    /// may be larger than needed.
    ///
    /// # Errors
    /// [`Error::WriteBuffer`] when `dest` is too small; the error of the first check that the chunk
    /// doesn't pass, and `dest` then holds arbitrary bytes.
    pub fn decompress(&mut self, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let maskout = self.maskout.take();
        self.known.read(src, self.params.blosc1)?;
        let header = self.known.header();
        let nbytes = header.nbytes;
        if nbytes > dest.len() {
            return Err(Error::WriteBuffer);
        }
        if !header.lazy && header.cbytes > src.len() {
            return Err(Error::InvalidHeader);
        }
        if maskout
            .as_ref()
            .is_some_and(|mask| mask.len() != self.known.nblocks())
        {
            return Err(Error::Data);
        }
        if header.special == Special::Unknown {
            return Err(Error::Data);
        }
        if header.is_memcpyed() && header.cbytes != nbytes + header.header_len() {
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
        self.known.prepare();
        let mut view = self.known.view(src);
        view.read_tables(self.params.lazy.as_deref(), Wanted::All)?;
        let view = &view;
        let decoder = BlockDecoder {
            view,
            pipeline: self.known.pipeline(),
            params: &self.params,
            is_streamed: view.header.nbytes >= BEYOND_CACHES && self.params.postfilter.is_none(),
        };
        if view.nblocks == 1 && maskout.is_none() {
            return decoder.decode(self.staff.own(), 0, 0, Reference::Own, dest);
        }
        let is_masked = |nblock: usize| maskout.is_some_and(|mask| mask[nblock]);
        let staff = &mut self.staff;
        if !decoder.needs_reference() {
            let blocks = Blocks {
                view,
                next: 0,
                rest: dest,
            };
            let blocks = blocks.filter(|(nblock, _)| !is_masked(*nblock));
            return decode_all(&decoder, staff, blocks, Reference::Own);
        }
        // All other blocks wait for the first, so it comes alone, ahead of them.
        let (first, others) = dest.split_at_mut(view.block_len(0));
        let reference: &[u8] = if is_masked(0) || self.params.postfilter.is_some() {
            let plain = grown(&mut self.reference, first.len())?;
            decoder.decode_plain(staff.own(), 0, Reference::Own, plain)?;
            if !is_masked(0) {
                decoder.decode(staff.own(), 0, 0, Reference::Own, first)?;
            }
            plain
        } else {
            decoder.decode(staff.own(), 0, 0, Reference::Own, first)?;
            first
        };
        let blocks = Blocks {
            view,
            next: 1,
            rest: others,
        };
        let blocks = blocks.filter(|(nblock, _)| !is_masked(*nblock));
        decode_all(&decoder, staff, blocks, Reference::Block(reference))
    }
}

/// Decodes blocks into the places that come with their numbers, in as many threads as the parameters
/// say if there are at least two full blocks. The first error ends it.
pub(super) fn decode_all<'a>(
    decoder: &BlockDecoder<'_>,
    staff: &mut Staff,
    blocks: impl Iterator<Item = (usize, &'a mut [u8])> + Send,
    reference: Reference<'_>,
) -> Result<()> {
    let view = decoder.view;
    let nthreads = usize::try_from(decoder.params.nthreads).unwrap_or(1);
    if nthreads <= 1 || view.header.nbytes / view.blocksize <= 1 {
        let worker = staff.own();
        for (nblock, block) in blocks {
            decoder.decode(worker, nblock, 0, reference, block)?;
        }
        return Ok(());
    }
    let workers = staff.of_all();
    let blocks = Mutex::new(Ok(blocks));
    let next = || {
        let mut blocks = blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.as_mut().ok().and_then(Iterator::next)
    };
    pool::run(nthreads, &|tid| {
        let mut worker = workers.take(tid);
        while let Some((nblock, block)) = next() {
            if let Err(error) = decoder.decode(&mut worker, nblock, tid, reference, block) {
                let mut blocks = blocks.lock().unwrap_or_else(PoisonError::into_inner);
                if blocks.is_ok() {
                    *blocks = Err(error);
                }
            }
        }
        workers.put(tid, worker);
    });
    blocks
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{CParams, Compressor};

    #[test]
    fn what_goes_past_the_caches_arrives() {
        let items = BEYOND_CACHES as u64 / 8 + 1001;
        let data: Vec<u8> = (0..items).flat_map(|i| (i * i).to_le_bytes()).collect();
        let params = CParams {
            typesize: 8,
            ..CParams::default()
        };
        let chunk =
            Compressor::new(params).and_then(|mut compressor| compressor.compress_to_vec(&data));
        let chunk = chunk.unwrap();
        for threads in [1, 2] {
            let mut decompressor = Decompressor::new(DParams::default().threads(threads));
            let mut back = vec![0xA5; data.len() + 1];
            let (at, behind) = back.split_at_mut(data.len());
            assert_eq!(decompressor.decompress(&chunk, at), Ok(data.len()));
            assert!(at == data && behind == [0xA5], "{threads} threads");
        }
    }
}
