//! NDCELL and NDMEAN: split a block of an n-dimensional array into small cells.
//!
//! Both write the items cell by cell; the cells, and the items in each, are in row-major order.
//! Cells at the far edges are clipped. A 4×8 block of the bytes 0…31 with cells of side 2 becomes
//!
//! ```text
//! 0 1 8 9 | 2 3 10 11 | 4 5 12 13 | 6 7 14 15 | 16 17 24 25 | …
//! ```
//!
//! NDMEAN also replaces each item (a native float of 4 or 8 bytes) with the mean of its cell. The
//! meta is the side of the cells; the block shape comes from the array. That shape is untrusted:
//! [`Cells`] can only be created if the block has exactly its size, so all item offsets are in
//! bounds.

use super::{Filter, FilterCall, FilterInfo, Order, id};
use crate::blockshape::BlockShape;
use crate::{Error, Result};

struct NdCell;
struct NdMean;

/// The rows of both filters.
pub(super) const INFO_NDCELL: FilterInfo = row(id::NDCELL, "ndcell", &NdCell);
pub(super) const INFO_NDMEAN: FilterInfo = row(id::NDMEAN, "ndmean", &NdMean);

const fn row(id: u8, name: &'static str, filter: &'static dyn Filter) -> FilterInfo {
    FilterInfo {
        needs_meta: true,
        needs_shape: true,
        order: Order::Other,
        ..FilterInfo::new(id, name, filter)
    }
}

/// The largest number of dimensions the filters support.
const MAX_DIM: usize = 8;

/// A block divided into cells.
struct Cells {
    /// Items along each dimension; 1 in the unused leading dimensions.
    extents: [usize; MAX_DIM],
    /// Items of a full cell along each dimension.
    sides: [usize; MAX_DIM],
    /// Bytes between adjacent items along each dimension.
    strides: [usize; MAX_DIM],
    typesize: usize,
}

impl Cells {
    /// Divides a block of `len` bytes into cells; `side` maps an extent to the side of the cells.
    ///
    /// # Errors
    /// [`Error::Failure`] if the call has no array, or the block size does not match its shape.
    fn new(
        call: &FilterCall<'_>,
        typesize: usize,
        len: usize,
        side: impl Fn(usize) -> usize,
    ) -> Result<Cells> {
        let shape = BlockShape::from_context(&call.ctx).ok_or(Error::Failure)?;
        let nbytes = shape.items().and_then(|items| items.checked_mul(typesize));
        if shape.extents().len() > MAX_DIM || nbytes != Some(len) {
            return Err(Error::Failure);
        }
        let mut cells =
            Cells { extents: [1; MAX_DIM], sides: [1; MAX_DIM], strides: [len; MAX_DIM], typesize };
        let mut stride = typesize;
        let first = MAX_DIM - shape.extents().len();
        for (dim, &extent) in (first..MAX_DIM).zip(shape.extents()).rev() {
            cells.extents[dim] = extent;
            cells.sides[dim] = side(extent);
            cells.strides[dim] = stride;
            stride *= extent;
        }
        Ok(cells)
    }

    /// Calls `visit` for each cell in order, with the offset of its first item and its extents.
    fn for_each_cell(&self, mut visit: impl FnMut(usize, &[usize; MAX_DIM])) {
        let mut origin = [0; MAX_DIM];
        loop {
            let mut offset = 0;
            let mut clipped = self.sides;
            for dim in 0..MAX_DIM {
                offset += origin[dim] * self.strides[dim];
                clipped[dim] = clipped[dim].min(self.extents[dim] - origin[dim]);
            }
            visit(offset, &clipped);
            let next = (0..MAX_DIM).rev().find(|&dim| {
                origin[dim] += self.sides[dim];
                let inside = origin[dim] < self.extents[dim];
                if !inside {
                    origin[dim] = 0;
                }
                inside
            });
            if next.is_none() {
                return;
            }
        }
    }

    /// Calls `visit` for each row of each cell in order, with its offset and length in bytes.
    fn for_each_row(&self, mut visit: impl FnMut(usize, usize)) {
        const ROW: usize = MAX_DIM - 1;
        self.for_each_cell(|origin, clipped| {
            let len = clipped[ROW] * self.typesize;
            let mut index = [0; ROW];
            let mut offset = origin;
            loop {
                visit(offset, len);
                let next = (0..ROW).rev().find(|&dim| {
                    index[dim] += 1;
                    offset += self.strides[dim];
                    let inside = index[dim] < clipped[dim];
                    if !inside {
                        offset -= index[dim] * self.strides[dim];
                        index[dim] = 0;
                    }
                    inside
                });
                if next.is_none() {
                    return;
                }
            }
        });
    }

    /// Copies the items of a block into cell order.
    fn gather(&self, block: &[u8], mut cells: &mut [u8]) {
        self.for_each_row(|offset, len| {
            if let Some(row) = cells.split_off_mut(..len) {
                copy_row(&block[offset..offset + len], row);
            }
        });
    }

