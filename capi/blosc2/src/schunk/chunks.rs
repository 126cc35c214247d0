//! Functions that read and change the chunks of a super-chunk.

use crate::bridge::schunk::{CSchunk, Purpose};
use crate::buffers::{header, source, whole_chunk};
use crate::types::flag::{Flag, is_set};
use crate::types::schunk::blosc2_schunk;
use ferroblosc::chunk::header::is_lazy;
use ferroblosc::chunk::{BasicHeader, EXTENDED_HEADER_LENGTH, MAX_OVERHEAD, Special};
use ferroblosc::frame::FrameChunk;
use ferroblosc::schunk::State;
use ferroblosc::schunk::chunks::{self, NewChunk};
use ferroblosc::{Buffer, Error, ErrorKind, Result};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null_mut};

/// Passes a chunk of the caller to `take`: as a borrowed slice, as a copy, or with its ownership.
/// In the last case the super-chunk owns the chunk if the call succeeds. Memory that the
/// super-chunk lent is always copied.
///
/// # Errors
/// [`Error::InvalidHeader`] if the bytes are not a chunk, and for a lazy chunk; the errors of
/// `take`.
///
/// # Safety
/// `chunk` is NULL or a chunk that is readable for the length in its header. It is a block of
/// `malloc` unless `copy` is set or the super-chunk lent it.
unsafe fn with_chunk(
    schunk: CSchunk,
    chunk: *mut u8,
    copy: bool,
    take: impl FnOnce(NewChunk<'_>) -> Result<i64>,
) -> Result<i64> {
    // SAFETY: a chunk has at least these bytes.
    let header = BasicHeader::parse(unsafe { header(chunk.cast()) }?);
    let BasicHeader { cbytes, .. } = header.map_err(|error| match error.kind() {
        ErrorKind::ReadBuffer => error.recast(ErrorKind::InvalidHeader),
        _ => error,
    })?;
    // A lazy chunk has fewer bytes than its header states, so it must not be copied.
    // SAFETY: a chunk of this size has these bytes, also a lazy one.
    let front = unsafe { whole_chunk(chunk.cast(), cbytes.min(EXTENDED_HEADER_LENGTH as i32)) }?;
    if is_lazy(front) {
        return Err(Error::InvalidHeader);
    }
    let len = usize::try_from(cbytes).unwrap_or(0);
    let is_apart = schunk.frame().is_none();
    // A block that the program gives away is its own, even if its backend lends memory.
    let must_copy = (copy && is_apart)
        || schunk.lends(chunk, len).unwrap_or(copy)
        || (is_apart && schunk.has_chunk_at(chunk));
    if must_copy {
        // SAFETY: the caller guarantees `len` readable bytes, and nothing writes to them during the
        // copy.
        let copied = Buffer::copy_of(unsafe { std::slice::from_raw_parts(chunk, len) })?;
        return take(NewChunk::Give(&mut Some(copied)));
    }
    if copy {
        // SAFETY: the caller guarantees `len` readable bytes. The super-chunk did not lend them, so
        // changing it does not change them.
        return take(NewChunk::Copy(unsafe { std::slice::from_raw_parts(chunk, len) }));
    }
    let block = NonNull::new(chunk).ok_or(Error::InvalidParam)?;
    // SAFETY: the caller guarantees a block of `malloc` with `len` bytes. If the call fails or
    // panics, `Given` does not free the block.
    let mut given = Given(Some(unsafe { Buffer::from_raw(block, len) }));
    take(NewChunk::Give(&mut given.0))
}

/// A block of the caller, which keeps it unless the super-chunk has taken it.
struct Given(Option<Buffer>);

impl Drop for Given {
    fn drop(&mut self) {
        if let Some(buffer) = self.0.take() {
            let _ = buffer.into_raw();
        }
    }
}

/// Appends a compressed chunk to a super-chunk.
///
/// A chunk whose memory the super-chunk lent is copied even without `copy`.
///
/// - `schunk`: the super-chunk.
/// - `chunk`: the chunk, of the length in its header. Without `copy` it must be a block of
///   `malloc()`, which the super-chunk owns if the call succeeds; otherwise the caller keeps it.
/// - `copy`: whether to copy the chunk.
///
/// Returns the new number of chunks, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_append_chunk(
    schunk: *mut blosc2_schunk,
    chunk: *mut u8,
    copy: Flag,
) -> i64 {
    boundary!(blosc2_schunk_append_chunk, {
        // SAFETY: the caller passes a super-chunk and a chunk, or NULL.
        unsafe {
            let mut schunk = CSchunk::enter(schunk, Purpose::Change)?;
            with_chunk(*schunk, chunk, is_set(copy), |offer| chunks::append(&mut *schunk, offer))
        }
    })
}

