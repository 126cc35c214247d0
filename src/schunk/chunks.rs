//! Adding, changing, removing and reading whole chunks.
//!
//! Everything is checked, read and prepared first, then the frame or the memory is changed, and the sizes
//! last: a call that fails leaves all as it was.

use super::describe::{describe, follow};
use super::offer::Facts;
pub use super::offer::Offer;
use super::regime::{UNSET, VARIABLE, after_adding, after_filling, after_update};
use super::state::State;
use super::stored::{keep, store_specials, turns_variable};
use crate::chunk::{
    BasicHeader, CParams, ChunkHeader, EXTENDED_HEADER_LENGTH, MAX_OVERHEAD, Source, Special,
    special,
};
use crate::frame::{Change, Counters, Frame, FrameChunk, StoredParams, VL_BLOCKS};
use crate::{Buffer, Error, ErrorKind, Result};

/// A chunk's number, inside the super-chunk.
fn number(counters: &Counters, nchunk: i64) -> Result<usize> {
    match nchunk {
        0.. if nchunk < counters.nchunks => {
            usize::try_from(nchunk).map_err(|_| Error::InvalidParam)
        }
        _ => Err(Error::InvalidParam),
    }
}

/// What a failing frame is to callers: the code of the operation, but for what tells more.
fn collapse(error: Error, to: ErrorKind) -> Error {
    match error.kind() {
        ErrorKind::InvalidParam | ErrorKind::Lock => error,
        _ => error.recast(to),
    }
}

/// The uncompressed size of a chunk.
fn nbytes_of<S: State + ?Sized>(s: &S, nchunk: usize) -> Result<i32> {
    let nbytes = match s.frame() {
        Some(frame) => frame.chunk_nbytes(nchunk)?,
        None => return Ok(BasicHeader::parse(s.held(nchunk))?.nbytes),
    };
    i32::try_from(nbytes).map_err(|_| Error::InvalidHeader)
}

/// Whether a frame has a short chunk that isn't its last, as a change of the order leaves it. The header of a frame
/// of one chunk size can't tell of such a chunk once there are others, or fewer.
fn has_short_inside<S: State + ?Sized>(s: &S, counters: &Counters) -> Result<bool> {
    let chunksize = i64::from(counters.chunksize);
    if s.frame().is_none() || chunksize <= 0 || counters.nbytes % chunksize == 0 {
        return Ok(false);
    }
    let last = usize::try_from(counters.nchunks - 1).map_err(|_| Error::InvalidParam)?;
    Ok(i64::from(nbytes_of(s, last)?) == chunksize)
}

/// The uncompressed size of the last chunk, where there is one size for all; else 0.
fn last_nbytes<S: State + ?Sized>(s: &S, counters: &Counters, nchunks: usize) -> Result<i32> {
    let full = i64::from(counters.chunksize).checked_mul(counters.nchunks);
    match nchunks {
        // None is longer, so none is shorter.
        1.. if counters.chunksize > 0 && full == Some(counters.nbytes) => Ok(counters.chunksize),
        1.. if counters.chunksize > 0 => nbytes_of(s, nchunks - 1),
        _ => Ok(0),
    }
}

/// Changes the frame and returns the bytes of chunks it has then.
fn change_frame<S: State + ?Sized>(
    s: &mut S,
    change: Change<'_>,
    physical: &[(usize, Buffer)],
    after: Counters,
) -> Result<i64> {
    let description = describe(s, after)?;
    let frame = s.frame_mut().ok_or(Error::InvalidParam)?;
    frame.change(change, physical, description)
}

/// The uncompressed bytes after a change that leaves `nchunks` chunks.
///
/// # Errors
/// `refused` when the sizes of a damaged frame contradict its chunks.
fn nbytes_after(
    before: &Counters,
    nchunks: i64,
    (removed, added): (i32, i32),
    refused: ErrorKind,
) -> Result<i64> {
    let nbytes = before
        .nbytes
        .checked_sub(i64::from(removed))
        .and_then(|nbytes| nbytes.checked_add(i64::from(added)));
    match nbytes {
        Some(nbytes) if before.nbytes >= 0 && nbytes >= 0 && (nchunks > 0 || nbytes == 0) => {
            Ok(nbytes)
        }
        _ => Err(refused.into()),
    }
}

