//! Reading slices.
//!
//! Only the requested blocks of a chunk are decoded. Items with the same order in buffer and chunk
//! are decoded directly into the buffer.

use super::copy::Shared;
use super::parallel::{self, ChunkReader};
use super::request::{ChunkBox, Direction, SliceRequest};
use super::state::{Chunks, State};
use crate::chunk::{Decompressor, Special, mask_of_all};
use crate::frame::Frame;
use crate::schunk::scratch::Scratch;
use crate::{Error, Result, plugin};

/// Blocks of a chunk in memory are read one by one only if they are at most 1/16 of the chunk,
/// because decoding a whole chunk at once is cheap.
const PARTIAL_IN_MEMORY: usize = 16;
/// The same threshold for chunks in files, which are otherwise read as a whole.
const PARTIAL_IN_FILES: usize = 4;

/// Reads a slice into `dest`. Bytes of `dest` between the items remain unchanged.
///
/// # Errors
/// [`Error::Failure`] if a chunk cannot be read or does not have the array's sizes.
///
/// # Panics
/// Panics if `dest` is shorter than the extent of the request.
pub fn get<A: State + ?Sized>(a: &A, request: &SliceRequest, dest: &mut [u8]) -> Result<()> {
    get_chunks(a.chunks(), request, dest).map_err(plugin::or_failure)
}

fn get_chunks(s: &Chunks<'_>, request: &SliceRequest, dest: &mut [u8]) -> Result<()> {
    let count = request.count();
    if request.extent_bytes() == 0 || count == 0 {
        return Ok(());
    }
    let dest = Shared::new(&mut dest[..request.extent_bytes()]);
    let slice = Slice { request, dest: &dest, partial_threshold: partial_threshold(s) };
    parallel::read(s, &slice, request.chunk_boxes(), count)
}

/// Returns the threshold for reading blocks one by one, as a divisor of the number of blocks in a
/// chunk.
pub(super) fn partial_threshold(s: &Chunks<'_>) -> usize {
    if s.frame().is_some_and(|frame| !Frame::is_memory(frame)) {
        PARTIAL_IN_FILES
    } else {
        PARTIAL_IN_MEMORY
    }
}

/// The state of one read.
struct Slice<'a> {
    request: &'a SliceRequest,
    dest: &'a Shared<'a>,
    partial_threshold: usize,
}

impl ChunkReader for Slice<'_> {
    type Task = ChunkBox;

    fn chunk_of(&self, chunk_box: &ChunkBox) -> (i64, bool) {
        (chunk_box.nchunk, self.is_partial(chunk_box))
    }

    fn read(
        &self,
        decompressor: &mut Decompressor,
        scratch: &mut Scratch,
        chunk_box: &ChunkBox,
        chunk: &[u8],
    ) -> Result<()> {
        let header = self.request.parse_header(chunk)?;
        let is_plain = decompressor.params().postfilter.is_none();
        let linear = self
            .request
            .is_linear
            .then(|| self.request.linear_copy(chunk_box, Direction::ToBuffer));
        if is_plain && matches!(header.special, Special::Zero | Special::Uninit) {
            let copy =
                linear.unwrap_or_else(|| self.request.linear_copy(chunk_box, Direction::ToBuffer));
            // SAFETY: the boxes of a slice are disjoint in the buffer; one thread accesses each.
            unsafe { self.dest.clear(&copy) };
            return Ok(());
        }
        if let Some((from, at, len)) = linear.and_then(|copy| copy.as_run()) {
            // SAFETY: as above.
            let dest = unsafe { self.dest.slice_mut(at, len) };
            return self.read_run(decompressor, chunk, from, dest);
        }
        // A special chunk may record other block sizes; it is decoded as a whole.
        let has_blocks = header.special == Special::None;
        if self.is_partial(chunk_box) {
            self.read_blocks(decompressor, scratch, chunk_box, chunk)
        } else if has_blocks
            && is_plain
            && !header.vl_blocks
            && !self.request.is_linear
            && decompressor.params().nthreads <= 1
        {
            self.visit_blocks(decompressor, chunk_box, chunk)
        } else {
            self.read_chunk(decompressor, scratch, chunk_box, chunk, has_blocks)
        }
    }
}

