//! Typed access to the items of arrays.

use super::array::{Array, View};
use super::create::Fill;
use super::geometry::Geometry;
use super::layout::IntoGeometry;
use super::slices::read_into;
use super::state::{State, typesize};
use super::sync;
use crate::chunk::CParams;
use crate::io::lock::Kind as LockKind;
use crate::item::{self, BytesMut, bytes_of};
use crate::schunk::Storage;
use crate::slice::{IntoSlice, Slice};
use crate::{Error, Item, Result};

/// Iterators are appended in batches of about this size in bytes if chunks are smaller.
const BATCH: usize = 1 << 20;

/// Returns the item size in bytes as the parameters contain it.
pub(super) fn itemsize<T: Item>() -> Result<i32> {
    i32::try_from(size_of::<T>()).map_err(|_| Error::InvalidParam)
}

/// Reads a slice into a new vector.
fn get<T: Item>(a: &Array, geometry: &Geometry, slice: &Slice) -> Result<Vec<T>> {
    check_slice(geometry, slice)?;
    item::check::<T>(typesize(a)?, a.dtype())?;
    let mut items = item::zeroed(slice.nitems().ok_or(Error::MemoryAlloc)?)?;
    let mut bytes = BytesMut::new(&mut items);
    read_into(a, geometry, slice.start(), slice.stop(), &mut bytes)?;
    drop(bytes);
    Ok(items)
}

/// Reads a slice into `dest`, which must have its length.
fn get_into<T: Item>(a: &Array, geometry: &Geometry, slice: &Slice, dest: &mut [T]) -> Result<()> {
    check_slice(geometry, slice)?;
    item::check::<T>(typesize(a)?, a.dtype())?;
    item::check_len(dest.len(), slice.nitems(), "items")?;
    read_into(a, geometry, slice.start(), slice.stop(), &mut BytesMut::new(dest))
}

/// Checks a slice again, because programs can implement [`IntoSlice`].
fn check_slice(geometry: &Geometry, slice: &Slice) -> Result<()> {
    slice.into_slice(geometry.shape()).map(drop)
}

impl Array {
    /// Creates an array from a copy of `items`, in row-major order. `layout` is a
    /// `&`[`Layout`](super::Layout), or only the shape of the array as `i64` extents: chunks and
    /// blocks are then chosen automatically ([`IntoGeometry`]). The item size of `cparams` is
    /// replaced by that of `T`, and the dtype is that of `T`. The other parameters are those of
    /// [`Array::create`].
    ///
    /// ```
    /// use ferroblosc::b2nd::Array;
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    ///
    /// let items = [1.5f32, 2.5, 3.5, 4.5, 5.5, 6.5];
    /// let array = Array::from_items(Storage::memory(), CParams::default(), [2, 3], &items)?;
    /// assert_eq!(array.dtype(), Some("<f4"));
    /// assert_eq!(array.get::<f32>((1, ..))?, [4.5, 5.5, 6.5]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if the number of items is not the product of the shape; nothing is
    ///   created;
    /// - the errors of [`Array::from_item_bytes`].
    pub fn from_items<T: Item>(
        storage: Storage,
        cparams: CParams,
        layout: impl IntoGeometry,
        items: &[T],
    ) -> Result<Array> {
        let geometry = layout.into_geometry(itemsize::<T>()?)?;
        let cparams = cparams.typesize(itemsize::<T>()?);
        item::check_len(items.len(), usize::try_from(geometry.nitems).ok(), "items")?;
        Array::from_item_bytes(storage, cparams, geometry, &T::dtype(), bytes_of(items))
    }

    /// Creates an array whose items are all `value`, with the other parameters of
    /// [`Array::from_items`].
    ///
    /// ```
    /// use ferroblosc::b2nd::Array;
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    ///
    /// let array = Array::full(Storage::memory(), CParams::default(), [1000, 1000], -1i16)?;
    /// assert_eq!(array.get::<i16>((999, 998..))?, [-1, -1]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - the errors of [`Array::create`].
    pub fn full<T: Item>(
        storage: Storage,
        cparams: CParams,
        layout: impl IntoGeometry,
        value: T,
    ) -> Result<Array> {
        let geometry = layout.into_geometry(itemsize::<T>()?)?;
        let cparams = cparams.typesize(itemsize::<T>()?);
        let value = [value];
        let fill = Fill::Value(bytes_of(&value));
        Array::create(storage, cparams, geometry, &T::dtype(), fill)
    }

