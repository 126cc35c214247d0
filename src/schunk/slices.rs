//! Reading and writing ranges of items across chunks.

use super::chunks::{self, fixed_chunksize};
use super::describe::refresh_from_file;
use super::scratch::ChunkBuffers;
use super::state::State;
use super::transaction::atomically;
use crate::chunk::{BasicHeader, ChunkHeader, MAX_OVERHEAD, Source, Special, mask_of_all};
use crate::frame::Frame;
use crate::io::lock::LockGuard;
use crate::{Buffer, Error, ErrorKind, Result, kernels, plugin};

/// Returns the item size in bytes.
fn typesize<S: State + ?Sized>(s: &S) -> Result<i64> {
    match s.recorded().typesize {
        typesize @ 1.. => Ok(i64::from(typesize)),
        _ => Err(Error::InvalidParam),
    }
}

/// The bytes of a range within one chunk.
struct Piece {
    nchunk: i64,
    /// The offset in the chunk, in bytes.
    from: usize,
    len: usize,
}

/// Splits the byte range `start..stop` at chunk boundaries.
fn pieces(start: i64, stop: i64, chunksize: i64) -> impl Iterator<Item = Piece> {
    let mut at = start;
    std::iter::from_fn(move || {
        let nchunk = at / chunksize;
        let end = (nchunk + 1).saturating_mul(chunksize).min(stop);
        let piece = (at < stop).then(|| Piece {
            nchunk,
            from: (at % chunksize) as usize,
            len: (end - at) as usize,
        });
        at = end;
        piece
    })
}

/// Returns the size in bytes of the readable items `start..stop`; 0 if the range is empty.
///
/// # Errors
/// [`Error::InvalidParam`] if the chunk size is variable; [`Error::Failure`] for a range out of
/// bounds.
pub fn len_to_get<S: State + ?Sized>(s: &S, start: i64, stop: i64) -> Result<usize> {
    if start >= stop {
        return Ok(0);
    }
    let counters = s.counters();
    let typesize = typesize(s).map_err(|error| error.recast(ErrorKind::Failure))?;
    if start < 0 || counters.nchunks == 0 || stop > counters.nbytes / typesize {
        return Err(Error::Failure);
    }
    fixed_chunksize(&counters).ok_or(Error::InvalidParam)?;
    usize::try_from((stop - start) * typesize).map_err(|_| Error::Failure)
}

/// Returns the size in bytes of the writable items `start..stop`; 0 if the range is empty.
///
/// # Errors
/// [`Error::InvalidParam`] if the chunk size is variable, and for a range out of bounds.
pub fn len_to_set<S: State + ?Sized>(s: &S, start: i64, stop: i64) -> Result<usize> {
    len_to_get(s, start, stop).map_err(|error| error.recast(ErrorKind::InvalidParam))
}

/// Reads the items `start..stop` into `dest`, which has their size.
///
/// # Errors
/// Returns the errors of [`len_to_get`]; [`Error::Failure`] otherwise.
pub fn get<S: State + ?Sized>(s: &S, start: i64, stop: i64, dest: &mut [u8]) -> Result<()> {
    if len_to_get(s, start, stop)? == 0 {
        return Ok(());
    }
    // The lock covers the reads of blocks, which follow the lookup of a lazy chunk.
    let _held = lock_to_read(s)?;
    len_to_get(s, start, stop)?;
    let _open = s.frame().and_then(Frame::keep_chunks_open);
    let typesize = typesize(s)?;
    let chunksize = fixed_chunksize(&s.counters()).ok_or(Error::InvalidParam)?;
    let mut rest = dest;
    for piece in pieces(start * typesize, stop * typesize, chunksize) {
        let (part, others) = rest.split_at_mut_checked(piece.len).ok_or(Error::Failure)?;
        rest = others;
        read_piece(s, &piece, part)
            .map_err(|error| plugin::or_failure(chunks::in_chunk(s, piece.nchunk, error)))?;
    }
    check_chunksize(s, chunksize)
}

/// Locks the file and refreshes the super-chunk, because the positions of items depend on the chunk
/// size. Without locks, each read of a chunk refreshes the super-chunk, and the caller ends with
/// [`check_chunksize`].
fn lock_to_read<S: State + ?Sized>(s: &S) -> Result<Option<LockGuard>> {
    let held = s.frame().map(Frame::lock_shared).transpose()?.flatten();
    if held.is_some() {
        refresh_from_file(s)?;
    }
    Ok(held)
}

/// Fails if the chunk size has changed from `chunksize` since the caller read it.
fn check_chunksize<S: State + ?Sized>(s: &S, chunksize: i64) -> Result<()> {
    if fixed_chunksize(&s.counters()) == Some(chunksize) { Ok(()) } else { Err(Error::Failure) }
}

