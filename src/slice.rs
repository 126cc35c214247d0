//! Slices: ranges of the items of a super-chunk, and boxes of the items of an array.

use crate::{Error, Result};
use std::fmt;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// Upper bound on the number of dimensions.
pub const MAX_DIM: usize = 16;

/// The indices of a slice along one dimension: a range, a single index, or all. It is converted
/// from ranges and integers of the types `i32`, `i64`, `usize` and `u64`, and from `..`. Negative
/// indices do not count from the end; they are outside.
///
/// Methods of [`SChunk`](crate::schunk::SChunk) accept everything that can be converted to it, as
/// the range of items. Methods of [`Array`](crate::b2nd::Array) accept one for each dimension
/// ([`IntoSlice`](crate::b2nd::IntoSlice)).
///
/// ```
/// use ferroblosc::AxisRange;
///
/// let axes: Vec<AxisRange> = vec![(2..5).into(), 7.into(), (..).into(), (..=3).into()];
/// assert_eq!(format!("{axes:?}"), "[2..5, 7, .., ..4]");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AxisRange {
    /// Integers of all types fit.
    start: Option<i128>,
    stop: Option<i128>,
    is_index: bool,
}

/// Formats the range or the index: `2..5`, `7`; in the alternate form with the noun: `the range
/// 2..5`, `the index 7`.
impl fmt::Display for AxisRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            f.write_str(if self.is_index { "the index " } else { "the range " })?;
        }
        if let Some(start) = self.start {
            write!(f, "{start}")?;
        }
        if self.is_index {
            return Ok(());
        }
        f.write_str("..")?;
        match self.stop {
            Some(stop) => write!(f, "{stop}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for AxisRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl AxisRange {
    /// Returns the start and the exclusive stop within `len` items, or `None` if they are outside
    /// or reversed.
    pub(crate) fn within(&self, len: i64) -> Option<(i64, i64)> {
        let (start, stop) = (self.start.unwrap_or(0), self.stop.unwrap_or(len.into()));
        match (i64::try_from(start), i64::try_from(stop)) {
            (Ok(start @ 0..), Ok(stop)) if start <= stop && stop <= len => Some((start, stop)),
            _ => None,
        }
    }

    /// Returns the start and the exclusive stop along an axis of `len` items.
    fn bounds(&self, axis: usize, len: i64) -> Result<(i64, i64)> {
        self.within(len).ok_or_else(|| self.refused(axis, len))
    }

    #[cold]
    fn refused(&self, axis: usize, len: i64) -> Error {
        let (start, stop) = (self.start.unwrap_or(0), self.stop.unwrap_or(len.into()));
        let is_reversed = start > stop && start >= 0 && start <= len.into();
        Error::InvalidParam.because(if is_reversed && self.stop.is_some() {
            format!("{self:#} of axis {axis} ends before its start")
        } else {
            format!("{self:#} of axis {axis} is outside its length {len}")
        })
    }
}

impl From<RangeFull> for AxisRange {
    fn from(_: RangeFull) -> AxisRange {
        AxisRange { start: None, stop: None, is_index: false }
    }
}

/// A box of items: a start and an exclusive stop for each dimension.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    ndim: usize,
    start: [i64; MAX_DIM],
    stop: [i64; MAX_DIM],
}

impl Slice {
    /// Builds the slice of an array of this shape. `axes` has one entry per dimension.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for another number of entries, for a range that ends before its
    ///   start, and for one outside the array; the text names the axis, the range and the length.
    pub fn new(shape: &[i64], axes: impl IntoIterator<Item = AxisRange>) -> Result<Slice> {
        let mut slice = Slice { ndim: shape.len(), start: [0; MAX_DIM], stop: [0; MAX_DIM] };
        let mut given = 0;
        for (axis, range) in axes.into_iter().enumerate() {
            given += 1;
            if axis < shape.len().min(MAX_DIM) {
                (slice.start[axis], slice.stop[axis]) = range.bounds(axis, shape[axis])?;
            }
        }
        if given != shape.len() || given > MAX_DIM {
            return Err(wrong_count(given, shape.len()));
        }
        Ok(slice)
    }

    /// Builds a slice from bounds of the same length, at most [`MAX_DIM`].
    pub(crate) fn from_bounds(start: &[i64], stop: &[i64]) -> Slice {
        let mut slice = Slice { ndim: start.len(), start: [0; MAX_DIM], stop: [0; MAX_DIM] };
        slice.start[..start.len()].copy_from_slice(start);
        slice.stop[..stop.len()].copy_from_slice(stop);
        slice
    }

    /// Returns the first index along each dimension.
    pub fn start(&self) -> &[i64] {
        &self.start[..self.ndim]
    }

    /// Returns the index after the last one along each dimension.
    pub fn stop(&self) -> &[i64] {
        &self.stop[..self.ndim]
    }

