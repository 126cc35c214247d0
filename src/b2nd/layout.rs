//! The shapes of new arrays, given or chosen.

use super::geometry::{Geometry, check_ndim};
use crate::{Error, Result, item};

/// The largest automatic block in bytes: with its compressed form it fits the L2 cache of all
/// supported CPUs, and the rows that filters work on fit L1.
const BLOCK_BYTES: i64 = 64 << 10;
/// The largest automatic chunk in bytes: several fit the L3 cache, and its 32 blocks occupy as many
/// threads.
const CHUNK_BYTES: i64 = 2 << 20;

/// The shapes of a new array: three slices with one entry per dimension, at most
/// [`MAX_DIM`](super::MAX_DIM). Along a dimension with items, the extents of chunk and block must
/// be at least 1. They need not divide the extent of the array or the chunk.
///
/// ```
/// use ferroblosc::b2nd::{Array, Layout};
/// use ferroblosc::chunk::CParams;
/// use ferroblosc::schunk::Storage;
///
/// let layout = Layout { shape: &[5, 7], chunkshape: &[4, 4], blockshape: &[2, 2] };
/// let array = Array::zeros(Storage::memory(), CParams::default(), &layout, "<f8")?;
/// assert_eq!(array.geometry().nchunks(), 4);
/// # Ok::<(), ferroblosc::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// Extent of the array in each dimension, in items.
    pub shape: &'a [i64],
    /// Extent of a chunk in each dimension, in items.
    pub chunkshape: &'a [i32],
    /// Extent of a block in each dimension, in items.
    pub blockshape: &'a [i32],
}

impl Layout<'_> {
    /// Chooses the shapes of chunks and blocks for an array of items of `itemsize` bytes.
    ///
    /// Blocks have at most 64 KiB and chunks at most 2.5 MiB, which suits the caches of common
    /// CPUs; a larger item is a block of its own. The sizes do not depend on the CPU, so all
    /// machines write the same file. The longest dimension is halved until the size is reached:
    /// chunks and blocks are nearly cubes, so that slices along all dimensions are read with
    /// similar speed, and blocks divide the chunks of large arrays.
    ///
    /// ```
    /// use ferroblosc::b2nd::Layout;
    ///
    /// let geometry = Layout::auto(&[10_000, 3_000], 8)?;
    /// assert_eq!(geometry.chunkshape(), [632, 376]);
    /// assert_eq!(geometry.blockshape(), [79, 94]);
    /// assert_eq!(Layout::auto(&[100], 4)?.blockshape(), [100]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for more than [`MAX_DIM`](super::MAX_DIM) dimensions, negative
    ///   extents, an item size below 1, and if the number of items overflows.
    pub fn auto(shape: &[i64], itemsize: i32) -> Result<Geometry> {
        complete(shape, None, None, itemsize)
    }
}

/// Returns the geometry of an array with the given shapes; those that are missing are chosen as in
/// [`Layout::auto`].
///
/// # Errors
/// - those of [`Layout::auto`];
/// - [`Error::InvalidParam`] for invalid shapes.
pub(super) fn complete(
    shape: &[i64],
    chunkshape: Option<&[i32]>,
    blockshape: Option<&[i32]>,
    itemsize: i32,
) -> Result<Geometry> {
    item::check_size(itemsize)?;
    check_ndim(shape.len())?;
    let itemsize = i64::from(itemsize);
    let wide = |extents: &[i32]| extents.iter().map(|&extent| i64::from(extent)).collect();
    let (chunk, block): (Vec<i64>, Vec<i64>) = match (chunkshape, blockshape) {
        (Some(chunk), Some(block)) => return Geometry::new(shape, chunk, block),
        (Some(chunk), None) => {
            let chunk: Vec<i64> = wide(chunk);
            let block = halved(chunk.clone(), BLOCK_BYTES / itemsize);
            (chunk, block)
        }
        (None, Some(block)) => {
            let block: Vec<i64> = wide(block);
            let extents =
                || shape.iter().zip(&block).map(|(&extent, &block)| (extent, block.max(1)));
            let nblocks =
                extents().map(|(extent, block)| extent / block + i64::from(extent % block > 0));
            let nbytes =
                block.iter().fold(itemsize, |nbytes, &extent| nbytes.saturating_mul(extent.max(1)));
            let nblocks = halved(nblocks.collect(), CHUNK_BYTES / nbytes);
            let chunk = extents()
                .zip(nblocks)
                .map(|((extent, block), nblocks)| nblocks.saturating_mul(block).min(extent.max(1)))
                .collect();
            (chunk, block)
        }
        (None, None) => {
            let mut chunk = halved(shape.to_vec(), CHUNK_BYTES / itemsize);
            let block = halved(chunk.clone(), BLOCK_BYTES / itemsize);
            for ((chunk, &block), &extent) in chunk.iter_mut().zip(&block).zip(shape) {
                // Blocks at the end of each chunk would be partly unused. Only the last chunk along
                // a dimension has such blocks.
                if *chunk < extent {
                    *chunk += (block - *chunk % block) % block;
                }
            }
            (chunk, block)
        }
    };
    Geometry::new(shape, &narrow(&chunk)?, &narrow(&block)?)
}

