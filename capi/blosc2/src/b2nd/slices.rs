//! Functions that copy slices of arrays to and from buffers.

use super::{Numbers, numbers};
use crate::bridge::arguments::ReadGuard;
use crate::bridge::array::CArray;
use crate::bridge::schunk::Purpose;
use crate::types::b2nd::b2nd_array_t;
use ferroblosc::b2nd::request::{SliceRequest, check_inside};
use ferroblosc::b2nd::{MAX_DIM, State, get, refresh, refresh_locked, set};
use ferroblosc::io::lock::Kind as LockKind;
use ferroblosc::{Error, ErrorKind, Result};
use ferroblosc_capi_common::boundary;
use std::ffi::{c_int, c_void};

/// A caller's buffer and its declared size. The shape of the buffer may extend beyond that size.
struct Memory {
    start: *mut u8,
    size: usize,
}

impl Memory {
    fn new(start: *const c_void, size: i64) -> Result<Memory> {
        let size = usize::try_from(size).map_err(|_| Error::InvalidParam)?;
        if start.is_null() {
            Err(Error::NullPointer)
        } else {
            Ok(Memory { start: start.cast_mut().cast(), size })
        }
    }

    /// Fills the declared size with zeros.
    ///
    /// # Safety
    /// The buffer has its declared size.
    unsafe fn clear(&self) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.start.write_bytes(0, self.size) }
    }
}

/// Returns copies of the start, the stop and the buffer shape of a call.
///
/// # Safety
/// Each pointer is NULL or points to one number for each dimension.
unsafe fn slice(
    array: CArray,
    start: *const i64,
    stop: *const i64,
    shape: *const i64,
) -> Result<[Numbers<i64>; 3]> {
    let ndim = array.ndim()?;
    // SAFETY: guaranteed by the caller.
    unsafe { Ok([numbers(start, ndim)?, numbers(stop, ndim)?, numbers(shape, ndim)?]) }
}

/// Returns the request of a call, or `None` for an array without items.
fn request(
    array: CArray,
    [start, stop, shape]: [&[i64]; 3],
    memory: &Memory,
) -> Result<Option<SliceRequest>> {
    let geometry = array.geometry()?;
    if geometry.nitems == 0 {
        return Ok(None);
    }
    // The size of a buffer fits in 64 bits.
    let size = memory.size as i64;
    SliceRequest::new(&geometry, array.typesize()?, start, stop, shape, size).map(Some)
}

/// Decompresses all items of an array into a buffer.
///
/// - `array`: the array.
/// - `buffer`: the destination, outside the memory of the array; receives the items in row-major
///   order. Bytes after the items are set to 0.
/// - `buffersize`: the size of the buffer in bytes, at least that of the items.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_to_cbuffer(
    array: *const b2nd_array_t,
    buffer: *mut c_void,
    buffersize: i64,
) -> c_int {
    boundary!(b2nd_to_cbuffer, {
        // SAFETY: the caller passes an array and a buffer, or NULL.
        unsafe {
            let array = CArray::enter(array, Purpose::Read)?;
            let memory = Memory::new(buffer, buffersize)?;
            let _held = refresh_locked(&*array, LockKind::Shared)?;
            let geometry = array.geometry()?;
            let origin = [0; MAX_DIM];
            let shape = geometry.shape();
            let slice = [&origin[..geometry.ndim], shape, shape];
            if let Some(request) = request(*array, slice, &memory)? {
                read(*array, &request, &memory)?;
            }
        }
        Ok(0)
    })
}

/// Reads a slice. Bytes of the buffer without an item are set to 0.
///
/// # Safety
/// The buffer has its declared size, and the extent of the request.
unsafe fn read(array: CArray, request: &SliceRequest, memory: &Memory) -> Result<()> {
    array.check_destination(memory.start, memory.size.max(request.extent_bytes()))?;
    // SAFETY: guaranteed by the caller.
    unsafe {
        if request.fills(request.extent_bytes()) && request.extent_bytes() <= memory.size {
            // Only the bytes after the items need zeros.
            memory
                .start
                .add(request.extent_bytes())
                .write_bytes(0, memory.size - request.extent_bytes());
        } else {
            memory.clear();
        }
        let dest = std::slice::from_raw_parts_mut(memory.start, request.extent_bytes());
        get::get(&array, request, dest)
    }
}

