//! The chunks of a super-chunk.

use crate::bridge::schunk::{CSchunk, Purpose};
use crate::buffers::{chunk_by_header, source};
use crate::types::schunk::blosc2_schunk;
use ferroblosc::chunk::{MAX_OVERHEAD, Special};
use ferroblosc::frame::FrameChunk;
use ferroblosc::schunk::State;
use ferroblosc::schunk::chunks::{self, NewChunk};
use ferroblosc::{Buffer, Error, ErrorKind, Result};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null_mut};

/// Offers a chunk of the caller's to `take`, as a copy or, when it succeeds, for good. What the super-chunk
/// lent is its own already, so it is always copied.
///
/// # Safety
/// `chunk` is NULL or a chunk, readable for the bytes its header says; a block of malloc unless `copy` or
/// the super-chunk lent it.
unsafe fn offered(
    schunk: CSchunk,
    chunk: *mut u8,
    copy: bool,
    take: impl FnOnce(NewChunk<'_>) -> Result<i64>,
) -> Result<i64> {
    // SAFETY: promised by the caller.
    let len = unsafe { chunk_by_header(chunk.cast()) }
        .map_err(|error| match error.kind() {
            ErrorKind::ReadBuffer => error.recast(ErrorKind::InvalidHeader),
            _ => error,
        })?
        .len();
    let is_apart = schunk.frame().is_none();
    let must_copy = (copy && is_apart)
        || schunk.may_lend(chunk, len)
        || (is_apart && schunk.has_chunk_at(chunk));
    if must_copy {
        // SAFETY: promised by the caller; nothing is written while the bytes are copied.
        let copied = Buffer::copy_of(unsafe { std::slice::from_raw_parts(chunk, len) })?;
        return take(NewChunk::Give(&mut Some(copied)));
    }
    if copy {
        // SAFETY: promised by the caller; no change of the super-chunk touches the bytes.
        return take(NewChunk::Copy(unsafe {
            std::slice::from_raw_parts(chunk, len)
        }));
    }
    let block = NonNull::new(chunk).ok_or(Error::InvalidParam)?;
    // SAFETY: promised by the caller; when the call fails, the block is given back below.
    let mut given = Some(unsafe { Buffer::from_raw(block, len) });
    let result = take(NewChunk::Give(&mut given));
    if let Some(buffer) = given {
        // Nobody took it: it stays the caller's.
        let _ = buffer.into_raw();
    }
    result
}

/// Adds a chunk behind all others. With copy it is copied; without, it is a block of malloc that the
/// super-chunk owns when the call succeeds. A chunk that the super-chunk lent may be added too: it is copied
/// either way. Gives the number of chunks, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_append_chunk(
    schunk: *mut blosc2_schunk,
    chunk: *mut u8,
    copy: bool,
) -> i64 {
    boundary!(blosc2_schunk_append_chunk, {
        // SAFETY: the caller gives a super-chunk and a chunk, or NULL.
        unsafe {
            let mut schunk = CSchunk::enter(schunk, Purpose::Change)?;
            offered(*schunk, chunk, copy, |offer| {
                chunks::append(&mut *schunk, offer)
            })
        }
    })
}

/// Compresses nbytes bytes at src and adds them as a chunk behind all others. Gives the number of
/// chunks, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_append_buffer(
    schunk: *mut blosc2_schunk,
    src: *const c_void,
    nbytes: i32,
) -> i64 {
    boundary!(blosc2_schunk_append_buffer, {
        // SAFETY: the caller gives a super-chunk and nbytes bytes, or NULL.
        unsafe {
            let schunk = CSchunk::new(schunk)?;
            // A negative size makes a destination that can hold no chunk, which is judged first.
            let room = usize::try_from(nbytes).map_or(0, |nbytes| nbytes + MAX_OVERHEAD);
            // Others read meanwhile, and so may a prefilter. A change may move what `src` points to, which
            // isn't used any more then.
            let chunk = chunks::compress_next(&schunk, source(src, nbytes, room)?)?;
            let mut schunk = schunk.entered(Purpose::Change)?;
            chunks::append(&mut *schunk, NewChunk::Give(&mut Some(chunk)))
        }
    })
}

