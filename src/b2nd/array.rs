//! The array API for Rust programs.

use super::concatenate::{copy_items, extend};
use super::create::{Description, Fill, find, finish, initialize, true_typesize};
use super::geometry::Geometry;
use super::layout::{IntoGeometry, Layout};
use super::request::check_inside;
use super::slices::{read, read_into, slice_len, whole_buffer, zeroed};
use super::state::{Chunks, State, typesize};
use super::{MAX_DIM, meta, resize, selection, set, sync, transaction, view};
use crate::chunk::{CParams, DParams, Special};
use crate::io::lock::Kind as LockKind;
use crate::schunk::transaction::{check_innermost, depth};
use crate::schunk::{SChunk, Storage};
use crate::{Error, ErrorKind, Result, item};
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A compressed multidimensional array.
///
/// An array owns its super-chunk, and with it the chunks in memory or the handle of the file or
/// directory. Several threads may read it concurrently, with `&self`; changes need `&mut self`.
///
/// Items are in row-major order. Shapes, starts and stops have one entry per dimension and count
/// items from 0. An axis is the number of a dimension, from 0.
///
/// ```
/// use ferroblosc::b2nd::Array;
/// use ferroblosc::chunk::CParams;
/// use ferroblosc::schunk::Storage;
///
/// let items: Vec<i32> = (0..35).collect();
/// let mut array = Array::from_items(Storage::memory(), CParams::default(), [5, 7], &items)?;
/// assert_eq!(array.get::<i32>((1..3, 2..5))?, [9, 10, 11, 16, 17, 18]);
///
/// array.set((4, ..2), &[100, 101])?;
/// array.resize(&[6, 7], None)?;
/// assert_eq!(array.get::<i32>((4.., ..3))?, [100, 101, 30, 0, 0, 0]);
/// # Ok::<(), ferroblosc::Error>(())
/// ```
///
/// Methods with the type parameter [`T: Item`](crate::Item) pass items of a Rust type, which they
/// compare with the dtype and the item size of the array. The other methods pass items of any type
/// as bytes, without padding. An item has the size of [`CParams::typesize`], in bytes.
///
/// [`Array::builder`] creates arrays with parameters that are set by name.
///
/// | items | bytes | |
/// |---|---|---|
/// | [`from_items`](Array::from_items) | [`from_item_bytes`](Array::from_item_bytes) | new array |
/// | [`full`](Array::full) | [`zeros`](Array::zeros), [`create`](Array::create) | equal items |
/// | [`get`](Array::get), [`get_into`](Array::get_into) | [`get_slice`](Array::get_slice) | slices |
/// | [`set`](Array::set) | [`set_slice`](Array::set_slice) | slices |
/// | [`append_items`](Array::append_items) | [`append`](Array::append) | along an axis |
/// | [`insert_items`](Array::insert_items) | [`insert`](Array::insert) | along an axis |
/// | [`get_sparse_items`](Array::get_sparse_items) | [`get_sparse`](Array::get_sparse) | single items |
/// | [`get_orthogonal_items`](Array::get_orthogonal_items) | [`get_orthogonal`](Array::get_orthogonal) | indices |
/// | [`set_orthogonal_items`](Array::set_orthogonal_items) | [`set_orthogonal`](Array::set_orthogonal) | indices |
///
/// # Errors
///
/// Each method lists its errors. Many methods share these:
///
/// ## Access errors
///
/// Methods first load a shape that another handle or process has set. An array in memory has only
/// [`Error::MemoryAlloc`] of these errors.
///
/// - [`Error::Lock`] if the lock file cannot be created or locked;
/// - [`Error::Data`] if another writer changed the shape of the chunks or blocks;
/// - [`Error::Failure`] or [`Error::InvalidParam`] if another writer wrote an invalid shape;
/// - with locks, the [access errors](SChunk#access-errors) of the super-chunk;
/// - [`Error::MemoryAlloc`].
///
/// ## Read errors
///
/// Methods that read items have the [access errors](Array#access-errors), and:
///
/// - [`Error::Failure`] if a chunk is damaged, cannot be read, or does not have the sizes of the
///   array. [`Error::origin`] returns a more precise kind;
/// - [`Error::CodecSupport`] or [`Error::FilterPipeline`] if a codec or a filter is missing or
///   fails.
///
/// ## Write errors
///
/// Methods that write items have the [read errors](Array#read-errors), and:
///
/// - [`Error::Failure`] if a chunk cannot be compressed or changed. [`Error::origin`] returns a
///   more precise kind.
///
/// In durable storage the array is unchanged after an error. In other storage some chunks may have
/// changed.
///
/// ## Shape errors
///
/// Methods that change the shape have the [access errors](Array#access-errors), and:
///
/// - [`Error::Failure`] if chunks cannot be added or removed, if there would be more than
///   `i32::MAX` chunks, if the array has fewer chunks than its shape requires, and for an array of
///   Caterva with chunks;
/// - for durable storage the [write errors](SChunk#write-errors) of the super-chunk.
///
/// An error is undone: in durable storage always, in other storage as far as possible.
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
        *self.shapes() = Shapes { geometry: *geometry, seen_version: version };
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

    /// Creates an array of equal items. `dtype` is their type in NumPy's notation, which is
    /// recorded but not interpreted; the item size is that of `cparams`. The block size of
    /// `cparams` is replaced by the size of `layout.blockshape`, and the number of threads also
    /// applies to reads. The path of the storage must not exist. After an error nothing is left
    /// there, if the backend of the storage can remove files.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for slices of `layout` with different lengths or more than
    ///   [`MAX_DIM`](super::MAX_DIM) entries, for negative extents, for an extent of 0 of the chunk
    ///   or block along a dimension with items, if the number of items overflows, if the item size
    ///   is below 1, for a block of more than [`MAX_BLOCKSIZE`](crate::chunk::MAX_BLOCKSIZE) bytes,
    ///   and for a [`Fill::Value`] that does not have the item size;
    /// - [`Error::MaxBufsizeExceeded`] for a chunk, with its padding, of more than
    ///   [`MAX_BUFFERSIZE`](crate::chunk::MAX_BUFFERSIZE) bytes;
    /// - [`Error::Data`] for [`Special::Nan`] if the item size is neither 4 nor 8;
    /// - [`Error::Failure`] for another special value than [`Special::Zero`], [`Special::Nan`] and
    ///   [`Special::Uninit`], and if the metalayers or the chunks cannot be created;
    /// - the errors of [`SChunk::create`];
    /// - for durable storage the [write errors](SChunk#write-errors) of the super-chunk.
    pub fn create(
        storage: Storage,
        cparams: CParams,
        layout: impl IntoGeometry,
        dtype: &str,
        content: Fill<'_>,
    ) -> Result<Array> {
        let geometry = layout.into_geometry(cparams.typesize)?;
        Array::create_with(storage, cparams, &geometry, dtype, content, &[])
    }

    /// Creates an array of zeros, like [`Array::zeros`], with additional fixed metalayers, given as
    /// names and contents. Fixed metalayers cannot be added to a frame with chunks.
    ///
    /// # Errors
    /// - the errors of [`Array::create`].
    pub fn zeros_with(
        storage: Storage,
        cparams: CParams,
        layout: impl IntoGeometry,
        dtype: &str,
        metalayers: &[(&[u8], &[u8])],
    ) -> Result<Array> {
        let content = Fill::Special(Special::Zero);
        let geometry = layout.into_geometry(cparams.typesize)?;
        Array::create_with(storage, cparams, &geometry, dtype, content, metalayers)
    }

    /// Runs [`Array::create`] for a geometry, with additional fixed metalayers.
    pub(super) fn create_with(
        storage: Storage,
        cparams: CParams,
        geometry: &Geometry,
        dtype: &str,
        content: Fill<'_>,
        metalayers: &[(&[u8], &[u8])],
    ) -> Result<Array> {
        super::create::check_sizes(geometry, cparams.typesize)?;
        if matches!(content, Fill::Value(value) if i32::try_from(value.len()) != Ok(cparams.typesize))
        {
            let text = format!("the value does not have the item size, {} bytes", cparams.typesize);
            return Err(Error::InvalidParam.because(text));
        }
        let blocksize = geometry.blocknitems * cparams.typesize;
        let dparams = DParams::default().threads(cparams.nthreads);
        let cparams = cparams.blocksize(blocksize);
        let description =
            Description { dtype: Some(dtype.as_bytes()), metalayers, ..Description::default() };
        if !metalayers.is_empty() {
            // An empty array in memory first: invalid metalayers must not leave a file.
            let empty = geometry.with_shape(&[0; MAX_DIM][..geometry.ndim])?;
            let mut trial = SChunk::create(Storage::frame(), cparams.clone(), DParams::default())?;
            initialize(trial.state_mut(), &empty, &description, Fill::Special(Special::Zero))?;
        }
        let schunk = SChunk::create(storage, cparams, dparams)?;
        let schunk = schunk
            .complete(|schunk| initialize(schunk.state_mut(), geometry, &description, content))?;
        Ok(Array {
            schunk,
            shapes: Mutex::new(Shapes { geometry: *geometry, seen_version: 0 }),
            dtype: Some(dtype.to_owned()),
        })
    }

    /// Creates an array of zeros, with the parameters of [`Array::create`].
    ///
    /// # Errors
    /// - the errors of [`Array::create`].
    pub fn zeros(
        storage: Storage,
        cparams: CParams,
        layout: impl IntoGeometry,
        dtype: &str,
    ) -> Result<Array> {
        let content = Fill::Special(Special::Zero);
        Array::create(storage, cparams, layout, dtype, content)
    }

    /// Creates an array from a copy of the bytes of its items, with the other parameters of
    /// [`Array::create`]. `items` must have the item size times the product of the shape, in bytes.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `items` has another size; nothing is created;
    /// - the errors of [`Array::create`];
    /// - the [write errors](Array#write-errors);
    /// - for durable storage the [write errors](SChunk#write-errors) of the super-chunk.
    pub fn from_item_bytes(
        storage: Storage,
        cparams: CParams,
        layout: impl IntoGeometry,
        dtype: &str,
        items: &[u8],
    ) -> Result<Array> {
        let geometry = layout.into_geometry(cparams.typesize)?;
        Array::from_bytes_with(storage, cparams, &geometry, dtype, items, &[])
    }

    /// Runs [`Array::from_item_bytes`] for a geometry, with additional fixed metalayers.
    pub(super) fn from_bytes_with(
        storage: Storage,
        cparams: CParams,
        geometry: &Geometry,
        dtype: &str,
        items: &[u8],
        metalayers: &[(&[u8], &[u8])],
    ) -> Result<Array> {
        let nbytes = geometry.nitems.checked_mul(cparams.typesize.into());
        let nbytes = nbytes.and_then(|nbytes| usize::try_from(nbytes).ok());
        item::check_len(items.len(), nbytes, "bytes")?;
        let content = Fill::Overwritten;
        let array = Array::create_with(storage, cparams, geometry, dtype, content, metalayers)?;
        array.complete(|array| {
            array.set_slice(&[0; MAX_DIM][..geometry.ndim], geometry.shape(), items)?;
            finish(array.chunks_mut())
        })
    }

    /// Runs a later step of the creation of the array. If it fails, the array is closed and its
    /// files are removed.
    ///
    /// # Errors
    /// Returns the errors of `step`.
    fn complete(mut self, step: impl FnOnce(&mut Array) -> Result<()>) -> Result<Array> {
        match step(&mut self) {
            Ok(()) => Ok(self),
            Err(error) => {
                self.schunk.discard();
                Err(error)
            }
        }
    }

    /// Opens the array in a file or directory.
    ///
    /// # Errors
    /// - the errors of [`SChunk::open`] and [`Array::from_schunk`].
    pub fn open(storage: Storage, dparams: DParams) -> Result<Array> {
        Array::from_schunk(SChunk::open(storage, dparams)?)
    }

    /// Interprets a super-chunk as an array, which then owns it. After an error the super-chunk is
    /// dropped.
    ///
    /// # Errors
    /// - [`Error::MetalayerNotFound`] if the super-chunk is not an array;
    /// - [`Error::NullPointer`] if the metalayer of the array is empty;
    /// - [`Error::Failure`] if the metalayer is malformed;
    /// - [`Error::InvalidParam`] if the metalayer contains invalid shapes.
    pub fn from_schunk(mut schunk: SChunk) -> Result<Array> {
        let (meta, geometry) = find(schunk.state()).map_err(|error| match error.kind() {
            ErrorKind::MetalayerNotFound => {
                let text = format!("not an array: there is no metalayer {}", meta::NAME);
                schunk.located(error.because(text))
            }
            _ => schunk.located(error),
        })?;
        if let Some(typesize) = true_typesize(schunk.state(), &meta, &geometry) {
            schunk.set_typesize(typesize)?;
        }
        let seen_version = schunk.version();
        let text = |dtype: Vec<u8>| String::from_utf8_lossy(&dtype).into_owned();
        Ok(Array {
            schunk,
            shapes: Mutex::new(Shapes { geometry, seen_version }),
            dtype: meta.dtype.map(text),
        })
    }

    /// Returns the super-chunk, borrowed, for its metalayers and sizes.
    pub fn schunk(&self) -> &SChunk {
        &self.schunk
    }

    /// Returns the super-chunk for changes, for instance of its metalayers and its item size. If
    /// its chunks do not have the sizes of the array afterwards, reading items fails with
    /// [`Error::Failure`].
    pub fn schunk_mut(&mut self) -> &mut SChunk {
        &mut self.schunk
    }

    /// Returns the super-chunk with the chunks and metalayers of the array.
    pub fn into_schunk(self) -> SChunk {
        self.schunk
    }

    /// Returns a copy of the content of a fixed metalayer, like [`SChunk::metalayer`].
    pub fn metalayer(&self, name: &str) -> Option<Vec<u8>> {
        self.schunk.metalayer(name)
    }

    /// Returns the names of the fixed metalayers, like [`SChunk::metalayer_names`]. One of them
    /// contains the shapes of the array.
    pub fn metalayer_names(&self) -> Vec<String> {
        self.schunk.metalayer_names()
    }

    /// Overwrites the first bytes of a fixed metalayer with `content`, like
    /// [`SChunk::update_metalayer`]. [`Array::zeros_with`] adds fixed metalayers.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for the metalayer with the shapes of the array;
    /// - the errors of [`SChunk::update_metalayer`].
    pub fn update_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        if [meta::NAME, meta::OLD_NAME].contains(&name) {
            let text = format!("the metalayer {name} contains the shapes of the array");
            return Err(self.schunk.located(Error::InvalidParam.because(text)));
        }
        self.schunk.update_metalayer(name, content)
    }

    /// Returns the content of a variable-length metalayer, like [`SChunk::vlmetalayer`].
    ///
    /// ```
    /// use ferroblosc::b2nd::Array;
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    ///
    /// let mut array = Array::full(Storage::memory(), CParams::default(), [10], 0.5f64)?;
    /// array.add_vlmetalayer("unit", b"kelvin")?;
    /// assert_eq!(array.vlmetalayer("unit")?, b"kelvin");
    /// let error = array.vlmetalayer("author").unwrap_err();
    /// assert_eq!(error.to_string(), "there is no metalayer author");
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - the errors of [`SChunk::vlmetalayer`].
    pub fn vlmetalayer(&self, name: &str) -> Result<Vec<u8>> {
        self.schunk.vlmetalayer(name)
    }

    /// Returns the names of the variable-length metalayers, like [`SChunk::vlmetalayer_names`].
    pub fn vlmetalayer_names(&self) -> Vec<String> {
        self.schunk.vlmetalayer_names()
    }

    /// Adds a variable-length metalayer, like [`SChunk::add_vlmetalayer`].
    ///
    /// # Errors
    /// - the errors of [`SChunk::add_vlmetalayer`].
    pub fn add_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.schunk.add_vlmetalayer(name, content)
    }

    /// Replaces the content of a variable-length metalayer, like [`SChunk::update_vlmetalayer`].
    ///
    /// # Errors
    /// - the errors of [`SChunk::update_vlmetalayer`].
    pub fn update_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.schunk.update_vlmetalayer(name, content)
    }

    /// Removes a variable-length metalayer, like [`SChunk::delete_vlmetalayer`].
    ///
    /// # Errors
    /// - the errors of [`SChunk::delete_vlmetalayer`].
    pub fn delete_vlmetalayer(&mut self, name: &str) -> Result<()> {
        self.schunk.delete_vlmetalayer(name)
    }

    /// Closes the array and reports errors, like [`SChunk::close`]. A durable file with large holes
    /// is compacted. Dropping the array also closes it, without compaction and errors.
    ///
    /// # Errors
    /// - the errors of [`SChunk::close`].
    pub fn close(self) -> Result<()> {
        self.schunk.close()
    }

    /// Returns a copy of the geometry: the shapes and derived sizes, at the last refresh.
    pub fn geometry(&self) -> Geometry {
        self.shapes().geometry
    }

    /// Returns the extent of each dimension at the last refresh, in items.
    pub fn shape(&self) -> Vec<i64> {
        self.shapes().geometry.shape().to_vec()
    }

    /// Returns the item type, usually in NumPy's notation, if the array records one. Bytes that are
    /// not UTF-8 are replaced.
    pub fn dtype(&self) -> Option<&str> {
        self.dtype.as_deref()
    }

    /// Loads changes made by other handles or processes, for instance a new shape; returns whether
    /// there were any. Other methods detect a new shape themselves.
    ///
    /// # Errors
    /// - the [access errors](Array#access-errors).
    pub fn refresh(&self) -> Result<bool> {
        sync::refresh_all(self)
    }

    /// Returns the items from `start` to before `stop` in a new vector, in row-major order.
    ///
    /// ```
    /// use ferroblosc::b2nd::{Array, Layout};
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    ///
    /// let layout = Layout { shape: &[2, 3], chunkshape: &[2, 2], blockshape: &[1, 2] };
    /// let items = [1i16, 2, 3, 4, 5, 6];
    /// let array = Array::from_items(Storage::memory(), CParams::default(), &layout, &items)?;
    /// let column = array.get_slice(&[0, 2], &[2, 3])?;
    /// assert_eq!(column, [3i16, 6].map(i16::to_le_bytes).concat());
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `start` or `stop` does not have one entry per dimension, if
    ///   `stop` is less than `start`, or if items are outside the array;
    /// - the [read errors](Array#read-errors).
    pub fn get_slice(&self, start: &[i64], stop: &[i64]) -> Result<Vec<u8>> {
        let _held = sync::refresh_locked(self, LockKind::Shared)?;
        check_inside(&self.geometry(), start, stop)
            .and_then(|()| read(self, &self.geometry(), start, stop))
            .map_err(|error| self.schunk.located(error))
    }

    /// Reads the items from `start` to before `stop` into `dest`, in row-major order. `dest` must
    /// have the size of the slice in bytes.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `dest` has another size;
    /// - the errors of [`Array::get_slice`], after which some items of `dest` may have changed.
    pub fn get_slice_into(&self, start: &[i64], stop: &[i64], dest: &mut [u8]) -> Result<()> {
        let _held = sync::refresh_locked(self, LockKind::Shared)?;
        let geometry = self.geometry();
        check_inside(&geometry, start, stop)
            .and_then(|()| {
                if slice_len(typesize(self)?, start, stop) != Some(dest.len()) {
                    let text = "the buffer does not have the size of the slice";
                    return Err(Error::InvalidParam.because(text));
                }
                read_into(self, &geometry, start, stop, dest)
            })
            .map_err(|error| self.schunk.located(error))
    }

    /// Returns all items in a new vector, in row-major order.
    ///
    /// # Errors
    /// - the [read errors](Array#read-errors).
    pub fn items(&self) -> Result<Vec<u8>> {
        let _held = sync::refresh_locked(self, LockKind::Shared)?;
        let geometry = self.geometry();
        read(self, &geometry, &[0; MAX_DIM][..geometry.ndim], geometry.shape())
    }

    /// Overwrites the items from `start` to before `stop` with `items`, in row-major order. `items`
    /// must have the size of the slice in bytes. Each touched chunk is compressed once.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `start` or `stop` does not have one entry per dimension, if
    ///   `stop` is less than `start`, if items are outside the array, or if `items` has another
    ///   size;
    /// - the [write errors](Array#write-errors).
    pub fn set_slice(&mut self, start: &[i64], stop: &[i64], items: &[u8]) -> Result<()> {
        let written = self.write_slice(start, stop, items);
        written.map_err(|error| self.schunk.located(error))
    }

    fn write_slice(&mut self, start: &[i64], stop: &[i64], items: &[u8]) -> Result<()> {
        let _held = sync::refresh_locked(self, LockKind::Exclusive)?;
        check_inside(&self.geometry(), start, stop)?;
        let request = whole_buffer(self, &self.geometry(), start, stop, items.len())?;
        item::check_len(items.len(), Some(request.extent_bytes()), "bytes")?;
        set::set(self, &request, items)
    }

    /// Returns the items at these row-major item numbers, which may be in any order and repeat, in
    /// a new vector.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for a number that is negative or not below the number of items,
    ///   and for an array without dimensions;
    /// - [`Error::Failure`] if a chunk cannot be read or does not have the sizes of the array;
    /// - the [access errors](Array#access-errors) and the [decompression
    ///   errors](crate::chunk::Decompressor#errors).
    pub fn get_sparse(&self, numbers: &[i64]) -> Result<Vec<u8>> {
        let mut items = zeroed(typesize(self)?.checked_mul(numbers.len()))?;
        self.get_sparse_into(numbers, &mut items)?;
        Ok(items)
    }

    pub(super) fn get_sparse_into(&self, numbers: &[i64], dest: &mut [u8]) -> Result<()> {
        let _held = sync::refresh_locked(self, LockKind::Shared)?;
        selection::get_sparse(self, numbers, dest)
    }

    /// Returns the items at all combinations of the indices along each dimension, in a new vector
    /// and in row-major order of the combinations. `indices` has one list per dimension; its
    /// entries may be in any order and repeat.
    ///
    /// # Errors
    /// - [`Error::InvalidIndex`] for an index that is negative or not below the extent;
    /// - [`Error::InvalidParam`] if `indices` does not have one list per dimension, and for an
    ///   array without dimensions;
    /// - the [read errors](Array#read-errors).
    pub fn get_orthogonal(&self, indices: &[&[i64]]) -> Result<Vec<u8>> {
        let size =
            indices.iter().try_fold(typesize(self)?, |size, along| size.checked_mul(along.len()));
        let mut items = zeroed(size)?;
        self.get_orthogonal_into(indices, &mut items)?;
        Ok(items)
    }

    pub(super) fn get_orthogonal_into(&self, indices: &[&[i64]], dest: &mut [u8]) -> Result<()> {
        let _held = sync::refresh_locked(self, LockKind::Shared)?;
        let shape: Vec<i64> = indices.iter().map(|along| along.len() as i64).collect();
        let selection = selection::Selection::new(self, indices, &shape, dest.len() as i64)?;
        selection::get(self, &selection, dest)
    }

    /// Overwrites the items at all combinations of the indices along each dimension with `items`,
    /// in row-major order of the combinations. `indices` is that of [`Array::get_orthogonal`];
    /// `items` must have the size of the selection in bytes. If an item is selected twice, its last
    /// value remains.
    ///
    /// # Errors
    /// - [`Error::InvalidIndex`] for an index that is negative or not below the extent;
    /// - [`Error::InvalidParam`] if `indices` does not have one list per dimension, if `items` has
    ///   another size, and for an array without dimensions;
    /// - the [write errors](Array#write-errors).
    pub fn set_orthogonal(&mut self, indices: &[&[i64]], items: &[u8]) -> Result<()> {
        let _held = sync::refresh_locked(self, LockKind::Exclusive)?;
        let shape: Vec<i64> = indices.iter().map(|along| along.len() as i64).collect();
        let selection = selection::Selection::new(self, indices, &shape, items.len() as i64)?;
        selection::set(self, &selection, items)
    }

    /// Begins a transaction: all changes through the result take effect together on
    /// [`Transaction::commit`]. It requires a durable file or directory.
    ///
    /// ```
    /// use ferroblosc::b2nd::{Array, Layout};
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    ///
    /// let path = std::env::temp_dir().join(format!("stock-{}.b2nd", std::process::id()));
    /// let layout = Layout { shape: &[4], chunkshape: &[4], blockshape: &[2] };
    /// let storage = Storage::file(&path).durable();
    /// let mut stock = Array::from_items(storage, CParams::default(), &layout, &[5u8; 4])?;
    ///
    /// let mut transaction = stock.transaction()?;
    /// transaction.set(0, &[4u8])?;
    /// transaction.set(3, &[6u8])?;
    /// transaction.commit()?;
    /// assert_eq!(stock.get::<u8>(..)?, [4, 5, 5, 6]);
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - the errors of [`SChunk::transaction`];
    /// - the [access errors](Array#access-errors).
    pub fn transaction(&mut self) -> Result<Transaction<'_>> {
        transaction::begin(self)?;
        let depth = depth(self.schunk.state());
        Ok(Transaction { array: self, depth, is_open: true })
    }

    /// Changes the shape to `shape`. Items are added or removed at `start`, or at the end if it is
    /// `None`. Along a dimension where `start` is before the end, only whole chunks can be added or
    /// removed. No chunk is rewritten. New items are zero, unless an earlier resize cut them off
    /// within a chunk.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `shape` or `start` does not have one entry per dimension, for
    ///   negative extents, for a `start` outside the array, if chunks before the end would be
    ///   split, and if the number of items overflows;
    /// - the [shape errors](Array#shape-errors).
    pub fn resize(&mut self, shape: &[i64], start: Option<&[i64]>) -> Result<()> {
        resize::resize(self, shape, start)
    }

    /// Appends items along an axis. The size of `items` must be a multiple of the size of one index
    /// along the axis: the item size times the extents of the other dimensions.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for an axis that does not exist, for `items` of another size, and
    ///   for an array without dimensions or with empty chunks;
    /// - the [shape errors](Array#shape-errors) and the [write errors](Array#write-errors).
    pub fn append(&mut self, items: &[u8], axis: i8) -> Result<()> {
        resize::append(self, items, axis)
    }

    /// Inserts items before index `start` along an axis. `items` is that of [`Array::append`].
    /// Unless `start` is the extent of the array, `start` and the number of inserted indices must
    /// be multiples of the extent of a chunk.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for an axis that does not exist, for `items` of another size, and
    ///   for a `start` outside the array or within a chunk;
    /// - the [shape errors](Array#shape-errors) and the [write errors](Array#write-errors).
    pub fn insert(&mut self, items: &[u8], axis: i8, start: i64) -> Result<()> {
        resize::insert(self, items, axis, start)
    }

    /// Deletes `len` indices from `start` along an axis. Unless they are the last indices, `start`
    /// and `len` must be multiples of the extent of a chunk.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for an axis that does not exist, if the indices do not all exist,
    ///   and if chunks before the end would be split;
    /// - the [shape errors](Array#shape-errors).
    pub fn delete(&mut self, axis: i8, start: i64, len: i64) -> Result<()> {
        resize::delete(self, axis, start, len)
    }

    /// Appends a copy of the items of another array along an axis. Item sizes and the extents of
    /// the other dimensions must be equal. If chunk and block shapes are equal too, and the extent
    /// along the axis is a multiple of that of a chunk, the chunks are copied without
    /// recompression. Without locks, `other` may be another handle of the same array.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if item sizes or other extents differ, for an axis that does not
    ///   exist, and if the new extent overflows;
    /// - [`Error::Lock`] if `other` is another handle of the same array, with locks;
    /// - the [read errors](Array#read-errors) of `other`;
    /// - the [shape errors](Array#shape-errors) and the [write errors](Array#write-errors).
    pub fn extend(&mut self, other: &Array, axis: i8) -> Result<()> {
        extend(self, other, axis)
    }

    /// Copies the items from `start` to before `stop` into a new array, with the chunk and block
    /// shapes of `layout`; its `shape` is ignored. The item size of `cparams` must be that of this
    /// array. If this array has no dtype, the copy has `|u1`.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `start` or `stop` does not have one entry per dimension, if
    ///   `stop` is less than `start`, if items are outside the array, or if the item sizes differ;
    /// - the [read errors](Array#read-errors);
    /// - the errors of [`Array::create`], and the [write errors](Array#write-errors) of the copy.
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
        let shape: Option<Vec<i64>> =
            (start.iter().zip(stop)).map(|(start, stop)| stop.checked_sub(*start)).collect();
        let shape = shape.ok_or(Error::InvalidParam)?;
        let layout = Layout { shape: &shape, ..*layout };
        let dtype = self.dtype().unwrap_or("|u1").to_owned();
        let mut from = [0; MAX_DIM];
        from[..ndim].copy_from_slice(start);
        let copy = Array::create(storage, cparams, &layout, &dtype, Fill::Overwritten)?;
        copy.complete(|copy| {
            let extents = copy.geometry();
            copy_items(copy, self, &extents, (&from, &[0; MAX_DIM]))?;
            finish(copy.chunks_mut())
        })
    }

    /// Returns a view with additional dimensions of extent 1. `is_new` has one entry per dimension
    /// of the view: `true` for an additional dimension, `false` for a dimension of the array.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if the number of `false` entries is not the number of dimensions,
    ///   if the view would have more than [`MAX_DIM`](super::MAX_DIM) dimensions, and if the
    ///   super-chunk has other fixed metalayers than that of the array;
    /// - the [access errors](Array#access-errors).
    pub fn expand_dims(&self, is_new: &[bool]) -> Result<View<'_>> {
        sync::refresh(self)?;
        view::check_base(State::chunks(self))?;
        let geometry = view::expanded(&self.geometry(), is_new)?;
        Ok(View { base: self, geometry })
    }

    /// Returns a view without the dimensions of extent 1.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if the chunk or block extent of such a dimension is above 1, and
    ///   if the super-chunk has other fixed metalayers than that of the array;
    /// - the [access errors](Array#access-errors).
    pub fn squeeze(&self) -> Result<View<'_>> {
        sync::refresh(self)?;
        view::check_base(State::chunks(self))?;
        let geometry = self.geometry();
        let geometry = view::squeezed(&geometry, &view::unit_dims(&geometry))?;
        Ok(View { base: self, geometry })
    }

    /// Returns the array as a contiguous frame in a new vector. [`SChunk::from_bytes`] and
    /// [`Array::from_schunk`] open it.
    ///
    /// # Errors
    /// - [`Error::SchunkCopy`] if a chunk cannot be read or the frame cannot be built;
    /// - [`Error::MemoryAlloc`].
    pub fn to_bytes(&mut self) -> Result<Vec<u8>> {
        self.schunk.to_bytes()
    }
}

