//! Functions that read and write ranges of items of a super-chunk.

use super::chunks::give_numbers;
use crate::bridge::arguments::ReadGuard;
use crate::bridge::schunk::{CSchunk, Purpose};
use crate::types::schunk::blosc2_schunk;
use ferroblosc::b2nd::create::find;
use ferroblosc::b2nd::request::slice_chunks;
use ferroblosc::schunk::{State, slices};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::pointers::{StableSource, overlap};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// Decompresses a range of items into a buffer.
///
/// - `schunk`: the super-chunk.
/// - `start`: the index of the first item.
/// - `stop`: the index after the last item.
/// - `buffer`: the destination, `(stop - start) * typesize` bytes outside the memory of the
///   super-chunk. It may be NULL for an empty range.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_slice_buffer(
    schunk: *mut blosc2_schunk,
    start: i64,
    stop: i64,
    buffer: *mut c_void,
) -> c_int {
    boundary!(blosc2_schunk_get_slice_buffer, {
        // SAFETY: the caller passes a super-chunk and a buffer for the items, or NULL.
        unsafe {
            let schunk = CSchunk::enter(schunk, Purpose::Read)?;
            let len = slices::len_to_get(&*schunk, start, stop)?;
            match (len, buffer.is_null()) {
                (0, _) => {}
                (_, true) => return Err(Error::Failure),
                _ => {
                    schunk.check_destination(buffer, len, -1)?;
                    let dest = std::slice::from_raw_parts_mut(buffer.cast(), len);
                    slices::get(&*schunk, start, stop, dest)?;
                }
            }
        }
        Ok(0)
    })
}

/// Overwrites a range of existing items from a buffer.
///
/// - `schunk`: the super-chunk.
/// - `start`: the index of the first item.
/// - `stop`: the index after the last item, at most the number of items.
/// - `buffer`: the new items, `(stop - start) * typesize` bytes, owned by the caller. It may be
///   NULL for an empty range.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_set_slice_buffer(
    schunk: *mut blosc2_schunk,
    start: i64,
    stop: i64,
    buffer: *mut c_void,
) -> c_int {
    boundary!(blosc2_schunk_set_slice_buffer, {
        // SAFETY: the caller passes a super-chunk and the items, or NULL.
        unsafe {
            let mut schunk = CSchunk::enter(schunk, Purpose::Recompress)?;
            let len = slices::len_to_set(&*schunk, start, stop)?;
            match (len, buffer.is_null()) {
                (0, _) => {}
                (_, true) => return Err(Error::InvalidParam),
                _ => {
                    let lent = schunk.may_lend(buffer.cast(), len);
                    let src = StableSource::new(buffer.cast(), len, lent)?;
                    let _reading = ReadGuard::begin(*schunk, &src);
                    slices::set(&mut *schunk, start, stop, src.bytes())?;
                }
            }
        }
        Ok(0)
    })
}

/// Decompresses the items at a list of indices into a buffer.
///
/// - `schunk`: the super-chunk.
/// - `ncoords`: the number of indices.
/// - `coords`: the indices of the items, in any order.
/// - `buffer`: the destination, `ncoords * typesize` bytes; receives the items in the order of
///   `coords`.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_sparse_buffer(
    schunk: *mut blosc2_schunk,
    ncoords: i64,
    coords: *const i64,
    buffer: *mut c_void,
) -> c_int {
    boundary!(blosc2_schunk_get_sparse_buffer, {
        // SAFETY: the caller passes a super-chunk, the coordinates and a buffer for the items, or
        // NULL.
        unsafe {
            let schunk = CSchunk::enter(schunk, Purpose::Read)?;
            let count = usize::try_from(ncoords).map_err(|_| Error::InvalidParam)?;
            if count == 0 {
                return Ok(0);
            }
            let typesize = usize::try_from(schunk.recorded().typesize);
            let len = typesize.ok().and_then(|typesize| typesize.checked_mul(count));
            let len = len.filter(|&len| isize::try_from(len).is_ok());
            if coords.is_null() || buffer.is_null() {
                return Err(Error::InvalidParam);
            }
            let len = len.ok_or(Error::InvalidParam)?;
            schunk.check_destination(buffer, len, -1)?;
            let mut own = Vec::new();
            let coordinates = coordinates(coords, count, (buffer.cast(), len), &mut own)?;
            let dest = std::slice::from_raw_parts_mut(buffer.cast(), len);
            slices::get_sparse(&*schunk, coordinates, dest)?;
        }
        Ok(0)
    })
}