/// Adds a chunk behind all others; returns how many there are then.
///
/// # Errors
/// [`Error::InvalidHeader`] for what is no chunk; [`Error::ChunkAppend`] when the chunk doesn't go with the
/// others or the frame can't be written; [`Error::InvalidParam`] when the frame must not be;
/// [`Error::Lock`].
pub fn append<S: State + ?Sized>(s: &mut S, offer: Offer<'_>) -> Result<i64> {
    add(s, None, offer, ErrorKind::ChunkAppend)
}

/// Adds a chunk in front of the one of this number; returns how many there are then.
///
/// # Errors
/// As [`append`], with [`Error::ChunkInsert`]; [`Error::InvalidParam`] when there is no such place.
pub fn insert<S: State + ?Sized>(s: &mut S, nchunk: i64, offer: Offer<'_>) -> Result<i64> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    if nchunk < 0 || nchunk > s.counters().nchunks {
        return Err(Error::InvalidParam);
    }
    add(s, Some(nchunk), offer, ErrorKind::ChunkInsert)
}

fn add<S: State + ?Sized>(
    s: &mut S,
    at: Option<i64>,
    mut offer: Offer<'_>,
    refused: ErrorKind,
) -> Result<i64> {
    let offered = Facts::of(offer.bytes())?;
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    follow(s).map_err(|error| collapse(error, refused))?;
    let before = s.counters();
    let nchunks = usize::try_from(before.nchunks).map_err(|_| refused)?;
    let place = match at {
        None => nchunks,
        Some(at) => usize::try_from(at)
            .ok()
            .filter(|&at| at <= nchunks)
            .ok_or(refused)?,
    };
    if nchunks > 0 && offered.flags2 != before.flags2 & VL_BLOCKS {
        return Err(refused.into());
    }
    let n = offered.nbytes;
    let last = last_nbytes(s, &before, nchunks)?;
    let chunksize = after_adding(&before, at, n, last, refused)?;
    let mut after = Counters {
        chunksize,
        nchunks: before.nchunks + 1,
        nbytes: nbytes_after(&before, before.nchunks + 1, (0, n), refused)?,
        flags2: match nchunks {
            0 => offered.flags2,
            _ => before.flags2,
        },
        ..before
    };
    match s.frame() {
        None => {
            after.cbytes += offer.bytes().len() as i64;
            s.make_room(nchunks)?;
            let chunk = offer.take()?;
            s.hold(nchunks, place, chunk);
        }
        Some(frame) => {
            let short = nchunks == 1 && before.chunksize > 0 && last < before.chunksize;
            if at.is_none() && short && n < before.chunksize {
                return Err(refused.into());
            }
            // In a frame of one chunk size, a chunk without data couldn't be seen.
            if n == 0 || has_short_inside(s, &before).map_err(|error| error.recast(refused))? {
                after.chunksize = VARIABLE;
            }
            let prepared = (|| {
                let physical = match turns_variable(&before, &after) {
                    true => store_specials(frame, s.recorded().typesize, |_| true)?,
                    false => Vec::new(),
                };
                Ok((keep(offer.bytes(), &offered, after.chunksize)?, physical))
            })();
            after.cbytes = prepared
                .and_then(|(kept, physical)| {
                    change_frame(s, Change::Insert(place, kept.stored()), &physical, after)
                })
                .map_err(|error| collapse(error, refused))?;
            offer.done();
        }
    }
    s.set_counters(after);
    s.set_current(place as i64);
    Ok(after.nchunks)
}

/// Compresses data and adds them as a chunk behind all others; returns how many there are then.
///
/// # Errors
/// Those of compression, and of [`append`].
pub fn append_data<S: State + ?Sized>(s: &mut S, src: Source<'_>) -> Result<i64> {
    let chunk = compress_next(s, src)?;
    append(s, Offer::Give(&mut Some(chunk)))
}

/// Compresses data for a chunk behind all others, which is then appended.
///
/// # Errors
/// Those of compression.
pub fn compress_next<S: State + ?Sized>(s: &S, src: Source<'_>) -> Result<Buffer> {
    s.set_current(s.counters().nchunks);
    compress(s, src)
}

