//! The shapes of an array: the distribution of its items over chunks and blocks.
//!
//! ```text
//! shape         extents of the array         extshape       rounded up to whole chunks
//! chunkshape    extents of a chunk           extchunkshape  rounded up to whole blocks
//! blockshape    extents of a block
//! ```
//!
//! Chunks within the array, blocks within their chunk and items within their block are all in
//! row-major order; each block is contiguous. (Source: the B2ND format of C-Blosc2.)

use super::MAX_DIM;
use crate::{Error, Result};

/// The shapes of an array and derived sizes. Entries from `ndim` on are 1. A new array has the
/// dimensions, the shape, and the chunk and block shapes of its geometry; its sizes are computed
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Geometry {
    /// The number of dimensions.
    pub ndim: usize,
    /// Extent of the array in each dimension, in items.
    pub shape: [i64; MAX_DIM],
    /// Extent of a chunk in each dimension, in items.
    pub chunkshape: [i32; MAX_DIM],
    /// Extent of a block in each dimension, in items.
    pub blockshape: [i32; MAX_DIM],
    /// The shape, rounded up to whole chunks.
    pub extshape: [i64; MAX_DIM],
    /// The shape of a chunk, rounded up to whole blocks.
    pub extchunkshape: [i64; MAX_DIM],
    /// The number of items in the array.
    pub nitems: i64,
    /// The number of items in a chunk.
    pub chunknitems: i32,
    /// The number of items in a block.
    pub blocknitems: i32,
    /// The number of items in the array, rounded up to whole chunks.
    pub extnitems: i64,
    /// The number of items in a chunk, rounded up to whole blocks.
    pub extchunknitems: i64,
}

/// The strides in the C struct of an array. Entries from `ndim` on are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Strides {
    /// Strides of items in the array.
    pub item_array: [i64; MAX_DIM],
    /// Strides of items in a chunk.
    pub item_chunk: [i64; MAX_DIM],
    /// Strides of items in a padded chunk.
    pub item_extchunk: [i64; MAX_DIM],
    /// Strides of items in a block.
    pub item_block: [i64; MAX_DIM],
    /// Strides of blocks in a chunk.
    pub block_chunk: [i64; MAX_DIM],
    /// Products of extents and chunk shapes. The reference's name for this field is misleading.
    pub chunk_array: [i64; MAX_DIM],
}

/// Rounds `value` up to a multiple of `unit`; returns 0 if `unit` is 0.
fn rounded_up(value: i64, unit: i64) -> Result<i64> {
    if unit == 0 {
        return Ok(0);
    }
    let units = value / unit + i64::from(value % unit != 0);
    units.checked_mul(unit).ok_or_else(too_many)
}

#[cold]
fn too_many() -> Error {
    Error::InvalidParam.because("the number of items overflows")
}

fn product(extents: &[i64]) -> Result<i64> {
    extents
        .iter()
        .try_fold(1i64, |product, &extent| product.checked_mul(extent))
        .ok_or_else(too_many)
}

fn small_product(extents: &[i32]) -> Result<i32> {
    extents
        .iter()
        .try_fold(1i32, |product, &extent| product.checked_mul(extent))
        .ok_or_else(too_many)
}

/// Copies `values` to an array and sets the other entries to 1.
fn padded<T: Copy + From<u8>>(values: &[T]) -> [T; MAX_DIM] {
    let mut all = [T::from(1); MAX_DIM];
    all[..values.len()].copy_from_slice(values);
    all
}

/// Checks the number of dimensions.
///
/// # Errors
/// [`Error::InvalidParam`] for more than [`MAX_DIM`].
pub(super) fn check_ndim(ndim: usize) -> Result<()> {
    if ndim <= MAX_DIM {
        return Ok(());
    }
    let text = format!("the shape has {ndim} dimensions, and at most {MAX_DIM} are possible");
    Err(Error::InvalidParam.because(text))
}