/// Halves the longest extents until at most `most` items are left, or one.
fn halved(mut extents: Vec<i64>, most: i64) -> Vec<i64> {
    for extent in &mut extents {
        *extent = (*extent).max(1);
    }
    let exceeds = |extents: &[i64]| {
        let nitems = extents.iter().try_fold(1i64, |nitems, &extent| nitems.checked_mul(extent));
        nitems.is_none_or(|nitems| nitems > most)
    };
    while exceeds(&extents) {
        // Of equal extents the first is halved: contiguous runs of items remain long.
        match extents.iter_mut().rev().max() {
            Some(longest) if *longest > 1 => *longest = *longest / 2 + *longest % 2,
            _ => break,
        }
    }
    extents
}

fn narrow(extents: &[i64]) -> Result<Vec<i32>> {
    let narrow = |&extent: &i64| i32::try_from(extent).map_err(|_| Error::InvalidParam);
    extents.iter().map(narrow).collect()
}

mod sealed {
    pub trait Sealed {}
}

/// The shapes of a new array: a `&`[`Layout`], a [`Geometry`], or only the shape of the array, for
/// which [`Layout::auto`] chooses chunks and blocks. It is implemented by this crate only.
///
/// ```
/// use ferroblosc::b2nd::Array;
/// use ferroblosc::chunk::CParams;
/// use ferroblosc::schunk::Storage;
///
/// let array = Array::full(Storage::memory(), CParams::default(), [2000, 3000], 1.5f32)?;
/// assert_eq!(array.geometry().chunkshape(), [500, 752]);
/// # Ok::<(), ferroblosc::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the shape of an array",
    note = "a shape is an array or a slice of `i64`, a `&Layout` or a `Geometry`"
)]
pub trait IntoGeometry: sealed::Sealed {
    /// Returns the geometry of an array with items of `itemsize` bytes.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for invalid shapes.
    fn into_geometry(self, itemsize: i32) -> Result<Geometry>;
}

macro_rules! into_geometry {
    ($([$($generics:tt)*] $type:ty: $self:ident, $itemsize:ident => $geometry:expr;)*) => {
        $(
            impl<$($generics)*> sealed::Sealed for $type {}

            impl<$($generics)*> IntoGeometry for $type {
                fn into_geometry($self, $itemsize: i32) -> Result<Geometry> {
                    $geometry
                }
            }
        )*
    };
}

