//! Conversions from and to the arrays of the crate `ndarray`.

use super::array::Array;
use super::items::itemsize;
use super::layout::{IntoGeometry, Layout};
use super::sync;
use crate::chunk::CParams;
use crate::schunk::Storage;
use crate::slice::IntoSlice;
use crate::{Error, Item, Result, item};
use ndarray::{ArrayBase, ArrayD, ArrayView, ArrayViewMutD, Data, Dimension, IxDyn};

/// Calls `f` with the items in row-major order, which are copied only if they have another order.
pub(super) fn with_items<T: Item, D: Dimension, R>(
    view: &ArrayView<'_, T, D>,
    f: impl FnOnce(&[T]) -> Result<R>,
) -> Result<R> {
    if let Some(items) = view.as_slice() {
        return f(items);
    }
    let mut items = Vec::new();
    items.try_reserve_exact(view.len())?;
    items.extend(view.iter().copied());
    f(&items)
}

fn shape_of(extents: &[usize]) -> Result<Vec<i64>> {
    let extent = |&extent: &usize| i64::try_from(extent).map_err(|_| Error::InvalidParam);
    extents.iter().map(extent).collect()
}

/// Checks that a slice has the shape of an array of the program.
pub(super) fn check_shape(slice: &[i64], extents: &[usize]) -> Result<()> {
    if shape_of(extents)? == slice {
        return Ok(());
    }
    let text = format!("the slice has the shape {slice:?}, but the array has {extents:?}");
    Err(Error::InvalidParam.because(text))
}

impl Array {
    /// Creates an array from a copy of an `ndarray` array or view in any memory order, with chunks
    /// and blocks of [`Layout::auto`]. The other parameters are those of [`Array::from_items`].
    ///
    /// ```
    /// use ferroblosc::b2nd::Array;
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    /// use ndarray::array;
    ///
    /// let matrix = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    /// let array = Array::from_ndarray(Storage::memory(), CParams::default(), &matrix.t())?;
    /// assert_eq!(array.shape(), [3, 2]);
    /// assert_eq!(array.to_ndarray::<f32>()?, matrix.t().into_dyn());
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - the errors of [`Array::from_items`].
    pub fn from_ndarray<T: Item, D: Dimension>(
        storage: Storage,
        cparams: CParams,
        array: &ArrayBase<impl Data<Elem = T>, D>,
    ) -> Result<Array> {
        let geometry = Layout::auto(&shape_of(array.shape())?, itemsize::<T>()?)?;
        Array::from_ndarray_with(storage, cparams, geometry, array)
    }

    /// Creates an array from a copy of an `ndarray` array or view, with the chunks and blocks of
    /// `layout`, which must have its shape.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `layout` has another shape;
    /// - the errors of [`Array::from_items`].
    pub fn from_ndarray_with<T: Item, D: Dimension>(
        storage: Storage,
        cparams: CParams,
        layout: impl IntoGeometry,
        array: &ArrayBase<impl Data<Elem = T>, D>,
    ) -> Result<Array> {
        let geometry = layout.into_geometry(itemsize::<T>()?)?;
        check_shape(geometry.shape(), array.shape())?;
        with_items(&array.view(), |items| Array::from_items(storage, cparams, geometry, items))
    }

    /// Returns all items as a new `ndarray` array, in row-major order.
    ///
    /// # Errors
    /// - the errors of [`Array::get`].
    pub fn to_ndarray<T: Item>(&self) -> Result<ArrayD<T>> {
        self.get_ndarray(..)
    }

    /// Returns a slice as a new `ndarray` array, in row-major order. It has the dimensions of this
    /// array: an index becomes an extent of 1.
    ///
    /// # Errors
    /// - the errors of [`Array::get`].
    pub fn get_ndarray<T: Item>(&self, slice: impl IntoSlice) -> Result<ArrayD<T>> {
        sync::refresh(self)?;
        // The shape may change between the two calls, but then the slice is checked again.
        let slice = slice.into_slice(&self.shape())?;
        let extents: Vec<usize> =
            slice.shape().iter().map(|&extent| usize::try_from(extent).unwrap_or(0)).collect();
        let items = self.get(slice)?;
        ArrayD::from_shape_vec(IxDyn(&extents), items)
            .map_err(|error| Error::InvalidParam.caused_by(error))
    }

    /// Reads a slice into an `ndarray` view in any memory order, which must have its shape.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `dest` has another shape;
    /// - the errors of [`Array::get_into`].
    pub fn get_into_ndarray<T: Item>(
        &self,
        slice: impl IntoSlice,
        mut dest: ArrayViewMutD<'_, T>,
    ) -> Result<()> {
        sync::refresh(self)?;
        let slice = slice.into_slice(&self.shape())?;
        check_shape(&slice.shape(), dest.shape())?;
        if let Some(items) = dest.as_slice_mut() {
            return self.get_into(slice, items);
        }
        let mut items = item::zeroed(dest.len())?;
        self.get_into(slice, &mut items)?;
        dest.iter_mut().zip(items).for_each(|(dest, item)| *dest = item);
        Ok(())
    }