    /// Returns the number of dimensions.
    pub fn ndim(&self) -> usize {
        self.geometry().ndim
    }

    /// Returns the items of a slice in a new vector, in row-major order. [`IntoSlice`] lists the
    /// kinds of slices.
    ///
    /// ```
    /// use ferroblosc::b2nd::Array;
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    ///
    /// let items: Vec<i32> = (0..5000).collect();
    /// let array = Array::from_items(Storage::memory(), CParams::default(), [100, 50], &items)?;
    /// assert_eq!(array.get::<i32>((18..20, 48..))?, [948, 949, 998, 999]);
    ///
    /// let error = array.get::<i32>((99..101, ..)).unwrap_err();
    /// assert_eq!(error.to_string(), "the range 99..101 of axis 0 is outside its length 100");
    /// let error = array.get::<u32>(..).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the stored items have the dtype <i4 and 4 bytes, but u32 has the dtype <u4 and 4 bytes"
    /// );
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `T` does not have the size of the items or does not
    ///   [match](Item::matches) the dtype, and if the slice is outside the array or does not have
    ///   its number of dimensions;
    /// - the [read errors](Array#read-errors).
    pub fn get<T: Item>(&self, slice: impl IntoSlice) -> Result<Vec<T>> {
        let _held = sync::refresh_locked(self, LockKind::Shared)?;
        let geometry = self.geometry();
        let slice = slice.into_slice(geometry.shape());
        let items = slice.and_then(|slice| get(self, &geometry, &slice));
        items.map_err(|error| self.schunk().located(error))
    }

    /// Reads the items of a slice into `dest`, in row-major order. `dest` must have the length of
    /// the slice.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `dest` has another length;
    /// - the errors of [`Array::get`], after which some items of `dest` may have changed.
    pub fn get_into<T: Item>(&self, slice: impl IntoSlice, dest: &mut [T]) -> Result<()> {
        let _held = sync::refresh_locked(self, LockKind::Shared)?;
        let geometry = self.geometry();
        let slice = slice.into_slice(geometry.shape());
        let read = slice.and_then(|slice| get_into(self, &geometry, &slice, dest));
        read.map_err(|error| self.schunk().located(error))
    }

    /// Overwrites a slice with `items`, in row-major order. Each touched chunk is compressed once.
    ///
    /// ```
    /// use ferroblosc::b2nd::Array;
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    ///
    /// let mut array = Array::full(Storage::memory(), CParams::default(), [4, 5], 0u8)?;
    /// array.set((2, 1..4), &[7u8, 8, 9])?;
    /// assert_eq!(array.get::<u8>((2, ..))?, [0, 7, 8, 9, 0]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `items` does not have the length of the slice, if `T` does not
    ///   have the size of the items or does not [match](Item::matches) the dtype, and if the slice
    ///   is outside the array or does not have its number of dimensions;
    /// - the [write errors](Array#write-errors).
    pub fn set<T: Item>(&mut self, slice: impl IntoSlice, items: &[T]) -> Result<()> {
        let _held = sync::refresh_locked(self, LockKind::Exclusive)?;
        let slice = slice.into_slice(State::geometry(self)?.shape()).and_then(|slice| {
            item::check::<T>(typesize(self)?, self.dtype())?;
            item::check_len(items.len(), slice.nitems(), "items")?;
            Ok(slice)
        });
        let slice = slice.map_err(|error| self.schunk().located(error))?;
        self.set_slice(slice.start(), slice.stop(), bytes_of(items))
    }

    /// Appends items along an axis, like [`Array::append`].
    ///
    /// ```
    /// use ferroblosc::b2nd::Array;
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    ///
    /// let mut array = Array::from_items(Storage::memory(), CParams::default(), [0, 3], &[0f64; 0])?;
    /// array.append_items(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0)?;
    /// assert_eq!(array.shape(), [2, 3]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `T` does not have the size of the items or does not
    ///   [match](Item::matches) the dtype;
    /// - the errors of [`Array::append`].
    pub fn append_items<T: Item>(&mut self, items: &[T], axis: i8) -> Result<()> {
        item::check::<T>(typesize(self)?, self.dtype())?;
        self.append(bytes_of(items), axis)
    }

