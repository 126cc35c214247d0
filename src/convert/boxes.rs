//! A run of items of an array, cut into boxes: what follows each other in C's order is seldom one box, but always a
//! few.

/// Items from `start` to before `stop` along each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Box {
    /// The first index along each dimension.
    pub start: Vec<i64>,
    /// The index behind the last one.
    pub stop: Vec<i64>,
}

/// The boxes that hold the `count` items from item `first` on, in order.
pub fn boxes(shape: &[i64], first: u64, count: u64) -> Vec<Box> {
    let mut found = Vec::new();
    if count > 0 {
        cut(shape, &mut Vec::new(), first, first + count, &mut found);
    }
    found
}

/// Cuts the items from `first` to before `last` of what is at the indices in `front`.
fn cut(shape: &[i64], front: &mut Vec<i64>, first: u64, last: u64, found: &mut Vec<Box>) {
    let depth = front.len();
    if depth == shape.len() {
        found.push(whole(shape, front, &[]));
        return;
    }
    let inner = shape[depth + 1..].iter().fold(1_u64, |product, &len| {
        product.saturating_mul(len.unsigned_abs())
    });
    let (mut row, end) = (first / inner, last / inner);
    let head = first % inner;
    if head > 0 || row == end {
        let stop = last.min((row + 1) * inner);
        front.push(row as i64);
        cut(shape, front, head, stop - row * inner, found);
        front.pop();
        row += 1;
    }
    if row < end {
        found.push(whole(shape, front, &[(row as i64, end as i64)]));
    }
    if !last.is_multiple_of(inner) && row <= end {
        front.push(end as i64);
        cut(shape, front, 0, last % inner, found);
        front.pop();
    }
}

/// The box at the indices in `front`, within a range of the dimension behind them, and all of the others.
fn whole(shape: &[i64], front: &[i64], range: &[(i64, i64)]) -> Box {
    let mut start = front.to_vec();
    let mut stop: Vec<i64> = front.iter().map(|index| index + 1).collect();
    for &(first, last) in range {
        start.push(first);
        stop.push(last);
    }
    for &len in &shape[start.len()..] {
        start.push(0);
        stop.push(len);
    }
    Box { start, stop }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the items in a box, in order.
    fn items(shape: &[i64], piece: &Box) -> Vec<u64> {
        let mut numbers = vec![0];
        for ((&len, &start), &stop) in shape.iter().zip(&piece.start).zip(&piece.stop) {
            numbers = numbers
                .into_iter()
                .flat_map(|number: u64| (start..stop).map(move |i| number * len as u64 + i as u64))
                .collect();
        }
        numbers
    }

    #[test]
    fn every_run_of_every_small_shape_is_its_boxes_in_order() {
        for shape in [
            &[][..],
            &[7],
            &[3, 5],
            &[4, 1, 3],
            &[2, 3, 2, 2],
            &[1, 1, 6],
        ] {
            let total: i64 = shape.iter().product();
            for first in 0..total as u64 {
                for last in first..=total as u64 {
                    let found = boxes(shape, first, last - first);
                    assert!(found.len() <= 2 * shape.len() + 1, "{shape:?}");
                    let numbers: Vec<u64> =
                        found.iter().flat_map(|piece| items(shape, piece)).collect();
                    let expected: Vec<u64> = (first..last).collect();
                    assert_eq!(numbers, expected, "{shape:?} {first}..{last}");
                }
            }
        }
    }
}