/// Compresses data as the super-chunk does.
pub(super) fn compress<S: State + ?Sized>(s: &S, src: Source<'_>) -> Result<Buffer> {
    // The header would say a size that no block can have.
    if s.recorded().typesize <= 0 {
        return Err(Error::InvalidParam);
    }
    let mut chunk = Buffer::zeroed(src.len() + MAX_OVERHEAD)?;
    let len = s.compress(src, &mut chunk)?;
    chunk.resize(len)?;
    chunk.shrink();
    Ok(chunk)
}

/// Puts a chunk in the place of another; returns how many chunks there are.
///
/// # Errors
/// [`Error::InvalidParam`] when there is no such chunk or the frame must not be changed,
/// [`Error::InvalidHeader`] for what is no chunk, [`Error::ChunkUpdate`] when the chunk doesn't go with the
/// others or the frame can't be written, [`Error::Failure`] when the old chunk can't be read,
/// [`Error::Lock`].
pub fn update<S: State + ?Sized>(s: &mut S, nchunk: i64, mut offer: Offer<'_>) -> Result<i64> {
    // Calls that are refused count as changes too, in the generation that the lock keeps.
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    number(&s.counters(), nchunk)?;
    let offered = Facts::of(offer.bytes())?;
    let refused = ErrorKind::ChunkUpdate;
    follow(s).map_err(|error| collapse(error, refused))?;
    let before = s.counters();
    let at = number(&before, nchunk)?;
    if before.nchunks > 1 && offered.flags2 != before.flags2 & VL_BLOCKS {
        return Err(refused.into());
    }
    let old = nbytes_of(s, at).map_err(|error| error.recast(ErrorKind::Failure))?;
    let n = offered.nbytes;
    let mut after = Counters {
        chunksize: after_update(&before, nchunk, n),
        nbytes: nbytes_after(&before, before.nchunks, (old, n), refused)?,
        flags2: match before.nchunks {
            1 => offered.flags2,
            _ => before.flags2,
        },
        ..before
    };
    match s.frame() {
        None => {
            after.cbytes += offer.bytes().len() as i64 - s.held(at).len() as i64;
            let chunk = offer.take()?;
            let old = s.exchange(at, chunk);
            offer.reuse(old);
        }
        Some(frame) => {
            if n == 0 || has_short_inside(s, &before).map_err(|error| error.recast(refused))? {
                after.chunksize = VARIABLE;
            }
            let prepared = (|| {
                let physical = match turns_variable(&before, &after) {
                    true => store_specials(frame, s.recorded().typesize, |other| other != at)?,
                    false => Vec::new(),
                };
                Ok((keep(offer.bytes(), &offered, after.chunksize)?, physical))
            })();
            after.cbytes = prepared
                .and_then(|(kept, physical)| {
                    change_frame(s, Change::Update(at, kept.stored()), &physical, after)
                })
                .map_err(|error| collapse(error, refused))?;
            offer.done();
        }
    }
    s.set_counters(after);
    s.set_current(nchunk);
    Ok(after.nchunks)
}

/// The sizes after a chunk of `nbytes` bytes is gone, but for those of what it is stored in.
fn after_removing(before: &Counters, nbytes: i32) -> Counters {
    let nchunks = before.nchunks - 1;
    Counters {
        nchunks,
        nbytes: before.nbytes - i64::from(nbytes),
        flags2: if nchunks == 0 { 0 } else { before.flags2 },
        ..*before
    }
}

/// Removes a chunk; returns how many are left.
///
/// # Errors
/// As [`update`].
pub fn delete<S: State + ?Sized>(s: &mut S, nchunk: i64) -> Result<i64> {
    let Some(frame) = s.frame() else {
        delete_apart(s, &[nchunk])?;
        return Ok(s.counters().nchunks);
    };
    let _held = frame.lock_exclusive()?;
    number(&s.counters(), nchunk)?;
    let refused = ErrorKind::ChunkUpdate;
    follow(s).map_err(|error| collapse(error, refused))?;
    let before = s.counters();
    let at = number(&before, nchunk)?;
    // What can't be read would leave sizes that nobody knows.
    let old = nbytes_of(s, at).map_err(|error| error.recast(ErrorKind::Failure))?;
    let mut after = after_removing(&before, old);
    after.nbytes = nbytes_after(&before, after.nchunks, (old, 0), refused)?;
    let prepared = match has_short_inside(s, &before).map_err(|error| error.recast(refused))? {
        true => {
            after.chunksize = VARIABLE;
            store_specials(frame, s.recorded().typesize, |other| other != at)
        }
        false => Ok(Vec::new()),
    };
    after.cbytes = prepared
        .and_then(|physical| change_frame(s, Change::Delete(at), &physical, after))
        .map_err(|error| collapse(error, refused))?;
    s.set_counters(after);
    s.set_current(nchunk);
    Ok(after.nchunks)
}