/// Compresses a buffer and appends it as a chunk.
///
/// - `schunk`: the super-chunk.
/// - `src`: the data, owned by the caller.
/// - `nbytes`: the size of the data in bytes.
///
/// Returns the new number of chunks, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_append_buffer(
    schunk: *mut blosc2_schunk,
    src: *const c_void,
    nbytes: i32,
) -> i64 {
    boundary!(blosc2_schunk_append_buffer, {
        // SAFETY: the caller passes a super-chunk and nbytes bytes, or NULL.
        unsafe {
            let schunk = CSchunk::new(schunk)?;
            // A negative size leaves no space for a chunk, which is checked first.
            let capacity = usize::try_from(nbytes).map_or(0, |nbytes| nbytes + MAX_OVERHEAD);
            // Other threads and a prefilter may read the super-chunk during compression. Adding the
            // chunk may move the memory at `src`, which is not used after compression.
            let chunk = chunks::compress_next(&schunk, source(src, nbytes, capacity)?)?;
            let mut schunk = schunk.entered(Purpose::Change)?;
            chunks::append(&mut *schunk, NewChunk::Give(&mut Some(chunk)))
        }
    })
}

/// Inserts a compressed chunk before the chunk with a given index.
///
/// - `schunk`: the super-chunk.
/// - `nchunk`: the index of the new chunk, from 0 to the number of chunks.
/// - `chunk`: the chunk, with the ownership rules of blosc2_schunk_append_chunk().
/// - `copy`: whether to copy the chunk.
///
/// Returns the new number of chunks, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_insert_chunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    chunk: *mut u8,
    copy: Flag,
) -> i64 {
    boundary!(blosc2_schunk_insert_chunk, {
        // SAFETY: the caller passes a super-chunk and a chunk, or NULL.
        unsafe {
            let mut schunk = CSchunk::enter(schunk, Purpose::Change)?;
            with_chunk(*schunk, chunk, is_set(copy), |offer| {
                chunks::insert(&mut *schunk, nchunk, offer)
            })
        }
    })
}

/// Replaces a chunk by another compressed chunk.
///
/// - `schunk`: the super-chunk.
/// - `nchunk`: the index of the chunk to replace.
/// - `chunk`: the new chunk, with the ownership rules of blosc2_schunk_append_chunk().
/// - `copy`: whether to copy the chunk.
///
/// Returns the number of chunks, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_update_chunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    chunk: *mut u8,
    copy: Flag,
) -> i64 {
    boundary!(blosc2_schunk_update_chunk, {
        // SAFETY: the caller passes a super-chunk and a chunk, or NULL.
        unsafe {
            let mut schunk = CSchunk::enter(schunk, Purpose::Change)?;
            with_chunk(*schunk, chunk, is_set(copy), |offer| {
                chunks::update(&mut *schunk, nchunk, offer)
            })
        }
    })
}

/// Removes a chunk.
///
/// - `schunk`: the super-chunk.
/// - `nchunk`: the index of the chunk.
///
/// Returns the new number of chunks, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_delete_chunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
) -> i64 {
    boundary!(blosc2_schunk_delete_chunk, {
        // SAFETY: the caller passes a super-chunk, or NULL.
        let mut schunk = unsafe { CSchunk::enter(schunk, Purpose::Change) }?;
        chunks::delete(&mut *schunk, nchunk)
    })
}

