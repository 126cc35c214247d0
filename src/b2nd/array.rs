//! The array API for Rust programs.

use super::concatenate::{copy_items, extend};
use super::create::{Description, Fill, find, finish, initialize, true_typesize};
use super::geometry::Geometry;
use super::request::{SliceRequest, check_inside};
use super::state::{Chunks, State, typesize};
use super::{MAX_DIM, get, resize, selection, set, sync, transaction, view};
use crate::chunk::{CParams, DParams, Special};
use crate::io::lock::Kind as LockKind;
use crate::schunk::{SChunk, Storage};
use crate::{Error, Result};
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The shapes of a new array.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// Extent of the array in each dimension, in items.
    pub shape: &'a [i64],
    /// Extent of a chunk in each dimension, in items.
    pub chunkshape: &'a [i32],
    /// Extent of a block in each dimension, in items.
    pub blockshape: &'a [i32],
}

/// A compressed multidimensional array.
///
/// Several threads may read it concurrently.
///
/// ```
/// use ferroblosc::b2nd::{Array, Layout};
/// use ferroblosc::chunk::CParams;
/// use ferroblosc::schunk::Storage;
///
/// let layout = Layout { shape: &[5, 7], chunkshape: &[4, 4], blockshape: &[2, 2] };
/// let items: Vec<u8> = (0..35).collect();
/// let params = CParams::default().typesize(1);
/// let mut array = Array::from_items(Storage::memory(), params, &layout, "|u1", &items)?;
/// assert_eq!(array.get_slice(&[1, 2], &[3, 5])?, [9, 10, 11, 16, 17, 18]);
///
/// array.set_slice(&[4, 0], &[5, 2], &[100, 101])?;
/// array.resize(&[6, 7], None)?;
/// assert_eq!(array.get_slice(&[4, 0], &[6, 3])?, [100, 101, 30, 0, 0, 0]);
/// # Ok::<(), ferroblosc::Error>(())
/// ```
pub struct Array {
    schunk: SChunk,
    shapes: Mutex<Shapes>,
    dtype: Option<String>,
}

#[derive(Clone, Copy)]
struct Shapes {
    geometry: Geometry,
    seen_version: i64,
}

impl State for Array {
    fn chunks(&self) -> &Chunks<'_> {
        self.schunk.state()
    }

    fn chunks_mut(&mut self) -> &mut Chunks<'_> {
        self.schunk.state_mut()
    }

    fn geometry(&self) -> Result<Geometry> {
        Ok(self.shapes().geometry)
    }

    fn set_geometry(&self, geometry: &Geometry, version: i64) {
        *self.shapes() = Shapes {
            geometry: *geometry,
            seen_version: version,
        };
    }

    fn version(&self) -> i64 {
        self.schunk.version()
    }

    fn seen_version(&self) -> i64 {
        self.shapes().seen_version
    }

    fn is_view(&self) -> bool {
        false
    }
}

impl Array {
    fn shapes(&self) -> MutexGuard<'_, Shapes> {
        self.shapes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates an array of equal items. `dtype` is their type in NumPy's notation; the item size is
    /// that of `cparams`.
    ///
    /// # Errors
    /// Those of [`Geometry::new`], [`initialize`] and [`SChunk::create`].
    pub fn create(
        storage: Storage,
        cparams: CParams,
        layout: &Layout<'_>,
        dtype: &str,
        content: Fill<'_>,
    ) -> Result<Array> {
        Array::create_with(storage, cparams, layout, dtype, content, &[])
    }

    /// Creates an array of zeros with additional fixed metalayers, given as names and contents.
    ///
    /// # Errors
    /// Those of [`Array::create`].
    pub(crate) fn zeros_with(
        storage: Storage,
        cparams: CParams,
        layout: &Layout<'_>,
        dtype: &str,
        metalayers: &[(&[u8], &[u8])],
    ) -> Result<Array> {
        let content = Fill::Special(Special::Zero);
        Array::create_with(storage, cparams, layout, dtype, content, metalayers)
    }

    fn create_with(
        storage: Storage,
        cparams: CParams,
        layout: &Layout<'_>,
        dtype: &str,
        content: Fill<'_>,
        metalayers: &[(&[u8], &[u8])],
    ) -> Result<Array> {
        let geometry = Geometry::new(layout.shape, layout.chunkshape, layout.blockshape)?;
        super::create::check_sizes(&geometry, cparams.typesize)?;
        if matches!(content, Fill::Value(value) if i32::try_from(value.len()) != Ok(cparams.typesize))
        {
            return Err(Error::InvalidParam);
        }
        let blocksize = geometry.blocknitems * cparams.typesize;
        let dparams = DParams::default().threads(cparams.nthreads);
        let mut schunk = SChunk::create(storage, cparams.blocksize(blocksize), dparams)?;
        let description = Description {
            dtype: Some(dtype.as_bytes()),
            metalayers,
            ..Description::default()
        };
        initialize(schunk.state_mut(), &geometry, &description, content)?;
        Ok(Array {
            schunk,
            shapes: Mutex::new(Shapes {
                geometry,
                seen_version: 0,
            }),
            dtype: Some(dtype.to_owned()),
        })
    }

