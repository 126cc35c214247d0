//! Iterators over the chunks and the blocks of arrays.

use super::array::Array;
use super::geometry::Geometry;
use super::state::{State, typesize};
use super::sync;
use crate::slice::{MAX_DIM, Slice};
use crate::{Item, Result, item};
use std::iter::FusedIterator;
use std::marker::PhantomData;

/// The division of one dimension into chunks, and of its chunks into parts.
#[derive(Clone, Copy)]
struct Axis {
    extent: i64,
    chunk: i64,
    part: i64,
    nchunks: i64,
    /// The number of parts of each chunk but the last.
    parts: i64,
    /// The number of parts of the last chunk.
    last_parts: i64,
}

impl Axis {
    /// Divides `extent` items, at least one, into chunks and parts of at least one item.
    fn new(extent: i64, chunk: i64, part: i64) -> Axis {
        let nchunks = (extent - 1) / chunk + 1;
        let last = extent - (nchunks - 1) * chunk;
        let (parts, last_parts) = ((chunk - 1) / part + 1, (last - 1) / part + 1);
        Axis { extent, chunk, part, nchunks, parts, last_parts }
    }

    fn all_parts(&self) -> i64 {
        (self.nchunks - 1) * self.parts + self.last_parts
    }
}

/// The parts of an array that its iterators return, without those that contain padding only. Chunks
/// are in row-major order, and so are the parts of each chunk.
#[derive(Clone, Copy)]
struct Grid {
    ndim: usize,
    axes: [Axis; MAX_DIM],
    len: i64,
}

impl Grid {
    /// Divides an array into its chunks, or into its blocks.
    fn new(geometry: &Geometry, has_blocks: bool) -> Grid {
        let mut grid = Grid { ndim: geometry.ndim, axes: [Axis::new(1, 1, 1); MAX_DIM], len: 0 };
        if geometry.nitems == 0 {
            return grid;
        }
        for dim in 0..grid.ndim {
            let chunk = i64::from(geometry.chunkshape[dim]);
            let part = if has_blocks { geometry.blockshape[dim].into() } else { chunk };
            grid.axes[dim] = Axis::new(geometry.shape[dim], chunk, part);
        }
        // A part has at least one item, so the product is at most the number of items.
        grid.len = grid.axes.iter().map(Axis::all_parts).product();
        grid
    }

    /// Returns the items of part `index`, which must exist.
    fn part(&self, mut index: i64) -> Slice {
        let mut chunks = [0; MAX_DIM];
        let mut counts = [1; MAX_DIM];
        // The number of parts of the chunk along the dimensions so far, and of the array along the
        // dimensions after them.
        let (mut within, mut after) = (1, self.len);
        for (dim, axis) in self.axes.iter().enumerate().take(self.ndim) {
            after /= axis.all_parts();
            let of_chunk = within * axis.parts * after;
            chunks[dim] = (index / of_chunk).min(axis.nchunks - 1);
            index -= chunks[dim] * of_chunk;
            let is_last = chunks[dim] == axis.nchunks - 1;
            counts[dim] = if is_last { axis.last_parts } else { axis.parts };
            within *= counts[dim];
        }
        let (mut start, mut stop) = ([0; MAX_DIM], [0; MAX_DIM]);
        for dim in (0..self.ndim).rev() {
            let axis = &self.axes[dim];
            let chunk_start = chunks[dim] * axis.chunk;
            start[dim] = chunk_start + index % counts[dim] * axis.part;
            stop[dim] = (start[dim] + axis.part).min(chunk_start + axis.chunk).min(axis.extent);
            index /= counts[dim];
        }
        Slice::from_bounds(&start[..self.ndim], &stop[..self.ndim])
    }
}

/// An iterator over the chunks or the blocks of an array, see [`Array::chunks`] and
/// [`Array::blocks`].
#[must_use = "iterators are lazy"]
pub struct Parts<'a, T> {
    array: &'a Array,
    grid: Grid,
    next: i64,
    end: i64,
    items: PhantomData<fn() -> T>,
}

impl<'a, T: Item> Parts<'a, T> {
    fn new(array: &'a Array, has_blocks: bool) -> Result<Parts<'a, T>> {
        sync::refresh(array)?;
        item::check::<T>(typesize(array)?, array.dtype())
            .map_err(|error| array.schunk().located(error))?;
        let grid = Grid::new(&State::geometry(array)?, has_blocks);
        Ok(Parts { array, grid, next: 0, end: grid.len, items: PhantomData })
    }

    fn read(&self, index: i64) -> Result<(Slice, Vec<T>)> {
        let slice = self.grid.part(index);
        Ok((slice, self.array.get(slice)?))
    }
}

impl<T: Item> Iterator for Parts<'_, T> {
    type Item = Result<(Slice, Vec<T>)>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.next < self.end).then(|| {
            self.next += 1;
            self.read(self.next - 1)
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.end - self.next).unwrap_or(0);
        (left, Some(left))
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        let skipped = i64::try_from(n).unwrap_or(i64::MAX);
        self.next = self.next.saturating_add(skipped).min(self.end);
        self.next()
    }
}

