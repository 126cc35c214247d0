//! Reading of whole chunks: stored, without their blocks, and decompressed.

use super::chunksize_policy::{UNSET, VARIABLE};
use super::describe::refresh_from_file;
use super::new_chunk::NewChunk;
use super::state::State;
use crate::chunk::{BasicHeader, ChunkHeader, Special, fill_special};
use crate::frame::{Counters, Frame, FrameChunk};
use crate::{Buffer, Error, Result, item};

/// Converts a chunk index, after checking that the chunk exists.
pub(super) fn number(counters: &Counters, nchunk: i64) -> Result<usize> {
    match nchunk {
        0.. if nchunk < counters.nchunks => {
            usize::try_from(nchunk).map_err(|_| Error::InvalidParam)
        }
        _ => Err(no_chunk(counters)),
    }
}

#[cold]
fn no_chunk(counters: &Counters) -> Error {
    let count = counters.nchunks;
    Error::InvalidParam
        .because(format!("there is no such chunk: the super-chunk has {count} chunks"))
}

/// Returns the uncompressed size of a chunk, in bytes.
///
/// The number of chunks of a frame with a fixed chunk size follows from their total size, so that a
/// wrong size would make it unreadable after the chunk is replaced or deleted. If the header of the
/// chunk is damaged, the size is that which the other chunks leave.
///
/// # Errors
/// [`Error::InvalidHeader`] if that is not the size of a chunk, the errors of [`Frame::chunk`].
pub(super) fn nbytes_of<S: State + ?Sized>(s: &S, nchunk: usize) -> Result<i32> {
    let Some(frame) = s.frame() else {
        return Ok(BasicHeader::parse(s.chunk(nchunk))?.nbytes);
    };
    let nbytes_of = |nchunk: usize| -> Result<i64> {
        i64::try_from(frame.chunk_nbytes(nchunk)?).map_err(|_| Error::InvalidHeader)
    };
    let counters = s.counters();
    let mut nbytes = nbytes_of(nchunk)?;
    if counters.chunksize > 0 {
        let full = i64::from(counters.chunksize);
        let count = usize::try_from(counters.nchunks).map_err(|_| Error::InvalidParam)?;
        let last = counters.nbytes - full.saturating_mul(counters.nchunks - 1);
        if last == full {
            nbytes = full;
        } else if ![full, last].contains(&nbytes) {
            let mut left = counters.nbytes;
            for other in (0..count).filter(|&other| other != nchunk) {
                left -= nbytes_of(other)?;
            }
            if ![full, last, nbytes].contains(&left) {
                return Err(Error::InvalidHeader.because("the size of the chunk is wrong"));
            }
            nbytes = left;
        }
    }
    i32::try_from(nbytes).map_err(|_| Error::InvalidHeader)
}

/// Adds the chunk index and the path of the frame to an error.
#[cold]
pub(super) fn in_chunk<S: State + ?Sized>(s: &S, nchunk: i64, error: Error) -> Error {
    let error = error.of_chunk(nchunk);
    match s.frame().and_then(Frame::path) {
        Some(path) => error.at(path),
        None => error,
    }
}

/// Refreshes the super-chunk from its file, then calls `f` with the index of an existing chunk.
fn with_chunk<'a, S: State + ?Sized, T>(
    s: &'a S,
    nchunk: i64,
    f: impl FnOnce(&'a S, usize) -> Result<T>,
) -> Result<T> {
    number(&s.counters(), nchunk)?;
    let _held = s.frame().map(Frame::lock_shared).transpose()?;
    refresh_from_file(s)?;
    let at = number(&s.counters(), nchunk)?;
    s.set_current(nchunk);
    f(s, at)
}

/// Returns a chunk, borrowed from memory or read from a file.
///
/// # Errors
/// [`Error::InvalidParam`] if there is no such chunk; the errors of [`Frame::chunk`];
/// [`Error::Lock`].
pub fn chunk<S: State + ?Sized>(s: &S, nchunk: i64) -> Result<FrameChunk<'_>> {
    with_chunk(s, nchunk, |s, at| match s.frame() {
        Some(frame) => frame.chunk(at),
        None => Ok(FrameChunk::Borrowed(s.chunk(at))),
    })
    .map_err(|error| in_chunk(s, nchunk, error))
}

/// Like [`chunk`], but reads chunks in files into `scratch`, which grows if needed.
///
/// # Errors
/// Returns the same errors as [`chunk`].
pub(crate) fn chunk_into<'a, S: State + ?Sized>(
    s: &'a S,
    nchunk: i64,
    scratch: &'a mut Buffer,
) -> Result<&'a [u8]> {
    with_chunk(s, nchunk, |s, at| match s.frame() {
        Some(frame) => frame.chunk_into(at, scratch),
        None => Ok(s.chunk(at)),
    })
    .map_err(|error| in_chunk(s, nchunk, error))
}

