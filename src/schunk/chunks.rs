//! Operations on whole chunks: append, insert, update, delete, reorder, fill and read.
//!
//! Each operation validates and prepares its input first, then changes the frame or memory, and
//! sets the counters last. A failed call leaves the super-chunk unchanged.

use super::chunksize_policy::{UNSET, VARIABLE, after_adding, after_filling, after_update};
use super::describe::{describe, refresh_from_file};
use super::new_chunk::ChunkInfo;
pub use super::new_chunk::NewChunk;
use super::state::State;
use super::stored::{StoredForm, store_specials, stored_form, turns_variable};
use crate::chunk::{
    BasicHeader, CParams, ChunkHeader, EXTENDED_HEADER_LENGTH, MAX_OVERHEAD, Source, Special,
    fill_special, special,
};
use crate::frame::{Change, Counters, Frame, FrameChunk, StoredParams, VL_BLOCKS};
use crate::{Buffer, Error, ErrorKind, Result, item};

/// Converts a chunk index, after checking that the chunk exists.
fn number(counters: &Counters, nchunk: i64) -> Result<usize> {
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

/// Replaces a frame error with the error code of the operation. Invalid parameters and lock errors
/// are returned unchanged.
fn collapse(error: Error, to: ErrorKind) -> Error {
    match error.kind() {
        ErrorKind::InvalidParam | ErrorKind::Lock => error,
        _ => error.recast(to),
    }
}

/// Returns the uncompressed size of a chunk, in bytes.
///
/// The number of chunks of a frame with a fixed chunk size follows from their total size, so that a
/// wrong size would make it unreadable after the chunk is replaced or deleted. If the header of the
/// chunk is damaged, the size is that which the other chunks leave.
///
/// # Errors
/// [`Error::InvalidHeader`] if that is not the size of a chunk, the errors of [`Frame::chunk`].
fn nbytes_of<S: State + ?Sized>(s: &S, nchunk: usize) -> Result<i32> {
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

/// Whether a frame has a short chunk before its last one, which reordering can cause. The header of
/// a frame with a fixed chunk size cannot express this after the number of chunks changes.
fn has_short_inside<S: State + ?Sized>(s: &S, counters: &Counters) -> Result<bool> {
    let chunksize = i64::from(counters.chunksize);
    if s.frame().is_none() || chunksize <= 0 || counters.nbytes % chunksize == 0 {
        return Ok(false);
    }
    let last = usize::try_from(counters.nchunks - 1).map_err(|_| Error::InvalidParam)?;
    Ok(i64::from(nbytes_of(s, last)?) == chunksize)
}

/// Returns the uncompressed size of the last chunk in bytes, or 0 if the chunk size is variable or
/// there is no chunk.
fn last_nbytes<S: State + ?Sized>(s: &S, counters: &Counters, nchunks: usize) -> Result<i32> {
    let full = i64::from(counters.chunksize).checked_mul(counters.nchunks);
    match nchunks {
        // The total is that of full chunks, and no chunk is longer, so none is shorter.
        1.. if counters.chunksize > 0 && full == Some(counters.nbytes) => Ok(counters.chunksize),
        1.. if counters.chunksize > 0 => nbytes_of(s, nchunks - 1),
        _ => Ok(0),
    }
}

/// Changes the frame and returns the compressed bytes of its chunks.
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

/// Inserts a chunk into the frame, or replaces the one at the index; returns the compressed size of
/// all chunks. If the chunk size becomes variable, special chunks are stored as data.
fn store<S: State + ?Sized>(
    s: &mut S,
    (index, replaces): (usize, bool),
    new_chunk: &NewChunk<'_>,
    info: &ChunkInfo,
    (before, after): (&Counters, Counters),
) -> Result<i64> {
    let typesize = s.recorded().typesize;
    let physical = match s.frame() {
        Some(frame) if turns_variable(before, &after) => {
            store_specials(frame, typesize, |other| !replaces || other != index)?
        }
        _ => Vec::new(),
    };
    let form = stored_form(new_chunk.bytes(), info, typesize, after.chunksize)?;
    let chunk = form.stored(new_chunk.is_unverified());
    let change = if replaces { Change::Update(index, chunk) } else { Change::Insert(index, chunk) };
    change_frame(s, change, &physical, after)
}

/// Returns the total of uncompressed bytes after a change that leaves `nchunks` chunks.
///
/// # Errors
/// `refused` if the sizes in a damaged frame are inconsistent with its chunks.
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

/// Appends a chunk and returns the new number of chunks.
///
/// # Errors
/// [`Error::InvalidHeader`] if the bytes are not a chunk; [`Error::ChunkAppend`] if the chunk does
/// not match the others or the frame cannot be written; [`Error::InvalidParam`] if the frame is
/// read-only; [`Error::Lock`].
pub fn append<S: State + ?Sized>(s: &mut S, new_chunk: NewChunk<'_>) -> Result<i64> {
    add(s, None, new_chunk, ErrorKind::ChunkAppend)
}

/// Inserts a chunk before chunk `nchunk` and returns the new number of chunks.
///
/// # Errors
/// Returns the same errors as [`append`], with [`Error::ChunkInsert`]; [`Error::InvalidParam`] if
/// `nchunk` is out of range.
pub fn insert<S: State + ?Sized>(s: &mut S, nchunk: i64, new_chunk: NewChunk<'_>) -> Result<i64> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    if nchunk < 0 || nchunk > s.counters().nchunks {
        return Err(Error::InvalidParam);
    }
    add(s, Some(nchunk), new_chunk, ErrorKind::ChunkInsert)
}

fn add<S: State + ?Sized>(
    s: &mut S,
    at: Option<i64>,
    mut new_chunk: NewChunk<'_>,
    refused: ErrorKind,
) -> Result<i64> {
    let info = ChunkInfo::of(new_chunk.bytes())?;
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    refresh_from_file(s).map_err(|error| collapse(error, refused))?;
    let before = s.counters();
    let nchunks = usize::try_from(before.nchunks).map_err(|_| refused)?;
    let index = match at {
        None => nchunks,
        Some(at) => usize::try_from(at).ok().filter(|&at| at <= nchunks).ok_or(refused)?,
    };
    if nchunks > 0 && info.flags2 != before.flags2 & VL_BLOCKS {
        return Err(refused.into());
    }
    let n = info.nbytes;
    let last = last_nbytes(s, &before, nchunks)?;
    let chunksize = after_adding(&before, at, n, last, refused)?;
    let mut after = Counters {
        chunksize,
        nchunks: before.nchunks + 1,
        nbytes: nbytes_after(&before, before.nchunks + 1, (0, n), refused)?,
        flags2: match nchunks {
            0 => info.flags2,
            _ => before.flags2,
        },
        ..before
    };
    match s.frame() {
        None => {
            after.cbytes += new_chunk.bytes().len() as i64;
            s.reserve_chunk(nchunks)?;
            let chunk = new_chunk.take()?;
            s.insert(nchunks, index, chunk);
        }
        Some(_) => {
            let short = nchunks == 1 && before.chunksize > 0 && last < before.chunksize;
            if at.is_none() && short && n < before.chunksize {
                return Err(refused.into());
            }
            // A frame with a fixed chunk size cannot represent an empty chunk.
            if n == 0 || has_short_inside(s, &before).map_err(|error| error.recast(refused))? {
                after.chunksize = VARIABLE;
            }
            let stored = store(s, (index, false), &new_chunk, &info, (&before, after));
            after.cbytes = stored.map_err(|error| collapse(error, refused))?;
            new_chunk.done();
        }
    }
    s.set_counters(after);
    s.set_current(index as i64);
    Ok(after.nchunks)
}

/// Inserts chunks of one repeated value into a frame, as one change. `chunk` is one of them, and
/// `at` contains their numbers after the change, in ascending order. Returns `false`, and changes
/// nothing, unless all chunks have the same size and need no bytes in the frame.
///
/// # Errors
/// Returns the same errors as [`insert`].
pub fn insert_special<S: State + ?Sized>(s: &mut S, at: &[usize], chunk: &[u8]) -> Result<bool> {
    let refused = ErrorKind::ChunkInsert;
    let info = ChunkInfo::of(chunk)?;
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    refresh_from_file(s).map_err(|error| collapse(error, refused))?;
    let before = s.counters();
    let full = i64::from(before.chunksize).checked_mul(before.nchunks);
    let is_uniform = before.chunksize > 0
        && before.chunksize == info.nbytes
        && full == Some(before.nbytes)
        && before.nchunks > 0
        && info.flags2 == before.flags2 & VL_BLOCKS;
    if s.frame().is_none() || at.is_empty() || !is_uniform {
        return Ok(false);
    }
    let typesize = s.recorded().typesize;
    let StoredForm::Special(kind) = stored_form(chunk, &info, typesize, before.chunksize)? else {
        return Ok(false);
    };
    let count = i64::try_from(at.len()).map_err(|_| refused)?;
    let nchunks = before.nchunks.checked_add(count).ok_or(refused)?;
    let nbytes = i64::from(before.chunksize).checked_mul(nchunks).ok_or(refused)?;
    let mut after = Counters { nchunks, nbytes, ..before };
    after.cbytes = change_frame(s, Change::InsertSpecial(at, kind), &[], after)
        .map_err(|error| collapse(error, refused))?;
    s.set_counters(after);
    Ok(true)
}

/// Compresses data, appends the chunk and returns the new number of chunks.
///
/// # Errors
/// Returns the errors of compression and of [`append`].
pub fn append_data<S: State + ?Sized>(s: &mut S, src: Source<'_>) -> Result<i64> {
    let chunk = compress_next(s, src)?;
    append(s, NewChunk::Give(&mut Some(chunk)))
}

/// Compresses data into a chunk that the caller appends.
///
/// # Errors
/// Returns the errors of compression.
pub fn compress_next<S: State + ?Sized>(s: &S, src: Source<'_>) -> Result<Buffer> {
    s.set_current(s.counters().nchunks);
    compress(s, src)
}

/// Compresses data into a chunk that the caller stores as chunk `nchunk`.
///
/// # Errors
/// Returns the errors of compression.
pub(super) fn compress_for<S: State + ?Sized>(
    s: &S,
    nchunk: i64,
    src: Source<'_>,
) -> Result<Buffer> {
    s.set_current(nchunk);
    compress(s, src)
}

/// Compresses data with the parameters of the super-chunk.
pub(super) fn compress<S: State + ?Sized>(s: &S, src: Source<'_>) -> Result<Buffer> {
    // The chunk header would record an invalid block size.
    if s.recorded().typesize <= 0 {
        return Err(Error::InvalidParam);
    }
    let mut chunk = Buffer::unspecified(src.len() + MAX_OVERHEAD)?;
    let len = s.compress(src, &mut chunk)?;
    chunk.resize(len)?;
    chunk.shrink();
    Ok(chunk)
}

/// Replaces a chunk and returns the number of chunks.
///
/// # Errors
/// [`Error::InvalidParam`] if there is no such chunk or the frame is read-only,
/// [`Error::InvalidHeader`] if the bytes are not a chunk, [`Error::ChunkUpdate`] if the chunk does
/// not match the others or the frame cannot be written, [`Error::Failure`] if the old chunk cannot
/// be read, [`Error::Lock`].
pub fn update<S: State + ?Sized>(
    s: &mut S,
    nchunk: i64,
    mut new_chunk: NewChunk<'_>,
) -> Result<i64> {
    // The lock is acquired before the validation, so that its generation counts refused calls, too.
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    number(&s.counters(), nchunk)?;
    let info = ChunkInfo::of(new_chunk.bytes())?;
    let refused = ErrorKind::ChunkUpdate;
    refresh_from_file(s).map_err(|error| collapse(error, refused))?;
    let before = s.counters();
    let at = number(&before, nchunk)?;
    if before.nchunks > 1 && info.flags2 != before.flags2 & VL_BLOCKS {
        return Err(refused.into());
    }
    let old = nbytes_of(s, at).map_err(|error| error.recast(ErrorKind::Failure))?;
    let n = info.nbytes;
    let mut after = Counters {
        chunksize: after_update(&before, nchunk, n),
        nbytes: nbytes_after(&before, before.nchunks, (old, n), refused)?,
        flags2: match before.nchunks {
            1 => info.flags2,
            _ => before.flags2,
        },
        ..before
    };
    match s.frame() {
        None => {
            after.cbytes += new_chunk.bytes().len() as i64 - s.chunk(at).len() as i64;
            let chunk = new_chunk.take()?;
            let old = s.exchange(at, chunk);
            new_chunk.reuse(old);
        }
        Some(_) => {
            if n == 0 || has_short_inside(s, &before).map_err(|error| error.recast(refused))? {
                after.chunksize = VARIABLE;
            }
            let stored = store(s, (at, true), &new_chunk, &info, (&before, after));
            after.cbytes = stored.map_err(|error| collapse(error, refused))?;
            new_chunk.done();
        }
    }
    s.set_counters(after);
    s.set_current(nchunk);
    Ok(after.nchunks)
}

/// Returns the counters after removal of a chunk of `nbytes` bytes; `cbytes` is left to the caller.
fn after_removing(before: &Counters, nbytes: i32) -> Counters {
    let nchunks = before.nchunks - 1;
    Counters {
        nchunks,
        nbytes: before.nbytes - i64::from(nbytes),
        flags2: if nchunks == 0 { 0 } else { before.flags2 },
        ..*before
    }
}

/// Deletes a chunk and returns the number of chunks left.
///
/// # Errors
/// Returns the same errors as [`update`].
pub fn delete<S: State + ?Sized>(s: &mut S, nchunk: i64) -> Result<i64> {
    let Some(frame) = s.frame() else {
        delete_apart(s, &[nchunk])?;
        return Ok(s.counters().nchunks);
    };
    let _held = frame.lock_exclusive()?;
    number(&s.counters(), nchunk)?;
    let refused = ErrorKind::ChunkUpdate;
    refresh_from_file(s).map_err(|error| collapse(error, refused))?;
    let before = s.counters();
    let at = number(&before, nchunk)?;
    // Deleting an unreadable chunk would leave the sizes undefined.
    let old = nbytes_of(s, at).map_err(|error| error.recast(ErrorKind::Failure))?;
    let mut after = after_removing(&before, old);
    after.nbytes = nbytes_after(&before, after.nchunks, (old, 0), refused)?;
    let prepared = if has_short_inside(s, &before).map_err(|error| error.recast(refused))? {
        after.chunksize = VARIABLE;
        store_specials(frame, s.recorded().typesize, |other| other != at)
    } else {
        Ok(Vec::new())
    };
    after.cbytes = prepared
        .and_then(|physical| change_frame(s, Change::Delete(at), &physical, after))
        .map_err(|error| collapse(error, refused))?;
    s.set_counters(after);
    s.set_current(nchunk);
    Ok(after.nchunks)
}

/// Deletes several chunks of a frame in a transaction, as one change. `numbers` are in ascending
/// order. Returns `false`, and changes nothing, unless the transaction defers its changes and all
/// chunks have the same size.
///
/// # Errors
/// Returns the same errors as [`delete`].
pub(crate) fn delete_deferred<S: State + ?Sized>(s: &mut S, numbers: &[i64]) -> Result<bool> {
    if s.frame().is_some_and(Frame::defers_changes) {
        delete_at_once(s, numbers)
    } else {
        Ok(false)
    }
}

/// Deletes several chunks of a frame as one change. `numbers` are in ascending order. Returns
/// `false`, and changes nothing, unless all chunks have the same size.
///
/// # Errors
/// Returns the same errors as [`delete`].
pub(crate) fn delete_at_once<S: State + ?Sized>(s: &mut S, numbers: &[i64]) -> Result<bool> {
    let refused = ErrorKind::ChunkUpdate;
    refresh_from_file(s).map_err(|error| collapse(error, refused))?;
    let before = s.counters();
    let full = i64::from(before.chunksize).checked_mul(before.nchunks);
    let is_uniform = before.chunksize > 0 && full == Some(before.nbytes);
    let (Some(&first), true) = (numbers.first(), is_uniform) else {
        return Ok(false);
    };
    let mut after = before;
    let mut gone = Vec::new();
    gone.try_reserve_exact(numbers.len())?;
    for &nchunk in numbers {
        gone.push(number(&before, nchunk)?);
        after = after_removing(&after, before.chunksize);
    }
    after.cbytes = change_frame(s, Change::DeleteAll(&gone), &[], after)
        .map_err(|error| collapse(error, refused))?;
    s.set_counters(after);
    s.set_current(first);
    Ok(true)
}

/// Deletes several chunks of a super-chunk in memory without a frame. `numbers` are in ascending
/// order.
///
/// # Errors
/// [`Error::InvalidParam`] for a view and if one of the chunks does not exist, [`Error::Failure`]
/// if a chunk cannot be read. The super-chunk is unchanged in both cases.
pub(crate) fn delete_apart<S: State + ?Sized>(s: &mut S, numbers: &[i64]) -> Result<()> {
    if !s.owns_chunks() {
        return Err(Error::InvalidParam);
    }
    let before = s.counters();
    let mut after = before;
    let held = usize::try_from(before.nchunks).map_err(|_| Error::InvalidParam)?;
    let mut gone = Vec::new();
    gone.try_reserve_exact(numbers.len())?;
    for &nchunk in numbers {
        let at = number(&before, nchunk)?;
        // Chunks in memory were validated when they were added.
        let header = s.chunk(at).first_chunk().ok_or(Error::Failure)?;
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

/// Reorders the chunks: new chunk `i` is old chunk `order[i]`.
///
/// # Errors
/// [`Error::Data`] if `order` is not a permutation, and for a frame without chunks; the errors of
/// the frame.
pub fn reorder<S: State + ?Sized>(s: &mut S, order: &[i64]) -> Result<()> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    refresh_from_file(s)?;
    let counters = s.counters();
    let order = permutation(order, counters.nchunks)?;
    if s.frame().is_none() {
        return s.permute(&order);
    }
    if order.is_empty() {
        return Err(Error::Data);
    }
    // The length of a special chunk follows from its position. The short last chunk moves, so it
    // and the new last chunk are written as chunks that record their length.
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

/// Removes unused space from a frame in files.
///
/// # Errors
/// Returns the errors of [`Frame::compact`]; [`Error::Lock`].
pub fn compact<S: State + ?Sized>(s: &mut S) -> Result<()> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    refresh_from_file(s)?;
    if let Some(frame) = s.frame_mut() {
        let cbytes = frame.compact()?;
        let counters = s.counters();
        s.set_counters(Counters { cbytes, ..counters });
    }
    Ok(())
}

/// Converts `order` to indices, if it is a permutation of `0..nchunks`.
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

/// Fills an empty super-chunk with `nitems` equal items, in chunks of `chunksize` bytes; returns
/// the number of chunks.
///
/// # Errors
/// [`Error::InvalidParam`] for invalid sizes; [`Error::FrameSpecial`] if there are chunks already,
/// and in frames for other kinds of special value or a chunk size that is not a multiple of the
/// item size; [`Error::SchunkSpecial`] for too many items, and for the latter two cases in memory.
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
    refresh_from_file(s)?;
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
    let nbytes = nitems.checked_mul(i64::from(typesize)).ok_or(Error::SchunkSpecial)?;
    let refused = match s.frame() {
        Some(_) => ErrorKind::FrameSpecial,
        None => ErrorKind::SchunkSpecial,
    };
    let is_kind = matches!(kind, Special::Zero | Special::Nan | Special::Uninit);
    if !is_kind || chunksize % typesize != 0 {
        return Err(refused.into());
    }
    let nchunks = (nitems - 1) / chunk_items + 1;
    let mut after = Counters { chunksize, nchunks, nbytes, ..before };
    let params = special_params(&recorded, before.blocksize);
    match s.frame() {
        None => {
            let kept = after_filling(&before, chunksize, nbytes, ErrorKind::SchunkSpecial)?;
            after.cbytes = insert_specials(s, &params, kind, &after)?;
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

/// Returns the parameters of the super-chunk's special chunks.
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

/// Adds the chunks of [`fill`] to a super-chunk in memory; returns their total size in bytes.
fn insert_specials<S: State + ?Sized>(
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
            let chunk = if nchunk == after.nchunks - 1 {
                special::chunk_of(kind, params, clamped(rest))?
            } else {
                Buffer::copy_of(&full)?
            };
            s.reserve_chunk(held)?;
            s.insert(held, held, chunk);
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