    /// Copies items in cell order back into a block.
    fn scatter(&self, mut cells: &[u8], block: &mut [u8]) {
        self.for_each_row(|offset, len| {
            if let Some(row) = cells.split_off(..len) {
                copy_row(row, &mut block[offset..offset + len]);
            }
        });
    }
}

/// Copies a row of a cell. Most rows have 16 or 32 bytes, for which a call of `memcpy` costs more
/// than the copy itself.
#[inline(always)]
fn copy_row(from: &[u8], to: &mut [u8]) {
    fn copy<const LEN: usize>(from: &[u8], to: &mut [u8]) -> bool {
        match (<&[u8; LEN]>::try_from(from), <&mut [u8; LEN]>::try_from(to)) {
            (Ok(from), Ok(to)) => {
                *to = *from;
                true
            }
            _ => false,
        }
    }
    if !(copy::<16>(from, to) || copy::<32>(from, to) || copy::<8>(from, to) || copy::<4>(from, to))
    {
        to.copy_from_slice(from);
    }
}

/// Returns the cells of NDCELL, which have the same side along all dimensions and at most as many
/// items as the block.
fn equal_cells(call: &FilterCall<'_>, typesize: usize, len: usize) -> Result<Cells> {
    let side = usize::from(call.meta);
    let cells = Cells::new(call, typesize, len, |_| side)?;
    let product = |items: usize, &side: &usize| items.checked_mul(side);
    match cells.sides.iter().try_fold(1, product) {
        Some(cell) if cell > 0 && cell <= len / typesize => Ok(cells),
        _ => Err(Error::Failure),
    }
}

/// Returns the cells of NDMEAN, clipped to the block along short dimensions.
fn bounded_cells(call: &FilterCall<'_>, typesize: usize, len: usize) -> Result<Cells> {
    /// The largest side; the meta is a signed byte.
    const MAX_SIDE: u8 = 127;
    if !(1..=MAX_SIDE).contains(&call.meta) {
        return Err(Error::Failure);
    }
    let side = usize::from(call.meta);
    Cells::new(call, typesize, len, |extent| side.min(extent))
}

/// Returns the item size for decompression: the one of the super-chunk.
fn stored_typesize(call: &FilterCall<'_>) -> Result<usize> {
    call.ctx.parent_typesize().ok_or(Error::Failure)
}

impl Filter for NdCell {
    fn forward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        equal_cells(call, call.ctx.typesize, src.len())?.gather(src, dest);
        Ok(())
    }

    fn backward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        equal_cells(call, stored_typesize(call)?, src.len())?.scatter(src, dest);
        Ok(())
    }

    fn may_change_data(&self) -> bool {
        false
    }
}

/// Replaces each item of consecutive cells with the mean of its cell, computed in the precision of
/// the items.
macro_rules! replace_by_means {
    ($cells:expr, $float:ty, $dest:expr) => {{
        let (mut items, _) = $dest.as_chunks_mut::<{ size_of::<$float>() }>();
        $cells.for_each_cell(|_, clipped| {
            let count = clipped.iter().product::<usize>();
            let Some(cell) = items.split_off_mut(..count) else {
                return;
            };
            let mut sum: $float = 0.0;
            for item in cell.iter() {
                sum += <$float>::from_ne_bytes(*item);
            }
            cell.fill((sum / count as $float).to_ne_bytes());
        });
    }};
}

