//! Copying boxes of items between row-major arrays. All moves of items use this kernel.
//!
//! A plan describes a box once, as runs of bytes that are contiguous on both sides and the strides
//! between them. Adjacent dimensions are merged where possible, so most boxes need one or two
//! strides, and a whole array is one run. The innermost loop is specialised for short run lengths,
//! since a call of `memcpy` costs more than moving a few bytes.

use super::MAX_DIM;
use crate::kernels;
use std::marker::PhantomData;

/// A loop over runs or over inner loops, with its strides in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Dim {
    count: usize,
    src: usize,
    dst: usize,
}

/// The plan of a copy of a box of items between two arrays.
#[derive(Clone, Copy, Debug)]
pub struct BoxCopy {
    /// The length of the runs that are contiguous on both sides, in bytes.
    run: usize,
    /// The loops, innermost first.
    dims: [Dim; MAX_DIM],
    ndims: usize,
    src_start: usize,
    dst_start: usize,
    /// Extents of the box in the source and the destination, in bytes from their starts.
    src_extent: usize,
    dst_extent: usize,
}

/// One side of a copy: an array's shape and the start of the box.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Extent of each dimension, in items. The first one is unused.
    pub shape: &'a [usize],
    /// The index of the first item of the box.
    pub start: &'a [usize],
}

impl BoxCopy {
    /// Plans a copy of a box with these extents. Returns `None` if its size in bytes overflows. An
    /// empty box copies nothing.
    pub fn new(
        itemsize: usize,
        extents: &[usize],
        src: Side<'_>,
        dst: Side<'_>,
    ) -> Option<BoxCopy> {
        let mut plan = BoxCopy {
            run: itemsize,
            dims: [Dim::default(); MAX_DIM],
            ndims: 0,
            src_start: 0,
            dst_start: 0,
            src_extent: 0,
            dst_extent: 0,
        };
        if itemsize == 0 || extents.contains(&0) {
            plan.run = 0;
            return Some(plan);
        }
        let (mut src_stride, mut dst_stride) = (itemsize, itemsize);
        for (dim, &extent) in extents.iter().enumerate().rev() {
            plan.src_start = plan.src_start.checked_add(src.start[dim].checked_mul(src_stride)?)?;
            plan.dst_start = plan.dst_start.checked_add(dst.start[dim].checked_mul(dst_stride)?)?;
            plan.push(extent, src_stride, dst_stride)?;
            if dim > 0 {
                src_stride = src_stride.checked_mul(src.shape[dim])?;
                dst_stride = dst_stride.checked_mul(dst.shape[dim])?;
            }
        }
        plan.src_extent = plan.extent_bytes(plan.src_start, |dim| dim.src)?;
        plan.dst_extent = plan.extent_bytes(plan.dst_start, |dim| dim.dst)?;
        Some(plan)
    }

    /// Adds an outer loop.
    fn push(&mut self, count: usize, src: usize, dst: usize) -> Option<()> {
        if count == 1 {
            return Some(());
        }
        if self.ndims == 0 && src == self.run && dst == self.run {
            self.run = self.run.checked_mul(count)?;
            return Some(());
        }
        if let Some(inner) = self.dims[..self.ndims].last_mut()
            && inner.src.checked_mul(inner.count) == Some(src)
            && inner.dst.checked_mul(inner.count) == Some(dst)
        {
            inner.count = inner.count.checked_mul(count)?;
            return Some(());
        }
        self.dims[self.ndims] = Dim { count, src, dst };
        self.ndims += 1;
        Some(())
    }

    fn extent_bytes(&self, start: usize, stride: impl Fn(&Dim) -> usize) -> Option<usize> {
        self.dims[..self.ndims]
            .iter()
            .try_fold(start.checked_add(self.run)?, |extent_bytes, dim| {
                extent_bytes.checked_add(stride(dim).checked_mul(dim.count - 1)?)
            })
    }

