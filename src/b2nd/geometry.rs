//! The shapes of an array: how its items are spread over chunks and blocks.
//!
//! ```text
//! shape         items of the array           extshape       rounded up to whole chunks
//! chunkshape    items of a chunk             extchunkshape  rounded up to whole blocks
//! blockshape    items of a block
//! ```
//!
//! Chunks are numbered rows first over the array, blocks rows first over their chunk, items rows first over
//! their block; each block is contiguous. (Source: the B2ND format of C-Blosc2.)

use super::MAX_DIM;
use crate::{Error, Result};

/// The shapes of an array and all that follows from them. Entries from `ndim` on are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Dimensions.
    pub ndim: usize,
    /// Items along each dimension.
    pub shape: [i64; MAX_DIM],
    /// Items of a chunk along each dimension.
    pub chunkshape: [i32; MAX_DIM],
    /// Items of a block along each dimension.
    pub blockshape: [i32; MAX_DIM],
    /// The shape, rounded up to whole chunks.
    pub extshape: [i64; MAX_DIM],
    /// The shape of a chunk, rounded up to whole blocks.
    pub extchunkshape: [i64; MAX_DIM],
    /// Items of the array.
    pub nitems: i64,
    /// Items of a chunk.
    pub chunknitems: i32,
    /// Items of a block.
    pub blocknitems: i32,
    /// Items of the array, rounded up to whole chunks.
    pub extnitems: i64,
    /// Items that a chunk has room for.
    pub extchunknitems: i64,
}

/// The strides that C programs find in the struct of an array. Entries from `ndim` on are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strides {
    /// Of items in the array.
    pub item_array: [i64; MAX_DIM],
    /// Of items in a chunk.
    pub item_chunk: [i64; MAX_DIM],
    /// Of items in a chunk with its padding.
    pub item_extchunk: [i64; MAX_DIM],
    /// Of items in a block.
    pub item_block: [i64; MAX_DIM],
    /// Of blocks in a chunk.
    pub block_chunk: [i64; MAX_DIM],
    /// Products of extents and chunk shapes, which is not what the name says.
    pub chunk_array: [i64; MAX_DIM],
}

/// `value` rounded up to a multiple of `unit`; 0 when that is 0.
fn rounded_up(value: i64, unit: i64) -> Result<i64> {
    if unit == 0 {
        return Ok(0);
    }
    let units = value / unit + i64::from(value % unit != 0);
    units.checked_mul(unit).ok_or(Error::InvalidParam)
}

fn product(extents: &[i64]) -> Result<i64> {
    extents
        .iter()
        .try_fold(1i64, |product, &extent| product.checked_mul(extent))
        .ok_or(Error::InvalidParam)
}

fn small_product(extents: &[i32]) -> Result<i32> {
    extents
        .iter()
        .try_fold(1i32, |product, &extent| product.checked_mul(extent))
        .ok_or(Error::InvalidParam)
}

/// The first `N` of these as an array, the rest 1.
fn padded<T: Copy + From<u8>>(values: &[T]) -> [T; MAX_DIM] {
    let mut all = [T::from(1); MAX_DIM];
    all[..values.len()].copy_from_slice(values);
    all
}