/// Adds a chunk in front of chunk nchunk, as blosc2_schunk_append_chunk() does. Gives the number of
/// chunks, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_insert_chunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    chunk: *mut u8,
    copy: bool,
) -> i64 {
    boundary!(blosc2_schunk_insert_chunk, {
        // SAFETY: the caller gives a super-chunk and a chunk, or NULL.
        unsafe {
            let mut schunk = CSchunk::enter(schunk, Purpose::Change)?;
            offered(*schunk, chunk, copy, |offer| {
                chunks::insert(&mut *schunk, nchunk, offer)
            })
        }
    })
}

/// Puts a chunk in the place of chunk nchunk, as blosc2_schunk_append_chunk() does. Gives the number of
/// chunks, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_update_chunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    chunk: *mut u8,
    copy: bool,
) -> i64 {
    boundary!(blosc2_schunk_update_chunk, {
        // SAFETY: the caller gives a super-chunk and a chunk, or NULL.
        unsafe {
            let mut schunk = CSchunk::enter(schunk, Purpose::Change)?;
            offered(*schunk, chunk, copy, |offer| {
                chunks::update(&mut *schunk, nchunk, offer)
            })
        }
    })
}

/// Removes chunk nchunk. Gives the number of chunks, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_delete_chunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
) -> i64 {
    boundary!(blosc2_schunk_delete_chunk, {
        // SAFETY: the caller gives a super-chunk, or NULL.
        let mut schunk = unsafe { CSchunk::enter(schunk, Purpose::Change) }?;
        chunks::delete(&mut *schunk, nchunk)
    })
}

/// Puts the chunks in another order: entry i of offsets_order is the number of the chunk that becomes
/// chunk i. Gives 0 or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_reorder_offsets(
    schunk: *mut blosc2_schunk,
    offsets_order: *mut i64,
) -> c_int {
    boundary!(blosc2_schunk_reorder_offsets, {
        // SAFETY: the caller gives a super-chunk and as many numbers as it has chunks, or NULL.
        unsafe {
            let mut schunk = CSchunk::enter(schunk, Purpose::Change)?;
            let nchunks = usize::try_from(schunk.counters().nchunks).unwrap_or(0);
            let mut order: Vec<i64> = Vec::new();
            order.try_reserve_exact(nchunks)?;
            match (nchunks, offsets_order.is_null()) {
                (0, _) => {}
                (_, true) => return Err(Error::InvalidParam),
                _ => order.extend_from_slice(std::slice::from_raw_parts(offsets_order, nchunks)),
            }
            chunks::reorder(&mut *schunk, &order)?;
        }
        Ok(0)
    })
}

/// Fills an empty super-chunk with nitems items of BLOSC2_SPECIAL_ZERO, BLOSC2_SPECIAL_NAN or
/// BLOSC2_SPECIAL_UNINIT, in chunks of chunksize bytes. Gives the number of chunks, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_fill_special(
    schunk: *mut blosc2_schunk,
    nitems: i64,
    special_value: c_int,
    chunksize: i32,
) -> i64 {
    boundary!(blosc2_schunk_fill_special, {
        // SAFETY: the caller gives a super-chunk, or NULL.
        let mut schunk = unsafe { CSchunk::enter(schunk, Purpose::Change) }?;
        let kind = Special::from_number(special_value);
        chunks::fill(&mut *schunk, nitems, kind, chunksize)
    })
}

/// Decompresses chunk nchunk to dest, which has room for nbytes bytes. Gives the bytes of the chunk, or
/// an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_decompress_chunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    dest: *mut c_void,
    nbytes: i32,
) -> c_int {
    boundary!(blosc2_schunk_decompress_chunk, {
        // SAFETY: the caller gives a super-chunk and room for nbytes bytes, or NULL.
        unsafe {
            let schunk = CSchunk::enter(schunk, Purpose::Read)?;
            schunk.check_destination(dest, usize::try_from(nbytes).unwrap_or(0), nchunk)?;
            let dest = pointers::bytes_mut(dest, nbytes.max(0))?;
            Ok(chunks::decompress(&*schunk, nchunk, dest)? as c_int)
        }
    })
}

