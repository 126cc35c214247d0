//! Reading a chunk or a slice of a frame.
//!
//! A read is a sequence of steps: JavaScript repeats [`fb_read_step`] and supplies the ranges that
//! it lists, until it returns [`DONE`]. The bytes of a slice come from one box per chunk. A step
//! attempts all boxes that wait for bytes, and further ones until [`MAX_MISSING`] bytes are
//! missing, so that JavaScript reads many ranges at once and the compressed bytes in memory are
//! bounded.

use std::slice::from_raw_parts;

use ferroblosc::b2nd::request::{SliceRequest, check_inside};
use ferroblosc::b2nd::{Array, Geometry, get};
use ferroblosc::schunk::SChunk;
use ferroblosc::{Error, Result};

use crate::chunk::{check_limit, decompress, nbytes};
use crate::frame::{Content, Frame};
use crate::memory::{failed, zeros};
use crate::ranges::Source;
use crate::{DONE, LIMIT, NEED};

/// The number of missing bytes from which on no further chunk is attempted.
const MAX_MISSING: u64 = 8 << 20;
/// Upper bound on the chunks that wait for bytes.
const MAX_WAITING: usize = 256;
/// A chunk is read as a whole if a slice needs at least this fraction of it.
const WHOLE_DIVISOR: usize = 4;

/// The items of a read within one chunk.
#[derive(Debug)]
struct ChunkBox {
    start: Vec<i64>,
    stop: Vec<i64>,
    /// The offset of the first item in the result, in bytes.
    offset: usize,
}

/// The boxes of a slice, one for each chunk, in row-major order.
struct Boxes {
    start: Vec<i64>,
    stop: Vec<i64>,
    chunk: Vec<i64>,
    typesize: usize,
    /// The start of the next box; `None` at the end.
    next: Option<Vec<i64>>,
}

impl Boxes {
    /// Splits a slice, which has no negative numbers, at multiples of `chunk`.
    fn new(start: Vec<i64>, stop: Vec<i64>, chunk: Vec<i64>, typesize: usize) -> Boxes {
        let is_empty = start.iter().zip(&stop).any(|(start, stop)| start >= stop);
        let next = (!is_empty).then(|| start.clone());
        Boxes { start, stop, chunk, typesize, next }
    }
}

impl Iterator for Boxes {
    type Item = ChunkBox;

    fn next(&mut self) -> Option<ChunkBox> {
        let start = self.next.take()?;
        let stop: Vec<i64> = (0..start.len())
            .map(|dim| {
                let chunk = self.chunk[dim].max(1);
                (start[dim] / chunk + 1).saturating_mul(chunk).min(self.stop[dim])
            })
            .collect();
        let offset = (0..start.len()).fold(0, |offset, dim| {
            let extent = (self.stop[dim] - self.start[dim]) as usize;
            offset * extent + (start[dim] - self.start[dim]) as usize
        });
        let mut next = start.clone();
        for dim in (0..next.len()).rev() {
            if stop[dim] < self.stop[dim] {
                next[dim] = stop[dim];
                self.next = Some(next);
                break;
            }
            next[dim] = self.start[dim];
        }
        Some(ChunkBox { start, stop, offset: offset * self.typesize })
    }
}

/// The bytes that a read returns.
enum Job {
    /// A whole chunk; its size is known after its bytes have been read.
    Chunk { nchunk: i64, limit: usize },
    /// A slice, with the boxes that wait for bytes and all further ones.
    Slice { waiting: Vec<ChunkBox>, further: Boxes },
}

/// A read in progress.
pub struct Read {
    job: Job,
    /// The extents of the slice.
    shape: Vec<i64>,
    result: Vec<u8>,
}

/// Returns the size of a slice in bytes.
fn slice_len(shape: &[i64], typesize: usize) -> Result<usize> {
    let too_large = || Error::InvalidParam.because("the slice has too many bytes");
    if shape.contains(&0) {
        return Ok(0);
    }
    shape
        .iter()
        .try_fold(typesize, |len, &extent| len.checked_mul(usize::try_from(extent).ok()?))
        .ok_or_else(too_large)
}