impl Geometry {
    /// Builds the geometry from shapes with one entry per dimension.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for shapes of different lengths or more than [`MAX_DIM`] dimensions,
    /// negative extents, a chunk or block extent of 0 along a non-empty dimension, and item counts
    /// that overflow.
    pub fn new(shape: &[i64], chunkshape: &[i32], blockshape: &[i32]) -> Result<Geometry> {
        let ndim = shape.len();
        check_ndim(ndim)?;
        if chunkshape.len() != ndim || blockshape.len() != ndim {
            return Err(Error::InvalidParam.because(format!(
                "the shapes of array, chunks and blocks have {ndim}, {} and {} dimensions",
                chunkshape.len(),
                blockshape.len()
            )));
        }
        let mut extshape = [1; MAX_DIM];
        let mut extchunkshape = [1; MAX_DIM];
        for dim in 0..ndim {
            let (s, c, b) = (shape[dim], chunkshape[dim], blockshape[dim]);
            let is_sound = s >= 0 && c >= 0 && b >= 0 && (c == 0 || b > 0) && (s == 0 || c > 0);
            if !is_sound {
                return Err(Error::InvalidParam.because(format!(
                    "axis {dim} cannot have {s} items in chunks of {c} and blocks of {b}"
                )));
            }
            extshape[dim] = rounded_up(s, i64::from(c))?;
            extchunkshape[dim] = rounded_up(i64::from(c), i64::from(b))?;
        }
        Ok(Geometry {
            ndim,
            shape: padded(shape),
            chunkshape: padded(chunkshape),
            blockshape: padded(blockshape),
            nitems: product(shape)?,
            chunknitems: small_product(chunkshape)?,
            blocknitems: small_product(blockshape)?,
            extnitems: product(&extshape)?,
            extchunknitems: product(&extchunkshape)?,
            extshape,
            extchunkshape,
        })
    }

    /// Returns the geometry of these shapes, with all sizes computed again, because programs can
    /// change the fields.
    ///
    /// # Errors
    /// Returns the same errors as [`Geometry::new`].
    pub(super) fn recomputed(&self) -> Result<Geometry> {
        check_ndim(self.ndim)?;
        self.with_shape(self.shape())
    }

    /// Returns the geometry of another shape with the same chunk and block shapes.
    ///
    /// # Errors
    /// Returns the same errors as [`Geometry::new`].
    pub fn with_shape(&self, shape: &[i64]) -> Result<Geometry> {
        Geometry::new(shape, self.chunkshape(), self.blockshape())
    }

    /// Returns the extent of the array in each dimension, in items.
    pub fn shape(&self) -> &[i64] {
        &self.shape[..self.ndim]
    }

    /// Returns the extent of a chunk in each dimension, in items.
    pub fn chunkshape(&self) -> &[i32] {
        &self.chunkshape[..self.ndim]
    }

    /// Returns the extent of a block in each dimension, in items.
    pub fn blockshape(&self) -> &[i32] {
        &self.blockshape[..self.ndim]
    }

    /// Whether the chunk and block shapes equal those of `other`.
    pub fn has_partitions_of(&self, other: &Geometry) -> bool {
        self.chunkshape() == other.chunkshape() && self.blockshape() == other.blockshape()
    }

    /// Returns the number of chunks along a dimension.
    pub fn chunks_along(&self, dim: usize) -> i64 {
        match self.chunkshape[dim] {
            0 => 0,
            chunk => self.extshape[dim] / i64::from(chunk),
        }
    }

    /// Returns the number of blocks of a chunk along a dimension.
    pub fn blocks_along(&self, dim: usize) -> i64 {
        match self.blockshape[dim] {
            0 => 0,
            block => self.extchunkshape[dim] / i64::from(block),
        }
    }

    /// Returns the number of chunks.
    pub fn nchunks(&self) -> i64 {
        (0..self.ndim).map(|dim| self.chunks_along(dim)).product()
    }

    /// Returns the strides of chunks in the array.
    pub fn chunk_strides(&self) -> [i64; MAX_DIM] {
        let mut strides = [0; MAX_DIM];
        let mut stride = 1i64;
        for dim in (0..self.ndim).rev() {
            strides[dim] = stride;
            stride = stride.saturating_mul(self.chunks_along(dim));
        }
        strides
    }

    /// Returns the strides of blocks in a chunk.
    pub fn block_strides(&self) -> [i64; MAX_DIM] {
        let mut strides = [0; MAX_DIM];
        let mut stride = 1i64;
        for dim in (0..self.ndim).rev() {
            strides[dim] = stride;
            stride = stride.saturating_mul(self.blocks_along(dim));
        }
        strides
    }

    /// Returns the size of a chunk in bytes.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] if it exceeds 32 bits.
    pub fn chunksize(&self, typesize: i32) -> Result<usize> {
        let bytes = self.extchunknitems.checked_mul(i64::from(typesize));
        bytes
            .and_then(|bytes| i32::try_from(bytes).ok())
            .and_then(|bytes| usize::try_from(bytes).ok())
            .ok_or(Error::InvalidParam)
    }