    /// Appends the items of an iterator along the first axis, and returns their number. Items are
    /// collected in whole rows, up to the end of a chunk or of several small chunks, so that each
    /// chunk is compressed once. A row contains the items with the same first index.
    ///
    /// ```
    /// use ferroblosc::b2nd::Array;
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    ///
    /// let mut table = Array::full(Storage::memory(), CParams::default(), [0, 2], 0u32)?;
    /// table.append_iter((0..1000u32).flat_map(|i| [i, i * i]))?;
    /// assert_eq!(table.shape(), [1000, 2]);
    /// assert_eq!(table.get::<u32>((999, ..))?, [999, 998_001]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `T` does not have the size of the items or does not
    ///   [match](Item::matches) the dtype, for an array without dimensions or whose rows have no
    ///   items, and if the iterator ends within a row;
    /// - the errors of [`Array::append`]. After an error the rows of earlier appends remain.
    pub fn append_iter<T: Item>(&mut self, items: impl IntoIterator<Item = T>) -> Result<u64> {
        sync::refresh(self)?;
        item::check::<T>(typesize(self)?, self.dtype())?;
        let row = self.geometry().shape().split_first().map(|(_, others)| {
            others
                .iter()
                .try_fold(1usize, |row, &extent| row.checked_mul(usize::try_from(extent).ok()?))
        });
        let Some(row @ 1..) = row.flatten() else {
            let text = "the array has no rows of items along a first axis";
            return Err(self.schunk().located(Error::InvalidParam.because(text)));
        };
        let mut items = items.into_iter();
        let mut batch = Vec::new();
        let mut count = 0;
        loop {
            let geometry = self.geometry();
            let chunk = i64::from(geometry.chunkshape[0]).max(1);
            // The rows up to the next end of a chunk, and small chunks by many at a time: each
            // append of an array in a file writes its index.
            let first = chunk - geometry.shape[0] % chunk;
            let row_size = row.saturating_mul(size_of::<T>()).max(1);
            let others = i64::try_from(BATCH / row_size).unwrap_or(0) / chunk * chunk;
            let rows = usize::try_from(first + others).map_err(|_| Error::MemoryAlloc)?;
            let needed = rows.checked_mul(row).ok_or(Error::MemoryAlloc)?;
            batch.clear();
            batch.try_reserve_exact(needed)?;
            batch.extend(items.by_ref().take(needed));
            let (whole, rest) = batch.split_at(batch.len() / row * row);
            if !whole.is_empty() {
                self.append_items(whole, 0)?;
                count += whole.len() as u64;
            }
            if !rest.is_empty() {
                let text = format!("the last row has {} items instead of {row}", rest.len());
                return Err(self.schunk().located(Error::InvalidParam.because(text)));
            }
            if whole.len() < needed {
                return Ok(count);
            }
        }
    }

    /// Inserts items before index `start` along an axis, like [`Array::insert`].
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `T` does not have the size of the items or does not
    ///   [match](Item::matches) the dtype;
    /// - the errors of [`Array::insert`].
    pub fn insert_items<T: Item>(&mut self, items: &[T], axis: i8, start: i64) -> Result<()> {
        item::check::<T>(typesize(self)?, self.dtype())?;
        self.insert(bytes_of(items), axis, start)
    }

    /// Returns the items at these row-major item numbers, like [`Array::get_sparse`].
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `T` does not have the size of the items or does not
    ///   [match](Item::matches) the dtype;
    /// - the errors of [`Array::get_sparse`].
    pub fn get_sparse_items<T: Item>(&self, numbers: &[i64]) -> Result<Vec<T>> {
        item::check::<T>(typesize(self)?, self.dtype())?;
        let mut items = item::zeroed(numbers.len())?;
        self.get_sparse_into(numbers, &mut BytesMut::new(&mut items))?;
        Ok(items)
    }

