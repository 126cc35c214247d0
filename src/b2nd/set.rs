//! Writing slices: each chunk that is touched is compressed once.

use super::copy::BoxCopy;
use super::get::check;
use super::request::{Part, Request, Way};
use super::state::{Chunks, State, check_writable};
use crate::chunk::{MAX_OVERHEAD, Source, Special};
use crate::frame::Frame;
use crate::schunk::chunks::{Offer, chunk, update};
use crate::{Buffer, Error, Result};

/// Writes a slice from `src`, which it reaches at most. Items outside of the array are ignored.
///
/// # Errors
/// [`Error::InvalidParam`] for a view of a frame, [`Error::Lock`]; [`Error::Failure`] when a chunk can't be
/// read, compressed or changed.
///
/// # Panics
/// When `src` is shorter than the request's reach.
pub fn set<A: State + ?Sized>(a: &mut A, request: &Request, src: &[u8]) -> Result<()> {
    check_writable(a)?;
    let s = a.chunks_mut();
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    let mut writer = Writer {
        request,
        chunk: Buffer::new(),
        compressed: Buffer::zeroed(request.chunksize + MAX_OVERHEAD)?,
    };
    for part in request.parts() {
        writer.write(s, &part, src).map_err(|_| Error::Failure)?;
    }
    Ok(())
}

/// Writes parts of chunks, one after the other.
struct Writer<'a> {
    request: &'a Request,
    chunk: Buffer,
    compressed: Buffer,
}

impl Writer<'_> {
    fn write(&mut self, s: &mut Chunks<'_>, part: &Part, src: &[u8]) -> Result<()> {
        let request = self.request;
        let linear = request
            .is_linear
            .then(|| request.linear_copy(part, Way::FromBuffer));
        let run = linear
            .and_then(|copy| copy.as_run())
            .filter(|&(_, _, len)| len == request.chunksize);
        let data = match run {
            Some((from, _, len)) => &src[from..from + len],
            None => {
                self.put_together(s, part, linear.as_ref(), src)?;
                &self.chunk
            }
        };
        // Prefilters ask which chunk they are at.
        s.set_current(part.nchunk);
        let len = s.compress(Source::Bytes(data), &mut self.compressed)?;
        update(s, part.nchunk, Offer::Copy(&self.compressed[..len])).map(drop)
    }

    /// Makes the chunk of a part, with what is around the part in the chunk of now.
    fn put_together(
        &mut self,
        s: &Chunks<'_>,
        part: &Part,
        linear: Option<&BoxCopy>,
        src: &[u8],
    ) -> Result<()> {
        let request = self.request;
        self.chunk.resize(request.chunksize)?;
        match part.is_all {
            true => self.chunk.fill(0),
            false => decompress(s, part.nchunk, request, &mut self.chunk)?,
        }
        if let Some(copy) = linear {
            copy.copy(src, &mut self.chunk);
            return Ok(());
        }
        for piece in request.pieces(part) {
            let block = &mut self.chunk[piece.nblock * request.blocksize..];
            request.piece_copy(&piece, Way::FromBuffer).copy(src, block);
        }
        Ok(())
    }
}

/// Decompresses a chunk as a whole.
pub(super) fn decompress(
    s: &Chunks<'_>,
    nchunk: i64,
    request: &Request,
    dest: &mut [u8],
) -> Result<()> {
    let chunk = chunk(s, nchunk)?;
    if check(&chunk, request)?.special == Special::Uninit {
        dest.fill(0);
    }
    match s.decompress(&mut |decompressor| decompressor.decompress(&chunk, dest))? {
        len if len == request.chunksize => Ok(()),
        _ => Err(Error::Failure),
    }
}