    /// Whether the concatenated blocks of a chunk are its items in row-major order.
    pub fn is_linear(&self) -> bool {
        // Before the split dimension, blocks have extent 1; after it, they have the extent of the
        // chunk.
        let whole = (0..self.ndim).rev().take_while(|&dim| self.blocks_along(dim) == 1).count();
        let cut = self.ndim - whole;
        cut <= 1 || self.blockshape[..cut - 1].iter().all(|&block| block == 1)
    }

    /// Returns the strides for C programs.
    pub fn strides(&self) -> Strides {
        let mut strides = Strides::default();
        let Some(last) = self.ndim.checked_sub(1) else {
            return strides;
        };
        for row in strides.rows() {
            row[last] = 1;
        }
        for dim in (0..last).rev() {
            let inner = dim + 1;
            let (chunk, block) = (self.chunkshape[inner], self.blockshape[inner]);
            if self.shape[inner] == 0 || chunk == 0 || block == 0 {
                continue;
            }
            let (chunk, block) = (i64::from(chunk), i64::from(block));
            let factors = [
                self.shape[inner],
                chunk,
                self.extchunkshape[inner],
                block,
                self.extchunkshape[inner] / block,
                self.extshape[inner].wrapping_mul(chunk),
            ];
            for (row, factor) in strides.rows().into_iter().zip(factors) {
                row[dim] = row[inner].wrapping_mul(factor);
            }
        }
        strides
    }
}

