//! Copies boxes of items between arrays in C order.

/// One side of a copy: the shape of the array, and the index of the first item of the box.
pub struct Side<'a> {
    /// The shape.
    pub shape: &'a [u64],
    /// The index of the first item.
    pub start: &'a [u64],
}

impl Side<'_> {
    /// Returns the number of the first item of the box.
    fn first(&self) -> u64 {
        self.start.iter().zip(self.shape).fold(0, |number, (index, len)| number * len + index)
    }

    /// Returns the distances between neighbours in each dimension, in items.
    fn strides(&self) -> Vec<u64> {
        let mut strides = vec![1; self.shape.len()];
        for dim in (1..self.shape.len()).rev() {
            strides[dim - 1] = strides[dim] * self.shape[dim];
        }
        strides
    }
}

/// Copies the items of a box, which must be inside of both arrays.
pub fn copy_box(
    extent: &[u64],
    itemsize: usize,
    (from, src): (&Side<'_>, &[u8]),
    (to, dst): (&Side<'_>, &mut [u8]),
) {
    if extent.contains(&0) {
        return;
    }
    let (from_strides, to_strides) = (from.strides(), to.strides());
    // The last dimensions that are complete in both arrays are one run.
    let mut run = 1;
    let mut outer = extent.len();
    while let Some(dim) = outer.checked_sub(1) {
        run *= extent[dim];
        outer = dim;
        if extent[dim] != from.shape[dim] || extent[dim] != to.shape[dim] {
            break;
        }
    }
    let len = run as usize * itemsize;
    let mut index = vec![0; outer];
    let (mut source, mut target) = (from.first(), to.first());
    loop {
        let (at, into) = (source as usize * itemsize, target as usize * itemsize);
        dst[into..into + len].copy_from_slice(&src[at..at + len]);
        let mut dim = outer;
        loop {
            let Some(next) = dim.checked_sub(1) else {
                return;
            };
            dim = next;
            index[dim] += 1;
            source += from_strides[dim];
            target += to_strides[dim];
            if index[dim] < extent[dim] {
                break;
            }
            source -= from_strides[dim] * extent[dim];
            target -= to_strides[dim] * extent[dim];
            index[dim] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_copied_between_arrays_of_all_shapes() {
        let shape = [4, 5, 6];
        let src: Vec<u8> = (0..120).flat_map(|item| [item, 200]).collect();
        for (start, extent) in [
            ([0, 0, 0], [4, 5, 6]),
            ([1, 2, 3], [2, 3, 2]),
            ([0, 0, 1], [4, 5, 5]),
            ([3, 4, 5], [1, 1, 1]),
            ([1, 0, 0], [2, 5, 6]),
            ([0, 0, 0], [0, 5, 6]),
        ] {
            let len = extent.iter().product::<u64>() as usize * 2;
            let mut dst = vec![0; len];
            let to = Side { shape: &extent, start: &[0; 3] };
            let from = Side { shape: &shape, start: &start };
            copy_box(&extent, 2, (&from, &src), (&to, &mut dst));
            let mut expected = Vec::new();
            for i in start[0]..start[0] + extent[0] {
                for j in start[1]..start[1] + extent[1] {
                    for k in start[2]..start[2] + extent[2] {
                        expected.extend([(i * 30 + j * 6 + k) as u8, 200]);
                    }
                }
            }
            assert_eq!(dst, expected, "{start:?} {extent:?}");
        }
        let mut dst = [0; 2];
        let scalar = Side { shape: &[], start: &[] };
        copy_box(&[], 2, (&scalar, &[1, 2]), (&scalar, &mut dst));
        assert_eq!(dst, [1, 2]);
    }
}