/// Prepares the read of a slice. The inner result is [`LIMIT`] if it has more bytes than `limit`.
fn slice(
    content: &Content,
    start: &[i64],
    stop: &[i64],
    limit: usize,
) -> Result<std::result::Result<Read, i32>> {
    let typesize = usize::try_from(content.schunk().typesize()).map_err(|_| Error::InvalidParam)?;
    let (geometry, chunk) = match content {
        Content::Array(array) => {
            let geometry = array.geometry();
            (geometry, geometry.chunkshape().iter().map(|&extent| extent.into()).collect())
        }
        Content::Chunks(schunk) => {
            let nitems = schunk.nbytes() / typesize as i64;
            let chunk = (schunk.chunksize() / typesize as i32).max(1);
            (Geometry::new(&[nitems], &[chunk], &[1])?, vec![chunk.into()])
        }
    };
    if start.len() != geometry.ndim {
        let text = format!("{} bounds for {} dimensions", start.len(), geometry.ndim);
        return Err(Error::InvalidParam.because(text));
    }
    if let Some(dim) = (0..start.len()).find(|&dim| start[dim] > stop[dim] || start[dim] < 0) {
        let text = format!("the range {}..{} of axis {dim} is invalid", start[dim], stop[dim]);
        return Err(Error::InvalidParam.because(text));
    }
    check_inside(&geometry, start, stop)?;
    let shape: Vec<i64> = start.iter().zip(stop).map(|(start, stop)| stop - start).collect();
    let len = slice_len(&shape, typesize)?;
    if let Err(code) = check_limit(len, limit) {
        return Ok(Err(code));
    }
    let further = Boxes::new(start.to_vec(), stop.to_vec(), chunk, typesize);
    let job = Job::Slice { waiting: Vec::new(), further };
    Ok(Ok(Read { job, shape, result: zeros(len)? }))
}

/// Reads a box of an array into `result`.
fn read_array_box(array: &Array, it: &ChunkBox, shape: &[i64], result: &mut [u8]) -> Result<()> {
    let typesize = array.schunk().typesize() as usize;
    let dest = &mut result[it.offset..];
    let len = dest.len() as i64;
    let request = SliceRequest::new(&array.geometry(), typesize, &it.start, &it.stop, shape, len)?;
    get::get(array, &request, dest)
}

/// Returns the number of the chunk of a box.
fn nchunk_of(content: &Content, it: &ChunkBox) -> i64 {
    match content {
        Content::Array(array) => {
            let geometry = array.geometry();
            (0..geometry.ndim).fold(0, |number, dim| {
                let chunk = i64::from(geometry.chunkshape[dim]).max(1);
                number * geometry.chunks_along(dim) + it.start[dim] / chunk
            })
        }
        Content::Chunks(schunk) => {
            it.start[0] * i64::from(schunk.typesize()) / i64::from(schunk.chunksize().max(1))
        }
    }
}

/// Reads items of one chunk into `result`.
fn read_items(schunk: &SChunk, nchunk: i64, it: &ChunkBox, result: &mut [u8]) -> Result<()> {
    let (start, stop) = (it.start[0], it.stop[0]);
    let len = (stop - start) as usize * schunk.typesize() as usize;
    let chunksize = schunk.chunksize().max(0) as usize;
    if len.saturating_mul(WHOLE_DIVISOR) >= chunksize && chunksize > 0 {
        schunk.chunk(nchunk)?;
    }
    schunk.get_slice(start, stop, &mut result[it.offset..it.offset + len])
}

impl Read {
    /// Attempts the remaining reads; returns [`DONE`], [`NEED`] or the code of an error.
    fn step(&mut self, content: &Content, source: &Source, number: u32) -> i32 {
        source.take_missing();
        match &mut self.job {
            Job::Chunk { nchunk, limit } => {
                let read = read_chunk(content.schunk(), *nchunk, *limit);
                if source.missing().0 > 0 {
                    return NEED;
                }
                match read {
                    Ok(result) => {
                        self.result = result;
                        DONE
                    }
                    Err(Failure::Limit) => LIMIT,
                    Err(Failure::Error(error)) => failed(&error.of_chunk(*nchunk)),
                }
            }
            Job::Slice { waiting, further } => {
                let (shape, result) = (&self.shape, &mut self.result);
                let mut is_read = |it: &ChunkBox| {
                    let before = source.missing().0;
                    let read = match content {
                        Content::Array(array) => read_array_box(array, it, shape, result),
                        Content::Chunks(schunk) => {
                            read_items(schunk, nchunk_of(content, it), it, result)
                        }
                    };
                    if source.missing().0 > before {
                        return Ok(false);
                    }
                    read.map(|()| true).map_err(|error| error.of_chunk(nchunk_of(content, it)))
                };
                match attempt(waiting, further, source, number, &mut is_read) {
                    Ok(()) if waiting.is_empty() => DONE,
                    Ok(()) => NEED,
                    Err(error) => failed(&error),
                }
            }
        }
    }
}

/// Attempts the boxes that wait, and further ones. Those that still wait are left in `waiting`.
fn attempt(
    waiting: &mut Vec<ChunkBox>,
    further: &mut Boxes,
    source: &Source,
    number: u32,
    is_read: &mut dyn FnMut(&ChunkBox) -> Result<bool>,
) -> Result<()> {
    for it in std::mem::take(waiting) {
        if !is_read(&it)? {
            waiting.push(it);
        }
    }
    if waiting.is_empty() {
        source.release(number);
    }
    while waiting.len() < MAX_WAITING && source.missing().1 < MAX_MISSING {
        let Some(it) = further.next() else {
            break;
        };
        if !is_read(&it)? {
            waiting.push(it);
        }
    }
    Ok(())
}