/// Writes all items of an array from a buffer.
///
/// # Safety
/// The buffer has its declared size.
pub(super) unsafe fn write_all(
    mut array: CArray,
    buffer: *const c_void,
    buffersize: i64,
) -> Result<()> {
    let memory = Memory::new(buffer, buffersize)?;
    let geometry = array.geometry()?;
    let origin = [0; MAX_DIM];
    let shape = geometry.shape();
    match request(array, [&origin[..geometry.ndim], shape, shape], &memory)? {
        None => Ok(()),
        Some(request) => {
            refresh(&array)?;
            // SAFETY: guaranteed by the caller; `SliceRequest::new` checked that the declared size
            // holds all items.
            let src = unsafe { std::slice::from_raw_parts(memory.start, request.extent_bytes()) };
            set::set(&mut array, &request, src)
        }
    }
}

/// Rejects a slice that reaches a chunk after the last one of the array, like C-Blosc2. A slice
/// that starts outside the array touches no chunk.
fn check_chunks(array: CArray, start: &[i64], stop: &[i64]) -> Result<()> {
    let geometry = array.geometry()?;
    let is_outside =
        (0..geometry.ndim).any(|dim| start[dim] >= geometry.shape[dim] || start[dim] >= stop[dim]);
    if is_outside {
        return Ok(());
    }
    let strides = geometry.chunk_strides();
    let last = (0..geometry.ndim).fold(0i64, |last, dim| {
        let chunk = i64::from(geometry.chunkshape[dim]).max(1);
        last.saturating_add(((stop[dim] - 1) / chunk).saturating_mul(strides[dim]))
    });
    if last < geometry.nchunks() { Ok(()) } else { Err(Error::Failure) }
}

/// Decompresses a slice of an array into a buffer.
///
/// Items of the slice outside the array, and all other bytes of the buffer, are set to 0. A slice
/// that reaches a chunk after the last one is an error.
///
/// - `array`: the array.
/// - `start`: the first index in each dimension.
/// - `stop`: the index after the last one in each dimension.
/// - `buffer`: the destination, outside the memory of the array; the slice starts at its origin.
/// - `buffershape`: the extent of the buffer in each dimension, in items; at least that of the
///   slice.
/// - `buffersize`: the size of the buffer in bytes.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_get_slice_cbuffer(
    array: *const b2nd_array_t,
    start: *const i64,
    stop: *const i64,
    buffer: *mut c_void,
    buffershape: *const i64,
    buffersize: i64,
) -> c_int {
    boundary!(b2nd_get_slice_cbuffer, {
        // SAFETY: the caller passes an array, a number for each dimension and a buffer, or NULL.
        unsafe {
            let array = CArray::enter(array, Purpose::Read)?;
            let [start, stop, shape] = slice(*array, start, stop, buffershape)?;
            let memory = Memory::new(buffer, buffersize)?;
            let _held = refresh_locked(&*array, LockKind::Shared)?;
            let request = request(*array, [&start, &stop, &shape], &memory)
                .and_then(|request| check_chunks(*array, &start, &stop).map(|()| request));
            match request {
                Ok(Some(request)) => read(*array, &request, &memory)?,
                other => {
                    array.check_destination(memory.start, memory.size)?;
                    memory.clear();
                    other?;
                }
            }
        }
        Ok(0)
    })
}

/// Overwrites a slice of an array from a buffer.
///
/// - `buffer`: the new items, owned by the caller; the slice starts at its origin.
/// - `buffershape`: the extent of the buffer in each dimension, in items; at least that of the
///   slice.
/// - `buffersize`: the size of the buffer in bytes.
/// - `start`: the first index in each dimension.
/// - `stop`: the index after the last one in each dimension, inside the array.
/// - `array`: the array.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_set_slice_cbuffer(
    buffer: *const c_void,
    buffershape: *const i64,
    buffersize: i64,
    start: *const i64,
    stop: *const i64,
    array: *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_set_slice_cbuffer, {
        // SAFETY: the caller passes an array, a number for each dimension and a buffer, or NULL.
        unsafe {
            let mut array = CArray::enter(array, Purpose::Recompress)?;
            let [start, stop, shape] = slice(*array, start, stop, buffershape)?;
            let memory = Memory::new(buffer, buffersize)?;
            let _held = refresh_locked(&*array, LockKind::Exclusive)?;
            let request = request(*array, [&start, &stop, &shape], &memory)?;
            // C-Blosc2 returns this code for a chunk that does not exist.
            check_inside(&array.geometry()?, &start, &stop)
                .map_err(|error| error.recast(ErrorKind::Failure))?;
            if let Some(request) = request {
                let src = array.argument(memory.start, request.extent_bytes())?;
                let _reading = ReadGuard::begin(array.schunk(), &src);
                set::set(&mut *array, &request, src.bytes())?;
            }
        }
        Ok(0)
    })
}