/// Reorders the chunks of a super-chunk.
///
/// - `schunk`: the super-chunk.
/// - `offsets_order`: one entry for each chunk; entry i is the current index of the chunk to move
///   to index i. Each index must occur once.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_reorder_offsets(
    schunk: *mut blosc2_schunk,
    offsets_order: *mut i64,
) -> c_int {
    boundary!(blosc2_schunk_reorder_offsets, {
        // SAFETY: the caller passes a super-chunk and as many numbers as it has chunks, or NULL.
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

/// Fills an empty super-chunk with chunks of one special value.
///
/// - `schunk`: the super-chunk, without chunks.
/// - `nitems`: the number of items.
/// - `special_value`: BLOSC2_SPECIAL_ZERO, BLOSC2_SPECIAL_NAN or BLOSC2_SPECIAL_UNINIT.
/// - `chunksize`: the size of a chunk in bytes, a multiple of the size of an item.
///
/// Returns the number of chunks, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_fill_special(
    schunk: *mut blosc2_schunk,
    nitems: i64,
    special_value: c_int,
    chunksize: i32,
) -> i64 {
    boundary!(blosc2_schunk_fill_special, {
        // SAFETY: the caller passes a super-chunk, or NULL.
        let mut schunk = unsafe { CSchunk::enter(schunk, Purpose::Change) }?;
        let kind = Special::from_number(special_value);
        chunks::fill(&mut *schunk, nitems, kind, chunksize)
    })
}

/// Decompresses a chunk.
///
/// - `schunk`: the super-chunk.
/// - `nchunk`: the index of the chunk.
/// - `dest`: the destination, outside the memory of the super-chunk.
/// - `nbytes`: the size of the destination in bytes, at least the size of the data.
///
/// Returns the size of the data in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_decompress_chunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    dest: *mut c_void,
    nbytes: i32,
) -> c_int {
    boundary!(blosc2_schunk_decompress_chunk, {
        // SAFETY: the caller passes a super-chunk and nbytes writable bytes, or NULL.
        unsafe {
            let schunk = CSchunk::enter(schunk, Purpose::Read)?;
            schunk.check_destination(dest, usize::try_from(nbytes).unwrap_or(0), nchunk)?;
            let dest = pointers::bytes_mut(dest, nbytes.max(0))?;
            Ok(chunks::decompress(&*schunk, nchunk, dest)? as c_int)
        }
    })
}

/// Stores the address of a chunk for the caller: that of borrowed memory, or that of a block of
/// `malloc` that the caller frees.
///
/// # Safety
/// `schunk` is NULL or a super-chunk. `chunk` and `needs_free` are NULL or valid for one write.
unsafe fn write_output(
    schunk: *mut blosc2_schunk,
    (chunk, needs_free): (*mut *mut u8, *mut bool),
    get: impl FnOnce(&CSchunk) -> Result<FrameChunk<'_>>,
) -> Result<c_int> {
    // SAFETY: guaranteed by the caller.
    let schunk = unsafe {
        pointers::write_if_given(chunk, null_mut());
        pointers::write_if_given(needs_free, false);
        CSchunk::enter(schunk, Purpose::Inspect)?
    };
    if chunk.is_null() || needs_free.is_null() {
        return Err(Error::InvalidParam);
    }
    // SAFETY: neither pointer is NULL, and the caller guarantees that both are writable.
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

/// Returns a compressed chunk.
///
/// If `needs_free` is false, the chunk belongs to the super-chunk. It is valid until a call in any
/// thread changes or frees the super-chunk.
///
/// - `schunk`: the super-chunk.
/// - `nchunk`: the index of the chunk.
/// - `chunk`: receives the address of the chunk, NULL on error.
/// - `needs_free`: receives whether the caller must free() the chunk.
///
/// Returns the length of the chunk in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_chunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
) -> c_int {
    boundary!(blosc2_schunk_get_chunk, {
        // SAFETY: the caller passes a super-chunk and result pointers, or NULL.
        unsafe { write_output(schunk, (chunk, needs_free), |schunk| chunks::chunk(schunk, nchunk)) }
    })
}

/// Returns a chunk, or a lazy chunk if the super-chunk is in a file.
///
/// A lazy chunk holds the header, the block offsets and the location of the chunk in the file. Only
/// contexts of this super-chunk can decompress it; their source size is the length returned here.
/// If `needs_free` is false, the chunk is valid as in blosc2_schunk_get_chunk().
///
/// - `schunk`: the super-chunk.
/// - `nchunk`: the index of the chunk.
/// - `chunk`: receives the address of the chunk, NULL on error.
/// - `needs_free`: receives whether the caller must free() the chunk.
///
/// Returns the length of the chunk or lazy chunk in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_lazychunk(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
) -> c_int {
    boundary!(blosc2_schunk_get_lazychunk, {
        // SAFETY: the caller passes a super-chunk and result pointers, or NULL.
        unsafe {
            write_output(schunk, (chunk, needs_free), |schunk| chunks::lazy_chunk(schunk, nchunk))
        }
    })
}

/// Decompresses one block of a chunk with variable-length blocks.
///
/// - `schunk`: the super-chunk.
/// - `nchunk`: the index of the chunk.
/// - `nblock`: the index of the block in the chunk.
/// - `dest`: receives a new buffer with the data, which the caller must free(); NULL on error.
/// - `destsize`: receives the size of the data in bytes, 0 on error.
///
/// Returns the size of the data in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_vlblock(
    schunk: *mut blosc2_schunk,
    nchunk: i64,
    nblock: i32,
    dest: *mut *mut u8,
    destsize: *mut i32,
) -> c_int {
    boundary!(blosc2_schunk_get_vlblock, {
        // SAFETY: the caller passes result pointers, or NULL.
        unsafe {
            pointers::write_if_given(dest, null_mut());
            pointers::write_if_given(destsize, 0);
        }
        if schunk.is_null() || dest.is_null() || destsize.is_null() {
            return Err(if schunk.is_null() { Error::NullPointer } else { Error::InvalidParam });
        }
        // SAFETY: the caller passes a super-chunk and result pointers.
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

/// Returns the chunk offsets that a frame stores, one for each chunk.
///
/// - `schunk`: the super-chunk.
///
/// Returns a new array, which the caller must free(). It is NULL on error, and for a super-chunk
/// without frame or chunks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_frame_get_offsets(schunk: *mut blosc2_schunk) -> *mut i64 {
    boundary!(blosc2_frame_get_offsets, {
        // SAFETY: the caller passes a super-chunk, or NULL.
        let schunk = unsafe { CSchunk::enter(schunk, Purpose::Inspect) }?;
        let frame = schunk.frame().ok_or(Error::InvalidParam)?;
        give_numbers(&frame.offsets()?.to_vec()?)
    })
}

/// Copies numbers to a block of `malloc` that the caller frees; NULL for an empty slice.
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
