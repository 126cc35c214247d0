//! Columns of values of a fixed size, and the rows that are read together.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use ferroblosc::b2nd::Array;

use crate::numpy::Dtype;
use crate::store::error::{Error, Result};
use crate::store::leaf::{Leaf, Leaves};
use crate::threads;

/// The maximum number of rows between two wanted rows that are read with them.
const MAX_GAP: u64 = 256;
/// The maximum size of these rows, in bytes.
pub const MAX_GAP_SIZE: u64 = 64 << 10;
/// The maximum size of the rows that are read at once, unless one row is larger, in bytes.
pub const MAX_RUN_SIZE: u64 = 16 << 20;
/// The size of the parts of a column that threads decode, in bytes.
const PIECE_SIZE: u64 = 1 << 20;

/// An array whose first dimension is the rows.
pub struct Fixed {
    pub key: String,
    pub array: Box<Array>,
    pub dtype: Dtype,
    /// The number of rows.
    pub rows: u64,
    /// The extents of the other dimensions.
    pub shape: Vec<i64>,
    /// The size of a row in bytes.
    pub row_size: u64,
}

impl Fixed {
    pub fn open(store: &dyn Leaves, key: &str) -> Result<Fixed> {
        Fixed::of(key, leaf(store, key)?.into_array()?)
    }

    /// Checks an array.
    pub fn of(key: &str, array: Array) -> Result<Fixed> {
        let array = Box::new(array);
        let dtype = array.dtype().ok_or_else(|| Error::damaged(key, "the array has no dtype"))?;
        let dtype = Dtype::parse(dtype)
            .map_err(|_| Error::damaged(key, format!("the dtype {dtype:?} is not supported")))?;
        let shape = array.shape();
        let Some((&rows, inner)) = shape.split_first() else {
            return Err(Error::damaged(key, "the array has no dimension"));
        };
        let extents = inner.iter().map(|&extent| u64::try_from(extent).ok());
        let row_size = extents
            .into_iter()
            .try_fold(dtype.itemsize(), |size, extent| size.checked_mul(extent?));
        let row_size = row_size.ok_or_else(|| Error::damaged(key, "the rows are too large"))?;
        if u64::try_from(array.schunk().typesize()) != Ok(dtype.itemsize()) {
            let why = "the size of the dtype differs from the size of the items";
            return Err(Error::damaged(key, why));
        }
        let rows = rows.max(0).unsigned_abs();
        let shape = inner.to_vec();
        Ok(Fixed { key: key.to_owned(), array, dtype, rows, shape, row_size })
    }

    /// Returns the bytes of consecutive rows, which must exist.
    pub fn read(&self, rows: Range<u64>) -> Result<Vec<u8>> {
        let (start, stop) = self.corners(rows)?;
        self.array.get_slice(&start, &stop).map_err(Error::frame(&self.key))
    }

    /// Returns the coordinates of the first item of consecutive rows, and those after the last one.
    fn corners(&self, rows: Range<u64>) -> Result<(Vec<i64>, Vec<i64>)> {
        let at = |row: u64| i64::try_from(row).map_err(|_| Error::Memory);
        let mut start = vec![0; self.shape.len() + 1];
        let mut stop = start.clone();
        stop[1..].copy_from_slice(&self.shape);
        (start[0], stop[0]) = (at(rows.start)?, at(rows.end)?);
        Ok((start, stop))
    }

    /// Returns the bytes of consecutive rows, which must exist. Several threads decode large
    /// ranges.
    pub fn read_parallel(&self, rows: Range<u64>) -> Result<Vec<u8>> {
        let piece = Blocks::of(&self.array).piece(self.row_size);
        let count = rows.end - rows.start;
        if count <= piece {
            return self.read(rows);
        }
        let size = |rows: u64| {
            let size = rows.checked_mul(self.row_size);
            size.and_then(|size| usize::try_from(size).ok()).ok_or(Error::Memory)
        };
        // Pieces end between blocks if chunks are whole blocks, so that no block is decoded twice.
        let first = (piece - rows.start % piece).min(count);
        let mut bytes = ferroblosc::item::zeroed(size(count)?).map_err(Error::frame(&self.key))?;
        let (head, tail) = bytes.split_at_mut(size(first)?);
        let parts = std::iter::once(head).chain(tail.chunks_mut(size(piece)?.max(1)));
        let starts = (0..).map(|number| match number {
            0 => rows.start,
            number => rows.start + first + (number - 1) * piece,
        });
        let parts = Mutex::new(starts.zip(parts));
        let work = || {
            loop {
                let part = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((start, dest)) = part else { return Ok(()) };
                let count = dest.len() as u64 / self.row_size.max(1);
                self.read_into(start..start + count, dest).map_err(|error| (start, error))?;
            }
        };
        threads::try_run("column", count / piece + 1, work)?;
        Ok(bytes)
    }