/// Hands a chunk over: where it lies, or as a block of malloc that the caller frees.
///
/// # Safety
/// `schunk` is NULL or a super-chunk, `chunk` and `needs_free` are NULL or room for a value.
unsafe fn hand_over(
    schunk: *mut blosc2_schunk,
    (chunk, needs_free): (*mut *mut u8, *mut bool),
    get: impl FnOnce(&CSchunk) -> Result<FrameChunk<'_>>,
) -> Result<c_int> {
    // SAFETY: promised by the caller.
    let schunk = unsafe {
        pointers::write_if_given(chunk, null_mut());
        pointers::write_if_given(needs_free, false);
        CSchunk::enter(schunk, Purpose::Look)?
    };
    if chunk.is_null() || needs_free.is_null() {
        return Err(Error::InvalidParam);
    }
    // SAFETY: neither is NULL, and the caller gives room for both.
    let give = |start: *mut u8, owned: bool| unsafe {
        chunk.write(start);
        needs_free.write(owned);
    };
    match get(&schunk) {
        Ok(FrameChunk::Borrowed(bytes)) => {
            give(bytes.as_ptr().cast_mut(), false);
            Ok(bytes.len() as c_int)
        }
        Ok(FrameChunk::Owned(buffer)) => {
            let len = buffer.len();
            give(buffer.into_raw(), true);
            Ok(len as c_int)
        }
        Err(error) => Err(error),
    }
}

/// Stores where chunk nchunk is in *chunk, and in *needs_free whether the caller must free() it. What
/// needs no free is valid until the super-chunk changes, by any call in any thread, or is freed. Gives the
/// bytes of the chunk, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_chunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
) -> c_int {
    boundary!(blosc2_schunk_get_chunk, {
        // SAFETY: the caller gives a super-chunk and room for the results, or NULL.
        unsafe {
            hand_over(schunk, (chunk, needs_free), |schunk| {
                chunks::chunk(schunk, nchunk)
            })
        }
    })
}

/// As blosc2_schunk_get_chunk(), but of a chunk in a file only the header and where the blocks are.
/// Such a chunk is read by contexts of this super-chunk; the size to tell them is the one given
/// here. Gives its length in bytes, or an error code, and tells by needs_free whether the caller
/// frees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_lazychunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
) -> c_int {
    boundary!(blosc2_schunk_get_lazychunk, {
        // SAFETY: the caller gives a super-chunk and room for the results, or NULL.
        unsafe {
            hand_over(schunk, (chunk, needs_free), |schunk| {
                chunks::lazy_chunk(schunk, nchunk)
            })
        }
    })
}

/// Decompresses block nblock of chunk nchunk, whose blocks have lengths of their own, into a buffer that
/// the caller frees; stores it in *dest and its size in *destsize. Gives the size, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_vlblock(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    nblock: i32,
    dest: *mut *mut u8,
    destsize: *mut i32,
) -> c_int {
    boundary!(blosc2_schunk_get_vlblock, {
        // SAFETY: the caller gives room for the results, or NULL.
        unsafe {
            pointers::write_if_given(dest, null_mut());
            pointers::write_if_given(destsize, 0);
        }
        if schunk.is_null() || dest.is_null() || destsize.is_null() {
            return Err(match schunk.is_null() {
                true => Error::NullPointer,
                false => Error::InvalidParam,
            });
        }
        // SAFETY: the caller gives a super-chunk and room for the results.
        unsafe {
            let schunk = CSchunk::enter(schunk, Purpose::Read)?;
            let block = chunks::vl_block(&*schunk, nchunk, i64::from(nblock))?;
            let len = i32::try_from(block.len()).map_err(|_| Error::Data)?;
            destsize.write(len);
            dest.write(block.into_raw());
            Ok(len)
        }
    })
}

/// The offsets of the chunks as the frame stores them, in memory that the caller frees; NULL for a
/// super-chunk without frame or without chunks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_frame_get_offsets(schunk: *mut blosc2_schunk) -> *mut i64 {
    boundary!(blosc2_frame_get_offsets, {
        // SAFETY: the caller gives a super-chunk, or NULL.
        let schunk = unsafe { CSchunk::enter(schunk, Purpose::Look) }?;
        let frame = schunk.frame().ok_or(Error::InvalidParam)?;
        give_numbers(&frame.offsets()?.to_vec()?)
    })
}

/// Numbers in memory that the caller frees; NULL for none.
pub(crate) fn give_numbers(numbers: &[i64]) -> Result<*mut i64> {
    if numbers.is_empty() {
        return Ok(null_mut());
    }
    let mut buffer = Buffer::zeroed(size_of_val(numbers))?;
    for (bytes, number) in buffer.chunks_exact_mut(size_of::<i64>()).zip(numbers) {
        bytes.copy_from_slice(&number.to_ne_bytes());
    }
    Ok(buffer.into_raw().cast())
}