fn read_piece<S: State + ?Sized>(s: &S, piece: &Piece, dest: &mut [u8]) -> Result<()> {
    let chunk = chunks::lazy_chunk(s, piece.nchunk)?;
    let nbytes = usize::try_from(BasicHeader::parse(&chunk)?.nbytes);
    let nbytes = nbytes.map_err(|_| Error::InvalidHeader)?;
    if piece.from == 0 && piece.len == nbytes {
        return match s.decompress(&mut |decompressor| decompressor.decompress(&chunk, dest))? {
            size if size == nbytes => Ok(()),
            _ => Err(Error::Failure),
        };
    }
    read_part(s, &chunk, piece.from, dest)
}

/// Reads bytes at offset `from` of a chunk.
fn read_part<S: State + ?Sized>(s: &S, chunk: &[u8], from: usize, dest: &mut [u8]) -> Result<()> {
    let start = i32::try_from(from).map_err(|_| Error::InvalidParam)?;
    let len = i32::try_from(dest.len()).map_err(|_| Error::InvalidParam)?;
    let read =
        s.decompress(&mut |decompressor| decompressor.getitem_bytes(chunk, start, len, dest))?;
    if read == dest.len() { Ok(()) } else { Err(Error::Failure) }
}

/// Overwrites the existing items `start..stop`.
///
/// # Errors
/// Returns the errors of [`len_to_set`]; [`Error::Failure`] if a chunk cannot be read or
/// compressed; [`Error::ChunkUpdate`].
pub fn set<S: State + ?Sized>(s: &mut S, start: i64, stop: i64, src: &[u8]) -> Result<()> {
    if len_to_set(s, start, stop)? == 0 {
        return Ok(());
    }
    // A chunk that is partly overwritten must not change between reading and writing it.
    let held = s.frame().map(Frame::lock_call).transpose()?.flatten();
    if held.is_some() {
        refresh_from_file(s)?;
        len_to_set(s, start, stop)?;
    }
    let typesize = typesize(s)?;
    let chunksize = fixed_chunksize(&s.counters()).ok_or(Error::InvalidParam)?;
    let size = usize::try_from(chunksize).map_err(|_| Error::InvalidParam)?;
    let mut buffers = ChunkBuffers::new(size);
    atomically(s, |s| {
        let mut rest = src;
        for piece in pieces(start * typesize, stop * typesize, chunksize) {
            let (part, others) = rest.split_at_checked(piece.len).ok_or(Error::InvalidParam)?;
            rest = others;
            let len = compress_piece(s, &piece, part, &mut buffers)
                .map_err(|error| plugin::or_failure(chunks::in_chunk(s, piece.nchunk, error)))?;
            let chunk = buffers.new_chunk(len, s.frame().is_none())?;
            chunks::update(s, piece.nchunk, chunk)?;
        }
        Ok(())
    })
}

/// Merges `data` into the current content of the chunk and compresses it into `buffers.stored`;
/// returns the size of the new chunk in bytes.
fn compress_piece<S: State + ?Sized>(
    s: &S,
    piece: &Piece,
    data: &[u8],
    buffers: &mut ChunkBuffers,
) -> Result<usize> {
    let nbytes = {
        let chunk = chunks::lazy_chunk(s, piece.nchunk)?;
        usize::try_from(BasicHeader::parse(&chunk)?.nbytes).map_err(|_| Error::InvalidHeader)?
    };
    let capacity = nbytes + MAX_OVERHEAD;
    if piece.from == 0 && piece.len == nbytes {
        return s.compress(Source::Bytes(data), buffers.stored.ensure_len(capacity)?);
    }
    // Allocates the final size at once.
    buffers.stored.ensure_len(capacity)?;
    let chunk = chunks::chunk_into(s, piece.nchunk, &mut buffers.stored)?;
    let whole = buffers.plain.ensure_len(nbytes)?;
    if ChunkHeader::parse(chunk)?.special == Special::Uninit {
        whole.fill(0);
    }
    match s.decompress(&mut |decompressor| decompressor.decompress(chunk, whole))? {
        size if size == nbytes => {}
        _ => return Err(Error::Failure),
    }
    let part = piece.from..piece.from + piece.len;
    kernels::copy::copy(data, whole.get_mut(part).ok_or(Error::Failure)?);
    s.compress(Source::Bytes(whole), buffers.stored.ensure_len(capacity)?)
}

/// Reads the item at each coordinate into consecutive items of `dest`.
///
/// # Errors
/// [`Error::InvalidParam`] for a coordinate out of bounds, a variable chunk size, variable-length
/// blocks, and sizes that are not multiples of the item size; [`Error::Failure`] if a chunk cannot
/// be read; the errors of decompression.
pub fn get_sparse<S: State + ?Sized>(s: &S, coordinates: &[i64], dest: &mut [u8]) -> Result<()> {
    if coordinates.is_empty() {
        return Ok(());
    }
    let _held = lock_to_read(s)?;
    let _open = s.frame().and_then(Frame::keep_chunks_open);
    let counters = s.counters();
    let typesize = typesize(s)?;
    let chunksize = fixed_chunksize(&counters).ok_or(Error::InvalidParam)?;
    let nitems = counters.nbytes / typesize;
    let is_inside = |&at: &i64| (0..nitems).contains(&at);
    if chunksize % typesize != 0 || counters.flags2 != 0 || !coordinates.iter().all(is_inside) {
        return Err(Error::InvalidParam);
    }
    let width = typesize as usize;
    if dest.len() / width != coordinates.len() {
        return Err(Error::InvalidParam);
    }
    let chunk_items = chunksize / typesize;
    let mut order = Vec::new();
    order.try_reserve_exact(coordinates.len())?;
    order.extend(0..coordinates.len());
    order.sort_unstable_by_key(|&i| coordinates[i]);
    let mut gather = Gather { width, dest, block: Buffer::new() };
    for group in
        order.chunk_by(|&a, &b| coordinates[a] / chunk_items == coordinates[b] / chunk_items)
    {
        let nchunk = coordinates[group[0]] / chunk_items;
        let chunk =
            chunks::lazy_chunk(s, nchunk).map_err(|error| error.recast(ErrorKind::Failure))?;
        let positions = group.iter().map(|&i| ((coordinates[i] % chunk_items) as usize * width, i));
        gather.gather_from_chunk(s, &chunk, positions)?;
    }
    check_chunksize(s, chunksize)
}