    /// Returns the source offset, destination offset and length of the box in bytes, if it is one
    /// run.
    pub fn as_run(&self) -> Option<(usize, usize, usize)> {
        (self.ndims == 0).then_some((self.src_start, self.dst_start, self.run))
    }

    /// Returns the extent of the box in the source, in bytes from its start.
    pub fn src_extent(&self) -> usize {
        self.src_extent
    }

    /// Returns the extent of the box in the destination, in bytes from its start.
    pub fn dst_extent(&self) -> usize {
        self.dst_extent
    }

    /// Copies the box.
    ///
    /// # Panics
    /// Panics if the box exceeds the source or the destination.
    pub fn copy(&self, src: &[u8], dst: &mut [u8]) {
        // SAFETY: the destination is mutably borrowed for the duration of this call.
        unsafe { Shared::new(dst).copy_from(self, src) }
    }

    /// Copies the box.
    ///
    /// # Safety
    /// Source and destination must be valid for the extents of the box and must not overlap.
    pub unsafe fn copy_raw(&self, src: *const u8, dst: *mut u8) {
        if self.run == 0 {
            return;
        }
        // SAFETY: every row is within the box, for which the caller guarantees validity.
        unsafe {
            let (src, dst) = (src.add(self.src_start), dst.add(self.dst_start));
            self.each_row(|row, from, to| copy_runs(self.run, row, src.add(from), dst.add(to)));
        }
    }

    /// Calls `f` for each innermost loop with its source and destination offsets.
    fn each_row(&self, mut f: impl FnMut(&Dim, usize, usize)) {
        const ONE: Dim = Dim { count: 1, src: 0, dst: 0 };
        let (row, outer) = match self.dims[..self.ndims].split_first() {
            None => (&ONE, &[][..]),
            Some((row, outer)) => (row, outer),
        };
        let mut at = [0; MAX_DIM];
        let (mut from, mut to) = (0, 0);
        loop {
            f(row, from, to);
            let mut dim = 0;
            loop {
                let Some(stride) = outer.get(dim) else {
                    return;
                };
                at[dim] += 1;
                from += stride.src;
                to += stride.dst;
                if at[dim] < stride.count {
                    break;
                }
                from -= stride.src * stride.count;
                to -= stride.dst * stride.count;
                at[dim] = 0;
                dim += 1;
            }
        }
    }
}

/// Copies the runs of a row.
///
/// # Safety
/// The row must be valid on both sides, which must not overlap.
unsafe fn copy_runs(run: usize, row: &Dim, src: *const u8, dst: *mut u8) {
    // SAFETY: guaranteed by the caller; each call copies runs of exactly this length.
    unsafe {
        match run {
            1 => copy_fixed::<1>(row, src, dst),
            2 => copy_fixed::<2>(row, src, dst),
            4 => copy_fixed::<4>(row, src, dst),
            8 => copy_fixed::<8>(row, src, dst),
            16 => copy_fixed::<16>(row, src, dst),
            9..16 => copy_ends::<8>(run, row, src, dst),
            17..=32 => copy_ends::<16>(run, row, src, dst),
            33..=64 => copy_ends::<32>(run, row, src, dst),
            65..=128 => copy_ends::<64>(run, row, src, dst),
            _ => {
                for i in 0..row.count {
                    let (src, dst) = (src.add(i * row.src), dst.add(i * row.dst));
                    kernels::copy::copy_nonoverlapping(src, dst, run);
                }
            }
        }
    }
}

/// # Safety
/// The same conditions as for [`copy_runs`], for runs of `N` bytes.
unsafe fn copy_fixed<const N: usize>(row: &Dim, src: *const u8, dst: *mut u8) {
    for i in 0..row.count {
        // SAFETY: guaranteed by the caller; byte arrays have alignment 1.
        unsafe {
            let (src, dst) = (src.add(i * row.src), dst.add(i * row.dst));
            dst.cast::<[u8; N]>().write(src.cast::<[u8; N]>().read());
        }
    }
}

