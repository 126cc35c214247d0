//! Changes of whole chunks: append, insert, update, delete, reorder and fill. `read.rs` reads them.
//!
//! Each operation validates and prepares its input first, then changes the frame or memory, and
//! sets the counters last. A failed call leaves the super-chunk unchanged.

use super::chunksize_policy::{VARIABLE, after_adding, after_filling, after_update};
use super::describe::{describe, refresh_from_file};
use super::new_chunk::ChunkInfo;
pub use super::new_chunk::NewChunk;
pub(crate) use super::read::chunk_into;
pub(super) use super::read::{check, decompress_to_vec, fixed_chunksize, in_chunk, nbytes};
pub use super::read::{chunk, copied, decompress, equal_run, lazy_chunk, special_run, vl_block};
use super::read::{nbytes_of, number};
use super::state::State;
use super::stored::{StoredForm, store_specials, stored_form, turns_variable};
use crate::chunk::{
    BasicHeader, CParams, EXTENDED_HEADER_LENGTH, MAX_OVERHEAD, Source, Special, special,
};
use crate::frame::{Change, Counters, Frame, StoredParams, VL_BLOCKS};
use crate::{Buffer, Error, ErrorKind, Result};

/// Replaces a frame error with the error code of the operation. Invalid parameters and lock errors
/// are returned unchanged.
fn collapse(error: Error, to: ErrorKind) -> Error {
    match error.kind() {
        ErrorKind::InvalidParam | ErrorKind::Lock => error,
        _ => error.recast(to),
    }
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
        _ => Err(Error::from(refused).because("the sizes in the frame do not match its chunks")),
    }
}

/// Returns the error of a chunk with blocks of variable length among others, or the reverse.
fn mixed(refused: ErrorKind) -> Error {
    Error::from(refused)
        .because("chunks with and without blocks of variable length cannot be mixed")
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
        return Err(mixed(refused));
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
                let text = format!(
                    "the chunk has {n} bytes, and follows a single chunk of {last} bytes; the chunk size of the frame is {}",
                    before.chunksize
                );
                return Err(Error::from(refused).because(text));
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
        return Err(mixed(refused));
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
        return Err(Error::FrameSpecial.because("the super-chunk is not empty"));
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