    /// Returns the items at all combinations of the indices along each dimension, like
    /// [`Array::get_orthogonal`].
    ///
    /// ```
    /// use ferroblosc::b2nd::Array;
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    ///
    /// let items: Vec<u16> = (0..100).collect();
    /// let array = Array::from_items(Storage::memory(), CParams::default(), [10, 10], &items)?;
    /// let selected = array.get_orthogonal_items::<u16>(&[&[7, 2], &[0, 9]])?;
    /// assert_eq!(selected, [70, 79, 20, 29]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `T` does not have the size of the items or does not
    ///   [match](Item::matches) the dtype;
    /// - the errors of [`Array::get_orthogonal`].
    pub fn get_orthogonal_items<T: Item>(&self, indices: &[&[i64]]) -> Result<Vec<T>> {
        item::check::<T>(typesize(self)?, self.dtype())?;
        let nitems =
            indices.iter().try_fold(1usize, |nitems, along| nitems.checked_mul(along.len()));
        let mut items = item::zeroed(nitems.ok_or(Error::MemoryAlloc)?)?;
        self.get_orthogonal_into(indices, &mut BytesMut::new(&mut items))?;
        Ok(items)
    }

    /// Overwrites the items at all combinations of the indices along each dimension, like
    /// [`Array::set_orthogonal`].
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `T` does not have the size of the items or does not
    ///   [match](Item::matches) the dtype;
    /// - the errors of [`Array::set_orthogonal`].
    pub fn set_orthogonal_items<T: Item>(&mut self, indices: &[&[i64]], items: &[T]) -> Result<()> {
        item::check::<T>(typesize(self)?, self.dtype())?;
        self.set_orthogonal(indices, bytes_of(items))
    }
}

