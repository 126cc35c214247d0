//! Writing slices: each touched chunk is compressed once.

use super::request::{Part, Request, Way};
use super::share::{self, Around, Writing};
use super::state::{State, check_writable};
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
pub fn set<A: State + ?Sized>(a: &mut A, request: &Request, src: &[u8]) -> Result<()> {
    check_writable(a)?;
    let s = a.chunks_mut();
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    let slice = Slice { request, src };
    let written = atomically(s, |s| {
        share::write(s, &slice, request, request.parts(), request.count())
    });
    written.map_err(plugin::or_failure)
}

/// The state of one write.
struct Slice<'a> {
    request: &'a Request,
    src: &'a [u8],
}

impl Writing for Slice<'_> {
    type Part = Part;

    fn number(&self, part: &Part) -> i64 {
        part.nchunk
    }

    fn ready(&self, part: &Part) -> Option<&[u8]> {
        if !self.request.is_linear {
            return None;
        }
        let copy = self.request.linear_copy(part, Way::FromBuffer);
        let (from, _, len) = copy.as_run()?;
        (len == self.request.chunksize).then(|| &self.src[from..from + len])
    }

    fn around(&self, part: &Part) -> Around {
        match self.request.fills_chunk(part) {
            true => Around::Nothing,
            false if part.is_all => Around::Zeros,
            false => Around::Kept,
        }
    }

    fn write(&self, part: &Part, chunk: &mut [u8]) {
        let request = self.request;
        if request.is_linear {
            let copy = request.linear_copy(part, Way::FromBuffer);
            copy.copy(self.src, chunk);
            return;
        }
        for piece in request.pieces(part) {
            let block = &mut chunk[piece.nblock * request.blocksize..];
            let copy = request.piece_copy(&piece, Way::FromBuffer);
            copy.copy(self.src, block);
        }
    }
}