/// Removes several chunks of a super-chunk whose chunks are apart in memory; their numbers go up.
///
/// # Errors
/// [`Error::InvalidParam`] when one of the numbers is no chunk's, [`Error::Failure`] when a chunk can't be read: all
/// are there then.
pub(crate) fn delete_apart<S: State + ?Sized>(s: &mut S, numbers: &[i64]) -> Result<()> {
    let before = s.counters();
    let mut after = before;
    let held = usize::try_from(before.nchunks).map_err(|_| Error::InvalidParam)?;
    let mut gone = Vec::new();
    gone.try_reserve_exact(numbers.len())?;
    for &nchunk in numbers {
        let at = number(&before, nchunk)?;
        // Chunks that are held have sound headers.
        let header = s.held(at).first_chunk().ok_or(Error::Failure)?;
        let header = BasicHeader::read(header);
        gone.push(at);
        after = after_removing(&after, header.nbytes);
        after.cbytes -= i64::from(header.cbytes);
    }
    s.release(held, &gone);
    s.set_counters(after);
    if let Some(&first) = numbers.first() {
        s.set_current(first);
    }
    Ok(())
}

/// Puts the chunks in another order: chunk `i` becomes the one that had the number `order[i]`.
///
/// # Errors
/// [`Error::Data`] when `order` doesn't name each chunk once, and for a frame without chunks; those of the
/// frame.
pub fn reorder<S: State + ?Sized>(s: &mut S, order: &[i64]) -> Result<()> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    follow(s)?;
    let counters = s.counters();
    let order = permutation(order, counters.nchunks)?;
    if s.frame().is_none() {
        return s.permute(&order);
    }
    if order.is_empty() {
        return Err(Error::Data);
    }
    // The short chunk is short because it is the last, and another one would be there: only a stored chunk
    // tells its length itself.
    let last = order.len() - 1;
    let is_short = counters.chunksize > 0 && counters.nbytes % i64::from(counters.chunksize) != 0;
    let physical = match s.frame() {
        Some(frame) if is_short && order[last] != last => {
            store_specials(frame, s.recorded().typesize, |nchunk| {
                nchunk == last || nchunk == order[last]
            })?
        }
        _ => Vec::new(),
    };
    let cbytes = change_frame(s, Change::Reorder(&order), &physical, counters)?;
    s.set_counters(Counters { cbytes, ..counters });
    Ok(())
}

/// Frees the room that nothing in a frame in files needs.
///
/// # Errors
/// Those of [`Frame::compact`]; [`Error::Lock`].
pub fn compact<S: State + ?Sized>(s: &mut S) -> Result<()> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    follow(s)?;
    if let Some(frame) = s.frame_mut() {
        let cbytes = frame.compact()?;
        let counters = s.counters();
        s.set_counters(Counters { cbytes, ..counters });
    }
    Ok(())
}

/// The order as indices, if it names each of `nchunks` chunks once.
fn permutation(order: &[i64], nchunks: i64) -> Result<Vec<usize>> {
    let len = usize::try_from(nchunks).map_err(|_| Error::Data)?;
    if order.len() != len {
        return Err(Error::Data);
    }
    let mut seen = Vec::new();
    seen.try_reserve_exact(len)?;
    seen.resize(len, false);
    let mut indices = Vec::new();
    indices.try_reserve_exact(len)?;
    for &from in order {
        let from = usize::try_from(from).map_err(|_| Error::Data)?;
        match seen.get_mut(from) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(Error::Data),
        }
        indices.push(from);
    }
    Ok(indices)
}