impl Geometry {
    /// An array of these shapes, which have an entry for each dimension.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for shapes of different lengths or more than [`MAX_DIM`] dimensions, negative
    /// extents, a block or a chunk without items along a dimension that has some, and numbers of items
    /// that can't be counted.
    pub fn new(shape: &[i64], chunkshape: &[i32], blockshape: &[i32]) -> Result<Geometry> {
        let ndim = shape.len();
        if ndim > MAX_DIM || chunkshape.len() != ndim || blockshape.len() != ndim {
            return Err(Error::InvalidParam);
        }
        let mut extshape = [1; MAX_DIM];
        let mut extchunkshape = [1; MAX_DIM];
        for dim in 0..ndim {
            let (s, c, b) = (shape[dim], chunkshape[dim], blockshape[dim]);
            let is_sound = s >= 0 && c >= 0 && b >= 0 && (c == 0 || b > 0) && (s == 0 || c > 0);
            if !is_sound {
                return Err(Error::InvalidParam);
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

    /// The same partitions for another shape.
    ///
    /// # Errors
    /// As [`Geometry::new`].
    pub fn with_shape(&self, shape: &[i64]) -> Result<Geometry> {
        Geometry::new(shape, self.chunkshape(), self.blockshape())
    }

    /// Items along each dimension.
    pub fn shape(&self) -> &[i64] {
        &self.shape[..self.ndim]
    }

    /// Items of a chunk along each dimension.
    pub fn chunkshape(&self) -> &[i32] {
        &self.chunkshape[..self.ndim]
    }

    /// Items of a block along each dimension.
    pub fn blockshape(&self) -> &[i32] {
        &self.blockshape[..self.ndim]
    }

    /// Whether chunks and blocks have the shapes they have in another array.
    pub fn has_partitions_of(&self, other: &Geometry) -> bool {
        self.chunkshape() == other.chunkshape() && self.blockshape() == other.blockshape()
    }

    /// Chunks along a dimension.
    pub fn chunks_along(&self, dim: usize) -> i64 {
        match self.chunkshape[dim] {
            0 => 0,
            chunk => self.extshape[dim] / i64::from(chunk),
        }
    }

    /// Blocks along a dimension of a chunk.
    pub fn blocks_along(&self, dim: usize) -> i64 {
        match self.blockshape[dim] {
            0 => 0,
            block => self.extchunkshape[dim] / i64::from(block),
        }
    }

    /// Chunks of the array.
    pub fn nchunks(&self) -> i64 {
        (0..self.ndim).map(|dim| self.chunks_along(dim)).product()
    }

    /// Of the chunks along each dimension, how far apart neighbours are in number.
    pub fn chunk_strides(&self) -> [i64; MAX_DIM] {
        let mut strides = [0; MAX_DIM];
        let mut stride = 1i64;
        for dim in (0..self.ndim).rev() {
            strides[dim] = stride;
            stride = stride.saturating_mul(self.chunks_along(dim));
        }
        strides
    }

    /// The same for the blocks of a chunk.
    pub fn block_strides(&self) -> [i64; MAX_DIM] {
        let mut strides = [0; MAX_DIM];
        let mut stride = 1i64;
        for dim in (0..self.ndim).rev() {
            strides[dim] = stride;
            stride = stride.saturating_mul(self.blocks_along(dim));
        }
        strides
    }

    /// Bytes of each chunk.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] when they can't be counted in 32 bits.
    pub fn chunksize(&self, typesize: i32) -> Result<usize> {
        let bytes = self.extchunknitems.checked_mul(i64::from(typesize));
        bytes
            .and_then(|bytes| i32::try_from(bytes).ok())
            .and_then(|bytes| usize::try_from(bytes).ok())
            .ok_or(Error::InvalidParam)
    }

    /// Whether the blocks of a chunk, one after the other, are its items rows first.
    pub fn is_linear(&self) -> bool {
        // In front of the dimension that is cut, blocks have one item; behind it, all of the chunk.
        let whole = (0..self.ndim)
            .rev()
            .take_while(|&dim| self.blocks_along(dim) == 1)
            .count();
        let cut = self.ndim - whole;
        cut <= 1 || self.blockshape[..cut - 1].iter().all(|&block| block == 1)
    }

    /// The strides that C programs find.
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
    fn the_geometry_of_the_examples_is_as_published() {
        let g = Geometry::new(&[5, 7], &[4, 4], &[2, 2]).unwrap();
        assert_eq!(
            (&g.extshape[..2], &g.extchunkshape[..2]),
            (&[8, 8][..], &[4, 4][..])
        );
        assert_eq!((g.nchunks(), g.extnitems, g.extchunknitems), (4, 64, 16));
        let g = Geometry::new(&[5, 7], &[4, 5], &[3, 2]).unwrap();
        assert_eq!(
            (&g.extshape[..2], &g.extchunkshape[..2]),
            (&[8, 10][..], &[6, 6][..])
        );
        assert_eq!((g.nchunks(), g.extnitems, g.extchunknitems), (4, 80, 36));
        let g = Geometry::new(&[], &[], &[]).unwrap();
        assert_eq!(
            (g.nchunks(), g.nitems, g.extchunknitems, g.blocknitems),
            (1, 1, 1, 1)
        );
        let g = Geometry::new(&[0, 5], &[0, 5], &[0, 5]).unwrap();
        assert_eq!((g.nchunks(), g.nitems, g.extchunknitems), (0, 0, 0));
    }

    #[test]
    fn row_n38_chunk_array_strides_are_products_and_entries_behind_ndim_are_zero() {
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
    fn shapes_that_cannot_be_are_refused() {
        let refused = |shape: &[i64], chunks: &[i32], blocks: &[i32]| {
            assert_eq!(
                Geometry::new(shape, chunks, blocks),
                Err(Error::InvalidParam)
            );
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
    fn linear_chunks_are_told_from_others() {
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
}