/// Returns a chunk of `source`, which was read, for a verbatim copy to `target`. If the target has
/// checksums, the chunk gets one only if it matches one of the source or can be decompressed.
///
/// # Errors
/// Returns the errors of reading the checksums of the source, and system errors.
pub fn copied<'c, S: State + ?Sized, T: State + ?Sized>(
    source: &S,
    (nchunk, chunk): (i64, &'c [u8]),
    target: &T,
) -> Result<NewChunk<'c>> {
    if !target.frame().is_some_and(Frame::has_fingerprint) {
        return Ok(NewChunk::Copy(chunk));
    }
    if let (Some(frame), Ok(nchunk)) = (source.frame(), usize::try_from(nchunk))
        && frame.has_checksum(nchunk)?
    {
        return Ok(NewChunk::Copy(chunk));
    }
    match check(source, chunk, &mut Buffer::new()) {
        Ok(()) => Ok(NewChunk::Copy(chunk)),
        Err(error) if error.is_system_error() => Err(error),
        Err(_) => Ok(NewChunk::Unverified(chunk)),
    }
}

/// Decompresses a chunk into `data`, to find damage. Of a chunk of one repeated value only the
/// first byte is decompressed: a small frame can represent terabytes of such chunks.
///
/// # Errors
/// Returns the errors of decompression; [`Error::MemoryAlloc`].
pub(super) fn check<S: State + ?Sized>(s: &S, chunk: &[u8], data: &mut Buffer) -> Result<()> {
    let header = ChunkHeader::parse(chunk)?;
    if !matches!(header.special, Special::None | Special::Unknown) {
        header.check_stored(chunk.len())?;
        let mut first = [0];
        return fill_special(chunk, &header, 0, &mut first[..usize::from(header.nbytes > 0)]);
    }
    check_has_data(s, header.nbytes)?;
    // Zeros that are not written need no memory if the size in the header is wrong.
    let data = data.ensure_len(header.nbytes)?;
    decompress_whole(s, chunk, data).map(drop)
}

/// Returns a chunk without its blocks if it is in a file, otherwise the whole chunk.
///
/// # Errors
/// Returns the same errors as [`chunk`].
pub fn lazy_chunk<S: State + ?Sized>(s: &S, nchunk: i64) -> Result<FrameChunk<'_>> {
    with_chunk(s, nchunk, |s, at| match s.frame() {
        Some(frame) => frame.lazy_chunk(at),
        None => Ok(FrameChunk::Borrowed(s.chunk(at))),
    })
    .map_err(|error| in_chunk(s, nchunk, error))
}

/// Returns the number of equal chunks from a chunk on that have no bytes in the frame; 1 for other
/// chunks. A small index can list many of them.
///
/// # Errors
/// The errors of [`Frame::special_run`].
pub fn special_run<S: State + ?Sized>(s: &S, nchunk: i64) -> Result<i64> {
    run_of(s, nchunk, Frame::special_run)
}

/// Returns the number of chunks from a chunk on that the index of the frame makes equal; 1 for
/// other chunks.
///
/// # Errors
/// The errors of [`Frame::equal_run`].
pub fn equal_run<S: State + ?Sized>(s: &S, nchunk: i64) -> Result<i64> {
    run_of(s, nchunk, Frame::equal_run)
}

fn run_of<S: State + ?Sized>(
    s: &S,
    nchunk: i64,
    run: impl FnOnce(&Frame, usize) -> Result<usize>,
) -> Result<i64> {
    let run = match (s.frame(), usize::try_from(nchunk)) {
        (Some(frame), Ok(nchunk)) => run(frame, nchunk)?,
        _ => 0,
    };
    Ok(i64::try_from(run).unwrap_or(1).max(1))
}

/// Decompresses a chunk; returns its uncompressed size in bytes.
///
/// # Errors
/// Returns the same errors as [`chunk`]; if `dest` is too short, [`Error::InvalidParam`] for a
/// super-chunk in memory and [`Error::WriteBuffer`] for a frame; the errors of decompression.
pub fn decompress<S: State + ?Sized>(s: &S, nchunk: i64, dest: &mut [u8]) -> Result<usize> {
    decompress_into(s, nchunk, dest).map_err(|error| in_chunk(s, nchunk, error))
}

fn decompress_into<S: State + ?Sized>(s: &S, nchunk: i64, dest: &mut [u8]) -> Result<usize> {
    let chunk = chunk(s, nchunk)?;
    let nbytes = usize::try_from(BasicHeader::parse(&chunk)?.nbytes);
    let nbytes = nbytes.map_err(|_| Error::InvalidHeader)?;
    check_has_data(s, nbytes)?;
    if nbytes > dest.len() {
        return Err(too_short(s, nbytes, dest.len()));
    }
    decompress_whole(s, &chunk, &mut dest[..nbytes])
}