/// Fills an empty super-chunk with `nitems` items that are all one value, in chunks of `chunksize` bytes;
/// returns the number of chunks.
///
/// # Errors
/// [`Error::InvalidParam`] for sizes that can't be; [`Error::FrameSpecial`] when there are chunks already,
/// and in frames for another kind or a chunk size that holds no whole number of items;
/// [`Error::SchunkSpecial`] for too many items, and for the same apart in memory.
pub fn fill<S: State + ?Sized>(
    s: &mut S,
    nitems: i64,
    kind: Special,
    chunksize: i32,
) -> Result<i64> {
    if nitems == 0 {
        return Ok(0);
    }
    let recorded = s.recorded();
    let typesize = recorded.typesize;
    if nitems < 0 || chunksize <= 0 || typesize <= 0 {
        return Err(Error::InvalidParam);
    }
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    follow(s)?;
    let before = s.counters();
    if before.nbytes > 0 || before.cbytes > 0 || before.nchunks > 0 {
        return Err(Error::FrameSpecial);
    }
    if chunksize < typesize {
        return Err(Error::InvalidParam);
    }
    let chunk_items = i64::from(chunksize / typesize);
    if nitems / chunk_items > i64::from(i32::MAX) {
        return Err(Error::SchunkSpecial);
    }
    let nbytes = nitems
        .checked_mul(i64::from(typesize))
        .ok_or(Error::SchunkSpecial)?;
    let refused = match s.frame() {
        Some(_) => ErrorKind::FrameSpecial,
        None => ErrorKind::SchunkSpecial,
    };
    let is_kind = matches!(kind, Special::Zero | Special::Nan | Special::Uninit);
    if !is_kind || chunksize % typesize != 0 {
        return Err(refused.into());
    }
    let nchunks = (nitems - 1) / chunk_items + 1;
    let mut after = Counters {
        chunksize,
        nchunks,
        nbytes,
        ..before
    };
    let params = special_params(&recorded, before.blocksize);
    match s.frame() {
        None => {
            let kept = after_filling(&before, chunksize, nbytes, ErrorKind::SchunkSpecial)?;
            after.cbytes = hold_specials(s, &params, kind, &after)?;
            after.chunksize = kept;
            s.set_current(nchunks - 1);
        }
        Some(_) => {
            let chunk = special::chunk_of(kind, &params, chunksize)?;
            after.blocksize = BasicHeader::parse(&chunk)?.blocksize;
            let count = usize::try_from(nchunks).map_err(|_| refused)?;
            after.cbytes = change_frame(s, Change::Fill(count, kind), &[], after)
                .map_err(|error| collapse(error, refused))?;
        }
    }
    s.set_counters(after);
    Ok(nchunks)
}

fn clamped(nbytes: i64) -> i32 {
    i32::try_from(nbytes).unwrap_or(i32::MAX)
}

/// The parameters that special chunks of a super-chunk are made with.
fn special_params(recorded: &StoredParams, blocksize: i32) -> CParams {
    CParams {
        compcode: i32::from(recorded.compcode),
        clevel: i32::from(recorded.clevel),
        typesize: recorded.typesize,
        blocksize: blocksize.max(0),
        filters: recorded.filters,
        ..CParams::default()
    }
}

/// Adds the chunks of [`fill`] to a super-chunk in memory; returns their bytes.
fn hold_specials<S: State + ?Sized>(
    s: &mut S,
    params: &CParams,
    kind: Special,
    after: &Counters,
) -> Result<i64> {
    let mut held = 0;
    let result = (|| {
        let full = special::chunk_of(kind, params, after.chunksize)?;
        let rest = (after.nbytes - 1) % i64::from(after.chunksize) + 1;
        for nchunk in 0..after.nchunks {
            let chunk = match nchunk == after.nchunks - 1 {
                true => special::chunk_of(kind, params, clamped(rest))?,
                false => Buffer::copy_of(&full)?,
            };
            s.make_room(held)?;
            s.hold(held, held, chunk);
            held += 1;
        }
        Ok(())
    })();
    if let Err(error) = result {
        for at in (0..held).rev() {
            s.release(at + 1, &[at]);
        }
        return Err(error);
    }
    Ok(held as i64 * EXTENDED_HEADER_LENGTH as i64)
}