    /// Returns the range of indices along each dimension, for arrays of the program.
    ///
    /// ```
    /// use ferroblosc::b2nd::IntoSlice;
    ///
    /// let slice = (1, 2..5).into_slice(&[10, 10])?;
    /// assert_eq!(slice.ranges().collect::<Vec<_>>(), [1..2, 2..5]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        // Indices of an array are not negative, and those of items in memory fit.
        let index = |&index: &i64| usize::try_from(index).unwrap_or(usize::MAX);
        self.start().iter().zip(self.stop()).map(move |(start, stop)| index(start)..index(stop))
    }

    /// Returns the extent of each dimension, in items.
    pub fn shape(&self) -> Vec<i64> {
        self.start().iter().zip(self.stop()).map(|(start, stop)| stop - start).collect()
    }

    /// Returns the number of items, or `None` if it overflows.
    pub fn nitems(&self) -> Option<usize> {
        if self.start().iter().zip(self.stop()).any(|(start, stop)| start == stop) {
            return Some(0);
        }
        self.start().iter().zip(self.stop()).try_fold(1usize, |nitems, (start, stop)| {
            nitems.checked_mul(usize::try_from(stop - start).ok()?)
        })
    }
}

#[cold]
fn wrong_count(given: usize, ndim: usize) -> Error {
    let ranges = if given == 1 { "range" } else { "ranges" };
    let dimensions = if ndim == 1 { "dimension" } else { "dimensions" };
    Error::InvalidParam
        .because(format!("the slice has {given} {ranges}, but the array has {ndim} {dimensions}"))
}

/// A slice of an array, as the typed methods of [`Array`](crate::b2nd::Array) accept it.
///
/// | slice | example |
/// |---|---|
/// | the whole array | `..` |
/// | a tuple of ranges and indices | `(18..20, .., 7)` |
/// | a range or an index of an array with one dimension | `18..20`, `7`, `5..` |
/// | an array, a slice or a `&Vec` of ranges | `[0..2, 3..5]` |
/// | starts and stops from elsewhere | a slice of [`AxisRange`] |
///
/// There is one range per dimension; tuples have up to 8, the other forms any number. An index
/// selects one item along its dimension. Indices are `i32`, `i64`, `u64` or `usize` and count from
/// 0; negative ones are outside the array. Items are in vectors, in row-major order.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a slice of an array",
    note = "a slice is a tuple with a range or an index for each dimension, such as `(2..5, .., 7)`"
)]
pub trait IntoSlice {
    /// Returns the slice of an array of this shape.
    ///
    /// # Errors
    /// - those of [`Slice::new`].
    fn into_slice(self, shape: &[i64]) -> Result<Slice>;
}

impl IntoSlice for Slice {
    /// Checks the slice against the shape.
    fn into_slice(self, shape: &[i64]) -> Result<Slice> {
        let ranges = self.start().iter().zip(self.stop()).map(|(&start, &stop)| start..stop);
        Slice::new(shape, ranges.map(AxisRange::from))
    }
}

impl IntoSlice for RangeFull {
    fn into_slice(self, shape: &[i64]) -> Result<Slice> {
        Slice::new(shape, shape.iter().map(|_| AxisRange::from(..)))
    }
}

impl IntoSlice for () {
    fn into_slice(self, shape: &[i64]) -> Result<Slice> {
        Slice::new(shape, [])
    }
}

impl<R: Into<AxisRange> + Clone> IntoSlice for &[R] {
    fn into_slice(self, shape: &[i64]) -> Result<Slice> {
        Slice::new(shape, self.iter().map(|range| range.clone().into()))
    }
}

impl<R: Into<AxisRange> + Clone> IntoSlice for &Vec<R> {
    fn into_slice(self, shape: &[i64]) -> Result<Slice> {
        self.as_slice().into_slice(shape)
    }
}

impl<R: Into<AxisRange> + Clone, const N: usize> IntoSlice for &[R; N] {
    fn into_slice(self, shape: &[i64]) -> Result<Slice> {
        self.as_slice().into_slice(shape)
    }
}

impl<R: Into<AxisRange>, const N: usize> IntoSlice for [R; N] {
    fn into_slice(self, shape: &[i64]) -> Result<Slice> {
        Slice::new(shape, self.into_iter().map(Into::into))
    }
}

/// Implements the conversions of one range type, also as the slice of one dimension.
macro_rules! one_axis {
    ($($type:ty: $range:ident => $start:expr, $stop:expr, $is_index:expr;)*) => {
        $(
            impl From<$type> for AxisRange {
                fn from($range: $type) -> AxisRange {
                    AxisRange { start: $start, stop: $stop, is_index: $is_index }
                }
            }

            impl IntoSlice for $type {
                fn into_slice(self, shape: &[i64]) -> Result<Slice> {
                    Slice::new(shape, [AxisRange::from(self)])
                }
            }
        )*
    };
}

/// Whether an iteration has ended, which leaves the bounds unchanged.
fn is_exhausted<T: PartialOrd>(range: &RangeInclusive<T>) -> bool {
    range.is_empty() && range.start() <= range.end()
}