    /// Creates an array of zeros.
    ///
    /// # Errors
    /// Those of [`Array::create`].
    pub fn zeros(
        storage: Storage,
        cparams: CParams,
        layout: &Layout<'_>,
        dtype: &str,
    ) -> Result<Array> {
        let content = Fill::Special(Special::Zero);
        Array::create(storage, cparams, layout, dtype, content)
    }

    /// Creates an array from items in row-major order.
    ///
    /// # Errors
    /// Those of [`Array::create`] and [`Array::set_slice`].
    pub fn from_items(
        storage: Storage,
        cparams: CParams,
        layout: &Layout<'_>,
        dtype: &str,
        items: &[u8],
    ) -> Result<Array> {
        let mut array = Array::create(storage, cparams, layout, dtype, Fill::Overwritten)?;
        array.set_slice(&vec![0; layout.shape.len()], layout.shape, items)?;
        finish(array.chunks_mut())?;
        Ok(array)
    }

    /// Opens the array in a file or directory.
    ///
    /// # Errors
    /// Those of [`SChunk::open`] and [`Array::from_schunk`].
    pub fn open(storage: Storage, dparams: DParams) -> Result<Array> {
        Array::from_schunk(SChunk::open(storage, dparams)?)
    }

    /// Interprets a super-chunk as an array.
    ///
    /// # Errors
    /// Those of [`find`].
    pub fn from_schunk(mut schunk: SChunk) -> Result<Array> {
        let (meta, geometry) = find(schunk.state())?;
        if let Some(typesize) = true_typesize(schunk.state(), &meta, &geometry) {
            schunk.set_typesize(typesize)?;
        }
        let seen_version = schunk.version();
        let text = |dtype: Vec<u8>| String::from_utf8_lossy(&dtype).into_owned();
        Ok(Array {
            schunk,
            shapes: Mutex::new(Shapes {
                geometry,
                seen_version,
            }),
            dtype: meta.dtype.map(text),
        })
    }

    /// Returns the super-chunk, for its metalayers and sizes.
    pub fn schunk(&self) -> &SChunk {
        &self.schunk
    }

    /// Returns the geometry.
    pub fn geometry(&self) -> Geometry {
        self.shapes().geometry
    }

    /// Returns the extent of each dimension, in items.
    pub fn shape(&self) -> Vec<i64> {
        self.shapes().geometry.shape().to_vec()
    }

    /// Returns the item type, if the array records one.
    pub fn dtype(&self) -> Option<&str> {
        self.dtype.as_deref()
    }

    /// Loads changes made by other handles or processes, for instance a new shape; returns whether
    /// there were any.
    ///
    /// # Errors
    /// Those of [`sync::refresh_all`].
    pub fn refresh(&self) -> Result<bool> {
        sync::refresh_all(self)
    }

    /// Returns the items from `start` to before `stop`, in row-major order.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for items outside the array; those of [`SliceRequest::new`] and
    /// [`get::get`].
    pub fn get_slice(&self, start: &[i64], stop: &[i64]) -> Result<Vec<u8>> {
        let _held = sync::refresh_locked(self, LockKind::Shared)?;
        check_inside(&self.geometry(), start, stop)?;
        read(self, &self.geometry(), start, stop)
    }

    /// Returns all items, in row-major order.
    ///
    /// # Errors
    /// Those of [`Array::get_slice`].
    pub fn items(&self) -> Result<Vec<u8>> {
        let _held = sync::refresh_locked(self, LockKind::Shared)?;
        let geometry = self.geometry();
        read(
            self,
            &geometry,
            &[0; MAX_DIM][..geometry.ndim],
            geometry.shape(),
        )
    }

    /// Overwrites the items from `start` to before `stop` with `items`, in row-major order.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for items outside the array, and if `items` does not have the size
    /// of the slice; those of [`SliceRequest::new`] and [`set::set`].
    pub fn set_slice(&mut self, start: &[i64], stop: &[i64], items: &[u8]) -> Result<()> {
        let _held = sync::refresh_locked(self, LockKind::Exclusive)?;
        check_inside(&self.geometry(), start, stop)?;
        let request = whole_buffer(self, &self.geometry(), start, stop, items.len())?;
        if request.extent_bytes() != items.len() {
            return Err(Error::InvalidParam);
        }
        set::set(self, &request, items)
    }

