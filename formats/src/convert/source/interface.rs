//! The interface of sources.

use super::super::boxes::boxes;
use super::super::error::{Error, Result};
use super::super::grid::{grid_of, index_of, indices_of, number_of};
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

/// The chunks that a source stores. All other items of the array are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChunks {
    /// The chunk shape.
    pub chunkshape: Vec<u64>,
    /// The indices of the first items of the chunks, one after the other.
    pub starts: Vec<u64>,
    /// The bytes of an item outside of the chunks.
    pub fill: Vec<u8>,
}

impl StoredChunks {
    /// Whether all bytes of an item outside of the chunks are zero.
    pub fn is_fill_zero(&self) -> bool {
        self.fill.iter().all(|&byte| byte == 0)
    }

    /// Returns the numbers, in C order, of the chunks of another shape that contain stored items.
    ///
    /// # Errors
    /// [`ferroblosc::Error::MemoryAlloc`].
    pub fn in_chunks(&self, shape: &[u64], chunks: &[u64]) -> Result<Vec<u64>> {
        let mut numbers: Vec<u64> = Vec::new();
        let grid = grid_of(shape, chunks);
        for start in self.starts.chunks_exact(shape.len().max(1)) {
            let dims = || (0..shape.len()).map(|dim| (start[dim], self.chunkshape[dim], dim));
            let first: Vec<u64> = dims().map(|(at, _, dim)| at / chunks[dim]).collect();
            let end = |(at, len, dim): (u64, u64, usize)| at.saturating_add(len).min(shape[dim]);
            let count: Vec<u64> = dims()
                .map(|dim| end(dim).div_ceil(chunks[dim.2]).saturating_sub(first[dim.2]))
                .collect();
            let places = count.iter().fold(1, |places: u64, &len| places.saturating_mul(len));
            let capacity = usize::try_from(places).map_err(|_| ferroblosc::Error::MemoryAlloc)?;
            numbers.try_reserve(capacity).map_err(ferroblosc::Error::from)?;
            for index in indices_of(&count) {
                let index = index.iter().zip(&first).map(|(at, first)| at + first);
                numbers.push(number_of(&grid, &index.collect::<Vec<u64>>()));
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }
}

/// Returns the indices, in C order, of the chunks of an array that a copy writes: those that
/// contain items of stored chunks, or all if it is unknown which are stored.
///
/// # Errors
/// The errors of [`StoredChunks::in_chunks`].
pub fn written_chunks(
    shape: &[u64],
    chunks: &[u64],
    stored: Option<&StoredChunks>,
) -> Result<Box<dyn Iterator<Item = Vec<u64>>>> {
    let grid = grid_of(shape, chunks);
    Ok(match stored {
        Some(stored) => {
            let numbers = stored.in_chunks(shape, chunks)?;
            Box::new(numbers.into_iter().map(move |number| index_of(&grid, number)))
        }
        None => Box::new(indices_of(&grid)),
    })
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

    /// Returns the chunks that the source stores, or `None` if all items are stored, or if other
    /// items than those of chunks are equal in an unknown manner.
    ///
    /// # Errors
    /// Returns the errors of [`Source::read`].
    fn stored_chunks(&mut self) -> Result<Option<StoredChunks>> {
        Ok(None)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_items_are_found_in_chunks_of_other_shapes() {
        let stored =
            StoredChunks { chunkshape: vec![2, 3], starts: vec![0, 3, 4, 6], fill: vec![0] };
        // The second chunk exceeds the array.
        let shape = [5, 7];
        let is_stored =
            |row: u64, column: u64| row < 2 && (3..6).contains(&column) || row == 4 && column == 6;
        for chunks in [[2, 3], [1, 1], [5, 7], [3, 2], [4, 5], [9, 9]] {
            let grid = grid_of(&shape, &chunks);
            let expected: Vec<u64> = (0..grid[0] * grid[1])
                .filter(|number| {
                    let (first, second) = (number / grid[1], number % grid[1]);
                    let rows = first * chunks[0]..shape[0].min((first + 1) * chunks[0]);
                    rows.into_iter().any(|row| {
                        let mut columns =
                            second * chunks[1]..shape[1].min((second + 1) * chunks[1]);
                        columns.any(|column| is_stored(row, column))
                    })
                })
                .collect();
            assert_eq!(stored.in_chunks(&shape, &chunks).unwrap(), expected, "{chunks:?}");
        }
    }
}
