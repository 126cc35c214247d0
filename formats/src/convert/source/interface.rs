//! The interface of sources.

use super::super::boxes::boxes;
use super::super::error::{Error, Result};
use crate::numpy::ArrayInfo;

/// The description of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The type and shape, if it is an array. The order is always C.
    pub array: Option<ArrayInfo>,
    /// The size of an item in bytes, or 1 if it is unknown.
    pub typesize: u64,
    /// The size of the data in bytes.
    pub nbytes: u64,
    /// The preferred read size for sequential reads, in bytes.
    pub read_size: usize,
}

/// Random access to the bytes of data.
pub trait Source: Send {
    /// Returns the description of the data.
    fn content(&self) -> &Content;

    /// Fills `dest` with the bytes from `position`. The range must be in bounds.
    ///
    /// # Errors
    /// Returns the error of the format; [`Error::Chunk`] contains the chunk's index.
    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()>;

    /// Returns the chunk shape that a copy in chunks best has, if the source has chunks of a shape.
    fn chunkshape(&self) -> Option<Vec<u64>> {
        None
    }

    /// Fills `dest` with the items of an array from `start` to `stop` (exclusive) in each
    /// dimension.
    ///
    /// # Errors
    /// Returns the errors of [`Source::read`].
    fn read_box(&mut self, start: &[u64], stop: &[u64], dest: &mut [u8]) -> Result<()> {
        let (shape, typesize) = match &self.content().array {
            Some(info) => (info.shape.clone(), info.dtype.itemsize()),
            None => (vec![self.content().nbytes], 1),
        };
        runs(&shape, start, stop, &mut |first, count, filled| {
            let part = (filled * typesize) as usize..((filled + count) * typesize) as usize;
            let part = dest.get_mut(part).ok_or(ferroblosc::Error::InvalidParam)?;
            self.read(first * typesize, part)
        })
    }
}

/// Calls `f` for each C-order run of items in a box, with the index of its first item, its length,
/// and the number of items before it.
fn runs(
    shape: &[u64],
    start: &[u64],
    stop: &[u64],
    f: &mut dyn FnMut(u64, u64, u64) -> Result<()>,
) -> Result<()> {
    if start.len() != shape.len() || stop.len() != shape.len() {
        return Err(ferroblosc::Error::InvalidParam.into());
    }
    // Whether all dimensions from `dim` are complete.
    let is_complete =
        |dim: usize| (dim..shape.len()).all(|dim| stop[dim] - start[dim] == shape[dim]);
    let fits = (0..shape.len()).all(|dim| start[dim] <= stop[dim] && stop[dim] <= shape[dim]);
    if !fits {
        return Err(ferroblosc::Error::InvalidIndex.into());
    }
    if (0..shape.len()).any(|dim| start[dim] == stop[dim]) {
        return Ok(());
    }
    let last = (0..shape.len()).find(|&dim| is_complete(dim + 1)).unwrap_or(0);
    let inner: u64 = shape.iter().skip(last + 1).product();
    let mut index = start.to_vec();
    let mut filled = 0;
    loop {
        let number = index.iter().zip(shape).fold(0, |number, (index, len)| number * len + index);
        let count = if shape.is_empty() { 1 } else { (stop[last] - start[last]) * inner };
        f(number, count, filled)?;
        filled += count;
        let mut dim = last;
        loop {
            let Some(outer) = dim.checked_sub(1) else {
                return Ok(());
            };
            dim = outer;
            index[dim] += 1;
            if index[dim] < stop[dim] {
                break;
            }
            index[dim] = start[dim];
        }
    }
}

/// Options of reading.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Reading {
    /// The column of a table to read, or `None` for all columns.
    pub column: Option<String>,
    /// The number of threads.
    pub nthreads: usize,
}

impl Reading {
    /// Returns the options of reading all columns with this number of threads.
    pub fn with_threads(nthreads: usize) -> Reading {
        Reading { nthreads, ..Reading::default() }
    }

    /// Returns the number of threads, at least 1.
    pub(in crate::convert) fn threads(&self) -> i16 {
        i16::try_from(self.nthreads.max(1)).unwrap_or(i16::MAX)
    }
}

/// The maximum size of sequential reads in bytes, unless a chunk is larger.
pub(super) const MAX_READ: usize = 16 << 20;

/// Returns the read size for data stored in units of `unit` bytes.
pub(super) fn read_size_of(unit: u64) -> usize {
    let most = MAX_READ as u64;
    match unit {
        0 => MAX_READ,
        unit if unit >= most => MAX_READ,
        unit => (most / unit * unit) as usize,
    }
}

/// Fails if the range is out of bounds.
pub(super) fn check_range(content: &Content, start: u64, len: usize) -> Result<()> {
    let len = len as u64;
    match start.checked_add(len) {
        Some(end) if end <= content.nbytes => Ok(()),
        _ => Err(Error::NoSuchRange { start, len, size: content.nbytes }),
    }
}

/// Fills `dest` with the bytes from `position` by reads of complete items of `itemsize` bytes; the
/// range may begin and end within items. `read` fills a buffer with the items from an index.
pub(super) fn by_items(
    itemsize: u64,
    position: u64,
    dest: &mut [u8],
    mut read: impl FnMut(u64, &mut [u8]) -> Result<()>,
) -> Result<()> {
    if dest.is_empty() {
        return Ok(());
    }
    let size = usize::try_from(itemsize).map_err(|_| ferroblosc::Error::MemoryAlloc)?;
    let skip = (position % itemsize) as usize;
    let mut item = position / itemsize;
    let mut rest = dest;
    let mut one = Vec::new();
    if skip > 0 {
        one.resize(size, 0);
        read(item, &mut one)?;
        let count = rest.len().min(size - skip);
        let (head, others) = rest.split_at_mut(count);
        head.copy_from_slice(&one[skip..skip + count]);
        rest = others;
        item += 1;
    }
    let whole = rest.len() / size * size;
    let (items, end) = rest.split_at_mut(whole);
    if !items.is_empty() {
        read(item, items)?;
        item += (whole / size) as u64;
    }
    if !end.is_empty() {
        one.resize(size, 0);
        read(item, &mut one)?;
        end.copy_from_slice(&one[..end.len()]);
    }
    Ok(())
}

/// Implements [`Source::read`] for an array of this shape with [`Source::read_box`]. The range must
/// be in bounds.
pub(super) fn read_in_boxes(
    source: &mut dyn Source,
    shape: &[u64],
    position: u64,
    dest: &mut [u8],
) -> Result<()> {
    let itemsize = source.content().typesize;
    let signed: Vec<i64> = shape.iter().map(|&len| len as i64).collect();
    by_items(itemsize, position, dest, |first, items| {
        let count = items.len() as u64 / itemsize;
        let mut rest = items;
        for nd_box in boxes(&signed, first, count) {
            let unsigned = |index: &[i64]| index.iter().map(|&at| at as u64).collect::<Vec<_>>();
            let (start, stop) = (unsigned(&nd_box.start), unsigned(&nd_box.stop));
            let lengths = start.iter().zip(&stop).map(|(start, stop)| stop - start);
            let bytes = lengths.product::<u64>() * itemsize;
            let (part, others) = rest.split_at_mut(bytes as usize);
            source.read_box(&start, &stop, part)?;
            rest = others;
        }
        Ok(())
    })
}