macro_rules! integers {
    ($($int:ty),*) => {
        $(
            one_axis! {
                $int: index => Some(index as i128), Some(index as i128 + 1), true;
                Range<$int>: range => Some(range.start as i128), Some(range.end as i128), false;
                RangeFrom<$int>: range => Some(range.start as i128), None, false;
                RangeTo<$int>: range => None, Some(range.end as i128), false;
                RangeInclusive<$int>: range =>
                    Some(*range.start() as i128 + i128::from(is_exhausted(&range))),
                    Some(*range.end() as i128 + 1), false;
                RangeToInclusive<$int>: range => None, Some(range.end as i128 + 1), false;
            }
        )*
    };
}

integers!(i32, i64, usize, u64);

macro_rules! tuples {
    ($($name:ident)+) => {
        impl<$($name: Into<AxisRange>),+> IntoSlice for ($($name,)+) {
            fn into_slice(self, shape: &[i64]) -> Result<Slice> {
                #[expect(non_snake_case, reason = "the names of the types serve as variables")]
                let ($($name,)+) = self;
                Slice::new(shape, [$($name.into()),+])
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(shape: &[i64], slice: impl IntoSlice) -> (Vec<i64>, Vec<i64>) {
        let slice = slice.into_slice(shape).unwrap();
        (slice.start().to_vec(), slice.stop().to_vec())
    }

    fn refused(shape: &[i64], slice: impl IntoSlice) -> String {
        let error = slice.into_slice(shape).unwrap_err();
        assert_eq!(error, Error::InvalidParam);
        error.to_string()
    }

    #[test]
    fn each_kind_of_range_is_a_slice() {
        let shape = &[10, 20];
        assert_eq!(slice(shape, ..), (vec![0, 0], vec![10, 20]));
        assert_eq!(slice(shape, (2..5, ..)), (vec![2, 0], vec![5, 20]));
        assert_eq!(slice(shape, (9, 3..)), (vec![9, 3], vec![10, 20]));
        assert_eq!(slice(shape, (..=3, ..4)), (vec![0, 0], vec![4, 4]));
        assert_eq!(slice(shape, (1..=3usize, 19i64)), (vec![1, 19], vec![4, 20]));
        assert_eq!(slice(shape, [0..2, 3..5]), (vec![0, 3], vec![2, 5]));
        assert_eq!(slice(shape, &[0..2u64, 3..5][..]), (vec![0, 3], vec![2, 5]));
        assert_eq!(slice(shape, &vec![1, 2]), (vec![1, 2], vec![2, 3]));
        assert_eq!(slice(&[10], 5..), (vec![5], vec![10]));
        assert_eq!(slice(&[10], 5), (vec![5], vec![6]));
        assert_eq!(slice(&[], ()), (vec![], vec![]));
        assert_eq!(slice(&[], ..), (vec![], vec![]));
        let copy = (2..5, ..).into_slice(shape).unwrap();
        assert_eq!((copy.shape(), copy.nitems()), (vec![3, 20], Some(60)));
        assert_eq!(slice(shape, copy), (vec![2, 0], vec![5, 20]));
    }

    #[test]
    fn empty_slices_are_valid_at_any_bound() {
        assert_eq!(slice(&[10], 10..10), (vec![10], vec![10]));
        assert_eq!(slice(&[0], ..), (vec![0], vec![0]));
        let mut iterated = 3..=3;
        assert_eq!((iterated.next(), slice(&[10], iterated)), (Some(3), (vec![4], vec![4])));
        let long = [0..0, 0..i64::MAX].into_slice(&[1, i64::MAX]).unwrap();
        assert_eq!(long.nitems(), Some(0));
        let long = (.., ..).into_slice(&[i64::MAX, i64::MAX]).unwrap();
        assert_eq!(long.nitems(), None);
    }

    #[test]
    fn errors_name_the_axis_the_range_and_the_length() {
        let shape = &[10, 20];
        assert_eq!(
            refused(shape, (.., 18..21)),
            "the range 18..21 of axis 1 is outside its length 20"
        );
        assert_eq!(refused(shape, (10, ..)), "the index 10 of axis 0 is outside its length 10");
        assert_eq!(refused(shape, (-1, ..)), "the index -1 of axis 0 is outside its length 10");
        assert_eq!(refused(shape, (11.., ..)), "the range 11.. of axis 0 is outside its length 10");
        #[expect(clippy::reversed_empty_ranges, reason = "it is refused")]
        let reversed = (7..3, ..);
        assert_eq!(refused(shape, reversed), "the range 7..3 of axis 0 ends before its start");
        let large = refused(&[10], 0..=u64::MAX);
        assert_eq!(large, "the range 0..18446744073709551616 of axis 0 is outside its length 10");
    }

    #[test]
    fn errors_name_the_numbers_of_ranges_and_dimensions() {
        let text = "the slice has 1 range, but the array has 2 dimensions";
        assert_eq!(refused(&[10, 20], 1..2), text);
        let text = "the slice has 2 ranges, but the array has 1 dimension";
        assert_eq!(refused(&[10], (1, 2)), text);
        let text = "the slice has 17 ranges, but the array has 0 dimensions";
        assert_eq!(refused(&[], [0; 17]), text);
    }
}
