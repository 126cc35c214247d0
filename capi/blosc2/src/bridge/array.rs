//! The core's array trait, implemented over the C struct.

use super::schunk::{CSchunk, Entered, Purpose};
use crate::types::b2nd::b2nd_array_t;
use ferroblosc::b2nd::create::find;
use ferroblosc::b2nd::{Chunks, Geometry, MAX_DIM, State, view};
use ferroblosc::{Error, Result, trace_error};
use ferroblosc_capi_common::pointers::{StableSource, overlap};
use std::ptr::NonNull;

/// A C array that is alive for the duration of a call.
#[derive(Clone, Copy)]
pub struct CArray {
    array: NonNull<b2nd_array_t>,
    /// The current super-chunk: programs may replace it between calls.
    chunks: CSchunk,
}

// The unsafe code below relies on guarantees of C callers for the duration of a call: the library
// made the struct, and no thread writes its fields while another thread uses the array.

impl CArray {
    /// Wraps a pointer to an array.
    ///
    /// # Errors
    /// [`Error::NullPointer`], also for an array without super-chunk.
    ///
    /// # Safety
    /// `array` is NULL or an array that outlives the result.
    pub unsafe fn new(array: *const b2nd_array_t) -> Result<CArray> {
        let array = NonNull::new(array.cast_mut()).ok_or(Error::NullPointer)?;
        // SAFETY: guaranteed by the caller.
        let chunks = unsafe { CSchunk::new((*array.as_ptr()).sc) }?;
        Ok(CArray { array, chunks })
    }

    /// Enters an array for a purpose: shared for reads, exclusively for changes.
    ///
    /// # Errors
    /// Returns the same errors as [`CArray::new`], [`CSchunk::enter`] and
    /// [`CArray::check_numbers`].
    ///
    /// # Safety
    /// The same conditions as for [`CArray::new`].
    pub unsafe fn enter(array: *const b2nd_array_t, purpose: Purpose) -> Result<Entered<CArray>> {
        // SAFETY: guaranteed by the caller.
        let array = unsafe { CArray::new(array) }?;
        let entered = array.chunks.entered(purpose)?;
        array.check_numbers()?;
        Ok(entered.map(|_| array))
    }

    /// Fails for a view whose base was resized such that the chunks have other numbers. The caller
    /// has entered the array.
    ///
    /// # Errors
    /// [`Error::Failure`]; the errors of the geometries.
    pub fn check_numbers(self) -> Result<()> {
        if !self.is_view()
            || view::has_numbers_of(&self.geometry()?, &find(&self.chunks.owner())?.1)
        {
            return Ok(());
        }
        trace_error!("the base of the view was resized: its chunks have other numbers");
        Err(Error::Failure)
    }

    /// Whether both arrays have the same items and dimensions: they are the same array, or one is a
    /// view of the other.
    ///
    /// # Errors
    /// The errors of the geometries.
    pub fn is_alias_of(self, other: CArray) -> Result<bool> {
        let has_same_chunks = self.chunks.owner().as_ptr() == other.chunks.owner().as_ptr();
        Ok(has_same_chunks && self.geometry()? == other.geometry()?)
    }

    /// Returns the super-chunk.
    pub fn schunk(self) -> CSchunk {
        self.chunks
    }

    /// Returns the struct.
    pub fn as_ptr(self) -> *mut b2nd_array_t {
        self.array.as_ptr()
    }

    /// Returns the number of dimensions.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for more than [`MAX_DIM`].
    pub fn ndim(self) -> Result<usize> {
        // SAFETY: a field of the struct.
        let ndim = unsafe { (*self.as_ptr()).ndim };
        usize::try_from(ndim).ok().filter(|&ndim| ndim <= MAX_DIM).ok_or(Error::InvalidParam)
    }

    /// Returns the size of an item in bytes.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] if it is not positive.
    pub fn typesize(self) -> Result<usize> {
        use ferroblosc::schunk::State;
        usize::try_from(self.chunks.recorded().typesize)
            .ok()
            .filter(|&typesize| typesize > 0)
            .ok_or(Error::InvalidParam)
    }
}