/// Returns the coordinates of a call, copied to `own` if they overlap the destination.
///
/// # Errors
/// [`Error::InvalidParam`] for more numbers than the address space holds; [`Error::MemoryAlloc`].
///
/// # Safety
/// `coords` points to `count` numbers, which do not change while the result is used.
pub(crate) unsafe fn coordinates(
    coords: *const i64,
    count: usize,
    dest: (*const u8, usize),
    own: &mut Vec<i64>,
) -> Result<&[i64]> {
    let len = count.checked_mul(size_of::<i64>());
    if len.is_none_or(|len| isize::try_from(len).is_err()) {
        return Err(Error::InvalidParam);
    }
    // SAFETY: the caller guarantees `count` numbers. If they overlap the destination, they are
    // copied before anything is written there.
    let numbers = unsafe { std::slice::from_raw_parts(coords, count) };
    if overlap((coords.cast(), size_of_val(numbers)), dest) {
        own.try_reserve_exact(count)?;
        own.extend_from_slice(numbers);
        return Ok(own);
    }
    Ok(numbers)
}

/// Returns the indices of the chunks that a slice intersects.
///
/// For a super-chunk that holds a b2nd array, `start` and `stop` have one element for each
/// dimension; otherwise they have one element each.
///
/// - `schunk`: the super-chunk.
/// - `start`: the first index of the slice.
/// - `stop`: the index after the last one.
/// - `chunks_idx`: receives a new array of chunk indices, which the caller must free(); NULL on
///   error or if there are none.
///
/// Returns the number of chunks, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_slice_nchunks(
    schunk: *mut blosc2_schunk,
    start: *mut i64,
    stop: *mut i64,
    chunks_idx: *mut *mut i64,
) -> i64 {
    boundary!(blosc2_get_slice_nchunks, {
        // SAFETY: the caller passes a super-chunk, the numbers and a writable pointer, or NULL.
        unsafe {
            pointers::write_if_given(chunks_idx, null_mut());
            let schunk = CSchunk::enter(schunk, Purpose::Inspect)?;
            if chunks_idx.is_null() {
                return Err(Error::InvalidParam);
            }
            let numbers = match find(&*schunk) {
                Err(error) if error == Error::MetalayerNotFound => {
                    if start.is_null() || stop.is_null() {
                        return Err(Error::InvalidParam);
                    }
                    listed(slices::slice_chunks(&*schunk, *start, *stop)?)?
                }
                Err(error) => return Err(error),
                Ok((_, geometry)) => {
                    if start.is_null() || stop.is_null() {
                        return Err(Error::NullPointer);
                    }
                    let start = std::slice::from_raw_parts(start, geometry.ndim);
                    let stop = std::slice::from_raw_parts(stop, geometry.ndim);
                    slice_chunks(&geometry, start, stop)?
                }
            };
            chunks_idx.write(give_numbers(&numbers)?);
            Ok(numbers.len() as i64)
        }
    })
}

/// Collects a range of indices.
///
/// # Errors
/// [`Error::MemoryAlloc`].
fn listed(range: std::ops::Range<i64>) -> Result<Vec<i64>> {
    let mut numbers = Vec::new();
    let len = usize::try_from(range.end.saturating_sub(range.start).max(0));
    numbers.try_reserve_exact(len.map_err(|_| Error::MemoryAlloc)?)?;
    numbers.extend(range);
    Ok(numbers)
}
