//! Splits a C-order run of items of an array into n-dimensional boxes.

/// The items from `start` to `stop` (exclusive) in each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NdBox {
    /// The first index in each dimension.
    pub start: Vec<i64>,
    /// The index after the last one in each dimension.
    pub stop: Vec<i64>,
}

/// Returns the boxes that cover `count` items from item `first`, in C order.
pub fn boxes(shape: &[i64], first: u64, count: u64) -> Vec<NdBox> {
    let mut found = Vec::new();
    if count > 0 {
        cut(shape, &mut Vec::new(), first, first + count, &mut found);
    }
    found
}

/// Splits items `first..last` of the subarray at index `prefix`.
fn cut(shape: &[i64], prefix: &mut Vec<i64>, first: u64, last: u64, found: &mut Vec<NdBox>) {
    let depth = prefix.len();
    if depth == shape.len() {
        found.push(box_at(shape, prefix, &[]));
        return;
    }
    let inner = shape[depth + 1..]
        .iter()
        .fold(1_u64, |product, &len| product.saturating_mul(len.unsigned_abs()));
    let (mut row, end) = (first / inner, last / inner);
    let head = first % inner;
    if head > 0 || row == end {
        let stop = last.min((row + 1) * inner);
        prefix.push(row as i64);
        cut(shape, prefix, head, stop - row * inner, found);
        prefix.pop();
        row += 1;
    }
    if row < end {
        found.push(box_at(shape, prefix, &[(row as i64, end as i64)]));
    }
    if !last.is_multiple_of(inner) && row <= end {
        prefix.push(end as i64);
        cut(shape, prefix, 0, last % inner, found);
        prefix.pop();
    }
}

/// Returns the box at index `prefix`, limited to `range` in the next dimension and complete in the
/// others.
fn box_at(shape: &[i64], prefix: &[i64], range: &[(i64, i64)]) -> NdBox {
    let mut start = prefix.to_vec();
    let mut stop: Vec<i64> = prefix.iter().map(|index| index + 1).collect();
    for &(first, last) in range {
        start.push(first);
        stop.push(last);
    }
    for &len in &shape[start.len()..] {
        start.push(0);
        stop.push(len);
    }
    NdBox { start, stop }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the C-order indices of the items in a box.
    fn items(shape: &[i64], nd_box: &NdBox) -> Vec<u64> {
        let mut numbers = vec![0];
        for ((&len, &start), &stop) in shape.iter().zip(&nd_box.start).zip(&nd_box.stop) {
            numbers = numbers
                .into_iter()
                .flat_map(|number: u64| (start..stop).map(move |i| number * len as u64 + i as u64))
                .collect();
        }
        numbers
    }

    #[test]
    fn boxes_cover_every_run_of_every_small_shape_in_order() {
        for shape in [&[][..], &[7], &[3, 5], &[4, 1, 3], &[2, 3, 2, 2], &[1, 1, 6]] {
            let total: i64 = shape.iter().product();
            for first in 0..total as u64 {
                for last in first..=total as u64 {
                    let found = boxes(shape, first, last - first);
                    assert!(found.len() <= 2 * shape.len() + 1, "{shape:?}");
                    let numbers: Vec<u64> =
                        found.iter().flat_map(|nd_box| items(shape, nd_box)).collect();
                    let expected: Vec<u64> = (first..last).collect();
                    assert_eq!(numbers, expected, "{shape:?} {first}..{last}");
                }
            }
        }
    }
}
