//! Slices of arrays, to and from buffers.

use super::{Numbers, numbers};
use crate::bridge::array::CArray;
use crate::bridge::lent::Reading;
use crate::bridge::schunk::Purpose;
use crate::types::b2nd::b2nd_array_t;
use ferroblosc::b2nd::request::{SliceRequest, check_inside};
use ferroblosc::b2nd::{MAX_DIM, State, get, refresh, set};
use ferroblosc::{Error, ErrorKind, Result};
use ferroblosc_capi_common::boundary;
use std::ffi::{c_int, c_void};

/// A buffer of a caller's, whose size is told but which may be used as far as its shape says.
struct Memory {
    start: *mut u8,
    size: usize,
}

impl Memory {
    fn new(start: *const c_void, size: i64) -> Result<Memory> {
        let size = usize::try_from(size).map_err(|_| Error::InvalidParam)?;
        match start.is_null() {
            true => Err(Error::NullPointer),
            false => Ok(Memory {
                start: start.cast_mut().cast(),
                size,
            }),
        }
    }

    /// Fills what the size tells with zeros.
    ///
    /// # Safety
    /// The buffer has that size.
    unsafe fn clear(&self) {
        // SAFETY: promised by the caller.
        unsafe { self.start.write_bytes(0, self.size) }
    }
}

/// The start, the end and the buffer's shape of a call.
///
/// # Safety
/// Each is NULL or has a number for each dimension.
unsafe fn slice(
    array: CArray,
    start: *const i64,
    stop: *const i64,
    shape: *const i64,
) -> Result<[Numbers<i64>; 3]> {
    let ndim = array.ndim()?;
    // SAFETY: promised by the caller.
    unsafe {
        Ok([
            numbers(start, ndim)?,
            numbers(stop, ndim)?,
            numbers(shape, ndim)?,
        ])
    }
}

/// The request of a call; none when there is nothing to move.
fn request(
    array: CArray,
    [start, stop, shape]: [&[i64]; 3],
    memory: &Memory,
) -> Result<Option<SliceRequest>> {
    let geometry = array.geometry()?;
    if geometry.nitems == 0 {
        return Ok(None);
    }
    // Sizes of memory fit 64 bits.
    let size = memory.size as i64;
    SliceRequest::new(&geometry, array.typesize()?, start, stop, shape, size).map(Some)
}

/// Reads all items to a buffer of buffersize bytes, rows first; the rest of the buffer becomes zeros. Gives
/// 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_to_cbuffer(
    array: *const b2nd_array_t,
    buffer: *mut c_void,
    buffersize: i64,
) -> c_int {
    boundary!(b2nd_to_cbuffer, {
        // SAFETY: the caller gives an array and a buffer, or NULL.
        unsafe {
            let array = CArray::enter(array, Purpose::Read)?;
            let memory = Memory::new(buffer, buffersize)?;
            refresh(&*array)?;
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

/// Reads a slice; what of the buffer is no item's becomes zeros.
///
/// # Safety
/// The buffer has its size, and what the request reaches.
unsafe fn read(array: CArray, request: &SliceRequest, memory: &Memory) -> Result<()> {
    array.check_destination(memory.start, memory.size.max(request.extent_bytes()))?;
    // SAFETY: promised by the caller.
    unsafe {
        match request.fills(request.extent_bytes()) && request.extent_bytes() <= memory.size {
            // Only what is behind the items is left.
            true => memory
                .start
                .add(request.extent_bytes())
                .write_bytes(0, memory.size - request.extent_bytes()),
            false => memory.clear(),
        }
        let dest = std::slice::from_raw_parts_mut(memory.start, request.extent_bytes());
        get::get(&array, request, dest)
    }
}

/// Writes all items of an array from a buffer.
///
/// # Safety
/// The buffer has its size.
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
            // SAFETY: promised by the caller; the buffer has room for all items.
            let src = unsafe { std::slice::from_raw_parts(memory.start, request.extent_bytes()) };
            set::set(&mut array, &request, src)
        }
    }
}

/// Refuses a slice that reaches a chunk behind the last one of the array, as the reference does. A slice
/// that begins outside of the array touches no chunk.
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
    if last < geometry.nchunks() {
        Ok(())
    } else {
        Err(Error::Failure)
    }
}

/// Reads the items from start to before stop to the origin of a buffer of the shape buffershape; all else
/// in its first buffersize bytes becomes zeros, as do items outside of the array. A slice that reaches a
/// chunk behind the last one is an error. Gives 0, or an error code.
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
        // SAFETY: the caller gives an array, a number for each dimension and a buffer, or NULL.
        unsafe {
            let array = CArray::enter(array, Purpose::Read)?;
            let [start, stop, shape] = slice(*array, start, stop, buffershape)?;
            let memory = Memory::new(buffer, buffersize)?;
            refresh(&*array)?;
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

/// Writes the items from start to before stop, all of them inside of the array, from the origin of a buffer
/// of the shape buffershape. Gives 0, or an error code.
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
        // SAFETY: the caller gives an array, a number for each dimension and a buffer, or NULL.
        unsafe {
            let mut array = CArray::enter(array, Purpose::Rewrite)?;
            let [start, stop, shape] = slice(*array, start, stop, buffershape)?;
            let memory = Memory::new(buffer, buffersize)?;
            refresh(&*array)?;
            let request = request(*array, [&start, &stop, &shape], &memory)?;
            // The code of the reference for a chunk that isn't there.
            check_inside(&array.geometry()?, &start, &stop)
                .map_err(|error| error.recast(ErrorKind::Failure))?;
            if let Some(request) = request {
                let src = array.argument(memory.start, request.extent_bytes())?;
                let _reading = Reading::begin(array.schunk(), &src);
                set::set(&mut *array, &request, src.bytes())?;
            }
        }
        Ok(0)
    })
}