/// An open transaction of an array, see [`Array::transaction`]. It dereferences to the array.
/// Dropping it rolls it back, which also restores the shape.
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction<'a> {
    array: &'a mut Array,
    /// The number of open transactions, this one included.
    depth: usize,
    is_open: bool,
}

impl Transaction<'_> {
    /// Commits the changes.
    ///
    /// # Errors
    /// - the errors of [`schunk::Transaction::commit`](crate::schunk::Transaction::commit), after
    ///   which the changes are rolled back.
    pub fn commit(mut self) -> Result<()> {
        check_innermost(self.array.schunk.state(), self.depth)?;
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
            // Does nothing if the caller swapped the array for one without a transaction.
            let _ = transaction::rollback_to(self.array, self.depth - 1);
        }
    }
}

/// A read-only view of an array with added or removed dimensions of extent 1. It borrows the array,
/// shares its chunks and keeps its shape.
///
/// ```
/// use ferroblosc::b2nd::{Array, Layout};
/// use ferroblosc::chunk::CParams;
/// use ferroblosc::schunk::Storage;
///
/// let layout = Layout { shape: &[1, 4], chunkshape: &[1, 2], blockshape: &[1, 2] };
/// let row = Array::from_items(Storage::memory(), CParams::default(), &layout, &[1u8, 2, 3, 4])?;
/// let view = row.squeeze()?;
/// assert_eq!(view.shape(), [4]);
/// assert_eq!(view.get::<u8>(1..3)?, [2, 3]);
/// # Ok::<(), ferroblosc::Error>(())
/// ```
#[must_use]
pub struct View<'a> {
    base: &'a Array,
    geometry: Geometry,
}

impl View<'_> {
    pub(super) fn base(&self) -> &Array {
        self.base
    }

    pub(super) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Returns the extent of each dimension, in items.
    pub fn shape(&self) -> &[i64] {
        self.geometry.shape()
    }

    /// Returns the items from `start` to before `stop` in a new vector, in row-major order.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `start` or `stop` does not have one entry per dimension, if
    ///   `stop` is less than `start`, or if items are outside the view;
    /// - the [read errors](Array#read-errors).
    pub fn get_slice(&self, start: &[i64], stop: &[i64]) -> Result<Vec<u8>> {
        check_inside(&self.geometry, start, stop)?;
        read(self.base, &self.geometry, start, stop)
    }
}