/// Adds the number of the chunk, and the path of its frame, to an error.
#[cold]
pub(super) fn in_chunk<S: State + ?Sized>(s: &S, nchunk: i64, error: Error) -> Error {
    let error = error.of_chunk(nchunk);
    match s.frame().and_then(Frame::path) {
        Some(path) => error.at(path),
        None => error,
    }
}

/// Looks a chunk up, after the file had its say; `f` gets its number.
fn with_chunk<'a, S: State + ?Sized, T>(
    s: &'a S,
    nchunk: i64,
    f: impl FnOnce(&'a S, usize) -> Result<T>,
) -> Result<T> {
    number(&s.counters(), nchunk)?;
    let _held = s.frame().map(Frame::lock_shared).transpose()?;
    follow(s)?;
    let at = number(&s.counters(), nchunk)?;
    s.set_current(nchunk);
    f(s, at)
}

/// A chunk, where it lies or as a copy.
///
/// # Errors
/// [`Error::InvalidParam`] when there is no such chunk; those of [`Frame::chunk`]; [`Error::Lock`].
pub fn chunk<S: State + ?Sized>(s: &S, nchunk: i64) -> Result<FrameChunk<'_>> {
    with_chunk(s, nchunk, |s, at| match s.frame() {
        Some(frame) => frame.chunk(at),
        None => Ok(FrameChunk::Borrowed(s.held(at))),
    })
    .map_err(|error| in_chunk(s, nchunk, error))
}

/// As [`chunk`], but a chunk in a file is read into `scratch`, which is made larger if needed.
///
/// # Errors
/// As [`chunk`].
pub(crate) fn chunk_into<'a, S: State + ?Sized>(
    s: &'a S,
    nchunk: i64,
    scratch: &'a mut Buffer,
) -> Result<&'a [u8]> {
    with_chunk(s, nchunk, |s, at| match s.frame() {
        Some(frame) => frame.chunk_into(at, scratch),
        None => Ok(s.held(at)),
    })
    .map_err(|error| in_chunk(s, nchunk, error))
}

/// A chunk without its blocks, when they are in a file; else the whole chunk.
///
/// # Errors
/// As [`chunk`].
pub fn lazy_chunk<S: State + ?Sized>(s: &S, nchunk: i64) -> Result<FrameChunk<'_>> {
    with_chunk(s, nchunk, |s, at| match s.frame() {
        Some(frame) => frame.lazy_chunk(at),
        None => Ok(FrameChunk::Borrowed(s.held(at))),
    })
    .map_err(|error| in_chunk(s, nchunk, error))
}

/// Decompresses a chunk; returns its uncompressed bytes.
///
/// # Errors
/// As [`chunk`]; [`Error::InvalidParam`] when `dest` is too short and the chunk is apart in memory,
/// [`Error::WriteBuffer`] when it is in a frame; those of decompression.
pub fn decompress<S: State + ?Sized>(s: &S, nchunk: i64, dest: &mut [u8]) -> Result<usize> {
    decompress_into(s, nchunk, dest).map_err(|error| in_chunk(s, nchunk, error))
}

fn decompress_into<S: State + ?Sized>(s: &S, nchunk: i64, dest: &mut [u8]) -> Result<usize> {
    let chunk = chunk(s, nchunk)?;
    let nbytes = usize::try_from(BasicHeader::parse(&chunk)?.nbytes);
    let nbytes = nbytes.map_err(|_| Error::InvalidHeader)?;
    if nbytes > dest.len() {
        return Err(match s.frame() {
            Some(_) => Error::WriteBuffer,
            None => Error::InvalidParam,
        });
    }
    if nbytes == 0 {
        return Ok(0);
    }
    match s.decompress(&mut |decompressor| decompressor.decompress(&chunk, dest))? {
        size if size == nbytes => Ok(size),
        _ => Err(Error::Failure),
    }
}

/// Decompresses one block of a chunk whose blocks have lengths of their own.
///
/// # Errors
/// As [`chunk`]; [`Error::InvalidParam`] for another kind of chunk, or when it has no such block; those of
/// decompression.
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

/// The chunk size of a super-chunk that has one; a multiple of the item size isn't asked for.
pub(super) fn fixed_chunksize(counters: &Counters) -> Option<i64> {
    match counters.chunksize {
        VARIABLE | UNSET => None,
        chunksize => Some(i64::from(chunksize)).filter(|&chunksize| chunksize > 0),
    }
}