    fn read_into(&self, rows: Range<u64>, dest: &mut [u8]) -> Result<()> {
        let (start, stop) = self.corners(rows)?;
        self.array.get_slice_into(&start, &stop, dest).map_err(Error::frame(&self.key))
    }

    /// Returns the bytes of the rows, which are ascending and must exist. Several threads decode
    /// large ranges.
    pub fn gather(&self, rows: &[u64]) -> Result<Vec<u8>> {
        let row_size = usize::try_from(self.row_size).map_err(|_| Error::Memory)?;
        let size = row_size.checked_mul(rows.len()).ok_or(Error::Memory)?;
        let mut bytes = ferroblosc::item::zeroed(size).map_err(Error::frame(&self.key))?;
        let blocks = Blocks::of(&self.array);
        let piece = (PIECE_SIZE / self.row_size.max(1)).max(blocks.block);
        let pieces = rows.last().map_or(0, |last| (last - rows[0]) / piece + 1);
        let rest = Mutex::new((rows, &mut bytes[..]));
        let next = || {
            let mut rest = rest.lock().unwrap_or_else(PoisonError::into_inner);
            let (rows, dest) = std::mem::take(&mut *rest);
            let (mut count, mut read) = (0, 0);
            for run in runs(rows, self.row_size, blocks) {
                let span = span(run);
                count += run.len();
                read += (span.end - span.start).max(blocks.block);
                if read >= piece {
                    break;
                }
            }
            let (rows, later) = rows.split_at(count);
            let (dest, later_dest) = dest.split_at_mut(count * row_size);
            *rest = (later, later_dest);
            (rows, dest)
        };
        let work = || {
            loop {
                let (rows, dest) = next();
                let Some(&first) = rows.first() else { return Ok(()) };
                self.gather_into(rows, row_size, dest).map_err(|error| (first, error))?;
            }
        };
        threads::try_run("column", pieces, work)?;
        Ok(bytes)
    }

    fn gather_into(&self, rows: &[u64], row_size: usize, dest: &mut [u8]) -> Result<()> {
        let mut done = 0;
        for run in runs(rows, self.row_size, Blocks::of(&self.array)) {
            let span = span(run);
            let (part, rest) = dest[done..].split_at_mut(run.len() * row_size);
            done = rows.len() * row_size - rest.len();
            if span.end - span.start == run.len() as u64 {
                self.read_into(span, part)?;
                continue;
            }
            let items = self.read(span)?;
            for (&row, item) in run.iter().zip(part.chunks_exact_mut(row_size.max(1))) {
                let at = usize::try_from(row - run[0]).map_err(|_| Error::Memory)? * row_size;
                item.copy_from_slice(&items[at..at + row_size]);
            }
        }
        Ok(())
    }

    /// Calls `f` with the bytes of each of the rows, which are ascending and must exist.
    pub fn each(&self, rows: &[u64], mut f: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let size = usize::try_from(self.row_size).map_err(|_| Error::Memory)?;
        for run in runs(rows, self.row_size, Blocks::of(&self.array)) {
            let bytes = self.read(span(run))?;
            for &row in run {
                let at = usize::try_from(row - run[0]).map_err(|_| Error::Memory)? * size;
                f(row, &bytes[at..at + size])?;
            }
        }
        Ok(())
    }
}

/// The rows of the chunks and blocks of an array with one item in each row.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    pub chunk: u64,
    pub block: u64,
}

impl Blocks {
    pub fn of(array: &Array) -> Blocks {
        let geometry = array.geometry();
        let first = |shape: &[i32]| {
            shape.first().map_or(1, |&extent| u64::from(extent.max(1).unsigned_abs()))
        };
        Blocks { chunk: first(geometry.chunkshape()), block: first(geometry.blockshape()) }
    }

