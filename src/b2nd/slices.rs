//! Slices that exactly fill their buffer.

use super::geometry::Geometry;
use super::get;
use super::request::SliceRequest;
use super::state::{State, typesize};
use crate::{Error, Result, item};

/// Returns a request for a slice that exactly fills a buffer of `len` bytes.
pub fn whole_buffer<A: State + ?Sized>(
    a: &A,
    geometry: &Geometry,
    start: &[i64],
    stop: &[i64],
    len: usize,
) -> Result<SliceRequest> {
    let extents: Vec<i64> =
        (start.iter().zip(stop)).map(|(start, stop)| stop.saturating_sub(*start).max(0)).collect();
    let size = i64::try_from(len).map_err(|_| Error::InvalidParam)?;
    SliceRequest::new(geometry, typesize(a)?, start, stop, &extents, size)
}

/// Returns the size of a slice in bytes; `None` on overflow.
pub fn slice_len(typesize: usize, start: &[i64], stop: &[i64]) -> Option<usize> {
    (start.iter().zip(stop)).try_fold(typesize, |len, (start, stop)| {
        let extent = stop.checked_sub(*start)?;
        len.checked_mul(usize::try_from(extent).ok()?)
    })
}

/// Returns the items of a slice.
pub fn read<A: State + ?Sized>(
    a: &A,
    geometry: &Geometry,
    start: &[i64],
    stop: &[i64],
) -> Result<Vec<u8>> {
    let mut items = zeroed(slice_len(typesize(a)?, start, stop))?;
    read_into(a, geometry, start, stop, &mut items)?;
    Ok(items)
}

/// Reads a slice that fills `dest`.
pub fn read_into<A: State + ?Sized>(
    a: &A,
    geometry: &Geometry,
    start: &[i64],
    stop: &[i64],
    dest: &mut [u8],
) -> Result<()> {
    let request = whole_buffer(a, geometry, start, stop, dest.len())?;
    get::get(a, &request, dest)
}

/// Returns `len` zero bytes.
pub fn zeroed(len: Option<usize>) -> Result<Vec<u8>> {
    item::zeroed(len.ok_or(Error::InvalidParam)?)
}