/// The destination of a sparse selection.
struct Gather<'a> {
    width: usize,
    dest: &'a mut [u8],
    /// Scratch for one block.
    block: Buffer,
}

impl Gather<'_> {
    fn item(&mut self, i: usize) -> &mut [u8] {
        &mut self.dest[i * self.width..(i + 1) * self.width]
    }

    /// Gathers items of one chunk, from ascending positions to their destinations.
    fn gather_from_chunk<S: State + ?Sized>(
        &mut self,
        s: &S,
        chunk: &[u8],
        positions: impl Iterator<Item = (usize, usize)> + Clone,
    ) -> Result<()> {
        let header = ChunkHeader::parse(chunk)?;
        let blocksize = header.blocksize();
        if header.vl_blocks || blocksize == 0 {
            return Err(Error::InvalidParam);
        }
        let nblocks = header.nbytes.div_ceil(blocksize);
        let mut skipped = mask_of_all(nblocks)?;
        for (at, _) in positions.clone() {
            let last = (at + self.width - 1) / blocksize;
            let touched = skipped.get_mut(at / blocksize..=last).ok_or(Error::Data)?;
            touched.fill(false);
        }
        let touched = skipped.iter().filter(|&&skip| !skip).count();
        if touched == 1 {
            return self.gather_from_block(s, chunk, &header, positions);
        }
        let mut scratch = std::mem::take(&mut self.block);
        let block = scratch.ensure_len(header.nbytes)?;
        // Such a chunk is not written to the scratch, which has items of other chunks.
        if header.special == Special::Uninit {
            block.fill(0);
        }
        s.decompress(&mut |decompressor| {
            decompressor.set_maskout(std::mem::take(&mut skipped));
            decompressor.decompress(chunk, block)
        })?;
        for (at, i) in positions {
            let item = block.get(at..at + self.width).ok_or(Error::Data)?;
            self.item(i).copy_from_slice(item);
        }
        self.block = scratch;
        Ok(())
    }

    /// Gathers items of one block.
    fn gather_from_block<S: State + ?Sized>(
        &mut self,
        s: &S,
        chunk: &[u8],
        header: &ChunkHeader,
        mut positions: impl Iterator<Item = (usize, usize)> + Clone,
    ) -> Result<()> {
        let all = positions.clone();
        let Some((first, i)) = positions.next() else {
            return Ok(());
        };
        let last = positions.last().map_or(first, |(at, _)| at);
        if first == last && header.nbytes >= first + self.width && all.clone().count() == 1 {
            let width = self.width;
            return read_part(s, chunk, first, &mut self.dest[i * width..(i + 1) * width]);
        }
        let mut block = std::mem::take(&mut self.block);
        block.resize(last + self.width - first)?;
        if header.special == Special::Uninit {
            block.fill(0);
        }
        read_part(s, chunk, first, &mut block)?;
        for (at, i) in all {
            let item = &block[at - first..at - first + self.width];
            self.item(i).copy_from_slice(item);
        }
        self.block = block;
        Ok(())
    }
}

/// Returns the indices of the chunks that cover the items `start..stop`, whether or not they exist.
/// There are none in a super-chunk without chunks.
///
/// # Errors
/// [`Error::InvalidParam`] if the chunk size is variable, or for a negative start.
pub fn slice_chunks<S: State + ?Sized>(
    s: &S,
    start: i64,
    stop: i64,
) -> Result<std::ops::Range<i64>> {
    let counters = s.counters();
    if counters.nchunks == 0 {
        return Ok(0..0);
    }
    let typesize = typesize(s)?;
    let chunksize = fixed_chunksize(&counters).ok_or(Error::InvalidParam)?;
    if start < 0 {
        return Err(Error::InvalidParam);
    }
    let bytes = |items: i64| items.checked_mul(typesize).ok_or(Error::InvalidParam);
    let first = bytes(start)? / chunksize;
    let stop = bytes(stop.max(0))?;
    let end = stop / chunksize + i64::from(stop % chunksize != 0);
    // An empty range inside a chunk includes that chunk.
    Ok(first..end.max(first))
}