into_geometry! {
    [] &Layout<'_>: self, _itemsize => Geometry::new(self.shape, self.chunkshape, self.blockshape);
    [] Geometry: self, _itemsize => self.recomputed();
    [] &[i64]: self, itemsize => Layout::auto(self, itemsize);
    [] &Vec<i64>: self, itemsize => Layout::auto(self, itemsize);
    [const N: usize] [i64; N]: self, itemsize => Layout::auto(&self, itemsize);
    [const N: usize] &[i64; N]: self, itemsize => Layout::auto(self, itemsize);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(shape: &[i64], itemsize: i32) -> (Vec<i32>, Vec<i32>) {
        let geometry = Layout::auto(shape, itemsize).unwrap();
        assert_eq!(geometry.shape(), shape);
        (geometry.chunkshape().to_vec(), geometry.blockshape().to_vec())
    }

    #[test]
    fn small_arrays_have_one_chunk() {
        assert_eq!(auto(&[], 8), (vec![], vec![]));
        assert_eq!(auto(&[10, 20], 4), (vec![10, 20], vec![10, 20]));
        assert_eq!(auto(&[512, 512], 4), (vec![512, 512], vec![128, 128]));
        assert_eq!(auto(&[0, 20], 4), (vec![1, 20], vec![1, 20]));
    }

    #[test]
    fn the_longest_dimensions_are_halved() {
        // The Fortran modules have the same rule; their tests contain these shapes.
        assert_eq!(auto(&[100, 2000, 3000], 8), (vec![52, 64, 48], vec![13, 16, 24]));
    }

    #[test]
    fn chunks_and_blocks_do_not_exceed_their_maximum_sizes() {
        let shapes: [&[i64]; 8] = [
            &[1 << 40],
            &[12_345_678],
            &[5000, 4000],
            &[99_999, 3],
            &[3, 99_999],
            &[1000, 1000, 1000],
            &[7, 1001, 13, 1017],
            &[2; 16],
        ];
        for shape in shapes {
            for itemsize in [1, 3, 4, 8, 255, 1000] {
                let geometry = Layout::auto(shape, itemsize).unwrap();
                let block = i64::from(geometry.blocknitems) * i64::from(itemsize);
                let chunk = geometry.extchunknitems * i64::from(itemsize);
                assert!(block <= BLOCK_BYTES, "{shape:?} {itemsize}");
                assert!(block > BLOCK_BYTES / 4 || chunk == block, "{shape:?} {itemsize} {block}");
                assert!(chunk <= CHUNK_BYTES * 5 / 4, "{shape:?} {itemsize} {chunk}");
                super::super::create::check_sizes(&geometry, itemsize).unwrap();
                for dim in 0..shape.len() {
                    let (c, b) = (geometry.chunkshape[dim], geometry.blockshape[dim]);
                    assert!(i64::from(c) >= shape[dim] || c % b == 0, "{shape:?} {c} {b}");
                }
            }
        }
    }

    #[test]
    fn large_items_have_blocks_of_their_own() {
        assert_eq!(auto(&[9], 1 << 20), (vec![2], vec![1]));
        assert_eq!(auto(&[9, 9], i32::MAX), (vec![1, 1], vec![1, 1]));
    }

    #[test]
    fn changed_shapes_of_a_geometry_are_checked_and_determine_its_sizes() {
        let chosen = Layout::auto(&[100, 100], 1).unwrap();
        let changed = |change: fn(&mut Geometry)| {
            let mut geometry = chosen;
            change(&mut geometry);
            geometry.into_geometry(1)
        };
        assert_eq!(changed(|_| ()), Ok(chosen));
        let blocks = Geometry::new(&[100, 100], &[100, 100], &[10, 100]).unwrap();
        assert_eq!(changed(|geometry| geometry.blockshape[0] = 10), Ok(blocks));
        assert_eq!(changed(|geometry| geometry.blocknitems = 1), Ok(chosen));
        assert_eq!(changed(|geometry| geometry.extchunkshape[1] = 1 << 40), Ok(chosen));
        assert_eq!(changed(|geometry| geometry.nitems = -1), Ok(chosen));
        assert_eq!(changed(|geometry| geometry.chunkshape[0] = 0), Err(Error::InvalidParam));
        assert_eq!(changed(|geometry| geometry.ndim = 17), Err(Error::InvalidParam));
    }

    #[test]
    fn invalid_shapes_are_refused() {
        for (shape, itemsize) in
            [(&[5][..], 0), (&[5], -1), (&[-1], 1), (&[1; 17], 1), (&[i64::MAX, 2], 1)]
        {
            assert_eq!(Layout::auto(shape, itemsize), Err(Error::InvalidParam), "{shape:?}");
        }
    }
}