impl View<'_> {
    /// Returns the items of a slice of the view in a new vector, like [`Array::get`].
    ///
    /// # Errors
    /// - the errors of [`Array::get`].
    pub fn get<T: Item>(&self, slice: impl IntoSlice) -> Result<Vec<T>> {
        get(self.base(), self.geometry(), &slice.into_slice(self.shape())?)
    }

    /// Reads the items of a slice of the view into `dest`, like [`Array::get_into`].
    ///
    /// # Errors
    /// - the errors of [`Array::get_into`].
    pub fn get_into<T: Item>(&self, slice: impl IntoSlice, dest: &mut [T]) -> Result<()> {
        get_into(self.base(), self.geometry(), &slice.into_slice(self.shape())?, dest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::b2nd::Layout;
    use crate::chunk::{DParams, Special};
    use crate::io::paths::remove_urlpath;
    use crate::item::native;

    fn array(shape: [i64; 2]) -> Array {
        let items: Vec<i32> = (0..(shape[0] * shape[1]) as i32).collect();
        let layout = Layout { shape: &shape, chunkshape: &[4, 4], blockshape: &[2, 3] };
        Array::from_items(Storage::memory(), CParams::default(), &layout, &items).unwrap()
    }

    #[test]
    fn slices_are_read_and_written_as_items() {
        let mut array = array([6, 10]);
        assert_eq!((array.ndim(), array.dtype()), (2, Some(native("<i4").as_str())));
        assert_eq!(array.schunk().typesize(), 4);
        assert_eq!(array.get::<i32>((3..5, 8..)).unwrap(), [38, 39, 48, 49]);
        assert_eq!(array.get::<i32>(..).unwrap(), (0..60).collect::<Vec<i32>>());
        assert!(array.get::<i32>((2..2, ..)).unwrap().is_empty());
        array.set((5, 7..10), &[-1, -2, -3]).unwrap();
        let mut row = [0i32; 4];
        array.get_into((5, 6..), &mut row).unwrap();
        assert_eq!(row, [56, -1, -2, -3]);
        let selected = array.get_orthogonal_items::<i32>(&[&[5, 0], &[9, 1]]).unwrap();
        assert_eq!(selected, [-3, 51, 9, 1]);
        array.set_orthogonal_items(&[&[0], &[0, 9]], &[70, 71]).unwrap();
        assert_eq!(array.get_sparse_items::<i32>(&[9, 0, 59]).unwrap(), [71, 70, -3]);
    }

    #[test]
    fn buffers_of_another_length_are_refused() {
        let mut array = array([6, 10]);
        let text = "the buffer has 2 items, but 3 are needed";
        let error = array.get_into((0, ..3), &mut [0i32; 2]).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (Error::InvalidParam.kind(), text));
        assert_eq!(array.set((0, ..3), &[0i32; 2]).unwrap_err().to_string(), text);
        let error = Array::from_items(Storage::memory(), CParams::default(), [3], &[0i32; 2]);
        assert_eq!(error.err().unwrap().to_string(), text);
        assert_eq!(array.get::<i32>((0, ..3)).unwrap(), [0, 1, 2]);
    }

    #[test]
    fn other_types_are_refused() {
        let mut array = array([6, 10]);
        assert_eq!(array.get::<u32>(..), Err(Error::InvalidParam));
        assert_eq!(array.get::<i64>(..), Err(Error::InvalidParam));
        assert_eq!(array.set((0, 0), &[1f32]), Err(Error::InvalidParam));
        assert_eq!(array.append_items(&[0u32; 10], 0), Err(Error::InvalidParam));
        assert_eq!(array.insert_items(&[0u32; 40], 0, 0), Err(Error::InvalidParam));
        assert_eq!(array.get_sparse_items::<u32>(&[1]), Err(Error::InvalidParam));
        assert_eq!(array.get_orthogonal_items::<u32>(&[&[1], &[1]]), Err(Error::InvalidParam));
        assert_eq!(array.set_orthogonal_items(&[&[1], &[1]], &[1u32]), Err(Error::InvalidParam));
        assert_eq!(array.get::<i32>(..).unwrap(), (0..60).collect::<Vec<i32>>());
    }

    #[test]
    fn an_array_in_the_other_byte_order_is_refused() {
        let params = CParams::default().typesize(4);
        let bytes = &[0, 0, 0, 7];
        let other = Array::from_item_bytes(Storage::memory(), params, [1], &native(">i4"), bytes);
        let error = other.unwrap().get::<i32>(..).unwrap_err();
        assert!(error.to_string().contains(">i4"), "{error}");
        assert!(error.to_string().contains("<i4"), "{error}");
    }

    #[test]
    fn bools_of_other_programs_are_valid() {
        let params = CParams::default().typesize(1);
        let flags = [0, 1, 2, 255];
        let array = Array::from_item_bytes(Storage::memory(), params, [4], "|b1", &flags).unwrap();
        assert_eq!(array.get::<bool>(..).unwrap(), [false, true, true, true]);
        assert_eq!(array.get_sparse_items::<bool>(&[2, 0]).unwrap(), [true, false]);
    }

    #[test]
    fn items_are_appended_and_inserted() {
        let mut array = array([4, 4]);
        array.append_items(&[100i32, 101, 102, 103], 0).unwrap();
        array.insert_items(&[7i32; 16], 0, 0).unwrap();
        // As in the reference, a position after the end is an error without items, too.
        assert_eq!(array.insert_items(&[0i32; 0], 0, 9), Ok(()));
        assert_eq!(array.insert_items(&[0i32; 0], 0, 10), Err(Error::InvalidParam));
        assert_eq!(array.shape(), [9, 4]);
        assert_eq!(array.get::<i32>((3..5, 0)).unwrap(), [7, 0]);
        assert_eq!(array.get::<i32>((8, ..)).unwrap(), [100, 101, 102, 103]);
    }

    #[test]
    fn views_are_read_as_items() {
        let layout = Layout { shape: &[1, 8], chunkshape: &[1, 4], blockshape: &[1, 2] };
        let items: Vec<i32> = (0..8).collect();
        let array =
            Array::from_items(Storage::memory(), CParams::default(), &layout, &items).unwrap();
        let view = array.squeeze().unwrap();
        assert_eq!(view.get::<i32>(2..4).unwrap(), [2, 3]);
        let mut two = [0i32; 2];
        view.get_into(6.., &mut two).unwrap();
        assert_eq!(two, [6, 7]);
        assert_eq!(view.get::<i32>(7..9), Err(Error::InvalidParam));
        assert_eq!(view.get::<u32>(..), Err(Error::InvalidParam));
    }

    #[test]
    fn iterators_are_appended_in_whole_rows() {
        let mut array = array([6, 10]);
        assert_eq!(array.append_iter(60..150), Ok(90));
        assert_eq!(array.append_iter([0i32; 0]), Ok(0));
        assert_eq!(array.shape(), [15, 10]);
        assert_eq!(array.get::<i32>(..).unwrap(), (0..150).collect::<Vec<i32>>());
        let error = array.append_iter(150..173).unwrap_err().to_string();
        assert_eq!(error, "the last row has 3 items instead of 10");
        assert_eq!(array.shape(), [17, 10]);
        assert_eq!(array.get::<i32>(16).err(), Some(Error::InvalidParam));
        assert_eq!(array.append_iter(0..10u32), Err(Error::InvalidParam));
        let mut narrow = Array::full(Storage::memory(), CParams::default(), [3, 0], 0u8).unwrap();
        assert_eq!(narrow.append_iter([1u8]), Err(Error::InvalidParam));
        let mut single = Array::full(Storage::memory(), CParams::default(), [], 0u8).unwrap();
        assert_eq!(single.append_iter([1u8]), Err(Error::InvalidParam));
        let mut empty = Array::full(Storage::memory(), CParams::default(), [0], 0u8).unwrap();
        assert_eq!(empty.append_iter(0..200u8), Ok(200));
        assert_eq!(empty.get::<u8>(199..).unwrap(), [199]);
        // The first batch fills a chunk of one item and many others.
        let mut tiny = Array::full(Storage::memory(), CParams::default(), [1], 0u16).unwrap();
        assert_eq!(tiny.geometry().chunkshape[0], 1);
        assert_eq!(tiny.append_iter(1..3000u16), Ok(2999));
        assert_eq!(tiny.get::<u16>(..).unwrap(), (0..3000).collect::<Vec<u16>>());
    }

    #[test]
    fn arrays_without_dimensions_have_one_item() {
        let array = Array::full(Storage::memory(), CParams::default(), [], 2.5f64).unwrap();
        assert_eq!(array.get::<f64>(..).unwrap(), [2.5]);
        assert_eq!(array.get::<f64>(()).unwrap(), [2.5]);
    }

    #[test]
    fn errors_of_slices_and_shapes_name_their_cause() {
        let mut array = array([6, 10]);
        let text = |result: Result<()>| {
            let error = result.unwrap_err();
            assert_eq!(error, Error::InvalidParam);
            error.to_string()
        };
        let slice = array.get_slice(&[5, 0], &[7, 1]).map(drop);
        assert_eq!(text(slice), "the range 5..7 of axis 0 is outside its length 6");
        let slice = array.set_slice(&[0, 3], &[1, 2], &[]);
        assert_eq!(text(slice), "the range 3..2 of axis 1 ends before its start");
        let slice = array.get_slice(&[0], &[1]).map(drop);
        assert_eq!(
            text(slice),
            "the slice has 1 starts and 1 stops, but the array has 2 dimensions"
        );
        let axis = array.append_items(&[0i32; 10], 2);
        assert_eq!(text(axis), "there is no axis 2: the array has 2 dimensions");
        let size = array.append_items(&[0i32; 11], 0);
        assert_eq!(
            text(size),
            "the buffer has 44 bytes, but a multiple of 40 is needed along axis 0"
        );
        let start = array.delete(0, 1, 1);
        assert!(text(start).starts_with("only whole chunks of 4 indices can be added"));
        let layout = Layout { shape: &[5], chunkshape: &[0], blockshape: &[0] };
        let shape = Array::full(Storage::memory(), CParams::default(), &layout, 0u8).map(drop);
        assert_eq!(text(shape), "axis 0 cannot have 5 items in chunks of 0 and blocks of 0");
        assert_eq!(
            text(array.transaction().map(drop)),
            "a transaction needs a durable file or directory"
        );
    }

    #[test]
    fn errors_of_files_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("named.b2nd");
        let storage = Storage::file(&path);
        let mut array = Array::full(storage, CParams::default(), [4], 0u8).unwrap();
        let errors = [
            array.get::<u8>(5).map(drop),
            array.get::<u16>(1).map(drop),
            array.set(5, &[1u8]),
            array.get_slice(&[5], &[6]).map(drop),
            array.set_slice(&[5], &[6], &[1]),
            array.update_metalayer("b2nd", b""),
        ];
        for error in errors {
            assert_eq!(error.unwrap_err().path(), Some(path.as_path()));
        }
        array.close().unwrap();
    }

    #[test]
    fn arrays_have_metalayers() {
        let layers: [(&[u8], &[u8]); 1] = [(b"unit", b"kelvin")];
        let mut array =
            Array::zeros_with(Storage::frame(), CParams::default(), [4], "<f8", &layers).unwrap();
        array.update_metalayer("unit", b"KELVIN").unwrap();
        assert_eq!(array.metalayer("unit").unwrap(), b"KELVIN");
        assert_eq!(array.metalayer_names(), ["b2nd", "unit"]);
        assert_eq!(array.update_metalayer("b2nd", b"x"), Err(Error::InvalidParam));
        array.add_vlmetalayer("author", b"x").unwrap();
        array.update_vlmetalayer("author", b"longer").unwrap();
        assert_eq!(array.vlmetalayer("author").unwrap(), b"longer");
        assert_eq!(array.vlmetalayer_names(), ["author"]);
        array.delete_vlmetalayer("author").unwrap();
        assert_eq!(array.vlmetalayer("author"), Err(Error::NotFound));
        array.schunk_mut().add_vlmetalayer("b", b"").unwrap();
        assert_eq!(array.into_schunk().vlmetalayer_names(), ["b"]);
    }

    #[test]
    fn slices_of_other_shapes_are_refused() {
        struct Larger;
        impl IntoSlice for Larger {
            fn into_slice(self, _: &[i64]) -> Result<Slice> {
                (..7, ..).into_slice(&[7, 10])
            }
        }
        let mut array = array([6, 10]);
        let text = "the range 0..7 of axis 0 is outside its length 6";
        assert_eq!(array.get::<i32>(Larger).unwrap_err().to_string(), text);
        assert_eq!(array.get_into(Larger, &mut [0i32; 70]).unwrap_err().to_string(), text);
        assert_eq!(array.set(Larger, &[0i32; 70]).unwrap_err().to_string(), text);
    }

    #[test]
    fn a_failed_creation_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array.b2nd");
        // The first compression finds that there is no such codec.
        let invalid = CParams::default().codec(250);
        let items: Vec<u16> = (0..1000).collect();
        let source =
            Array::from_items(Storage::memory(), CParams::default(), [1000], &items).unwrap();
        for storage in [
            Storage::file(&path),
            Storage::file(&path).durable(),
            Storage::file(&path).checksums(),
            Storage::directory(&path),
            Storage::directory(&path).durable(),
        ] {
            let is_left = || std::fs::read_dir(folder.path()).unwrap().next().is_some();
            let params = invalid.clone().typesize(2);
            assert!(Array::from_items(storage.clone(), params.clone(), [1000], &items).is_err());
            assert!(!is_left(), "from_items");
            let nans = Fill::Special(Special::Nan);
            let created = Array::create(storage.clone(), params.clone(), [10], "<u2", nans);
            assert_eq!(created.err(), Some(Error::Data));
            assert!(!is_left(), "create");
            let layout = Layout { shape: &[], chunkshape: &[100], blockshape: &[10] };
            let part = (&[5][..], &[500][..]);
            let copied = source.copy_slice(storage.clone(), params.clone(), &layout, part);
            assert!(copied.is_err());
            assert!(!is_left(), "copy_slice");
            let copied = source.schunk().copy_with(storage.clone(), params, DParams::default());
            assert!(copied.is_err());
            assert!(!is_left(), "copy_with");
            let array = Array::from_items(storage, CParams::default(), [1000], &items).unwrap();
            assert_eq!(array.get::<u16>(..).unwrap(), items);
            drop(array);
            remove_urlpath(&path).unwrap();
        }
    }

    #[test]
    fn a_failed_creation_keeps_a_file_that_replaced_it() {
        // Another process renames its file to the path while the array is created.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array.b2nd");
        let other = folder.path().join("other");
        std::fs::write(&other, b"other").unwrap();
        let array = Array::full(Storage::file(&path), CParams::default(), [1000], 0u16).unwrap();
        assert_eq!(array.get::<u16>(5).unwrap(), [0]);
        std::fs::rename(&other, &path).unwrap();
        array.into_schunk().discard();
        assert_eq!(std::fs::read(&path).unwrap(), b"other");
    }

    #[test]
    fn locked_files_are_read_and_written() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::file(folder.path().join("locked.b2nd")).locking().durable();
        let items: Vec<u16> = (0..100).collect();
        let params = CParams::default();
        let mut array = Array::from_items(storage, params, [10, 10], &items).unwrap();
        array.set((3, ..2), &[500u16, 501]).unwrap();
        array.append_items(&[7u16; 10], 0).unwrap();
        assert_eq!(array.get::<u16>((3, ..3)).unwrap(), [500, 501, 32]);
        assert_eq!(array.get::<u16>((10.., 9)).unwrap(), [7]);
        let mut transaction = array.transaction().unwrap();
        transaction.set((0, 0), &[9u16]).unwrap();
        drop(transaction);
        assert_eq!(array.get::<u16>((0, 0)).unwrap(), [0]);
    }
}
