//! Writing slices: each touched chunk is compressed once.

use super::parallel::{self, ChunkWriter, Unwritten};
use super::request::{ChunkBox, Direction, SliceRequest};
use super::state::{Chunks, State, check_writable};
use crate::frame::Frame;
use crate::schunk::transaction::atomically;
use crate::{Result, plugin};

/// Writes a slice from `src`. Items outside the array are ignored.
///
/// # Errors
/// [`InvalidParam`](crate::Error::InvalidParam) for a view of a frame,
/// [`Lock`](crate::Error::Lock); [`Failure`](crate::Error::Failure) if a chunk cannot be read,
/// compressed or changed.
///
/// # Panics
/// Panics if `src` is shorter than the extent of the request.
pub fn set<A: State + ?Sized>(a: &mut A, request: &SliceRequest, src: &[u8]) -> Result<()> {
    check_writable(a)?;
    let s = a.chunks_mut();
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    let slice = Slice { request, src };
    let count = request.count();
    let write =
        |s: &mut Chunks<'_>| parallel::write(s, &slice, request, request.chunk_boxes(), count);
    // The change of a single chunk is atomic without a transaction.
    let written = if count == 1 { write(s) } else { atomically(s, write) };
    written.map_err(plugin::or_failure)
}

/// The state of one write.
struct Slice<'a> {
    request: &'a SliceRequest,
    src: &'a [u8],
}

impl ChunkWriter for Slice<'_> {
    type Task = ChunkBox;

    fn number(&self, chunk_box: &ChunkBox) -> i64 {
        chunk_box.nchunk
    }

    fn contiguous_chunk(&self, chunk_box: &ChunkBox) -> Option<&[u8]> {
        if !self.request.is_linear {
            return None;
        }
        let copy = self.request.linear_copy(chunk_box, Direction::FromBuffer);
        let (from, _, len) = copy.as_run()?;
        (len == self.request.chunksize).then(|| &self.src[from..from + len])
    }

    fn unwritten(&self, chunk_box: &ChunkBox) -> Unwritten {
        if self.request.fills_chunk(chunk_box) {
            Unwritten::Nothing
        } else if chunk_box.is_all {
            Unwritten::Zeros
        } else {
            Unwritten::Current
        }
    }

    fn write(&self, chunk_box: &ChunkBox, chunk: &mut [u8]) {
        let request = self.request;
        if request.is_linear {
            let copy = request.linear_copy(chunk_box, Direction::FromBuffer);
            copy.copy(self.src, chunk);
            return;
        }
        for block_box in request.block_boxes(chunk_box) {
            let block = &mut chunk[block_box.nblock * request.blocksize..];
            let copy = request.block_copy(&block_box, Direction::FromBuffer);
            copy.copy(self.src, block);
        }
    }
}