impl Strides {
    fn rows(&mut self) -> [&mut [i64; MAX_DIM]; 6] {
        [
            &mut self.item_array,
            &mut self.item_chunk,
            &mut self.item_extchunk,
            &mut self.item_block,
            &mut self.block_chunk,
            &mut self.chunk_array,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_examples_have_the_expected_geometry() {
        let g = Geometry::new(&[5, 7], &[4, 4], &[2, 2]).unwrap();
        assert_eq!((&g.extshape[..2], &g.extchunkshape[..2]), (&[8, 8][..], &[4, 4][..]));
        assert_eq!((g.nchunks(), g.extnitems, g.extchunknitems), (4, 64, 16));
        let g = Geometry::new(&[5, 7], &[4, 5], &[3, 2]).unwrap();
        assert_eq!((&g.extshape[..2], &g.extchunkshape[..2]), (&[8, 10][..], &[6, 6][..]));
        assert_eq!((g.nchunks(), g.extnitems, g.extchunknitems), (4, 80, 36));
        let g = Geometry::new(&[], &[], &[]).unwrap();
        assert_eq!((g.nchunks(), g.nitems, g.extchunknitems, g.blocknitems), (1, 1, 1, 1));
        let g = Geometry::new(&[0, 5], &[0, 5], &[0, 5]).unwrap();
        assert_eq!((g.nchunks(), g.nitems, g.extchunknitems), (0, 0, 0));
    }

    #[test]
    fn row_n38_chunk_array_strides_are_products_and_entries_after_ndim_are_zero() {
        let of = |shape: &[i64], chunks: &[i32], blocks: &[i32]| {
            Geometry::new(shape, chunks, blocks).unwrap().strides()
        };
        let strides = of(&[5, 7], &[4, 4], &[2, 2]);
        let two = |row: [i64; MAX_DIM]| {
            assert!(row[2..].iter().all(|&entry| entry == 0));
            [row[0], row[1]]
        };
        assert_eq!(two(strides.item_array), [7, 1]);
        assert_eq!(two(strides.item_chunk), [4, 1]);
        assert_eq!(two(strides.item_extchunk), [4, 1]);
        assert_eq!(two(strides.item_block), [2, 1]);
        assert_eq!(two(strides.block_chunk), [2, 1]);
        assert_eq!(two(strides.chunk_array), [32, 1]);
        let strides = of(&[5, 7], &[4, 5], &[3, 2]);
        assert_eq!(two(strides.item_extchunk), [6, 1]);
        assert_eq!(two(strides.block_chunk), [3, 1]);
        assert_eq!(two(strides.chunk_array), [50, 1]);
        assert_eq!(two(of(&[0, 0], &[0, 0], &[0, 0]).item_array), [0, 1]);
        assert_eq!(two(of(&[0, 5], &[4, 4], &[2, 2]).item_array), [5, 1]);
        assert_eq!(of(&[], &[], &[]), Strides::default());
    }

    #[test]
    fn invalid_shapes_are_refused() {
        let refused = |shape: &[i64], chunks: &[i32], blocks: &[i32]| {
            assert_eq!(Geometry::new(shape, chunks, blocks), Err(Error::InvalidParam));
        };
        refused(&[5, 7], &[4], &[2, 2]);
        refused(&[-1], &[1], &[1]);
        refused(&[1], &[-1], &[1]);
        refused(&[1], &[1], &[-1]);
        refused(&[1], &[1], &[0]);
        refused(&[1], &[0], &[0]);
        refused(&[0], &[1], &[0]);
        refused(&[1 << 32, 1 << 32], &[1, 1], &[1, 1]);
        refused(&[i64::MAX], &[2], &[1]);
        refused(&[1, 1], &[1 << 16, 1 << 16], &[1, 1]);
        refused(&[1, 1], &[1, 1], &[1 << 16, 1 << 16]);
        refused(&[1; 17], &[1; 17], &[1; 17]);
    }

    #[test]
    fn linear_chunks_are_recognised() {
        let linear = |chunks: &[i32], blocks: &[i32]| {
            let shape = vec![100; chunks.len()];
            Geometry::new(&shape, chunks, blocks).unwrap().is_linear()
        };
        assert!(linear(&[], &[]));
        assert!(linear(&[10], &[3]));
        assert!(linear(&[5, 10], &[2, 10]));
        assert!(linear(&[5, 10], &[1, 3]));
        assert!(linear(&[2, 4, 5], &[1, 4, 5]));
        assert!(linear(&[2, 4, 5], &[1, 2, 5]));
        assert!(!linear(&[2, 4, 5], &[2, 2, 5]));
        assert!(!linear(&[4, 4], &[2, 2]));
    }

    /// Returns `value` rounded up to a multiple of `unit`, by counting.
    fn counted_up(value: i64, unit: i64) -> i64 {
        (0..).map(|units| units * unit).find(|&multiple| multiple >= value).unwrap()
    }

    #[test]
    fn every_small_geometry_has_its_counts_and_knows_if_its_chunks_are_linear() {
        let mut linear = [0; 2];
        for number in 0..5 * 5 * 5 * 5 * 5 * 5 {
            let digit = |place: u32| number / 5_i64.pow(place) % 5;
            let shape = [digit(0), digit(1)];
            let chunkshape = [digit(2) as i32, digit(3) as i32];
            let blockshape = [digit(4) as i32, digit(5) as i32];
            let is_valid = (0..2).all(|dim| {
                let (s, c, b) = (shape[dim], chunkshape[dim], blockshape[dim]);
                (b > 0 || c == 0) && (c > 0 || s == 0)
            });
            let geometry = Geometry::new(&shape, &chunkshape, &blockshape);
            assert_eq!(geometry.is_ok(), is_valid, "{shape:?} {chunkshape:?} {blockshape:?}");
            let Ok(geometry) = geometry else { continue };
            let mut nchunks = 1;
            for dim in 0..2 {
                let chunk = i64::from(chunkshape[dim]);
                let block = i64::from(blockshape[dim]);
                if chunk == 0 {
                    assert_eq!((geometry.extshape[dim], geometry.chunks_along(dim)), (0, 0));
                } else {
                    assert_eq!(geometry.extshape[dim], counted_up(shape[dim], chunk));
                    assert_eq!(geometry.chunks_along(dim) * chunk, geometry.extshape[dim]);
                    assert_eq!(geometry.extchunkshape[dim], counted_up(chunk, block));
                    assert_eq!(geometry.blocks_along(dim) * block, geometry.extchunkshape[dim]);
                }
                nchunks *= geometry.chunks_along(dim);
            }
            assert_eq!(geometry.nchunks(), nchunks);
            assert_eq!(geometry.nitems, shape[0] * shape[1]);
            assert_eq!(geometry.extnitems, geometry.extshape[0] * geometry.extshape[1]);
            let items = geometry.extchunkshape[0] * geometry.extchunkshape[1];
            assert_eq!(geometry.extchunknitems, items);
            if items == 0 {
                continue;
            }
            // The items of the blocks, one block after another.
            let columns = geometry.extchunkshape[1];
            let (height, width) = (i64::from(blockshape[0]), i64::from(blockshape[1]));
            let mut stored = Vec::new();
            for block in 0..geometry.blocks_along(0) * geometry.blocks_along(1) {
                let row = block / geometry.blocks_along(1) * height;
                let column = block % geometry.blocks_along(1) * width;
                let inside = (0..height).flat_map(|y| (0..width).map(move |x| (y, x)));
                stored.extend(inside.map(|(y, x)| (row + y) * columns + column + x));
            }
            let is_linear = stored.iter().copied().eq(0..items);
            assert_eq!(geometry.is_linear(), is_linear, "{chunkshape:?} {blockshape:?}");
            linear[usize::from(is_linear)] += 1;
        }
        assert!(linear.iter().all(|&count| count > 1000), "{linear:?}");
    }
}
