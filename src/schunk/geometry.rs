//! Conversion between item numbers and multidimensional indices, in row-major (C) order.

/// Converts item number `i` to its index in an array of the given shape. The first index may exceed
/// its extent. If an inner extent is zero, all indices are zero.
pub fn unidim_to_multidim(shape: &[i64], i: i64, index: &mut [i64]) {
    let mut rest = i;
    let inner: &[i64] = shape.get(1..).unwrap_or_default();
    if inner.contains(&0) {
        index.fill(0);
        return;
    }
    let mut stride = inner.iter().fold(1i64, |product, &extent| product.wrapping_mul(extent));
    for (dim, index) in index.iter_mut().enumerate().take(shape.len()) {
        // The stride is zero if the product wrapped to zero.
        *index = rest.checked_div(stride).unwrap_or(0);
        rest = rest.checked_rem(stride).unwrap_or(0);
        let next = shape.get(dim + 1).copied().unwrap_or(1);
        stride = stride.checked_div(next).unwrap_or(1);
    }
}

/// Returns the number of the item at `index`: the sum of the indices times the strides.
pub fn multidim_to_unidim(index: &[i64], strides: &[i64]) -> i64 {
    index
        .iter()
        .zip(strides)
        .fold(0i64, |sum, (&index, &stride)| sum.wrapping_add(index.wrapping_mul(stride)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index_of(shape: &[i64], i: i64) -> Vec<i64> {
        let mut index = vec![-7; shape.len()];
        unidim_to_multidim(shape, i, &mut index);
        index
    }

    #[test]
    fn indices_match_the_reference() {
        assert_eq!(index_of(&[2, 3, 4], 17), [1, 1, 1]);
        assert_eq!(index_of(&[2, 3, 4], 100), [8, 1, 0]);
        assert_eq!(index_of(&[2, 3, 4], -1), [0, 0, -1]);
        assert_eq!(index_of(&[], 5), []);
        assert_eq!(multidim_to_unidim(&[1, 1, 1], &[12, 4, 1]), 17);
        assert_eq!(multidim_to_unidim(&[], &[]), 0);
    }

    #[test]
    fn row_s21_a_zero_extent_yields_zero_indices() {
        assert_eq!(index_of(&[2, 0, 4], 17), [0, 0, 0]);
        assert_eq!(index_of(&[2, 3, 0], 17), [0, 0, 0]);
        assert_eq!(index_of(&[0, 3], 17), [5, 2]);
    }
}