impl<T: Item> DoubleEndedIterator for Parts<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        (self.next < self.end).then(|| {
            self.end -= 1;
            self.read(self.end)
        })
    }
}

impl<T: Item> ExactSizeIterator for Parts<'_, T> {}
impl<T: Item> FusedIterator for Parts<'_, T> {}

#[cfg(feature = "rayon")]
impl<'a, T: Item> Parts<'a, T> {
    fn into_par(
        self,
    ) -> impl rayon::iter::IndexedParallelIterator<Item = Result<(Slice, Vec<T>)>> + 'a {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};
        let len = usize::try_from(self.grid.len).unwrap_or(0);
        (0..len).into_par_iter().map(move |index| self.read(index as i64))
    }
}

impl Array {
    /// Returns an iterator over the chunks: the slice of each chunk, and its items in row-major
    /// order. Chunks at the ends of the dimensions may be smaller than others. A chunk that cannot
    /// be read is an error item, and the iteration continues after it. The shape is that at the
    /// call.
    ///
    /// ```
    /// use ferroblosc::b2nd::{Array, Layout};
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    ///
    /// let items: Vec<i32> = (0..15).collect();
    /// let layout = Layout { shape: &[3, 5], chunkshape: &[2, 3], blockshape: &[2, 2] };
    /// let array = Array::from_items(Storage::memory(), CParams::default(), &layout, &items)?;
    /// let mut sums = Vec::new();
    /// for chunk in array.chunks::<i32>()? {
    ///     let (slice, items) = chunk?;
    ///     sums.push((slice.start().to_vec(), items.iter().sum::<i32>()));
    /// }
    /// assert_eq!(sums[1], (vec![0, 3], 3 + 4 + 8 + 9));
    /// assert_eq!(sums[3], (vec![2, 3], 13 + 14));
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`](crate::Error::InvalidParam) if `T` does not have the size of the
    ///   items or does not [match](Item::matches) the dtype;
    /// - the [access errors](Array#access-errors).
    ///
    /// Each item of the iterator has the errors of [`Array::get`].
    pub fn chunks<T: Item>(&self) -> Result<Parts<'_, T>> {
        Parts::new(self, false)
    }

    /// Returns an iterator over the blocks, like [`Array::chunks`]. Blocks are the smallest parts
    /// that are decompressed. Those of the first chunk precede those of the second.
    ///
    /// # Errors
    /// - the errors of [`Array::chunks`].
    pub fn blocks<T: Item>(&self) -> Result<Parts<'_, T>> {
        Parts::new(self, true)
    }

    /// Returns a parallel iterator over the chunks, like [`Array::chunks`], for the crate `rayon`.
    /// Its order is that of the chunks: `collect` always returns the same vector.
    ///
    /// The threads of `rayon` read one chunk each. It is decompressed by
    /// [`DParams::threads`](crate::chunk::DParams::threads) threads; 1 is best. The two kinds of
    /// threads do not wait for each other, so there are no deadlocks.
    ///
    /// ```
    /// use ferroblosc::b2nd::Array;
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    /// use rayon::iter::ParallelIterator;
    ///
    /// let array = Array::full(Storage::memory(), CParams::default(), [2000, 3000], 2u8)?;
    /// let sums = array.par_chunks::<u8>()?.map(|chunk| -> ferroblosc::Result<u64> {
    ///     Ok(chunk?.1.into_iter().map(u64::from).sum())
    /// });
    /// assert_eq!(sums.try_reduce(|| 0, |a, b| Ok(a + b))?, 12_000_000);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - the errors of [`Array::chunks`].
    #[cfg(feature = "rayon")]
    pub fn par_chunks<T: Item>(
        &self,
    ) -> Result<impl rayon::iter::IndexedParallelIterator<Item = Result<(Slice, Vec<T>)>> + '_>
    {
        Ok(self.chunks()?.into_par())
    }