impl Slice<'_> {
    /// Whether the blocks are read one by one.
    fn is_partial(&self, chunk_box: &ChunkBox) -> bool {
        let wanted = self.request.count_block_boxes(chunk_box);
        // For a single block, no buffer for its chunk is needed.
        wanted == 1 || wanted.saturating_mul(self.partial_threshold) <= self.request.nblocks()
    }

    /// Reads bytes of a chunk that are contiguous in the buffer.
    fn read_run(
        &self,
        decompressor: &mut Decompressor,
        chunk: &[u8],
        from: usize,
        dest: &mut [u8],
    ) -> Result<()> {
        let len = dest.len();
        let read = if len == self.request.chunksize {
            decompressor.decompress(chunk, dest)?
        } else {
            // The size of a chunk fits in 32 bits.
            decompressor.getitem_bytes(chunk, from as i32, len as i32, dest)?
        };
        if read == len { Ok(()) } else { Err(Error::Failure) }
    }

    /// Reads blocks one by one.
    fn read_blocks(
        &self,
        decompressor: &mut Decompressor,
        scratch: &mut Scratch,
        chunk_box: &ChunkBox,
        chunk: &[u8],
    ) -> Result<()> {
        let blocksize = self.request.blocksize;
        for block_box in self.request.block_boxes(chunk_box) {
            let start = block_box.nblock * blocksize;
            let copy = self.request.block_copy(&block_box, Direction::ToBuffer);
            if let Some((from, at, len)) = copy.as_run() {
                // SAFETY: the boxes of a slice are disjoint in the buffer; one thread accesses
                // each.
                let dest = unsafe { self.dest.slice_mut(at, len) };
                self.read_run(decompressor, chunk, start + from, dest)?;
                continue;
            }
            let block = scratch.ensure_len(blocksize)?;
            self.read_run(decompressor, chunk, start, block)?;
            // SAFETY: as above.
            unsafe { self.dest.copy_from(&copy, block) };
        }
        Ok(())
    }

    /// Decodes the needed blocks of a chunk one after the other and copies the items. The chunk has
    /// the block size of the array.
    fn visit_blocks(
        &self,
        decompressor: &mut Decompressor,
        chunk_box: &ChunkBox,
        chunk: &[u8],
    ) -> Result<()> {
        let blocks = self.request.block_boxes(chunk_box).map(|it| (it.nblock, it));
        decompressor.visit_blocks(chunk, blocks, |block_box, block| {
            let copy = self.request.block_copy(block_box, Direction::ToBuffer);
            // SAFETY: as in `read_blocks`.
            unsafe { self.dest.copy_from(&copy, block) };
        })
    }

    /// Decompresses a chunk, without unneeded blocks if `is_masked`, and copies the items.
    fn read_chunk(
        &self,
        decompressor: &mut Decompressor,
        scratch: &mut Scratch,
        chunk_box: &ChunkBox,
        chunk: &[u8],
        is_masked: bool,
    ) -> Result<()> {
        let request = self.request;
        let nblocks = request.nblocks();
        if is_masked && request.count_block_boxes(chunk_box) < nblocks {
            let mut skipped = mask_of_all(nblocks)?;
            for block_box in request.block_boxes(chunk_box) {
                skipped[block_box.nblock] = false;
            }
            decompressor.set_maskout(skipped);
        }
        let scratch = scratch.ensure_len(request.chunksize)?;
        if decompressor.decompress(chunk, scratch)? != request.chunksize {
            return Err(Error::Failure);
        }
        if request.is_linear {
            let copy = request.linear_copy(chunk_box, Direction::ToBuffer);
            // SAFETY: as in `read`.
            unsafe { self.dest.copy_from(&copy, scratch) };
            return Ok(());
        }
        for block_box in request.block_boxes(chunk_box) {
            let block = &scratch[block_box.nblock * request.blocksize..];
            let copy = request.block_copy(&block_box, Direction::ToBuffer);
            // SAFETY: as in `read_blocks`.
            unsafe { self.dest.copy_from(&copy, block) };
        }
        Ok(())
    }
}
