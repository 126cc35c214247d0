//! Reading slices.
//!
//! Of each chunk only the blocks that are asked for are decoded, and where the items of a box lie in the
//! buffer as they lie in the chunk they are decoded straight into it. Slices of many chunks are shared out
//! among threads chunk by chunk, those of few block by block.

use super::copy::Shared;
use super::request::{Part, Request, Way};
use super::state::{Chunks, State};
use crate::chunk::{ChunkHeader, DParams, Decompressor, Special};
use crate::frame::{Frame, FrameChunk};
use crate::schunk::chunks::{chunk, lazy_chunk};
use crate::{Buffer, Error, Result, pool};
use std::sync::{Mutex, PoisonError};

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
    get_chunks(a.chunks(), request, dest).map_err(|_| Error::Failure)
}

fn get_chunks(s: &Chunks<'_>, request: &Request, dest: &mut [u8]) -> Result<()> {
    let count = request.count();
    if request.reach() == 0 || count == 0 {
        return Ok(());
    }
    let dest = Shared::new(&mut dest[..request.reach()]);
    let mut shared = None;
    s.decompress(&mut |decompressor| {
        let params = decompressor.params();
        let nthreads = usize::try_from(params.nthreads).unwrap_or(1);
        if nthreads > 1 && count >= nthreads && params.postfilter.is_none() {
            shared = Some((params.clone().threads(1), nthreads));
            return Ok(0);
        }
        let mut reader = Reader::new(s, request, &dest);
        for part in request.parts() {
            let chunk = reader.fetch(&part)?;
            reader.read(decompressor, &part, &chunk)?;
        }
        Ok(0)
    })?;
    match shared {
        None => Ok(()),
        Some((params, nthreads)) => get_in_threads(s, request, &dest, &params, nthreads),
    }
}

/// Reads the parts of a slice in several threads.
fn get_in_threads(
    s: &Chunks<'_>,
    request: &Request,
    dest: &Shared<'_>,
    params: &DParams,
    nthreads: usize,
) -> Result<()> {
    let parts = Mutex::new(Ok::<_, Error>(request.parts()));
    pool::run(nthreads, &|_| {
        let mut decompressor = Decompressor::new(params.clone());
        let mut reader = Reader::new(s, request, dest);
        loop {
            // Chunks are looked up by one thread at a time, decoded by all.
            let mut waiting = parts.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(part) = waiting.as_mut().ok().and_then(Iterator::next) else {
                return;
            };
            let fetched = reader.fetch(&part);
            drop(waiting);
            let read = fetched.and_then(|chunk| reader.read(&mut decompressor, &part, &chunk));
            if let Err(error) = read {
                let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
                *parts = Err(error);
                return;
            }
        }
    });
    parts
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .map(drop)
}

/// Reads parts of chunks, one after the other.
struct Reader<'a> {
    s: &'a Chunks<'a>,
    request: &'a Request,
    dest: &'a Shared<'a>,
    few: usize,
    nblocks: usize,
    scratch: Buffer,
}

impl<'a> Reader<'a> {
    fn new(s: &'a Chunks<'a>, request: &'a Request, dest: &'a Shared<'a>) -> Reader<'a> {
        let in_files = s.frame().is_some_and(|frame| !Frame::is_memory(frame));
        Reader {
            s,
            request,
            dest,
            few: match in_files {
                true => FEW_IN_FILES,
                false => FEW_IN_MEMORY,
            },
            nblocks: request
                .chunksize
                .checked_div(request.blocksize)
                .unwrap_or(0),
            scratch: Buffer::new(),
        }
    }

    /// Whether blocks are read one by one.
    fn are_few(&self, part: &Part) -> bool {
        let wanted = self.request.count_pieces(part);
        wanted.saturating_mul(self.few) <= self.nblocks
    }

    /// The chunk of a part; when few of its blocks are needed, without those that are in a file.
    fn fetch(&self, part: &Part) -> Result<FrameChunk<'a>> {
        match self.are_few(part) {
            true => lazy_chunk(self.s, part.nchunk),
            false => chunk(self.s, part.nchunk),
        }
    }

    fn read(&mut self, decompressor: &mut Decompressor, part: &Part, chunk: &[u8]) -> Result<()> {
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
            true => self.read_blocks(decompressor, part, chunk),
            false => self.read_masked(decompressor, part, chunk),
        }
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
        &mut self,
        decompressor: &mut Decompressor,
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
            let mut scratch = std::mem::take(&mut self.scratch);
            scratch.resize(blocksize)?;
            self.read_run(decompressor, chunk, start, &mut scratch)?;
            // SAFETY: as above.
            unsafe { self.dest.copy_from(&copy, &scratch) };
            self.scratch = scratch;
        }
        Ok(())
    }

    /// Decompresses a chunk but for the blocks that aren't needed, and copies from it.
    fn read_masked(
        &mut self,
        decompressor: &mut Decompressor,
        part: &Part,
        chunk: &[u8],
    ) -> Result<()> {
        let request = self.request;
        if request.count_pieces(part) < self.nblocks {
            let mut skipped = vec![true; self.nblocks];
            for piece in request.pieces(part) {
                skipped[piece.nblock] = false;
            }
            decompressor.set_maskout(skipped);
        }
        self.scratch.resize(request.chunksize)?;
        if decompressor.decompress(chunk, &mut self.scratch)? != request.chunksize {
            return Err(Error::Failure);
        }
        if request.is_linear {
            let copy = request.linear_copy(part, Way::ToBuffer);
            // SAFETY: as in `read`.
            unsafe { self.dest.copy_from(&copy, &self.scratch) };
            return Ok(());
        }
        for piece in request.pieces(part) {
            let block = &self.scratch[piece.nblock * request.blocksize..];
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