    /// Returns the items at these row-major item numbers.
    ///
    /// # Errors
    /// Those of [`selection::get_sparse`].
    pub fn get_sparse(&self, numbers: &[i64]) -> Result<Vec<u8>> {
        let _held = sync::refresh_locked(self, LockKind::Shared)?;
        let mut items = zeroed(typesize(self)?.checked_mul(numbers.len()))?;
        selection::get_sparse(self, numbers, &mut items)?;
        Ok(items)
    }

    /// Returns the items at all combinations of the indices along each dimension, in row-major
    /// order.
    ///
    /// # Errors
    /// Those of [`selection::Selection::new`] and [`selection::get`].
    pub fn get_orthogonal(&self, indices: &[&[i64]]) -> Result<Vec<u8>> {
        let _held = sync::refresh_locked(self, LockKind::Shared)?;
        let shape: Vec<i64> = indices.iter().map(|along| along.len() as i64).collect();
        let size = indices
            .iter()
            .try_fold(typesize(self)?, |size, along| size.checked_mul(along.len()));
        let mut items = zeroed(size)?;
        let selection = selection::Selection::new(self, indices, &shape, items.len() as i64)?;
        selection::get(self, &selection, &mut items)?;
        Ok(items)
    }

    /// Overwrites the items at all combinations of the indices along each dimension, in row-major
    /// order.
    ///
    /// # Errors
    /// Those of [`selection::Selection::new`] and [`selection::set`].
    pub fn set_orthogonal(&mut self, indices: &[&[i64]], items: &[u8]) -> Result<()> {
        let _held = sync::refresh_locked(self, LockKind::Exclusive)?;
        let shape: Vec<i64> = indices.iter().map(|along| along.len() as i64).collect();
        let selection = selection::Selection::new(self, indices, &shape, items.len() as i64)?;
        selection::set(self, &selection, items)
    }

    /// Begins a transaction: all changes through the result take effect together on
    /// [`Transaction::commit`]. It requires a durable file or directory.
    ///
    /// # Errors
    /// Those of [`transaction::begin`].
    pub fn transaction(&mut self) -> Result<Transaction<'_>> {
        transaction::begin(self)?;
        Ok(Transaction {
            array: self,
            is_open: true,
        })
    }

    /// Changes the shape.
    ///
    /// # Errors
    /// Those of [`resize::resize`].
    pub fn resize(&mut self, shape: &[i64], start: Option<&[i64]>) -> Result<()> {
        resize::resize(self, shape, start)
    }

    /// Appends items along an axis.
    ///
    /// # Errors
    /// Those of [`resize::append`].
    pub fn append(&mut self, items: &[u8], axis: i8) -> Result<()> {
        resize::append(self, items, axis)
    }

    /// Inserts items before index `start` along an axis.
    ///
    /// # Errors
    /// Those of [`resize::insert`].
    pub fn insert(&mut self, items: &[u8], axis: i8, start: i64) -> Result<()> {
        resize::insert(self, items, axis, start)
    }

    /// Deletes `len` indices from `start` along an axis.
    ///
    /// # Errors
    /// Those of [`resize::delete`].
    pub fn delete(&mut self, axis: i8, start: i64, len: i64) -> Result<()> {
        resize::delete(self, axis, start, len)
    }

    /// Appends the items of another array along an axis.
    ///
    /// # Errors
    /// Those of [`extend`].
    pub fn extend(&mut self, other: &Array, axis: i8) -> Result<()> {
        sync::refresh(other)?;
        extend(self, other, axis)
    }

    /// Copies a slice into a new array. The shape of `layout` is ignored.
    ///
    /// # Errors
    /// Those of [`Array::create`], reading and writing.
    pub fn copy_slice(
        &self,
        storage: Storage,
        cparams: CParams,
        layout: &Layout<'_>,
        (start, stop): (&[i64], &[i64]),
    ) -> Result<Array> {
        let _held = sync::refresh_locked(self, LockKind::Shared)?;
        let ndim = self.geometry().ndim;
        let is_slice = start.len() == ndim && stop.len() == ndim;
        if !is_slice || Ok(cparams.typesize as usize) != typesize(self) {
            return Err(Error::InvalidParam);
        }
        check_inside(&self.geometry(), start, stop)?;
        let shape: Option<Vec<i64>> = (start.iter().zip(stop))
            .map(|(start, stop)| stop.checked_sub(*start))
            .collect();
        let shape = shape.ok_or(Error::InvalidParam)?;
        let layout = Layout {
            shape: &shape,
            ..*layout
        };
        let dtype = self.dtype().unwrap_or("|u1").to_owned();
        let mut copy = Array::create(storage, cparams, &layout, &dtype, Fill::Overwritten)?;
        let mut from = [0; MAX_DIM];
        from[..ndim].copy_from_slice(start);
        let extents = copy.geometry();
        copy_items(&mut copy, self, &extents, (&from, &[0; MAX_DIM]))?;
        finish(copy.chunks_mut())?;
        Ok(copy)
    }

    /// Returns a view with additional dimensions of extent 1 at the marked positions.
    ///
    /// # Errors
    /// Those of [`view::check_base`] and [`view::expanded`].
    pub fn expand_dims(&self, is_new: &[bool]) -> Result<View<'_>> {
        sync::refresh(self)?;
        view::check_base(self.chunks())?;
        let geometry = view::expanded(&self.geometry(), is_new)?;
        Ok(View {
            base: self,
            geometry,
        })
    }

    /// Returns a view without the dimensions of extent 1.
    ///
    /// # Errors
    /// Those of [`view::check_base`] and [`view::squeezed`].
    pub fn squeeze(&self) -> Result<View<'_>> {
        sync::refresh(self)?;
        view::check_base(self.chunks())?;
        let geometry = self.geometry();
        let geometry = view::squeezed(&geometry, &view::unit_dims(&geometry))?;
        Ok(View {
            base: self,
            geometry,
        })
    }

    /// Returns the array as a contiguous frame.
    ///
    /// # Errors
    /// [`Error::SchunkCopy`].
    pub fn to_bytes(&mut self) -> Result<Vec<u8>> {
        self.schunk.to_bytes()
    }
}