impl CArray {
    /// Returns an argument of a call that changes the array, copied if the array or its super-chunk
    /// lent it.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    ///
    /// # Safety
    /// `start` points to `len` readable bytes, or `len` is 0.
    pub unsafe fn argument(self, start: *const u8, len: usize) -> Result<StableSource> {
        let is_lent = self.may_lend(start, len);
        // SAFETY: guaranteed by the caller.
        unsafe { StableSource::new(start, len, is_lent) }
    }

    /// Fails if the destination of a read overlaps memory of the array.
    ///
    /// # Errors
    /// [`Error::InvalidParam`].
    pub fn check_destination(self, dest: *const u8, len: usize) -> Result<()> {
        if self.struct_has(dest, len) {
            trace_error!("the destination overlaps the fields of the array");
            return Err(Error::InvalidParam);
        }
        self.chunks.check_destination(dest.cast(), len, -1)
    }

    fn may_lend(self, start: *const u8, len: usize) -> bool {
        self.struct_has(start, len) || self.chunks.may_lend(start, len)
    }

    fn struct_has(self, start: *const u8, len: usize) -> bool {
        let own = (self.as_ptr().cast_const().cast(), size_of::<b2nd_array_t>());
        overlap((start, len), own)
    }
}

/// Stores a geometry and its strides in the struct.
///
/// # Safety
/// Only this call uses the struct.
pub unsafe fn store_geometry(array: *mut b2nd_array_t, geometry: &Geometry) {
    let strides = geometry.strides();
    // SAFETY: guaranteed by the caller.
    unsafe {
        // There are at most 16 dimensions.
        (*array).ndim = geometry.ndim as i8;
        (*array).shape = geometry.shape;
        (*array).chunkshape = geometry.chunkshape;
        (*array).extshape = geometry.extshape;
        (*array).blockshape = geometry.blockshape;
        (*array).extchunkshape = geometry.extchunkshape;
        (*array).nitems = geometry.nitems;
        (*array).chunknitems = geometry.chunknitems;
        (*array).extnitems = geometry.extnitems;
        (*array).blocknitems = geometry.blocknitems;
        (*array).extchunknitems = geometry.extchunknitems;
        (*array).item_array_strides = strides.item_array;
        (*array).item_chunk_strides = strides.item_chunk;
        (*array).item_extchunk_strides = strides.item_extchunk;
        (*array).item_block_strides = strides.item_block;
        (*array).block_chunk_strides = strides.block_chunk;
        (*array).chunk_array_strides = strides.chunk_array;
    }
}

impl State for CArray {
    fn chunks(&self) -> &Chunks<'_> {
        &self.chunks
    }

    fn chunks_mut(&mut self) -> &mut Chunks<'_> {
        &mut self.chunks
    }

    fn geometry(&self) -> Result<Geometry> {
        let _held = self.chunks.hold_layers(false);
        let ndim = self.ndim()?;
        // SAFETY: fields of the struct.
        unsafe {
            let array = self.as_ptr();
            let (shape, chunkshape) = ((*array).shape, (*array).chunkshape);
            let blockshape = (*array).blockshape;
            Geometry::new(&shape[..ndim], &chunkshape[..ndim], &blockshape[..ndim])
        }
    }

    fn set_geometry(&self, geometry: &Geometry, version: i64) {
        let _held = self.chunks.hold_layers(true);
        // SAFETY: the library reads these fields under the same lock.
        unsafe {
            store_geometry(self.as_ptr(), geometry);
            (*self.as_ptr()).last_tick = version;
        }
    }

    fn version(&self) -> i64 {
        self.chunks.current_version()
    }

    fn seen_version(&self) -> i64 {
        let _held = self.chunks.hold_layers(false);
        // SAFETY: a field of the struct, which is written under the same lock.
        unsafe { (*self.as_ptr()).last_tick }
    }

    fn is_view(&self) -> bool {
        // SAFETY: a field of the struct.
        unsafe { (*self.chunks.as_ptr()).view }
    }
}
