//! Views with added or removed dimensions of extent 1, which share the chunks and blocks of their
//! array.

use super::MAX_DIM;
use super::geometry::Geometry;
use super::meta;
use super::state::Chunks;
use crate::schunk::Layers;
use crate::{Error, Result};

/// Refuses a base with additional metalayers, whose meaning for a view is unknown.
///
/// # Errors
/// [`Error::InvalidParam`].
pub fn check_base(s: &Chunks<'_>) -> Result<()> {
    let mut is_alone = true;
    s.with_layers(Layers::Fixed, &mut |layers| {
        is_alone = layers.iter().all(|&(name, _)| name == meta::NAME.as_bytes());
    });
    if is_alone { Ok(()) } else { Err(Error::InvalidParam) }
}

/// Returns the geometry with dimensions of extent 1 at the marked positions and the old dimensions
/// at the others.
///
/// # Errors
/// [`Error::InvalidParam`] if the positions for the old dimensions are too few or too many, or the
/// result has too many dimensions.
pub fn expanded(geometry: &Geometry, is_new: &[bool]) -> Result<Geometry> {
    let old = is_new.iter().filter(|&&is_new| !is_new).count();
    if old != geometry.ndim || is_new.len() > MAX_DIM {
        return Err(Error::InvalidParam);
    }
    let (mut shape, mut chunkshape, mut blockshape) = (Vec::new(), Vec::new(), Vec::new());
    let mut dim = 0;
    for &is_new in is_new {
        if is_new {
            shape.push(1);
            chunkshape.push(1);
            blockshape.push(1);
        } else {
            shape.push(geometry.shape[dim]);
            chunkshape.push(geometry.chunkshape[dim]);
            blockshape.push(geometry.blockshape[dim]);
            dim += 1;
        }
    }
    Geometry::new(&shape, &chunkshape, &blockshape)
}

/// Returns the geometry without the marked dimensions, which must have extent 1.
///
/// # Errors
/// [`Error::InvalidIndex`] for a dimension of another extent; [`Error::InvalidParam`] for one whose
/// chunk or block extent is larger, and if the numbers of marks and dimensions differ.
pub fn squeezed(geometry: &Geometry, is_left_out: &[bool]) -> Result<Geometry> {
    if is_left_out.len() != geometry.ndim {
        return Err(Error::InvalidParam);
    }
    let (mut shape, mut chunkshape, mut blockshape) = (Vec::new(), Vec::new(), Vec::new());
    for (dim, &is_left_out) in is_left_out.iter().enumerate() {
        let (chunk, block) = (geometry.chunkshape[dim], geometry.blockshape[dim]);
        if is_left_out {
            if geometry.shape[dim] != 1 {
                return Err(Error::InvalidIndex);
            }
            if chunk != 1 || block != 1 {
                return Err(Error::InvalidParam);
            }
        } else {
            shape.push(geometry.shape[dim]);
            chunkshape.push(chunk);
            blockshape.push(block);
        }
    }
    Geometry::new(&shape, &chunkshape, &blockshape)
}

/// Returns a mark for each dimension of extent 1.
pub fn unit_dims(geometry: &Geometry) -> Vec<bool> {
    geometry.shape().iter().map(|&extent| extent == 1).collect()
}

/// Whether each chunk of a view has the same number in its base, whose shape may have changed since
/// the view was made. Dimensions of one chunk, which views add and remove, do not affect numbers,
/// and neither does the extent of the outermost other dimension.
pub fn has_numbers_of(view: &Geometry, base: &Geometry) -> bool {
    let grid = |geometry: &Geometry| -> Vec<i64> {
        let along = (0..geometry.ndim).map(|dim| geometry.chunks_along(dim));
        along.filter(|&count| count != 1).collect()
    };
    let (view, base) = (grid(view), grid(base));
    let Some((&outer, inner)) = view.split_first() else {
        return true;
    };
    if outer == 0 || inner.contains(&0) {
        return true;
    }
    match base.len().checked_sub(view.len()) {
        None => false,
        Some(0) => base[0] >= outer && base[1..] == *inner,
        Some(more) => base[more..] == view,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_has_the_chunk_numbers_of_a_base_that_grew_only_along_its_outermost_dimension() {
        let of = |shape: &[i64]| {
            let parts = vec![2; shape.len()];
            Geometry::new(shape, &parts, &parts).unwrap()
        };
        let view = Geometry::new(&[1, 4, 6], &[1, 2, 2], &[1, 2, 2]).unwrap();
        for (shape, expected) in [
            ([4, 6], true),
            ([9, 6], true),
            ([4, 5], true),
            ([4, 8], false),
            ([4, 4], false),
            ([4, 2], false),
            ([2, 6], false),
            ([0, 6], false),
        ] {
            assert_eq!(has_numbers_of(&view, &of(&shape)), expected, "{shape:?}");
        }
        let row = of(&[2, 6]);
        assert!(has_numbers_of(&row, &of(&[4, 6])) && has_numbers_of(&row, &of(&[1, 9])));
        assert!(!has_numbers_of(&row, &of(&[4, 9])));
        // One chunk is always the first one; without items there is none.
        assert!(has_numbers_of(&of(&[2, 2]), &of(&[9, 9])));
        assert!(has_numbers_of(&of(&[0, 6]), &of(&[9, 9])));
    }

    #[test]
    fn row_n28_expanded_views_keep_all_dimensions() {
        let g = Geometry::new(&[5, 7], &[4, 4], &[2, 2]).unwrap();
        let expanded = |is_new: &[bool]| expanded(&g, is_new);
        let three = expanded(&[false, true, false]).unwrap();
        assert_eq!((three.shape(), three.chunkshape()), (&[5, 1, 7][..], &[4, 1, 4][..]));
        assert_eq!(three.nchunks(), 4);
        assert_eq!(expanded(&[true, false]), Err(Error::InvalidParam));
        assert_eq!(expanded(&[false; 3]), Err(Error::InvalidParam));
        let mut many = [true; 17];
        many[..2].fill(false);
        assert_eq!(expanded(&many), Err(Error::InvalidParam));
    }

    #[test]
    fn row_n29_dimensions_with_a_larger_chunk_extent_are_not_removed() {
        let g = Geometry::new(&[1, 7, 1], &[1, 4, 2], &[1, 2, 1]).unwrap();
        assert_eq!(squeezed(&g, &[true, false, false]).unwrap().shape(), [7, 1]);
        assert_eq!(squeezed(&g, &[false, false, true]), Err(Error::InvalidParam));
        assert_eq!(squeezed(&g, &[false, true, false]), Err(Error::InvalidIndex));
        assert_eq!(squeezed(&g, &[false; 3]), Ok(g));
        assert_eq!(unit_dims(&g), [true, false, true]);
    }
}