/// An open transaction of an array. Dropping it rolls it back.
pub struct Transaction<'a> {
    array: &'a mut Array,
    is_open: bool,
}

impl Transaction<'_> {
    /// Commits the changes.
    ///
    /// # Errors
    /// Those of [`transaction::commit`], after which the changes are rolled back.
    pub fn commit(mut self) -> Result<()> {
        self.is_open = false;
        transaction::commit(self.array)
    }

    /// Rolls the changes back. Dropping the transaction has the same effect.
    pub fn rollback(self) {}
}

impl Deref for Transaction<'_> {
    type Target = Array;

    fn deref(&self) -> &Array {
        self.array
    }
}

impl DerefMut for Transaction<'_> {
    fn deref_mut(&mut self) -> &mut Array {
        self.array
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // Rollback fails only if the caller swapped the array for one without a transaction.
            let _ = transaction::rollback(self.array);
        }
    }
}

/// A read-only view of an array with added or removed dimensions of extent 1.
pub struct View<'a> {
    base: &'a Array,
    geometry: Geometry,
}

impl View<'_> {
    /// Returns the extent of each dimension, in items.
    pub fn shape(&self) -> &[i64] {
        self.geometry.shape()
    }

    /// Returns the items from `start` to before `stop`, in row-major order.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for items outside the view; those of [`SliceRequest::new`] and
    /// [`get::get`].
    pub fn get_slice(&self, start: &[i64], stop: &[i64]) -> Result<Vec<u8>> {
        check_inside(&self.geometry, start, stop)?;
        read(self.base, &self.geometry, start, stop)
    }
}

/// Returns a request for a slice that exactly fills a buffer of `len` bytes.
fn whole_buffer(
    a: &Array,
    geometry: &Geometry,
    start: &[i64],
    stop: &[i64],
    len: usize,
) -> Result<SliceRequest> {
    let extents: Vec<i64> = (start.iter().zip(stop))
        .map(|(start, stop)| stop.saturating_sub(*start).max(0))
        .collect();
    let size = i64::try_from(len).map_err(|_| Error::InvalidParam)?;
    SliceRequest::new(geometry, typesize(a)?, start, stop, &extents, size)
}

fn read(a: &Array, geometry: &Geometry, start: &[i64], stop: &[i64]) -> Result<Vec<u8>> {
    let len = (start.iter().zip(stop)).try_fold(typesize(a)?, |len, (start, stop)| {
        let extent = stop.checked_sub(*start)?;
        len.checked_mul(usize::try_from(extent).ok()?)
    });
    let mut items = zeroed(len)?;
    let request = whole_buffer(a, geometry, start, stop, items.len())?;
    get::get(a, &request, &mut items)?;
    Ok(items)
}

/// Returns `len` zero bytes.
fn zeroed(len: Option<usize>) -> Result<Vec<u8>> {
    let len = len.ok_or(Error::InvalidParam)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len)?;
    bytes.resize(len, 0);
    Ok(bytes)
}