    /// Overwrites a slice with an `ndarray` array or view in any memory order, which must have its
    /// shape.
    ///
    /// ```
    /// use ferroblosc::b2nd::Array;
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    /// use ndarray::{Array2, ShapeBuilder};
    ///
    /// let mut array = Array::full(Storage::memory(), CParams::default(), [4, 5], 0i64)?;
    /// let fortran = Array2::from_shape_vec((2, 3).f(), vec![1i64, 4, 2, 5, 3, 6]).unwrap();
    /// array.set_ndarray((..2, ..3), &fortran)?;
    /// assert_eq!(array.get::<i64>((..2, ..4))?, [1, 2, 3, 0, 4, 5, 6, 0]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `items` has another shape;
    /// - the errors of [`Array::set`].
    pub fn set_ndarray<T: Item, D: Dimension>(
        &mut self,
        slice: impl IntoSlice,
        items: &ArrayBase<impl Data<Elem = T>, D>,
    ) -> Result<()> {
        sync::refresh(self)?;
        let slice = slice.into_slice(&self.shape())?;
        check_shape(&slice.shape(), items.shape())?;
        with_items(&items.view(), |items| self.set(slice, items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, Array3, ShapeBuilder, s};

    fn cube() -> Array3<i32> {
        Array3::from_shape_fn((4, 5, 6), |(i, j, k)| (100 * i + 10 * j + k) as i32)
    }

    #[test]
    fn views_in_any_order_round_trip() {
        let cube = cube();
        let mut fortran = Array3::zeros((4, 5, 6).f());
        fortran.assign(&cube);
        assert!(fortran.as_slice().is_none());
        let views = [
            cube.view().into_dyn(),
            fortran.view().into_dyn(),
            cube.t().into_dyn(),
            cube.slice(s![1..;2, ..;-1, 2..5]).into_dyn(),
            cube.slice(s![0, .., 3]).into_dyn(),
        ];
        for view in views {
            let array = Array::from_ndarray(Storage::memory(), CParams::default(), &view).unwrap();
            assert_eq!(array.to_ndarray::<i32>().unwrap(), view);
        }
    }

    #[test]
    fn slices_are_read_and_written() {
        let cube = cube();
        let layout = Layout { shape: &[4, 5, 6], chunkshape: &[2, 2, 4], blockshape: &[1, 2, 3] };
        let params = CParams::default();
        let mut array =
            Array::from_ndarray_with(Storage::memory(), params, &layout, &cube).unwrap();
        let part = array.get_ndarray::<i32>((1..3, 4, 2..)).unwrap();
        assert_eq!(part, cube.slice(s![1..3, 4..5, 2..]).into_dyn());

        let mut dest = Array2::<i32>::zeros((6, 5).f());
        let view = dest.view_mut().reversed_axes().insert_axis(ndarray::Axis(0)).into_dyn();
        array.get_into_ndarray((3, .., ..), view).unwrap();
        assert_eq!(dest, cube.slice(s![3, .., ..]).t());
        let mut dest = ArrayD::<i32>::zeros(vec![1, 5, 6]);
        array.get_into_ndarray((3, .., ..), dest.view_mut()).unwrap();
        assert_eq!(dest, cube.slice(s![3..4, .., ..]).into_dyn());

        array.set_ndarray((0, .., ..), &cube.slice(s![3..4, ..;-1, ..])).unwrap();
        let first = array.get_ndarray::<i32>((0, .., ..)).unwrap();
        assert_eq!(first, cube.slice(s![3..4, ..;-1, ..]).into_dyn());
    }

    #[test]
    fn other_shapes_and_types_are_refused() {
        let cube = cube();
        let params = CParams::default;
        let error = Array::from_ndarray_with(Storage::memory(), params(), [4, 6, 5], &cube);
        assert_eq!(
            error.err().unwrap().to_string(),
            "the slice has the shape [4, 6, 5], but the array has [4, 5, 6]"
        );
        let mut array = Array::from_ndarray(Storage::memory(), params(), &cube).unwrap();
        assert_eq!(array.set_ndarray((0, .., ..), &cube), Err(Error::InvalidParam));
        let mut dest = ArrayD::<i32>::zeros(vec![5, 6]);
        assert_eq!(array.get_into_ndarray((0, .., ..), dest.view_mut()), Err(Error::InvalidParam));
        assert_eq!(array.to_ndarray::<f32>().err(), Some(Error::InvalidParam));
        assert_eq!(array.get_ndarray::<i32>((4, .., ..)).err(), Some(Error::InvalidParam));
    }

    #[test]
    fn empty_arrays_and_single_items_round_trip() {
        let empty = ArrayD::<f64>::zeros(vec![0, 3]);
        let array = Array::from_ndarray(Storage::memory(), CParams::default(), &empty).unwrap();
        assert_eq!(array.to_ndarray::<f64>().unwrap(), empty);
        let single = ArrayD::<f64>::from_elem(vec![], 2.5);
        let array = Array::from_ndarray(Storage::memory(), CParams::default(), &single).unwrap();
        assert_eq!(array.to_ndarray::<f64>().unwrap(), single);
    }
}