/// Fails if the header of a chunk declares no data, but all chunks of the frame have data: a frame
/// with an empty chunk has no common chunk size.
fn check_has_data<S: State + ?Sized>(s: &S, nbytes: usize) -> Result<()> {
    let chunksize = s.counters().chunksize;
    if nbytes > 0 || chunksize <= 0 || s.frame().is_none() {
        return Ok(());
    }
    Err(Error::Data.because(format!(
        "the header declares no data, but the chunks of the frame have {chunksize} bytes"
    )))
}

#[cold]
fn too_short<S: State + ?Sized>(s: &S, nbytes: usize, len: usize) -> Error {
    let error = match s.frame() {
        Some(_) => Error::WriteBuffer,
        None => Error::InvalidParam,
    };
    error.because(format!("the buffer has {len} bytes, but {nbytes} are needed"))
}

/// Decompresses a chunk of `dest.len()` bytes.
fn decompress_whole<S: State + ?Sized>(s: &S, chunk: &[u8], dest: &mut [u8]) -> Result<usize> {
    if dest.is_empty() {
        return Ok(0);
    }
    match s.decompress(&mut |decompressor| decompressor.decompress(chunk, dest))? {
        size if size == dest.len() => Ok(size),
        _ => Err(Error::Failure),
    }
}

/// Decompresses a chunk into a vector, which is replaced if it has another length. Uninitialised
/// items are zero.
///
/// # Errors
/// Returns the errors of [`chunk`] and of decompression.
pub(super) fn decompress_to_vec<S: State + ?Sized>(
    s: &S,
    nchunk: i64,
    data: &mut Vec<u8>,
) -> Result<()> {
    let mut read = || {
        let chunk = chunk(s, nchunk)?;
        let header = ChunkHeader::parse(&chunk)?;
        check_has_data(s, header.nbytes)?;
        if data.len() != header.nbytes {
            // Zeros that are not written need no memory if the size in the header is wrong.
            *data = item::zeroed(header.nbytes)?;
        } else if header.special == Special::Uninit {
            data.fill(0);
        }
        decompress_whole(s, &chunk, data).map(drop)
    };
    read().map_err(|error| in_chunk(s, nchunk, error))
}

/// Returns the uncompressed size of a chunk in bytes.
///
/// # Errors
/// Returns the same errors as [`chunk`].
pub(super) fn nbytes<S: State + ?Sized>(s: &S, nchunk: i64) -> Result<i32> {
    let nbytes = with_chunk(s, nchunk, nbytes_of).map_err(|error| in_chunk(s, nchunk, error))?;
    if nbytes < 0 {
        return Err(in_chunk(s, nchunk, Error::InvalidHeader));
    }
    Ok(nbytes)
}

/// Decompresses one block of a chunk with variable-length blocks.
///
/// # Errors
/// Returns the same errors as [`chunk`]; [`Error::InvalidParam`] for a chunk with fixed-length
/// blocks, or if there is no such block; the errors of decompression.
pub fn vl_block<S: State + ?Sized>(s: &S, nchunk: i64, nblock: i64) -> Result<Buffer> {
    read_vl_block(s, nchunk, nblock).map_err(|error| in_chunk(s, nchunk, error))
}

fn read_vl_block<S: State + ?Sized>(s: &S, nchunk: i64, nblock: i64) -> Result<Buffer> {
    let _held = s.frame().map(Frame::lock_shared).transpose()?;
    let _open = s.frame().and_then(Frame::keep_chunks_open);
    let chunk = lazy_chunk(s, nchunk)?;
    let header = ChunkHeader::parse(&chunk)?;
    let nblocks = i64::from(header.basic.blocksize);
    if !header.vl_blocks || nblock < 0 || nblock >= nblocks {
        return Err(Error::InvalidParam);
    }
    let nblock = usize::try_from(nblock).map_err(|_| Error::InvalidParam)?;
    let mut block = Buffer::new();
    s.decompress(&mut |decompressor| {
        block = Buffer::zeroed(decompressor.vl_block_len(&chunk, nblock)?)?;
        decompressor.vl_decompress_block(&chunk, nblock, &mut block)?;
        Ok(block.len())
    })?;
    Ok(block)
}

/// Returns the fixed chunk size, if there is one. It need not be a multiple of the item size.
pub(super) fn fixed_chunksize(counters: &Counters) -> Option<i64> {
    match counters.chunksize {
        VARIABLE | UNSET => None,
        chunksize => Some(i64::from(chunksize)).filter(|&chunksize| chunksize > 0),
    }
}
