//! Reading slices.
//!
//! Of each chunk only the blocks that are asked for are decoded, and where the items of a box lie in the
//! buffer as they lie in the chunk they are decoded straight into it.

use super::copy::Shared;
use super::request::{Part, Request, Way};
use super::share::{self, Reading};
use super::state::{Chunks, State};
use crate::chunk::{ChunkHeader, Decompressor, Special};
use crate::frame::Frame;
use crate::{Buffer, Error, Result, plugin};

/// Blocks are read one by one when they are at most this share of a chunk that is in memory, where
/// decoding them all at once is cheap.
const FEW_IN_MEMORY: usize = 16;
/// The same for chunks in files, which are read as a whole otherwise.
const FEW_IN_FILES: usize = 4;

/// Reads a slice into `dest`, which it reaches at most. Bytes of `dest` that are no item's stay.
///
/// # Errors
/// [`Error::Failure`] when a chunk can't be had or isn't of the array's sizes.
///
/// # Panics
/// When `dest` is shorter than the request's reach.
pub fn get<A: State + ?Sized>(a: &A, request: &Request, dest: &mut [u8]) -> Result<()> {
    get_chunks(a.chunks(), request, dest).map_err(plugin::or_failure)
}

fn get_chunks(s: &Chunks<'_>, request: &Request, dest: &mut [u8]) -> Result<()> {
    let count = request.count();
    if request.reach() == 0 || count == 0 {
        return Ok(());
    }
    let dest = Shared::new(&mut dest[..request.reach()]);
    let slice = Slice {
        request,
        dest: &dest,
        few: few(s),
    };
    share::read(s, &slice, request.parts(), count)
}

/// How many times the blocks that are read one by one go into a chunk at least.
pub(super) fn few(s: &Chunks<'_>) -> usize {
    match s.frame().is_some_and(|frame| !Frame::is_memory(frame)) {
        true => FEW_IN_FILES,
        false => FEW_IN_MEMORY,
    }
}

/// A slice on its way to a buffer.
struct Slice<'a> {
    request: &'a Request,
    dest: &'a Shared<'a>,
    few: usize,
}

impl Reading for Slice<'_> {
    type Part = Part;

    fn chunk_of(&self, part: &Part) -> (i64, bool) {
        (part.nchunk, self.are_few(part))
    }

    fn read(
        &self,
        decompressor: &mut Decompressor,
        scratch: &mut Buffer,
        part: &Part,
        chunk: &[u8],
    ) -> Result<()> {
        let header = check(chunk, self.request)?;
        let is_plain = decompressor.params().postfilter.is_none();
        let linear = self
            .request
            .is_linear
            .then(|| self.request.linear_copy(part, Way::ToBuffer));
        if is_plain && matches!(header.special, Special::Zero | Special::Uninit) {
            let copy = linear.unwrap_or_else(|| self.request.linear_copy(part, Way::ToBuffer));
            // SAFETY: the boxes of the parts of a slice don't overlap in the buffer.
            unsafe { self.dest.clear(&copy) };
            return Ok(());
        }
        if let Some((from, at, len)) = linear.and_then(|copy| copy.as_run()) {
            // SAFETY: as above.
            let dest = unsafe { self.dest.part(at, len) };
            return self.read_run(decompressor, chunk, from, dest);
        }
        match self.are_few(part) {
            true => self.read_blocks(decompressor, scratch, part, chunk),
            false => {
                // A chunk that is only a header may tell of other blocks; it is filled in as a whole.
                let is_masked = header.special == Special::None;
                self.read_chunk(decompressor, scratch, part, chunk, is_masked)
            }
        }
    }
}

impl Slice<'_> {
    /// Whether blocks are read one by one.
    fn are_few(&self, part: &Part) -> bool {
        let wanted = self.request.count_pieces(part);
        // One block alone needs no room for its chunk.
        wanted == 1 || wanted.saturating_mul(self.few) <= self.request.nblocks()
    }

    /// Reads bytes of a chunk that lie in the buffer as they do in the chunk.
    fn read_run(
        &self,
        decompressor: &mut Decompressor,
        chunk: &[u8],
        from: usize,
        dest: &mut [u8],
    ) -> Result<()> {
        let len = dest.len();
        let read = match len == self.request.chunksize {
            true => decompressor.decompress(chunk, dest)?,
            // A chunk's bytes are counted in 32 bits.
            false => decompressor.getitem_bytes(chunk, from as i32, len as i32, dest)?,
        };
        match read == len {
            true => Ok(()),
            false => Err(Error::Failure),
        }
    }

    /// Reads blocks one by one.
    fn read_blocks(
        &self,
        decompressor: &mut Decompressor,
        scratch: &mut Buffer,
        part: &Part,
        chunk: &[u8],
    ) -> Result<()> {
        let blocksize = self.request.blocksize;
        for piece in self.request.pieces(part) {
            let start = piece.nblock * blocksize;
            let copy = self.request.piece_copy(&piece, Way::ToBuffer);
            if let Some((from, at, len)) = copy.as_run() {
                // SAFETY: the boxes of the pieces of a slice don't overlap in the buffer.
                let dest = unsafe { self.dest.part(at, len) };
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

    /// Decompresses a chunk, if `is_masked` but for the blocks that aren't needed, and copies from it.
    fn read_chunk(
        &self,
        decompressor: &mut Decompressor,
        scratch: &mut Buffer,
        part: &Part,
        chunk: &[u8],
        is_masked: bool,
    ) -> Result<()> {
        let request = self.request;
        let nblocks = request.nblocks();
        if is_masked && request.count_pieces(part) < nblocks {
            let mut skipped = vec![true; nblocks];
            for piece in request.pieces(part) {
                skipped[piece.nblock] = false;
            }
            decompressor.set_maskout(skipped);
        }
        let scratch = scratch.ensure_len(request.chunksize)?;
        if decompressor.decompress(chunk, scratch)? != request.chunksize {
            return Err(Error::Failure);
        }
        if request.is_linear {
            let copy = request.linear_copy(part, Way::ToBuffer);
            // SAFETY: as in `read`.
            unsafe { self.dest.copy_from(&copy, scratch) };
            return Ok(());
        }
        for piece in request.pieces(part) {
            let block = &scratch[piece.nblock * request.blocksize..];
            let copy = request.piece_copy(&piece, Way::ToBuffer);
            // SAFETY: as in `read_blocks`.
            unsafe { self.dest.copy_from(&copy, block) };
        }
        Ok(())
    }
}

/// The header of a chunk, which must have the sizes of the array's chunks and blocks.
///
/// # Errors
/// [`Error::Failure`] for another chunk, those of the header.
pub(super) fn check(chunk: &[u8], request: &Request) -> Result<ChunkHeader> {
    let header = ChunkHeader::parse(chunk)?;
    let has_blocks = header.special != Special::None || header.blocksize() == request.blocksize;
    match header.nbytes == request.chunksize && !header.vl_blocks && has_blocks {
        true => Ok(header),
        false => Err(Error::Failure),
    }
}