impl Filter for NdMean {
    fn forward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        let typesize = call.ctx.typesize;
        let cells = bounded_cells(call, typesize, src.len())?;
        cells.gather(src, dest);
        match typesize {
            4 => replace_by_means!(cells, f32, dest),
            8 => replace_by_means!(cells, f64, dest),
            _ => return Err(Error::Failure),
        }
        Ok(())
    }

    fn backward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        bounded_cells(call, stored_typesize(call)?, src.len())?.scatter(src, dest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Reference, id};
    use super::*;
    use crate::blockshape::tests::Array;

    fn call(array: &Array, meta: u8) -> FilterCall<'_> {
        FilterCall {
            id: id::NDCELL,
            meta,
            version: 5,
            reference: Reference::Own,
            ctx: array.call_context(),
        }
    }

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    #[test]
    fn items_of_a_cell_are_contiguous() {
        let array = Array::new(1, &[4, 8]);
        let block: Vec<u8> = (0..32).collect();
        let mut cells = [0; 32];
        NdCell.forward(&call(&array, 2), &block, &mut cells).unwrap();
        let expected = [
            [0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15],
            [16, 17, 24, 25, 18, 19, 26, 27, 20, 21, 28, 29, 22, 23, 30, 31],
        ];
        assert_eq!(cells, expected.as_flattened());
        let mut back = [0; 32];
        NdCell.backward(&call(&array, 2), &cells, &mut back).unwrap();
        assert_eq!(back, block[..]);
    }

    /// Returns the definition of the order: items sorted by cell, then by index.
    fn by_definition(shape: &[usize], side: usize) -> Vec<usize> {
        let index_of = |mut item: usize| {
            let mut index: Vec<usize> = Vec::new();
            for &extent in shape.iter().rev() {
                index.insert(0, item % extent);
                item /= extent;
            }
            index
        };
        let mut items: Vec<usize> = (0..shape.iter().product()).collect();
        items.sort_by_key(|&item| index_of(item).iter().map(|i| i / side).collect::<Vec<_>>());
        items
    }

    #[test]
    fn clipped_cells_in_any_dimension_follow_the_definition() {
        let shapes: [&[i32]; 6] = [&[13], &[9, 7], &[2, 64], &[5, 3, 6], &[4, 3, 5, 3], &[2; 8]];
        for shape in shapes {
            for side in [1usize, 2, 3, 4] {
                for typesize in [1, 3, 4, 8] {
                    let array = Array::new(typesize as i32, shape);
                    let extents: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
                    let items: usize = extents.iter().product();
                    if side.pow(extents.len() as u32) > items {
                        continue;
                    }
                    let block: Vec<u8> =
                        (0..items * typesize).map(|i| (i * 7 + i / 251) as u8).collect();
                    let mut cells = vec![0; block.len()];
                    NdCell.forward(&call(&array, side as u8), &block, &mut cells).unwrap();
                    let expected: Vec<u8> = by_definition(&extents, side)
                        .iter()
                        .flat_map(|&item| &block[item * typesize..][..typesize])
                        .copied()
                        .collect();
                    assert!(cells == expected, "{shape:?}, side {side}, typesize {typesize}");
                    let mut back = vec![0; block.len()];
                    NdCell.backward(&call(&array, side as u8), &cells, &mut back).unwrap();
                    assert!(back == block, "{shape:?}, side {side}, typesize {typesize}");
                }
            }
        }
    }

    #[test]
    fn means_equal_the_known_vector() {
        let array = Array::new(4, &[4, 8]);
        let rows = [
            [1., 2., 2., 3., 3., 5., 0., 1.],
            [2., 0., 3., 1., 4., 2., 3., 5.],
            [1., 2., 2., 3., 3., 4., 5., 3.],
            [1., 3., 1., 2., 2., 4., 4., 8.],
        ];
        let block = floats(rows.as_flattened());
        let mut cells = vec![0; block.len()];
        NdMean.forward(&call(&array, 2), &block, &mut cells).unwrap();
        let means = [1.25, 2.25, 3.5, 2.25, 1.75, 2., 3.25, 5.];
        assert_eq!(cells, floats(means.map(|mean| [mean; 4]).as_flattened()));
        let mut back = vec![0; block.len()];
        NdMean.backward(&call(&array, 2), &cells, &mut back).unwrap();
        let (upper, lower) = (
            [1.25, 1.25, 2.25, 2.25, 3.5, 3.5, 2.25, 2.25],
            [1.75, 1.75, 2., 2., 3.25, 3.25, 5., 5.],
        );
        assert_eq!(back, floats([upper, upper, lower, lower].as_flattened()));
    }

    #[test]
    fn row_c36_each_dimension_has_its_own_cell_side() {
        let array = Array::new(4, &[2, 64]);
        let values: Vec<f32> = (0..128).map(|i| i as f32).collect();
        let mut cells = vec![0; 512];
        NdMean.forward(&call(&array, 4), &floats(&values), &mut cells).unwrap();
        let mut back = vec![0; 512];
        NdMean.backward(&call(&array, 4), &cells, &mut back).unwrap();
        // A cell is 2×4: columns 4k to 4k+3 of both rows, which are 64 items apart.
        let mean = |i: usize| (i % 64 / 4 * 4) as f32 + 33.5;
        let expected: Vec<f32> = (0..128).map(mean).collect();
        assert_eq!(back, floats(&expected));
    }

    #[test]
    fn blocks_of_another_shape_and_invalid_sides_are_rejected() {
        let (array, block) = (Array::new(4, &[16, 16]), [1; 1024]);
        let mut dest = [0; 1024];
        for (meta, is_fine) in [(0, false), (1, true), (16, true), (17, false), (255, false)] {
            let result = NdCell.forward(&call(&array, meta), &block, &mut dest);
            assert_eq!(result.is_ok(), is_fine, "side {meta}");
        }
        for (meta, is_fine) in [(0, false), (1, true), (127, true), (128, false)] {
            let result = NdMean.forward(&call(&array, meta), &block, &mut dest);
            assert_eq!(result.is_ok(), is_fine, "side {meta}");
        }
        for len in [0, 4, 1020, 1023] {
            let result = NdCell.backward(&call(&array, 4), &block[..len], &mut dest[..len]);
            assert_eq!(result, Err(Error::Failure), "{len} bytes");
        }
        let array = Array::new(2, &[16, 32]);
        let result = NdMean.forward(&call(&array, 4), &block, &mut dest);
        assert_eq!(result, Err(Error::Failure), "no floats");
        for shape in [&[1; 9][..], &[i32::MAX; 8], &[0, 16]] {
            let array = Array::new(4, shape);
            let result = NdCell.backward(&call(&array, 1), &block, &mut dest);
            assert_eq!(result, Err(Error::Failure), "{shape:?}");
        }
        let without_array = FilterCall { ctx: Default::default(), ..call(&array, 4) };
        assert_eq!(NdCell.backward(&without_array, &block, &mut dest), Err(Error::Failure));
    }
}