    /// Returns a parallel iterator over the blocks, like [`Array::par_chunks`].
    ///
    /// # Errors
    /// - the errors of [`Array::chunks`].
    #[cfg(feature = "rayon")]
    pub fn par_blocks<T: Item>(
        &self,
    ) -> Result<impl rayon::iter::IndexedParallelIterator<Item = Result<(Slice, Vec<T>)>> + '_>
    {
        Ok(self.blocks()?.into_par())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::b2nd::Layout;
    use crate::chunk::CParams;
    use crate::schunk::Storage;

    fn array(shape: &[i64], chunkshape: &[i32], blockshape: &[i32]) -> Array {
        let items: Vec<i32> = (0..shape.iter().product::<i64>() as i32).collect();
        let layout = Layout { shape, chunkshape, blockshape };
        Array::from_items(Storage::memory(), CParams::default(), &layout, &items).unwrap()
    }

    /// Returns the starts and stops of slices of one dimension.
    fn ranges(parts: Parts<'_, i32>) -> Vec<(i64, i64)> {
        let slices = parts.map(|part| part.unwrap().0);
        slices.map(|slice| (slice.start()[0], slice.stop()[0])).collect()
    }

    #[test]
    fn parts_end_at_the_ends_of_chunks_and_of_the_array() {
        let array = array(&[13], &[5], &[2]);
        assert_eq!(ranges(array.chunks().unwrap()), [(0, 5), (5, 10), (10, 13)]);
        let blocks = [(0, 2), (2, 4), (4, 5), (5, 7), (7, 9), (9, 10), (10, 12), (12, 13)];
        assert_eq!(ranges(array.blocks().unwrap()), blocks);
        let mut parts = array.blocks::<i32>().unwrap();
        assert_eq!(parts.len(), 8);
        assert_eq!(parts.next_back().unwrap().unwrap().1, [12]);
        assert_eq!(parts.nth(2).unwrap().unwrap().1, [4]);
        assert_eq!(parts.len(), 4);
        assert!(parts.nth(usize::MAX).is_none() && parts.next_back().is_none());
    }

    #[test]
    fn parts_cover_each_item_once_in_the_order_of_chunks() {
        let shapes: [(&[i64], &[i32], &[i32]); 5] = [
            (&[6, 10], &[4, 4], &[2, 3]),
            (&[3, 4, 5], &[2, 3, 4], &[1, 2, 3]),
            (&[7, 1, 9], &[7, 1, 9], &[2, 1, 4]),
            (&[5, 3], &[8, 8], &[3, 2]),
            (&[2, 2, 2, 2], &[1, 2, 1, 2], &[1, 1, 1, 2]),
        ];
        for (shape, chunkshape, blockshape) in shapes {
            let array = array(shape, chunkshape, blockshape);
            let geometry = array.geometry();
            for parts in [array.chunks::<i32>().unwrap(), array.blocks().unwrap()] {
                let mut seen = Vec::new();
                let mut chunks = Vec::new();
                for part in parts {
                    let (slice, items) = part.unwrap();
                    let chunk = |at: &[i64]| -> Vec<i64> {
                        at.iter().zip(chunkshape).map(|(at, &n)| at / i64::from(n)).collect()
                    };
                    let last: Vec<i64> = slice.stop().iter().map(|stop| stop - 1).collect();
                    assert_eq!(chunk(slice.start()), chunk(&last));
                    chunks.push(chunk(slice.start()));
                    assert_eq!(items, array.get::<i32>(slice).unwrap());
                    seen.extend(items);
                }
                assert!(chunks.is_sorted());
                chunks.dedup();
                assert_eq!(chunks.len() as i64, geometry.nchunks());
                seen.sort_unstable();
                assert_eq!(seen, (0..geometry.nitems as i32).collect::<Vec<i32>>());
            }
        }
    }

    #[test]
    fn arrays_without_items_have_no_parts_and_those_without_dimensions_have_one() {
        let empty = array(&[0, 5], &[2, 2], &[1, 1]);
        assert_eq!(empty.chunks::<i32>().unwrap().len(), 0);
        assert!(empty.blocks::<i32>().unwrap().next().is_none());
        let huge =
            Layout { shape: &[0, 1 << 62, 1 << 62], chunkshape: &[1; 3], blockshape: &[1; 3] };
        let huge = Array::full(Storage::memory(), CParams::default(), &huge, 0u8).unwrap();
        assert_eq!(huge.blocks::<u8>().unwrap().len(), 0);
        let single = Array::full(Storage::memory(), CParams::default(), [], 7u8).unwrap();
        let parts: Result<Vec<_>> = single.blocks::<u8>().unwrap().collect();
        assert_eq!(parts.unwrap()[0].1, [7]);
    }

    #[test]
    fn other_types_are_refused_before_the_iteration() {
        let array = array(&[4], &[2], &[1]);
        assert_eq!(array.chunks::<u32>().err(), Some(Error::InvalidParam));
        assert_eq!(array.blocks::<i64>().err(), Some(Error::InvalidParam));
    }

    #[cfg(feature = "rayon")]
    #[test]
    fn parallel_iterators_have_the_order_of_the_others() {
        use rayon::iter::{IndexedParallelIterator, ParallelIterator};
        let array = array(&[60, 70], &[16, 16], &[5, 7]);
        let items = |part: Result<(Slice, Vec<i32>)>| part.unwrap().1;
        let blocks: Vec<Vec<i32>> = array.blocks().unwrap().map(items).collect();
        let parallel = array.par_blocks().unwrap();
        assert_eq!(parallel.len(), blocks.len());
        assert_eq!(parallel.map(items).collect::<Vec<_>>(), blocks);
        let chunks: Vec<Vec<i32>> = array.chunks().unwrap().map(items).collect();
        assert_eq!(array.par_chunks().unwrap().map(items).collect::<Vec<_>>(), chunks);
    }
}