/// Copies the first and the last `N` bytes of each run, which may overlap.
///
/// # Safety
/// The same conditions as for [`copy_runs`], for runs of `N` to `2 * N` bytes.
unsafe fn copy_ends<const N: usize>(run: usize, row: &Dim, src: *const u8, dst: *mut u8) {
    let last = run - N;
    for i in 0..row.count {
        // SAFETY: as in `copy_fixed`; `last` is the offset of the last `N` bytes of a run.
        unsafe {
            let (src, dst) = (src.add(i * row.src), dst.add(i * row.dst));
            let head = src.cast::<[u8; N]>().read();
            let tail = src.add(last).cast::<[u8; N]>().read();
            dst.cast::<[u8; N]>().write(head);
            dst.add(last).cast::<[u8; N]>().write(tail);
        }
    }
}

/// A destination to which several threads write disjoint ranges.
pub struct Shared<'a> {
    start: *mut u8,
    len: usize,
    borrowed: PhantomData<&'a mut [u8]>,
}

// SAFETY: the value borrows the bytes mutably, and its methods require disjoint access.
unsafe impl Send for Shared<'_> {}
// SAFETY: as above.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    /// Borrows all of `dst`.
    pub fn new(dst: &'a mut [u8]) -> Shared<'a> {
        Shared { start: dst.as_mut_ptr(), len: dst.len(), borrowed: PhantomData }
    }

    /// Returns a range of the bytes.
    ///
    /// # Safety
    /// No other access to these bytes may exist while the result exists.
    ///
    /// # Panics
    /// Panics if the range exceeds the destination.
    #[expect(clippy::mut_from_ref, reason = "the caller ensures exclusive access")]
    pub unsafe fn slice_mut(&self, from: usize, len: usize) -> &mut [u8] {
        assert!(from <= self.len && len <= self.len - from);
        // SAFETY: the range is in bounds, borrowed mutably, and exclusive to the caller.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(from), len) }
    }

    /// Copies a box into the destination.
    ///
    /// # Safety
    /// No other access to the bytes of the box in the destination may occur during the call.
    ///
    /// # Panics
    /// Panics if the box exceeds the source or the destination.
    pub unsafe fn copy_from(&self, plan: &BoxCopy, src: &[u8]) {
        assert!(plan.src_extent <= src.len() && plan.dst_extent <= self.len);
        // SAFETY: the box is within both sides. The caller has exclusive access to the destination,
        // so the source, a live shared borrow, cannot overlap it.
        unsafe { plan.copy_raw(src.as_ptr(), self.start) }
    }

    /// Fills a box of the destination with zeros.
    ///
    /// # Safety
    /// The same conditions as for [`Shared::copy_from`].
    ///
    /// # Panics
    /// Panics if the box exceeds the destination.
    pub unsafe fn clear(&self, plan: &BoxCopy) {
        assert!(plan.dst_extent <= self.len);
        if plan.run == 0 {
            return;
        }
        plan.each_row(|row, _, to| {
            for i in 0..row.count {
                // SAFETY: the run is within the box, which is in bounds and exclusive to the
                // caller.
                unsafe {
                    let run = self.start.add(plan.dst_start + to + i * row.dst);
                    run.write_bytes(0, plan.run);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deterministic generator of pseudo-random numbers.
    struct Random(u64);

    impl Random {
        fn new(seed: u64) -> Random {
            Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
        }

        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
        }

        /// Returns a number below `end`.
        fn below(&mut self, end: usize) -> usize {
            ((self.next() >> 33) % end as u64) as usize
        }

        /// Returns `len` bytes.
        fn bytes(&mut self, len: usize) -> Vec<u8> {
            (0..len).map(|_| self.next() as u8).collect()
        }
    }

    /// Returns the row-major number of an item.
    fn place(shape: &[usize], index: &[usize]) -> usize {
        index.iter().zip(shape).fold(0, |at, (&i, &n)| at * n + i)
    }

    /// The reference implementation, item by item.
    fn copy_items(
        width: usize,
        extents: &[usize],
        src: (&[u8], Side<'_>),
        dst: (&mut [u8], Side<'_>),
    ) {
        let total: usize = extents.iter().product();
        for n in 0..total {
            let mut rest = n;
            let mut index = vec![0; extents.len()];
            for dim in (0..extents.len()).rev() {
                index[dim] = rest % extents[dim];
                rest /= extents[dim];
            }
            let at = |side: &Side<'_>| {
                let moved: Vec<usize> = index.iter().zip(side.start).map(|(i, s)| i + s).collect();
                place(side.shape, &moved) * width
            };
            let (from, to) = (at(&src.1), at(&dst.1));
            dst.0[to..to + width].copy_from_slice(&src.0[from..from + width]);
        }
    }

    #[test]
    fn boxes_of_all_kinds_match_an_item_by_item_copy() {
        let mut random = Random::new(7);
        for round in 0..3000 {
            let ndim = random.below(7);
            let width = [1, 2, 3, 4, 8, 12, 16, 20, 33, 100, 300][random.below(11)];
            let draw = |random: &mut Random| -> (Vec<usize>, Vec<usize>, Vec<usize>) {
                let shape: Vec<usize> = (0..ndim).map(|_| 1 + random.below(5)).collect();
                let start: Vec<usize> = shape.iter().map(|&n| random.below(n)).collect();
                let available = shape.iter().zip(&start).map(|(n, s)| n - s).collect();
                (shape, start, available)
            };
            let (src_shape, src_start, src_available) = draw(&mut random);
            let (dst_shape, dst_start, dst_available) = draw(&mut random);
            let extents: Vec<usize> = src_available
                .iter()
                .zip(&dst_available)
                .map(|(a, b)| match round % 3 {
                    0 => *a.min(b),
                    _ => random.below(a.min(b) + 1),
                })
                .collect();
            let src: Vec<u8> = random.bytes(src_shape.iter().product::<usize>() * width);
            let mut dst = vec![0; dst_shape.iter().product::<usize>() * width];
            let mut expected = dst.clone();
            let from = Side { shape: &src_shape, start: &src_start };
            let to = Side { shape: &dst_shape, start: &dst_start };
            let plan = BoxCopy::new(width, &extents, from, to).unwrap();
            plan.copy(&src, &mut dst);
            copy_items(width, &extents, (&src, from), (&mut expected, to));
            assert_eq!(dst, expected, "{src_shape:?} {dst_shape:?} {extents:?}");

            // Clearing the same box leaves the surrounding bytes unchanged.
            let mut full = vec![9; dst.len()];
            // SAFETY: this test has exclusive access to `full`.
            unsafe { Shared::new(&mut full).clear(&plan) };
            let mut expected = vec![9; dst.len()];
            copy_items(width, &extents, (&vec![0; src.len()], from), (&mut expected, to));
            assert_eq!(full, expected);
        }
    }

    #[test]
    fn contiguous_boxes_are_one_run() {
        let shape = [4, 5, 6];
        let run = |extents: &[usize], start: &[usize]| {
            let side = Side { shape: &shape, start };
            BoxCopy::new(2, extents, side, side).unwrap().as_run()
        };
        assert_eq!(run(&[4, 5, 6], &[0, 0, 0]), Some((0, 0, 240)));
        assert_eq!(run(&[2, 5, 6], &[1, 0, 0]), Some((60, 60, 120)));
        assert_eq!(run(&[1, 2, 6], &[1, 1, 0]), Some((72, 72, 24)));
        assert_eq!(run(&[2, 2, 6], &[1, 1, 0]), None);
    }

    #[test]
    fn a_box_whose_size_overflows_is_refused() {
        let shape = [usize::MAX, usize::MAX];
        let side = Side { shape: &shape, start: &[0, 0] };
        assert!(BoxCopy::new(2, &shape, side, side).is_none());
    }
}