    /// Returns the number of rows that a thread decodes at once: those of whole chunks, or at most
    /// about an eighth of a larger chunk, whose other blocks are then not read.
    fn piece(self, row_size: u64) -> u64 {
        let rows = (PIECE_SIZE / row_size.max(1)).max(1);
        if rows >= self.chunk {
            rows.next_multiple_of(self.chunk)
        } else {
            rows.min((self.chunk / 8).max(1)).next_multiple_of(self.block)
        }
    }

    /// Whether two rows are in one block, which is decoded as a whole.
    pub fn is_same(self, one: u64, other: u64) -> bool {
        let place = |row: u64| (row / self.chunk, row % self.chunk / self.block);
        place(one) == place(other)
    }
}

/// Splits ascending rows into those that are read together: in one block, or with few rows between
/// them.
pub fn runs(rows: &[u64], row_size: u64, blocks: Blocks) -> impl Iterator<Item = &[u64]> {
    let mut rest = rows;
    std::iter::from_fn(move || {
        let &first = rest.first()?;
        // Consecutive rows, the common case, are not compared one by one.
        let most = usize::try_from(MAX_RUN_SIZE / row_size.max(1)).unwrap_or(usize::MAX).max(1);
        let most = most.min(rest.len());
        if rest[most - 1] - first == most as u64 - 1 {
            let (run, later) = rest.split_at(most);
            rest = later;
            return Some(run);
        }
        let is_near = |pair: &&[u64]| {
            let gap = pair[1] - pair[0] - 1;
            let size = (pair[1] - first + 1).saturating_mul(row_size);
            let is_gap_small = gap < MAX_GAP && gap.saturating_mul(row_size) <= MAX_GAP_SIZE;
            (is_gap_small || blocks.is_same(pair[0], pair[1])) && size <= MAX_RUN_SIZE
        };
        let near = rest.windows(2).take_while(is_near).count();
        let (run, later) = rest.split_at(near + 1);
        rest = later;
        Some(run)
    })
}

/// Returns the rows from the first to the last one of a run.
pub fn span(run: &[u64]) -> Range<u64> {
    run[0]..run[run.len() - 1] + 1
}

/// Opens a leaf, which must exist.
pub fn leaf(store: &dyn Leaves, key: &str) -> Result<Leaf> {
    store.leaf(key).map_err(|error| match error {
        Error::NoSuchKey(key) => Error::MissingLeaf(key),
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_chunks_or_some_blocks_of_a_large_chunk() {
        let piece = |chunk, block, row_size| Blocks { chunk, block }.piece(row_size);
        // Chunks of 80 kB, of 4 MB in 64 blocks, of 80 MB, and of 8 MB in one block.
        assert_eq!(piece(10_000, 1_000, 8), 140_000);
        assert_eq!(piece(2_000_000, 31_250, 2), 250_000);
        assert_eq!(piece(10_000_000, 10_000, 8), 140_000);
        assert_eq!(piece(1_000_000, 1_000_000, 8), 1_000_000);
        // Rows that are larger than a piece, and rows without bytes.
        assert_eq!(piece(100, 10, 8 << 20), 10);
        assert_eq!(piece(1, 1, u64::MAX), 1);
        assert_eq!(piece(3, 3, 0), 1_048_578);
    }

    #[test]
    fn rows_are_read_together_if_the_bytes_between_them_are_few() {
        let blocks = Blocks { chunk: 5000, block: 2000 };
        let lens =
            |rows: &[u64], size| runs(rows, size, blocks).map(<[u64]>::len).collect::<Vec<_>>();
        // 4500 and 5000 are in different chunks.
        assert_eq!(lens(&[0, 1999, 2000, 3999, 4500, 4999, 5500, 6900, 7300], 8), [4, 2, 2, 1]);
        let blocks = Blocks { chunk: 1, block: 1 };
        let lens =
            |rows: &[u64], size| runs(rows, size, blocks).map(<[u64]>::len).collect::<Vec<_>>();
        assert_eq!(lens(&[1, 2, 250, 1000, 1001], 8), [3, 2]);
        assert_eq!(lens(&[1, 2, 250, 251], 1 << 12), [2, 2]);
        assert_eq!(lens(&[1, 2, 3, 4, 5], 8 << 20), [2, 2, 1]);
        assert_eq!(lens(&[1, 2], u64::MAX), [1, 1]);
        assert_eq!(lens(&[], 8), [0; 0]);
        assert_eq!(span(&[3, 5, 9]), 3..10);
    }
}