/// The reason why a chunk is not read.
enum Failure {
    /// It has more bytes than the caller allows; the text is stored.
    Limit,
    Error(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Error(error)
    }
}

fn read_chunk(schunk: &SChunk, nchunk: i64, limit: usize) -> std::result::Result<Vec<u8>, Failure> {
    let chunk = schunk.chunk(nchunk)?;
    let nbytes = nbytes(&chunk)?;
    check_limit(nbytes, limit).map_err(|_| Failure::Limit)?;
    let mut result = zeros(nbytes)?;
    decompress(&chunk, &mut result)?;
    Ok(result)
}

/// Adds a read; returns its number.
fn begin(frame: &mut Frame, read: Read) -> i32 {
    frame.last_read = frame.last_read % (i32::MAX as u32) + 1;
    frame.reads.push((frame.last_read, read));
    frame.last_read as i32
}

/// Begins the read of a chunk; returns the number of the read. A chunk with more bytes than `limit`
/// is not read.
///
/// # Safety
/// The frame is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_read_chunk(frame: *mut Frame, nchunk: i64, limit: usize) -> i32 {
    // SAFETY: the caller's contract.
    let frame = unsafe { &mut *frame };
    let job = Job::Chunk { nchunk, limit };
    begin(frame, Read { job, shape: Vec::new(), result: Vec::new() })
}

/// Begins the read of a slice; returns the number of the read, or the code of an error. `bounds`
/// are `ndim` starts and `ndim` stops.
///
/// # Safety
/// The frame and the memory are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_read_slice(
    frame: *mut Frame,
    bounds: *const i64,
    ndim: usize,
    limit: usize,
) -> i32 {
    // SAFETY: the caller's contract.
    let (frame, bounds) = unsafe { (&mut *frame, from_raw_parts(bounds, 2 * ndim)) };
    let (start, stop) = bounds.split_at(ndim);
    match frame.content().and_then(|content| slice(content, start, stop, limit)) {
        Ok(Ok(read)) => begin(frame, read),
        Ok(Err(code)) => code,
        Err(error) => failed(&error),
    }
}

/// Continues a read; returns [`DONE`], [`NEED`] or the code of an error.
///
/// # Safety
/// The frame is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_read_step(frame: *mut Frame, number: u32) -> i32 {
    // SAFETY: the caller's contract.
    let Frame { source, content, reads, .. } = unsafe { &mut *frame };
    let read = reads.iter_mut().find(|(it, _)| *it == number);
    match (content, read) {
        (Some(content), Some((_, read))) => read.step(content, source, number),
        _ => failed(&Error::InvalidParam),
    }
}

/// Returns the address of the result of a read.
///
/// # Safety
/// The frame is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_read_result(frame: *mut Frame, number: u32) -> *const u8 {
    // SAFETY: the caller's contract.
    result_of(unsafe { &*frame }, number).as_ptr()
}

/// Returns the length of the result of a read.
///
/// # Safety
/// The frame is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_read_result_len(frame: *mut Frame, number: u32) -> usize {
    // SAFETY: the caller's contract.
    result_of(unsafe { &*frame }, number).len()
}

fn result_of(frame: &Frame, number: u32) -> &[u8] {
    let read = frame.reads.iter().find(|(it, _)| *it == number);
    read.map_or(&[], |(_, read)| &read.result)
}

/// Ends a read and frees its memory.
///
/// # Safety
/// The frame is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_read_end(frame: *mut Frame, number: u32) {
    // SAFETY: the caller's contract.
    let frame = unsafe { &mut *frame };
    frame.reads.retain(|(it, _)| *it != number);
    frame.source.release(number);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_split_at_chunks_in_row_major_order() {
        let boxes = Boxes::new(vec![1, 3], vec![5, 9], vec![4, 4], 2);
        let boxes: Vec<_> = boxes.map(|it| (it.start, it.stop, it.offset)).collect();
        let expected = [
            (vec![1, 3], vec![4, 4], 0),
            (vec![1, 4], vec![4, 8], 2),
            (vec![1, 8], vec![4, 9], 10),
            (vec![4, 3], vec![5, 4], 36),
            (vec![4, 4], vec![5, 8], 38),
            (vec![4, 8], vec![5, 9], 46),
        ];
        assert_eq!(boxes, expected);
        assert_eq!(Boxes::new(vec![], vec![], vec![], 8).count(), 1);
        assert_eq!(Boxes::new(vec![2], vec![2], vec![4], 8).count(), 0);
        assert_eq!(Boxes::new(vec![0], vec![2], vec![0], 8).count(), 2);
    }
}
